package main

import (
	"bytes"
	"context"
	"encoding/pem"
	"io"
	"net"
	"os"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/iotest"
	"time"

	"cryptocost/experiments/internal/host"
)

// transcript is what s_server of OpenSSL 3.0 writes over three connections,
// with the order that its two ways of writing give: early data of the second
// comes before the last words about the first.
const transcript = `Using default temp DH parameters
ACCEPT 127.0.0.1:40123
No early data received
-----BEGIN SSL SESSION PARAMETERS-----
MIGJAgEBAgIDBAQCEwIEIIn6FNSqANMKHwssfzRn89WlIIz8rImAX4IljbHmDRwW
-----END SSL SESSION PARAMETERS-----
CIPHER is TLS_AES_256_GCM_SHA384
GET /early?n=000001 HTTP/1.0
DONE
GET /early?n=000002 HTTP/1.0
shutting down SSL
CONNECTION CLOSED
Early data received:

End of early data
Reused session-id
DONE
ERROR
4007BD11387F0000:error:0A000126:SSL routines:ssl3_read_n:unexpected eof while reading:../ssl/record/rec_layer_s3.c:318:
GET /early?n=000002 HTTP/1.0
Error reading early data
GET /early?n=000003`

// connections gives what split makes of an output, without times.
func connections(output io.Reader) (list []served, lines []string) {
	s := &sServer{}
	s.changed = sync.NewCond(&s.mu)
	s.split(output, func(line string) { lines = append(lines, line) })
	for _, c := range s.ended {
		for r, at := range c.Requests {
			c.Requests[r] = make([]time.Duration, len(at))
		}
	}
	return s.ended, lines
}

func TestSplit(t *testing.T) {
	want := []served{
		{Said: said{saysNoEarly}, Requests: map[string][]time.Duration{requestLine(1): {0}}},
		{Said: said{saysEarlyReceived, saysServerReused}, Requests: map[string][]time.Duration{requestLine(2): {0}}},
		{Requests: map[string][]time.Duration{}},
		{
			Said:     said{"4007BD11387F0000:error:0A000126:SSL routines:ssl3_read_n:unexpected eof while reading:../ssl/record/rec_layer_s3.c:318:"},
			Requests: map[string][]time.Duration{requestLine(2): {0}},
		},
	}
	for name, reader := range map[string]func(io.Reader) io.Reader{
		"at once":      func(r io.Reader) io.Reader { return r },
		"byte by byte": iotest.OneByteReader,
		"in halves":    iotest.HalfReader,
	} {
		got, lines := connections(reader(strings.NewReader(transcript)))
		if !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
		if len(lines) != strings.Count(transcript, "\n") {
			t.Errorf("%s: %d lines", name, len(lines))
		}
	}
}

// FuzzSplit checks that no output of s_server makes a request out of nothing,
// loses one, or is kept where it does not tell what a connection is.
func FuzzSplit(f *testing.F) {
	f.Add(transcript)
	f.Add("DONE\nDONE\nGET /early?n=1\nERROR\n")
	f.Fuzz(func(t *testing.T, output string) {
		list, _ := connections(strings.NewReader(output))
		ends, found := 0, 0
		var closed []string // lines up to the last end
		lines := strings.Split(output, "\n")
		for i, line := range lines[:len(lines)-1] {
			if line == "DONE" || line == "ERROR" || line == "Error reading early data" {
				ends++
				closed = lines[:i]
			}
		}
		if len(list) != ends {
			t.Fatalf("%d connections, %d ends", len(list), ends)
		}
		for _, c := range list {
			for _, at := range c.Requests {
				found += len(at)
			}
			for _, line := range c.Said {
				if !tells(line) {
					t.Fatalf("kept %q", line)
				}
			}
		}
		want := 0
		for _, line := range closed {
			if strings.HasPrefix(line, requestBeginning) {
				want++
			}
		}
		if found != want {
			t.Fatalf("%d requests, want %d", found, want)
		}
	})
}

func TestFirstSession(t *testing.T) {
	one := pem.EncodeToMemory(&pem.Block{Type: "SSL SESSION PARAMETERS", Bytes: bytes.Repeat([]byte{1}, 900)})
	two := pem.EncodeToMemory(&pem.Block{Type: "SSL SESSION PARAMETERS", Bytes: bytes.Repeat([]byte{2}, 900)})
	for name, c := range map[string]struct {
		written []byte
		want    []byte
		fails   bool
	}{
		"none":        {nil, nil, false},
		"one":         {one, one, false},
		"two":         {slices.Concat(one, two), one, false},
		"part of one": {one[:len(one)/2], nil, true},
	} {
		for _, r := range []io.Reader{bytes.NewReader(c.written), iotest.OneByteReader(bytes.NewReader(c.written))} {
			got, err := firstSession(r)
			if (err != nil) != c.fails || err == nil && !bytes.Equal(got, c.want) {
				t.Errorf("%s: %q, %v", name, got, err)
			}
		}
	}
}

