package main

import (
	"crypto/tls"
	"crypto/x509"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"cryptocost/data"
	"cryptocost/experiments/internal/host"
	"cryptocost/experiments/internal/trial"
)

func TestMain(m *testing.M) { os.Exit(host.RunTests(m, experiment().Roles)) }

// exact gives an exact quantity of a slice, -1 if it has none.
func exact(s trial.Slice, unit string) float64 {
	for _, tally := range s.Tallies {
		for _, v := range tally.Values {
			if v.Unit == unit {
				return v.Value
			}
		}
	}
	return -1
}

// TestCases lets every case work for a slice. The connections themselves are
// checked by the client; sizes are those of the standards.
func TestCases(t *testing.T) {
	keyShareBytes := map[string]float64{ // RFC 8446, 4.2.8; draft-ietf-tls-ecdhe-mlkem
		"x25519mlkem768": 1216, "secp256r1mlkem768": 1249, "secp384r1mlkem1024": 1665,
		"x25519": 32, "p256": 65, "p384": 97, "p521": 133,
	}
	for _, c := range cases() {
		if strings.Contains(c.Name, "rsa-3072") || strings.Contains(c.Name, "rsa-4096") {
			continue // as the smaller key, but slow to make
		}
		t.Run(c.Name, func(t *testing.T) {
			if c.Missing != "" {
				t.Skip(c.Missing)
			}
			s, err := c.Once(t.Context(), 5*time.Millisecond)
			if err != nil {
				t.Fatal(err)
			}
			if strings.HasPrefix(c.Name, "/check=") {
				want := 1.0
				if c.Name == "/check=hrr-by-order-of-preferences" {
					want = 0 // Go ignores the order since 1.24
				}
				if got := exact(s, data.YesUnit); got != want {
					t.Errorf("observed %v, want %v", got, want)
				}
				return
			}
			if s.Ops < 1 || len(s.Latencies) != s.Ops || s.Elapsed < 5*time.Millisecond {
				t.Errorf("%d operations with %d latencies in %v", s.Ops, len(s.Latencies), s.Elapsed)
			}
			for _, q := range s.Quantities {
				if q.Sum <= 0 || q.Per != float64(s.Ops) {
					t.Errorf("%s: %v per %v of %d operations", q.Unit, q.Sum, q.Per, s.Ops)
				}
			}
			kex, _, _ := strings.Cut(strings.TrimPrefix(c.Name, "/kex="), "/")
			if want := keyShareBytes[kex]; strings.HasSuffix(c.Name, "/tls=1.3") && exact(s, "key-share-B/op") != want {
				t.Errorf("key share of %v bytes, want %v", exact(s, "key-share-B/op"), want)
			}
			// Behind the ClientHello a client of TLS 1.3 sends its Finished
			// message alone (64 bytes with a ChangeCipherSpec), or, retried,
			// another ClientHello as well.
			behind := exact(s, "sent-B/op") - exact(s, "clienthello-B/op")
			if retried := strings.Contains(c.Name, "hrr=yes"); behind <= 0 || strings.Contains(c.Name, "/tls=1.3") && retried != (behind > 200) {
				t.Errorf("the client sends %v bytes behind its ClientHello", behind)
			}
			if tickets := exact(s, "after-B/op") > 100; tickets != strings.Contains(c.Name, "tickets=asked") {
				t.Errorf("%v bytes follow the handshake", exact(s, "after-B/op"))
			}
		})
	}
}

// TestWrongCase checks that a case that does not record what its name says
// fails instead.
func TestWrongCase(t *testing.T) {
	right := config{Version: 0x0304, Kex: "x25519", Cert: "ecdsa-p256", Offered: only("x25519"), Accepted: only("x25519")}
	for name, wrong := range map[string]func(*config){
		"group":   func(c *config) { c.Kex = "p256" },
		"retry":   func(c *config) { c.HRR = true },
		"version": func(c *config) { c.Version = 0x0303; c.Kex = "rsa" },
	} {
		c := right
		wrong(&c)
		if _, err := (trial.Case{Start: c.start(name)}).Once(t.Context(), 5*time.Millisecond); err == nil {
			t.Errorf("%s: no error for a case that is not what it says", name)
		}
	}
}

// TestNames checks that no two cases have one name and that the twins are
// the baseline's.
func TestNames(t *testing.T) {
	var names []string
	for _, c := range cases() {
		names = append(names, c.Name)
	}
	sorted := slices.Clone(names)
	slices.Sort(sorted)
	if len(slices.Compact(sorted)) != len(names) {
		t.Error("two cases have one name")
	}
	for _, name := range names {
		if base, ok := strings.CutSuffix(name, "/twin=b"); ok && !slices.Contains(names, base) {
			t.Errorf("%s is the twin of no case", name)
		}
	}
}

// TestCheck checks what a client accepts of a negotiated connection: nothing
// but what its case says.
func TestCheck(t *testing.T) {
	bundle, err := keys.Leaf("ecdsa-p256")
	if err != nil {
		t.Fatal(err)
	}
	cert, err := bundle.Certificate()
	if err != nil {
		t.Fatal(err)
	}
	right := tls.ConnectionState{Version: tls.VersionTLS13, CurveID: tls.X25519, PeerCertificates: []*x509.Certificate{cert.Leaf}}
	c := client{config: config{Version: tls.VersionTLS13, Kex: "x25519", Cert: "ecdsa-p256"}}
	if err := c.check(right); err != nil {
		t.Errorf("the right connection: %v", err)
	}
	for name, wrong := range map[string]func(*tls.ConnectionState, *client){
		"version":     func(s *tls.ConnectionState, _ *client) { s.Version = tls.VersionTLS12 },
		"group":       func(s *tls.ConnectionState, _ *client) { s.CurveID = tls.CurveP256 },
		"retry":       func(s *tls.ConnectionState, _ *client) { s.HelloRetryRequest = true },
		"resumption":  func(s *tls.ConnectionState, _ *client) { s.DidResume = true },
		"certificate": func(_ *tls.ConnectionState, c *client) { c.Cert = "ecdsa-p384" },
		"suite":       func(_ *tls.ConnectionState, c *client) { c.Suites = rsaKexSuites },
	} {
		state, client := right, c
		wrong(&state, &client)
		if err := client.check(state); err == nil {
			t.Errorf("no error for another %s", name)
		}
	}
}
