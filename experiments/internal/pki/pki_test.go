package pki

import (
	"crypto/tls"
	"net"
	"testing"
)

// TestLeaf shakes hands with every algorithm: the client verifies the chain.
func TestLeaf(t *testing.T) {
	var store Store
	for name := range algorithms {
		t.Run(name, func(t *testing.T) {
			bundle, err := store.Leaf(name)
			if err != nil {
				t.Fatal(err)
			}
			cert, err := bundle.Certificate()
			if err != nil {
				t.Fatal(err)
			}
			roots, err := bundle.Public().Roots()
			if err != nil {
				t.Fatal(err)
			}
			client, server := net.Pipe()
			go func() {
				s := tls.Server(server, &tls.Config{Certificates: []tls.Certificate{cert}})
				if err := s.Handshake(); err != nil {
					t.Error(err)
				}
			}()
			c := tls.Client(client, &tls.Config{RootCAs: roots, ServerName: ServerName})
			if err := c.Handshake(); err != nil {
				t.Fatal(err)
			}
			again, err := store.Leaf(name)
			if err != nil || &again.Chain[0][0] != &bundle.Chain[0][0] {
				t.Errorf("a second call made another certificate (error %v)", err)
			}
		})
	}
}

func TestUnknown(t *testing.T) {
	var store Store
	if _, err := store.Leaf("dsa-1024"); err == nil {
		t.Error("no error for an unknown algorithm")
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