// FuzzRecords checks that records are cut out of the bytes as they are.
func FuzzRecords(f *testing.F) {
	f.Add([]byte{22, 3, 1, 0, 2, 7, 8, 23, 3, 3, 0, 1, 9, 23, 3})
	f.Add([]byte{23, 3, 3, 255, 255})
	f.Fuzz(func(t *testing.T, b []byte) {
		var again []byte
		for _, r := range records(b) {
			n := len(r.payload)
			again = append(again, r.kind, b[len(again)+1], b[len(again)+2], byte(n>>8), byte(n))
			again = append(again, r.payload...)
		}
		if !bytes.HasPrefix(b, again) {
			t.Fatalf("%x is not the beginning of %x", again, b)
		}
		if _, err := helloExtensions(b); err == nil && len(records(b)) == 0 {
			t.Fatal("a ClientHello without a record")
		}
	})
}

// TestFirstFlight checks where a first flight ends: behind its first protected
// record, or, without one, where the client falls silent.
func TestFirstFlight(t *testing.T) {
	hello := []byte{recordHandshake, 3, 1, 0, 1, 1}
	protected := []byte{recordApplicationData, 3, 3, 0, 2, 5, 6}
	for name, c := range map[string]struct{ parts [][]byte }{
		"early data": {[][]byte{hello, protected[:4], protected[4:]}},
		"none":       {[][]byte{hello}},
	} {
		client, relay := net.Pipe()
		var want []byte
		go func() {
			for _, part := range c.parts {
				_, _ = client.Write(part) // a failure shows in what is read
			}
		}()
		for _, part := range c.parts {
			want = append(want, part...)
		}
		got, err := firstFlight(relay, time.Second)
		if err != nil || !bytes.Equal(got, want) {
			t.Errorf("%s: %x, %v", name, got, err)
		}
		_, _ = client.Close(), relay.Close()
	}
	client, relay := net.Pipe()
	defer client.Close()
	if got, err := firstFlight(relay, time.Millisecond); err == nil {
		t.Errorf("of a client that sends nothing: %x", got)
	}
}

// TestCapturedFlight checks what is said of a captured flight: without early
// data in it, the request is not there.
func TestCapturedFlight(t *testing.T) {
	if reason := missingOpenSSL(); reason != "" {
		t.Skip(reason)
	}
	g := &host.Group{}
	defer g.Close()
	o, err := observe(t.Context(), g)
	if err != nil {
		t.Fatal(err)
	}
	if !o.requestInFirstFlight() {
		t.Fatal("no request in the flight that has one")
	}
	list := records(o.strict.flight)
	withoutLast := *o
	withoutLast.strict.flight = o.strict.flight[:len(o.strict.flight)-len(list[len(list)-1].payload)-5]
	otherRequest := *o
	otherRequest.strict.request += "?"
	for name, wrong := range map[string]*observation{"no early data": &withoutLast, "another request": &otherRequest, "nothing": {}} {
		if wrong.requestInFirstFlight() {
			t.Errorf("%s: a request is found", name)
		}
	}
}

// TestErrors checks that openssl that fails is told with its reason.
func TestErrors(t *testing.T) {
	if reason := missingOpenSSL(); reason != "" {
		t.Skip(reason)
	}
	bundle, err := certificate()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := (errand{Address: "127.0.0.1:1", Root: bundle.Root, Request: requestLine(1)}).run(); err == nil || !strings.Contains(err.Error(), "refused") {
		t.Errorf("nobody listens: %v", err)
	}
	if _, err := startSServer(bundle, "198.51.100.1", true); err == nil || !strings.Contains(err.Error(), "bind") { // RFC 5737: nobody's
		t.Errorf("another's address: %v", err)
	}
	other, err := keys.Leaf("ecdsa-p256")
	if err != nil {
		t.Fatal(err)
	}
	s, err := startSServer(bundle, "127.0.0.1", true)
	if err != nil {
		t.Fatal(err)
	}
	defer s.stop()
	e := errand{Address: net.JoinHostPort("127.0.0.1", s.port), Root: other.Root, Request: requestLine(2)}
	if _, err := e.run(); err == nil || !strings.Contains(err.Error(), "certificate verify failed") {
		t.Errorf("another root: %v", err)
	}
}

// TestServerEndsWithRole checks that s_server does not outlive the process
// that started it.
func TestServerEndsWithRole(t *testing.T) {
	if reason := missingOpenSSL(); reason != "" {
		t.Skip(reason)
	}
	if _, err := os.Stat("/proc/self/stat"); err != nil {
		t.Skip("only Linux kills a process with the one that started it")
	}
	g := &host.Group{}
	p, err := onLoopback(t.Context(), g)
	if err != nil {
		g.Close()
		t.Fatal(err)
	}
	address, err := p.address(t.Context(), "openssl", true)
	g.Close()
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), connectionTime)
	defer cancel()
	for ctx.Err() == nil {
		conn, err := net.Dial("tcp", address)
		if err != nil {
			return
		}
		_ = conn.Close()
		time.Sleep(10 * time.Millisecond)
	}
	t.Errorf("s_server still listens %v after the role has ended", connectionTime)
}
