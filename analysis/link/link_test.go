package main

import (
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"testing"

	"cryptocost/analysis/internal/recording"
	"cryptocost/analysis/internal/samples"
	"cryptocost/analysis/internal/study"
	"cryptocost/analysis/internal/wire"
	"cryptocost/data"
)

var keep = flag.String("keep", "", "`folder` to keep the figures and tables of the simulated run in, to look at them")

var setWires = []string{"0+0ms", "0.25+0.25ms", "0.5+0.5ms", "2.5+2.5ms", "12.5+12.5ms", "25+25ms", "50+50ms", "0+50ms"}

// A flow is what became of packets, by rate.
type flow struct {
	rate            int
	delivered       float64
	p50, p90, p99   float64 // microseconds late
	reallyPerSecond float64
}

var flows = []flow{
	{1000, 1, 5, 12, 200, 1000}, {10000, 1, 8, 30, 400, 10000}, {50000, 0.9995, 40, 200, 2000, 49900},
	{100000, 0.9995, 100, 900, 9000, 98000}, {200000, 0.7, 5000, 9000, 20000, 150000},
}

// run simulates a wire on which connecting takes 0.08 ms, and with a delay
// another 0.04 ms beyond the round trip.
func run() recording.Run {
	return recording.Run{Experiment: "link", Machine: "xeon", Rounds: 12, Seed: 1, Round: round}
}

func round(rng *rand.Rand) []data.Sample {
	var list []data.Sample
	nanos := func(us float64, unit string) data.Value {
		return data.Value{Value: us * 1000 * (1 + 0.02*rng.ExpFloat64()), Unit: unit}
	}
	add := func(name, w string) {
		parsed, ok := wire.Parse(w)
		if !ok {
			panic(w)
		}
		longer := 80.0
		if parsed.RoundTrip() > 0 {
			longer = 120
		}
		list = append(list, recording.Window(name,
			data.Value{Value: 1e9*parsed.RoundTrip() + 1000*(longer+2*rng.NormFloat64()), Unit: "p50-latency-ns/op"},
			nanos(4, "p50-late-ns/op"), nanos(20, "p90-late-ns/op"), nanos(150, "p99-late-ns/op"),
			nanos(8, "wire-late-ns/packet"), data.Value{Value: 0.004, Unit: behind}, data.Value{Value: 0, Unit: lost}))
	}
	for _, w := range setWires {
		add(onWire(w), w)
	}
	add(baseline+samples.TwinSuffix, "25+25ms")
	for _, f := range flows {
		list = append(list, recording.Window(fmt.Sprintf("/rate=%dpps", f.rate),
			nanos(f.p50, "p50-late-ns/op"), nanos(f.p90, "p90-late-ns/op"), nanos(f.p99, "p99-late-ns/op"),
			data.Value{Value: 0.01, Unit: behind}, data.Value{Value: f.delivered, Unit: delivered}, data.Value{Value: f.reallyPerSecond, Unit: offered}))
	}
	return list
}

