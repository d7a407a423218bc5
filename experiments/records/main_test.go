package main

import (
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"cryptocost/data"
	"cryptocost/experiments/internal/host"
	"cryptocost/experiments/internal/trial"
	"cryptocost/experiments/internal/wire"
)

func TestMain(m *testing.M) { os.Exit(host.RunTests(m, experiment().Roles)) }

// exact gives an exact quantity of a slice, -1 if it has none.
func exact(s trial.Slice, unit string) float64 {
	for _, tally := range s.Tallies {
		for _, v := range tally.Values {
			if v.Unit == unit {
				return v.Value
			}
		}
	}
	return -1
}

// A handshake is what the standards, and where they leave a choice Go 1.26,
// say of a kind.
type handshake struct {
	records    string // c and s: from client and server
	roundTrips float64
}

// handshakes are the kinds: RFC 8446, 2, 4.1.4 and D.4 (ChangeCipherSpec for
// middleboxes), and RFC 5246, 7.3 with RFC 5077, 3.1. Go sends each message in a
// record of its own, and tickets of TLS 1.3 behind its Finished message.
var handshakes = map[string]handshake{
	"1.3 full": {"c clienthello, s serverhello, s changecipherspec, s encryptedextensions, s certificate, s certificateverify, " +
		"s finished, s newsessionticket, c changecipherspec, c finished, c request, s response", 1},
	"1.3 ticket": {"c clienthello, s serverhello, s changecipherspec, s encryptedextensions, s finished, s newsessionticket, " +
		"c changecipherspec, c finished, c request, s response", 1},
	"1.3 hrr": {"c clienthello, s helloretryrequest, s changecipherspec, c changecipherspec, c clienthello, s serverhello, " +
		"s encryptedextensions, s certificate, s certificateverify, s finished, s newsessionticket, c finished, c request, s response", 2},
	"1.2 full": {"c clienthello, s serverhello, s certificate, s serverkeyexchange, s serverhellodone, c clientkeyexchange, " +
		"c changecipherspec, c finished, s newsessionticket, s changecipherspec, s finished, c request, s response", 2},
	"1.2 ticket": {"c clienthello, s serverhello, s newsessionticket, s changecipherspec, s finished, " +
		"c changecipherspec, c finished, c request, s response", 1},
}

// suffixes are the parts of a case with these records.
func (h handshake) suffixes() []string {
	var list []string
	for i, r := range strings.Split(h.records, ", ") {
		from, name, _ := strings.Cut(r, " ")
		list = append(list, fmt.Sprintf("/record=%02d-%s-%s", i+1, map[string]string{"c": "client", "s": "server"}[from], name))
	}
	return list
}

// axis gives the value of a key in a case's name.
func axis(name, key string) string {
	_, rest, _ := strings.Cut(name, "/"+key+"=")
	value, _, _ := strings.Cut(rest, "/")
	return value
}

// TestCases lets every case work for a slice.
func TestCases(t *testing.T) {
	for _, c := range cases() {
		t.Run(c.Name, func(t *testing.T) {
			if c.Missing != "" {
				t.Skip(c.Missing)
			}
			s, err := c.Once(t.Context(), 5*time.Millisecond)
			if err != nil {
				t.Fatal(err)
			}
			switch {
			case strings.HasPrefix(c.Name, "/check="):
				want := 1.0
				if c.Name == "/check=tlskyber-switch-has-effect" {
					want = 0 // gone since Go 1.24
				}
				if got := exact(s, data.YesUnit); got != want {
					t.Errorf("observed %v, want %v", got, want)
				}
			case strings.HasPrefix(c.Name, "/cost="):
				quantities := 3
				if strings.HasPrefix(c.Name, "/cost=replay") {
					quantities = 1
				}
				if s.Ops < 1 || s.Elapsed <= 0 || len(s.Quantities) != quantities {
					t.Errorf("%+v", s)
				}
				for _, q := range s.Quantities {
					if q.Sum <= 0 || q.Per <= 0 {
						t.Errorf("%s: %v per %v", q.Unit, q.Sum, q.Per)
					}
				}
			case strings.HasPrefix(c.Name, "/client=openssl"):
				// With one share of 32 bytes, not of 1216.
				if got := exact(s, "clienthello-B/op"); got < 150 || got > 500 {
					t.Errorf("a ClientHello of %v bytes", got)
				}
			default:
				testHandshake(t, c.Name, s)
			}
		})
	}
}

