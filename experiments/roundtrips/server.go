package main

import (
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"os"
	"time"

	"github.com/quic-go/quic-go"

	"cryptocost/experiments/internal/host"
	"cryptocost/experiments/internal/pki"
)

// request is what the client asks; request and response have the sizes of
// those of records.
const request = "GET / HTTP/1.1\r\n\r\n"

// response is what the server answers, with what it knows of the session.
func response(resumed bool) []byte {
	return fmt.Appendf(nil, "HTTP/1.1 200 OK\r\nContent-Length: 18\r\n\r\ndid resume: %-6t", resumed)
}

// protocol is what both ends speak over QUIC (ALPN, RFC 7301, which QUIC
// demands: RFC 9001, 8.1).
const protocol = "cryptocost"

// serverStart is the argument of the request "serve".
type serverStart struct {
	Config config     `json:"config"`
	Bundle pki.Bundle `json:"bundle"`
	Host   string     `json:"host"`
}

// newServer is the role server: the servers of all kinds at one place.
func newServer() map[string]host.Handler {
	return map[string]host.Handler{"serve": host.Handle(serve)}
}

// serve answers clients of one more kind and gives the port.
func serve(s serverStart) (int, error) {
	if s.Config.Protocol == "tcp" {
		return listen(s.Host, func(conn net.Conn) (net.Conn, bool, error) { return conn, false, nil })
	}
	cert, err := s.Bundle.Certificate()
	if err != nil {
		return 0, err
	}
	config := &tls.Config{
		Certificates: []tls.Certificate{cert}, CurvePreferences: s.Config.Accepted,
		MinVersion: s.Config.Version, MaxVersion: s.Config.Version,
	}
	if s.Config.Protocol == "quic" {
		config.NextProtos = []string{protocol}
		return listenQUIC(s.Host, config)
	}
	return listen(s.Host, func(raw net.Conn) (net.Conn, bool, error) {
		conn := tls.Server(raw, config)
		err := conn.Handshake()
		return conn, conn.ConnectionState().DidResume, err
	})
}

// listen accepts connections over TCP, opens each, and answers on it.
func listen(address string, open func(net.Conn) (net.Conn, bool, error)) (int, error) {
	var config net.ListenConfig
	config.SetMultipathTCP(false) // Go's default accepts it (net.ListenConfig)
	listener, err := config.Listen(context.Background(), "tcp", net.JoinHostPort(address, "0"))
	if err != nil {
		return 0, err
	}
	go host.Accept(listener, func(raw net.Conn) {
		defer raw.Close()
		err := raw.SetDeadline(time.Now().Add(connectionTime))
		if err == nil {
			err = handle(raw, open)
		}
		if err != nil {
			fmt.Fprintln(os.Stderr, "serve:", err)
		}
	})
	return listener.Addr().(*net.TCPAddr).Port, nil
}

// handle opens a connection over TCP and answers on it.
func handle(raw net.Conn, open func(net.Conn) (net.Conn, bool, error)) error {
	conn, resumed, err := open(raw)
	if err != nil {
		return err
	}
	return answer(conn, resumed)
}

// answer reads a request, answers it and closes: the end of the connection is
// right behind the response, and the client waits for it.
func answer(conn io.ReadWriteCloser, resumed bool) error {
	if _, err := io.ReadFull(conn, make([]byte, len(request))); err != nil {
		return fmt.Errorf("read a request: %w", err)
	}
	if _, err := conn.Write(response(resumed)); err != nil {
		return fmt.Errorf("respond: %w", err)
	}
	if err := conn.Close(); err != nil {
		return fmt.Errorf("close: %w", err)
	}
	return nil
}

// quicConfig is that of both ends: one version, so that none is negotiated,
// which would cost a round trip (RFC 9000, 6).
func quicConfig() *quic.Config { return &quic.Config{Versions: []quic.Version{quic.Version1}} }

// listenQUIC accepts connections over QUIC and answers on the first stream of
// each. The client ends the connection. Its address is not validated
// (VerifySourceAddress), which is quic-go's default.
func listenQUIC(address string, config *tls.Config) (int, error) {
	socket, err := net.ListenUDP("udp", &net.UDPAddr{IP: net.ParseIP(address)})
	if err != nil {
		return 0, err
	}
	transport := &quic.Transport{Conn: socket, DisableVersionNegotiationPackets: true}
	listener, err := transport.Listen(config, quicConfig())
	if err != nil {
		return 0, err
	}
	go func() {
		for {
			conn, err := listener.Accept(context.Background())
			if err != nil {
				fmt.Fprintln(os.Stderr, "accept:", err)
				os.Exit(1)
			}
			go func() {
				if err := answerQUIC(conn); err != nil {
					fmt.Fprintln(os.Stderr, "serve over QUIC:", err)
				}
			}()
		}
	}()
	return socket.LocalAddr().(*net.UDPAddr).Port, nil
}

// answerQUIC answers on the first stream of a connection.
func answerQUIC(conn *quic.Conn) error {
	ctx, cancel := context.WithTimeout(conn.Context(), connectionTime)
	defer cancel()
	stream, err := conn.AcceptStream(ctx)
	if err != nil {
		return err
	}
	if err := stream.SetDeadline(time.Now().Add(connectionTime)); err != nil {
		return err
	}
	return answer(stream, conn.ConnectionState().TLS.DidResume)
}
