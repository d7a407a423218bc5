package main

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"slices"
	"sync"
	"time"

	"github.com/quic-go/quic-go"

	"cryptocost/data"
	"cryptocost/experiments/internal/host"
	"cryptocost/experiments/internal/pki"
	"cryptocost/experiments/internal/trial"
)

// clientStart is the argument of the client's request "start".
type clientStart struct {
	Name    string     `json:"name"`
	Config  config     `json:"config"`
	Root    pki.Bundle `json:"root"`
	Leaf    []byte     `json:"leaf"`  // that the server must send
	Wired   bool       `json:"wired"` // the server is at the other end of a link
	Address string     `json:"address"`
}

// An order asks the client of that kind to make one connection that is
// observed and N that are timed, each begun Gap after the one before.
type order struct {
	Name string        `json:"name"`
	N    int           `json:"n"`
	Gap  time.Duration `json:"gap"`
}

// clients are the role client: those of all kinds at one site, by name.
type clients map[string]*client

func newClient() map[string]host.Handler {
	c := clients{}
	return map[string]host.Handler{"start": host.Handle(c.start), "visit": host.Handle(c.visit)}
}

// start makes the client of a kind. One that is to resume sessions gets its
// ticket.
func (c clients) start(s clientStart) (struct{}, error) {
	made, err := newKindClient(s)
	c[s.Name] = made
	return struct{}{}, err
}

// visit makes the connections of a slice. The first one, which also settles
// caches, is observed and not timed.
func (c clients) visit(o order) (trial.Slice, error) {
	made, ok := c[o.Name]
	if !ok {
		return trial.Slice{}, fmt.Errorf("no client of %q", o.Name)
	}
	before, start := host.OwnUsage(), time.Now()
	var group sync.WaitGroup
	begun := 0
	begin := func(connect func()) {
		time.Sleep(time.Until(start.Add(time.Duration(begun) * o.Gap)))
		group.Go(connect)
		begun++
	}
	var seen []data.Value
	times := make([]moments, o.N)
	errs := make([]error, o.N+1)
	begin(func() { seen, errs[o.N] = made.observe() })
	for i := range o.N {
		begin(func() { times[i], errs[i] = made.connect(nil) })
	}
	group.Wait()
	s := trial.Slice{Ops: o.N, Elapsed: time.Since(start), Moments: map[string][]time.Duration{}}
	s.Involuntary = host.OwnUsage().Sub(before).Involuntary
	if len(seen) > 0 {
		s.Tallies = []trial.Tally{{Ops: 1, Values: seen}}
	}
	for _, t := range times {
		s.Latencies = append(s.Latencies, t.response)
		for _, m := range []struct {
			name string
			time time.Duration
		}{{"connect", t.connected}, {"tls", t.shaken - t.connected}, {"handshake", t.shaken}} {
			if m.time > 0 {
				s.Moments[m.name] = append(s.Moments[m.name], m.time)
			}
		}
	}
	return s, oneOf(errs)
}

// oneOf gives the first of the errors, with how many there are: those of one
// slice mostly have the same cause.
func oneOf(errs []error) error {
	errs = slices.DeleteFunc(errs, func(err error) bool { return err == nil })
	switch len(errs) {
	case 0:
		return nil
	case 1:
		return errs[0]
	default:
		return fmt.Errorf("%d connections failed, the first: %w", len(errs), errs[0])
	}
}

// moments are times since the beginning of connecting. Those that a protocol
// does not have are 0.
type moments struct {
	connected time.Duration // TCP is
	shaken    time.Duration // the handshake of TLS or QUIC has ended
	response  time.Duration // its first byte is there
}

// A client connects to the server of its kind.
type client struct {
	config
	tls     *tls.Config
	leaf    []byte
	wired   bool
	address string
}

func newKindClient(s clientStart) (*client, error) {
	c := &client{config: s.Config, leaf: s.Leaf, wired: s.Wired, address: s.Address}
	if c.Protocol == "tcp" {
		return c, nil
	}
	roots, err := s.Root.Roots()
	if err != nil {
		return nil, err
	}
	c.tls = &tls.Config{RootCAs: roots, ServerName: pki.ServerName, CurvePreferences: c.Offered, ClientSessionCache: forgetful{}}
	if c.Protocol == "quic" {
		c.tls.NextProtos = []string{protocol}
	}
	if c.Resume {
		c.tls.ClientSessionCache = tls.NewLRUClientSessionCache(1)
		first := *c
		first.Resume = false
		_, err = first.connect(nil)
	}
	return c, err
}

// forgetful is a session cache that stores nothing: a client that asks for
// tickets, as the article's does, and never uses one.
type forgetful struct{}

func (forgetful) Get(string) (*tls.ClientSessionState, bool) { return nil, false }
func (forgetful) Put(string, *tls.ClientSessionState)        {}

