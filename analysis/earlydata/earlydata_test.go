package main

import (
	"flag"
	"math"
	"math/rand/v2"
	"path/filepath"
	"testing"

	"cryptocost/analysis/internal/claim"
	"cryptocost/analysis/internal/recording"
	"cryptocost/analysis/internal/samples"
	"cryptocost/analysis/internal/study"
	"cryptocost/data"
)

var keep = flag.String("keep", "", "`folder` to keep the figures and tables of the simulated run in, to look at them")

// run simulates a run in which openssl needs 4 ms from its start to its first
// packet and 1 ms beside the wire, quic-go 2 ms.
func run() recording.Run {
	return recording.Run{Experiment: "earlydata", Machine: "xeon", Rounds: 12, Seed: 1, Round: round}
}

func round(rng *rand.Rand) []data.Sample {
	var list []data.Sample
	add := func(name, w string, waits float64, of string) {
		trip, up := 50.1, map[string]float64{article: 0, symmetric: 25}[w]
		first := waits*trip + up + 1 + 0.05*rng.ExpFloat64()
		if of == goQUIC {
			list = append(list, recording.Window(name, data.Value{Value: (first + 1) * 1e6, Unit: "p50-latency-ns/op"}))
			return
		}
		start := 4 + 0.1*rng.ExpFloat64()
		list = append(list, recording.Window(name, data.Value{Value: first * 1e6, Unit: "p50-latency-ns/op"},
			data.Value{Value: (first + start) * 1e6, Unit: "p50-program-ns/op"}, data.Value{Value: start * 1e6, Unit: "p50-before-ns/op"}))
	}
	for _, w := range []string{"0+50ms", "25+25ms"} {
		for _, c := range []struct {
			client, conn string
			waits        float64
		}{
			{"openssl", "full", 2}, {"openssl", "ticket", 2}, {"openssl", "early", 1},
			{"quic-go", "full", 1}, {"quic-go", "ticket", 1}, {"quic-go", "early", 0},
		} {
			add(on(w, c.client, c.conn), w, c.waits, c.client)
		}
	}
	add(baseline+samples.TwinSuffix, article, 2, openssl)
	for i, c := range checks {
		yes := 1.0
		if i == 4 {
			yes = 0
		}
		list = append(list, recording.Exact(c.Case, data.Value{Value: yes, Unit: data.YesUnit}))
	}
	return list
}

var claims = []claim.Claim{
	{ID: "ticket", Article: "part1", Experiment: "earlydata", Kind: claim.Absolute, Metric: program, Case: baseline, Value: "131.7", Unit: "ms"},
	{ID: "early", Article: "part1", Experiment: "earlydata", Kind: claim.Absolute, Metric: program, Case: on(article, openssl, early), Value: "81.0", Unit: "ms"},
	{ID: "gain", Article: "part1", Experiment: "earlydata", Kind: claim.Difference, Metric: program, Case: baseline, Baseline: on(article, openssl, early), Value: "50.7", Unit: "ms"},
}

// TestValues compares what is computed with what was simulated.
func TestValues(t *testing.T) {
	m := samples.New(run().File())
	d, err := study.Compute(analysis(), m, []*samples.Machine{m}, claims)
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		key          string
		want, within float64
	}{
		{"expected-sec/op /wire=0+50ms/client=openssl/conn=full", 0.1, 0},
		{"expected-sec/op /wire=25+25ms/client=openssl/conn=early", 0.075, 1e-9},
		{"expected-sec/op /wire=25+25ms/client=quic-go/conn=early", 0.025, 0},
		{"expected-sec/op /wire=0+50ms/client=quic-go/conn=early", 0, 0},
		{"rest-sec/op /wire=0+50ms/client=openssl/conn=ticket", 1.25e-3, 0.1e-3},
		{"rest-sec/op /wire=25+25ms/client=quic-go/conn=early", 2.05e-3, 0.1e-3},
		{"p50-before-sec/op /wire=0+50ms/client=openssl/conn=early", 4.1e-3, 0.1e-3},
		{"program-rest-sec/op /wire=0+50ms/client=openssl/conn=ticket", 5.35e-3, 0.15e-3},
		{"yes /verdict=early-data-saves-a-wait", 1, 0},
		{"yes /verdict=early-data-saves-a-wait-of-the-program", 1, 0},
		{"yes /verdict=resuming-saves-no-wait", 1, 0},
		{"yes /verdict=early-data-over-quic-waits-for-nothing", 1, 0},
		{"p50-latency-sec/op /wire=0+50ms/client=openssl/conn=ticket minus /wire=0+50ms/client=openssl/conn=early", 50.1e-3, 0.1e-3},
		{"p50-latency-sec/op /wire=25+25ms/client=quic-go/conn=ticket minus /wire=25+25ms/client=quic-go/conn=early", 50.1e-3, 0.1e-3},
		{"p50-latency-sec/op /wire=25+25ms/client=openssl/conn=full minus /wire=0+50ms/client=openssl/conn=full", 25e-3, 0.1e-3},
	} {
		v, ok := d.Values.Get("xeon", test.key)
		if !ok || math.Abs(v.Value-test.want) > test.within {
			t.Errorf("%s: %v (%t), want %v within %v", test.key, v.Value, ok, test.want, test.within)
		}
	}
	if _, ok := d.Values.Get("xeon", "p50-before-sec/op /wire=0+50ms/client=quic-go/conn=early"); ok {
		t.Error("QUIC has no program of its own, yet a time before its first packet")
	}
}

