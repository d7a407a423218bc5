package main

import (
	"math"

	"cryptocost/analysis/internal/samples"
	"cryptocost/analysis/internal/stat"
	"cryptocost/analysis/internal/wire"
)

// tolerance is how far a slope may be from a whole number of waits, as a share
// of it.
const tolerance = 0.02

// near is how far a difference of times may be from the round trips that it
// should be, in seconds, and slight how far one of waits; lateLimit is what
// package link calls a packet behind.
const (
	near      = 1e-3
	slight    = 0.05
	lateLimit = 300e-6
)

// derive adds to each case on a wire with a delay how many round trips the
// delay adds to its time ([waits]), and how much of its time the counted waits
// don't explain ([rest]).
func derive(m *samples.Machine) {
	for _, name := range m.Cases() {
		w, ok := wire.Parse(samples.Key(name, "wire"))
		times := m.Rounded(name, latency)
		if !ok || w.RoundTrip() == 0 || times == nil {
			continue
		}
		if without := m.Rounded(elsewhere(name, zero), latency); without != nil {
			added := make([]float64, len(times))
			for i := range times {
				added[i] = (times[i] - without[i]) / w.RoundTrip()
			}
			m.Derive(name, waits, added)
		}
		if count := m.All(name, counted); len(count) > 0 {
			left := make([]float64, len(times))
			for i := range times {
				left[i] = times[i] - stat.Quantile(count, 0.5)*w.RoundTrip()
			}
			m.Derive(name, rest, left)
		}
	}
}

// A fit is the line through the times of a kind over the symmetric wires.
type fit struct {
	roundTrips       []float64
	slope, intercept stat.Interval
}

// fitOf fits the times of a kind on those of the fitted wires that it was
// measured on; without a line, if these are fewer than two.
func fitOf(m *samples.Machine, conn string) fit {
	var f fit
	var times [][]float64
	for _, name := range fitted {
		w, ok := wire.Parse(name)
		if rounds := m.Rounded(on(name, conn), latency); ok && rounds != nil {
			f.roundTrips = append(f.roundTrips, w.RoundTrip())
			times = append(times, rounds)
		}
	}
	f.slope, f.intercept = stat.Line(f.roundTrips, times)
	return f
}

// number is the whole number of waits next to the slope.
func (f fit) number() float64 { return math.Round(f.slope.Center) }

// whole says whether the slope is a whole number of waits within the tolerance.
func (f fit) whole() bool {
	return f.number() > 0 && math.Abs(f.slope.Center-f.number()) <= tolerance*f.number()
}

// narrow says whether all of the slope's interval is within the tolerance. In 6
// rounds it reaches from the least to the greatest, so one that was disturbed is
// enough to make it wider.
func (f fit) narrow() bool {
	return f.slope.Low >= f.number()*(1-tolerance) && f.slope.High <= f.number()*(1+tolerance)
}
