package aead

import (
	"bytes"
	"crypto/aes"
	"crypto/cipher"
	"encoding/hex"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
)

// An implementation is one way to get an AEAD.
type implementation struct {
	name string
	new  func(name string, key []byte) (cipher.AEAD, error)
}

// implementations returns Go's and, in both sequences, libcrypto's. It skips the test where there is no libcrypto.
func implementations(t testing.TB) []implementation {
	t.Helper()
	lib := library(t)
	evp := func(sequence Sequence) func(string, []byte) (cipher.AEAD, error) {
		return func(name string, key []byte) (cipher.AEAD, error) {
			e, err := lib.New(name, key, sequence)
			if err != nil {
				return nil, err
			}
			t.Cleanup(e.Close)
			return e, nil
		}
	}
	return []implementation{
		{"go", NewGo},
		{"libcrypto", evp(KeyOnce)},
		{"libcrypto-rekeyed", evp(KeyEachMessage)},
	}
}

func library(t testing.TB) *Library {
	t.Helper()
	lib, err := Load()
	if err != nil {
		t.Skip(err)
	}
	return lib
}

// each calls f for every pair of an implementation and an algorithm that it has.
func each(t *testing.T, f func(t *testing.T, name string, a cipher.AEAD)) {
	for _, impl := range implementations(t) {
		for _, name := range Names() {
			a, err := impl.new(name, testKey(t, name))
			if errors.Is(err, ErrNotInGo) && impl.name == "go" {
				continue
			}
			if err != nil {
				t.Fatal(err)
			}
			t.Run(impl.name+"/"+name, func(t *testing.T) { f(t, name, a) })
		}
	}
}

// testKey returns the key that the tests use with the named algorithm.
func testKey(t testing.TB, name string) []byte {
	t.Helper()
	size, err := KeySize(name)
	if err != nil {
		t.Fatal(err)
	}
	return random(size, 1)
}

// random returns n bytes that depend only on n and seed.
func random(n int, seed byte) []byte {
	b := make([]byte, n)
	rand.NewChaCha8([32]byte{seed}).Read(b)
	return b
}

