package main

import (
	"bufio"
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"time"

	"cryptocost/experiments/internal/host"
	"cryptocost/experiments/internal/pki"
	"cryptocost/experiments/internal/trial"
	"cryptocost/experiments/internal/wire"
)

// replays are what watching itself does, over bytes from memory: what differs
// between two of them is the watcher's and nobody else's.
var replays = []string{
	"/of=handshake/watch=no",
	"/of=handshake/watch=yes",   // kept, as in every watched connection
	"/of=handshake/watch=named", // and decrypted and named behind its end
	"/of=data/watch=no",         // full records, read ahead as a watcher does
	"/of=data/watch=yes",        // behind those that are kept: cut and counted
}

// replayCases measure them in one process.
func replayCases() []trial.Case {
	var list []trial.Case
	for _, what := range replays {
		list = append(list, trial.Case{Name: "/cost=replay" + what, Start: func(ctx context.Context, g *host.Group) (trial.Measure, error) {
			bundle, err := keys.SelfSigned("ecdsa-p256")
			if err != nil {
				return nil, err
			}
			p, err := g.Process(ctx, "replayer", host.Spec{Role: "replayer"}, func(p *host.Process) error {
				return p.Call(ctx, "start", bundle, nil)
			})
			if err != nil {
				return nil, err
			}
			return func(ctx context.Context, d time.Duration) (trial.Slice, error) {
				var r transferReport
				err := p.Call(ctx, "replay", replayOrder{What: what, D: d}, &r)
				return trial.Slice{
					Ops: r.Records, Elapsed: r.Elapsed, Involuntary: r.Usage.Involuntary,
					Quantities: []trial.Quantity{{Unit: "cpu-ns/record", Sum: float64(r.Usage.CPU), Per: float64(r.Records)}},
				}, err
			}, nil
		}})
	}
	return list
}

// A replayOrder asks for one of the replays for about d.
type replayOrder struct {
	What string        `json:"what"`
	D    time.Duration `json:"d"`
}

// A replayer is the role replayer.
type replayer struct {
	flights []flight // of a real connection
	records int      // in them
	secrets []byte
	full    []byte                   // some full records of application data
	buffer  []byte                   // to read into
	perRun  map[string]time.Duration // in the latest replay
}

// A flight is what one end sent before the other answered.
type flight struct {
	fromClient bool
	bytes      []byte
}

// tape is a client's end of a connection that remembers what crosses it.
type tape struct {
	net.Conn
	flights []flight
}

func (t *tape) note(fromClient bool, p []byte) {
	if last := len(t.flights) - 1; last < 0 || t.flights[last].fromClient != fromClient {
		t.flights = append(t.flights, flight{fromClient: fromClient})
	}
	last := &t.flights[len(t.flights)-1]
	last.bytes = append(last.bytes, p...)
}

func (t *tape) Read(p []byte) (int, error) {
	n, err := t.Conn.Read(p)
	t.note(false, p[:n])
	return n, err
}

func (t *tape) Write(p []byte) (int, error) {
	t.note(true, p)
	return t.Conn.Write(p)
}

// memory is a connection from which the bytes of left can be read, and what is
// written to it is gone.
type memory struct {
	net.Conn // nil: for the methods that nobody calls
	left     []byte
}

func (m *memory) Read(p []byte) (int, error) {
	if len(m.left) == 0 {
		return 0, io.EOF
	}
	n := copy(p, m.left)
	m.left = m.left[n:]
	return n, nil
}

func (m *memory) Write(p []byte) (int, error) { return len(p), nil }

func newReplayer() map[string]host.Handler {
	r := &replayer{perRun: map[string]time.Duration{}}
	return map[string]host.Handler{"start": host.Handle(r.start), "replay": host.Handle(r.replay)}
}

