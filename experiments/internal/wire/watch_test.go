package wire

import (
	"bytes"
	"crypto/tls"
	"errors"
	"io"
	"math/rand/v2"
	"net"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"cryptocost/experiments/internal/pki"
)

// garbage is a stream of bytes without any meaning.
func garbage(seed uint64, n int) []byte {
	source := rand.New(rand.NewPCG(seed, 0))
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(source.Uint32())
	}
	return b
}

// TestGarbage sends garbage both ways at once, in pieces of many sizes, and
// expects it at the other ends.
func TestGarbage(t *testing.T) {
	near, far := net.Pipe()
	w := Watch(near, true)
	sent, received := garbage(1, 300_000), garbage(2, 300_000)
	send := func(conn net.Conn, b []byte) error {
		for n := 1; len(b) > 0; n = n*3%40_009 + 1 {
			n = min(n, len(b))
			if _, err := conn.Write(b[:n]); err != nil {
				return err
			}
			b = b[n:]
		}
		return nil
	}
	receive := func(conn net.Conn, want []byte) error {
		got := make([]byte, len(want))
		for at, n := 0, 1; at < len(got); n = n*7%50_021 + 1 {
			read, err := conn.Read(got[at:min(at+n, len(got))])
			if at += read; err != nil {
				return err
			}
		}
		if !bytes.Equal(got, want) {
			return errors.New("other bytes arrived than were sent")
		}
		return nil
	}
	errs := make(chan error, 4)
	go func() { errs <- send(w, sent) }()
	go func() { errs <- receive(far, sent) }()
	go func() { errs <- send(far, received) }()
	go func() { errs <- receive(w, received) }()
	for range cap(errs) {
		// Meanwhile anybody may ask.
		if _, err := w.Records(); err != nil && !strings.Contains(err.Error(), "read record") {
			t.Error(err)
		}
		_, _ = w.Bytes()
		if err := <-errs; err != nil {
			t.Error(err)
		}
	}
	if records, err := w.Records(); err == nil {
		t.Errorf("garbage has %d records", len(records))
	}
}

// TestWriters has several goroutines write whole records at once: they arrive
// in the order that was noted.
func TestWriters(t *testing.T) {
	near, far := net.Pipe()
	w := Watch(near, true)
	const writers, each = 4, 50
	var group sync.WaitGroup
	for i := range writers {
		group.Go(func() {
			for range each {
				alert := []byte{recordAlert, 3, 3, 0, 2, 1, byte(i)}
				if _, err := w.Write(alert); err != nil {
					t.Error(err)
				}
			}
		})
	}
	got := make([]byte, writers*each*7)
	if _, err := io.ReadFull(far, got); err != nil {
		t.Fatal(err)
	}
	group.Wait()
	if len(w.cut) != writers*each {
		t.Fatalf("%d records, want %d", len(w.cut), writers*each)
	}
	for i, f := range w.cut {
		if sender := got[7*i+6]; f.payload[1] != sender {
			t.Fatalf("record %d was sent by writer %d, and noted as one of %d", i+1, sender, f.payload[1])
		}
	}
}

// An ending is a connection whose only bytes come with an error.
type ending struct {
	net.Conn
	bytes []byte
	err   error
}

func (e *ending) Read(p []byte) (int, error) {
	n := copy(p, e.bytes)
	e.bytes = e.bytes[n:]
	return n, e.err
}

// TestEnd expects an error behind the bytes that came with it, and only once
// where it passes.
func TestEnd(t *testing.T) {
	w := Watch(&ending{bytes: []byte("four"), err: io.ErrUnexpectedEOF}, true)
	if n, err := w.Read(nil); n != 0 || err != nil {
		t.Errorf("read %d bytes of none, %v", n, err)
	}
	buf := make([]byte, 3)
	for _, want := range []struct {
		text string
		err  error
	}{{"fou", nil}, {"r", io.ErrUnexpectedEOF}, {"", io.ErrUnexpectedEOF}} {
		if n, err := w.Read(buf); string(buf[:n]) != want.text || err != want.err {
			t.Errorf("read %q, %v, want %q, %v", buf[:n], err, want.text, want.err)
		}
	}
	near, far := net.Pipe()
	w = Watch(near, true)
	if err := w.SetReadDeadline(time.Now()); err != nil {
		t.Fatal(err)
	}
	if n, err := w.Read(buf); n != 0 || !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("read %d bytes, %v behind the deadline", n, err)
	}
	if err := w.SetReadDeadline(time.Time{}); err != nil {
		t.Fatal(err)
	}
	go func() { _, _ = far.Write([]byte("on")) }()
	if n, err := w.Read(buf); string(buf[:n]) != "on" || err != nil {
		t.Errorf("read %q, %v without a deadline", buf[:n], err)
	}
}

// records makes n records of a type and size.
func records(n int, kind uint8, payload int) []byte {
	record := append([]byte{kind, 3, 3, byte(payload >> 8), byte(payload)}, make([]byte, payload)...)
	return bytes.Repeat(record, n)
}

