package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"sync/atomic"
	"time"

	"cryptocost/experiments/internal/host"
	"cryptocost/experiments/internal/link"
	"cryptocost/experiments/internal/pki"
	"cryptocost/experiments/internal/tool"
	"cryptocost/experiments/internal/trial"
)

// A kind is a way to send the request.
type kind string

const (
	full   kind = "full"   // behind a full handshake
	ticket kind = "ticket" // behind the handshake of a resumed session
	early  kind = "early"  // as early data of a resumed session
)

// check compares what a program says about a connection with the kind.
func (k kind) check(who string, isResumed, isEarly bool) error {
	if isResumed != (k != full) || isEarly != (k == early) {
		return fmt.Errorf("a connection of the kind %q: %s says resumed %v, early data %v", k, who, isResumed, isEarly)
	}
	return nil
}

// wires are the article's, whose delay is all in one direction, and one with
// the same round trip in equal parts.
var wires = []link.Wire{
	{Up: 0, Down: 50 * time.Millisecond},
	link.Symmetric(50 * time.Millisecond),
}

func cases() []trial.Case { return casesWithout(link.Missing(), missingOpenSSL()) }

// casesWithout multiplies out the axes. The arguments say why there is no link
// and no openssl; empty: there is.
func casesWithout(noLink, noOpenSSL string) []trial.Case {
	var list []trial.Case
	for _, w := range wires {
		wireCheck := link.Check(w)
		wireCheck.Missing = noLink
		list = append(list, wireCheck)
	}
	for _, w := range wires {
		for _, k := range []kind{full, ticket, early} {
			list = append(list, trial.Case{
				Name:    fmt.Sprintf("/wire=%v/client=openssl/conn=%s", w, k),
				Missing: cmp.Or(noLink, noOpenSSL), Start: startOpenSSL(w, k), Needs: []string{link.Check(w).Name},
			})
		}
		for _, k := range []kind{full, ticket, early} {
			list = append(list, trial.Case{
				Name:    fmt.Sprintf("/wire=%v/client=quic-go/conn=%s", w, k),
				Missing: noLink, Start: startQUIC(w, k), Needs: []string{link.Check(w).Name},
			})
		}
	}
	list = append(list, trial.Case{
		Name:    fmt.Sprintf("/wire=%v/client=openssl/conn=%s/twin=b", wires[0], ticket),
		Missing: cmp.Or(noLink, noOpenSSL), Repeats: true, Start: startOpenSSL(wires[0], ticket),
		Needs: []string{link.Check(wires[0]).Name},
	})
	return append(list, checks(noLink, noOpenSSL)...)
}

// missingOpenSSL says why there is no openssl, or nothing.
func missingOpenSSL() string {
	if _, err := tool.OpenSSL(); err != nil {
		return err.Error()
	}
	return ""
}

// keys are made once in a run and shared by its rounds. The certificate is
// the article's.
var keys pki.Store

func certificate() (pki.Bundle, error) { return keys.SelfSigned("ecdsa-p256") }

// peers are the processes at both ends of the wire, or on the loopback.
type peers struct {
	link           *link.Link // nil on the loopback
	server, client *host.Process
	host           string // of the server
	bundle         pki.Bundle
}

// requests counts requests, so that each has a number of its own; that of 0
// settles.
var requests atomic.Int64

func nextRequest() string { return requestLine(int(requests.Add(1))) }

// onWire gives the processes at the ends of the group's link.
func onWire(ctx context.Context, g *host.Group) (*peers, error) {
	l, err := link.Open(ctx, g)
	if err != nil {
		return nil, err
	}
	p := &peers{link: l, host: link.ServerAddress}
	return p, p.start(ctx, g, "wire", l.Server(), l.Client())
}

// onLoopback gives processes on the loopback.
func onLoopback(ctx context.Context, g *host.Group) (*peers, error) {
	p := &peers{host: "127.0.0.1"}
	return p, p.start(ctx, g, "loopback", nil, nil)
}

// quiet keeps quic-go from complaining about small socket buffers, which a few
// packets don't need.
var quiet = []string{"QUIC_GO_DISABLE_RECEIVE_BUFFER_WARNING=true"}

func (p *peers) start(ctx context.Context, g *host.Group, where string, atServer, atClient host.Place) (err error) {
	if p.bundle, err = certificate(); err != nil {
		return err
	}
	p.server, err = g.Process(ctx, where+" server", host.Spec{Role: "server", Place: atServer, Env: quiet}, nil)
	if err != nil {
		return err
	}
	p.client, err = g.Process(ctx, where+" client", host.Spec{Role: "client", Place: atClient, Env: quiet}, nil)
	return err
}

