package main

import (
	"bytes"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"sync"

	"cryptocost/experiments/internal/host"
	"cryptocost/experiments/internal/pki"
	"cryptocost/experiments/internal/wire"
)

// request is what the client asks, of the size of the article's: 35 bytes in
// a record of TLS 1.3 with the type and the tag.
const request = "GET / HTTP/1.1\r\n\r\n"

// response is what the server answers, 74 bytes in a record of TLS 1.3, with
// what the server knows of the session.
func response(resumed bool) []byte {
	return fmt.Appendf(nil, "HTTP/1.1 200 OK\r\nContent-Length: 18\r\n\r\ndid resume: %-6t", resumed)
}

// serverStart is the argument of the request "serve".
type serverStart struct {
	Config config     `json:"config"`
	Bundle pki.Bundle `json:"bundle"`
	Host   string     `json:"host"`
	Keep   bool       `json:"keep"` // what clients send, for the request "caught"
}

// A server is the role server.
type server struct {
	mu     sync.Mutex
	caught []byte // the beginning of what the last client sent
}

func newServer() map[string]host.Handler {
	s := &server{}
	return map[string]host.Handler{
		"serve":  host.Handle(s.serve),
		"caught": host.Handle(s.caughtHello),
	}
}

// serve answers clients of one more case and gives the port.
func (s *server) serve(start serverStart) (int, error) {
	cert, err := start.Bundle.Certificate()
	if err != nil {
		return 0, err
	}
	config := &tls.Config{
		Certificates: []tls.Certificate{cert}, CurvePreferences: start.Config.Accepted,
		MinVersion: start.Config.Version, MaxVersion: start.Config.Version,
	}
	listener, err := net.Listen("tcp", net.JoinHostPort(start.Host, "0"))
	if err != nil {
		return 0, err
	}
	go host.Accept(listener, func(conn net.Conn) { s.answer(&counter{Conn: conn, keep: start.Keep}, config) })
	return listener.Addr().(*net.TCPAddr).Port, nil
}

// answer serves one request and closes the connection when the client has
// said that it is done, so that TIME_WAIT stays on this side. The client
// reports failures; what is known of them here is kept for the last words.
func (s *server) answer(raw *counter, config *tls.Config) {
	defer raw.Close()
	conn := tls.Server(raw, config)
	err := func() error {
		if err := conn.Handshake(); err != nil {
			return fmt.Errorf("handshake: %w", err)
		}
		if raw.keep {
			s.mu.Lock()
			s.caught = bytes.Clone(raw.receivedBytes)
			s.mu.Unlock()
		}
		if _, err := io.ReadFull(conn, make([]byte, len(request))); err != nil {
			return fmt.Errorf("read a request: %w", err)
		}
		if _, err := conn.Write(response(conn.ConnectionState().DidResume)); err != nil {
			return fmt.Errorf("respond: %w", err)
		}
		if _, err := io.Copy(io.Discard, conn); err != nil {
			return fmt.Errorf("wait for the client's closing alert: %w", err)
		}
		return conn.Close()
	}()
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
	}
}

// caughtHello reads the ClientHello of the client that shook hands last.
func (s *server) caughtHello(struct{}) (wire.ClientHello, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.caught == nil {
		return wire.ClientHello{}, errors.New("no client has shaken hands")
	}
	return wire.ParseClientHello(s.caught)
}

// A counter is a connection that counts its bytes, independently of the
// watcher above it.
type counter struct {
	net.Conn
	keep                     bool // the bytes too
	sent, received           int64
	sentBytes, receivedBytes []byte
}

func (c *counter) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	c.received += int64(n)
	if c.keep {
		c.receivedBytes = append(c.receivedBytes, p[:n]...)
	}
	return n, err
}

func (c *counter) Write(p []byte) (int, error) {
	n, err := c.Conn.Write(p)
	c.sent += int64(n)
	if c.keep {
		c.sentBytes = append(c.sentBytes, p[:n]...)
	}
	return n, err
}
