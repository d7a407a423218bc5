package main

import (
	"context"
	"crypto/tls"
	"fmt"
	"net"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"cryptocost/experiments/internal/host"
	"cryptocost/experiments/internal/pki"
	"cryptocost/experiments/internal/trial"
)

// A config is one case as both processes need it.
type config struct {
	Version uint16 `json:"version"` // the only one that the server speaks
	// Offered and Accepted are CurvePreferences of client and server; nil is
	// Go's default.
	Offered  []tls.CurveID `json:"offered"`
	Accepted []tls.CurveID `json:"accepted"`
	Group    tls.CurveID   `json:"group"`    // must be negotiated; 0: any
	HRR      bool          `json:"hrr"`      // HelloRetryRequest must happen
	Resume   bool          `json:"resume"`   // every connection must resume a session
	NoCache  bool          `json:"no_cache"` // the client has no session cache
}

// The axes.
var (
	kinds = []struct {
		version uint16
		name    string
	}{
		{tls.VersionTLS13, "full"}, {tls.VersionTLS13, "ticket"}, {tls.VersionTLS13, "hrr"},
		{tls.VersionTLS12, "full"}, {tls.VersionTLS12, "ticket"},
	}
	certs = []struct {
		name string
		make func() (pki.Bundle, error)
	}{
		{selfSigned, func() (pki.Bundle, error) { return keys.SelfSigned("ecdsa-p256") }},
		{"rsa-2048-leaf", func() (pki.Bundle, error) { return keys.Leaf("rsa-2048") }},
		{"rsa-2048-chain", func() (pki.Bundle, error) { return keys.Chain("rsa-2048") }},
	}
)

// selfSigned is the certificate of the article.
const selfSigned = "ecdsa-p256-selfsigned"

// classical are the groups that a client without hybrids offers, with a key
// share for the first.
var classical = []tls.CurveID{tls.X25519, tls.CurveP256}

// newConfig is the configuration of a kind of handshake, with and without a
// post-quantum key exchange.
func newConfig(version uint16, kind string, pq bool) config {
	c := config{Version: version, Group: tls.X25519, HRR: kind == "hrr", Resume: kind == "ticket"}
	retry := tls.CurveP256
	if pq {
		retry = tls.SecP256r1MLKEM768
	} else {
		c.Offered = classical
	}
	switch {
	case c.HRR:
		c.Group, c.Accepted = retry, []tls.CurveID{retry}
	case pq && version == tls.VersionTLS13:
		c.Group = tls.X25519MLKEM768
	}
	return c
}

// versionName is a version as in the names of cases.
func versionName(version uint16) string {
	return strings.TrimPrefix(tls.VersionName(version), "TLS ")
}

// cases multiplies out the axes.
func cases() []trial.Case {
	var list []trial.Case
	for _, kind := range kinds {
		for _, pq := range []string{"yes", "no"} {
			for _, cert := range certs {
				c := newConfig(kind.version, kind.name, pq == "yes")
				name := fmt.Sprintf("/tls=%s/kind=%s/pq=%s/cert=%s", versionName(kind.version), kind.name, pq, cert.name)
				list = append(list, trial.Case{Name: name, Start: c.start(name, cert.make)})
			}
		}
	}
	baseline := list[0]
	baseline.Name += "/twin=b"
	baseline.Repeats = true
	baseline.Start = newConfig(kinds[0].version, kinds[0].name, true).start(baseline.Name, certs[0].make)
	list = append(list, baseline)
	list = append(list, watchingCases()...)
	list = append(list, replayCases()...)
	list = append(list, opensslCase())
	return append(list, checks()...)
}

// keys are made once in a run and shared by its rounds.
var keys pki.Store

// peers are the two processes of a round, with one case started in them.
type peers struct {
	name           string // of the case
	server, client *host.Process
	sequence       *sequence
}

// A sequence is the order of the records of a case, the same in all rounds.
type sequence struct {
	mu       sync.Mutex
	suffixes []string
}

// check compares the records of a slice with those seen before.
func (s *sequence) check(parts []trial.Part) error {
	var suffixes []string
	for _, p := range parts {
		suffixes = append(suffixes, p.Suffix)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.suffixes == nil {
		s.suffixes = suffixes
	}
	if !slices.Equal(s.suffixes, suffixes) {
		return fmt.Errorf("the records are %v, and were %v before", suffixes, s.suffixes)
	}
	return nil
}

// start gives the function that starts the case with that name.
func (c config) start(name string, makeBundle func() (pki.Bundle, error)) func(context.Context, *host.Group) (trial.Measure, error) {
	seen := &sequence{}
	return func(ctx context.Context, g *host.Group) (trial.Measure, error) {
		p, err := c.connect(ctx, g, name, makeBundle, "")
		if err != nil {
			return nil, err
		}
		p.sequence = seen
		return p.measure, nil
	}
}

// connect starts the case with that name in the processes of the round: one
// server, and one client for each value of GODEBUG.
func (c config) connect(ctx context.Context, g *host.Group, name string, makeBundle func() (pki.Bundle, error), godebug string) (*peers, error) {
	bundle, err := makeBundle()
	if err != nil {
		return nil, err
	}
	p := &peers{name: name}
	if p.server, err = g.Process(ctx, "server", host.Spec{Role: "server"}, nil); err != nil {
		return nil, err
	}
	var port int
	if err := p.server.Call(ctx, "serve", serverStart{Config: c, Bundle: bundle, Host: g.ListenHost("server")}, &port); err != nil {
		return nil, err
	}
	spec := host.Spec{Role: "client"}
	if godebug != "" {
		spec.Env = []string{"GODEBUG=" + godebug}
	}
	if p.client, err = g.Process(ctx, "client "+godebug, spec, nil); err != nil {
		return nil, err
	}
	return p, p.client.Call(ctx, "start", clientStart{
		Name: name, Config: c, Root: bundle.Public(), Chain: bundle.Chain,
		Address: net.JoinHostPort(g.DialHost("server"), strconv.Itoa(port)),
	}, nil)
}

// measure lets the client connect for d.
func (p *peers) measure(ctx context.Context, d time.Duration) (trial.Slice, error) {
	var s trial.Slice
	before, err := p.server.Mark(ctx)
	if err != nil {
		return s, err
	}
	if err := p.client.Call(ctx, "work", order{Name: p.name, D: d}, &s); err != nil {
		return s, fmt.Errorf("case %s: %w", p.name, err)
	}
	after, err := p.server.Mark(ctx)
	if err != nil {
		return s, err
	}
	s.Involuntary += after.Sub(before).Involuntary
	if err := p.sequence.check(s.Parts); err != nil {
		return s, fmt.Errorf("case %s: %w", p.name, err)
	}
	return s, nil
}