// address starts the server of that sort, if it is not there, and tells
// where it is reached.
func (p *peers) address(ctx context.Context, sort string, antiReplay bool) (string, error) {
	var port string
	err := p.server.Call(ctx, sort, serverStart{Bundle: p.bundle, Host: p.host, AntiReplay: antiReplay}, &port)
	return net.JoinHostPort(p.host, port), err
}

// slice sets the wire, settles, and lets work be done, around which it reads
// what the wire carried and how often our processes, the wire's too, were
// interrupted (not how often openssl was).
func (p *peers) slice(ctx context.Context, w link.Wire, settle func() error, work func() (trial.Slice, error)) (trial.Slice, error) {
	if err := p.link.Set(ctx, w); err != nil {
		return trial.Slice{}, err
	}
	if err := settle(); err != nil {
		return trial.Slice{}, fmt.Errorf("settle: %w", err)
	}
	traffic, switches, err := p.mark(ctx)
	if err != nil {
		return trial.Slice{}, err
	}
	s, err := work()
	if err != nil {
		return s, err
	}
	trafficAfter, switchesAfter, err := p.mark(ctx)
	s.Quantities = trafficAfter.Since(traffic)
	s.Involuntary = switchesAfter - switches + trafficAfter.Involuntary - traffic.Involuntary
	return s, err
}

// mark reads the counts of the wire and the context switches forced on both
// processes so far.
func (p *peers) mark(ctx context.Context) (link.Traffic, int64, error) {
	server, err := p.server.Mark(ctx)
	if err != nil {
		return link.Traffic{}, 0, err
	}
	client, err := p.client.Mark(ctx)
	if err != nil {
		return link.Traffic{}, 0, err
	}
	traffic, err := p.link.Mark(ctx)
	return traffic, server.Involuntary + client.Involuntary, err
}

// An opensslCase is one kind of connection between s_client and s_server.
type opensslCase struct {
	*peers
	wire    link.Wire
	kind    kind
	sServer string // address
	// sessions are those of the round, shared by its cases.
	sessions *sessionStore
}

// A sessionStore holds the session of s_client that was not used yet: each is
// good for one connection, and each connection brings another.
type sessionStore struct{ last []byte }

// Close implements [host.Closer]: there is nothing to end.
func (*sessionStore) Close() {}

// startOpenSSL starts a case with openssl at both ends.
func startOpenSSL(w link.Wire, k kind) func(context.Context, *host.Group) (trial.Measure, error) {
	return func(ctx context.Context, g *host.Group) (trial.Measure, error) {
		p, err := onWire(ctx, g)
		if err != nil {
			return nil, err
		}
		c := &opensslCase{peers: p, wire: w, kind: k}
		if c.sServer, err = p.address(ctx, "openssl", true); err != nil {
			return nil, err
		}
		c.sessions, err = host.Shared(g, "session of s_client", func() (*sessionStore, error) { return &sessionStore{}, nil })
		return c.measure, err
	}
}

// Connections of one slice: fixed and odd, so that half of them is one of them
// in every case, however fast the machine. Those of openssl follow one another;
// quicGap is between the starts of the others.
const (
	opensslConnections = 3
	quicConnections    = 7
	quicGap            = 5 * time.Millisecond
)

// measure makes connections, one after the other. Nothing settles before them,
// since they wait rather than work; the first one of a round brings a session,
// if a session is needed.
func (c *opensslCase) measure(ctx context.Context, _ time.Duration) (trial.Slice, error) {
	return c.slice(ctx, c.wire, func() error {
		if c.kind == full || c.sessions.last != nil {
			return nil
		}
		_, err := c.connect(ctx, full)
		return err
	}, func() (trial.Slice, error) {
		slice := trial.Slice{Moments: map[string][]time.Duration{}}
		start := time.Now()
		for range opensslConnections {
			t, err := c.connect(ctx, c.kind)
			if err != nil {
				return slice, err
			}
			traffic, err := c.link.Mark(ctx)
			if err != nil {
				return slice, err
			}
			if traffic.LastSYN <= t.started || traffic.LastSYN >= t.received {
				return slice, fmt.Errorf("s_client started at %v, its SYN left at %v, and the request arrived at %v", t.started, traffic.LastSYN, t.received)
			}
			slice.Ops++
			slice.Latencies = append(slice.Latencies, t.received-traffic.LastSYN)
			slice.Moments["program"] = append(slice.Moments["program"], t.received-t.started)
			slice.Moments["before"] = append(slice.Moments["before"], traffic.LastSYN-t.started)
		}
		slice.Elapsed = time.Since(start)
		return slice, nil
	})
}

