package main

import (
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"math"
	"net"
	"os"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"cryptocost/experiments/internal/host"
	"cryptocost/experiments/internal/link"
	"cryptocost/experiments/internal/trial"
	"cryptocost/experiments/internal/wire"
)

func TestMain(m *testing.M) { os.Exit(host.RunTests(m, experiment().Roles)) }

// observed gives the exact observations of a slice by unit.
func observed(s trial.Slice) map[string]float64 {
	all := map[string]float64{}
	for _, t := range s.Tallies {
		for _, v := range t.Values {
			all[v.Unit] = v.Value
		}
	}
	return all
}

// expected is what RFC 9293, 8446, 5246 and 9000 give each kind: how often it
// waits until the response, and how often of them for TLS.
var expected = map[string]struct{ waits, roundTrips int }{
	"tls1.3-full": {3, 1}, "tls1.3-ticket": {3, 1}, "tls1.2-full": {4, 2}, "tls1.2-ticket": {3, 1},
	"tls1.3-hrr": {4, 2}, "tls1.3-hrr-control": {3, 1}, "tls1.3-x25519": {3, 1}, "tls1.3-rsa": {3, 1},
	"tcp": {2, 0}, "quic": {2, 1},
}

// windowBytes is the initial window of ten segments (RFC 6928) of the wire's
// MSS.
const windowBytes = 10 * 1448

// TestCases lets every case work once, but those on the further wires: what is
// observed is right, and no time is below what its waits take.
func TestCases(t *testing.T) {
	wires := map[string]link.Wire{none: {}}
	for _, w := range mainWires {
		wires[w.String()] = w
	}
	for _, c := range cases() {
		name, conn, ok := strings.Cut(strings.TrimPrefix(c.Name, "/wire="), "/conn=")
		w, here := wires[name]
		if !ok || !here {
			continue
		}
		t.Run(strings.TrimPrefix(c.Name, "/"), func(t *testing.T) {
			if c.Missing != "" {
				t.Skip(c.Missing)
			}
			s, err := c.Once(t.Context(), 0)
			if err != nil {
				t.Fatal(err)
			}
			kind, rest, _ := strings.Cut(conn, "/")
			want := expected[kind]
			checkTimes(t, s, kind, w, want.waits+furtherWaits(rest))
			saw := observed(s)
			if kind == "quic" {
				if len(saw) > 0 {
					t.Errorf("%v is observed", saw)
				}
				return
			}
			if saw["waits/op"] != float64(want.waits) || saw["round-trips/op"] != float64(want.roundTrips) {
				t.Errorf("%v waits, %v round trips; want %v", saw["waits/op"], saw["round-trips/op"], want)
			}
			checkSegments(t, saw["clienthello-segments/op"], kind, name)
			checkSizes(t, saw, kind, rest)
		})
	}
}

// furtherWaits is how often a client waits for the rest of a flight, by what
// follows the kind in a case's name.
func furtherWaits(rest string) int {
	if slices.Contains([]string{"chain=13.1KB", "chain=14.3KB", "chain=20KB", "chain=32KB"}, rest) {
		return 1
	}
	return 0
}

// checkTimes compares the times of a slice with those that waits take. On a
// wire with a delay the fastest connection must not have had time for one more,
// which a busy machine leaves to one of eight.
func checkTimes(t *testing.T, s trial.Slice, kind string, w link.Wire, waits int) {
	t.Helper()
	if s.Ops != visits || len(s.Latencies) != visits {
		t.Fatalf("%d connections in %v", s.Ops, s.Latencies)
	}
	trip := w.RoundTrip()
	if least := slices.Min(s.Latencies); least < time.Duration(waits)*trip || trip > 0 && least >= time.Duration(waits+1)*trip {
		t.Errorf("the fastest of %v took %v, want %d waits of %v", s.Latencies, least, waits, trip)
	}
	for name, without := range map[string]string{"connect": "quic", "tls": "tcp", "handshake": "tcp"} {
		want := visits
		if kind == without {
			want = 0
		}
		if times := s.Moments[name]; len(times) != want || want > 0 && slices.Min(times) < w.RoundTrip() {
			t.Errorf("%s: %v", name, times)
		}
	}
}

