package main

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"time"

	"cryptocost/experiments/internal/host"
	"cryptocost/experiments/internal/pki"
	"cryptocost/experiments/internal/trial"
	"cryptocost/experiments/internal/wire"
)

// watchingCases measure what watching costs: a transfer with and without it.
func watchingCases() []trial.Case {
	var list []trial.Case
	for _, watch := range []string{"no", "yes"} {
		name := "/cost=watching/watch=" + watch
		list = append(list, trial.Case{Name: name, Start: func(ctx context.Context, g *host.Group) (trial.Measure, error) {
			bundle, err := keys.SelfSigned("ecdsa-p256")
			if err != nil {
				return nil, err
			}
			p, err := g.Process(ctx, name, host.Spec{Role: "pair"}, func(p *host.Process) error {
				return p.Call(ctx, "start", pairStart{Bundle: bundle, Watch: watch == "yes"}, nil)
			})
			if err != nil {
				return nil, err
			}
			return func(ctx context.Context, d time.Duration) (trial.Slice, error) {
				var r transferReport
				err := p.Call(ctx, "transfer", loadSlices*d, &r)
				return r.slice(), err
			}, nil
		}})
	}
	return list
}

// loadSlices is how many slices a transfer takes at a time: two ends that keep
// two cores busy need longer ones than handshakes for steady rates.
const loadSlices = 10

// pairStart is the argument of the pair's request "start".
type pairStart struct {
	Bundle pki.Bundle `json:"bundle"`
	Watch  bool       `json:"watch"`
}

// recordBytes is the most content that a record takes (RFC 8446, 5.1): a write
// of it is one record.
const recordBytes = 16 << 10

// A transferReport is what happened in one slice.
type transferReport struct {
	Records int           `json:"records"`
	Elapsed time.Duration `json:"elapsed"`
	Usage   host.Usage    `json:"usage"`
}

func (r transferReport) slice() trial.Slice {
	bytes := float64(r.Records) * recordBytes
	return trial.Slice{
		Ops: r.Records, Elapsed: r.Elapsed, Involuntary: r.Usage.Involuntary,
		Quantities: []trial.Quantity{
			{Unit: "cpu-ns/B", Sum: float64(r.Usage.CPU), Per: bytes},
			{Unit: "cpu-ns/record", Sum: float64(r.Usage.CPU), Per: float64(r.Records)},
			{Unit: "MB/s", Sum: bytes / 1e6, Per: r.Elapsed.Seconds()},
		},
	}
}

// A pair is the role pair: both ends of one connection, of which the reading
// one, the client, may be watched.
type pair struct {
	writer, reader *tls.Conn
	watcher        *wire.Watcher // nil: none
	block, buffer  []byte        // what is written, and what is read into
	perRecord      time.Duration // in the latest send
}

func newPair() map[string]host.Handler {
	p := &pair{}
	return map[string]host.Handler{
		"start":    host.Handle(p.start),
		"transfer": host.Handle(p.transfer),
	}
}

// settleRecords are sent before every slice and do not count.
const settleRecords = 8

func (p *pair) start(s pairStart) (struct{}, error) {
	cert, err := s.Bundle.Certificate()
	if err != nil {
		return struct{}{}, err
	}
	roots, err := s.Bundle.Roots()
	if err != nil {
		return struct{}{}, err
	}
	client, server, err := host.Loopback()
	if err != nil {
		return struct{}{}, err
	}
	clientConfig := &tls.Config{RootCAs: roots, ServerName: pki.ServerName, MinVersion: tls.VersionTLS13}
	if s.Watch {
		p.watcher = wire.Watch(client, true)
		client, clientConfig.KeyLogWriter = p.watcher, p.watcher.KeyLog()
	}
	p.reader = tls.Client(client, clientConfig)
	p.writer = tls.Server(server, &tls.Config{
		Certificates: []tls.Certificate{cert}, MinVersion: tls.VersionTLS13, DynamicRecordSizingDisabled: true,
	})
	served := make(chan error, 1)
	go func() { served <- p.writer.Handshake() }()
	if err := errors.Join(p.reader.Handshake(), <-served); err != nil {
		return struct{}{}, err
	}
	// Content that is neither all zeros nor the same in every block.
	p.block, p.buffer = make([]byte, recordBytes), make([]byte, recordBytes)
	for i := range p.block {
		p.block[i] = byte(i * 31)
	}
	_, err = p.send(settleRecords)
	return struct{}{}, err
}

// send sends n records in one goroutine, reads them in this one, and gives the
// time from the first to the last.
func (p *pair) send(n int) (time.Duration, error) {
	written := make(chan error, 1)
	start := time.Now()
	go func() {
		for range n {
			if _, err := p.writer.Write(p.block); err != nil {
				written <- fmt.Errorf("the writing end: %w", err)
				_ = p.reader.NetConn().Close() // so that the reading end does not wait for ever
				return
			}
		}
		written <- nil
	}()
	for range n {
		if _, err := io.ReadFull(p.reader, p.buffer); err != nil {
			return 0, errors.Join(fmt.Errorf("the reading end: %w", err), p.writer.NetConn().Close(), <-written)
		}
	}
	elapsed := time.Since(start)
	p.perRecord = max(1, elapsed/time.Duration(n))
	return elapsed, <-written
}

// transfer sends as many records as went through in d at the rate of the
// slice before.
func (p *pair) transfer(d time.Duration) (transferReport, error) {
	n := max(1, int(d/p.perRecord))
	if _, err := p.send(settleRecords); err != nil {
		return transferReport{}, err
	}
	seen := p.seen()
	before := host.OwnUsage()
	elapsed, err := p.send(n)
	r := transferReport{Records: n, Elapsed: elapsed, Usage: host.OwnUsage().Sub(before)}
	// Full records with nothing between them: the type and the tag are 17
	// bytes of each (RFC 8446, 5.2).
	want := int64(n) * (wire.RecordHeaderBytes + recordBytes + 17)
	if got := p.seen() - seen; err == nil && p.watcher != nil && got != want {
		err = fmt.Errorf("the watcher saw %d bytes of records, want %d", got, want)
	}
	return r, err
}

// seen is the number of bytes that the watcher has seen arrive.
func (p *pair) seen() int64 {
	if p.watcher == nil {
		return 0
	}
	_, received := p.watcher.Bytes()
	return received
}
