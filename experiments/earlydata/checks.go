package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"cryptocost/experiments/internal/host"
	"cryptocost/experiments/internal/trial"
)

// Extensions of a ClientHello (RFC 8446, 4.2).
const (
	extensionPreSharedKey = 41
	extensionEarlyData    = 42
)

// checks are the behaviours, observed once in every round.
func checks(noLink, noOpenSSL string) []trial.Case {
	var list []trial.Case
	add := func(behaviour, reason string, f func(context.Context, *host.Group) (bool, error)) {
		c := trial.Check("/check="+behaviour, f)
		c.Missing = reason
		list = append(list, c)
	}
	for _, c := range []struct {
		behaviour string
		yes       func(*observation) bool
	}{
		{"openssl-early-data-accepted", func(o *observation) bool { return o.strict.run.Said.says(saysEarlyAccepted) }},
		{"openssl-early-data-received", func(o *observation) bool {
			return o.strict.served.Said.says(saysEarlyReceived) && o.strict.times == 1
		}},
		{"openssl-session-reused", func(o *observation) bool {
			return o.strict.run.Said.says(saysReused) && o.strict.served.Said.says(saysServerReused)
		}},
		{"request-in-first-flight", (*observation).requestInFirstFlight},
		{"replay-refused-by-default", func(o *observation) bool { return o.strict.times == 1 && o.strict.timesReplayed == 0 }},
		{"replay-accepted-with-no-anti-replay", func(o *observation) bool {
			return o.lenient.times == 1 && o.lenient.timesReplayed == 1 && o.lenient.servedReplay.Said.says(saysEarlyReceived)
		}},
	} {
		add(c.behaviour, noOpenSSL, func(ctx context.Context, g *host.Group) (bool, error) {
			o, err := observe(ctx, g)
			if err != nil {
				return false, err
			}
			return c.yes(o), nil
		})
	}
	add("go-server-takes-no-early-data", noOpenSSL, goServerTakesNone)
	add("go-client-has-no-early-data-over-tcp", noOpenSSL, goClientHasNone)
	add("no-session-without-waiting", cmp.Or(noLink, noOpenSSL), noSessionWithoutWaiting)
	add("quic-early-data-accepted", "", quicAccepted)
	return list
}

// An attempt is early data that was sent once by s_client and once more by
// somebody who had caught it.
type attempt struct {
	run          done
	flight       []byte // of the client, before any byte of the server
	request      string
	served       served
	servedReplay served
	// times and timesReplayed are how often s_server had the request, on
	// either connection.
	times, timesReplayed int
}

// An observation is both attempts of a round.
type observation struct {
	strict  attempt // against s_server as it is by default
	lenient attempt // with -no_anti_replay
}

// Close implements [host.Closer]: there is nothing to end.
func (*observation) Close() {}

// observe makes the attempts, once a round.
func observe(ctx context.Context, g *host.Group) (*observation, error) {
	return host.Shared(g, "observation", func() (*observation, error) {
		p, err := onLoopback(ctx, g)
		if err != nil {
			return nil, err
		}
		o := &observation{}
		o.strict, err = p.attempt(ctx, true)
		if err == nil {
			o.lenient, err = p.attempt(ctx, false)
		}
		return o, errors.Join(err, p.stop(ctx))
	})
}

// stop ends the openssl servers. The kernel does so on Linux only when the
// role ends.
func (p *peers) stop(ctx context.Context) error {
	return p.server.Call(context.WithoutCancel(ctx), "stop", nil, nil)
}

// attempt gets a session, uses it for early data, whose flight is captured,
// and replays that. By default s_server takes a session once: it answers the
// replay with a full handshake, which the replaying side can't go on with, and
// skips the early data (RFC 8446, 4.2.10 and 8.1).
func (p *peers) attempt(ctx context.Context, antiReplay bool) (attempt, error) {
	var a attempt
	address, err := p.address(ctx, "openssl", antiReplay)
	if err != nil {
		return a, err
	}
	e := errand{Address: address, Root: p.bundle.Root, Request: nextRequest()}
	var first done
	if err := p.client.Call(ctx, "openssl", e, &first); err != nil {
		return a, err
	}
	var served served
	if err := p.server.Call(ctx, "served", antiReplay, &served); err != nil {
		return a, err
	}
	if err := checkOpenSSL(full, first, served); err != nil {
		return a, err
	}
	e.Session, e.Early, e.Request = first.Session, true, nextRequest()
	var c captured
	if err := p.client.Call(ctx, "capture", e, &c); err != nil {
		return a, err
	}
	a.run, a.flight, a.request = c.Done, c.Flight, e.Request
	if err := p.server.Call(ctx, "served", antiReplay, &a.served); err != nil {
		return a, err
	}
	if err := p.client.Call(ctx, "replay", resend{address, a.flight}, nil); err != nil {
		return a, err
	}
	if err := p.server.Call(ctx, "served", antiReplay, &a.servedReplay); err != nil {
		return a, err
	}
	a.times, a.timesReplayed = len(a.served.Requests[a.request]), len(a.servedReplay.Requests[a.request])
	return a, nil
}