// checkSegments: Go's default ClientHello is longer than a segment of a wire.
func checkSegments(t *testing.T, segments float64, name, wire string) {
	t.Helper()
	want := 1.0
	switch {
	case name == "tcp" || wire == none || runtime.GOOS != "linux":
		want = 0 // not counted
	case slices.ContainsFunc(mainKinds, func(k kind) bool { return k.name == name }):
		want = 2
	}
	if segments != want {
		t.Errorf("the ClientHello took %v segments, want %v", segments, want)
	}
}

// checkSizes compares the sizes of what the server sends with the case.
func checkSizes(t *testing.T, saw map[string]float64, kind, rest string) {
	t.Helper()
	flight, certificate := saw["server-flight-B/op"], saw["certificate-B/op"]
	if full := kind != "tcp" && !strings.HasSuffix(kind, "-ticket"); full != (certificate > 0) || (kind != "tcp") != (flight > certificate) {
		t.Errorf("a flight of %v bytes, a Certificate message of %v", flight, certificate)
	}
	chain, ok := strings.CutPrefix(rest, "chain=")
	if !ok {
		return
	}
	for _, of := range chained {
		for _, c := range of.chains {
			want := float64(c.messageBytes)
			if kind == "tls1.2-full" {
				want -= 3
			}
			if of.kind.name == kind && c.name == chain && certificate != want {
				t.Errorf("a Certificate message of %v bytes, want %v", certificate, want)
			}
		}
	}
	if fits := furtherWaits(rest) == 0; fits != (flight <= windowBytes) {
		t.Errorf("a flight of %v bytes", flight)
	}
	const near = 110
	if edge := slices.Contains([]string{"13KB", "13.1KB", "14.2KB", "14.3KB"}, chain); edge != (math.Abs(flight-windowBytes) < near) {
		t.Errorf("a flight of %v bytes, near the window of %d: want %t", flight, windowBytes, edge)
	}
}

// TestWrongKind: a client refuses a server that is not what its kind says.
func TestWrongKind(t *testing.T) {
	full := mainKinds[0]
	bundle, err := full.cert()
	if err != nil {
		t.Fatal(err)
	}
	other, err := keys.Leaf("ecdsa-p256")
	if err != nil {
		t.Fatal(err)
	}
	overQUIC := full.config
	overQUIC.Protocol = "quic"
	for _, test := range []struct {
		name   string
		server config
		wrong  func(*clientStart)
		want   string
	}{
		{"version", full.config, func(s *clientStart) { s.Config.Version = tls.VersionTLS12 }, "negotiated TLS 1.3"},
		{"group", full.config, func(s *clientStart) { s.Config.Group = tls.CurveP256 }, "negotiated group"},
		{"retry", full.config, func(s *clientStart) { s.Config.HRR = true }, "HelloRetryRequest: false"},
		{"leaf", full.config, func(s *clientStart) { s.Leaf = other.Chain[0] }, "not that of the case"},
		{"root", full.config, func(s *clientStart) { s.Root = other.Public() }, "unknown authority"},
		{"group over QUIC", overQUIC, func(s *clientStart) { s.Config.Group = tls.CurveP256 }, "negotiated group"},
		{"root over QUIC", overQUIC, func(s *clientStart) { s.Root = other.Public() }, "unknown authority"},
	} {
		port, err := serve(serverStart{Config: test.server, Bundle: bundle, Host: loopback.address})
		if err != nil {
			t.Fatal(err)
		}
		s := clientStart{Config: test.server, Root: bundle.Public(), Leaf: bundle.Chain[0], Address: net.JoinHostPort(loopback.address, strconv.Itoa(port))}
		connect := func() error {
			c, err := newKindClient(s)
			if err == nil {
				_, err = c.connect(nil)
			}
			return err
		}
		if err := connect(); err != nil {
			t.Errorf("%s: the right kind: %v", test.name, err)
		}
		test.wrong(&s)
		if err := connect(); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: %v, want %q", test.name, err, test.want)
		}
	}
}

