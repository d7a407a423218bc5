package main

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"cryptocost/analysis/internal/number"
	"cryptocost/analysis/internal/samples"
	"cryptocost/analysis/internal/stat"
	"cryptocost/data"
)

// none stands for what there is not.
const none = "—"

// newReport says everything about two sides.
func newReport(a, b *side, all bool) report {
	var comparisons []*comparison
	for _, name := range experiments(a, b) {
		if lack(a, b, name) == "" {
			comparisons = append(comparisons, compare(a.files[name], b.files[name]))
		}
	}
	what := table{group: "side", columns: []string{"experiment", "profile", "rounds", "cases", "revision"}}
	describe(&what, a)
	describe(&what, b)
	r := report{{table: what}}
	if len(comparisons) > 0 {
		r = r.listing("Environment", "no recorded property of the machines differs", environments(comparisons))
		r = r.listing("Settings", "the runs had the same settings", settings(comparisons))
	}
	if t := notCompared(a, b, comparisons, all); len(t.rows) > 0 {
		r = append(r, block{heading: "Not compared", table: t})
	}
	if len(comparisons) > 0 {
		r = append(r, judging(comparisons))
	}
	for _, c := range comparisons {
		r = append(r, c.noise())
		for _, t := range []table{c.floorTable(), c.results(all)} {
			if len(t.rows) > 0 {
				r = append(r, block{table: t})
			}
		}
	}
	if len(comparisons) > 0 {
		r = append(r, summary(comparisons, all))
	}
	return r
}

// listing appends a table under a heading, or says that it is empty.
func (r report) listing(heading, empty string, t table) report {
	if len(t.rows) == 0 {
		return append(r, block{paragraphs: []string{heading + ": " + empty}})
	}
	return append(r, block{heading: heading, table: t})
}

// judging says how differences are judged, and how to read the tables.
func judging(comparisons []*comparison) block {
	var same, other []string
	for _, c := range comparisons {
		if c.sameHardware {
			same = append(same, c.name)
		} else {
			other = append(other, c.name)
		}
	}
	b := block{heading: "How differences are judged"}
	add := func(text string) { b.paragraphs = append(b.paragraphs, text) }
	if len(same) > 0 {
		add("Same kind of hardware (" + strings.Join(same, ", ") + "): the runs may differ by the machine's hour alone. " +
			"A difference is claimed only where both the cost and the cost over the baseline, in which what all cases share cancels, " +
			"lie beyond the noise floor: the most that the twins (the baseline under two names) seem to differ by in either run, " +
			"or the calibration loop from one run to the other.")
	}
	if len(other) > 0 {
		add("Different hardware (" + strings.Join(other, ", ") + "): a difference is claimed where the cost lies beyond the noise floor: " +
			"the most that the twins (the baseline under two names) seem to differ by in either run. " +
			"How much a machine changes from hour to hour is not in it, and not known from one run of each.")
	}
	add("Values are medians over rounds, ± as far as their 95 % interval reaches. p is corrected for the table of the experiment (Holm); " +
		"a claim needs p < 0.05. \"none > 5 %\": no difference, and more than 5 % is ruled out, noise floor included.")
	return b
}

// noise sums up what disturbed the two runs of an experiment.
func (c *comparison) noise() block {
	t := table{columns: []string{"noise", "A", "B", "B/A"}}
	share := func(name string, a, b float64) {
		t.add("", name, number.Percent(a), number.Percent(b), "")
	}
	share("run spent in windows", measuredShare(c.a), measuredShare(c.b))
	share("CPU time stolen", stolen(c.a), stolen(c.b))
	marked := func(m *samples.Machine) string {
		n, all := windows(m)
		return fmt.Sprintf("%s of %s", number.Count(n), number.Count(all))
	}
	t.add("", "windows that lost over "+number.Percent(samples.MarkRatio), marked(c.a), marked(c.b), "")
	loop := c.calibration()
	t.add("", "calibration loop", estimate(loop.A, calibrationUnit), estimate(loop.B, calibrationUnit), ratio(loop.Ratio))
	return block{heading: c.name, table: t}
}

