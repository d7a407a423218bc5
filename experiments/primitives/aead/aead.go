// Package aead holds the AEADs that the experiment compares, each behind [crypto/cipher.AEAD]: Go's own
// and golang.org/x/crypto's as they are ([NewGo]), and libcrypto's, called without cgo ([Library.New]).
//
// Both sides do the same work for one message: a key that was set once, a new nonce of 12 bytes,
// additional data of 13 bytes as in a TLS 1.2 record, and a tag of 16 bytes, appended to the ciphertext
// in a buffer of the caller's. Neither allocates.
package aead

import (
	"crypto/aes"
	"crypto/cipher"
	"errors"
	"fmt"
	"slices"

	"golang.org/x/crypto/chacha20poly1305"
)

// NonceSize, TagSize and AdditionalDataSize are the sizes in bytes that all cases use. The last is that
// of openssl speed -aead. Seal and Open take additional data of any length, but no other nonce or tag.
const (
	NonceSize          = 12
	TagSize            = 16
	AdditionalDataSize = 13
)

// SizesBytes are the lengths of plaintext to compare: from a small answer over a full Ethernet segment
// to the largest TLS record.
var SizesBytes = []int{64, 256, 1400, 8192, 16384}

// ErrNotInGo is returned by [NewGo] for an algorithm that only libcrypto has.
var ErrNotInGo = errors.New("not implemented in Go's libraries")

// algorithm is one AEAD. Its name is OpenSSL's.
type algorithm struct {
	name     string
	keyBytes int
	// inGo makes Go's implementation; it is nil where there is none.
	inGo func(key []byte) (cipher.AEAD, error)
	// ccm marks the mode that wants the length of the plaintext before anything else, and its tag
	// length before the key.
	ccm bool
}

var algorithms = []algorithm{
	{name: "aes-128-gcm", keyBytes: 16, inGo: newGCM},
	{name: "aes-256-gcm", keyBytes: 32, inGo: newGCM},
	{name: "chacha20-poly1305", keyBytes: 32, inGo: chacha20poly1305.New},
	{name: "aes-128-ccm", keyBytes: 16, ccm: true},
}

// Names returns the names of all algorithms, in the order of the tables.
func Names() []string {
	var names []string
	for _, a := range algorithms {
		names = append(names, a.name)
	}
	return names
}

// KeySize returns the length in bytes of the named algorithm's key.
func KeySize(name string) (int, error) {
	a, err := find(name)
	return a.keyBytes, err
}

// NewGo returns Go's implementation of the named algorithm with nothing around it. An error wraps
// [ErrNotInGo] where there is none.
func NewGo(name string, key []byte) (cipher.AEAD, error) {
	a, err := find(name)
	if err != nil {
		return nil, err
	}
	if a.inGo == nil {
		return nil, fmt.Errorf("algorithm %q: %w", name, ErrNotInGo)
	}
	if len(key) != a.keyBytes {
		return nil, keySizeError(a, key)
	}
	return a.inGo(key)
}

func newGCM(key []byte) (cipher.AEAD, error) {
	block, err := aes.NewCipher(key)
	if err != nil {
		return nil, err
	}
	return cipher.NewGCM(block)
}

func find(name string) (algorithm, error) {
	i := slices.IndexFunc(algorithms, func(a algorithm) bool { return a.name == name })
	if i < 0 {
		return algorithm{}, fmt.Errorf("algorithm %q: not one of %q", name, Names())
	}
	return algorithms[i], nil
}

func keySizeError(a algorithm, key []byte) error {
	return fmt.Errorf("algorithm %q: key of %d bytes, want %d", a.name, len(key), a.keyBytes)
}