// TestCheck: a client accepts nothing but what its kind says.
func TestCheck(t *testing.T) {
	leaf := &x509.Certificate{Raw: []byte("leaf")}
	right := tls.ConnectionState{Version: tls.VersionTLS13, CurveID: tls.X25519, PeerCertificates: []*x509.Certificate{leaf}}
	c := client{config: config{Version: tls.VersionTLS13, Group: tls.X25519}, leaf: leaf.Raw}
	if err := c.check(right); err != nil {
		t.Errorf("the right connection: %v", err)
	}
	for name, wrong := range map[string]func(*tls.ConnectionState, *client){
		"version":             func(s *tls.ConnectionState, _ *client) { s.Version = tls.VersionTLS12 },
		"group":               func(s *tls.ConnectionState, _ *client) { s.CurveID = tls.CurveP256 },
		"retry":               func(s *tls.ConnectionState, _ *client) { s.HelloRetryRequest = true },
		"resumption":          func(s *tls.ConnectionState, _ *client) { s.DidResume = true },
		"no resumption":       func(_ *tls.ConnectionState, c *client) { c.Resume = true },
		"leaf":                func(_ *tls.ConnectionState, c *client) { c.leaf = []byte("other") },
		"missing certificate": func(s *tls.ConnectionState, _ *client) { s.PeerCertificates = nil },
		"longer chain": func(s *tls.ConnectionState, _ *client) {
			s.PeerCertificates = append(slices.Clone(s.PeerCertificates), leaf)
		},
	} {
		state, client := right, c
		wrong(&state, &client)
		if err := client.check(state); err == nil {
			t.Errorf("no error for another %s", name)
		}
	}
}

// exchange is a connection with a request that is noted and a response that is
// there.
type exchange struct {
	io.Reader
	bytes.Buffer
}

func (e *exchange) Read(p []byte) (int, error)  { return e.Reader.Read(p) }
func (e *exchange) Write(p []byte) (int, error) { return e.Buffer.Write(p) }

// TestAsk: what the server knows of the session must be what the client asks
// for, and request and response have the sizes that the program's comment says.
func TestAsk(t *testing.T) {
	for _, resume := range []bool{false, true} {
		for _, resumed := range []bool{false, true} {
			e := &exchange{Reader: bytes.NewReader(response(resumed))}
			c := client{config: config{Resume: resume}}
			_, err := c.ask(e, time.Now())
			if (err == nil) != (resume == resumed) {
				t.Errorf("resume %v, resumed at the server %v: %v", resume, resumed, err)
			}
			if sent, got := e.Buffer.Len(), len(response(resumed)); sent != 18 || got != 57 {
				t.Errorf("a request of %d bytes, a response of %d", sent, got)
			}
		}
	}
	short := &exchange{Reader: bytes.NewReader(response(false)[:20])}
	if _, err := (&client{}).ask(short, time.Now()); err == nil {
		t.Error("no error for half of a response")
	}
}

