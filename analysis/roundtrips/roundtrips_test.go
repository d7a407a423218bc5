package main

import (
	"flag"
	"math"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"cryptocost/analysis/internal/claim"
	"cryptocost/analysis/internal/recording"
	"cryptocost/analysis/internal/samples"
	"cryptocost/analysis/internal/stat"
	"cryptocost/analysis/internal/study"
	"cryptocost/analysis/internal/wire"
	"cryptocost/data"
)

var keep = flag.String("keep", "", "`folder` to keep the figures and tables of the simulated run in, to look at them")

// A truth is what the simulation knows of a kind.
type truth struct {
	waits, handshakes float64 // the latter without TCP's own
	local             float64 // milliseconds without delay
}

var truths = map[string]truth{
	tcp: {2, 0, 0.15}, full13: {3, 1, 1.1}, ticket13: {3, 1, 0.8}, full12: {4, 2, 1.2}, ticket12: {3, 1, 0.7},
	classic: {3, 1, 0.9}, rsa: {3, 1, 1.8}, retry: {4, 2, 1.2}, control: {3, 1, 0.9}, quic: {2, 1, 1.6},
}

// run simulates a run in which a round trip costs as much as it is set to,
// but for 0.1 ms, and flights over the initial window cost one more.
func run() recording.Run {
	return recording.Run{
		Experiment: "roundtrips", Machine: "xeon", Rounds: 12, Seed: 1, Round: round,
		Tools: map[string]string{"link": "veth and packet sockets, mtu=1500 mss=1448 congestion=cubic/cubic initial-window=10 slow-start-after-idle=1"},
	}
}

func round(rng *rand.Rand) []data.Sample {
	var list []data.Sample
	weather := 0.1 * rng.ExpFloat64()
	noisy := func(ms float64) float64 { return (ms + weather + 0.05*rng.ExpFloat64()) * 1e6 }
	add := func(name, w, conn string, more float64) {
		trip := 0.0
		if parsed, ok := wire.Parse(w); ok {
			trip = 1000*parsed.RoundTrip() + 0.1
		}
		k := truths[conn]
		values := []data.Value{{Value: noisy(k.local + (k.waits+more)*trip), Unit: "p50-latency-ns/op"}, {Value: noisy(0.05 + trip), Unit: "p50-connect-ns/op"}}
		if conn != tcp {
			values = append(values, data.Value{Value: noisy(k.local/2 + (k.handshakes+more)*trip), Unit: "p50-tls-ns/op"},
				data.Value{Value: noisy(k.local/2 + (1+k.handshakes+more)*trip), Unit: "p50-handshake-ns/op"})
		}
		list = append(list, recording.Window(name, values...))
		if conn != quic {
			hello := 1.0
			if conn != classic && strings.HasPrefix(conn, "tls1.3") {
				hello = 2
			}
			list = append(list, recording.Exact(name, data.Value{Value: k.waits, Unit: counted}, data.Value{Value: hello, Unit: segments}))
		}
	}
	for _, w := range []string{wire.None, zero, "5+5ms", symmetric, article, "50+50ms", "100+100ms"} {
		for _, k := range kinds {
			again := (k.conn == retry || k.conn == control) && w != "5+5ms"
			if again || slices.Contains(mainKinds, k.conn) || slices.Contains([]string{wire.None, zero, symmetric, article}, w) {
				add(on(w, k.conn), w, k.conn, 0)
			}
		}
	}
	add(baseline+samples.TwinSuffix, article, full13, 0)
	list = append(list, recording.Window("/check-wire=0+50ms", data.Value{Value: 50e3, Unit: "wire-late-ns/packet"}),
		recording.Window("/check-wire=25+25ms", data.Value{Value: 500e3, Unit: "wire-late-ns/packet"}))
	for _, k := range chained {
		for _, chain := range k.chains {
			kilobytes, err := strconv.ParseFloat(strings.TrimSuffix(chain, "KB"), 64)
			if err != nil {
				panic(err)
			}
			size := 1000*kilobytes + 10
			sent := size + map[string]float64{full13: 1434, full12: 200}[k.conn] + float64(rng.IntN(3))
			more := 0.0
			if sent > 14480 {
				more = 1
			}
			for _, w := range []string{zero, symmetric} {
				name := elsewhere(withChain(k.conn, chain), w)
				add(name, w, k.conn, more)
				list = append(list, recording.Exact(name, data.Value{Value: size, Unit: certificate}, data.Value{Value: sent, Unit: flight}))
			}
		}
	}
	return list
}

