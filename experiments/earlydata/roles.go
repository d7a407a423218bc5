package main

import (
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"slices"
	"sync"
	"time"

	"cryptocost/experiments/internal/host"
	"cryptocost/experiments/internal/pki"
	"cryptocost/experiments/internal/wire"
)

// requestBeginning and requestLine: the request of a connection has a number,
// so that it is recognized.
const requestBeginning = "GET /early?n="

func requestLine(n int) string { return fmt.Sprintf("%s%06d HTTP/1.0", requestBeginning, n) }

// serverStart asks for a server. One that is there already is told again.
type serverStart struct {
	Bundle     pki.Bundle `json:"bundle"`
	Host       string     `json:"host"`
	AntiReplay bool       `json:"anti_replay"` // of s_server
}

// A server is the role server: servers of all kinds, at one end of the wire.
type server struct {
	openssl map[bool]*sServer // by AntiReplay
	tls     string            // port of Go's crypto/tls server
	quic    *quicServer
}

func newServer() map[string]host.Handler {
	s := &server{openssl: map[bool]*sServer{}}
	return map[string]host.Handler{
		"openssl":  host.Handle(s.startOpenSSL),
		"served":   host.Handle(s.served),
		"stop":     host.Handle(s.stop),
		"tls":      host.Handle(s.startTLS),
		"quic":     host.Handle(s.startQUIC),
		"arrivals": host.Handle(s.arrivals),
	}
}

// startOpenSSL starts s_server and gives its port.
func (s *server) startOpenSSL(r serverStart) (string, error) {
	if have, ok := s.openssl[r.AntiReplay]; ok {
		return have.port, nil
	}
	started, err := startSServer(r.Bundle, r.Host, r.AntiReplay)
	if err != nil {
		return "", err
	}
	s.openssl[r.AntiReplay] = started
	return started.port, nil
}

// served waits for the end of the next connection to the s_server with that
// protection against replay.
func (s *server) served(antiReplay bool) (served, error) {
	have, ok := s.openssl[antiReplay]
	if !ok {
		return served{}, errors.New("no s_server is running")
	}
	return have.next()
}

// stop ends all s_servers, for systems on which they would outlive the role.
func (s *server) stop(struct{}) (struct{}, error) {
	for antiReplay, running := range s.openssl {
		running.stop()
		delete(s.openssl, antiReplay)
	}
	return struct{}{}, nil
}

// startTLS starts a crypto/tls server over TCP, which holds each connection
// until the client ends it, and gives its port.
func (s *server) startTLS(r serverStart) (string, error) {
	if s.tls != "" {
		return s.tls, nil
	}
	cert, err := r.Bundle.Certificate()
	if err != nil {
		return "", err
	}
	listener, err := tls.Listen("tcp", net.JoinHostPort(r.Host, "0"), &tls.Config{
		Certificates: []tls.Certificate{cert}, MinVersion: tls.VersionTLS13,
	})
	if err != nil {
		return "", err
	}
	go host.Accept(listener, func(conn net.Conn) {
		if _, err := io.Copy(io.Discard, conn); err != nil {
			fmt.Fprintln(os.Stderr, "read until the client's closing alert:", err)
		}
		_ = conn.Close()
	})
	_, s.tls, err = net.SplitHostPort(listener.Addr().String())
	return s.tls, err
}

// newClient is the role client.
func newClient() map[string]host.Handler {
	c := &quicClient{}
	return map[string]host.Handler{
		"openssl": host.Handle(errand.run),
		"capture": host.Handle(capture),
		"replay":  host.Handle(replay),
		"tls":     host.Handle(resumeTLS),
		"settle":  host.Handle(c.settle),
		"quic":    host.Handle(c.connect),
	}
}

// captured is a run of s_client and the first flight that it sent.
type captured struct {
	Done   done   `json:"done"`
	Flight []byte `json:"flight"`
}

