// Package pki makes certificate authorities and certificates in memory for
// one run. Keys never reach a disk, an environment variable or a log: a
// [Bundle] goes from the parent to a role through its standard input.
package pki

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/asn1"
	"fmt"
	"math/big"
	"sync"
	"time"
)

// ServerName is the only name in the certificates; clients send it as SNI.
const ServerName = "localhost"

// An algorithm makes the key of a leaf. Its issuer is what a public
// authority would use for such a leaf.
type algorithm struct {
	issuer   string
	generate func() (crypto.Signer, error)
}

var algorithms = map[string]algorithm{
	"rsa-2048":   {"rsa-2048", generateRSA(2048)},
	"rsa-3072":   {"rsa-2048", generateRSA(3072)},
	"rsa-4096":   {"rsa-2048", generateRSA(4096)},
	"ecdsa-p256": {"ecdsa-p256", generateECDSA(elliptic.P256())},
	"ecdsa-p384": {"ecdsa-p384", generateECDSA(elliptic.P384())},
	"ed25519":    {"ed25519", generateEd25519},
}

func generateRSA(bits int) func() (crypto.Signer, error) {
	return func() (crypto.Signer, error) { return rsa.GenerateKey(rand.Reader, bits) }
}

func generateECDSA(curve elliptic.Curve) func() (crypto.Signer, error) {
	return func() (crypto.Signer, error) { return ecdsa.GenerateKey(curve, rand.Reader) }
}

func generateEd25519() (crypto.Signer, error) {
	_, key, err := ed25519.GenerateKey(rand.Reader)
	return key, err
}

// A Bundle is a server's chain and key, and the root that its clients trust.
type Bundle struct {
	Chain [][]byte `json:"chain"` // DER, leaf first, without the root
	Key   []byte   `json:"key"`   // PKCS #8
	Root  []byte   `json:"root"`  // DER
}

// Certificate is the bundle as a server uses it.
func (b Bundle) Certificate() (tls.Certificate, error) {
	key, err := x509.ParsePKCS8PrivateKey(b.Key)
	if err != nil {
		return tls.Certificate{}, fmt.Errorf("parse the private key: %w", err)
	}
	if len(b.Chain) == 0 {
		return tls.Certificate{}, fmt.Errorf("the chain is empty")
	}
	leaf, err := x509.ParseCertificate(b.Chain[0])
	if err != nil {
		return tls.Certificate{}, fmt.Errorf("parse the leaf: %w", err)
	}
	return tls.Certificate{Certificate: b.Chain, PrivateKey: key, Leaf: leaf}, nil
}

// Roots is the bundle as a client uses it.
func (b Bundle) Roots() (*x509.CertPool, error) {
	root, err := x509.ParseCertificate(b.Root)
	if err != nil {
		return nil, fmt.Errorf("parse the root: %w", err)
	}
	pool := x509.NewCertPool()
	pool.AddCert(root)
	return pool, nil
}

// Public is the bundle without its key, for clients.
func (b Bundle) Public() Bundle { return Bundle{Root: b.Root} }

// A Store makes each certificate once. Its methods may be called from
// several goroutines. The zero Store is ready.
type Store struct {
	mu      sync.Mutex
	issuers map[string]*issuer
	bundles map[string]Bundle
}

// once gives the bundle of a kind and algorithm, made when it is asked for
// first. The store is locked while make works.
func (s *Store) once(kind, name string, make func(algorithm) (Bundle, error)) (Bundle, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if b, ok := s.bundles[kind+" "+name]; ok {
		return b, nil
	}
	a, ok := algorithms[name]
	if !ok {
		return Bundle{}, fmt.Errorf("no certificate algorithm %q", name)
	}
	b, err := make(a)
	if err != nil {
		return Bundle{}, fmt.Errorf("make a %s certificate with a key of %s: %w", kind, name, err)
	}
	if s.bundles == nil {
		s.bundles = map[string]Bundle{}
	}
	s.bundles[kind+" "+name] = b
	return b, nil
}

// Leaf gives a server certificate for [ServerName] with a key of the named
// algorithm: rsa-2048, rsa-3072, rsa-4096, ecdsa-p256, ecdsa-p384, ed25519.
// It is issued directly by a root: rsa-2048 for RSA keys, the same algorithm
// for the others.
func (s *Store) Leaf(name string) (Bundle, error) {
	return s.once("leaf", name, func(a algorithm) (Bundle, error) {
		ca, err := s.issuer(a.issuer)
		if err != nil {
			return Bundle{}, err
		}
		key, err := a.generate()
		if err != nil {
			return Bundle{}, err
		}
		return ca.issue(key, leafTemplate())
	})
}