// testHandshake checks the records of a slice.
func testHandshake(t *testing.T, name string, s trial.Slice) {
	if s.Ops < 1 || len(s.Latencies) != s.Ops || s.Elapsed < 5*time.Millisecond {
		t.Errorf("%d operations with %d latencies in %v", s.Ops, len(s.Latencies), s.Elapsed)
	}
	want := handshakes[axis(name, "tls")+" "+axis(name, "kind")]
	var suffixes []string
	sizes := map[string]float64{}
	total := 0.0
	for _, p := range s.Parts {
		suffixes = append(suffixes, p.Suffix)
		record := p.Suffix[len("/record=01-"):]
		sizes[record] = exact(p.Slice, "record-B/op")
		times := p.Slice.Moments[sinceConnect]
		if p.Slice.Ops != s.Ops || len(times) != s.Ops || times[0] <= 0 || times[0] > s.Latencies[0] {
			t.Errorf("%s: %d operations with the times %v", p.Suffix, p.Slice.Ops, times)
		}
		for _, tally := range p.Slice.Tallies {
			total += float64(tally.Ops) * (tally.Values[0].Value + wire.RecordHeaderBytes)
		}
		// The first ClientHello alone may have 0301 (RFC 8446, 5.1).
		version := 771.0
		if p.Suffix == "/record=01-client-clienthello" {
			version = 769
		}
		if got := exact(p.Slice, "record-version/op"); got != version {
			t.Errorf("%s has the version %v", p.Suffix, got)
		}
	}
	if !slices.Equal(suffixes, want.suffixes()) {
		t.Errorf("records\n%q, want\n%q", suffixes, want.suffixes())
	}
	counted := 0.0
	for _, tally := range s.Tallies {
		counted += float64(tally.Ops) * (tally.Values[0].Value + tally.Values[1].Value)
	}
	if counted != total {
		t.Errorf("%v bytes in all, %v in records", counted, total)
	}
	records := exact(s, "sent-records/op") + exact(s, "received-records/op")
	if records != float64(len(s.Parts)) || exact(s, "round-trips/op") != want.roundTrips || exact(s, "waits/op") != want.roundTrips+2 {
		t.Errorf("%v records, %v round trips, %v waits", records, exact(s, "round-trips/op"), exact(s, "waits/op"))
	}
	testSizes(t, name, sizes)
}

// testSizes checks the sizes that the standards or the article state. By
// another session ticket or list of groups they don't change.
func testSizes(t *testing.T, name string, sizes map[string]float64) {
	// AEADs of TLS 1.3 add a type and a tag of 16 bytes (RFC 8446, 5.2), AES-GCM
	// of TLS 1.2 a nonce of 8 and a tag of 16 (RFC 5288, 3).
	want := map[string]float64{"client-request": 35, "server-response": 74, "client-changecipherspec": 1, "server-changecipherspec": 1, "client-finished": 53, "server-finished": 53}
	if axis(name, "tls") == "1.2" {
		want["client-request"], want["server-response"] = 18+24, 57+24
		want["client-finished"], want["server-finished"] = 16+24, 16+24 // 12 bytes and a header
	}
	if cert := axis(name, "cert"); axis(name, "tls") == "1.3" && axis(name, "kind") == "full" && cert == selfSigned {
		want["server-certificate"] = 438
		want["server-encryptedextensions"] = 23 + 4 // the server's answer to the name (RFC 6066, 3), which the article's server did not give
		want["server-serverhello"] = map[string]float64{"yes": 1210, "no": 122}[axis(name, "pq")]
	}
	for record, bytes := range want {
		if sizes[record] != bytes {
			t.Errorf("%s has %v bytes, want %v", record, sizes[record], bytes)
		}
	}
	if hello := sizes["client-clienthello"]; (hello > 1216) != (axis(name, "pq") == "yes") {
		t.Errorf("a ClientHello of %v bytes with pq=%s", hello, axis(name, "pq"))
	}
}

// TestWrongCase checks that a case that is not what its name says fails
// instead of being recorded.
func TestWrongCase(t *testing.T) {
	for want, wrong := range map[string]func(*config){
		"negotiated group X25519MLKEM768, want CurveP384": func(c *config) { c.Group = tls.CurveP384 },
		"HelloRetryRequest: false, want true":             func(c *config) { c.HRR = true },
	} {
		c := newConfig(tls.VersionTLS13, "full", true)
		wrong(&c)
		_, err := (trial.Case{Start: c.start("/wrong", certs[0].make)}).Once(t.Context(), time.Millisecond)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want one about %q", err, want)
		}
	}
}

