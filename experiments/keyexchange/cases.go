package main

import (
	"context"
	"crypto/tls"
	"fmt"
	"net"
	"strconv"
	"strings"
	"time"

	"cryptocost/data"
	"cryptocost/experiments/internal/host"
	"cryptocost/experiments/internal/pki"
	"cryptocost/experiments/internal/trial"
)

// A config is one case as both processes need it.
type config struct {
	Version uint16 `json:"version"`
	Kex     string `json:"kex"`  // the group that must be negotiated, or rsa
	Cert    string `json:"cert"` // algorithm of the server's key
	// Offered and Accepted are CurvePreferences of client and server; nil is
	// Go's default.
	Offered  []tls.CurveID `json:"offered"`
	Accepted []tls.CurveID `json:"accepted"`
	// Suites are CipherSuites on both sides; nil is Go's default.
	Suites  []uint16 `json:"suites"`
	HRR     bool     `json:"hrr"`     // HelloRetryRequest must happen
	Tickets bool     `json:"tickets"` // the client asks for session tickets
}

// groups are the key exchanges by the names of the cases (RFC 8446, 4.2.7;
// draft-ietf-tls-ecdhe-mlkem).
var groups = []struct {
	name string
	id   tls.CurveID
}{
	{"x25519mlkem768", tls.X25519MLKEM768},
	{"secp256r1mlkem768", tls.SecP256r1MLKEM768},
	{"secp384r1mlkem1024", tls.SecP384r1MLKEM1024},
	{"x25519", tls.X25519},
	{"p256", tls.CurveP256},
	{"p384", tls.CurveP384},
	{"p521", tls.CurveP521},
}

// group gives the code of a key exchange, 0 for RSA.
func group(kex string) tls.CurveID {
	for _, g := range groups {
		if g.name == kex {
			return g.id
		}
	}
	return 0
}

// baselineCert is the certificate where the key exchange varies, and
// baselineKex the key exchange where the certificate does.
const (
	baselineKex  = "x25519"
	baselineCert = "ecdsa-p256"
)

// only is a preference for one group; Go's default for the group that Go
// prefers itself.
func only(kex string) []tls.CurveID {
	if kex == groups[0].name {
		return nil
	}
	return []tls.CurveID{group(kex)}
}

var rsaKexSuites = []uint16{tls.TLS_RSA_WITH_AES_128_GCM_SHA256}

// cases multiplies out the axes.
func cases() []trial.Case {
	var list []trial.Case
	add := func(suffix string, whole bool, c config) {
		version := "1.3"
		if c.Version == tls.VersionTLS12 {
			version = "1.2"
		}
		name := fmt.Sprintf("/kex=%s/cert=%s/tls=%s%s", c.Kex, c.Cert, version, suffix)
		list = append(list, trial.Case{Name: name, Whole: whole, Start: c.start(name)})
	}
	plain := func(kex, cert string, version uint16) config {
		return config{Version: version, Kex: kex, Cert: cert, Offered: only(kex), Accepted: only(kex)}
	}
	for _, g := range groups {
		add("", false, plain(g.name, baselineCert, tls.VersionTLS13))
	}
	for _, cert := range []string{"rsa-2048", "rsa-3072", "rsa-4096", "ecdsa-p384", "ed25519"} {
		add("", false, plain(baselineKex, cert, tls.VersionTLS13))
	}
	for _, cert := range []string{baselineCert, "rsa-2048"} {
		add("", false, plain(baselineKex, cert, tls.VersionTLS12))
	}
	add("", false, config{Version: tls.VersionTLS12, Kex: "rsa", Cert: "rsa-2048", Suites: rsaKexSuites})
	// Three clients, each with a server that makes it send a second
	// ClientHello and, as its control, with one that takes its first.
	for _, r := range []struct {
		offer            string
		offered          []tls.CurveID
		retried, control string // what the server takes
	}{
		{"x25519+p256", []tls.CurveID{tls.X25519, tls.CurveP256}, "p256", "x25519"},
		{"default", nil, "p256", "x25519"},
		{"x25519-last", []tls.CurveID{tls.SecP256r1MLKEM768, tls.CurveP256, tls.X25519}, "x25519", "p256"},
	} {
		retried := plain(r.retried, baselineCert, tls.VersionTLS13)
		retried.Offered, retried.HRR = r.offered, true
		add("/offer="+r.offer+"/hrr=yes", false, retried)
		control := plain(r.control, baselineCert, tls.VersionTLS13)
		control.Offered = r.offered
		add("/offer="+r.offer, false, control)
	}
	baseline := plain(baselineKex, baselineCert, tls.VersionTLS13)
	tickets := baseline
	tickets.Tickets = true
	add("/tickets=asked", false, tickets)
	others := len(list)
	add("/twin=b", false, baseline)
	add("/window=whole", true, baseline)
	add("/window=whole/twin=b", true, baseline)
	for i := range list[others:] {
		list[others+i].Repeats = true
	}
	return append(list, checks()...)
}

