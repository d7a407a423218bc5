package wire

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/hkdf"
	"crypto/sha256"
	"crypto/sha512"
	"crypto/tls"
	"encoding/binary"
	"fmt"
	"hash"

	"golang.org/x/crypto/chacha20poly1305"
	"golang.org/x/crypto/cryptobyte"
)

// A suite is a cipher suite of TLS 1.3 (RFC 8446, B.4).
type suite struct {
	hash     func() hash.Hash
	keyBytes int
	aead     func(key []byte) (cipher.AEAD, error)
}

func gcm(key []byte) (cipher.AEAD, error) {
	block, err := aes.NewCipher(key)
	if err != nil {
		return nil, err
	}
	return cipher.NewGCM(block)
}

var suites = map[uint16]suite{
	tls.TLS_AES_128_GCM_SHA256:       {sha256.New, 16, gcm},
	tls.TLS_AES_256_GCM_SHA384:       {sha512.New384, 32, gcm},
	tls.TLS_CHACHA20_POLY1305_SHA256: {sha256.New, chacha20poly1305.KeySize, chacha20poly1305.New},
}

// An opener decrypts the records of one direction in their order.
type opener struct {
	suite
	secret   []byte
	aead     cipher.AEAD
	iv       []byte
	sequence uint64
}

func newOpener(code uint16, secret []byte) (*opener, error) {
	s, ok := suites[code]
	if !ok {
		return nil, fmt.Errorf("cipher suite %s is none of TLS 1.3", tls.CipherSuiteName(code))
	}
	o := &opener{suite: s, secret: secret}
	return o, o.derive()
}

// derive makes key and nonce of the secret (RFC 8446, 7.3).
func (o *opener) derive() error {
	key, err := o.expand("key", o.keyBytes)
	if err != nil {
		return err
	}
	if o.aead, err = o.suite.aead(key); err != nil {
		return fmt.Errorf("make a cipher: %w", err)
	}
	o.sequence = 0
	o.iv, err = o.expand("iv", o.aead.NonceSize())
	return err
}

// expand is HKDF-Expand-Label without context (RFC 8446, 7.1).
func (o *opener) expand(label string, length int) ([]byte, error) {
	var b cryptobyte.Builder
	b.AddUint16(uint16(length))
	b.AddUint8LengthPrefixed(func(b *cryptobyte.Builder) { b.AddBytes([]byte("tls13 " + label)) })
	b.AddUint8(0)
	info, err := b.Bytes()
	if err != nil {
		return nil, err
	}
	return hkdf.Expand(o.hash, o.secret, string(info), length)
}

// update goes on to the next secret, as KeyUpdate says (RFC 8446, 7.2).
func (o *opener) update() error {
	next, err := o.expand("traffic upd", len(o.secret))
	if err != nil {
		return err
	}
	o.secret = next
	return o.derive()
}

// skip passes a record by.
func (o *opener) skip() { o.sequence++ }

// open decrypts the next record (RFC 8446, 5.2 and 5.3).
func (o *opener) open(header, payload []byte) ([]byte, error) {
	nonce := make([]byte, len(o.iv))
	binary.BigEndian.PutUint64(nonce[len(nonce)-8:], o.sequence)
	for i := range nonce {
		nonce[i] ^= o.iv[i]
	}
	plain, err := o.aead.Open(nil, nonce, payload, header)
	if err != nil {
		return nil, fmt.Errorf("the key log's secrets do not open it: %w", err)
	}
	o.sequence++
	return plain, nil
}