// TestKept expects what is kept to end, but not what is counted.
func TestKept(t *testing.T) {
	for _, test := range []struct {
		name   string
		stream []byte
		kept   int // bytes of payloads
		cut    int
		err    string
	}{
		{"data", records(100, recordApplicationData, 16<<10), 64 << 10, 100, "no ServerHello"},
		{"handshake", records(100, recordHandshake, 16<<10), 128 << 10, 100, "not kept"},
		{"empty records", records(5000, recordChangeCipherSpec, 0), 0, 4096, "record 1"},
		{"whole alerts", records(5000, recordAlert, 2), 2 * 4096, 4096, "more than the 4096"},
	} {
		var c cutter
		w := Watch(nil, true)
		w.note(&c, true, test.stream)
		kept := 0
		for _, f := range w.cut {
			kept += len(f.payload)
		}
		if kept != test.kept || len(w.cut) != test.cut || c.whole != int64(len(test.stream)) {
			t.Errorf("%s: kept %d bytes of %d records and counted %d, want %d of %d and %d", test.name, kept, len(w.cut), c.whole, test.kept, test.cut, len(test.stream))
		}
		if _, err := w.Records(); err == nil || !strings.Contains(err.Error(), test.err) {
			t.Errorf("%s: %v, want %q", test.name, err, test.err)
		}
	}
}

// FuzzCutter cuts a stream at once and in pieces: the records are the same,
// and have all its bytes but those of a record that has not ended.
func FuzzCutter(f *testing.F) {
	f.Add(records(3, recordHandshake, 30), uint(4))
	f.Add(append(records(1, recordApplicationData, 0), 23, 3, 3, 255), uint(1))
	f.Add(append(records(5, recordApplicationData, 20_000), records(9, recordAlert, 20_000)...), uint(999))
	f.Fuzz(func(t *testing.T, stream []byte, size uint) {
		cut := func(size int) (joined []byte, list []fragment) {
			var c cutter
			for at := 0; at < len(stream); at += size {
				c.cut(stream[at:min(at+size, len(stream))], func(f fragment) { list = append(list, f) })
			}
			for _, f := range list {
				joined = append(joined, f.header[:]...)
				if f.payload == nil {
					joined = append(joined, stream[len(joined):len(joined)+f.length()]...)
				}
				joined = append(joined, f.payload...)
			}
			if c.whole != int64(len(joined)) {
				t.Errorf("whole records of %d bytes, counted %d", len(joined), c.whole)
			}
			return joined, list
		}
		joined, list := cut(max(1, len(stream)))
		pieces, listOfPieces := cut(int(1 + size%40_000))
		if !bytes.Equal(joined, pieces) || len(list) != len(listOfPieces) {
			t.Errorf("%d records of %d bytes at once, %d of %d in pieces", len(list), len(joined), len(listOfPieces), len(pieces))
		}
		if !bytes.HasPrefix(stream, joined) {
			t.Error("the records are not what was cut")
		}
		rest := stream[len(joined):]
		if len(rest) >= RecordHeaderBytes && len(rest) >= RecordHeaderBytes+int(rest[3])<<8+int(rest[4]) {
			t.Errorf("a whole record of %d bytes is left over", len(rest))
		}
	})
}

// BenchmarkCutter is the cost of cutting a record of a handshake, which is
// kept, and of a bulk transfer, which is counted.
func BenchmarkCutter(b *testing.B) {
	for _, bench := range []struct {
		name   string
		record []byte
	}{
		{"record=handshake", records(1, recordHandshake, 500)},
		{"record=data", records(1, recordApplicationData, 16<<10+17)},
	} {
		b.Run(bench.name, func(b *testing.B) {
			b.SetBytes(int64(len(bench.record)))
			b.ReportAllocs()
			var c cutter
			for b.Loop() {
				if bench.record[0] == recordHandshake {
					c.kept = 0
				}
				c.cut(bench.record, func(fragment) {})
			}
		})
	}
}

// BenchmarkWatcher is a transfer over TLS 1.3 with and without a watcher at
// the reading end.
func BenchmarkWatcher(b *testing.B) {
	var store pki.Store
	bundle, err := store.SelfSigned("ecdsa-p256")
	if err != nil {
		b.Fatal(err)
	}
	cert, err := bundle.Certificate()
	if err != nil {
		b.Fatal(err)
	}
	roots, err := bundle.Roots()
	if err != nil {
		b.Fatal(err)
	}
	for _, watch := range []bool{false, true} {
		b.Run(map[bool]string{false: "watch=no", true: "watch=yes"}[watch], func(b *testing.B) {
			listener, err := net.Listen("tcp", "127.0.0.1:0")
			if err != nil {
				b.Fatal(err)
			}
			defer listener.Close()
			raw, err := net.Dial("tcp", listener.Addr().String())
			if err != nil {
				b.Fatal(err)
			}
			defer raw.Close()
			accepted, err := listener.Accept()
			if err != nil {
				b.Fatal(err)
			}
			ended := make(chan struct{})
			go func() {
				defer close(ended)
				server := tls.Server(accepted, &tls.Config{Certificates: []tls.Certificate{cert}})
				for block := make([]byte, 16<<10); err == nil; {
					_, err = server.Write(block) // until the reader has enough
				}
			}()
			var conn net.Conn = raw
			if watch {
				conn = Watch(raw, true)
			}
			client := tls.Client(conn, &tls.Config{RootCAs: roots, ServerName: pki.ServerName})
			buf := make([]byte, 16<<10)
			b.SetBytes(int64(len(buf)))
			for b.Loop() {
				if _, err := io.ReadFull(client, buf); err != nil {
					b.Fatal(err)
				}
			}
			_ = raw.Close()
			_ = accepted.Close()
			<-ended
		})
	}
}