// compute analyzes a run.
func compute(t *testing.T, r recording.Run) *study.Data {
	t.Helper()
	m := samples.New(r.File())
	d, err := study.Compute(analysis(), m, []*samples.Machine{m}, claims)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

var claims = []claim.Claim{
	{ID: "full", Article: "part1", Experiment: "roundtrips", Kind: claim.Absolute, Metric: latency, Case: baseline, Value: "172", Unit: "ms"},
	{ID: "tls", Article: "part4", Experiment: "roundtrips", Kind: claim.Absolute, Metric: tls, Case: on(article, classic), Value: "55.5", Unit: "ms"},
}

// value gives a value that must be there.
func value(t *testing.T, d *study.Data, key string) float64 {
	t.Helper()
	v, ok := d.Values.Get("xeon", key)
	if !ok {
		t.Fatalf("no value %q", key)
	}
	return v.Value
}

// TestValues compares what is computed with what was simulated.
func TestValues(t *testing.T) {
	d := compute(t, run())
	for _, test := range []struct {
		key          string
		want, within float64
	}{
		{"waits /conn=tls1.3-full", 3, 0.01},
		{"waits /conn=tls1.2-full", 4, 0.01},
		{"waits /conn=tls1.3-ticket", 3, 0.01},
		{"waits /conn=tcp", 2, 0.01},
		{"waits /conn=quic", 2, 0.01},
		{"intercept-sec/op /conn=tls1.3-full", 1.55e-3, 0.15e-3},
		{"wires /conn=tls1.3-full", 5, 0},
		{"wires /conn=quic", 2, 0},
		{"wires /conn=tls1.3-hrr", 4, 0},
		{"waits /wire=0+50ms/conn=tls1.2-full", 4, 0.01},
		{"waits /wire=25+25ms/conn=tls1.3-full/chain=13KB", 3, 0.01},
		{"waits /wire=25+25ms/conn=tls1.3-full/chain=13.1KB", 4, 0.01},
		{"unexplained-sec/op /wire=0+50ms/conn=tls1.3-full", 0, 0.05e-3},
		{"unexplained-sec/op /wire=0+50ms/conn=tls1.2-full", 0, 0.05e-3},
		{"p50-tls-sec/op /wire=100+100ms/conn=tls1.3-hrr minus /wire=100+100ms/conn=tls1.3-hrr-control", 200.2e-3, 0.1e-3},
		{"rest-sec/op /wire=0+50ms/conn=tls1.3-full", 1.55e-3, 0.15e-3},
		{"p50-latency-sec/op /wire=0+50ms/conn=tls1.2-full minus /wire=0+50ms/conn=tls1.3-full", 50.2e-3, 0.1e-3},
		{"p50-latency-sec/op /wire=0+50ms/conn=quic minus /wire=25+25ms/conn=quic", 0, 0.1e-3},
		{"p50-tls-sec/op /wire=25+25ms/conn=tls1.3-hrr minus /wire=25+25ms/conn=tls1.3-hrr-control", 50.2e-3, 0.1e-3},
		{"certificate-B/op /wire=25+25ms/conn=tls1.3-full/chain=largest-that-fits", 13010, 0},
		{"certificate-B/op /wire=25+25ms/conn=tls1.2-full/chain=smallest-that-does-not", 14310, 0},
		{"server-flight-B/op /wire=25+25ms/conn=tls1.3-full/chain=largest-that-fits", 14445, 1},
		{"window-B /link=initial-window", 14480, 0},
		{"initial-window-segments", 10, 0},
		{"yes /verdict=whole-and-as-counted", 1, 0},
		{"yes /verdict=whole-and-as-counted/conn=tls1.3-hrr", 1, 0},
		{"yes /verdict=narrow", 1, 0},
		{"yes /verdict=direction-does-not-matter", 1, 0},
		{"yes /verdict=nothing-unexplained", 1, 0},
		{"yes /verdict=initial-window-decides", 1, 0},
		{"yes /verdict=real-chain-fits", 1, 0},
		{"yes /verdict=wire-measured", 1, 0},
		{"yes /verdict=chain-limit-found", 1, 0},
		{"yes /verdict=ticket-saves-none-in-tls13", 1, 0},
		{"yes /verdict=ticket-saves-one-in-tls12", 1, 0},
		{"yes /verdict=tickets-wait-alike", 1, 0},
		{"yes /verdict=rsa-adds-no-wait", 1, 0},
		{"yes /verdict=clienthello-adds-no-wait", 1, 0},
		{"yes /verdict=quic-saves-one", 1, 0},
		{"yes /verdict=quic-waits-as-tcp", 1, 0},
		{"late-windows", 12, 0},
		{"wire-windows", 24, 0},
		{"yes /verdict=one-wait-more-in-tls12", 1, 0},
		{"yes /verdict=one-wait-more-with-hrr", 1, 0},
	} {
		if got := value(t, d, test.key); math.Abs(got-test.want) > test.within {
			t.Errorf("%s: %v, want %v within %v", test.key, got, test.want, test.within)
		}
	}
	for _, absent := range []string{"waits /wire=0+0ms/conn=tls1.3-full", "yes /verdict=whole-and-as-counted/conn=quic", "waits /wire=none/conn=tcp"} {
		if _, ok := d.Values.Get("xeon", absent); ok {
			t.Errorf("there is a value %q", absent)
		}
	}
}

// change edits the values of a unit in all samples of the cases that are chosen.
func change(r recording.Run, unit string, chosen func(name string) bool, edit func(name string, v float64) float64) recording.Run {
	plain := r.Round
	r.Round = func(rng *rand.Rand) []data.Sample {
		list := plain(rng)
		for _, s := range list {
			for i, v := range s.Values {
				if v.Unit == unit && chosen(s.Case) {
					s.Values[i].Value = edit(s.Case, v.Value)
				}
			}
		}
		return list
	}
	return r
}

// TestVerdicts spoils the run in ways that the verdicts must tell.
func TestVerdicts(t *testing.T) {
	of := func(conn string) func(string) bool {
		return func(name string) bool { return samples.Key(name, "conn") == conn }
	}
	const time = "p50-latency-ns/op"
	slower := func(share float64) func(string, float64) float64 {
		return func(_ string, v float64) float64 { return v * (1 + share) }
	}
	for _, test := range []struct {
		name    string
		run     recording.Run
		verdict string
		want    float64
	}{
		{"a slope off by 4 %", change(run(), time, of(ticket12), slower(0.04)), "whole-and-as-counted", 0},
		{"a slope off by 1 %", change(run(), time, of(ticket12), slower(0.01)), "whole-and-as-counted", 1},
		{"another count", change(run(), counted, of(full12), func(string, float64) float64 { return 3 }), "whole-and-as-counted", 0},
		{"another kind is not among the main ones", change(run(), counted, of(retry), func(string, float64) float64 { return 3 }), "whole-and-as-counted", 1},
		{"another kind has its own", change(run(), counted, of(retry), func(string, float64) float64 { return 3 }), "whole-and-as-counted/conn=tls1.3-hrr", 0},
		{"TLS 1.2 slower by 2 ms", change(run(), time, of(full12), func(_ string, v float64) float64 { return v + 2e6 }), "one-wait-more-in-tls12", 0},
		{"no retry", change(run(), "p50-tls-ns/op", of(retry), func(_ string, v float64) float64 { return v - 49e6 }), "one-wait-more-with-hrr", 0},
		{"a slower direction", change(run(), time, on13(article), slower(0.05)), "direction-does-not-matter", 0},
		{"a slower direction of another kind", change(run(), time, func(name string) bool { return name == on(article, quic) }, slower(0.05)), "direction-does-not-matter", 0},
		{"a rest", change(run(), time, on13(article), func(_ string, v float64) float64 { return v + 22e6 }), "nothing-unexplained", 0},
		{"a rest of a third of a millisecond", change(run(), time, on13(article), func(_ string, v float64) float64 { return v + 0.3e6 }), "nothing-unexplained", 0},
		{"a negative rest", change(run(), time, on13(article), func(_ string, v float64) float64 { return v - 1e6 }), "nothing-unexplained", 0},
		{"no rest but noise", noisy(run(), on(article, full13), 0.2e6), "nothing-unexplained", 1},
		{"too noisy to tell of a rest", noisy(run(), on(article, full13), 8e6), "nothing-unexplained", 0.5},
		{"too noisy to tell of a wait", noisy(run(), on(article, full12), 8e6), "one-wait-more-in-tls12", 0.5},
		{"too noisy to tell of a kind", noisy(run(), on(article, rsa), 8e6), "direction-does-not-matter", 0.5},
		{"a tenth of a wait with RSA", change(run(), time, func(name string) bool { return name == on(article, rsa) }, func(_ string, v float64) float64 { return v + 5e6 }), "rsa-adds-no-wait", 0},
		{"four rounds", rounds(run(), 4), "one-wait-more-in-tls12", 0.5},
		{"four rounds of chains", rounds(run(), 4), "chain-limit-found", 0.5},
		{"a flight that fits and waits", change(run(), time, func(name string) bool { return name == withChain(full12, "14.2KB") },
			func(_ string, v float64) float64 { return v + 50e6 }), "initial-window-decides", 0},
		{"a flight that doesn't fit and doesn't wait", change(run(), time, func(name string) bool { return name == withChain(full13, "20KB") },
			func(_ string, v float64) float64 { return v - 50e6 }), "initial-window-decides", 0},
		{"no flight beyond the window", without(run(), "", tooLarge), "initial-window-decides", 0.5},
		{"no chain that costs a wait", without(run(), "", tooLarge), "chain-limit-found", 0},
		{"chains that fit are enough for a real one", without(run(), "", tooLarge), "real-chain-fits", 1},
		{"a real chain costs a wait", change(run(), time, func(name string) bool {
			return samples.Key(name, "chain") != "" && samples.Key(name, "wire") == symmetric
		},
			func(_ string, v float64) float64 { return v + 50e6 }), "real-chain-fits", 0},
		{"one disturbed round in twelve", once(run(), ticket13), "whole-and-as-counted", 1},
		{"chains that cost at random", change(run(), time, func(name string) bool { return name == withChain(full13, "4KB") },
			func(_ string, v float64) float64 { return v + 50e6 }), "chain-limit-found", 0},
	} {
		t.Run(test.name, func(t *testing.T) {
			if got := value(t, compute(t, test.run), "yes /verdict="+test.verdict); got != test.want {
				t.Errorf("%s is %v, want %v", test.verdict, got, test.want)
			}
		})
	}
}

// tooLarge chooses the chains whose flights exceed the window.
func tooLarge(name string) bool {
	return slices.Contains([]string{"13.1KB", "14.3KB", "20KB", "32KB"}, samples.Key(name, "chain"))
}

// rounds ends a run after so many.
func rounds(r recording.Run, n int) recording.Run {
	r.Rounds = n
	return r
}

// noisy adds to the times of a case and takes from them in turn.
func noisy(r recording.Run, of string, ns float64) recording.Run {
	n := 0
	return change(r, "p50-latency-ns/op", func(name string) bool { return name == of }, func(_ string, v float64) float64 {
		n++
		return v + ns*float64(n%2*2-1)
	})
}

// TestRealChain: the size is that of the claim.
func TestRealChain(t *testing.T) {
	published, err := claim.Read(filepath.Join("..", "claims", "claims.csv"))
	if err != nil {
		t.Fatal(err)
	}
	i := slices.IndexFunc(published, func(c claim.Claim) bool { return c.ID == "p1-records-real-chain-size" })
	if i < 0 {
		t.Fatal("no such claim")
	}
	if _, most, _ := strings.Cut(published[i].Value, "-"); most != strconv.Itoa(realChain/1e3) || published[i].Unit != "KB" {
		t.Errorf("a real chain has up to %s %s, not %v B", most, published[i].Unit, realChain)
	}
}

// on13 chooses the full handshakes of TLS 1.3 on a wire.
func on13(w string) func(string) bool { return func(name string) bool { return name == on(w, full13) } }

// once makes the first round's times of a kind six times as long on the
// longest wire.
func once(r recording.Run, conn string) recording.Run {
	plain, first := r.Round, true
	r.Round = func(rng *rand.Rand) []data.Sample {
		list := plain(rng)
		for _, s := range list {
			if first && s.Case == on("100+100ms", conn) {
				s.Values[0].Value *= 6
			}
		}
		first = false
		return list
	}
	return r
}

// TestWhole tests both ways in which a slope is near a whole number.
func TestWhole(t *testing.T) {
	nan := math.NaN()
	for _, test := range []struct {
		center, low, high float64
		whole, narrow     bool
	}{
		{3.01, 2.99, 3.05, true, true},
		{3.01, 2.93, 3.05, true, false},
		{3.01, 2.99, 3.07, true, false},
		{3.01, nan, nan, true, false},
		{2.93, 2.92, 2.95, false, false},
		{3.07, nan, nan, false, false},
		{0.01, 0, 0.02, false, false},
	} {
		f := fit{slope: stat.Interval{Center: test.center, Low: test.low, High: test.high}}
		if f.whole() != test.whole || f.narrow() != test.narrow {
			t.Errorf("%v (%v to %v): whole %t, narrow %t", test.center, test.low, test.high, f.whole(), f.narrow())
		}
	}
}

// without leaves cases out of a run, as missing for a reason.
func without(r recording.Run, reason string, gone func(name string) bool) recording.Run {
	plain := r.Round
	seen := map[string]bool{}
	for _, s := range plain(rand.New(rand.NewPCG(1, 0))) {
		if gone(s.Case) && !seen[s.Case] {
			seen[s.Case] = true
			r.Missing = append(r.Missing, data.Missing{Case: s.Case, Reason: reason})
		}
	}
	r.Round = func(rng *rand.Rand) []data.Sample {
		return slices.DeleteFunc(plain(rng), func(s data.Sample) bool { return gone(s.Case) })
	}
	return r
}

// TestFiles draws all figures and tables of several runs; with -keep they stay.
func TestFiles(t *testing.T) {
	noLink := without(run(), "no link of network namespaces: operation not permitted", func(name string) bool { return samples.Key(name, "wire") != wire.None })
	noLink.Tools = map[string]string{"link": "none"}
	few := run()
	few.Rounds = 3
	other := run()
	other.Machine, other.Seed = "epyc", 2
	for _, test := range []struct {
		name string
		runs []recording.Run
		want map[string][]string // by file, parts of it
	}{
		{"whole", []recording.Run{run()}, map[string][]string{
			"roundtrips-times.md":       {"ms) | 107 ms | reproduced | 20", "| TCP without TLS | 50.3 ms", "ms) | — | — |"},
			"roundtrips-waits.md":       {"| 3 waits | 3.0", "| 4 wires |", "| difference of two wires |"},
			"roundtrips-rest.md":        {"| 172 ms | 150 ms | 22.0 ms |", "rest without that"},
			"roundtrips-differences.md": {"TLS 1.2 above TLS 1.3 | +50."},
			"roundtrips-wires.md":       {"the wire adds"},
			"roundtrips-chain.md":       {"| TLS 1.3 | 20,010 B | 21,44", " | no | 3 waits | 4.0", "| TLS 1.2 | 14,210 B | 14,41", " | yes | 4 waits | 4.0"},
			"roundtrips-waits.svg":      {"waits 3 times with TLS 1.3, 4 with TLS 1.2; with a ticket 3 and 3"},
			"roundtrips-kinds.svg":      {"With 50 ms from server to client"},
			"roundtrips-chain.svg":      {"initial window is 14,480 B", "A flight of 14,445 B still costs no wait, one of 14,545 B costs one more"},
		}},
		{"no-link", []recording.Run{noLink}, map[string][]string{
			"roundtrips-waits.svg": {"not measured: no link of network namespaces"},
			"roundtrips-kinds.svg": {"not measured", "How long handshakes"},
			"roundtrips-chain.svg": {"How often a client waits"},
			"roundtrips-times.md":  {"not measured: no link"},
			"roundtrips-waits.md":  {"not measured: no link"},
		}},
		{"small-chains", []recording.Run{without(run(), "too large", tooLarge)}, map[string][]string{
			"roundtrips-chain.svg": {"No chain costs a wait more, not even one whose flight has 14,445 B"},
		}},
		{"few-rounds", []recording.Run{few}, map[string][]string{"roundtrips-waits.md": {"| 3 waits | 3.0"}}},
		{"two-machines", []recording.Run{run(), other}, map[string][]string{"roundtrips-kinds.svg": {"epyc"}}},
	} {
		t.Run(test.name, func(t *testing.T) {
			out := *keep
			if out != "" {
				out = filepath.Join(out, test.name)
			}
			published := filepath.Join("..", "claims", "claims.csv")
			if test.name == "whole" {
				published = filepath.Join("testdata", "claims.csv")
			}
			recording.Analyze(t, analysis(), published, out, test.runs, test.want)
		})
	}
}
