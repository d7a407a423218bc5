package study

import (
	"maps"
	"math"
	"math/rand/v2"
	"path/filepath"
	"strconv"
	"testing"

	"cryptocost/analysis/internal/claim"
	"cryptocost/analysis/internal/samples"
	"cryptocost/data"
	"cryptocost/env"
)

const (
	cpu  = "server-cpu-sec/op"
	rate = "B/s"
	sent = "sent-B/op"

	base   = "/kex=base"
	twin   = base + samples.TwinSuffix
	double = "/kex=double" // the cost of base twice
	near   = "/kex=near"   // the cost of base and a hundredth
	rsa    = "/kex=rsa"    // not measured

	always, never, sometimes = "/check=always", "/check=never", "/check=sometimes"
)

// A recording is a simulated run of the experiment "fixture", in which base
// costs the server 400 µs.
type recording struct {
	machine string
	rounds  int
	seed    uint64
	noise   float64 // of every window, beside the 5 % that all cases share
	stolen  int     // rounds in which double lost a tenth of its window
	cases   string  // that were asked for
}

// standard is a quiet machine with the rounds of the profile standard.
var standard = recording{machine: "xeon", rounds: 12, seed: 1, noise: 0.005, cases: "all"}

// file simulates the samples. Rates have no noise beside what all cases
// share; double sends 500 or 502 bytes, the others 300.
func (r recording) file() *data.File {
	config := map[string]string{}
	for _, k := range env.Keys() {
		config[k.Name] = env.Unknown
	}
	maps.Copy(config, map[string]string{
		"schema": data.Schema, "experiment": "fixture", "machine": r.machine, "profile": "standard", "rounds": strconv.Itoa(r.rounds),
		"seed": "1", "cases": r.cases, "passes": "1", "slice": "15ms", "quota": "1s",
	})
	file := &data.File{Header: data.Header{
		Config: config, Exact: []string{data.YesUnit, sent}, Missing: []data.Missing{{Case: rsa, Reason: "openssl is not installed"}},
	}}
	rng := rand.New(rand.NewPCG(r.seed, 0))
	for n := range r.rounds {
		weather := math.Exp(0.05 * rng.NormFloat64())
		round := data.Round{Number: n + 1}
		add := func(name string, ops int, values ...data.Value) {
			round.Samples = append(round.Samples, data.Sample{Case: name, Ops: ops, Values: values})
		}
		for _, c := range []struct {
			name string
			cost float64
		}{{base, 1}, {double, 2}, {near, 1.01}, {twin, 1}} {
			stolen := 0.0
			if c.name == double && n < r.stolen {
				stolen = 0.1
			}
			add(c.name, 200,
				data.Value{Value: 400e3 * c.cost * weather * math.Exp(r.noise*rng.NormFloat64()), Unit: "server-cpu-ns/op"},
				data.Value{Value: 1000 / c.cost / weather, Unit: "MB/s"},
				data.Value{Value: 1e8, Unit: "window-ns"}, data.Value{Value: stolen, Unit: "stolen-ratio"})
			if c.name == double {
				add(c.name, 1, data.Value{Value: 502, Unit: sent})
				add(c.name, 199, data.Value{Value: 500, Unit: sent})
				continue
			}
			add(c.name, 200, data.Value{Value: 300, Unit: sent})
		}
		add(always, 1, data.Value{Value: 1, Unit: data.YesUnit})
		add(never, 1, data.Value{Value: 0, Unit: data.YesUnit})
		add(sometimes, 1, data.Value{Value: float64(n % 2), Unit: data.YesUnit})
		add(data.RoundCase, 1, data.Value{Value: 10e9, Unit: "round-ns"}, data.Value{Value: 9e9, Unit: "measured-ns"})
		file.Rounds = append(file.Rounds, round)
	}
	return file
}

// write records the run in its folder of dir.
func (r recording) write(t *testing.T, dir string) {
	t.Helper()
	file := r.file()
	w, err := data.Create(filepath.Join(dir, r.machine, "fixture.txt"), file.Header)
	if err != nil {
		t.Fatal(err)
	}
	for _, round := range file.Rounds {
		if err := w.Round(round.Samples); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Finish(false); err != nil {
		t.Fatal(err)
	}
}

// fixture is an analysis of the recordings.
func fixture() Analysis {
	return Analysis{
		Name: "fixture", Baseline: base, Units: []string{cpu, rate}, Observed: []string{sent},
		Pairs: []Pair{{sent, double, base}, {cpu, double, near}},
		Headlines: func(*Data) []Pair {
			return []Pair{{cpu, near, base}, {cpu, double, base}, {rate, double, base}, {cpu, double, base}, {cpu, rsa, base}}
		},
	}
}

// published are claims about the fixture.
var published = []claim.Claim{
	{ID: "cost", Article: "part4", Experiment: "fixture", Kind: claim.Absolute, Metric: cpu, Case: double, Value: "790", Unit: "us"},
	{ID: "dear", Article: "part4", Experiment: "fixture", Kind: claim.Absolute, Metric: cpu, Case: base, Value: "4", Unit: "ms"},
	{ID: "rsa", Article: "part4", Experiment: "fixture", Kind: claim.Absolute, Metric: cpu, Case: rsa, Value: "1", Unit: "ms"},
	{ID: "ratio", Article: "part4", Experiment: "fixture", Kind: claim.Ratio, Metric: rate, Case: near, Baseline: double, Value: "2", Unit: "x"},
	{ID: "other", Article: "part4", Experiment: "other", Kind: claim.Ratio, Metric: rate, Case: base, Baseline: double, Value: "2", Unit: "x"},
}

// compute computes the fixture on machines, of which the first is at hand.
func compute(t *testing.T, recordings ...recording) *Data {
	t.Helper()
	var machines []*samples.Machine
	for _, r := range recordings {
		machines = append(machines, samples.New(r.file()))
	}
	d, err := Compute(fixture(), machines[0], machines, published)
	if err != nil {
		t.Fatal(err)
	}
	return d
}