// TestSums checks that a trace that misses bytes of the connection is an
// error, and that connections of one case with other records are.
func TestSums(t *testing.T) {
	a, b := net.Pipe()
	go func() {
		_, _ = b.Write([]byte{21, 3, 3, 0, 2, 2, 40, 21, 3, 3}) // an alert, and the beginning of a record
		_ = b.Close()
	}()
	counted := &counter{Conn: a}
	watched := wire.Watch(counted, true)
	if _, err := io.ReadFull(watched, make([]byte, 10)); err != nil {
		t.Fatal(err)
	}
	if _, err := newTrace(watched, counted); err == nil || !strings.Contains(err.Error(), "7 received, the connection 0 and 10") {
		t.Errorf("error %v", err)
	}
	counted.received = 7
	first, err := newTrace(watched, counted)
	if err != nil {
		t.Fatal(err)
	}
	parts, err := first.addTo(nil)
	if err != nil || len(parts) != 1 || parts[0].Suffix != "/record=01-server-alert" {
		t.Fatalf("parts %v, %v", parts, err)
	}
	if _, err := (trace{}).addTo(parts); err == nil {
		t.Error("no error for a connection without records")
	}
	if _, err := (trace{records: []record{{Name: "alert", FromClient: true}}}).addTo(parts); err == nil {
		t.Error("no error for a record from the other side")
	}
	seen := &sequence{}
	if err := errors.Join(seen.check(parts), seen.check(parts)); err != nil {
		t.Error(err)
	}
	if err := seen.check(nil); err == nil {
		t.Error("no error for a round with other records")
	}
}

// TestNames checks that no two cases have one name and that the twin is that
// of a case.
func TestNames(t *testing.T) {
	var names []string
	for _, c := range cases() {
		names = append(names, c.Name)
	}
	sorted := slices.Clone(names)
	slices.Sort(sorted)
	if len(slices.Compact(sorted)) != len(names) {
		t.Error("two cases have one name")
	}
	for _, name := range names {
		if base, ok := strings.CutSuffix(name, "/twin=b"); ok && !slices.Contains(names, base) {
			t.Errorf("%s is the twin of no case", name)
		}
	}
}

// TestCheck checks what a client accepts of a negotiated connection.
func TestCheck(t *testing.T) {
	bundle, err := certs[2].make()
	if err != nil {
		t.Fatal(err)
	}
	var chain []*x509.Certificate
	for _, der := range bundle.Chain {
		cert, err := x509.ParseCertificate(der)
		if err != nil {
			t.Fatal(err)
		}
		chain = append(chain, cert)
	}
	c := client{config: newConfig(tls.VersionTLS13, "full", false), chain: bundle.Chain}
	right := tls.ConnectionState{Version: tls.VersionTLS13, CurveID: tls.X25519, PeerCertificates: chain}
	if err := c.check(right); err != nil {
		t.Errorf("the right connection: %v", err)
	}
	for name, wrong := range map[string]func(*tls.ConnectionState){
		"version":    func(s *tls.ConnectionState) { s.Version = tls.VersionTLS12 },
		"group":      func(s *tls.ConnectionState) { s.CurveID = tls.CurveP256 },
		"retry":      func(s *tls.ConnectionState) { s.HelloRetryRequest = true },
		"resumption": func(s *tls.ConnectionState) { s.DidResume = true },
		"chain":      func(s *tls.ConnectionState) { s.PeerCertificates = chain[:1] },
	} {
		state := right
		wrong(&state)
		if err := c.check(state); err == nil {
			t.Errorf("no error for another %s", name)
		}
	}
}

// TestServerKnows checks that the server's word on resumption counts.
func TestServerKnows(t *testing.T) {
	if a, b := response(true), response(false); len(a) != 57 || len(b) != 57 || bytes.Equal(a, b) {
		t.Errorf("responses %q and %q", a, b)
	}
}

// TestReplay: what a replay is compared with crosses as well, and a watched
// one is watched.
func TestReplay(t *testing.T) {
	bundle, err := keys.SelfSigned("ecdsa-p256")
	if err != nil {
		t.Fatal(err)
	}
	r := &replayer{perRun: map[string]time.Duration{}}
	if _, err := r.start(bundle); err != nil {
		t.Fatal(err)
	}
	// The first and the last records of a full handshake with request and response.
	if first, last := r.flights[0], r.flights[len(r.flights)-1]; !first.fromClient || last.fromClient || r.records < 10 {
		t.Errorf("%d records from %v to %v", r.records, first.fromClient, last.fromClient)
	}
	w, err := r.watched(true)
	if err != nil {
		t.Fatal(err)
	}
	var crossed int64
	for _, f := range r.flights {
		crossed += int64(len(f.bytes))
	}
	if sent, received := w.Bytes(); sent+received != crossed {
		t.Errorf("watched %d and %d bytes of %d", sent, received, crossed)
	}
	for _, what := range replays {
		report, err := r.replay(replayOrder{What: what, D: time.Millisecond})
		if err != nil || report.Records%r.records != 0 && report.Records%fullRecords != 0 || report.Records == 0 {
			t.Errorf("%s: %d records, %v", what, report.Records, err)
		}
	}
	if _, err := r.replay(replayOrder{What: "/of=nothing"}); err == nil {
		t.Error("what is unknown is replayed")
	}
	r.flights = r.flights[:len(r.flights)-1]
	if _, err := r.named(); err == nil {
		t.Error("a response that is missing is not missed")
	}
}