// floorTable shows the noise floors and what they are made of.
func (c *comparison) floorTable() table {
	columns := []string{"", "noise floor", "twins A", "twins B"}
	if c.sameHardware {
		columns = append(columns, "calibration", "shift of all cases")
	}
	t := table{columns: columns}
	for _, f := range c.floors {
		name := f.unit
		if f.whole {
			name += ", whole windows"
		}
		cells := []string{name, beyondOne(f.ratio()), beyondOne(f.twinsA), beyondOne(f.twinsB)}
		if c.sameHardware {
			cells = append(cells, beyondOne(f.calibration), ratio(c.shifts[f.unit].Ratio))
		}
		t.add("", cells...)
	}
	return t
}

// beyondOne writes a ratio of at least 1 as what it has beyond 1.
func beyondOne(ratio float64) string { return number.Percent(ratio - 1) }

// results lists the differences, or everything.
func (c *comparison) results(all bool) table {
	t := table{group: "case", columns: []string{"", "A", "B", "B/A", "p", "difference"}}
	for _, name := range c.names() {
		for _, m := range c.metrics {
			if m.name == name && (all || m.verdict.differs()) {
				c.metricRows(&t, m)
			}
		}
		for _, m := range c.shown {
			if m.name == name && all {
				t.add(name, m.unit, written(m.A.Center, m.unit), written(m.B.Center, m.unit), ratio(m.Ratio), "", "not judged")
			}
		}
		for _, o := range c.exact {
			if o.name == name && (all || o.verdict == differs) {
				t.add(name, o.unit, observed(o.a, o.unit), observed(o.b, o.unit), "", "", o.verdict)
			}
		}
	}
	return t
}

// names are the compared cases in the experiment's order.
func (c *comparison) names() []string {
	var names []string
	for _, name := range c.a.Cases() {
		if slices.Contains(c.b.Cases(), name) {
			names = append(names, name)
		}
	}
	return names
}

// metricRows writes one metric and, on the same hardware, below it what else
// has to agree: the cost over the baseline, or, of the baseline, over the level
// of all cases. Doubts stand with the verdict.
func (c *comparison) metricRows(t *table, m metric) {
	said := m.says()
	if doubts := c.doubts(m); len(doubts) > 0 {
		said += "; " + strings.Join(doubts, "; ")
	}
	t.add(m.name, m.unit, estimate(m.A, m.unit), estimate(m.B, m.unit), ratio(m.Ratio), probability(m.HolmP), said)
	switch {
	case m.relative != nil && m.name == c.baseline:
		t.add(m.name, "  over all cases", "", "", ratio(m.relative.Ratio), "", "")
	case m.relative != nil:
		t.add(m.name, "  over the baseline", ratioEstimate(m.relative.A), ratioEstimate(m.relative.B), ratio(m.relative.Ratio), "", "")
	}
}

// doubts are those about a metric. That rounds are too few is said once, among
// what is not compared.
func (c *comparison) doubts(m metric) []string {
	if tooFew(c.a) != "" || tooFew(c.b) != "" {
		return nil
	}
	doubts := slices.Concat(m.A.Doubts, m.B.Doubts, m.Ratio.Doubts, m.Doubts)
	if r := m.relative; r != nil {
		doubts = slices.Concat(doubts, r.A.Doubts, r.B.Doubts, r.Ratio.Doubts)
	}
	return union(doubts, nil)
}

// tooFew says that a run has no intervals; empty: it has.
func tooFew(m *samples.Machine) string {
	return strings.Join(stat.Median(make([]float64, m.Rounds())).Doubts, "; ")
}

// says puts the verdict into words.
func (m metric) says() string {
	switch {
	case m.verdict.differs():
		return m.word()
	case m.verdict.kind == noDifference:
		return "none > " + number.Percent(m.verdict.ruledOut)
	case math.IsNaN(m.Ratio.Low):
		return "not decided"
	case math.IsNaN(m.floor):
		return "not decided: no twins"
	case m.verdict.beyond:
		return "not decided: p"
	}
	return "not decided"
}

// estimate writes a value with the reach of its interval.
func estimate(i stat.Interval, unit string) string {
	return plusMinus(written(i.Center, unit), i)
}

func ratioEstimate(i stat.Interval) string { return plusMinus(number.Ratio(i.Center), i) }

func plusMinus(center string, i stat.Interval) string {
	if reach := i.HalfWidth(); reach >= 0 && !math.IsInf(reach, 1) {
		return center + " ±" + number.Percent(reach)
	}
	return center
}

