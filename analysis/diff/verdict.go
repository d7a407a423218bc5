package main

import (
	"math"
	"slices"
	"strings"

	"github.com/aclements/go-moremath/mathx"

	"cryptocost/analysis/internal/samples"
	"cryptocost/analysis/internal/stat"
	"cryptocost/data"
	"cryptocost/env"
)

// alpha is the probability with which a table makes a false claim.
const alpha = 0.05

// A floor is how far two runs seem to differ in a unit where they can't. All
// its parts are ratios of at least 1, NaN where unknown.
type floor struct {
	unit  string
	whole bool // of the cases with one window instead of slices

	// twinsA and twinsB are what the baseline's two names differ by in one run.
	twinsA, twinsB float64
	// calibration is the shift of the calibration loop from one run to the
	// other, as far as its interval reaches; NaN for what is not time, such as
	// memory, and between different machines, whose processors it compares.
	calibration float64
}

// ratio is the noise floor: the greatest of the known parts, and NaN if
// neither run has twins, because without them nothing is known about noise
// from case to case.
func (f floor) ratio() float64 {
	ratio := math.NaN()
	for _, twins := range []float64{f.twinsA, f.twinsB} {
		if !math.IsNaN(twins) && !(ratio > twins) {
			ratio = twins
		}
	}
	if f.calibration > ratio {
		return f.calibration
	}
	return ratio
}

// calibrationUnit is the time of the fixed loop that runs after each slice.
const calibrationUnit = "calibration-sec/op"

// calibration compares the loop between the runs. The value of a round is the
// median over its cases.
func (c *comparison) calibration() stat.Comparison {
	return stat.Unpaired(calibrationRounds(c.a), calibrationRounds(c.b))
}

func calibrationRounds(m *samples.Machine) []float64 {
	byRound := make([][]float64, m.Rounds())
	for _, name := range m.Cases() {
		for i, v := range m.Rounded(name, calibrationUnit) {
			byRound[i] = append(byRound[i], v)
		}
	}
	var rounds []float64
	for _, values := range byRound {
		if len(values) > 0 {
			rounds = append(rounds, stat.Quantile(values, 0.5))
		}
	}
	return rounds
}

// setFloors computes the floor of each unit and gives it to the metrics.
// Without a baseline that both runs have, there is none.
func (c *comparison) setFloors() {
	if c.baseline == "" {
		for i := range c.metrics {
			c.metrics[i].floor = math.NaN()
		}
		return
	}
	loop := stat.Floor(c.calibration().Ratio)
	for i := range c.metrics {
		m := &c.metrics[i]
		calibration := math.NaN()
		if c.sameHardware && (isTime(m.unit) || isRate(m.unit)) {
			calibration = loop
		}
		j := slices.IndexFunc(c.floors, func(f floor) bool { return f.unit == m.unit && f.whole == isWhole(m.name) })
		if j < 0 {
			j = len(c.floors)
			c.floors = append(c.floors, floor{
				unit: m.unit, whole: isWhole(m.name), calibration: calibration,
				twinsA: twins(c.a, m.unit, isWhole(m.name)), twinsB: twins(c.b, m.unit, isWhole(m.name)),
			})
		}
		m.floor = c.floors[j].ratio()
	}
	slices.SortStableFunc(c.floors, func(f, g floor) int {
		switch {
		case f.whole == g.whole:
			return strings.Compare(f.unit, g.unit)
		case g.whole:
			return -1
		}
		return 1
	})
}

// twins gives the floor that a run's own twins show in a unit; NaN without.
func twins(m *samples.Machine, unit string, whole bool) float64 {
	ratio := math.NaN()
	for _, name := range m.Cases() {
		base, ok := strings.CutSuffix(name, samples.TwinSuffix)
		if !ok || isWhole(name) != whole {
			continue
		}
		if f := stat.Floor(stat.PairedRatio(m.Rounded(name, unit), m.Rounded(base, unit))); !(f <= ratio) {
			ratio = f
		}
	}
	return ratio
}

// A verdict is what the program says of a metric.
type verdict struct {
	kind kind
	// ruledOut is, for noDifference, the least relative difference that the
	// comparison rules out.
	ruledOut float64
	// beyond says, for undecided, that the intervals lie beyond the noise
	// floor and only p does not suffice.
	beyond bool
}

type kind int

const (
	undecided kind = iota
	noDifference
	lower  // B is below A
	higher // B is above A
)