// compute analyzes a run.
func compute(t *testing.T, r recording.Run) *study.Data {
	t.Helper()
	m := samples.New(r.File())
	d, err := study.Compute(analysis(), m, []*samples.Machine{m}, nil)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// TestValues compares what is computed with what was simulated.
func TestValues(t *testing.T) {
	d := compute(t, run())
	for _, test := range []struct {
		key          string
		want, within float64
	}{
		{"error-sec/op /wire=0+0ms", 80e-6, 3e-6},
		{"error-sec/op /wire=0.25+0.25ms", 120e-6, 3e-6},
		{"error-of-delay-sec/op /wire=50+50ms", 40e-6, 4e-6},
		{"error-sec/op /wire=0+50ms", 120e-6, 3e-6},
		{"packets/s /rate=highest-carried", 49900, 0},
		{"sec /wire=farthest-off", 120e-6, 4e-6},
		{"share-off-at-baseline", 0.0024, 0.0001},
	} {
		v, ok := d.Values.Get("xeon", test.key)
		if !ok || math.Abs(v.Value-test.want) > test.within {
			t.Errorf("%s: %v (%t), want %v within %v", test.key, v.Value, ok, test.want, test.within)
		}
	}
	if _, ok := d.Values.Get("xeon", "error-of-delay-sec/op /wire=0+0ms"); ok {
		t.Error("the wire without delay has an error of its delay")
	}
}

// TestHighest tests that a rate counts only if all lower ones are carried.
func TestHighest(t *testing.T) {
	for _, test := range []struct {
		name  string
		spoil func(flow) flow
		want  float64 // 0: none
	}{
		{"as simulated", func(f flow) flow { return f }, 49900},
		{"lost at 10,000", func(f flow) flow {
			if f.rate == 10000 {
				f.delivered = 0.998
			}
			return f
		}, 1000},
		{"late at 1,000", func(f flow) flow {
			if f.rate == 1000 {
				f.p90 = 301
			}
			return f
		}, 0},
	} {
		t.Run(test.name, func(t *testing.T) {
			plain := flows
			defer func() { flows = plain }()
			flows = nil
			for _, f := range plain {
				flows = append(flows, test.spoil(f))
			}
			d := compute(t, run())
			some, _ := d.Values.Get("xeon", "yes /verdict=carries-a-rate")
			if (some.Value == 1) != (test.want > 0) {
				t.Errorf("a rate is carried: %v", some.Value)
			}
			v, ok := d.Values.Get("xeon", "packets/s /rate=highest-carried")
			if ok != (test.want > 0) || ok && v.Value != test.want {
				t.Errorf("%v (%t), want %v", v.Value, ok, test.want)
			}
		})
	}
}

func TestOrder(t *testing.T) {
	m := samples.New(run().File())
	var got []string
	for _, w := range wires(m) {
		got = append(got, samples.Key(w.name, "wire"))
	}
	if !slices.Equal(got, setWires) {
		t.Errorf("wires %q, want %q", got, setWires)
	}
	var rates []float64
	for _, l := range loads(m) {
		rates = append(rates, l.perSecond)
	}
	if !slices.Equal(rates, []float64{1000, 10000, 50000, 100000, 200000}) {
		t.Errorf("rates %v", rates)
	}
}

// TestFiles draws all figures and tables; with -keep they stay.
func TestFiles(t *testing.T) {
	noLink := run()
	seen := map[string]bool{}
	for _, s := range round(rand.New(rand.NewPCG(1, 0))) {
		if !seen[s.Case] {
			noLink.Missing = append(noLink.Missing, data.Missing{Case: s.Case, Reason: "no link of network namespaces"})
		}
		seen[s.Case] = true
	}
	noLink.Round = func(*rand.Rand) []data.Sample { return nil }
	sooner := run()
	sooner.Round = func(rng *rand.Rand) []data.Sample {
		list := round(rng)
		for _, s := range list {
			if s.Case == "/wire=0.5+0.5ms" {
				s.Values[0].Value = 0.99e6 // a clock that was set back
			}
		}
		return list
	}
	other := run()
	other.Machine, other.Seed = "epyc", 2
	for _, test := range []struct {
		name string
		runs []recording.Run
		want map[string][]string // by file, parts of it
	}{
		{"whole", []recording.Run{run()}, map[string][]string{
			"link-error.md":  {"| 25+25ms | 50 ms | 50.1"},
			"link-rate.md":   {"| 200,000 packets/s | 150,000 packets/s | 30.0 % |"},
			"link-error.svg": {"On a wire of 50 ms, connecting takes 12"},
			"link-rate.svg":  {"keeps its delay up to 49,900 packets/s"},
		}},
		{"no-link", []recording.Run{noLink}, map[string][]string{
			"link-error.md":  {"not measured: no link of network namespaces"},
			"link-rate.md":   {"not measured: no link of network namespaces"},
			"link-error.svg": {"not measured: no link of network namespaces"},
			"link-rate.svg":  {"not measured: no link of network namespaces"},
		}},
		{"sooner", []recording.Run{sooner}, map[string][]string{"link-error.md": {"−10.0 µs"}}},
		{"two-machines", []recording.Run{run(), other}, map[string][]string{"link-error.svg": {"epyc"}}},
	} {
		t.Run(test.name, func(t *testing.T) {
			out := *keep
			if out != "" {
				out = filepath.Join(out, test.name)
			}
			recording.Analyze(t, analysis(), filepath.Join("..", "claims", "claims.csv"), out, test.runs, test.want)
		})
	}
}

// TestCarriesByInterval: a median that is good enough is not, if its interval
// reaches beyond the limit.
func TestCarriesByInterval(t *testing.T) {
	for most, want := range map[float64]bool{200e3: true, 400e3: false} {
		n := 0
		r := run()
		r.Round = func(*rand.Rand) []data.Sample {
			n++
			late := 100e3
			if n%4 == 0 {
				late = most
			}
			return []data.Sample{recording.Window("/rate=1000pps", data.Value{Value: 1, Unit: "delivered-ratio"}, data.Value{Value: late, Unit: "p90-late-ns/op"})}
		}
		if yes, ok := carries(samples.New(r.File()), load{name: "/rate=1000pps"}); !ok || yes != want {
			t.Errorf("every fourth round late by %v ns: carries %v (%v), want %v", most, yes, ok, want)
		}
	}
}
