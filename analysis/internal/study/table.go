package study

import (
	"fmt"
	"math"
	"strings"

	"cryptocost/analysis/internal/claim"
	"cryptocost/analysis/internal/number"
	"cryptocost/analysis/internal/samples"
	"cryptocost/analysis/internal/stat"
	"cryptocost/analysis/internal/values"
	"cryptocost/data"
)

// A Row of a table is a case with the name by which the reader knows it.
type Row struct{ Name, Case string }

// Markdown writes a table; the first column is aligned left, the others
// right.
func Markdown(head []string, rows [][]string) string {
	var b strings.Builder
	line := func(cells []string) {
		b.WriteString("| " + strings.Join(cells, " | ") + " |\n")
	}
	line(head)
	rule := make([]string, len(head))
	for i := range rule {
		rule[i] = "---:"
	}
	rule[0] = "---"
	line(rule)
	for _, r := range rows {
		line(r)
	}
	return b.String()
}

// WithInterval writes a value in its unit, with its interval if it has one.
func WithInterval(v values.Value) string {
	return number.Estimate(v.Value, v.Low, v.High, v.Unit)
}

// Estimate writes a value of a machine with its interval, or why there is
// none.
func (d *Data) Estimate(m *samples.Machine, unit, name string) string {
	v, ok := d.Values.Get(m.Name, values.Case(unit, name))
	if !ok {
		return notMeasured(m, name)
	}
	text := WithInterval(v)
	if mostlyMarked(m, name) {
		text += " †"
	}
	return text
}

// Range writes the median of an exact quantity, with its range where it is
// not the same in all operations.
func (d *Data) Range(unit, name string) string {
	v, ok := d.Values.Get(d.Main.Name, values.Case(unit, name))
	if !ok {
		return notMeasured(d.Main, name)
	}
	return WithInterval(v)
}

// Difference writes by how much a case exceeds another, paired, with its
// interval; a dash where that was not computed. One whose ratio is within the
// noise floor is put in brackets, like that.
func (d *Data) Difference(unit, name, base string) string {
	v, ok := d.Values.Get(d.Main.Name, values.Minus(unit, name, base))
	if !ok {
		return "—"
	}
	text := WithInterval(v)
	if v.Value > 0 {
		text = "+" + text
	}
	ratio, hasRatio := d.Values.Get(d.Main.Name, values.Over(unit, name, base))
	if floor, ok := d.Values.Get(d.Main.Name, values.Floor(unit)); ok && hasRatio && !Beyond(ratio, floor.Value) {
		text = "[" + text + "]"
	}
	return text
}

// notMeasured says why a case has no value.
func notMeasured(m *samples.Machine, name string) string {
	if reason := m.Missing(name); reason != "" {
		return "not measured: " + reason
	}
	return "not measured"
}

// Ratio writes the paired ratio of two cases with its interval; a ratio that
// is within the noise floor is put in brackets.
func (d *Data) Ratio(m *samples.Machine, p Pair) string {
	v, ok := d.Values.Get(m.Name, values.Over(p.Unit, p.Case, p.Base))
	if !ok {
		if p.Case == p.Base {
			return "1"
		}
		return "—"
	}
	text := number.Ratio(v.Value)
	if v.Low < v.High {
		text += " (" + number.RatioInterval(v.Low, v.High) + ")"
	}
	if floor, ok := d.Values.Get(m.Name, values.Floor(p.Unit)); ok && !Beyond(v, floor.Value) {
		text = "[" + text + "]"
	}
	return text
}

// Beyond says whether a ratio with an interval lies wholly beyond 1 and the
// noise floor (a ratio of at least 1, in either direction).
func Beyond(ratio values.Value, floor float64) bool {
	return stat.Beyond(ratio.Low, ratio.High, floor)
}

// CostTable has a row for each case: the published value and the verdict on
// it, the median with its interval on each machine, and the paired ratio to
// the baseline on the machine at hand.
func (d *Data) CostTable(unit string, rows []Row) string {
	head := []string{"", "published", "verdict on it", d.Main.Name}
	for _, m := range d.Others() {
		head = append(head, m.Name)
	}
	head = append(head, "ratio to the baseline")
	var lines [][]string
	for _, r := range rows {
		line := []string{r.Name, d.PublishedText(unit, r.Case), d.Verdict(unit, r.Case), d.Estimate(d.Main, unit, r.Case)}
		for _, m := range d.Others() {
			line = append(line, d.Estimate(m, unit, r.Case))
		}
		line = append(line, d.Ratio(d.Main, Pair{unit, r.Case, d.Baseline}))
		lines = append(lines, line)
	}
	return Markdown(head, lines)
}

// Published gives the published value of a case in a unit: NaN if there is
// none, or a range.
func (d *Data) Published(unit, name string) float64 {
	if c, ok := claim.Find(d.Claims, d.Name, values.Case(unit, name)); ok {
		if p, ok := c.Published(); ok && p.Low == p.High {
			return p.Low
		}
	}
	return math.NaN()
}

// PublishedText writes the published value of a case.
func (d *Data) PublishedText(unit, name string) string {
	if v := d.Published(unit, name); !math.IsNaN(v) {
		return number.Value(v, unit)
	}
	return "—"
}

// Verdict is the word on the published value of a case; a dash where there is
// none.
func (d *Data) Verdict(unit, name string) string {
	c, ok := claim.Find(d.Claims, d.Name, values.Case(unit, name))
	if !ok {
		return "—"
	}
	return string(claim.Judge(c, claim.Tables{d.Name: d.Values}, d.Main.Name).Word)
}

// CheckTable has a row for each behaviour: whether it was observed.
func (d *Data) CheckTable(rows []Row) string {
	head := []string{"behaviour", d.Main.Name}
	for _, m := range d.Others() {
		head = append(head, m.Name)
	}
	var lines [][]string
	for _, r := range rows {
		line := []string{r.Name}
		for _, m := range append([]*samples.Machine{d.Main}, d.Others()...) {
			line = append(line, d.observed(m, r.Case))
		}
		lines = append(lines, line)
	}
	return Markdown(head, lines)
}

// observed says in how many rounds a behaviour was seen.
func (d *Data) observed(m *samples.Machine, name string) string {
	v, ok := d.Values.Get(m.Name, values.Case(data.YesUnit, name))
	switch {
	case !ok:
		return notMeasured(m, name)
	case v.Low == 1:
		return fmt.Sprintf("yes, in all %d rounds", v.N)
	case v.High == 0:
		return fmt.Sprintf("no, in none of %d rounds", v.N)
	default:
		return "in some rounds"
	}
}

// Wide is the table of the headline ratios whose interval is not narrow enough.
func (d *Data) Wide() (string, error) {
	headlines := d.headlines(d.Main)
	if len(headlines) == 0 {
		return "None has an interval.\n", nil
	}
	var lines [][]string
	for _, h := range headlines {
		if h.width >= NarrowRatio {
			lines = append(lines, []string{"`" + h.Case + "` over `" + h.Base + "`, " + h.Unit, "±" + number.Percent(h.width)})
		}
	}
	if len(lines) == 0 {
		return "None is wider.\n", nil
	}
	return Markdown([]string{"ratio", "half-width"}, lines), nil
}

// MedianWhiskers is the part of a subtitle that says what the marks are.
const MedianWhiskers = "dots: median over rounds; whiskers: its 95 % interval; hollow diamonds: published"

// Subtitle is the line under a figure's title.
func (d *Data) Subtitle(what string) string {
	return fmt.Sprintf("%s, %d rounds; %s", d.Main.Name, d.Main.Rounds(), what)
}