// judge reaches the verdicts of all metrics.
//
// Between different machines a difference is claimed where its ratio's
// interval lies beyond the noise floor and p, corrected for the table, is
// below 0.05. Both are needed: p alone finds differences too small to mean
// anything, and the interval alone makes a false claim in one of 20 rows.
//
// On the same kind of hardware that is not enough. Rounds are replicates
// within a run, but there is one run on each side, and the machine's hour (its
// clock rate, its neighbours) is the same for all rounds of one: the p of
// absolute costs then only says that two hours differ, which they do by 5 to
// 10 % on shared machines. The calibration loop sees part of that, not all,
// because it stays in registers. What all cases of a run share cancels in the
// cost over the baseline. A difference is claimed only if it shows in both, in
// the same direction: in the absolute cost, so that a change of the baseline
// is not taken for one of all other cases, and in the relative cost, so that
// the hour is not taken for a change. The p of "both" is the greater of the
// two (an intersection-union test; Berger, "Multiparameter hypothesis testing
// and acceptance sampling", Technometrics 24, 1982).
//
// The baseline itself is held against the level of all cases. What that level
// shifted by is reported, not claimed: no comparison of two runs can tell an
// hour from a change that concerns every case.
func (c *comparison) judge() {
	ps := make([]float64, len(c.metrics))
	for i, m := range c.metrics {
		ps[i] = m.P
		if m.relative != nil {
			ps[i] = max(m.P, m.relative.P)
		}
	}
	for i, p := range stat.Holm(ps) {
		m := &c.metrics[i]
		m.HolmP = p
		ratios := []stat.Interval{m.Ratio}
		if m.relative != nil {
			// First, because it rules out more.
			ratios = []stat.Interval{m.relative.Ratio, m.Ratio}
		}
		m.verdict = decide(m.floor, p, ratios...)
	}
}

// decide reaches a verdict from ratios with their intervals.
//
// It is "no difference" where an interval contains 1 or lies within the floor.
// What is then ruled out is what lies beyond the interval widened by the floor
// on both sides; by the same rule a difference is beyond the floor where the
// widened interval does not contain 1. Where an interval leaves 1 out but
// reaches into the floor, the difference may be on either side of it, and
// nothing is decided.
func decide(floor, p float64, ratios ...stat.Interval) verdict {
	if math.IsNaN(floor) {
		return verdict{}
	}
	above, below := true, true
	for _, r := range ratios {
		if math.IsNaN(r.Low) {
			return verdict{}
		}
		if !r.Excludes(1) || r.Low >= 1/floor && r.High <= floor {
			return verdict{kind: noDifference, ruledOut: stat.RuledOut(stat.Interval{Low: r.Low / floor, High: r.High * floor})}
		}
		above = above && isAbove(r, floor)
		below = below && isBelow(r, floor)
	}
	switch {
	case !above && !below:
		return verdict{}
	case !(p < alpha):
		return verdict{beyond: true}
	case above:
		return verdict{kind: higher}
	}
	return verdict{kind: lower}
}

// isAbove and isBelow say whether a ratio lies beyond a floor with its whole
// interval.
func isAbove(r stat.Interval, floor float64) bool { return r.Low > floor }
func isBelow(r stat.Interval, floor float64) bool { return r.High < 1/floor }

// least is the smallest corrected p that a table of n metrics can have, where
// no values of A and B overlap: of a Mann-Whitney test, times n.
func (c *comparison) least() float64 {
	a, b := c.a.Rounds(), c.b.Rounds()
	return min(1, 2/mathx.Choose(a+b, a)*float64(len(c.metrics)))
}

// count counts the metrics with a verdict.
func (c *comparison) count(match func(verdict) bool) int {
	n := 0
	for _, m := range c.metrics {
		if match(m.verdict) {
			n++
		}
	}
	return n
}

func (v verdict) differs() bool { return v.kind == lower || v.kind == higher }

// word says what became of a quantity, by what it is: more of a rate is
// faster, more time is slower.
func (m metric) word() string {
	more := m.verdict.kind == higher
	switch {
	case isRate(m.unit) && more, isTime(m.unit) && !more:
		return "faster"
	case isRate(m.unit), isTime(m.unit):
		return "slower"
	case more:
		return "more"
	}
	return "less"
}

// sameHardware says whether two runs were on the same kind of machine; the
// server's as well, where it had one of its own.
func sameHardware(a, b map[string]string) bool {
	return env.SameHardware(a, b) && env.SameHardware(server(a), server(b))
}

// server gives the description of the server's own machine; empty: none.
func server(config map[string]string) map[string]string {
	there := map[string]string{}
	for k, v := range config {
		if name, ok := strings.CutPrefix(k, data.ServerPrefix); ok {
			there[name] = v
		}
	}
	return there
}
