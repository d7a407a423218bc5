package stat

import (
	"fmt"
	"slices"

	"gonum.org/v1/gonum/stat"
)

// Line estimates the straight line y = intercept + slope·x from rounds in each of which y was measured at
// every x: y[i] has the value at x[i] of each round. The unit of the slope is that of y by that of x.
//
// Each round gives a line of its own by ordinary least squares, and the results are [Median] over the
// rounds of what those have. Rounds stay the replicates, as everywhere: what the values of one round have in
// common moves its line as a whole and is not taken for knowledge about the slope, as it would be in one
// regression over all values. Nothing is assumed of the noise, which on a delayed wire is skewed and need
// not be the same at all x.
//
// The interval is about the median of such lines. That is the true slope as far as the noise at the ends
// of x is alike; noise that grows with x adds its growth to the slope.
//
// If there are no two different x, if the lengths differ, or if a value is not a number, the centers are NaN
// and Doubts says why.
func Line(x []float64, y [][]float64) (slope, intercept Interval) {
	rounds := 0
	if len(y) > 0 {
		rounds = len(y[0])
	}
	if doubt := notLine(x, y); doubt != "" {
		return missing(rounds, doubt), missing(rounds, doubt)
	}
	slopes, intercepts := make([]float64, rounds), make([]float64, rounds)
	for r := range rounds {
		of := make([]float64, len(x))
		for i := range x {
			of[i] = y[i][r]
		}
		intercepts[r], slopes[r] = stat.LinearRegression(x, of, nil, false)
	}
	return Median(slopes), Median(intercepts)
}

// notLine says why no line can be put through the values; "" if one can.
func notLine(x []float64, y [][]float64) string {
	if len(x) != len(y) {
		return fmt.Sprintf("no line: %d places and values at %d", len(x), len(y))
	}
	if doubt := unusable(x); doubt != "" {
		return "places: " + doubt
	}
	if slices.Min(x) == slices.Max(x) {
		return fmt.Sprintf("no line: all values are at %v", x[0])
	}
	for i, of := range y {
		if len(of) != len(y[0]) {
			return fmt.Sprintf("not paired: %d rounds at %v and %d at %v", len(y[0]), x[0], len(of), x[i])
		}
		if doubt := unusable(of); doubt != "" {
			return fmt.Sprintf("at %v: %s", x[i], doubt)
		}
	}
	return ""
}