// TestSizes: the flight is the run of the server's records with its Certificate
// message, whatever it sends before or behind.
func TestSizes(t *testing.T) {
	record := func(fromClient bool, length int, messages ...wire.Message) wire.Record {
		return wire.Record{FromClient: fromClient, Length: length, Messages: messages}
	}
	hello := record(true, 300, wire.Message{Name: "clienthello", Bytes: 300})
	ended := record(true, 40, wire.Message{Name: "finished", Bytes: 36})
	answer := record(false, 100, wire.Message{Name: "serverhello", Bytes: 100})
	first, second := record(false, 600, wire.Message{Name: "certificate", Bytes: 600}),
		record(false, 90, wire.Message{Name: "certificate", Bytes: 50, Continued: true}, wire.Message{Name: "serverhellodone", Bytes: 4})
	finished, ticket := record(false, 53, wire.Message{Name: "finished", Bytes: 36}), record(false, 139, wire.Message{Name: "newsessionticket", Bytes: 122})
	retry := record(false, 88, wire.Message{Name: "helloretryrequest", Bytes: 88})
	for _, test := range []struct {
		name                string
		records             []wire.Record
		flight, certificate int
	}{
		{"TLS 1.2", []wire.Record{hello, answer, first, second, ended, finished, ticket}, 100 + 600 + 90 + 3*wire.RecordHeaderBytes, 650},
		{"a retry", []wire.Record{hello, retry, hello, answer, first, second, finished, ended, ticket}, 100 + 600 + 90 + 53 + 4*wire.RecordHeaderBytes, 650},
		{"a ticket behind the Finished", []wire.Record{hello, answer, first, second, finished, ticket, ended}, 100 + 600 + 90 + 53 + 4*wire.RecordHeaderBytes, 650},
		{"a resumed session", []wire.Record{hello, answer, finished, ended, ticket}, 100 + 53 + 2*wire.RecordHeaderBytes, 0},
	} {
		if flight, certificate, err := sizes(test.records); err != nil || flight != test.flight || certificate != test.certificate {
			t.Errorf("%s: a flight of %d bytes, a Certificate message of %d, %v; want %d and %d", test.name, flight, certificate, err, test.flight, test.certificate)
		}
	}
	if _, _, err := sizes([]wire.Record{hello, retry}); err == nil {
		t.Error("no error without a ServerHello")
	}
}

// TestOneOf: a note about a failed slice is one line, whatever failed.
func TestOneOf(t *testing.T) {
	reset := errors.New("connection reset")
	for _, test := range []struct {
		errs []error
		want string
	}{
		{[]error{nil, nil}, "<nil>"},
		{[]error{nil, reset}, "connection reset"},
		{[]error{nil, reset, io.EOF, io.EOF}, "3 connections failed, the first: connection reset"},
	} {
		if got := fmt.Sprint(oneOf(test.errs)); got != test.want {
			t.Errorf("%v: %q, want %q", test.errs, got, test.want)
		}
	}
}

// TestPacing: a slice is paced alike with and without a delay, since one is
// compared with the other.
func TestPacing(t *testing.T) {
	for _, name := range []string{"/wire=none/conn=tcp", "/wire=0+0ms/conn=tcp"} {
		list := cases()
		c := list[slices.IndexFunc(list, func(c trial.Case) bool { return c.Name == name })]
		if c.Missing != "" {
			continue
		}
		s, err := c.Once(t.Context(), 0)
		if err != nil {
			t.Fatal(err)
		}
		if least := visits * gap; s.Elapsed < least {
			t.Errorf("%s: %d connections in %v, want at least %v", name, s.Ops, s.Elapsed, least)
		}
	}
}

// TestNames: the cases have names of their own, and those that others rely on.
func TestNames(t *testing.T) {
	seen := map[string]bool{}
	for _, c := range cases() {
		if seen[c.Name] {
			t.Errorf("%s comes twice", c.Name)
		}
		seen[c.Name] = true
		if base, ok := strings.CutSuffix(c.Name, twin); ok && (!seen[base] || !c.Repeats) {
			t.Errorf("%s is the twin of no case", c.Name)
		}
	}
	for _, name := range []string{"/wire=0+50ms/conn=tls1.3-full", "/wire=0+50ms/conn=tls1.3-full/twin=b", "/wire=100+100ms/conn=tls1.2-ticket",
		"/wire=none/conn=quic", "/wire=25+25ms/conn=tls1.3-full/chain=32KB", "/wire=100+100ms/conn=tls1.3-hrr-control", "/check-wire=5+5ms"} {
		if !seen[name] {
			t.Errorf("no case %s", name)
		}
	}
}
