package main

import (
	"math"
	"slices"
	"strings"

	"golang.org/x/perf/benchunit"

	"cryptocost/analysis/internal/samples"
	"cryptocost/analysis/internal/stat"
	"cryptocost/data"
)

// A comparison is that of one experiment.
type comparison struct {
	name         string
	a, b         *samples.Machine
	sameHardware bool
	baseline     string  // "": neither side has a case with a twin
	floors       []floor // by unit, of sliced cases before those of whole windows
	// shifts compares the levels of all cases by unit; nil between different
	// machines.
	shifts  map[string]stat.Comparison
	metrics []metric
	exact   []observation
	shown   []metric // without verdict
	gaps    []gap
}

// A metric is one quantity of one case, with a value for every round.
type metric struct {
	name, unit string
	stat.Comparison
	// relative compares the quantity over that of the baseline, taken round
	// by round; its A and B are the paired ratios of the two runs. For the
	// baseline it is over the level of all cases. It is nil between different
	// machines, and where there is nothing to take it over.
	relative *stat.Comparison
	floor    float64 // as ratio; NaN: unknown
	verdict  verdict
}

// A gap is what can't be compared.
type gap struct{ what, why string }

// compare lays two runs of one experiment side by side.
func compare(a, b *samples.Machine) *comparison {
	c := &comparison{name: a.File.Experiment(), a: a, b: b, sameHardware: sameHardware(a.File.Config, b.File.Config)}
	common := c.commonCases()
	c.baseline = baseline(common, a, b)
	for _, name := range common {
		c.compareCase(name)
	}
	if c.sameHardware {
		c.setRelative()
	}
	c.setFloors()
	c.judge()
	return c
}

// commonCases gives the cases that both sides measured, in A's order, and
// notes the others as gaps.
func (c *comparison) commonCases() []string {
	var common []string
	for _, name := range c.a.Cases() {
		if slices.Contains(c.b.Cases(), name) {
			common = append(common, name)
			continue
		}
		c.gaps = append(c.gaps, gap{name, absence(c.b, "A", "B", name)})
	}
	for _, name := range c.b.Cases() {
		if !slices.Contains(c.a.Cases(), name) {
			c.gaps = append(c.gaps, gap{name, absence(c.a, "B", "A", name)})
		}
	}
	for _, m := range c.a.File.Missing {
		if reason := c.b.Missing(m.Case); reason != "" {
			why := "not measured in A: " + m.Reason + "; in B: " + reason
			if reason == m.Reason {
				why = "measured in neither: " + reason
			}
			c.gaps = append(c.gaps, gap{m.Case, why})
		}
	}
	return common
}

// absence says why a case of one side is not among those of the other.
func absence(other *samples.Machine, here, there, name string) string {
	if reason := other.Missing(name); reason != "" {
		return "not measured in " + there + ": " + reason
	}
	if pattern := other.File.Config["cases"]; pattern != "all" {
		return "only in " + here + "; " + there + " was asked for the cases " + pattern
	}
	return "only in " + here
}

// baseline gives the case with which an experiment compares its others: the
// one whose twin it measures. (Twins of whole windows show what slicing is
// good for; they are not compared with.)
func baseline(common []string, sides ...*samples.Machine) string {
	for _, name := range common {
		for _, m := range sides {
			if !isWhole(name) && slices.Contains(m.Cases(), name+samples.TwinSuffix) {
				return name
			}
		}
	}
	return ""
}

// isWhole says whether a case has one window instead of slices.
func isWhole(name string) bool { return samples.Key(name, "window") == "whole" }

// isTwin says whether a case is a baseline under its second name.
func isTwin(name string) bool { return strings.HasSuffix(name, samples.TwinSuffix) }

// compareCase compares all quantities of one case.
func (c *comparison) compareCase(name string) {
	for _, unit := range union(c.a.Units(name), c.b.Units(name)) {
		a, b := c.a.Rounded(name, unit), c.b.Rounded(name, unit)
		switch {
		case isNoise(unit) && (a == nil || b == nil):
			continue // shown in the summary of the noise
		case a == nil:
			c.gaps = append(c.gaps, gap{name, unit + " is not in every round of A"})
		case b == nil:
			c.gaps = append(c.gaps, gap{name, unit + " is not in every round of B"})
		case c.isExact(unit):
			c.exact = append(c.exact, c.observe(name, unit))
		case isNoise(unit) || isTail(unit):
			c.shown = append(c.shown, metric{name: name, unit: unit, Comparison: stat.Unpaired(a, b), floor: math.NaN()})
		default:
			c.metrics = append(c.metrics, metric{name: name, unit: unit, Comparison: stat.Unpaired(a, b)})
		}
	}
	for _, unit := range union(tallied(c.a, name), tallied(c.b, name)) {
		o := c.observe(name, unit)
		switch {
		case o.a.n == 0:
			c.gaps = append(c.gaps, gap{name, unit + " is only in B"})
		case o.b.n == 0:
			c.gaps = append(c.gaps, gap{name, unit + " is only in A"})
		default:
			c.exact = append(c.exact, o)
		}
	}
}

