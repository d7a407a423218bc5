package claim

import (
	"math"
	"strings"

	"cryptocost/analysis/internal/number"
	"cryptocost/analysis/internal/stat"
	"cryptocost/analysis/internal/values"
)

// formulas compute published quantities that are not measured as such from
// the comparison of two cases.
var formulas = map[string]struct {
	difference   bool // of the difference; else of the ratio
	perRoundTrip bool // divided by the round trip of the case's wire before
	unit         string
	f            func(float64) float64 // rising
}{
	// The share of its handshakes that a server loses when one costs r times
	// the CPU.
	"lost-capacity": {unit: "share", f: func(r float64) float64 { return 1 - 1/r }},
	// 10 Gbit/s are 1.25 GB/s.
	"cores-at-10-gbit/s": {difference: true, unit: "cores", f: func(d float64) float64 { return 1.25e9 * d }},
	// What the claim is about, less what the baseline takes.
	"difference": {difference: true, unit: "sec", f: func(d float64) float64 { return d }},
	// A time by the round trips that it is, and what those are elsewhere.
	"round-trips":         {difference: true, perRoundTrip: true, unit: "round-trips", f: func(n float64) float64 { return n }},
	"at-100ms-round-trip": {difference: true, perRoundTrip: true, unit: "sec", f: func(n float64) float64 { return n * 0.1 }},
	"at-200ms-round-trip": {difference: true, perRoundTrip: true, unit: "sec", f: func(n float64) float64 { return n * 0.2 }},
}

// plus stands between the units of a sum.
const plus = " + "

// read measures a quantity as claims of that kind mean it.
func (j *judge) read(k Kind, q quantity) reading {
	a := j.alone(q)
	if q.against.experiment == "" {
		return a
	}
	b := newReading(q.unit, j.get(q.against, q.unit))
	var r reading
	if q.paired() {
		r = newReading("", j.require(q.of.experiment, values.Over(q.unit, q.of.name, q.against.name), ""))
	} else {
		// The widest interval that the two allow, whatever they have in common.
		r = reading{value: a.value / b.value, low: a.low / b.high, high: a.high / b.low, pointwise: a.pointwise || b.pointwise}
	}
	if !r.pointwise { // else there were too few rounds for a noise floor as well
		r.floor = j.floor(q.of.experiment, q.unit)
		if !q.paired() {
			r.floor *= j.floor(q.against.experiment, q.unit)
		}
		r.distinct = stat.Beyond(r.low, r.high, r.floor)
	}
	formula, computed := formulas[q.formula]
	if k == Difference || formula.difference {
		d := newReading(q.unit, j.require(q.of.experiment, values.Minus(q.unit, q.of.name, q.against.name), ""))
		d.floor, d.distinct = r.floor, r.distinct
		r = d
	}
	if computed {
		per := 1.0
		if formula.perRoundTrip {
			per = roundTrip(q.of.name)
		}
		r.unit, r.value, r.low, r.high = formula.unit, formula.f(r.value/per), formula.f(r.low/per), formula.f(r.high/per)
	}
	return r
}

// alone measures the case of a quantity, whatever its baseline. Of a sum the
// ends of the ranges are added too: its parts are exact.
func (j *judge) alone(q quantity) reading {
	var sum reading
	for i, unit := range strings.Split(q.unit, plus) {
		r := newReading(unit, j.get(q.of, unit))
		if i == 0 {
			sum = r
			continue
		}
		sum.unit = unit[strings.LastIndexByte(unit, '-')+1:]
		sum.value, sum.low, sum.high = sum.value+r.value, sum.low+r.low, sum.high+r.high
	}
	return sum
}

// floor is the noise floor of a unit; exact quantities have none.
func (j *judge) floor(experiment, unit string) float64 {
	if strings.HasSuffix(unit, "B/op") {
		return 1
	}
	if v, ok := j.tables[experiment].Get(j.machine, values.Floor(unit)); ok {
		return v.Value
	}
	return math.Inf(1) // no twins, or too few rounds: nothing is distinguished
}

// A reading is what was measured of one quantity.
type reading struct {
	unit             string // "" for ratios
	value, low, high float64
	pointwise        bool // there is no interval: low and high are the value
	// Of the ratio of two cases:
	floor    float64 // the noise floor; 0 without an interval
	distinct bool    // it differs from 1 by more than its interval and the floor
}

func newReading(unit string, v values.Value) reading {
	r := reading{unit: unit, value: v.Value, low: v.Low, high: v.High, pointwise: math.IsNaN(v.Low)}
	if r.pointwise {
		r.low, r.high = v.Value, v.Value
	}
	return r
}

// String formats the reading with its interval.
func (r reading) String() string {
	var value, interval string
	switch r.unit {
	case "":
		value, interval = number.Ratio(r.value), number.RatioInterval(r.low, r.high)
	case "share":
		value, interval = number.Percent(r.value), number.Percent(r.low)+" to "+number.Percent(r.high)
	default:
		value = number.Value(r.value, r.unit)
		if !r.pointwise {
			return number.Estimate(r.value, r.low, r.high, r.unit)
		}
	}
	switch {
	case r.pointwise:
		return value + " (no interval)"
	case r.low == r.high:
		return value
	}
	return value + " (" + interval + ")"
}
