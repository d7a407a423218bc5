package main

import (
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/rsa"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"time"

	"cryptocost/data"
	"cryptocost/experiments/internal/host"
	"cryptocost/experiments/internal/pki"
	"cryptocost/experiments/internal/trial"
	"cryptocost/experiments/internal/wire"
)

// serverStart and clientStart are the arguments of the request "start".
type serverStart struct {
	Config config     `json:"config"`
	Bundle pki.Bundle `json:"bundle"`
	Host   string     `json:"host"`
}

type clientStart struct {
	Config  config     `json:"config"`
	Bundle  pki.Bundle `json:"bundle"`
	Address string     `json:"address"`
}

// newServer is the role server: it shakes hands on every connection and
// closes it.
func newServer() map[string]host.Handler {
	return map[string]host.Handler{"start": host.Handle(startServer)}
}

// startServer listens and gives the port.
func startServer(s serverStart) (int, error) {
	cert, err := s.Bundle.Certificate()
	if err != nil {
		return 0, err
	}
	tlsConfig := &tls.Config{
		Certificates: []tls.Certificate{cert}, MinVersion: s.Config.Version, MaxVersion: s.Config.Version,
		CurvePreferences: s.Config.Accepted, CipherSuites: s.Config.Suites,
	}
	listener, err := net.Listen("tcp", net.JoinHostPort(s.Host, "0"))
	if err != nil {
		return 0, err
	}
	go host.Accept(listener, func(conn net.Conn) { serveOne(tls.Server(conn, tlsConfig)) })
	return listener.Addr().(*net.TCPAddr).Port, nil
}

// serveOne shakes hands, waits until the client says that it is done, and
// closes the connection first, so that TIME_WAIT stays on this side and the
// client does not run out of ports. Waiting keeps the closing alert out of
// the bytes of the handshake: in TLS 1.2 the server's flight is the last. The
// client reports failures as well; what the server knows of them is kept for
// its last words.
func serveOne(conn *tls.Conn) {
	defer conn.Close()
	if _, err := conn.Read(make([]byte, 1)); err != io.EOF {
		fmt.Fprintln(os.Stderr, "handshake, then the client's closing alert:", err)
		return
	}
	if conn.ConnectionState().DidResume {
		fmt.Fprintln(os.Stderr, "a session was resumed")
		os.Exit(1)
	}
}

// A client is the role client.
type client struct {
	config
	tls     *tls.Config
	address string
}

func newClient() map[string]host.Handler {
	c := &client{}
	return map[string]host.Handler{
		"start":  host.Handle(c.start),
		"probe":  host.Handle(c.probe),
		"settle": host.Handle(c.settle),
		"shake":  host.Handle(c.shake),
		"try":    host.Handle(c.try),
	}
}

func (c *client) start(s clientStart) (struct{}, error) {
	roots, err := s.Bundle.Roots()
	if err != nil {
		return struct{}{}, err
	}
	c.config, c.address = s.Config, s.Address
	c.tls = &tls.Config{
		RootCAs: roots, ServerName: pki.ServerName, MinVersion: c.Version, MaxVersion: c.Version,
		CurvePreferences: c.Offered, CipherSuites: c.Suites,
	}
	if c.Tickets {
		c.tls.ClientSessionCache = forgetful{}
	}
	return struct{}{}, nil
}

// forgetful is a session cache that stores nothing: a client that asks for
// tickets and never uses one.
type forgetful struct{}

func (forgetful) Get(string) (*tls.ClientSessionState, bool) { return nil, false }
func (forgetful) Put(string, *tls.ClientSessionState)        {}

// A handshake is one connection from its beginning to its end.
type handshake struct {
	latency time.Duration // of the client's handshake
	state   tls.ConnectionState
}

// shakeOnce connects, shakes hands, says that it is done (close_notify) and
// reads until the server closes. watch may wrap the connection, and shaken,
// which may be nil, is called when the handshake has ended.
func (c *client) shakeOnce(watch func(net.Conn) net.Conn, shaken func()) (handshake, error) {
	var h handshake
	raw, err := net.Dial("tcp", c.address)
	if err != nil {
		return h, err
	}
	defer raw.Close()
	if watch != nil {
		raw = watch(raw)
	}
	conn := tls.Client(raw, c.tls)
	start := time.Now()
	if err := conn.Handshake(); err != nil {
		return h, err
	}
	h.latency = time.Since(start)
	h.state = conn.ConnectionState()
	if shaken != nil {
		shaken()
	}
	if err := conn.CloseWrite(); err != nil {
		return h, fmt.Errorf("say that the handshake is done: %w", err)
	}
	if _, err := io.Copy(io.Discard, conn); err != nil {
		return h, fmt.Errorf("read until the server closes: %w", err)
	}
	return h, c.check(h.state)
}

// byteCounts are the bytes of a connection, as its client sees them.
type byteCounts struct{ sent, received, after int64 }

