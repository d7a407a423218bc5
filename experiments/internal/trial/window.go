package trial

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"gonum.org/v1/gonum/stat"

	"cryptocost/data"
)

// A window sums up the slices of one case in one round.
type window struct {
	ops         int
	elapsed     time.Duration
	quantities  []Quantity
	latencies   []time.Duration
	tallies     []Tally
	involuntary int64
	noise       noise
}

// add sums a slice and what disturbed it.
func (w *window) add(s Slice, n noise) {
	w.ops += s.Ops
	w.elapsed += s.Elapsed
	w.latencies = append(w.latencies, s.Latencies...)
	w.involuntary += s.Involuntary
	w.noise = w.noise.plus(n)
	for _, q := range s.Quantities {
		i := slices.IndexFunc(w.quantities, func(have Quantity) bool { return have.Unit == q.Unit })
		if i < 0 {
			w.quantities = append(w.quantities, q)
			continue
		}
		w.quantities[i].Sum += q.Sum
		w.quantities[i].Per += q.Per
	}
	for _, t := range s.Tallies {
		i := slices.IndexFunc(w.tallies, func(have Tally) bool { return slices.Equal(have.Values, t.Values) })
		if i < 0 {
			w.tallies = append(w.tallies, t)
			continue
		}
		w.tallies[i].Ops += t.Ops
	}
}

// latencyPercentiles are those of all operations of a window.
var latencyPercentiles = []struct {
	name string
	p    float64
}{{"p50", 0.5}, {"p90", 0.9}, {"p99", 0.99}, {"max", 1}}

// samples gives the lines of the window: the window's own line, one for each
// tally, and raw latencies.
func (w *window) samples(name string, raw int, rng *rand.Rand) ([]data.Sample, error) {
	if w.ops < 1 {
		return nil, fmt.Errorf("case %s: no operation fits its slices", name)
	}
	var samples []data.Sample
	if len(w.quantities) > 0 {
		values, err := w.values()
		if err != nil {
			return nil, fmt.Errorf("case %s: %w", name, err)
		}
		samples = append(samples, data.Sample{Case: name, Ops: w.ops, Values: values})
	}
	slices.SortFunc(w.tallies, func(a, b Tally) int { return strings.Compare(fmt.Sprint(a.Values), fmt.Sprint(b.Values)) })
	for _, t := range w.tallies {
		samples = append(samples, data.Sample{Case: name, Ops: t.Ops, Values: t.Values})
	}
	kept := slices.Clone(w.latencies)
	rng.Shuffle(len(kept), func(i, j int) { kept[i], kept[j] = kept[j], kept[i] })
	for _, l := range kept[:min(raw, len(kept))] {
		samples = append(samples, data.Sample{Case: name, Ops: 1, Values: []data.Value{{Value: float64(l), Unit: "latency-ns/op"}}})
	}
	return samples, nil
}

// values are those of the window's own line.
func (w *window) values() ([]data.Value, error) {
	var values []data.Value
	for _, q := range w.quantities {
		if q.Per <= 0 {
			return nil, fmt.Errorf("%s: %v spread over %v", q.Unit, q.Sum, q.Per)
		}
		values = append(values, data.Value{Value: q.Sum / q.Per, Unit: q.Unit})
	}
	if len(w.latencies) > 0 {
		sorted := make([]float64, len(w.latencies))
		for i, l := range w.latencies {
			sorted[i] = float64(l)
		}
		slices.Sort(sorted)
		for _, p := range latencyPercentiles {
			values = append(values, data.Value{Value: stat.Quantile(p.p, stat.Empirical, sorted, nil), Unit: p.name + "-latency-ns/op"})
		}
	}
	values = append(values,
		data.Value{Value: float64(w.elapsed), Unit: "window-ns"},
		data.Value{Value: float64(w.involuntary), Unit: "involuntary-switches"})
	return append(values, w.noise.values()...), nil
}