// times are moments of a connection on the clock of link.Now.
type times struct{ started, received time.Duration }

// connect lets s_client make one connection, checks that it is of the kind,
// and keeps the session that it brings.
func (c *opensslCase) connect(ctx context.Context, k kind) (times, error) {
	e := errand{Address: c.sServer, Root: c.bundle.Root, Request: nextRequest(), Early: k == early}
	if k != full {
		e.Session = c.sessions.last
	}
	c.sessions.last = nil
	var d done
	if err := c.client.Call(ctx, "openssl", e, &d); err != nil {
		return times{}, err
	}
	var s served
	if err := c.server.Call(ctx, "served", true, &s); err != nil {
		return times{}, err
	}
	if err := checkOpenSSL(k, d, s); err != nil {
		return times{}, err
	}
	at := s.Requests[e.Request]
	if len(at) != 1 {
		return times{}, fmt.Errorf("s_server received the request %q %d times", e.Request, len(at))
	}
	c.sessions.last = d.Session
	return times{d.Started, at[0]}, nil
}

// checkOpenSSL compares what s_client and s_server say with the kind.
func checkOpenSSL(k kind, d done, s served) error {
	isNew, isReused := d.Said.says(saysNew), d.Said.says(saysReused)
	notSent, accepted := d.Said.says(saysEarlyNotSent), d.Said.says(saysEarlyAccepted)
	none, received := s.Said.says(saysNoEarly), s.Said.says(saysEarlyReceived)
	switch {
	case isNew == isReused:
		return fmt.Errorf("s_client does not say that it has a new or a reused session of TLS 1.3: %q", d.Said)
	case notSent == accepted:
		return fmt.Errorf("s_client does not say that early data was accepted or not sent: %q", d.Said)
	case none == received:
		return fmt.Errorf("s_server does not say whether it received early data: %q", s.Said)
	case !d.Said.says(saysVerified):
		return fmt.Errorf("s_client has not verified the certificate: %q", d.Said)
	case d.Session == nil:
		return errors.New("no session came to s_client")
	}
	if err := k.check("s_client", isReused, accepted); err != nil {
		return err
	}
	return k.check("s_server", s.Said.says(saysServerReused), received)
}

// startQUIC starts a case with quic-go at both ends.
func startQUIC(w link.Wire, k kind) func(context.Context, *host.Group) (trial.Measure, error) {
	return func(ctx context.Context, g *host.Group) (trial.Measure, error) {
		p, err := onWire(ctx, g)
		if err != nil {
			return nil, err
		}
		address, err := p.address(ctx, "quic", false)
		if err != nil {
			return nil, err
		}
		return func(ctx context.Context, _ time.Duration) (trial.Slice, error) {
			return p.slice(ctx, w, func() error {
				return p.client.Call(ctx, "settle", quicErrand{Address: address, Root: p.bundle.Root}, nil)
			}, func() (trial.Slice, error) {
				start := time.Now()
				sent, arrived, err := p.askQUIC(ctx, address, k, quicConnections)
				if err != nil {
					return trial.Slice{}, err
				}
				elapsed := time.Since(start)
				latencies, err := quicLatencies(k, sent, arrived)
				return trial.Slice{Ops: len(latencies), Elapsed: elapsed, Latencies: latencies}, err
			})
		}, nil
	}
}

// askQUIC makes n connections, meant to be of the kind, and gives what both
// ends say of each.
func (p *peers) askQUIC(ctx context.Context, address string, k kind, n int) ([]asked, []arrival, error) {
	e := quicErrand{Address: address, Root: p.bundle.Root, Gap: quicGap, Kind: k}
	for range n {
		e.Requests = append(e.Requests, nextRequest())
	}
	var sent []asked
	if err := p.client.Call(ctx, "quic", e, &sent); err != nil {
		return nil, nil, err
	}
	var arrived []arrival
	err := p.server.Call(ctx, "arrivals", e.Requests, &arrived)
	return sent, arrived, err
}

// quicLatencies are the times from each start to when the server had the
// request, if all connections are of the kind.
func quicLatencies(k kind, sent []asked, arrived []arrival) ([]time.Duration, error) {
	var list []time.Duration
	for i := range sent {
		if err := k.check("the client over QUIC", sent[i].Resumed, sent[i].Early); err != nil {
			return nil, err
		}
		if err := k.check("the server over QUIC", arrived[i].Resumed, arrived[i].Early); err != nil {
			return nil, err
		}
		list = append(list, arrived[i].At-sent[i].Started)
	}
	return list, nil
}
