//go:build !race

// The race detector makes sync.Pool, which purego keeps its arguments in, drop some of what it is given.

package aead

import (
	"crypto/cipher"
	"testing"
)

func TestNoAllocations(t *testing.T) {
	each(t, func(t *testing.T, name string, a cipher.AEAD) {
		nonce, data, plaintext := random(NonceSize, 1), random(AdditionalDataSize, 2), random(1400, 3)
		place := make([]byte, 0, len(plaintext)+TagSize)
		sealed := a.Seal(nil, nonce, plaintext, data)
		if n := testing.AllocsPerRun(1000, func() { a.Seal(place, nonce, plaintext, data) }); n != 0 {
			t.Errorf("Seal: %v allocations", n)
		}
		if n := testing.AllocsPerRun(1000, func() { a.Open(place, nonce, sealed, data) }); n != 0 {
			t.Errorf("Open: %v allocations", n)
		}
		if e, ok := a.(*EVP); ok {
			if n := testing.AllocsPerRun(1000, e.CallNothing); n != 0 {
				t.Errorf("CallNothing: %v allocations", n)
			}
		}
	})
}