// capture runs s_client through a relay, which keeps the first flight. Only
// when it has it whole does the relay go on to the server, so nothing in it
// can be an answer to anything from there.
func capture(e errand) (captured, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return captured{}, err
	}
	defer listener.Close()
	server := e.Address
	e.Address = listener.Addr().String()
	var c captured
	relayed := make(chan error, 1)
	go func() {
		client, err := listener.Accept()
		if err == nil {
			c.Flight, err = relay(client, server)
		}
		relayed <- err
	}()
	c.Done, err = e.run()
	_ = listener.Close() // s_client has connected, or never will
	err = errors.Join(err, <-relayed)
	return c, err
}

// relay passes a connection on to the server and gives the client's first
// flight.
func relay(client net.Conn, server string) ([]byte, error) {
	defer client.Close()
	flight, err := firstFlight(client, connectionTime)
	if err != nil {
		return flight, fmt.Errorf("relay: read the client's first flight: %w", err)
	}
	onward, err := net.Dial("tcp", server)
	if err != nil {
		return flight, err
	}
	defer onward.Close()
	if _, err := onward.Write(flight); err != nil {
		return flight, err
	}
	var back sync.WaitGroup
	back.Go(func() { passOn(client, onward) })
	passOn(onward, client)
	back.Wait()
	return flight, nil
}

// passOn copies until the sender is done, and tells the receiver so. How the
// connection ends is for s_client and s_server to say.
func passOn(to, from net.Conn) {
	_, _ = io.Copy(to, from)
	_ = to.(*net.TCPConn).CloseWrite()
}

// firstFlight reads what the client sends before it gets an answer: all up to
// its first protected record, which is early data, or up to a silence of that
// length, which is how a flight without it ends.
func firstFlight(client net.Conn, silence time.Duration) ([]byte, error) {
	if err := client.SetReadDeadline(time.Now().Add(silence)); err != nil {
		return nil, err
	}
	var flight []byte
	buffer := make([]byte, 16<<10)
	for {
		n, err := client.Read(buffer)
		flight = append(flight, buffer[:n]...)
		if slices.ContainsFunc(records(flight), func(r record) bool { return r.kind == recordApplicationData }) {
			break
		}
		if errors.Is(err, os.ErrDeadlineExceeded) {
			break
		}
		if err != nil {
			return flight, err
		}
	}
	if len(flight) == 0 {
		return nil, errors.New("the client sends nothing")
	}
	return flight, client.SetReadDeadline(time.Time{})
}

// Types of records (RFC 8446, 5.1).
const (
	recordHandshake       = 22
	recordApplicationData = 23
)

// A record is one whole record: its type and the bytes behind its header.
type record struct {
	kind    byte
	payload []byte
}

// records cuts bytes into the whole records that they begin with.
func records(b []byte) []record {
	var list []record
	for len(b) >= wire.RecordHeaderBytes {
		end := wire.RecordHeaderBytes + int(b[3])<<8 + int(b[4])
		if len(b) < end {
			break
		}
		list = append(list, record{b[0], b[wire.RecordHeaderBytes:end]})
		b = b[end:]
	}
	return list
}

// resend is a request to replay a flight.
type resend struct {
	Address string `json:"address"`
	Flight  []byte `json:"flight"`
}

// replay sends a captured flight on a connection of its own, waits for the
// server's answer, and ends the connection: who replays has no keys to go on.
func replay(r resend) (struct{}, error) {
	conn, err := net.Dial("tcp", r.Address)
	if err != nil {
		return struct{}{}, err
	}
	defer conn.Close()
	if err := conn.SetDeadline(time.Now().Add(connectionTime)); err != nil {
		return struct{}{}, err
	}
	if _, err := conn.Write(r.Flight); err != nil {
		return struct{}{}, err
	}
	kind := make([]byte, 1)
	if _, err := conn.Read(kind); err != nil {
		return struct{}{}, fmt.Errorf("read the server's answer to a replay: %w", err)
	}
	if kind[0] != recordHandshake {
		return struct{}{}, fmt.Errorf("the server answers a replay with a record of type %d, and not with a ServerHello", kind[0])
	}
	if err := conn.(*net.TCPConn).CloseWrite(); err != nil {
		return struct{}{}, err
	}
	_, _ = io.Copy(io.Discard, conn) // however the server ends it
	return struct{}{}, nil
}

