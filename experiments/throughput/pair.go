package main

import (
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"slices"
	"sync/atomic"
	"time"

	"cryptocost/experiments/internal/aes"
	"cryptocost/experiments/internal/host"
	"cryptocost/experiments/internal/pki"
)

// pairStart is the argument of the request "start".
type pairStart struct {
	Config config     `json:"config"`
	Bundle pki.Bundle `json:"bundle"`
	AES    bool       `json:"aes"` // AES instructions must be in use, or must not
}

// connected is what the two ends agreed on.
type connected struct {
	Suite   uint16   `json:"suite"`   // 0: plain TCP
	Offered []uint16 `json:"offered"` // the client's suites of the negotiated version, in order
}

// A transferReport is what happened in one slice.
type transferReport struct {
	Writes  int           `json:"writes"`
	Bytes   int64         `json:"bytes"`
	Elapsed time.Duration `json:"elapsed"`
	Usage   host.Usage    `json:"usage"`
}

// A pair is the role pair: both ends of one connection.
type pair struct {
	writer, reader net.Conn
	block          []byte
	expected       atomic.Int64  // bytes since the start, until the end of the current send
	arrived        chan struct{} // they are in; closed when the reading end fails
	failed         error         // why arrived was closed
	perWrite       time.Duration // in the latest send
}

func newPair() map[string]host.Handler {
	p := &pair{}
	return map[string]host.Handler{
		"start":    host.Handle(p.start),
		"transfer": host.Handle(p.transfer),
	}
}

// boostBytes is past the 128 KiB after which crypto/tls sends full records
// (crypto/tls/conn.go, recordSizeBoostThreshold).
const boostBytes = 256 << 10

// settleWrites are made before every slice and do not count.
const settleWrites = 8

func (p *pair) start(s pairStart) (connected, error) {
	var state connected
	if used, err := aes.UsedByGo(); err != nil || used != s.AES {
		return state, errors.Join(err, fmt.Errorf("AES instructions in use: %v, want %v", used, s.AES))
	}
	client, server, err := host.Loopback()
	if err != nil {
		return state, err
	}
	p.writer, p.reader = client, server
	if s.Config.TLS {
		if state, err = p.encrypt(s, client, server); err != nil {
			return state, err
		}
	}
	// Content that is neither all zeros nor the same in every block.
	p.block = make([]byte, s.Config.WriteBytes)
	for i := range p.block {
		p.block[i] = byte(i * 31)
	}
	p.arrived = make(chan struct{}, 1)
	go p.read()
	_, err = p.send(boostBytes/len(p.block) + 1)
	return state, err
}

// encrypt puts TLS on both ends.
func (p *pair) encrypt(s pairStart, client, server net.Conn) (connected, error) {
	var state connected
	cert, err := s.Bundle.Certificate()
	if err != nil {
		return state, err
	}
	roots, err := s.Bundle.Roots()
	if err != nil {
		return state, err
	}
	tlsServer := tls.Server(server, &tls.Config{
		Certificates: []tls.Certificate{cert}, MinVersion: s.Config.Version, MaxVersion: s.Config.Version, CipherSuites: s.Config.Suites,
		GetConfigForClient: func(hello *tls.ClientHelloInfo) (*tls.Config, error) {
			state.Offered = slices.Clone(hello.CipherSuites)
			return nil, nil
		},
	})
	tlsClient := tls.Client(client, &tls.Config{
		RootCAs: roots, ServerName: pki.ServerName, MinVersion: s.Config.Version, MaxVersion: s.Config.Version, CipherSuites: s.Config.Suites,
	})
	served := make(chan error, 1)
	go func() { served <- tlsServer.Handshake() }()
	if err := errors.Join(tlsClient.Handshake(), <-served); err != nil {
		return state, err
	}
	p.writer, p.reader = tlsClient, tlsServer
	got := tlsClient.ConnectionState()
	state.Suite = got.CipherSuite
	if got.Version != s.Config.Version || s.Config.Negotiated != nil && !slices.Contains(s.Config.Negotiated, got.CipherSuite) {
		return state, fmt.Errorf("negotiated %s with %s", tls.VersionName(got.Version), tls.CipherSuiteName(got.CipherSuite))
	}
	return state, nil
}

// read discards what arrives and says when it is all that was asked for.
func (p *pair) read() {
	buf := make([]byte, 64<<10)
	var received int64
	for {
		n, err := p.reader.Read(buf)
		if err != nil {
			p.failed = fmt.Errorf("the reading end: %w", err)
			close(p.arrived)
			_ = p.writer.Close() // so that the writing end does not wait for ever
			return
		}
		received += int64(n)
		if received == p.expected.Load() {
			p.arrived <- struct{}{}
		}
	}
}

// send writes n blocks, waits until the last byte has arrived, and gives the
// time from one to the other.
func (p *pair) send(n int) (time.Duration, error) {
	p.expected.Add(int64(n) * int64(len(p.block)))
	start := time.Now()
	for range n {
		if _, err := p.writer.Write(p.block); err != nil {
			return 0, fmt.Errorf("the writing end: %w", err)
		}
	}
	if _, ok := <-p.arrived; !ok {
		return 0, p.failed
	}
	elapsed := time.Since(start)
	p.perWrite = max(1, elapsed/time.Duration(n))
	return elapsed, nil
}

// transfer writes as many blocks as went through in d at the rate of the
// slice before.
func (p *pair) transfer(d time.Duration) (transferReport, error) {
	n := max(1, int(d/p.perWrite))
	if _, err := p.send(settleWrites); err != nil {
		return transferReport{}, err
	}
	before := host.OwnUsage()
	elapsed, err := p.send(n)
	return transferReport{
		Writes: n, Bytes: int64(n) * int64(len(p.block)), Elapsed: elapsed, Usage: host.OwnUsage().Sub(before),
	}, err
}