// SelfSigned gives a server certificate for [ServerName] that is its own
// root, as "openssl req -x509 -subj /CN=localhost" makes one: for ecdsa-p256 it
// has 408 bytes. The names of algorithms are those of [Store.Leaf].
func (s *Store) SelfSigned(name string) (Bundle, error) {
	return s.once("self-signed", name, func(a algorithm) (Bundle, error) {
		key, err := a.generate()
		if err != nil {
			return Bundle{}, err
		}
		id, err := keyID(key)
		if err != nil {
			return Bundle{}, err
		}
		// The first byte keeps the serial number at the 20 bytes of OpenSSL's
		// random ones, the most that RFC 5280, 4.1.2.2, allows.
		template := &x509.Certificate{
			SerialNumber: new(big.Int).SetBytes(append([]byte{0x40}, id[1:]...)), Subject: pkix.Name{CommonName: ServerName},
			NotBefore: notBefore, NotAfter: notAfter, DNSNames: []string{ServerName},
			SubjectKeyId: id, AuthorityKeyId: id, BasicConstraintsValid: true, IsCA: true,
		}
		cert, err := certify(template, template, key, key)
		if err != nil {
			return Bundle{}, err
		}
		return bundle(key, cert, cert)
	})
}

// Chain gives a server certificate for [ServerName] that is issued by an
// intermediate, which is issued by the root; the server sends the first two.
// The names of algorithms, and which issuers have, are those of [Store.Leaf].
func (s *Store) Chain(name string) (Bundle, error) {
	return s.once("chained", name, func(a algorithm) (Bundle, error) {
		root, err := s.issuer(a.issuer)
		if err != nil {
			return Bundle{}, err
		}
		middleKey, err := algorithms[a.issuer].generate()
		if err != nil {
			return Bundle{}, err
		}
		cert, err := certify(authorityTemplate("cryptocost intermediate"), root.cert, middleKey, root.key)
		if err != nil {
			return Bundle{}, err
		}
		key, err := a.generate()
		if err != nil {
			return Bundle{}, err
		}
		b, err := (&issuer{middleKey, cert}).issue(key, leafTemplate())
		b.Chain, b.Root = append(b.Chain, cert.Raw), root.cert.Raw
		return b, err
	})
}

// Padded gives a server certificate for [ServerName] like that of [Store.Leaf]
// whose Certificate message in TLS 1.3 has exactly messageBytes bytes, without
// the header of the handshake message (RFC 8446, 4.4.2; 3 bytes less in TLS
// 1.2). One extension that nobody reads fills it up, and not a longer chain, so
// that signing and verifying cost the same at all sizes.
func (s *Store) Padded(name string, messageBytes int) (Bundle, error) {
	return s.once(fmt.Sprintf("%d-byte", messageBytes), name, func(a algorithm) (Bundle, error) {
		ca, err := s.issuer(a.issuer)
		if err != nil {
			return Bundle{}, err
		}
		key, err := a.generate()
		if err != nil {
			return Bundle{}, err
		}
		// A try says how much is missing. The next one may miss by the bytes
		// that stating a longer length takes in DER.
		padding := 0
		for range 4 {
			template := leafTemplate()
			template.ExtraExtensions = []pkix.Extension{{Id: paddingID, Value: make([]byte, padding)}}
			b, err := ca.issue(key, template)
			if err != nil {
				return Bundle{}, err
			}
			missing := messageBytes - b.MessageBytes()
			if missing == 0 {
				return b, nil
			}
			if padding += missing; padding < 0 {
				return Bundle{}, fmt.Errorf("a message of %d bytes is too small for it", messageBytes)
			}
		}
		return Bundle{}, fmt.Errorf("no padding gives a message of exactly %d bytes", messageBytes)
	})
}

// paddingID names the extension of padded certificates, under the number that
// RFC 5612 reserves for examples.
var paddingID = asn1.ObjectIdentifier{1, 3, 6, 1, 4, 1, 32473, 1}