// start records a full handshake of TLS 1.3 with a request and its response.
func (r *replayer) start(bundle pki.Bundle) (struct{}, error) {
	cert, err := bundle.Certificate()
	if err != nil {
		return struct{}{}, err
	}
	roots, err := bundle.Roots()
	if err != nil {
		return struct{}{}, err
	}
	client, server, err := host.Loopback()
	if err != nil {
		return struct{}{}, err
	}
	defer client.Close()
	defer server.Close()
	recorded := &tape{Conn: client}
	var secrets bytes.Buffer
	answering := tls.Server(server, &tls.Config{Certificates: []tls.Certificate{cert}, MinVersion: tls.VersionTLS13})
	asking := tls.Client(recorded, &tls.Config{RootCAs: roots, ServerName: pki.ServerName, KeyLogWriter: &secrets})
	content := make([]byte, len(request))
	served := make(chan error, 1)
	go func() {
		_, err := io.ReadFull(answering, content)
		if err == nil {
			_, err = answering.Write(content)
		}
		served <- err
	}()
	_, err = io.WriteString(asking, request)
	if err == nil {
		_, err = io.ReadFull(asking, make([]byte, len(request)))
	}
	if err := errors.Join(err, <-served); err != nil {
		return struct{}{}, fmt.Errorf("record a connection: %w", err)
	}
	r.flights, r.secrets = recorded.flights, secrets.Bytes()
	r.buffer = make([]byte, recordBytes)
	record := append([]byte{23, 3, 3, (recordBytes + 17) >> 8, (recordBytes + 17) & 0xff}, make([]byte, recordBytes+17)...)
	r.full = bytes.Repeat(record, fullRecords)
	watcher, err := r.watched(true)
	if err != nil {
		return struct{}{}, err
	}
	list, err := watcher.Records()
	r.records = len(list)
	return struct{}{}, err
}

// fullRecords are replayed at a time, many times as many as a watcher keeps.
const fullRecords = 256

// replay makes as many runs as took d at the pace of those before.
func (r *replayer) replay(o replayOrder) (transferReport, error) {
	run, ok := map[string]func() (int, error){
		replays[0]: func() (int, error) { m := &memory{}; return r.records, r.handshake(m, m) },
		replays[1]: func() (int, error) { _, err := r.watched(false); return r.records, err },
		replays[2]: r.named,
		replays[3]: func() (int, error) {
			return fullRecords, r.read(bufio.NewReaderSize(&memory{left: r.full}, wire.ReadBytes), len(r.full))
		},
		replays[4]: func() (int, error) {
			return fullRecords, r.read(wire.Watch(&memory{left: r.full}, true), len(r.full))
		},
	}[o.What]
	if !ok {
		return transferReport{}, fmt.Errorf("no replay %q", o.What)
	}
	n := 1
	if before := r.perRun[o.What]; before > 0 {
		n = max(1, int(o.D/before))
	}
	var report transferReport
	before, start := host.OwnUsage(), time.Now()
	for range n {
		records, err := run()
		if err != nil {
			return report, fmt.Errorf("replay %s: %w", o.What, err)
		}
		report.Records += records
	}
	report.Elapsed, report.Usage = time.Since(start), host.OwnUsage().Sub(before)
	r.perRun[o.What] = max(1, report.Elapsed/time.Duration(n))
	return report, nil
}

// handshake lets the recorded connection cross conn, which is over under.
func (r *replayer) handshake(conn net.Conn, under *memory) error {
	for _, f := range r.flights {
		if f.fromClient {
			if _, err := conn.Write(f.bytes); err != nil {
				return err
			}
			continue
		}
		under.left = f.bytes
		if err := r.read(conn, len(f.bytes)); err != nil {
			return err
		}
	}
	return nil
}

// read reads n bytes.
func (r *replayer) read(from io.Reader, n int) error {
	for n > 0 {
		got, err := from.Read(r.buffer)
		if err != nil {
			return err
		}
		n -= got
	}
	return nil
}

// watched lets the connection cross a watcher, with its secrets or without.
func (r *replayer) watched(secrets bool) (*wire.Watcher, error) {
	m := &memory{}
	w := wire.Watch(m, true)
	if secrets {
		if _, err := w.KeyLog().Write(r.secrets); err != nil {
			return nil, err
		}
	}
	return w, r.handshake(w, m)
}

// named does that and names the records.
func (r *replayer) named() (int, error) {
	w, err := r.watched(true)
	if err != nil {
		return 0, err
	}
	list, err := w.Records()
	if err == nil && len(list) != r.records {
		err = fmt.Errorf("%d records, want %d", len(list), r.records)
	}
	return len(list), err
}