// written writes a value; what is neither time nor bytes has no unit beside it
// that its row doesn't name.
func written(v float64, unit string) string {
	switch base, _ := quantity(unit); base {
	case "sec", "B":
		return number.Value(v, unit)
	case "ratio":
		return number.Percent(v)
	}
	return number.Value(v, "")
}

// ratio writes the ratio of two runs with its interval.
func ratio(i stat.Interval) string {
	if math.IsNaN(i.Low) {
		return number.Ratio(i.Center)
	}
	return number.Ratio(i.Center) + " " + number.RatioInterval(i.Low, i.High)
}

// observed writes the range of exact values.
func observed(s span, unit string) string {
	switch {
	case unit == data.YesUnit && s.low < s.high:
		return "yes and no"
	case unit == data.YesUnit && s.low == 1:
		return "yes"
	case unit == data.YesUnit:
		return "no"
	case s.low == s.high:
		return written(s.low, unit)
	}
	return number.Interval(s.low, s.high, unit)
}

// probability writes p with as many digits as anyone reads.
func probability(p float64) string {
	switch {
	case math.IsNaN(p):
		return none
	case p < 0.001:
		return "<0.001"
	case p < 0.1:
		return strconv.FormatFloat(p, 'f', 3, 64)
	}
	return strconv.FormatFloat(p, 'f', 2, 64)
}

// summary has a paragraph for each experiment.
func summary(comparisons []*comparison, all bool) block {
	b := block{heading: "Summary"}
	for _, c := range comparisons {
		text := c.name + ": " + c.counts() + c.leftOpen(all) + "." + c.exactCounts() + c.shifted()
		b.paragraphs = append(b.paragraphs, text)
	}
	return b
}

// counts says how many metrics differ and how many do not.
func (c *comparison) counts() string {
	text := fmt.Sprintf("%s metrics compared, %s beyond the noise floor", number.Count(len(c.metrics)), verb(c.count(verdict.differs), "differs", "differ"))
	var largest metric
	for _, m := range c.metrics {
		if m.verdict.ruledOut > largest.verdict.ruledOut {
			largest = m
		}
	}
	if n := c.count(func(v verdict) bool { return v.kind == noDifference }); n > 0 {
		text += fmt.Sprintf("; %s not, and more than %s is ruled out for each (least precise: %s of %s)",
			verb(n, "does", "do"), number.Percent(largest.verdict.ruledOut), largest.unit, largest.name)
	}
	return text
}

// leftOpen says how many metrics are not decided, and why none can be.
func (c *comparison) leftOpen(all bool) string {
	n := c.count(func(v verdict) bool { return v.kind == undecided })
	if n == 0 {
		return ""
	}
	text := "; " + verb(n, "is", "are") + " not decided"
	if beyond := c.count(func(v verdict) bool { return v.beyond }); beyond > 0 {
		text += ", of which " + verb(beyond, "lies", "lie") + " beyond the floor with too great a p"
	}
	if !all {
		text += " (-all shows them)"
	}
	if least := c.least(); least >= alpha {
		text += fmt.Sprintf(". %d against %d rounds can show no difference in a table of %d, for p is at least %s in it: record more rounds of either",
			c.a.Rounds(), c.b.Rounds(), len(c.metrics), probability(least))
	}
	return text
}

func (c *comparison) exactCounts() string {
	n := 0
	for _, o := range c.exact {
		if o.verdict == differs {
			n++
		}
	}
	return fmt.Sprintf(" %d exact quantities compared, %s.", len(c.exact), verb(n, "differs", "differ"))
}

// shifted says in which units all cases together shifted by more than the
// floor.
func (c *comparison) shifted() string {
	var shifts []string
	for _, f := range c.floors {
		if shift := c.shifts[f.unit].Ratio; !f.whole && (isAbove(shift, f.ratio()) || isBelow(shift, f.ratio())) {
			shifts = append(shifts, fmt.Sprintf("%s by %s", f.unit, ratio(shift)))
		}
	}
	if len(shifts) == 0 {
		return ""
	}
	return " All cases together shifted in " + strings.Join(shifts, ", in ") +
		", which is not claimed as a difference: it may be the machine's hour or something that concerns every case. " +
		"Running both again, in turn, tells which."
}

// verb puts a number before the form of a verb that it needs.
func verb(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return number.Count(n) + " " + many
}
