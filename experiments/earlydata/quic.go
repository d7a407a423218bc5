package main

import (
	"bufio"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/quic-go/quic-go"

	"cryptocost/experiments/internal/link"
	"cryptocost/experiments/internal/pki"
)

// protocol is what both ends speak over QUIC (ALPN, RFC 7301, which QUIC
// demands: RFC 9001, 8.1).
const protocol = "cryptocost"

// response is the server's answer over QUIC.
const response = "HTTP/1.0 200 OK\n\n"

// An arrival is a request as a QUIC server got it.
type arrival struct {
	At      time.Duration `json:"at"` // on the clock of link.Now
	Resumed bool          `json:"resumed"`
	Early   bool          `json:"early"`
}

// A quicServer takes requests over QUIC, early ones too.
type quicServer struct {
	port string

	mu       sync.Mutex
	changed  *sync.Cond
	arrivals map[string]arrival // by request
}

// startQUIC starts the QUIC server and gives its port.
func (s *server) startQUIC(r serverStart) (string, error) {
	if s.quic != nil {
		return s.quic.port, nil
	}
	cert, err := r.Bundle.Certificate()
	if err != nil {
		return "", err
	}
	// An early listener hands out connections before their handshake has
	// ended; another one would keep early data back until then.
	listener, err := quic.ListenAddrEarly(net.JoinHostPort(r.Host, "0"),
		&tls.Config{Certificates: []tls.Certificate{cert}, NextProtos: []string{protocol}}, &quic.Config{Allow0RTT: true})
	if err != nil {
		return "", err
	}
	q := &quicServer{arrivals: map[string]arrival{}}
	q.changed = sync.NewCond(&q.mu)
	if _, q.port, err = net.SplitHostPort(listener.Addr().String()); err != nil {
		return "", err
	}
	go func() {
		for {
			conn, err := listener.Accept(context.Background())
			if err != nil {
				fmt.Fprintln(os.Stderr, "accept:", err)
				os.Exit(1)
			}
			go func() {
				if err := q.serve(conn); err != nil {
					fmt.Fprintln(os.Stderr, "serve over QUIC:", err)
				}
			}()
		}
	}()
	s.quic = q
	return q.port, nil
}

// serve takes the request of a connection and answers it. The client ends the
// stream when it needs nothing more, and the server then the connection: a
// client that ended it might do so before its Finished message is sent, and the
// server's handshake would never end.
func (q *quicServer) serve(conn *quic.Conn) error {
	ctx, cancel := context.WithTimeout(conn.Context(), connectionTime)
	defer cancel()
	defer conn.CloseWithError(0, "")
	stream, err := conn.AcceptStream(ctx)
	if err != nil {
		return err
	}
	reader := bufio.NewReader(stream)
	line, err := reader.ReadString('\n')
	a := arrival{At: link.Now()}
	if err != nil {
		return err
	}
	if _, err := io.WriteString(stream, response); err != nil {
		return err
	}
	if err := stream.Close(); err != nil {
		return err
	}
	if _, err := io.Copy(io.Discard, reader); err != nil {
		return err
	}
	if err := wait(ctx, conn.HandshakeComplete(), "end of the handshake"); err != nil {
		return err
	}
	state := conn.ConnectionState()
	a.Resumed, a.Early = state.TLS.DidResume, state.Used0RTT
	q.mu.Lock()
	q.arrivals[strings.TrimSuffix(line, "\n")] = a
	q.mu.Unlock()
	q.changed.Broadcast()
	return nil
}

// arrivals waits for requests and gives, in that order, how they arrived.
func (s *server) arrivals(requests []string) ([]arrival, error) {
	q := s.quic
	if q == nil {
		return nil, errors.New("no QUIC server is running")
	}
	late := false
	timeout := time.AfterFunc(connectionTime, func() {
		q.mu.Lock()
		late = true
		q.mu.Unlock()
		q.changed.Broadcast()
	})
	defer timeout.Stop()
	q.mu.Lock()
	defer q.mu.Unlock()
	var list []arrival
	for _, r := range requests {
		for {
			if a, ok := q.arrivals[r]; ok {
				delete(q.arrivals, r)
				list = append(list, a)
				break
			}
			if late {
				return nil, fmt.Errorf("request %q has not arrived over QUIC in %v", r, connectionTime)
			}
			q.changed.Wait()
		}
	}
	return list, nil
}

// sessions is a session cache of one, which says when a session has come.
type sessions struct {
	mu   sync.Mutex
	last *tls.ClientSessionState
	came chan struct{} // holds one token at most
}

func newSessions() *sessions { return &sessions{came: make(chan struct{}, 1)} }

// Get implements [tls.ClientSessionCache].
func (s *sessions) Get(string) (*tls.ClientSessionState, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.last, s.last != nil
}

