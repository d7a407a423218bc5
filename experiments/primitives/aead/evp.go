package aead

import (
	"crypto/cipher"
	"errors"
	"fmt"
	"slices"
	"unsafe"
)

// A Sequence says what libcrypto does anew for each message.
//
// openssl speed -aead -evp has had two loops (apps/speed.c). Which one a program runs can't be told from
// the first two numbers of its version, since the second loop came to the older branches too:
//
//   - until 2024 (EVP_Update_loop_aead; CCM in a loop of its own, without additional data and with a tag
//     of 12 bytes), the key was set once; each message set the nonce, and for decryption a wrong tag, then
//     came 13 bytes of additional data, one update in place, and final, which failed when decrypting;
//   - since openssl/openssl#25823 (EVP_Update_loop_aead_enc and _dec; seen in 3.0.19), each message sets
//     the length of the nonce (CCM: and of the tag), the key and the nonce, (decrypting: the nonce again
//     and the right tag), CCM's length, additional data, one update (decrypting: not in place), and final.
//     ChaCha20-Poly1305 no longer counts as an AEAD there, because its mode is that of a stream cipher:
//     its loop is one endless message, an update only, with no nonce, additional data or tag.
//
// Both leave out fetching the tag, without which a message can't be sent. Seal fetches it in both
// sequences; Open sets the nonce once; and neither works in place unless the caller's slices ask for it.
type Sequence int

const (
	// KeyOnce sets the key when the EVP is made and only the nonce for each message, as a TLS
	// connection does, as [crypto/cipher.AEAD] in Go does, and as openssl speed did until 2024.
	KeyOnce Sequence = iota
	// KeyEachMessage also sets the nonce's length and the key for each message, as openssl speed does
	// since, so that its results can be checked against ours. For AES-GCM that includes the table for
	// GHASH.
	KeyEachMessage
)

// Numbers of EVP_CIPHER_CTX_ctrl's requests, from openssl/evp.h.
const (
	ctrlSetNonceLen = 0x9
	ctrlGetTag      = 0x10
	ctrlSetTag      = 0x11
)

// The last argument of EVP_CipherInit_ex.
const (
	decrypting = 0
	encrypting = 1
)

// errOpen is what Open returns for a message that is not authentic.
var errOpen = errors.New("message authentication failed")

// An EVP is one algorithm of libcrypto with one key, a [crypto/cipher.AEAD]. It is not safe for
// concurrent use. Like Go's, its Seal panics when it is misused, and also if libcrypto fails.
//
// It is safe with Go's garbage collector because no C function that it calls keeps a pointer to Go
// memory (key and nonce are copied) and all pointers are passed as [caller.call] demands; and with Go's
// scheduler because a context of libcrypto's is not bound to a thread. Only libcrypto's queue of errors
// is, which is not read here; a failed Open leaves an entry in it, which is overwritten after 16 more.
type EVP struct {
	caller
	lib        *Library
	algorithm  algorithm
	sequence   Sequence
	key        []byte
	seal, open direction
	// written is where C stores the number of bytes it wrote.
	written int32
}

var _ cipher.AEAD = (*EVP)(nil)

// direction is what differs between encrypting and decrypting.
type direction struct {
	ctx, update, final uintptr
	encrypting         uintptr
}

// New returns libcrypto's implementation of the named algorithm with the given key, which it copies.
// The caller must call [EVP.Close].
func (l *Library) New(name string, key []byte, sequence Sequence) (*EVP, error) {
	a, err := find(name)
	if err != nil {
		return nil, err
	}
	if len(key) != a.keyBytes {
		return nil, keySizeError(a, key)
	}
	e := &EVP{lib: l, algorithm: a, sequence: sequence, key: slices.Clone(key)}
	cName := append([]byte(name), 0)
	evpCipher := e.call(l.cipherFetch, 0, uintptr(unsafe.Pointer(&cName[0])), 0, 0, 0, 0)
	if evpCipher == 0 {
		return nil, fmt.Errorf("libcrypto %s has no cipher %q", l.version, name)
	}
	defer e.call(l.cipherFree, evpCipher, 0, 0, 0, 0, 0)
	e.seal = direction{update: l.encryptUpdate, final: l.encryptFinal, encrypting: encrypting}
	e.open = direction{update: l.decryptUpdate, final: l.decryptFinal, encrypting: decrypting}
	for _, d := range []*direction{&e.seal, &e.open} {
		d.ctx = e.call(l.cipherCtxNew, 0, 0, 0, 0, 0, 0)
		// CCM sets its key up for a length of nonce and of tag, so these come first.
		if d.ctx == 0 || !e.init(d, evpCipher, nil, nil) || !e.setLengths(d) || !e.init(d, 0, &e.key[0], nil) {
			e.Close()
			return nil, fmt.Errorf("libcrypto %s: setting up cipher %q failed", l.version, name)
		}
	}
	return e, nil
}

// Close frees what libcrypto holds. The EVP can't be used afterwards.
func (e *EVP) Close() {
	for _, d := range []*direction{&e.seal, &e.open} {
		e.call(e.lib.cipherCtxFree, d.ctx, 0, 0, 0, 0, 0)
		d.ctx = 0
	}
}

// NonceSize returns the length in bytes of the nonce.
func (e *EVP) NonceSize() int { return NonceSize }

// Overhead returns the length in bytes of the tag.
func (e *EVP) Overhead() int { return TagSize }