// keys are made once in a run and shared by its rounds.
var keys pki.Store

// peers are the two processes of a case.
type peers struct {
	config
	server, client *host.Process
	port           int    // of the server
	address        string // of the server, as the client reaches it
	hello          helloReport
	reported       bool // hello is among the samples
}

// start gives the function that starts both processes of the case with that
// name and shakes hands once.
func (c config) start(name string) func(context.Context, *host.Group) (trial.Measure, error) {
	return func(ctx context.Context, g *host.Group) (trial.Measure, error) {
		p, err := c.connect(ctx, g, name, debug{})
		if err != nil {
			return nil, err
		}
		if err := p.client.Call(ctx, "probe", nil, &p.hello); err != nil {
			return nil, err
		}
		return p.measure, nil
	}
}

// debug is GODEBUG of both processes; empty: as in the parent.
type debug struct{ server, client string }

// environ is the environment that sets GODEBUG.
func environ(godebug string) []string {
	if godebug == "" {
		return nil
	}
	return []string{"GODEBUG=" + godebug}
}

// connect starts both processes, named in the group and with the given
// GODEBUG.
func (c config) connect(ctx context.Context, g *host.Group, name string, d debug) (*peers, error) {
	bundle, err := keys.Leaf(c.Cert)
	if err != nil {
		return nil, err
	}
	p := &peers{config: c}
	p.server, err = g.Process(ctx, "server "+name, host.Spec{Role: "server", Env: environ(d.server)}, func(s *host.Process) error {
		return s.Call(ctx, "start", serverStart{Config: c, Bundle: bundle, Host: g.ListenHost("server")}, &p.port)
	})
	if err != nil {
		return nil, err
	}
	p.client, err = g.Process(ctx, "client "+name, host.Spec{Role: "client", Env: environ(d.client)}, func(s *host.Process) error {
		p.address = net.JoinHostPort(g.DialHost("server"), strconv.Itoa(p.port))
		return s.Call(ctx, "start", clientStart{Config: c, Bundle: bundle.Public(), Address: p.address}, nil)
	})
	return p, err
}

// measure lets the client shake hands for d. The first handshake, with cold
// caches, is outside the marks; its bytes are counted.
func (p *peers) measure(ctx context.Context, d time.Duration) (trial.Slice, error) {
	var counted trial.Tally
	if err := p.client.Call(ctx, "settle", nil, &counted); err != nil {
		return trial.Slice{}, err
	}
	before, err := p.server.Mark(ctx)
	if err != nil {
		return trial.Slice{}, err
	}
	var work clientReport
	if err := p.client.Call(ctx, "shake", d, &work); err != nil {
		return trial.Slice{}, err
	}
	after, err := p.server.Mark(ctx)
	if err != nil {
		return trial.Slice{}, err
	}
	server := after.Sub(before)
	ops := float64(len(work.Latencies))
	slice := trial.Slice{
		Ops: len(work.Latencies), Elapsed: work.Elapsed, Latencies: work.Latencies, Tallies: []trial.Tally{counted},
		Quantities: []trial.Quantity{
			{Unit: "server-cpu-ns/op", Sum: float64(server.CPU), Per: ops},
			{Unit: "client-cpu-ns/op", Sum: float64(work.Usage.CPU), Per: ops},
		},
		Involuntary: server.Involuntary + work.Usage.Involuntary,
	}
	if !p.reported {
		p.reported = true
		slice.Tallies = append(slice.Tallies, trial.Tally{Ops: 1, Values: []data.Value{
			{Value: float64(p.hello.RecordBytes), Unit: "clienthello-B/op"},
			{Value: float64(p.hello.KeyShareBytes), Unit: "key-share-B/op"},
		}})
	}
	return slice, nil
}

// String names the configuration in errors.
func (c config) String() string {
	parts := []string{"kex=" + c.Kex, "cert=" + c.Cert, tls.VersionName(c.Version)}
	if c.HRR {
		parts = append(parts, "HelloRetryRequest")
	}
	return strings.Join(parts, ", ")
}
