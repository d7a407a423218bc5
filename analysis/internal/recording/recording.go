// Package recording simulates runs of experiments for the tests of analyses:
// files of samples of which the truth is known.
package recording

import (
	"maps"
	"math/rand/v2"
	"path/filepath"
	"strconv"
	"testing"

	"cryptocost/data"
	"cryptocost/env"
)

// A Run is a simulated run of an experiment.
type Run struct {
	Experiment string
	Machine    string
	Rounds     int
	Seed       uint64
	Tools      map[string]string // versions, by name
	Missing    []data.Missing
	// Round gives the samples of a round. What it draws depends on the seed
	// and the rounds before.
	Round func(*rand.Rand) []data.Sample
}

// File simulates the run.
func (r Run) File() *data.File {
	config := map[string]string{}
	for _, k := range env.Keys() {
		config[k.Name] = env.Unknown
	}
	maps.Copy(config, map[string]string{
		"schema": data.Schema, "experiment": r.Experiment, "machine": r.Machine, "profile": "standard", "rounds": strconv.Itoa(r.Rounds),
		"seed": strconv.FormatUint(r.Seed, 10), "cases": "all", "passes": "1", "slice": "100ms", "quota": "100ms",
	})
	for name, version := range r.Tools {
		config["tool-"+name] = version
	}
	file := &data.File{Header: data.Header{Config: config, Exact: []string{data.YesUnit}, Missing: r.Missing}}
	rng := rand.New(rand.NewPCG(r.Seed, 0))
	for n := range r.Rounds {
		round := data.Round{Number: n + 1, Samples: r.Round(rng)}
		round.Samples = append(round.Samples, data.Sample{Case: data.RoundCase, Ops: 1,
			Values: []data.Value{{Value: 10e9, Unit: "round-ns"}, {Value: 9e9, Unit: "measured-ns"}}})
		file.Rounds = append(file.Rounds, round)
	}
	return file
}

// Write records the run in its folder of dir.
func (r Run) Write(t testing.TB, dir string) {
	t.Helper()
	file := r.File()
	w, err := data.Create(filepath.Join(dir, r.Machine, r.Experiment+".txt"), file.Header)
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

// Window is the line of a window of eight operations.
func Window(name string, values ...data.Value) data.Sample {
	return data.Sample{Case: name, Ops: 8, Values: append(values, data.Value{Value: 1e8, Unit: "window-ns"},
		data.Value{Value: 0, Unit: "stolen-ratio"}, data.Value{Value: 0, Unit: "throttled-ratio"})}
}

// Exact is the line of an exact observation.
func Exact(name string, values ...data.Value) data.Sample {
	return data.Sample{Case: name, Ops: 1, Values: values}
}
