package main

import (
	"context"
	"crypto/tls"
	"fmt"
	"net"
	"slices"
	"strconv"
	"time"

	"cryptocost/experiments/internal/host"
	"cryptocost/experiments/internal/link"
	"cryptocost/experiments/internal/pki"
	"cryptocost/experiments/internal/trial"
)

// A config is one kind of connection as both processes need it.
type config struct {
	Protocol string `json:"protocol"` // tls, tcp or quic
	Version  uint16 `json:"version"`  // the only one that the server speaks
	// Offered and Accepted are CurvePreferences of client and server; nil is
	// Go's default.
	Offered  []tls.CurveID `json:"offered"`
	Accepted []tls.CurveID `json:"accepted"`
	Group    tls.CurveID   `json:"group"`  // must be negotiated
	HRR      bool          `json:"hrr"`    // HelloRetryRequest must happen
	Resume   bool          `json:"resume"` // every connection must resume a session
}

// A kind is a kind of connection with its name in cases.
type kind struct {
	name   string
	config config
	cert   func() (pki.Bundle, error)
}

// keys are made once in a run and shared by its rounds.
var keys pki.Store

// selfSigned is the certificate of the article.
func selfSigned() (pki.Bundle, error) { return keys.SelfSigned("ecdsa-p256") }

func only(group tls.CurveID) []tls.CurveID { return []tls.CurveID{group} }

// byDefault is a configuration with Go's default groups.
func byDefault(version uint16, resume bool) config {
	c := config{Protocol: "tls", Version: version, Group: tls.X25519MLKEM768, Resume: resume}
	if version == tls.VersionTLS12 {
		c.Group = tls.X25519 // TLS 1.2 has no hybrids
	}
	return c
}

// The four main kinds are those of the article, with today's defaults.
var mainKinds = []kind{
	{"tls1.3-full", byDefault(tls.VersionTLS13, false), selfSigned},
	{"tls1.3-ticket", byDefault(tls.VersionTLS13, true), selfSigned},
	{"tls1.2-full", byDefault(tls.VersionTLS12, false), selfSigned},
	{"tls1.2-ticket", byDefault(tls.VersionTLS12, true), selfSigned},
}

// Those with a HelloRetryRequest and their control.
var retryKinds = []kind{
	{"tls1.3-hrr", config{Protocol: "tls", Version: tls.VersionTLS13, Offered: []tls.CurveID{tls.X25519, tls.CurveP256},
		Accepted: only(tls.CurveP256), Group: tls.CurveP256, HRR: true}, selfSigned},
	{"tls1.3-hrr-control", config{Protocol: "tls", Version: tls.VersionTLS13, Offered: only(tls.CurveP256),
		Accepted: only(tls.CurveP256), Group: tls.CurveP256}, selfSigned},
}

// The other kinds are measured on the main wires only.
var otherKinds = []kind{
	{"tls1.3-x25519", config{Protocol: "tls", Version: tls.VersionTLS13, Offered: only(tls.X25519),
		Accepted: only(tls.X25519), Group: tls.X25519}, selfSigned},
	{"tls1.3-rsa", config{Protocol: "tls", Version: tls.VersionTLS13, Offered: only(tls.X25519),
		Accepted: only(tls.X25519), Group: tls.X25519}, func() (pki.Bundle, error) { return keys.Leaf("rsa-2048") }},
	{"tcp", config{Protocol: "tcp"}, func() (pki.Bundle, error) { return pki.Bundle{}, nil }},
	{"quic", config{Protocol: "quic", Version: tls.VersionTLS13, Group: tls.X25519MLKEM768}, selfSigned},
}

// none is no wire: both processes are on the loopback, outside any link.
const none = "none"

// article is the wire of the article: netem on the way from server to client.
var article = link.Wire{Down: 50 * time.Millisecond}

// symmetric is the wire with the same round trip and half of it each way.
var symmetric = link.Symmetric(50 * time.Millisecond)

// All kinds are measured on the first wires, the main ones on the further, and
// on the slow ones, those of mobile networks in the article, a retry too.
var (
	mainWires = []link.Wire{{}, article, symmetric}
	nearWires = []link.Wire{link.Symmetric(10 * time.Millisecond)}
	slowWires = []link.Wire{link.Symmetric(100 * time.Millisecond), link.Symmetric(200 * time.Millisecond)}
)

// A chain is a size of the Certificate message in TLS 1.3 (RFC 8446, 4), its
// header included; in TLS 1.2 it has 3 bytes less.
type chain struct {
	name         string
	messageBytes int
}

// chained are the sizes by kind of connection. The server's flight is larger
// than the message by what else is in it, most in TLS 1.3 with a hybrid key
// share: of two sizes next to each other it just fits the initial window, with
// the one, and just does not with the other.
var chained = []struct {
	kind   kind
	chains []chain
}{
	{mainKinds[0], []chain{{"0.5KB", 500}, {"4KB", 4000}, {"12KB", 12000}, {"13KB", 13000}, {"13.1KB", 13100}, {"20KB", 20000}, {"32KB", 32000}}},
	{mainKinds[2], []chain{{"14.2KB", 14200}, {"14.3KB", 14300}}},
}

// chainWires are fewer than those of the kinds: the wait that a large chain
// costs is found on one with a delay.
var chainWires = []link.Wire{{}, symmetric}

// messageHeaderBytes is the header of a handshake message: type and length.
const messageHeaderBytes = 4

// twin is the suffix of the case that repeats the baseline.
const twin = "/twin=b"