// connect makes one connection with a request and its response. The observer
// may be nil.
func (c *client) connect(o observer) (moments, error) {
	if c.Protocol == "quic" {
		return c.connectQUIC()
	}
	var m moments
	dialer := net.Dialer{Timeout: connectionTime}
	dialer.SetMultipathTCP(false)
	start := time.Now()
	raw, err := dialer.Dial("tcp", c.address)
	if err != nil {
		return m, err
	}
	m.connected = time.Since(start)
	socket := raw.(*net.TCPConn)
	defer socket.Close()
	if err := socket.SetDeadline(start.Add(connectionTime)); err != nil {
		return m, err
	}
	if o != nil {
		raw = o.watch(socket)
	}
	conn := raw
	var secured *tls.Conn
	if c.Protocol == "tls" {
		config := c.tls
		if o != nil {
			config = config.Clone()
			config.KeyLogWriter = o.keys()
		}
		secured = tls.Client(raw, config)
		if err := secured.Handshake(); err != nil {
			return m, fmt.Errorf("handshake: %w", err)
		}
		m.shaken = time.Since(start)
		conn = secured
	}
	if m.response, err = c.ask(conn, start); err != nil {
		return m, err
	}
	if secured != nil {
		if err := c.check(secured.ConnectionState()); err != nil {
			return m, err
		}
	}
	if _, err := io.Copy(io.Discard, conn); err != nil {
		return m, fmt.Errorf("wait until the server closes: %w", err)
	}
	// The server has closed its end. A reset ends ours: it is the last packet,
	// where a FIN would be answered when the wire may have its next delay.
	return m, socket.SetLinger(0)
}

// ask sends the request and reads the response, and gives when its first byte
// was there.
func (c *client) ask(conn io.ReadWriter, start time.Time) (time.Duration, error) {
	if _, err := io.WriteString(conn, request); err != nil {
		return 0, fmt.Errorf("send the request: %w", err)
	}
	want := response(c.Resume)
	got := make([]byte, len(want))
	if _, err := io.ReadFull(conn, got[:1]); err != nil {
		return 0, fmt.Errorf("read the response: %w", err)
	}
	first := time.Since(start)
	if _, err := io.ReadFull(conn, got[1:]); err != nil {
		return 0, fmt.Errorf("read the response: %w", err)
	}
	if !bytes.Equal(got, want) {
		return 0, fmt.Errorf("the server responds %q, want %q", got, want)
	}
	return first, nil
}

// connectionTime bounds a connection at both ends: one that hangs is an error
// and does not keep the round from ending.
const connectionTime = 10 * time.Second

// connectQUIC is connect over QUIC: handshakes of transport and TLS are one.
func (c *client) connectQUIC() (moments, error) {
	var m moments
	ctx, cancel := context.WithTimeout(context.Background(), connectionTime)
	defer cancel()
	start := time.Now()
	conn, err := quic.DialAddr(ctx, c.address, c.tls, quicConfig())
	if err != nil {
		return m, fmt.Errorf("handshake over QUIC: %w", err)
	}
	defer conn.CloseWithError(0, "")
	m.shaken = time.Since(start)
	stream, err := conn.OpenStreamSync(ctx)
	if err != nil {
		return m, fmt.Errorf("open a stream: %w", err)
	}
	if err := stream.SetDeadline(start.Add(connectionTime)); err != nil {
		return m, err
	}
	if m.response, err = c.ask(stream, start); err != nil {
		return m, err
	}
	if _, err := io.Copy(io.Discard, stream); err != nil {
		return m, fmt.Errorf("wait until the server ends the stream: %w", err)
	}
	state := conn.ConnectionState()
	switch {
	case state.Used0RTT:
		return m, errors.New("the request was early data")
	case state.Version != quic.Version1:
		return m, fmt.Errorf("negotiated QUIC %v, want %v", state.Version, quic.Version1)
	}
	return m, c.check(state.TLS)
}

// check compares what was negotiated with what the kind says.
func (c *client) check(s tls.ConnectionState) error {
	switch {
	case s.Version != c.Version:
		return fmt.Errorf("negotiated %s, want %s", tls.VersionName(s.Version), tls.VersionName(c.Version))
	case s.CurveID != c.Group:
		return fmt.Errorf("negotiated group %v, want %v", s.CurveID, c.Group)
	case s.HelloRetryRequest != c.HRR:
		return fmt.Errorf("HelloRetryRequest: %v, want %v", s.HelloRetryRequest, c.HRR)
	case s.DidResume != c.Resume:
		return fmt.Errorf("a session was resumed: %v, want %v", s.DidResume, c.Resume)
	case len(s.PeerCertificates) != 1 || !bytes.Equal(s.PeerCertificates[0].Raw, c.leaf):
		return errors.New("the server's certificate is not that of the case")
	}
	return nil
}
