package main

import (
	"bytes"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"slices"
	"time"

	"cryptocost/experiments/internal/host"
	"cryptocost/experiments/internal/pki"
	"cryptocost/experiments/internal/trial"
	"cryptocost/experiments/internal/wire"
)

// clientStart is the argument of the client's request "start".
type clientStart struct {
	Name    string     `json:"name"`
	Config  config     `json:"config"`
	Root    pki.Bundle `json:"root"`
	Chain   [][]byte   `json:"chain"` // that the server must send
	Address string     `json:"address"`
}

// An order asks a client to work for D on the case with that name.
type order struct {
	Name string        `json:"name"`
	D    time.Duration `json:"d"`
}

// newClient is the role client: the clients of all cases of a round.
func newClient() map[string]host.Handler {
	clients := map[string]*client{}
	byName := func(name string) (*client, error) {
		c, ok := clients[name]
		if !ok {
			return nil, fmt.Errorf("no client of a case %q", name)
		}
		return c, nil
	}
	return map[string]host.Handler{
		"start": host.Handle(func(s clientStart) (struct{}, error) {
			c, err := newCaseClient(s)
			clients[s.Name] = c
			return struct{}{}, err
		}),
		"work": host.Handle(func(o order) (trial.Slice, error) {
			c, err := byName(o.Name)
			if err != nil {
				return trial.Slice{}, err
			}
			return c.work(o.D)
		}),
		"look": host.Handle(func(name string) (sight, error) {
			c, err := byName(name)
			if err != nil {
				return sight{}, err
			}
			return c.look()
		}),
	}
}

// A client connects to the server of its case.
type client struct {
	config
	tls     *tls.Config
	chain   [][]byte
	address string
}

// newCaseClient makes the client of a case; one that is to resume sessions gets
// the first one here.
func newCaseClient(s clientStart) (*client, error) {
	roots, err := s.Root.Roots()
	if err != nil {
		return nil, err
	}
	c := &client{config: s.Config, chain: s.Chain, address: s.Address, tls: &tls.Config{
		RootCAs: roots, ServerName: pki.ServerName, CurvePreferences: s.Config.Offered,
	}}
	switch {
	case c.Resume:
		c.tls.ClientSessionCache = tls.NewLRUClientSessionCache(1)
		first := *c
		first.Resume = false
		_, err = first.connect(false)
	case !c.NoCache:
		c.tls.ClientSessionCache = forgetful{}
	}
	return c, err
}

// forgetful is a session cache that stores nothing: a client that asks for
// tickets and never uses one.
type forgetful struct{}

func (forgetful) Get(string) (*tls.ClientSessionState, bool) { return nil, false }
func (forgetful) Put(string, *tls.ClientSessionState)        {}

// A connection is what was seen of one, up to the response.
type connection struct {
	latency time.Duration // from the start of connecting
	trace   trace
	counter *counter
}

// connect connects, sends a request, reads the response, and says that it is
// done. The counter keeps the bytes if asked to.
func (c *client) connect(keep bool) (connection, error) {
	var got connection
	config := c.tls.Clone()
	start := time.Now()
	raw, err := net.Dial("tcp", c.address)
	if err != nil {
		return got, err
	}
	defer raw.Close()
	got.counter = &counter{Conn: raw, keep: keep}
	watched := wire.Watch(got.counter, true)
	config.KeyLogWriter = watched.KeyLog()
	conn := tls.Client(watched, config)
	if err := conn.Handshake(); err != nil {
		return got, fmt.Errorf("handshake: %w", err)
	}
	if _, err := io.WriteString(conn, request); err != nil {
		return got, fmt.Errorf("send the request: %w", err)
	}
	want := response(c.Resume)
	answer := make([]byte, len(want))
	if _, err := io.ReadFull(conn, answer); err != nil {
		return got, fmt.Errorf("read the response: %w", err)
	}
	got.latency = time.Since(start)
	if got.trace, err = newTrace(watched, got.counter); err != nil {
		return got, err
	}
	if err := c.check(conn.ConnectionState()); err != nil {
		return got, err
	}
	if !bytes.Equal(answer, want) {
		return got, fmt.Errorf("the server responds %q, want %q", answer, want)
	}
	if err := conn.CloseWrite(); err != nil {
		return got, fmt.Errorf("say that the connection is done: %w", err)
	}
	if _, err := io.Copy(io.Discard, conn); err != nil {
		return got, fmt.Errorf("read until the server closes: %w", err)
	}
	return got, nil
}

// check compares what was negotiated with what the case says.
func (c *client) check(s tls.ConnectionState) error {
	switch {
	case s.Version != c.Version:
		return fmt.Errorf("negotiated %s, want %s", tls.VersionName(s.Version), tls.VersionName(c.Version))
	case c.Group != 0 && s.CurveID != c.Group:
		return fmt.Errorf("negotiated group %v, want %v", s.CurveID, c.Group)
	case s.HelloRetryRequest != c.HRR:
		return fmt.Errorf("HelloRetryRequest: %v, want %v", s.HelloRetryRequest, c.HRR)
	case s.DidResume != c.Resume:
		return fmt.Errorf("a session was resumed: %v, want %v", s.DidResume, c.Resume)
	}
	var chain [][]byte
	for _, cert := range s.PeerCertificates {
		chain = append(chain, cert.Raw)
	}
	if !slices.EqualFunc(chain, c.chain, bytes.Equal) {
		return errors.New("the server's certificates are not those of the case")
	}
	return nil
}

// work connects, one connection after the other, for about d and at least
// once. A first one, which settles caches, does not count.
func (c *client) work(d time.Duration) (trial.Slice, error) {
	var s trial.Slice
	if _, err := c.connect(false); err != nil {
		return s, err
	}
	before, start := host.OwnUsage(), time.Now()
	for s.Elapsed < d {
		got, err := c.connect(false)
		if err != nil {
			return s, err
		}
		s.Elapsed = time.Since(start)
		s.Ops++
		s.Latencies = append(s.Latencies, got.latency)
		s.Tallies = tally(s.Tallies, got.trace.totals()...)
		if s.Parts, err = got.trace.addTo(s.Parts); err != nil {
			return s, err
		}
	}
	s.Involuntary = host.OwnUsage().Sub(before).Involuntary
	return s, nil
}

// A sight is one connection as a listener on the wire could record it, with
// what the client knows of its records.
type sight struct {
	Hello    wire.ClientHello `json:"hello"` // the first one
	Records  []record         `json:"records"`
	ShowsDER bool             `json:"shows_der"` // the bytes of the leaf certificate can be read
}

// look makes one connection and keeps its bytes.
func (c *client) look() (sight, error) {
	got, err := c.connect(true)
	if err != nil {
		return sight{}, err
	}
	hello, err := wire.ParseClientHello(got.counter.sentBytes)
	return sight{hello, got.trace.records, bytes.Contains(got.counter.receivedBytes, c.chain[0])}, err
}