// cases multiplies out the axes.
func cases() []trial.Case {
	var list []trial.Case
	for _, w := range slices.Concat(mainWires, nearWires, slowWires) {
		list = append(list, link.Check(w))
	}
	add := func(w link.Wire, k kind) {
		list = append(list, trial.Case{Name: "/wire=" + w.String() + "/conn=" + k.name, Missing: link.Missing(), Start: k.onLink(w), Needs: []string{link.Check(w).Name}})
	}
	all := slices.Concat(mainKinds, retryKinds, otherKinds)
	for _, k := range all {
		list = append(list, trial.Case{Name: "/wire=" + none + "/conn=" + k.name, Start: k.onLoopback})
	}
	for _, of := range []struct {
		wires []link.Wire
		kinds []kind
	}{{mainWires, all}, {nearWires, mainKinds}, {slowWires, slices.Concat(mainKinds, retryKinds)}} {
		for _, w := range of.wires {
			for _, k := range of.kinds {
				add(w, k)
			}
		}
	}
	for _, of := range chained {
		for _, c := range of.chains {
			padded := func() (pki.Bundle, error) { return keys.Padded("ecdsa-p256", c.messageBytes-messageHeaderBytes) }
			for _, w := range chainWires {
				add(w, kind{of.kind.name + "/chain=" + c.name, of.kind.config, padded})
			}
		}
	}
	add(article, kind{mainKinds[0].name + twin, mainKinds[0].config, selfSigned})
	list[len(list)-1].Repeats = true
	return list
}

// A site is where the two processes that all kinds share are.
type site struct {
	name           string // in the group
	address        string // of the server
	server, client host.Place
	wired          bool // a link is between them
}

var loopback = site{name: "on the loopback", address: "127.0.0.1"}

// onLoopback starts the kind outside any link.
func (k kind) onLoopback(ctx context.Context, g *host.Group) (trial.Measure, error) {
	p, err := k.start(ctx, g, loopback)
	if err != nil {
		return nil, err
	}
	return func(ctx context.Context, _ time.Duration) (trial.Slice, error) { return p.visit(ctx) }, nil
}

// onLink starts the kind between the ends of the link, for that wire.
func (k kind) onLink(w link.Wire) func(context.Context, *host.Group) (trial.Measure, error) {
	return func(ctx context.Context, g *host.Group) (trial.Measure, error) {
		l, err := link.Open(ctx, g)
		if err != nil {
			return nil, err
		}
		p, err := k.start(ctx, g, site{"on the link", link.ServerAddress, l.Server(), l.Client(), true})
		if err != nil {
			return nil, err
		}
		return func(ctx context.Context, _ time.Duration) (trial.Slice, error) {
			if err := l.Set(ctx, w); err != nil {
				return trial.Slice{}, err
			}
			before, err := l.Mark(ctx)
			if err != nil {
				return trial.Slice{}, err
			}
			s, err := p.visit(ctx)
			if err != nil {
				return s, err
			}
			after, err := l.Mark(ctx)
			s.Quantities = append(s.Quantities, after.Since(before)...)
			s.Involuntary += after.Involuntary - before.Involuntary
			return s, err
		}, nil
	}
}

// A pair is a kind of connection alive between two processes.
type pair struct {
	name           string
	server, client *host.Process
}

// Close implements [host.Closer]: the processes are the group's.
func (*pair) Close() {}

// quiet keeps quic-go from complaining about small socket buffers, which a few
// packets don't fill.
var quiet = []string{"QUIC_GO_DISABLE_RECEIVE_BUFFER_WARNING=true"}

// start brings the kind to life at that site, once for all wires: while the
// link has no delay yet.
func (k kind) start(ctx context.Context, g *host.Group, at site) (*pair, error) {
	return host.Shared(g, k.name+" "+at.name, func() (*pair, error) {
		bundle, err := k.cert()
		if err != nil {
			return nil, err
		}
		p := &pair{name: k.name}
		if p.server, err = g.Process(ctx, "server "+at.name, host.Spec{Role: "server", Place: at.server, Env: quiet}, nil); err != nil {
			return nil, err
		}
		var port int
		if err := p.server.Call(ctx, "serve", serverStart{Config: k.config, Bundle: bundle, Host: at.address}, &port); err != nil {
			return nil, fmt.Errorf("%s: %w", k.name, err)
		}
		if p.client, err = g.Process(ctx, "client "+at.name, host.Spec{Role: "client", Place: at.client, Env: quiet}, nil); err != nil {
			return nil, err
		}
		start := clientStart{Name: k.name, Config: k.config, Root: bundle.Public(), Wired: at.wired,
			Address: net.JoinHostPort(at.address, strconv.Itoa(port))}
		if len(bundle.Chain) > 0 {
			start.Leaf = bundle.Chain[0]
		}
		if err := p.client.Call(ctx, "start", start, nil); err != nil {
			return nil, fmt.Errorf("%s: %w", k.name, err)
		}
		return p, nil
	})
}

// visits is how many connections of a slice are timed, and gap is between the
// beginnings of two. It is the same on all wires and on the loopback, although
// nobody waits there: connections that follow each other at once find a warm
// processor, and what is taken off the times on a delayed wire must not be
// smaller for that. It is long enough for a connection without delay, and
// short enough for all of a slice to begin within a wait of 50 ms.
const (
	visits = 8
	gap    = 4 * time.Millisecond
)

// visit lets the client connect.
func (p *pair) visit(ctx context.Context) (trial.Slice, error) {
	o := order{Name: p.name, N: visits, Gap: gap}
	before, err := p.server.Mark(ctx)
	if err != nil {
		return trial.Slice{}, err
	}
	var s trial.Slice
	if err := p.client.Call(ctx, "visit", o, &s); err != nil {
		return s, fmt.Errorf("%s: %w", p.name, err)
	}
	after, err := p.server.Mark(ctx)
	s.Involuntary += after.Sub(before).Involuntary
	return s, err
}