// Put implements [tls.ClientSessionCache].
func (s *sessions) Put(_ string, session *tls.ClientSessionState) {
	if session == nil { // crypto/tls drops one that the server does not take
		return
	}
	s.mu.Lock()
	s.last = session
	s.mu.Unlock()
	select {
	case s.came <- struct{}{}:
	default:
	}
}

// quicErrand asks for connections over QUIC, one for each request, each
// started some time after the one before.
type quicErrand struct {
	Address  string        `json:"address"`
	Root     []byte        `json:"root"` // DER, trusted
	Requests []string      `json:"requests"`
	Gap      time.Duration `json:"gap"`
	Kind     kind          `json:"kind"`
}

// asked is one connection as the client saw it.
type asked struct {
	Started time.Duration `json:"started"` // on the clock of link.Now
	Resumed bool          `json:"resumed"`
	Early   bool          `json:"early"` // sent and accepted
}

// A quicClient keeps a session.
type quicClient struct{ sessions *sessions }

// settleRequest is that of the connection which brings the session.
var settleRequest = requestLine(0)

// config is that of a client.
func (e quicErrand) config() (*tls.Config, error) {
	roots, err := pki.Bundle{Root: e.Root}.Roots()
	return &tls.Config{RootCAs: roots, ServerName: pki.ServerName, NextProtos: []string{protocol}}, err
}

// settle makes the first connection of the process, which brings a session.
func (c *quicClient) settle(e quicErrand) (struct{}, error) {
	if c.sessions != nil {
		return struct{}{}, nil
	}
	config, err := e.config()
	if err != nil {
		return struct{}{}, err
	}
	first := newSessions()
	config.ClientSessionCache = first
	if _, err := ask(e.Address, config, settleRequest, false, first.came); err != nil {
		return struct{}{}, err
	}
	c.sessions = first
	return struct{}{}, nil
}

// connect makes the connections and tells of each.
func (c *quicClient) connect(e quicErrand) ([]asked, error) {
	config, err := e.config()
	if err != nil {
		return nil, err
	}
	if e.Kind != full {
		if c.sessions == nil {
			return nil, errors.New("there is no session to resume over QUIC")
		}
		config.ClientSessionCache = c.sessions
	}
	list := make([]asked, len(e.Requests))
	errs := make([]error, len(e.Requests))
	var group sync.WaitGroup
	begin := time.Now()
	for i, request := range e.Requests {
		time.Sleep(time.Until(begin.Add(time.Duration(i) * e.Gap)))
		group.Go(func() {
			list[i], errs[i] = ask(e.Address, config, request, e.Kind == early, nil)
		})
	}
	group.Wait()
	return list, errors.Join(errs...)
}

// ask makes one connection with one request, sent early where there is a
// session to do so, and holds it until held, which may be nil.
func ask(address string, config *tls.Config, request string, isEarly bool, held <-chan struct{}) (asked, error) {
	ctx, cancel := context.WithTimeout(context.Background(), connectionTime)
	defer cancel()
	dial := quic.DialAddr
	if isEarly {
		dial = quic.DialAddrEarly
	}
	a := asked{Started: link.Now()}
	conn, err := dial(ctx, address, config, nil)
	if err != nil {
		return a, fmt.Errorf("connect over QUIC: %w", err)
	}
	defer conn.CloseWithError(0, "")
	stream, err := conn.OpenStreamSync(ctx)
	if err != nil {
		return a, fmt.Errorf("open a stream over QUIC: %w", err)
	}
	if err := exchange(stream, request); err != nil {
		return a, fmt.Errorf("request over QUIC: %w", err)
	}
	if err := wait(ctx, conn.HandshakeComplete(), "end of the handshake"); err != nil {
		return a, err
	}
	if held != nil {
		if err := wait(ctx, held, "session"); err != nil {
			return a, err
		}
	}
	state := conn.ConnectionState()
	a.Resumed, a.Early = state.TLS.DidResume, state.Used0RTT
	if err := stream.Close(); err != nil {
		return a, fmt.Errorf("end a stream over QUIC: %w", err)
	}
	return a, wait(ctx, conn.Context().Done(), "end of the connection")
}

// wait waits for something of a connection.
func wait(ctx context.Context, happened <-chan struct{}, what string) error {
	select {
	case <-happened:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("no %s over QUIC: %w", what, ctx.Err())
	}
}

// exchange sends the request and reads the answer.
func exchange(stream *quic.Stream, request string) error {
	if _, err := io.WriteString(stream, request+"\n"); err != nil {
		return err
	}
	answer, err := io.ReadAll(stream)
	if err == nil && string(answer) != response {
		err = fmt.Errorf("the answer is %q", answer)
	}
	return err
}