// MessageBytes is the size of the body of the server's Certificate message in
// TLS 1.3 (RFC 8446, 4.4.2), with no extensions in it: an empty context, the
// length of the list, and the length, certificate and no extensions of each.
func (b Bundle) MessageBytes() int {
	bytes := 1 + 3
	for _, der := range b.Chain {
		bytes += 3 + len(der) + 2
	}
	return bytes
}

// Dates around every run; fixed, so that they take the same bytes always.
var (
	notBefore = time.Date(2020, 1, 1, 0, 0, 0, 0, time.UTC)
	notAfter  = time.Date(2049, 12, 31, 0, 0, 0, 0, time.UTC)
)

// authorityTemplate is a root or intermediate. Serial numbers are small and
// fixed for the same reason as the dates. Those of an issuer should be unique
// (RFC 5280, 4.1.2.2); nobody keeps two of these certificates, or looks.
func authorityTemplate(commonName string) *x509.Certificate {
	return &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: commonName},
		NotBefore: notBefore, NotAfter: notAfter,
		KeyUsage: x509.KeyUsageCertSign, BasicConstraintsValid: true, IsCA: true,
	}
}

// leafTemplate is a server's certificate.
func leafTemplate() *x509.Certificate {
	return &x509.Certificate{
		SerialNumber: big.NewInt(2), Subject: pkix.Name{CommonName: ServerName},
		NotBefore: notBefore, NotAfter: notAfter, DNSNames: []string{ServerName},
		KeyUsage:    x509.KeyUsageDigitalSignature | x509.KeyUsageKeyEncipherment,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}, BasicConstraintsValid: true,
	}
}

// An issuer signs certificates.
type issuer struct {
	key  crypto.Signer
	cert *x509.Certificate
}

// issuer gives the root with a key of the named algorithm. The store is locked.
func (s *Store) issuer(name string) (*issuer, error) {
	if ca, ok := s.issuers[name]; ok {
		return ca, nil
	}
	key, err := algorithms[name].generate()
	if err != nil {
		return nil, fmt.Errorf("make a root key of %s: %w", name, err)
	}
	template := authorityTemplate("cryptocost root")
	cert, err := certify(template, template, key, key)
	if err != nil {
		return nil, fmt.Errorf("sign a root of %s: %w", name, err)
	}
	if s.issuers == nil {
		s.issuers = map[string]*issuer{}
	}
	s.issuers[name] = &issuer{key, cert}
	return s.issuers[name], nil
}

// issue signs a certificate of key.
func (ca *issuer) issue(key crypto.Signer, template *x509.Certificate) (Bundle, error) {
	cert, err := certify(template, ca.cert, key, ca.key)
	if err != nil {
		return Bundle{}, err
	}
	return bundle(key, cert, ca.cert)
}

// bundle is a chain of one certificate.
func bundle(key crypto.Signer, leaf, root *x509.Certificate) (Bundle, error) {
	pkcs8, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return Bundle{}, err
	}
	return Bundle{Chain: [][]byte{leaf.Raw}, Key: pkcs8, Root: root.Raw}, nil
}

// certify signs a certificate of key with the parent's. It signs again until a
// signature has its greatest length, so that certificates take the same bytes
// in every run.
func certify(template, parent *x509.Certificate, key, parentKey crypto.Signer) (*x509.Certificate, error) {
	for {
		der, err := x509.CreateCertificate(rand.Reader, template, parent, key.Public(), parentKey)
		if err != nil {
			return nil, err
		}
		cert, err := x509.ParseCertificate(der)
		if err != nil {
			return nil, err
		}
		if ec, ok := parentKey.Public().(*ecdsa.PublicKey); !ok || len(cert.Signature) == longestSignatureBytes(ec.Curve) {
			return cert, nil
		}
	}
}

// longestSignatureBytes is the greatest length of ECDSA signatures, which one
// in four has. They are two integers in DER (RFC 3279, 2.2.3), each with a
// leading zero byte when its first bit is set. Tags and lengths take 6 bytes.
func longestSignatureBytes(curve elliptic.Curve) int {
	return 6 + 2*(curve.Params().BitSize/8+1)
}

// keyID identifies a key as in RFC 7093, 2, method 4.
func keyID(key crypto.Signer) ([]byte, error) {
	der, err := x509.MarshalPKIXPublicKey(key.Public())
	if err != nil {
		return nil, err
	}
	digest := sha256.Sum256(der)
	return digest[:20], nil
}
