package main

import (
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"cryptocost/data"
	"cryptocost/experiments/internal/host"
	"cryptocost/experiments/internal/trial"
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

// leastTime is what the wire alone takes until the server has the request.
func leastTime(name string) time.Duration {
	w := wires[0]
	if strings.Contains(name, "/wire="+wires[1].String()+"/") {
		w = wires[1]
	}
	least := w.Up // the request
	if strings.Contains(name, "client=openssl") {
		least += w.RoundTrip() // connecting
	}
	if !strings.Contains(name, "conn=early") {
		least += w.RoundTrip() // the handshake
	}
	return least
}

// TestCases lets every case work for a slice. The connections themselves are
// checked by the cases. Nothing can arrive sooner than the wire carries it,
// and a case that sees such a thing times from the wrong moment.
func TestCases(t *testing.T) {
	for _, c := range cases() {
		t.Run(c.Name, func(t *testing.T) {
			if c.Missing != "" {
				t.Skip(c.Missing)
			}
			s, err := c.Once(t.Context(), time.Millisecond)
			if err != nil && strings.HasPrefix(c.Name, "/check-wire=") && strings.Contains(err.Error(), "is off") {
				t.Skip(err) // as a machine under test may be
			}
			if err != nil {
				t.Fatal(err)
			}
			if strings.HasPrefix(c.Name, "/check=") {
				if got := exact(s, data.YesUnit); got != 1 {
					t.Errorf("observed %v, want 1", got)
				}
				return
			}
			if s.Ops < 1 || len(s.Latencies) != s.Ops || s.Elapsed <= 0 || len(s.Quantities) == 0 {
				t.Fatalf("%d operations with %d latencies in %v, %d quantities", s.Ops, len(s.Latencies), s.Elapsed, len(s.Quantities))
			}
			if strings.HasPrefix(c.Name, "/check-wire=") {
				return
			}
			// The wire rounds to less than 0.1 ms.
			if got, least := slices.Min(s.Latencies), leastTime(c.Name); got < least-100*time.Microsecond {
				t.Errorf("the request arrives after %v, but the wire takes %v", got, least)
			}
			program := s.Moments["program"]
			if openssl := strings.Contains(c.Name, "client=openssl"); openssl != (len(program) == s.Ops) {
				t.Errorf("%d times from the start of the program", len(program))
			}
			if s.Ops%2 == 0 {
				t.Errorf("%d connections: half of them is no one of them", s.Ops)
			}
			for i, p := range program {
				if before := s.Moments["before"][i]; before <= 0 || p != before+s.Latencies[i] {
					t.Errorf("the program's start is %v before the request, its SYN %v, and they are %v apart", p, s.Latencies[i], before)
				}
			}
		})
	}
}

// TestNames checks that no two cases have one name, that none ends like a
// number of processors, and that twins are of cases.
func TestNames(t *testing.T) {
	var names []string
	for _, c := range casesWithout("", "") {
		names = append(names, c.Name)
	}
	sorted := slices.Sorted(slices.Values(names))
	if len(slices.Compact(sorted)) != len(names) {
		t.Error("two cases have one name")
	}
	for _, name := range names {
		if base, ok := strings.CutSuffix(name, "/twin=b"); ok && !slices.Contains(names, base) {
			t.Errorf("%s is the twin of no case", name)
		}
		if digits := strings.TrimRight(name, "0123456789"); digits != name && strings.HasSuffix(digits, "-") {
			t.Errorf("%s ends like a number of processors", name)
		}
	}
}

// TestMissing checks what is not measured where something is missing, and
// that the reason is told.
func TestMissing(t *testing.T) {
	const noLink, noOpenSSL = "no link", "no openssl"
	needsLink := func(name string) bool {
		return strings.Contains(name, "wire=") || name == "/check=no-session-without-waiting"
	}
	needsOpenSSL := func(name string) bool {
		return !strings.Contains(name, "quic") && !strings.HasPrefix(name, "/check-wire=")
	}
	for _, c := range casesWithout(noLink, "") {
		if want := needsLink(c.Name); want != (c.Missing == noLink) {
			t.Errorf("without a link %s is missing for the reason %q", c.Name, c.Missing)
		}
	}
	for _, c := range casesWithout("", noOpenSSL) {
		if want := needsOpenSSL(c.Name); want != (c.Missing == noOpenSSL) {
			t.Errorf("without openssl %s is missing for the reason %q", c.Name, c.Missing)
		}
	}
}

// TestKind checks what a connection must be, by what the programs say.
func TestKind(t *testing.T) {
	for k, right := range map[kind][2]bool{full: {false, false}, ticket: {true, false}, early: {true, true}} {
		for _, said := range [][2]bool{{false, false}, {true, false}, {false, true}, {true, true}} {
			if err := k.check("it", said[0], said[1]); (err == nil) != (said == right) {
				t.Errorf("%s: resumed %v, early data %v: %v", k, said[0], said[1], err)
			}
		}
	}
}

// TestCheckOpenSSL checks what is accepted of what openssl says: nothing but
// what the case says.
func TestCheckOpenSSL(t *testing.T) {
	type both struct {
		done   done
		served served
	}
	rights := map[kind]func() both{
		full: func() both {
			return both{done{Session: []byte("s"), Said: said{saysVerified, saysNew, saysEarlyNotSent}}, served{Said: said{saysNoEarly}}}
		},
		ticket: func() both {
			return both{done{Session: []byte("s"), Said: said{saysVerified, saysReused, saysEarlyNotSent}}, served{Said: said{saysNoEarly, saysServerReused}}}
		},
		early: func() both {
			return both{done{Session: []byte("s"), Said: said{saysVerified, saysReused, saysEarlyAccepted}}, served{Said: said{saysEarlyReceived, saysServerReused}}}
		},
	}
	for k, right := range rights {
		for other := range rights {
			r := right()
			if err := checkOpenSSL(other, r.done, r.served); (err == nil) != (other == k) {
				t.Errorf("what %s gives, checked as %s: %v", k, other, err)
			}
		}
		for name, wrong := range map[string]func(*both){
			"no session":       func(b *both) { b.done.Session = nil },
			"not verified":     func(b *both) { b.done.Said = b.done.Said[1:] },
			"other version":    func(b *both) { b.done.Said[1] = "New, TLSv1.2, Cipher is" },
			"rejected":         func(b *both) { b.done.Said[2] = saysEarlyRejected },
			"server is silent": func(b *both) { b.served.Said = nil },
			"server disagrees": func(b *both) { b.served.Said = append(b.served.Said, saysNoEarly, saysEarlyReceived) },
		} {
			b := right()
			wrong(&b)
			if err := checkOpenSSL(k, b.done, b.served); err == nil {
				t.Errorf("%s: no error: %s", k, name)
			}
		}
	}
}

// TestQUICLatencies checks that a connection of another kind has no time.
func TestQUICLatencies(t *testing.T) {
	right := []asked{{Started: 1, Resumed: true, Early: true}}
	arrived := []arrival{{At: 4, Resumed: true, Early: true}}
	if got, err := quicLatencies(early, right, arrived); err != nil || !slices.Equal(got, []time.Duration{3}) {
		t.Errorf("%v, %v", got, err)
	}
	if _, err := quicLatencies(early, []asked{{Resumed: true}}, arrived); err == nil {
		t.Error("no error for a client that had sent no early data")
	}
	if _, err := quicLatencies(early, right, []arrival{{At: 4, Resumed: true}}); err == nil {
		t.Error("no error for a server that took no early data")
	}
}

// TestQUICKinds makes a connection of each kind on the loopback.
func TestQUICKinds(t *testing.T) {
	g := &host.Group{}
	defer g.Close()
	p, err := onLoopback(t.Context(), g)
	if err != nil {
		t.Fatal(err)
	}
	address, err := p.address(t.Context(), "quic", false)
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := p.askQUIC(t.Context(), address, ticket, 1); err == nil {
		t.Error("no error for resuming before there is a session")
	}
	if err := p.client.Call(t.Context(), "settle", quicErrand{Address: address, Root: p.bundle.Root}, nil); err != nil {
		t.Fatal(err)
	}
	for _, k := range []kind{full, ticket, early} {
		sent, arrived, err := p.askQUIC(t.Context(), address, k, 3)
		if err != nil {
			t.Fatal(err)
		}
		if list, err := quicLatencies(k, sent, arrived); err != nil || len(list) != 3 {
			t.Errorf("%s: %d times, %v", k, len(list), err)
		}
	}
}
