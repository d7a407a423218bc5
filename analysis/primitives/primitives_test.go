package main

import (
	"math"
	"slices"
	"testing"

	"cryptocost/analysis/internal/samples"
	"cryptocost/data"
)

// machine has one line for each case and round: the values of the cases in
// the order of rounds.
func machine(cases map[string][][]data.Value) *samples.Machine {
	file := &data.File{Header: data.Header{Config: map[string]string{"machine": "xeon"}}}
	for name, rounds := range cases {
		for i, values := range rounds {
			if i == len(file.Rounds) {
				file.Rounds = append(file.Rounds, data.Round{Number: i + 1})
			}
			file.Rounds[i].Samples = append(file.Rounds[i].Samples, data.Sample{Case: name, Ops: 1000, Values: values})
		}
	}
	return samples.New(file)
}

// call is the line of a case: its rate in MB/s, its CPU time of an operation
// in ns, and the calls that it takes.
func call(megabytes, nanos, calls float64) []data.Value {
	return []data.Value{{Value: megabytes, Unit: "MB/s"}, {Value: nanos, Unit: "cpu-ns/op"}, {Value: calls, Unit: "calls/op"}}
}

// crossing is the line of the call that does nothing.
func crossing(nanos float64) []data.Value {
	return []data.Value{{Value: nanos, Unit: "cpu-ns/op"}, {Value: 1, Unit: "calls/op"}}
}

func TestDerive(t *testing.T) {
	const (
		inGo    = "/lib=go/aead=aes-128-gcm/op=seal/size=1400/aes=on"
		foreign = "/lib=openssl/aead=aes-128-gcm/op=seal/size=1400/aes=on"
		speed   = "/lib=openssl-speed/aead=aes-128-gcm/op=seal/size=16384/aes=on"
		dear    = "/lib=openssl/aead=aes-128-gcm/op=seal/size=64/aes=on"
		exactly = "/lib=openssl/aead=aes-128-gcm/op=seal/size=256/aes=on"
	)
	m := machine(map[string][][]data.Value{
		callCase: {crossing(50), crossing(100)},
		inGo:     {{{Value: 4000, Unit: "MB/s"}}, {{Value: 5000, Unit: "MB/s"}}},
		foreign:  {call(1500, 900, 4), call(1400, 1100, 4)}, // 700 ns of work in either round
		dear:     {call(200, 300, 4), call(150, 390, 4)},    // the second is less than 4 crossings
		exactly:  {call(200, 300, 4), call(150, 400, 4)},    // the second is 4 crossings
		speed:    {{{Value: 6000, Unit: "MB/s"}}, {{Value: 6100, Unit: "MB/s"}}},
	})
	derive(m)
	for name, want := range map[string][]float64{
		inGo:     {4e9, 5e9},
		foreign:  {2e9, 2e9},
		dear:     nil,
		exactly:  nil,
		speed:    {6e9, 6.1e9}, // it has no crossings
		callCase: nil,
	} {
		got := m.Rounded(name, net)
		if (got == nil) != (want == nil) || !slices.EqualFunc(got, want, func(a, b float64) bool { return math.Abs(a-b) <= 1e-9*b }) {
			t.Errorf("%s: %v, want %v", name, got, want)
		}
	}
}

func TestDeriveWithoutCrossing(t *testing.T) {
	const foreign = "/lib=openssl/aead=aes-128-gcm/op=seal/size=1400/aes=on"
	m := machine(map[string][][]data.Value{foreign: {call(1500, 900, 4)}})
	derive(m)
	if got := m.Rounded(foreign, net); got != nil {
		t.Errorf("%v without the price of a crossing, want none", got)
	}
}

func TestTickLabel(t *testing.T) {
	for bytes, want := range map[float64]string{64: "64", 256: "256", 1400: "1,400", 1024: "1K", 8192: "8K", 16384: "16K"} {
		if got := tickLabel(bytes); got != want {
			t.Errorf("tickLabel(%v) = %q, want %q", bytes, got, want)
		}
	}
}

// TestHeadlines tests that each ratio is named once.
func TestHeadlines(t *testing.T) {
	list := headlines(nil)
	for i, p := range list {
		if slices.Contains(list[:i], p) {
			t.Errorf("%+v comes twice", p)
		}
		if p.Case == p.Base {
			t.Errorf("%+v is compared with itself", p)
		}
	}
}
