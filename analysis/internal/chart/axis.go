package chart

import (
	"math"

	"cryptocost/analysis/internal/number"

	"gonum.org/v1/plot"
)

// An axis maps values to places along one direction of the canvas.
type axis struct {
	log       bool
	low, high float64 // values at the ends
	from, to  float64 // places of the ends
	unit      string  // tidied unit of the values
	scale     float64 // what values are divided by in tick labels
	label     string  // the unit that the quotients have
}

// wide is the span of a logarithmic axis, in decades, from which on its ticks
// carry their units ("100 µs", "1 ms") instead of sharing one.
const wide = 3

// A need is room that a mark wants for its label: so many points beyond value.
type need struct{ value, room float64 }

// newAxis returns the axis from place from to place to that shows all values and
// leaves the needed room. A linear axis starts at zero, a logarithmic one
// shortly before the smallest value, and spans at least two ticks.
func newAxis(unit string, log bool, from, to float64, values []float64, needs []need) axis {
	low, high := math.Inf(1), math.Inf(-1)
	for _, v := range values {
		if log && v <= 0 {
			continue // the end of an interval; its centre is positive
		}
		low, high = min(low, v), max(high, v)
	}
	a := axis{log: log, from: from, to: to, unit: unit}
	switch {
	case high <= 0 || math.IsInf(high, 0): // nothing to show
		a.low, a.high = 0, 1
		if log {
			a.low = 0.1
		}
	case log:
		a.low, a.high = low/1.2, high*1.05
	default:
		a.high = high * 1.02
	}
	a.makeRoom(needs)
	typical := a.high
	if log {
		typical = math.Sqrt(a.low * a.high)
	}
	a.scale, a.label = number.Axis(unit, typical)
	for log && len(a.decades(1, 2, 5)) < 2 {
		a.high *= 1.1
	}
	return a
}

// makeRoom moves the upper end away until all needed room is there.
func (a *axis) makeRoom(needs []need) {
	forward, back := func(v float64) float64 { return v }, func(v float64) float64 { return v }
	if a.log {
		forward, back = math.Log, math.Exp
	}
	length := math.Abs(a.to - a.from)
	low, high := forward(a.low), forward(a.high)
	for _, n := range needs {
		if share := 1 - n.room/length; share > 0 && n.value > a.low {
			high = max(high, low+(forward(n.value)-low)/share)
		}
	}
	a.high = back(high)
}

// at returns the place of v. Values beyond the ends are put at the ends.
func (a axis) at(v float64) float64 {
	var n plot.Normalizer = plot.LinearScale{}
	if a.log {
		n = plot.LogScale{}
	}
	v = min(max(v, a.low), a.high)
	return a.from + (a.to-a.from)*n.Normalize(a.low, a.high, v)
}

// wide reports whether ticks carry their units.
func (a axis) wide() bool { return a.log && a.high/a.low >= math.Pow(10, wide) }

// title returns what the axis is labelled with.
func (a axis) title(quantity string) string {
	if a.label != "" && !a.wide() {
		quantity += ", " + a.label
	}
	if a.log {
		quantity += " (log scale)"
	}
	return quantity
}

// A tick is a marked value of an axis. One without label is a grid line only.
type tick struct {
	place float64
	label string
}

// ticks returns the finest set of ticks whose labels, being as long along the
// axis as extent says, don't touch.
func (a axis) ticks(extent func(label string) float64) []tick {
	if a.log {
		return a.logTicks(extent)
	}
	const most = 8
	step := math.Pow10(int(math.Floor(math.Log10(a.high/a.scale/most))) - 1)
	for {
		for _, factor := range []float64{1, 2, 5} {
			var values []float64
			for i := 0.0; i*step*factor <= a.high/a.scale; i++ {
				values = append(values, i*step*factor*a.scale)
				if i > most {
					break
				}
			}
			if ticks := a.labelled(values); len(values) <= most && apart(ticks, extent) {
				return ticks
			}
		}
		step *= 10
	}
}

// logTicks returns ticks at 1, 2 and 5 in every decade, and labels as many of
// them as have room: all, the decades, or every so many decades.
func (a axis) logTicks(extent func(label string) float64) []tick {
	all := a.labelled(a.decades(1, 2, 5))
	if apart(all, extent) {
		return all
	}
	whole := a.labelled(a.decades(1))
	for every := 1; ; every++ {
		kept := make(map[float64]bool)
		var labelled []tick
		for i := 0; i < len(whole); i += every {
			labelled = append(labelled, whole[i])
			kept[whole[i].place] = true
		}
		if !apart(labelled, extent) {
			continue
		}
		for i := range all {
			if !kept[all[i].place] {
				all[i].label = ""
			}
		}
		return all
	}
}

// decades returns the values within the axis that print as one of factors times
// a power of ten.
func (a axis) decades(factors ...float64) []float64 {
	var values []float64
	first, last := math.Floor(math.Log10(a.low/a.scale)), math.Ceil(math.Log10(a.high/a.scale))
	for e := first; e <= last; e++ {
		for _, f := range factors {
			if v := f * math.Pow(10, e) * a.scale; v >= a.low && v <= a.high {
				values = append(values, v)
			}
		}
	}
	return values
}

func (a axis) labelled(values []float64) []tick {
	ticks := make([]tick, len(values))
	for i, v := range values {
		ticks[i] = tick{a.at(v), number.Tick(v / a.scale)}
		if a.wide() {
			ticks[i].label = number.Mark(v, a.unit)
		}
	}
	return ticks
}

// apart reports whether the labels of ticks, which are in order, have room.
func apart(ticks []tick, extent func(label string) float64) bool {
	for i := 0; i+1 < len(ticks); i++ {
		needed := (extent(ticks[i].label)+extent(ticks[i+1].label))/2 + labelGap
		if math.Abs(ticks[i+1].place-ticks[i].place) < needed {
			return false
		}
	}
	return true
}
