// Package recording simulates runs of experiments for the tests of analyses:
// files of samples of which the truth is known.
package recording

import (
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"cryptocost/analysis/internal/study"
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

// Analyze runs the analysis of runs on different machines, of which the first
// is the one at hand, with the claims of a file. The figures and tables go to
// out, or if that is empty to a folder that the test removes. Each of the
// files in want must have all of its texts.
func Analyze(t *testing.T, a study.Analysis, claims, out string, runs []Run, want map[string][]string) {
	t.Helper()
	dir := t.TempDir()
	if out == "" {
		out = t.TempDir()
	}
	for _, r := range runs {
		r.Write(t, dir)
	}
	if err := study.Run(a, []string{"-data", dir, "-out", out, "-machine", runs[0].Machine, "-claims", claims}, os.Stderr); err != nil {
		t.Fatal(err)
	}
	for _, name := range slices.Sorted(maps.Keys(want)) {
		content, err := os.ReadFile(filepath.Join(out, name))
		if err != nil {
			t.Error(err)
			continue
		}
		for _, text := range want[name] {
			if !strings.Contains(string(content), text) {
				t.Errorf("%s lacks %q:\n%s", name, text, content)
			}
		}
	}
}
