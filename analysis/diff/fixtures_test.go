package main

import (
	"cmp"
	"maps"
	"math"
	"math/rand/v2"
	"path/filepath"
	"strconv"
	"testing"

	"cryptocost/analysis/internal/samples"
	"cryptocost/data"
	"cryptocost/env"
)

// A recording is a simulated run of one experiment.
type recording struct {
	experiment string // default keyexchange
	machine    string // default laptop
	rounds     int    // default 12
	seed       uint64
	config     map[string]string // over the defaults
	missing    []data.Missing
	cases      []string // default simulatedCases and the baseline's twin

	// weather multiplies all costs, calibration the loop's time: 1 if 0.
	weather, calibration float64
	// cost multiplies the server's CPU time of a case; nil: nothing.
	cost map[string]float64
	// sensitivity is the standard deviation of what the weather does to each
	// case beside the others.
	sensitivity float64
	// sentBytes are what a client sends; default 305.
	sentBytes float64
	// exact, if set, is all that each case observes, round by round.
	exact []float64
	// accepted turns the outcome of the check from yes into no.
	accepted bool
}

const simulatedBaseline = "/kex=x25519/cert=ecdsa-p256/tls=1.3"

// simulatedCases are cases with their cost for the server in ns.
var simulatedCases = []struct {
	name string
	cost float64
}{
	{"/kex=x25519mlkem768/cert=ecdsa-p256/tls=1.3", 560e3},
	{simulatedBaseline, 430e3},
	{"/kex=p256/cert=ecdsa-p256/tls=1.3", 450e3},
	{"/kex=p384/cert=ecdsa-p256/tls=1.3", 1100e3},
	{"/kex=p521/cert=ecdsa-p256/tls=1.3", 2300e3},
	{simulatedBaseline + samples.TwinSuffix, 430e3},
}

const simulatedCheck = "/check=rsa-kex-refused-by-default"

// baseCost is the cost of a case of that name, or of the baseline.
func baseCost(name string) float64 {
	for _, c := range simulatedCases {
		if c.name == name {
			return c.cost
		}
	}
	return 430e3
}

func (r recording) names() []string {
	if r.cases != nil {
		return r.cases
	}
	var names []string
	for _, c := range simulatedCases {
		names = append(names, c.name)
	}
	return append(names, simulatedCheck)
}

// file simulates the samples. Rounds vary by 5 % for all cases alike, and
// windows by 3 % each.
func (r recording) file() *data.File {
	rng := rand.New(rand.NewPCG(r.seed, 0))
	file := &data.File{Header: data.Header{Config: r.header(), Exact: []string{data.YesUnit, "clienthello-B/op"}, Missing: r.missing}}
	hour := map[string]float64{}
	for _, name := range r.names() {
		hour[name] = cmp.Or(r.weather, 1) * math.Exp(r.sensitivity*rng.NormFloat64())
	}
	if r.exact != nil {
		r.rounds, file.Exact = len(r.exact), nil
	}
	for n := range cmp.Or(r.rounds, 12) {
		round := data.Round{Number: n + 1}
		weather := math.Exp(0.05 * rng.NormFloat64())
		for _, name := range r.names() {
			if name == simulatedCheck {
				round.Samples = append(round.Samples, data.Sample{Case: name, Ops: 1, Values: []data.Value{{Value: truth(!r.accepted), Unit: data.YesUnit}}})
				continue
			}
			if r.exact != nil {
				round.Samples = append(round.Samples, data.Sample{Case: name, Ops: 1, Values: []data.Value{{Value: r.exact[n], Unit: "sent-B/op"}}})
				continue
			}
			round.Samples = append(round.Samples, r.window(rng, name, hour[name]*weather)...)
		}
		round.Samples = append(round.Samples, data.Sample{Case: data.RoundCase, Ops: 1, Values: []data.Value{
			{Value: 10e9, Unit: "round-ns"}, {Value: 9e9, Unit: "measured-ns"}}})
		file.Rounds = append(file.Rounds, round)
	}
	return file
}

// window simulates the lines of one case and round.
func (r recording) window(rng *rand.Rand, name string, weather float64) []data.Sample {
	vary := func(v float64) float64 { return v * math.Exp(0.03*rng.NormFloat64()) }
	cost := baseCost(name) * weather
	lines := []data.Sample{
		{Case: name, Ops: 200, Values: []data.Value{
			{Value: vary(cost * cmp.Or(r.cost[name], 1)), Unit: "server-cpu-ns/op"},
			{Value: vary(cost * 1.2), Unit: "client-cpu-ns/op"},
			{Value: vary(cost * 2), Unit: "p50-latency-ns/op"},
			{Value: vary(cost * 5), Unit: "p99-latency-ns/op"},
			{Value: vary(250e6), Unit: "window-ns"},
			{Value: 0.01 * rng.Float64(), Unit: "stolen-ratio"},
			{Value: 65e3 * cmp.Or(r.calibration, 1) * math.Exp(0.005*rng.NormFloat64()), Unit: "calibration-ns/op"},
		}},
		{Case: name, Ops: 1, Values: []data.Value{{Value: 241, Unit: "clienthello-B/op"}}},
	}
	for range 3 {
		lines = append(lines, data.Sample{Case: name, Ops: 66, Values: []data.Value{
			{Value: cmp.Or(r.sentBytes, 305), Unit: "sent-B/op"},
			{Value: 754 + float64(rng.IntN(4)), Unit: "received-B/op"},
		}})
	}
	return append(lines, data.Sample{Case: name, Ops: 1, Values: []data.Value{{Value: vary(cost * 2), Unit: "latency-ns/op"}}})
}

func truth(yes bool) float64 {
	if yes {
		return 1
	}
	return 0
}

// header describes the run.
func (r recording) header() map[string]string {
	config := map[string]string{}
	for _, k := range env.Keys() {
		config[k.Name] = env.Unknown
	}
	maps.Copy(config, map[string]string{
		"schema": data.Schema, "experiment": cmp.Or(r.experiment, "keyexchange"), "machine": cmp.Or(r.machine, "laptop"),
		"profile": "standard", "rounds": strconv.Itoa(cmp.Or(r.rounds, 12)), "seed": "1", "cases": "all",
		"passes": "67", "slice": "15ms", "quota": "1s",
		"cpu-brand": "Example Processor 3000", "cpu-threads": "8", "cpu-features": "AESNI AVX2 SSE4", "goos": "linux", "goarch": "amd64", "go": "go1.26.8",
		"kernel-release": "6.12.1", "revision": "0123456789abcdef0123456789abcdef01234567", "revision-dirty": "false", "tool-openssl": "3.0.19",
	})
	maps.Copy(config, r.config)
	return config
}

// write records the run in dir.
func (r recording) write(t *testing.T, dir string) {
	t.Helper()
	file := r.file()
	w, err := data.Create(filepath.Join(dir, file.Experiment()+".txt"), file.Header)
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

// samples gives the run as analyses read it.
func (r recording) samples() *samples.Machine { return samples.New(r.file()) }