// vectors are known answers with nonces of 12 and tags of 16 bytes.
var vectors = []struct {
	source, name, key, nonce, additionalData, plaintext, ciphertext string
}{
	{
		source: "McGrew and Viega, The Galois/Counter Mode of Operation, test case 1", name: "aes-128-gcm",
		key: "00000000000000000000000000000000", nonce: "000000000000000000000000",
		ciphertext: "58e2fccefa7e3061367f1d57a4e7455a",
	},
	{
		source: "McGrew and Viega, test case 4", name: "aes-128-gcm",
		key: "feffe9928665731c6d6a8f9467308308", nonce: "cafebabefacedbaddecaf888",
		additionalData: "feedfacedeadbeeffeedfacedeadbeefabaddad2",
		plaintext: "d9313225f88406e5a55909c5aff5269a86a7a9531534f7da2e4c303d8a318a72" +
			"1c3c0c95956809532fcf0e2449a6b525b16aedf5aa0de657ba637b39",
		ciphertext: "42831ec2217774244b7221b784d0d49ce3aa212f2c02a4e035c17e2329aca12e" +
			"21d514b25466931c7d8f6a5aac84aa051ba30b396a0aac973d58e0915bc94fbc3221a5db94fae95ae7121a47",
	},
	{
		source: "McGrew and Viega, test case 16", name: "aes-256-gcm",
		key:   "feffe9928665731c6d6a8f9467308308feffe9928665731c6d6a8f9467308308",
		nonce: "cafebabefacedbaddecaf888", additionalData: "feedfacedeadbeeffeedfacedeadbeefabaddad2",
		plaintext: "d9313225f88406e5a55909c5aff5269a86a7a9531534f7da2e4c303d8a318a72" +
			"1c3c0c95956809532fcf0e2449a6b525b16aedf5aa0de657ba637b39",
		ciphertext: "522dc1f099567d07f47f37a32a84427d643a8cdcbfe5c0c97598a2bd2555d1aa" +
			"8cb08e48590dbb3da7b08b1056828838c5f61e6393ba7a0abcc9f66276fc6ece0f4e1768cddf8853bb2d551b",
	},
	{
		source: "RFC 8439, section 2.8.2", name: "chacha20-poly1305",
		key:   "808182838485868788898a8b8c8d8e8f909192939495969798999a9b9c9d9e9f",
		nonce: "070000004041424344454647", additionalData: "50515253c0c1c2c3c4c5c6c7",
		plaintext: "4c616469657320616e642047656e746c656d656e206f662074686520636c6173" +
			"73206f66202739393a204966204920636f756c64206f6666657220796f75206f" +
			"6e6c79206f6e652074697020666f7220746865206675747572652c2073756e73637265656e20776f756c642062652069742e",
		ciphertext: "d31a8d34648e60db7b86afbc53ef7ec2a4aded51296e08fea9e2b5a736ee62d6" +
			"3dbea45e8ca9671282fafb69da92728b1a71de0a9e060b2905d6a5b67ecd3b36" +
			"92ddbd7f2d778b8c9803aee328091b58fab324e4fad675945585808b4831d7bc" +
			"3ff4def08e4b7a9de576d26586cec64b61161ae10b594f09e26a7e902ecbd0600691",
	},
	{
		source: "Wycheproof, aes_ccm_test.json, test 1", name: "aes-128-ccm",
		key: "bedcfb5a011ebc84600fcb296c15af0d", nonce: "438a547a94ea88dce46c6c85",
		ciphertext: "25d1a38495a7dea45bda049705627d10",
	},
	{
		source: "Wycheproof, aes_ccm_test.json, test 10", name: "aes-128-ccm",
		key: "42e38abef2dd7573248c5aefb3ecca54", nonce: "064b3cfbe04d94d4d5c19b30",
		plaintext: "2c763b9ec84903bcbb8aec15e678a3a955e4870edbf62d9d3c81c4f9ed615487" +
			"7875779ca33cce8f73a55ca7af1d8d817fc6baac00ef962c5a0da339ce81427a3d59",
		ciphertext: "4ca01b5b2a5e57bcc1a4b7f63f049dc477e3ee2e5c268efb346ff95b7dcd67f8" +
			"6ed0f11bb17c1dd7fb511d2f37b9684550c0d84be0f10030ccc4e0de5b74ef92ea54" +
			"c5a57dd6fa16aa9de8de20e6bd321396",
	},
	{
		source: "Wycheproof, aes_ccm_test.json, test 29", name: "aes-128-ccm",
		key: "20bbf74c1e63982c472c4743569e4c84", nonce: "459fc7c004bf46323a02d846",
		additionalData: "4f2285ce3dafa528c694a5272d3b7b929097db398772653bd9bbbdb3b2c8e1",
		plaintext:      "6db50992e8fbbee15d4979d3e322dacd",
		ciphertext:     "8703e44697138c58532d97ee99231d94f14c2f39a4871a4a16c42f6fe878deef",
	},
}

func TestKnownAnswers(t *testing.T) {
	for _, impl := range implementations(t) {
		for _, v := range vectors {
			a, err := impl.new(v.name, unhex(t, v.key))
			if errors.Is(err, ErrNotInGo) && impl.name == "go" {
				continue
			}
			if err != nil {
				t.Fatal(err)
			}
			t.Run(impl.name+"/"+v.source, func(t *testing.T) {
				nonce, data := unhex(t, v.nonce), unhex(t, v.additionalData)
				sealed := a.Seal(nil, nonce, unhex(t, v.plaintext), data)
				if got := hex.EncodeToString(sealed); got != v.ciphertext {
					t.Errorf("sealed: got %s, want %s", got, v.ciphertext)
				}
				opened, err := a.Open(nil, nonce, sealed, data)
				if got := hex.EncodeToString(opened); err != nil || got != v.plaintext {
					t.Errorf("opened: got %s, %v, want %s", got, err, v.plaintext)
				}
			})
		}
	}
}

