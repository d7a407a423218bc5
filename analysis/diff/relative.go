package main

import (
	"slices"

	"cryptocost/analysis/internal/samples"
	"cryptocost/analysis/internal/stat"
)

// setRelative compares, between two runs on the same kind of hardware, what
// the machine's hour does not touch.
func (c *comparison) setRelative() {
	c.shifts = map[string]stat.Comparison{}
	for i := range c.metrics {
		m := &c.metrics[i]
		if _, ok := c.shifts[m.unit]; !ok {
			c.shifts[m.unit] = stat.Unpaired(c.levels(m.unit))
		}
		overA, overB := c.a.Rounded(c.baseline, m.unit), c.b.Rounded(c.baseline, m.unit)
		if m.name == c.baseline {
			overA, overB = c.levels(m.unit)
		}
		if overA == nil || overB == nil {
			continue
		}
		a, b := c.a.Rounded(m.name, m.unit), c.b.Rounded(m.name, m.unit)
		relative := stat.Unpaired(quotients(a, overA), quotients(b, overB))
		relative.A, relative.B = stat.PairedRatio(a, overA), stat.PairedRatio(b, overB)
		m.relative = &relative
	}
}

// quotients divides round by round. What is no number is refused by package
// stat.
func quotients(a, b []float64) []float64 {
	q := make([]float64, len(a))
	for i := range a {
		q[i] = a[i] / b[i]
	}
	return q
}

// fewestLevel is how many cases make a level: with fewer, one that changed
// would move it.
const fewestLevel = 3

// levels give, for each round of either run, the level of all cases in a unit:
// the median over the cases of the value divided by the case's median in A. It
// is 1 in a typical round of A. Unlike the baseline alone it does not move when
// a few cases change. The twin is left out, since it is the baseline again;
// nil if too few cases are left.
func (c *comparison) levels(unit string) (a, b []float64) {
	var scaledA, scaledB [][]float64
	for _, m := range c.metrics {
		if m.unit == unit && !isTwin(m.name) && !isWhole(m.name) {
			scaledA = append(scaledA, scaled(c.a, m))
			scaledB = append(scaledB, scaled(c.b, m))
		}
	}
	if len(scaledA) < fewestLevel {
		return nil, nil
	}
	return medians(scaledA), medians(scaledB)
}

func scaled(run *samples.Machine, m metric) []float64 {
	values := slices.Clone(run.Rounded(m.name, m.unit))
	for i := range values {
		values[i] /= m.A.Center
	}
	return values
}

// medians gives the median over rows for each column.
func medians(rows [][]float64) []float64 {
	result := make([]float64, len(rows[0]))
	for i := range result {
		var column []float64
		for _, row := range rows {
			column = append(column, row[i])
		}
		result[i] = stat.Quantile(column, 0.5)
	}
	return result
}