// SealCalls returns how many C functions a Seal with additional data calls, and as many an Open.
func (e *EVP) SealCalls() int {
	calls := 5 // nonce, additional data, plaintext, final, tag
	if e.algorithm.ccm {
		calls++ // length
	}
	if e.sequence == KeyEachMessage {
		calls++ // the nonce's length; key and nonce are set in one call
		if e.algorithm.ccm {
			calls++ // the tag's length
		}
	}
	return calls
}

// CallNothing calls a C function that only returns a constant (OPENSSL_version_major). Its time is what
// going from Go to C and back costs, which is SealCalls times part of every Seal. It is the least that a
// call costs: a long message displaces from the first-level cache what the next call needs.
func (e *EVP) CallNothing() { e.call(e.lib.versionMajor, 0, 0, 0, 0, 0, 0) }

// Seal implements [crypto/cipher.AEAD].
func (e *EVP) Seal(dst, nonce, plaintext, additionalData []byte) []byte {
	all, out := extend(dst, len(plaintext)+TagSize)
	tag := out[len(plaintext):]
	if !e.start(&e.seal, nonce) ||
		!e.message(&e.seal, out, plaintext, additionalData) ||
		!e.final(&e.seal) ||
		!e.ctrl(&e.seal, ctrlGetTag, TagSize, &tag[0]) {
		panic("aead: libcrypto failed to seal with " + e.algorithm.name)
	}
	return all
}

// Open implements [crypto/cipher.AEAD]. Like Go's implementations it overwrites what it had deciphered
// of a message that turns out not to be authentic.
func (e *EVP) Open(dst, nonce, ciphertext, additionalData []byte) ([]byte, error) {
	if len(ciphertext) < TagSize {
		return nil, errOpen
	}
	body, tag := ciphertext[:len(ciphertext)-TagSize], ciphertext[len(ciphertext)-TagSize:]
	all, out := extend(dst, len(body))
	if !e.start(&e.open, nonce) || !e.ctrl(&e.open, ctrlSetTag, TagSize, &tag[0]) {
		panic("aead: libcrypto failed to open with " + e.algorithm.name)
	}
	// A wrong tag shows in final, but CCM's in the update, before it has put out anything.
	if !e.message(&e.open, out, body, additionalData) || !e.final(&e.open) {
		clear(out)
		return nil, errOpen
	}
	return all, nil
}

// start begins a message.
func (e *EVP) start(d *direction, nonce []byte) bool {
	if len(nonce) != NonceSize {
		panic(fmt.Sprintf("aead: nonce of %d bytes, want %d", len(nonce), NonceSize))
	}
	if e.sequence == KeyEachMessage {
		return e.setLengths(d) && e.init(d, 0, &e.key[0], &nonce[0])
	}
	return e.init(d, 0, nil, &nonce[0])
}

// setLengths sets the length of the nonce and, for CCM, whose default is another, of the tag.
func (e *EVP) setLengths(d *direction) bool {
	return e.ctrl(d, ctrlSetNonceLen, NonceSize, nil) &&
		(!e.algorithm.ccm || e.ctrl(d, ctrlSetTag, TagSize, nil))
}

// message passes the additional data and then, in one update because CCM allows no more, in, which
// puts as many bytes into out.
func (e *EVP) message(d *direction, out, in, additionalData []byte) bool {
	if e.algorithm.ccm && !e.update(d, nil, nil, len(in)) {
		return false
	}
	// Without the condition, CCM would take no data for a declaration of the length 0.
	if len(additionalData) > 0 && !e.update(d, nil, &additionalData[0], len(additionalData)) {
		return false
	}
	return e.update(d, first(out), first(in), len(in)) && int(e.written) == len(in)
}

// init calls EVP_CipherInit_ex. What is nil or 0 stays as it was.
func (e *EVP) init(d *direction, evpCipher uintptr, key, nonce *byte) bool {
	return done(e.call(e.lib.cipherInit, d.ctx, evpCipher, 0,
		uintptr(unsafe.Pointer(key)), uintptr(unsafe.Pointer(nonce)), d.encrypting))
}

// ctrl calls EVP_CIPHER_CTX_ctrl.
func (e *EVP) ctrl(d *direction, request, n uintptr, p *byte) bool {
	return done(e.call(e.lib.cipherCtxCtrl, d.ctx, request, n, uintptr(unsafe.Pointer(p)), 0, 0))
}

// update calls EVP_EncryptUpdate or EVP_DecryptUpdate. Without out, in is additional data; without
// both, n is the length of the plaintext.
func (e *EVP) update(d *direction, out, in *byte, n int) bool {
	return done(e.call(d.update, d.ctx, uintptr(unsafe.Pointer(out)), uintptr(unsafe.Pointer(&e.written)),
		uintptr(unsafe.Pointer(in)), uintptr(n), 0))
}

// final calls EVP_EncryptFinal_ex or EVP_DecryptFinal_ex, for which AEADs have no output left.
func (e *EVP) final(d *direction) bool {
	return done(e.call(d.final, d.ctx, uintptr(unsafe.Pointer(nothing)), uintptr(unsafe.Pointer(&e.written)), 0, 0, 0))
}

// done reports whether the C int in result is OpenSSL's 1 for success.
func done(result uintptr) bool { return int32(result) == 1 }

// nothing is what empty input and output point to: a null pointer has a meaning of its own in EVP.
var nothing = new(byte)

func first(b []byte) *byte {
	if len(b) == 0 {
		return nothing
	}
	return &b[0]
}

// extend returns dst with n more bytes, and those bytes.
func extend(dst []byte, n int) (all, added []byte) {
	all = slices.Grow(dst, n)[:len(dst)+n]
	return all, all[len(dst):]
}
