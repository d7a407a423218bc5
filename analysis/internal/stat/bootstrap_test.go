package stat

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"testing"
)

// resampled returns the distribution of the median from all n^n ways to draw n of n values.
func resampled(x []float64) []atom {
	n := len(x)
	ways := int(math.Pow(float64(n), float64(n)))
	probability := map[float64]float64{}
	for way := range ways {
		drawn := make([]float64, n)
		for i := range drawn {
			drawn[i] = x[way%n]
			way /= n
		}
		probability[middle(sorted(drawn))] += 1 / float64(ways)
	}
	var medians []atom
	for v, p := range probability {
		medians = append(medians, atom{v, p})
	}
	slices.SortFunc(medians, func(s, t atom) int { return cmp.Compare(s.value, t.value) })
	return medians
}

func TestBootstrapMedian(t *testing.T) {
	for n := 1; n <= 7; n++ {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			x := make([]float64, n)
			for i := range x {
				x[i] = math.Exp2(float64(i)) // so that no two pairs have the same mean
			}
			got, want := bootstrapMedian(x), resampled(x)
			if len(got) != len(want) {
				t.Fatalf("%d medians, want %d", len(got), len(want))
			}
			for i, w := range want {
				if g := got[i]; g.value != w.value || math.Abs(g.probability-w.probability) > 1e-12 {
					t.Errorf("median %v with probability %v, want %v with %v", g.value, g.probability, w.value, w.probability)
				}
			}
		})
	}
}

// TestBootstrapProbabilities: what is left out as rare is too little to matter, also for large samples.
func TestBootstrapProbabilities(t *testing.T) {
	for _, n := range []int{12, 40, 41, 400, 5000} {
		var sum float64
		for _, m := range bootstrapMedian(sorted(upTo(n))) {
			sum += m.probability
		}
		if math.Abs(sum-1) > 1e-5 {
			t.Errorf("%d values: the probabilities add up to 1%+.2g", n, sum-1)
		}
	}
}

func TestRatioQuantile(t *testing.T) {
	x := []atom{{2, 0.25}, {3, 0.5}, {8, 0.25}}
	y := []atom{{1, 0.5}, {4, 0.5}}
	// The ratios 0.5, 0.75, 2, 2, 3 and 8 have the probabilities 1, 2, 1, 1, 2 and 1 eighth.
	for _, test := range []struct{ q, want float64 }{
		{0.025, 0.5}, {0.125, 0.5}, {0.126, 0.75}, {0.375, 0.75}, {0.376, 2}, {0.625, 2}, {0.626, 3}, {0.875, 3}, {0.876, 8}, {0.975, 8},
	} {
		if got := ratioQuantile(x, y, test.q); got != test.want {
			t.Errorf("quantile %v is %v, want %v", test.q, got, test.want)
		}
	}
}

// TestRatioQuantileOfNeighbours: the bisection ends where nothing lies between two numbers, and their mean
// rounds to either.
func TestRatioQuantileOfNeighbours(t *testing.T) {
	low := 1.0
	for range 4 {
		high := math.Nextafter(low, 2)
		x := []atom{{low, 0.5}, {high, 0.5}}
		if got := ratioQuantile(x, []atom{{1, 1}}, 0.025); got != low {
			t.Errorf("of %v and %v: the low quantile is %v", low, high, got)
		}
		if got := ratioQuantile(x, []atom{{1, 1}}, 0.975); got != high {
			t.Errorf("of %v and %v: the high quantile is %v", low, high, got)
		}
		low = high
	}
}
