package main

import (
	"math"
	"testing"

	"cryptocost/analysis/internal/samples"
	"cryptocost/analysis/internal/values"
	"cryptocost/data"
)

// machine gives each case the CPU time of the server in every round, in ns.
func machine(cases map[string][]float64) *samples.Machine {
	file := &data.File{Header: data.Header{Config: map[string]string{"machine": "xeon"}}}
	for name, rounds := range cases {
		for i, nanos := range rounds {
			if i == len(file.Rounds) {
				file.Rounds = append(file.Rounds, data.Round{Number: i + 1})
			}
			file.Rounds[i].Samples = append(file.Rounds[i].Samples,
				data.Sample{Case: name, Ops: 200, Values: []data.Value{{Value: nanos, Unit: "server-cpu-ns/op"}}})
		}
	}
	return samples.New(file)
}

func TestSpreads(t *testing.T) {
	// The logarithms of the ratios are -s, 0 and s: their standard deviation is s.
	up := func(s float64) []float64 { return []float64{100 * math.Exp(-s), 200, 300 * math.Exp(s)} }
	level := []float64{100, 200, 300}
	var table values.Table
	if err := spreads(machine(map[string][]float64{
		baseline: level, baseline + samples.TwinSuffix: up(0.02), whole: level, whole + samples.TwinSuffix: up(0.08),
	}), &table); err != nil {
		t.Fatal(err)
	}
	for key, want := range map[string]float64{
		"spread in slices": 0.02, "spread in whole windows": 0.08, "spread in slices over spread in whole windows": 0.25,
	} {
		v, ok := table.Get("xeon", key)
		if !ok || math.Abs(v.Value-want) > 1e-9 || v.N != 3 || v.Unit != "" || !math.IsNaN(v.Low) || !math.IsNaN(v.High) {
			t.Errorf("%s: %+v, want %v of 3 rounds", key, v, want)
		}
	}
}

func TestSpreadsAbsent(t *testing.T) {
	three := []float64{100, 200, 300}
	for name, cases := range map[string]map[string][]float64{
		"no whole windows": {baseline: three, baseline + samples.TwinSuffix: three},
		"no twin":          {baseline: three, whole: three, whole + samples.TwinSuffix: three},
		"a round is missing": {baseline: three, baseline + samples.TwinSuffix: three,
			whole: three, whole + samples.TwinSuffix: three[:2]},
		"one round": {baseline: three[:1], baseline + samples.TwinSuffix: three[:1],
			whole: three[:1], whole + samples.TwinSuffix: three[:1]},
	} {
		t.Run(name, func(t *testing.T) {
			var table values.Table
			if err := spreads(machine(cases), &table); err != nil {
				t.Fatal(err)
			}
			if table.Machines() != nil {
				t.Error("there are spreads")
			}
		})
	}
}

// TestRetryRows tests that each retry stands above its control.
func TestRetryRows(t *testing.T) {
	rows := retryRows()
	if len(rows) != 2*len(retries) {
		t.Fatalf("%d rows of %d retries", len(rows), len(retries))
	}
	for i, r := range rows {
		if retried := samples.Key(r.Case, "hrr") == "yes"; retried != (i%2 == 0) {
			t.Errorf("row %d is %s", i, r.Case)
		}
	}
}