// isNoise says whether a unit describes the window and what disturbed it
// (experiments/internal/trial), not the case.
func isNoise(unit string) bool {
	switch unit {
	case "window-sec", "involuntary-switches", "stolen-ratio", "throttled-ratio", calibrationUnit:
		return true
	}
	return false
}

// isTail says whether a unit is a percentile other than the median. The tail
// of a shared machine is its neighbours' work, and the lower percentiles tell
// little that the median doesn't.
func isTail(unit string) bool {
	qualifier, rest, ok := strings.Cut(unit, "-")
	switch {
	case !ok || !strings.HasSuffix(rest, "sec/op"):
		return false
	case qualifier == "max" || qualifier == "min":
		return true
	}
	return strings.HasPrefix(qualifier, "p") && strings.Trim(qualifier[1:], "0123456789.") == "" && qualifier != "p50"
}

// isExact says whether either run declared that a unit has no distribution.
func (c *comparison) isExact(unit string) bool {
	for _, m := range []*samples.Machine{c.a, c.b} {
		for _, exact := range m.File.Exact {
			if _, tidy := benchunit.Tidy(0, exact); tidy == unit {
				return true
			}
		}
	}
	return false
}

// tallied are the units of a case that come in lines of their own, counting
// operations that gave the same: bytes, yes or no. Times of single operations
// come so as well, but are summed up by the window's percentiles.
func tallied(m *samples.Machine, name string) []string {
	inWindows := m.Units(name)
	seen := map[string]bool{}
	var units []string
	for _, round := range m.File.Rounds {
		for _, s := range round.Samples {
			if s.Case != name {
				continue
			}
			for _, v := range s.Values {
				_, unit := benchunit.Tidy(v.Value, v.Unit)
				if !seen[unit] && !slices.Contains(inWindows, unit) && !isTime(unit) {
					units = append(units, unit)
				}
				seen[unit] = true
			}
		}
	}
	return units
}

// union gives what is in either list, sorted.
func union(a, b []string) []string {
	all := slices.Concat(a, b)
	slices.Sort(all)
	return slices.Compact(all)
}

// quantity splits a unit: "server-cpu-sec/op" is "sec" per "op".
func quantity(unit string) (base, per string) {
	numerator, per, _ := strings.Cut(unit, "/")
	return numerator[strings.LastIndexByte(numerator, '-')+1:], per
}

func isTime(unit string) bool {
	base, _ := quantity(unit)
	return base == "sec"
}

func isRate(unit string) bool {
	_, per := quantity(unit)
	return per == "s"
}

// An observation is an exact quantity of one case: the range of what was seen.
type observation struct {
	name, unit string
	a, b       span
	verdict    string
}

// A span is the least and the greatest value seen, and how many there were.
type span struct {
	low, high float64
	n         int
}

// What can be said of exact quantities.
const (
	same    = "same"
	overlap = "ranges overlap"
	differs = "differs"
)

// observe compares what two runs observed: the ranges are the same, or they
// differ. What varies from operation to operation in both of them, and was not
// declared to have no distribution, may also overlap, which is no difference:
// the lengths of ECDSA signatures vary so, and as the certificates are made
// anew in each run and signed too, whole ranges are shifted by a byte or two.
func (c *comparison) observe(name, unit string) observation {
	o := observation{name: name, unit: unit, a: spanOf(c.a.All(name, unit)), b: spanOf(c.b.All(name, unit))}
	vary := o.a.low < o.a.high && o.b.low < o.b.high && !c.isExact(unit)
	switch {
	case o.a.low == o.b.low && o.a.high == o.b.high:
		o.verdict = same
	case vary && o.a.low <= o.b.high && o.b.low <= o.a.high:
		o.verdict = overlap
	default:
		o.verdict = differs
	}
	return o
}

func spanOf(values []float64) span {
	if len(values) == 0 {
		return span{}
	}
	return span{slices.Min(values), slices.Max(values), len(values)}
}

// windows counts a run's windows and those that lost too much to steal or
// throttling.
func windows(m *samples.Machine) (marked, all int) {
	for _, name := range m.Cases() {
		if m.Units(name) != nil {
			marked += m.Marked(name)
			all += m.Rounds()
		}
	}
	return marked, all
}

// stolen is the mean share of CPU time that windows lost to steal; NaN if the
// system does not tell.
func stolen(m *samples.Machine) float64 {
	var sum, n float64
	for _, name := range m.Cases() {
		for _, v := range m.Rounded(name, "stolen-ratio") {
			sum += v
			n++
		}
	}
	return sum / n
}

// measuredShare is the share of its time that a run spent in windows; NaN if
// it did not say.
func measuredShare(m *samples.Machine) float64 {
	if m.Rounded(data.RoundCase, "round-sec") == nil {
		return math.NaN()
	}
	return m.Measured()
}
