package pki

import (
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"net"
	"strings"
	"testing"
)

// kinds are the ways to make a certificate, with the sizes of their chains.
var kinds = []struct {
	name  string
	make  func(*Store, string) (Bundle, error)
	chain int
}{
	{"leaf", (*Store).Leaf, 1},
	{"self-signed", (*Store).SelfSigned, 1},
	{"chain", (*Store).Chain, 2},
	{"padded", func(s *Store, name string) (Bundle, error) { return s.Padded(name, 2000) }, 1},
}

// TestKinds lets clients verify certificates of every kind and algorithm.
func TestKinds(t *testing.T) {
	var store Store
	for _, kind := range kinds {
		for name := range algorithms {
			t.Run(kind.name+"/"+name, func(t *testing.T) {
				b, err := kind.make(&store, name)
				if err != nil {
					t.Fatal(err)
				}
				if len(b.Chain) != kind.chain {
					t.Errorf("%d certificates, want %d", len(b.Chain), kind.chain)
				}
				for _, der := range b.Chain {
					if own := string(der) == string(b.Root); own != (kind.name == "self-signed") {
						t.Errorf("the root is in the chain: %v", own)
					}
				}
				verify(t, b)
				for _, version := range []uint16{tls.VersionTLS12, tls.VersionTLS13} {
					if err := shake(t, b, b.Public(), version); err != nil {
						t.Errorf("%s: %v", tls.VersionName(version), err)
					}
				}
				again, err := kind.make(&store, name)
				if err != nil || &again.Chain[0][0] != &b.Chain[0][0] {
					t.Errorf("a second call made another certificate (error %v)", err)
				}
			})
		}
	}
}

// verify checks the chain as crypto/x509 does for a client.
func verify(t *testing.T, b Bundle) {
	t.Helper()
	cert, err := b.Certificate()
	if err != nil {
		t.Fatal(err)
	}
	roots, err := b.Roots()
	if err != nil {
		t.Fatal(err)
	}
	intermediates := x509.NewCertPool()
	for _, der := range b.Chain[1:] {
		c, err := x509.ParseCertificate(der)
		if err != nil {
			t.Fatal(err)
		}
		intermediates.AddCert(c)
	}
	if _, err := cert.Leaf.Verify(x509.VerifyOptions{DNSName: ServerName, Roots: roots, Intermediates: intermediates}); err != nil {
		t.Error(err)
	}
	if _, err := cert.Leaf.Verify(x509.VerifyOptions{DNSName: "example.com", Roots: roots, Intermediates: intermediates}); err == nil {
		t.Error("verified for another name")
	}
	if _, err := cert.Leaf.Verify(x509.VerifyOptions{DNSName: ServerName, Roots: x509.NewCertPool(), Intermediates: intermediates}); err == nil {
		t.Error("verified without its root")
	}
}

// shake shakes hands between a server with b and a client that trusts the
// root of trusted.
func shake(t *testing.T, b, trusted Bundle, version uint16) error {
	t.Helper()
	cert, err := b.Certificate()
	if err != nil {
		t.Fatal(err)
	}
	roots, err := trusted.Roots()
	if err != nil {
		t.Fatal(err)
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	go func() {
		conn, err := listener.Accept()
		if err != nil {
			t.Error(err)
			return
		}
		_ = tls.Server(conn, &tls.Config{Certificates: []tls.Certificate{cert}, MaxVersion: version}).Handshake() // the client tells
		_ = conn.Close()
	}()
	conn, err := net.Dial("tcp", listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	return tls.Client(conn, &tls.Config{RootCAs: roots, ServerName: ServerName, MinVersion: version}).Handshake()
}

// TestOtherRoot checks that clients trust nothing but the root they are given.
func TestOtherRoot(t *testing.T) {
	for _, kind := range kinds {
		var ours, others Store
		b, err := kind.make(&ours, "ecdsa-p256")
		if err != nil {
			t.Fatal(err)
		}
		other, err := kind.make(&others, "ecdsa-p256")
		if err != nil {
			t.Fatal(err)
		}
		if err := shake(t, b, other.Public(), tls.VersionTLS13); err == nil {
			t.Errorf("%s: shook hands with a server of another root", kind.name)
		}
	}
}

// TestSizes checks that certificates take the same bytes in every run, and
// that the self-signed one has the size of the article's: 438 bytes in a
// record of TLS 1.3 with the type, tag and header of the message in it.
func TestSizes(t *testing.T) {
	for _, kind := range kinds {
		for _, name := range []string{"ecdsa-p256", "ecdsa-p384", "rsa-2048"} {
			var sizes []int
			for range 3 {
				var store Store
				b, err := kind.make(&store, name)
				if err != nil {
					t.Fatal(err)
				}
				sizes = append(sizes, b.MessageBytes())
			}
			if sizes[0] != sizes[1] || sizes[0] != sizes[2] {
				t.Errorf("%s, %s: messages of %v bytes", kind.name, name, sizes)
			}
			if kind.name == "self-signed" && name == "ecdsa-p256" && sizes[0] != 438-1-16-4 {
				t.Errorf("the self-signed certificate takes %d bytes", sizes[0])
			}
		}
	}
}

func TestPadded(t *testing.T) {
	var store Store
	for _, name := range []string{"ecdsa-p256", "rsa-2048"} {
		for _, want := range []int{512, 4 << 10, 12 << 10, 20 << 10, 32 << 10} {
			t.Run(fmt.Sprintf("%s/%d", name, want), func(t *testing.T) {
				b, err := store.Padded(name, want)
				if name == "rsa-2048" && want == 512 { // a signature and a key take 512 bytes alone
					if err == nil || !strings.Contains(err.Error(), "512 bytes is too small") {
						t.Errorf("error %v", err)
					}
					return
				}
				if err != nil {
					t.Fatal(err)
				}
				if got := b.MessageBytes(); got != want {
					t.Errorf("%d bytes", got)
				}
				for _, version := range []uint16{tls.VersionTLS12, tls.VersionTLS13} {
					if err := shake(t, b, b.Public(), version); err != nil {
						t.Errorf("%s: %v", tls.VersionName(version), err)
					}
				}
			})
		}
	}
}

func TestWrong(t *testing.T) {
	var store Store
	for _, kind := range kinds {
		if _, err := kind.make(&store, "dsa-1024"); err == nil || !strings.Contains(err.Error(), "dsa-1024") {
			t.Errorf("%s: error %v for an unknown algorithm", kind.name, err)
		}
	}
	if _, err := (Bundle{Key: []byte("x")}).Certificate(); err == nil {
		t.Error("no error for a damaged key")
	}
	if _, err := (Bundle{Root: []byte("x")}).Roots(); err == nil {
		t.Error("no error for a damaged root")
	}
	if len((Bundle{Key: []byte("x"), Root: []byte("y")}).Public().Key) != 0 {
		t.Error("the public part has the key")
	}
}
