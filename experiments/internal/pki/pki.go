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
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
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
	leaves  map[string]Bundle
}

type issuer struct {
	key  crypto.Signer
	cert *x509.Certificate
}

// Leaf gives a server certificate for [ServerName] with a key of the named
// algorithm: rsa-2048, rsa-3072, rsa-4096, ecdsa-p256, ecdsa-p384, ed25519.
// It is issued directly by a root: rsa-2048 for RSA keys, the same algorithm
// for the others.
func (s *Store) Leaf(name string) (Bundle, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if b, ok := s.leaves[name]; ok {
		return b, nil
	}
	a, ok := algorithms[name]
	if !ok {
		return Bundle{}, fmt.Errorf("no certificate algorithm %q", name)
	}
	ca, err := s.issuer(a.issuer)
	if err != nil {
		return Bundle{}, err
	}
	b, err := ca.issue(a)
	if err != nil {
		return Bundle{}, fmt.Errorf("issue a certificate with a key of %s: %w", name, err)
	}
	if s.leaves == nil {
		s.leaves = map[string]Bundle{}
	}
	s.leaves[name] = b
	return b, nil
}

// Dates around every run; fixed, so that they take the same bytes always.
var (
	notBefore = time.Date(2020, 1, 1, 0, 0, 0, 0, time.UTC)
	notAfter  = time.Date(2049, 12, 31, 0, 0, 0, 0, time.UTC)
)

func (s *Store) issuer(name string) (*issuer, error) {
	if ca, ok := s.issuers[name]; ok {
		return ca, nil
	}
	key, err := algorithms[name].generate()
	if err != nil {
		return nil, fmt.Errorf("make a root key of %s: %w", name, err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "cryptocost root"},
		NotBefore: notBefore, NotAfter: notAfter,
		KeyUsage: x509.KeyUsageCertSign, BasicConstraintsValid: true, IsCA: true,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		return nil, fmt.Errorf("sign a root of %s: %w", name, err)
	}
	cert, err := x509.ParseCertificate(der)
	if err != nil {
		return nil, fmt.Errorf("parse a root of %s: %w", name, err)
	}
	if s.issuers == nil {
		s.issuers = map[string]*issuer{}
	}
	s.issuers[name] = &issuer{key, cert}
	return s.issuers[name], nil
}

// issue signs a leaf. The serial number is small and fixed for the same
// reason as the dates; one root issues one leaf of a kind.
func (ca *issuer) issue(a algorithm) (Bundle, error) {
	key, err := a.generate()
	if err != nil {
		return Bundle{}, err
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(2), Subject: pkix.Name{CommonName: ServerName},
		NotBefore: notBefore, NotAfter: notAfter, DNSNames: []string{ServerName},
		KeyUsage:    x509.KeyUsageDigitalSignature | x509.KeyUsageKeyEncipherment,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}, BasicConstraintsValid: true,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, ca.cert, key.Public(), ca.key)
	if err != nil {
		return Bundle{}, err
	}
	pkcs8, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return Bundle{}, err
	}
	return Bundle{Chain: [][]byte{der}, Key: pkcs8, Root: ca.cert.Raw}, nil
}