// requestInFirstFlight says whether the client's first flight is a
// ClientHello that announces early data, and a protected record of the
// request's size behind it.
func (o *observation) requestInFirstFlight() bool {
	list := records(o.strict.flight)
	if len(list) < 2 || list[0].kind != recordHandshake {
		return false
	}
	extensions, err := helloExtensions(o.strict.flight)
	if err != nil || !slices.Contains(extensions, extensionEarlyData) {
		return false
	}
	last := list[len(list)-1]
	// Behind the request are its line's end, the type and the tag of the
	// record (RFC 8446, 5.2).
	const tagBytes = 16
	return last.kind == recordApplicationData && len(last.payload) == len(o.strict.request)+1+1+tagBytes
}

// goServerTakesNone lets s_client resume a session of a crypto/tls server
// with -early_data.
func goServerTakesNone(ctx context.Context, g *host.Group) (bool, error) {
	p, err := onLoopback(ctx, g)
	if err != nil {
		return false, err
	}
	address, err := p.address(ctx, "tls", false)
	if err != nil {
		return false, err
	}
	e := errand{Address: address, Root: p.bundle.Root, Request: nextRequest()}
	var first, second done
	if err := p.client.Call(ctx, "openssl", e, &first); err != nil {
		return false, err
	}
	if first.Session == nil || !first.Said.says(saysNew) {
		return false, fmt.Errorf("s_client gets no session from Go's server: %q", first.Said)
	}
	e.Session, e.Early = first.Session, true
	if err := p.client.Call(ctx, "openssl", e, &second); err != nil {
		return false, err
	}
	return second.Said.says(saysReused) && (second.Said.says(saysEarlyNotSent) || second.Said.says(saysEarlyRejected)), nil
}

// goClientHasNone lets a crypto/tls client resume a session over TCP with a
// server that allows early data.
func goClientHasNone(ctx context.Context, g *host.Group) (bool, error) {
	p, err := onLoopback(ctx, g)
	if err != nil {
		return false, err
	}
	address, err := p.address(ctx, "openssl", true)
	if err != nil {
		return false, err
	}
	var r resumed
	err = p.client.Call(ctx, "tls", resumption{address, p.bundle.Root}, &r)
	return r.Resumed && slices.Contains(r.Extensions, extensionPreSharedKey) && !slices.Contains(r.Extensions, extensionEarlyData),
		errors.Join(err, p.stop(ctx))
}

// noSessionWithoutWaiting lets s_client leave as soon as its request is sent,
// on the wire whose delay keeps the ticket away until then.
func noSessionWithoutWaiting(ctx context.Context, g *host.Group) (bool, error) {
	p, err := onWire(ctx, g)
	if err != nil {
		return false, err
	}
	address, err := p.address(ctx, "openssl", true)
	if err != nil {
		return false, err
	}
	if err := p.link.Set(ctx, wires[0]); err != nil {
		return false, err
	}
	e := errand{Address: address, Root: p.bundle.Root, Request: nextRequest(), Hasty: true}
	var d done
	if err := p.client.Call(ctx, "openssl", e, &d); err != nil {
		return false, err
	}
	var s served
	if err := p.server.Call(ctx, "served", true, &s); err != nil {
		return false, err
	}
	if len(s.Requests[e.Request]) != 1 {
		return false, fmt.Errorf("s_server received the request %q %d times (%s)", e.Request, len(s.Requests[e.Request]), strings.Join(s.Said, "; "))
	}
	return d.Session == nil, nil
}

// quicAccepted asks once over QUIC with early data.
func quicAccepted(ctx context.Context, g *host.Group) (bool, error) {
	p, err := onLoopback(ctx, g)
	if err != nil {
		return false, err
	}
	address, err := p.address(ctx, "quic", false)
	if err != nil {
		return false, err
	}
	if err := p.client.Call(ctx, "settle", quicErrand{Address: address, Root: p.bundle.Root}, nil); err != nil {
		return false, err
	}
	sent, arrived, err := p.askQUIC(ctx, address, early, 1)
	if err != nil {
		return false, err
	}
	return sent[0].Resumed && sent[0].Early && arrived[0].Resumed && arrived[0].Early, nil
}