func unhex(t *testing.T, s string) []byte {
	t.Helper()
	b, err := hex.DecodeString(s)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// TestImplementationsAgree seals with every implementation and opens with every other. For AES-CCM,
// which Go lacks, the other side is referenceCCM. Messages follow one another in one AEAD, so that
// nothing may be left of the one before.
func TestImplementationsAgree(t *testing.T) {
	for _, name := range Names() {
		var sides []cipher.AEAD
		for _, impl := range implementations(t) {
			a, err := impl.new(name, testKey(t, name))
			if errors.Is(err, ErrNotInGo) {
				continue
			}
			if err != nil {
				t.Fatal(err)
			}
			sides = append(sides, a)
		}
		for i, size := range append([]int{0, 1, 15, 17}, SizesBytes...) {
			nonce, data, plaintext := random(NonceSize, byte(i)), random(AdditionalDataSize, 2), random(size, 3)
			var want []byte
			if name == "aes-128-ccm" {
				want = referenceCCM(t, testKey(t, name), nonce, plaintext, data)
			} else {
				want = sides[0].Seal(nil, nonce, plaintext, data)
			}
			for j, a := range sides {
				if got := a.Seal(nil, nonce, plaintext, data); !bytes.Equal(got, want) {
					t.Errorf("%s, %d B, implementation %d: sealed differently from the reference", name, size, j)
				}
				if got, err := a.Open(nil, nonce, want, data); err != nil || !bytes.Equal(got, plaintext) {
					t.Errorf("%s, %d B, implementation %d: opening what the reference sealed: %v", name, size, j, err)
				}
			}
		}
	}
}

// referenceCCM seals with AES-CCM as RFC 3610, sections 2.2 and 2.3, put it, for M = 16 and L = 3.
func referenceCCM(t *testing.T, key, nonce, plaintext, additionalData []byte) []byte {
	t.Helper()
	block, err := aes.NewCipher(key)
	if err != nil {
		t.Fatal(err)
	}
	pad := func(b []byte) []byte { return append(b, make([]byte, -len(b)&(aes.BlockSize-1))...) }

	const adata, m, l = 1 << 6, 16, 3
	mac := append([]byte{adata | (m-2)/2<<3 | (l - 1)}, nonce...)
	mac = append(mac, byte(len(plaintext)>>16), byte(len(plaintext)>>8), byte(len(plaintext)))
	mac = pad(append(append(mac, byte(len(additionalData)>>8), byte(len(additionalData))), additionalData...))
	mac = pad(append(mac, plaintext...))
	cipher.NewCBCEncrypter(block, make([]byte, aes.BlockSize)).CryptBlocks(mac, mac)

	counter := append(append([]byte{l - 1}, nonce...), make([]byte, l)...)
	stream := cipher.NewCTR(block, counter)
	tag := mac[len(mac)-aes.BlockSize:]
	stream.XORKeyStream(tag, tag)
	sealed := make([]byte, len(plaintext))
	stream.XORKeyStream(sealed, plaintext)
	return append(sealed, tag...)
}

// TestAppends checks that Seal and Open append to dst, grow it where needed, and work in place.
func TestAppends(t *testing.T) {
	each(t, func(t *testing.T, name string, a cipher.AEAD) {
		nonce, data, plaintext := random(NonceSize, 1), random(AdditionalDataSize, 2), random(100, 3)
		want := a.Seal(nil, nonce, plaintext, data)

		prefix := []byte("before")
		for _, spare := range []int{0, 200} {
			got := a.Seal(slices.Grow(slices.Clone(prefix), spare), nonce, plaintext, data)
			if !bytes.Equal(got, append(slices.Clone(prefix), want...)) {
				t.Errorf("sealed behind a prefix with room for %d B: got %x", spare, got)
			}
			got, err := a.Open(slices.Grow(slices.Clone(prefix), spare), nonce, want, data)
			if err != nil || !bytes.Equal(got, append(slices.Clone(prefix), plaintext...)) {
				t.Errorf("opened behind a prefix with room for %d B: got %x, %v", spare, got, err)
			}
		}

		inPlace := slices.Grow(slices.Clone(plaintext), TagSize)
		inPlace = a.Seal(inPlace[:0], nonce, inPlace, data)
		if !bytes.Equal(inPlace, want) {
			t.Errorf("sealed in place: got %x, want %x", inPlace, want)
		}
		if got, err := a.Open(inPlace[:0], nonce, inPlace, data); err != nil || !bytes.Equal(got, plaintext) {
			t.Errorf("opened in place: got %x, %v, want %x", got, err, plaintext)
		}
	})
}

func TestTampering(t *testing.T) {
	each(t, func(t *testing.T, name string, a cipher.AEAD) {
		nonce, data, plaintext := random(NonceSize, 1), random(AdditionalDataSize, 2), random(64, 3)
		sealed := a.Seal(nil, nonce, plaintext, data)
		flip := func(b []byte, i int) []byte {
			b = slices.Clone(b)
			b[i] ^= 1
			return b
		}
		for _, test := range []struct {
			what                string
			nonce, sealed, data []byte
		}{
			{"ciphertext", nonce, flip(sealed, 0), data},
			{"tag", nonce, flip(sealed, len(sealed)-1), data},
			{"nonce", flip(nonce, 0), sealed, data},
			{"additional data", nonce, sealed, flip(data, 0)},
			{"additional data left out", nonce, sealed, nil},
			{"end cut off", nonce, sealed[:len(sealed)-1], data},
			{"shorter than a tag", nonce, sealed[:TagSize-1], data},
			{"empty", nonce, nil, data},
		} {
			place := make([]byte, len(sealed))
			if _, err := a.Open(place[:0], test.nonce, test.sealed, test.data); err == nil {
				t.Errorf("%s: opened, want an error", test.what)
			}
			if bytes.Contains(place, plaintext[1:]) {
				t.Errorf("%s: the plaintext was left behind", test.what)
			}
		}
		if _, err := a.Open(nil, nonce, sealed, data); err != nil {
			t.Errorf("after failures: %v", err)
		}
	})
}

func TestWrongNonceSizePanics(t *testing.T) {
	each(t, func(t *testing.T, name string, a cipher.AEAD) {
		defer func() {
			if recover() == nil {
				t.Error("no panic")
			}
		}()
		a.Seal(nil, make([]byte, NonceSize+1), nil, nil)
	})
}

func TestSizes(t *testing.T) {
	each(t, func(t *testing.T, name string, a cipher.AEAD) {
		if a.NonceSize() != NonceSize || a.Overhead() != TagSize {
			t.Errorf("nonce of %d and tag of %d bytes, want %d and %d", a.NonceSize(), a.Overhead(), NonceSize, TagSize)
		}
	})
}

func TestNewErrors(t *testing.T) {
	for _, impl := range implementations(t) {
		if _, err := impl.new("aes-128-ocb", make([]byte, 16)); err == nil {
			t.Errorf("%s: made an algorithm that is not in the table", impl.name)
		}
		for _, name := range Names() {
			if _, err := impl.new(name, make([]byte, 15)); err == nil {
				t.Errorf("%s: made %s with a key of 15 bytes", impl.name, name)
			}
		}
	}
	if _, err := NewGo("aes-128-ccm", make([]byte, 16)); !errors.Is(err, ErrNotInGo) {
		t.Errorf("got error %v, want ErrNotInGo", err)
	}
}

// benchmark runs one operation of every implementation, algorithm and size.
func benchmark(b *testing.B, operation func(a cipher.AEAD, place, nonce, plaintext, data []byte) func()) {
	for _, impl := range implementations(b) {
		for _, name := range Names() {
			for _, size := range SizesBytes {
				b.Run(fmt.Sprintf("impl=%s/aead=%s/bytes=%d", impl.name, name, size), func(b *testing.B) {
					a, err := impl.new(name, testKey(b, name))
					if err != nil {
						b.Skip(err)
					}
					place := make([]byte, 0, size+TagSize)
					op := operation(a, place, random(NonceSize, 1), random(size, 3), random(AdditionalDataSize, 2))
					b.SetBytes(int64(size))
					for b.Loop() {
						op()
					}
				})
			}
		}
	}
}

func BenchmarkSeal(b *testing.B) {
	benchmark(b, func(a cipher.AEAD, place, nonce, plaintext, data []byte) func() {
		return func() { a.Seal(place, nonce, plaintext, data) }
	})
}

func BenchmarkOpen(b *testing.B) {
	benchmark(b, func(a cipher.AEAD, place, nonce, plaintext, data []byte) func() {
		sealed := a.Seal(nil, nonce, plaintext, data)
		return func() {
			if _, err := a.Open(place, nonce, sealed, data); err != nil {
				b.Fatal(err)
			}
		}
	})
}

func BenchmarkCallNothing(b *testing.B) {
	e, err := library(b).New("aes-128-gcm", testKey(b, "aes-128-gcm"), KeyOnce)
	if err != nil {
		b.Fatal(err)
	}
	defer e.Close()
	for b.Loop() {
		e.CallNothing()
	}
}