// countOnce shakes hands once and counts bytes: until the client's handshake
// ends, and what it receives after.
func (c *client) countOnce() (handshake, byteCounts, error) {
	var counter *wire.Counter
	var b byteCounts
	h, err := c.shakeOnce(
		func(conn net.Conn) net.Conn {
			counter = wire.Count(conn)
			return counter
		},
		func() { b.sent, b.received = counter.Bytes() })
	if err == nil {
		_, all := counter.Bytes()
		b.after = all - b.received
	}
	return h, b, err
}

// check compares what was negotiated with what the case says.
func (c *client) check(s tls.ConnectionState) error {
	want := group(c.Kex)
	switch {
	case s.Version != c.Version:
		return fmt.Errorf("%v: negotiated %s", c.config, tls.VersionName(s.Version))
	case s.CurveID != want:
		return fmt.Errorf("%v: negotiated group %v", c.config, s.CurveID)
	case c.Suites != nil && s.CipherSuite != c.Suites[0]:
		return fmt.Errorf("%v: negotiated %s", c.config, tls.CipherSuiteName(s.CipherSuite))
	case s.HelloRetryRequest != c.HRR:
		return fmt.Errorf("%v: HelloRetryRequest %v", c.config, s.HelloRetryRequest)
	case s.DidResume:
		return fmt.Errorf("%v: a session was resumed", c.config)
	}
	if got := keyAlgorithm(s.PeerCertificates[0]); got != c.Cert {
		return fmt.Errorf("%v: the certificate's key is %s", c.config, got)
	}
	return nil
}

// keyAlgorithm names a certificate's key as the cases do.
func keyAlgorithm(cert *x509.Certificate) string {
	switch key := cert.PublicKey.(type) {
	case *rsa.PublicKey:
		return fmt.Sprintf("rsa-%d", key.N.BitLen())
	case *ecdsa.PublicKey:
		return fmt.Sprintf("ecdsa-p%d", key.Curve.Params().BitSize)
	case ed25519.PublicKey:
		return "ed25519"
	default:
		return fmt.Sprintf("%T", key)
	}
}

// settle makes one handshake, whose time does not count, and counts its
// bytes.
func (c *client) settle(struct{}) (trial.Tally, error) {
	_, b, err := c.countOnce()
	return trial.Tally{Ops: 1, Values: []data.Value{
		{Value: float64(b.sent), Unit: "sent-B/op"},
		{Value: float64(b.received), Unit: "received-B/op"},
		{Value: float64(b.after), Unit: "after-B/op"},
	}}, err
}

// A clientReport is what a client did in one slice.
type clientReport struct {
	Elapsed   time.Duration   `json:"elapsed"`
	Usage     host.Usage      `json:"usage"`
	Latencies []time.Duration `json:"latencies"`
}

// shake makes handshakes, one after the other, for about d and at least one.
func (c *client) shake(d time.Duration) (clientReport, error) {
	var r clientReport
	before, start := host.OwnUsage(), time.Now()
	for r.Elapsed < d {
		h, err := c.shakeOnce(nil, nil)
		if err != nil {
			return r, err
		}
		r.Latencies = append(r.Latencies, h.latency)
		r.Elapsed = time.Since(start)
	}
	r.Usage = host.OwnUsage().Sub(before)
	return r, nil
}

// A helloReport is what a client's first flight looks like.
type helloReport struct {
	RecordBytes   int           `json:"record_bytes"`
	Groups        []tls.CurveID `json:"groups"`
	KeyShareBytes int           `json:"key_share_bytes"` // of the first key share offered
}

// probe shakes hands once and reads its own ClientHello off the wire.
func (c *client) probe(struct{}) (helloReport, error) {
	var first firstWrite
	if _, err := c.shakeOnce(first.watch, nil); err != nil {
		return helloReport{}, err
	}
	hello, err := wire.ParseClientHello(first.bytes)
	if err != nil {
		return helloReport{}, err
	}
	r := helloReport{RecordBytes: hello.RecordBytes, Groups: hello.Groups}
	if len(hello.KeyShares) > 0 {
		r.KeyShareBytes = hello.KeyShares[0].Bytes
	}
	return r, nil
}

// firstWrite keeps what a connection sends first.
type firstWrite struct {
	net.Conn
	bytes []byte
}

func (f *firstWrite) watch(conn net.Conn) net.Conn {
	f.Conn = conn
	return f
}

func (f *firstWrite) Write(p []byte) (int, error) {
	if f.bytes == nil {
		f.bytes = append(f.bytes, p...)
	}
	return f.Conn.Write(p)
}

// A tryReport is the outcome of a handshake that may fail.
type tryReport struct {
	Error string `json:"error"` // empty: it succeeded
	HRR   bool   `json:"hrr"`
	Suite uint16 `json:"suite"`
	Sent  int64  `json:"sent"` // bytes of the client until the handshake's end
}

// try shakes hands once with what the server offers, whatever it is; a
// failure is an observation.
func (c *client) try(struct{}) (tryReport, error) {
	h, b, err := c.countOnce()
	var op *net.OpError
	if errors.As(err, &op) && op.Op == "dial" {
		return tryReport{}, err
	}
	r := tryReport{HRR: h.state.HelloRetryRequest, Suite: h.state.CipherSuite, Sent: b.sent}
	if err != nil && h.latency == 0 {
		r.Error = err.Error()
	}
	return r, nil
}
