//go:build (linux || darwin) && (amd64 || arm64)

package aead

import (
	"runtime"
	"strings"
	"testing"

	"github.com/ebitengine/purego"
)

// TestSealCalls counts the C functions that a Seal and an Open call, by putting a counter before each.
func TestSealCalls(t *testing.T) {
	counted := *library(t)
	calls := 0
	for _, address := range counted.symbols() {
		fn := *address
		*address = purego.NewCallback(func(a1, a2, a3, a4, a5, a6 uintptr) uintptr {
			calls++
			return new(caller).call(fn, a1, a2, a3, a4, a5, a6)
		})
	}
	data := make([]byte, AdditionalDataSize)
	for _, name := range Names() {
		for _, sequence := range []Sequence{KeyOnce, KeyEachMessage} {
			e, err := counted.New(name, testKey(t, name), sequence)
			if err != nil {
				t.Fatal(err)
			}
			defer e.Close()
			calls = 0
			sealed := e.Seal(nil, make([]byte, NonceSize), make([]byte, 64), data)
			if calls != e.SealCalls() {
				t.Errorf("%s, sequence %d: Seal made %d calls, SealCalls says %d", name, sequence, calls, e.SealCalls())
			}
			calls = 0
			if _, err := e.Open(nil, make([]byte, NonceSize), sealed, data); err != nil || calls != e.SealCalls() {
				t.Errorf("%s, sequence %d: Open made %d calls, SealCalls says %d (%v)", name, sequence, calls, e.SealCalls(), err)
			}
		}
	}
}

func TestOpenLibraryError(t *testing.T) {
	files := libcryptoFiles[runtime.GOOS]
	defer func() { libcryptoFiles[runtime.GOOS] = files }()
	libcryptoFiles[runtime.GOOS] = []string{"libcrypto.so.none", "libcrypto.so.nothing"}
	_, err := openLibrary()
	if err == nil {
		t.Fatal("no error")
	}
	for _, file := range libcryptoFiles[runtime.GOOS] {
		if !strings.Contains(err.Error(), file) {
			t.Errorf("got %q, want it to name %q", err, file)
		}
	}
}