// TestFiles draws all figures and tables; with -keep they stay.
func TestFiles(t *testing.T) {
	noOpenSSL := run()
	for _, s := range round(rand.New(rand.NewPCG(1, 0))) {
		if samples.Key(s.Case, "client") == openssl {
			noOpenSSL.Missing = append(noOpenSSL.Missing, data.Missing{Case: s.Case, Reason: "openssl is not installed"})
		}
	}
	noOpenSSL.Round = func(rng *rand.Rand) []data.Sample {
		var list []data.Sample
		for _, s := range round(rng) {
			if samples.Key(s.Case, "client") != openssl {
				list = append(list, s)
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
			"earlydata-request.md":  {"| openssl, TCP: resumed, early data | 50 ms | 51.1"},
			"earlydata-gains.md":    {"early data instead of resuming | 50.1 ms"},
			"earlydata-bases.md":    {"| 100 ms | 31.7 ms | 105.3 ms"},
			"earlydata-checks.md":   {"refuses its early data by default | no, in none of 12 rounds |"},
			"earlydata-request.svg": {"has the request 50.1 ms sooner over TCP, 50.2 ms sooner over QUIC"},
			"earlydata-bases.svg":   {"takes 4."},
		}},
		{"no-openssl", []recording.Run{noOpenSSL}, map[string][]string{
			"earlydata-request.svg": {"openssl is not installed"},
			"earlydata-bases.svg":   {"openssl is not installed"},
			"earlydata-bases.md":    {"not measured: openssl is not installed"},
		}},
		{"two-machines", []recording.Run{run(), other}, map[string][]string{"earlydata-request.svg": {"epyc"}}},
	} {
		t.Run(test.name, func(t *testing.T) {
			out := *keep
			if out != "" {
				out = filepath.Join(out, test.name)
			}
			recording.Analyze(t, analysis(), filepath.Join("testdata", "claims.csv"), out, test.runs, test.want)
		})
	}
}

const fewRounds = "too few rounds for an interval"

// TestVerdicts: what the intervals leave open is said neither way.
func TestVerdicts(t *testing.T) {
	for _, test := range []struct {
		name      string
		spoil     func(round int) float64 // ms that early data takes longer
		low, high float64
	}{
		{"a wait is saved", func(int) float64 { return 0 }, 1, 1},
		{"none is", func(int) float64 { return 50 }, 0, 0},
		{"in some rounds", func(round int) float64 { return 50 * float64(round%2) }, 0, 1},
		{fewRounds, func(int) float64 { return 0 }, 0, 1},
	} {
		spoiled, count := run(), 0
		if test.name == fewRounds {
			spoiled.Rounds = 3
		}
		spoiled.Round = func(rng *rand.Rand) []data.Sample {
			list := round(rng)
			for _, s := range list {
				if samples.Key(s.Case, "conn") == early && samples.Key(s.Case, "client") == openssl {
					s.Values[0].Value += 1e6 * test.spoil(count)
				}
			}
			count++
			return list
		}
		m := samples.New(spoiled.File())
		d, err := study.Compute(analysis(), m, []*samples.Machine{m}, claims)
		if err != nil {
			t.Fatal(err)
		}
		v, ok := d.Values.Get("xeon", "yes /verdict=early-data-saves-a-wait")
		if !ok || v.Low != test.low || v.High != test.high {
			t.Errorf("%s: %+v (%t), want %v to %v", test.name, v, ok, test.low, test.high)
		}
	}
}
