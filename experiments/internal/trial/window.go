package trial

import (
	"fmt"
	"maps"
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
	moments     map[string][]time.Duration
	tallies     []Tally
	parts       []part
	involuntary int64
	noise       noise
}

// A part is the window of a part of the operations.
type part struct {
	suffix string
	window window
}

// add sums a slice and what disturbed it.
func (w *window) add(s Slice, n noise) {
	w.elapsed += s.Elapsed
	w.involuntary += s.Involuntary
	w.noise = w.noise.plus(n)
	w.addOps(s)
	for _, p := range s.Parts {
		i := slices.IndexFunc(w.parts, func(have part) bool { return have.suffix == p.Suffix })
		if i < 0 {
			i = len(w.parts)
			w.parts = append(w.parts, part{suffix: p.Suffix})
		}
		w.parts[i].window.addOps(p.Slice)
	}
}

// addOps sums what the operations of a slice gave.
func (w *window) addOps(s Slice) {
	w.ops += s.Ops
	w.latencies = append(w.latencies, s.Latencies...)
	for name, times := range s.Moments {
		if w.moments == nil {
			w.moments = map[string][]time.Duration{}
		}
		w.moments[name] = append(w.moments[name], times...)
	}
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

// A percentile has the name of its unit.
type percentile struct {
	name string
	p    float64
}

// latencyPercentiles are those of all operations of a window.
var latencyPercentiles = []percentile{{"p50", 0.5}, {"p90", 0.9}, {"p99", 0.99}, {"max", 1}}

// samples gives the lines of the window: the window's own line with what
// disturbed it, one for each tally, raw latencies, and those of its parts.
func (w *window) samples(name string, raw int, rng *rand.Rand) ([]data.Sample, error) {
	around := append([]data.Value{
		{Value: float64(w.elapsed), Unit: "window-ns"},
		{Value: float64(w.involuntary), Unit: "involuntary-switches"},
	}, w.noise.values()...)
	samples, err := w.ownSamples(name, around, raw, rng)
	if err != nil {
		return nil, err
	}
	for _, p := range w.parts {
		more, err := p.window.ownSamples(name+p.suffix, nil, 0, rng)
		if err != nil {
			return nil, err
		}
		samples = append(samples, more...)
	}
	return samples, nil
}

// ownSamples are the lines under the window's own name. Its values, if it has
// any, are followed by those around it; a part, around which is nothing, keeps
// the median of its times only, since there are many parts.
func (w *window) ownSamples(name string, around []data.Value, raw int, rng *rand.Rand) ([]data.Sample, error) {
	if w.ops < 1 {
		return nil, fmt.Errorf("case %s: no operation fits its slices", name)
	}
	var samples []data.Sample
	kept := latencyPercentiles
	if around == nil {
		kept = latencyPercentiles[:1]
	}
	values, err := w.values(kept)
	if err != nil {
		return nil, fmt.Errorf("case %s: %w", name, err)
	}
	if len(values) > 0 {
		samples = append(samples, data.Sample{Case: name, Ops: w.ops, Values: append(values, around...)})
	}
	slices.SortFunc(w.tallies, func(a, b Tally) int { return strings.Compare(fmt.Sprint(a.Values), fmt.Sprint(b.Values)) })
	for _, t := range w.tallies {
		samples = append(samples, data.Sample{Case: name, Ops: t.Ops, Values: t.Values})
	}
	uniform := slices.Clone(w.latencies)
	rng.Shuffle(len(uniform), func(i, j int) { uniform[i], uniform[j] = uniform[j], uniform[i] })
	for _, l := range uniform[:min(raw, len(uniform))] {
		samples = append(samples, data.Sample{Case: name, Ops: 1, Values: []data.Value{{Value: float64(l), Unit: "latency-ns/op"}}})
	}
	return samples, nil
}

// values are the quantities and the percentiles kept of the window.
func (w *window) values(kept []percentile) ([]data.Value, error) {
	var values []data.Value
	for _, q := range w.quantities {
		if q.Per <= 0 {
			return nil, fmt.Errorf("%s: %v spread over %v", q.Unit, q.Sum, q.Per)
		}
		values = append(values, data.Value{Value: q.Sum / q.Per, Unit: q.Unit})
	}
	values = append(values, percentiles("latency", w.latencies, kept)...)
	for _, name := range slices.Sorted(maps.Keys(w.moments)) {
		values = append(values, percentiles(name, w.moments[name], kept)...)
	}
	return values, nil
}

// percentiles are those kept of times, none of no times.
func percentiles(name string, times []time.Duration, kept []percentile) []data.Value {
	if len(times) == 0 {
		return nil
	}
	sorted := make([]float64, len(times))
	for i, t := range times {
		sorted[i] = float64(t)
	}
	slices.Sort(sorted)
	var values []data.Value
	for _, p := range kept {
		values = append(values, data.Value{Value: stat.Quantile(p.p, stat.Empirical, sorted, nil), Unit: p.name + "-" + name + "-ns/op"})
	}
	return values
}