// resumption is a request to connect twice with crypto/tls.
type resumption struct {
	Address string `json:"address"`
	Root    []byte `json:"root"`
}

// resumed is what the second connection was.
type resumed struct {
	Resumed    bool     `json:"resumed"`
	Extensions []uint16 `json:"extensions"` // of its ClientHello, in order
}

// resumeTLS connects with crypto/tls over TCP, waits for a session, and
// resumes it.
func resumeTLS(r resumption) (resumed, error) {
	roots, err := pki.Bundle{Root: r.Root}.Roots()
	if err != nil {
		return resumed{}, err
	}
	sessions := newSessions()
	config := &tls.Config{RootCAs: roots, ServerName: pki.ServerName, MinVersion: tls.VersionTLS13, ClientSessionCache: sessions}
	if _, _, err := connectTLS(r.Address, config, sessions); err != nil {
		return resumed{}, err
	}
	state, hello, err := connectTLS(r.Address, config, sessions)
	if err != nil {
		return resumed{}, err
	}
	extensions, err := helloExtensions(hello)
	return resumed{state.DidResume, extensions}, err
}

// connectTLS shakes hands, stays until a session has come, and gives the state
// and what the client sent first.
func connectTLS(address string, config *tls.Config, sessions *sessions) (tls.ConnectionState, []byte, error) {
	raw, err := net.Dial("tcp", address)
	if err != nil {
		return tls.ConnectionState{}, nil, err
	}
	defer raw.Close()
	if err := raw.SetDeadline(time.Now().Add(connectionTime)); err != nil {
		return tls.ConnectionState{}, nil, err
	}
	first := &firstWrite{Conn: raw}
	conn := tls.Client(first, config)
	if err := conn.Handshake(); err != nil {
		return tls.ConnectionState{}, nil, err
	}
	// Reading is what takes tickets off the wire; data never comes.
	read := make(chan error, 1)
	go func() {
		_, err := conn.Read(make([]byte, 1))
		read <- err
	}()
	select {
	case <-sessions.came:
	case err := <-read:
		return tls.ConnectionState{}, nil, fmt.Errorf("wait for a session: %w", err)
	}
	return conn.ConnectionState(), first.bytes, conn.Close()
}

// firstWrite keeps what a connection sends first.
type firstWrite struct {
	net.Conn
	bytes []byte
}

func (f *firstWrite) Write(p []byte) (int, error) {
	if f.bytes == nil {
		f.bytes = append(f.bytes, p...)
	}
	return f.Conn.Write(p)
}

// helloExtensions reads the extensions of a ClientHello, as crypto/tls
// does for a server.
func helloExtensions(flight []byte) ([]uint16, error) {
	var seen []uint16
	errSeen := errors.New("seen")
	err := tls.Server(&played{bytes: flight}, &tls.Config{
		GetConfigForClient: func(hello *tls.ClientHelloInfo) (*tls.Config, error) {
			seen = hello.Extensions
			return nil, errSeen
		},
	}).Handshake()
	if !errors.Is(err, errSeen) {
		return nil, fmt.Errorf("read a ClientHello of %d bytes: %w", len(flight), err)
	}
	return seen, nil
}

// played is a connection on which only those bytes come.
type played struct {
	net.Conn
	bytes []byte
}

func (p *played) Read(b []byte) (int, error) {
	if len(p.bytes) == 0 {
		return 0, io.EOF
	}
	n := copy(b, p.bytes)
	p.bytes = p.bytes[n:]
	return n, nil
}

func (p *played) Write(b []byte) (int, error) { return len(b), nil }
