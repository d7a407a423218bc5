package stat

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"golang.org/x/perf/benchmath"
)

var (
	nan = math.NaN()
	inf = math.Inf(1)
)

// upTo returns 1, 2, ... n in descending order, because no function may rely on the order.
func upTo(n int) []float64 {
	x := make([]float64, n)
	for i := range x {
		x[i] = float64(n - i)
	}
	return x
}

func repeat(v float64, n int) []float64 { return slices.Repeat([]float64{v}, n) }

// near reports whether two numbers agree to 9 digits, NaN and infinities being equal to themselves.
func near(x, y float64) bool {
	return x == y || math.Abs(x-y) <= 1e-9*math.Abs(y) || math.IsNaN(x) && math.IsNaN(y)
}

// checkInterval compares got with center, bounds and number of rounds, and looks for doubt ("" for none) in its doubts.
func checkInterval(t *testing.T, got Interval, center, low, high float64, n int, doubt string) {
	t.Helper()
	if !near(got.Center, center) || !near(got.Low, low) || !near(got.High, high) || got.N != n {
		t.Errorf("got %v [%v, %v] n=%d, want %v [%v, %v] n=%d", got.Center, got.Low, got.High, got.N, center, low, high, n)
	}
	doubts := strings.Join(got.Doubts, "; ")
	if (doubt == "") != (doubts == "") || !strings.Contains(doubts, doubt) {
		t.Errorf("doubts are %q, want %q", doubts, doubt)
	}
}

func TestMedian(t *testing.T) {
	for _, test := range []struct {
		name              string
		samples           []float64
		center, low, high float64
		doubt             string
	}{
		{"none", nil, nan, nan, nan, "no samples"},
		{"one", upTo(1), 1, nan, nan, "no interval: 1 of at least 6 rounds"},
		{"five", upTo(5), 3, nan, nan, "no interval: 5 of at least 6 rounds"},
		{"quick", upTo(6), 3.5, 1, 6, ""},
		{"standard", upTo(12), 6.5, 3, 10, ""},
		{"thorough", upTo(40), 20.5, 14, 27, ""},
		// Levels 127/128 and 119/128 around 95 % give the weight 189/202.
		{"interpolated", upTo(8), 4.5, 1 + 189.0/202, 8 - 189.0/202, ""},
		// Levels 63/64 and 7/8 would give the weight 11/15, but no more than 1/2 is safe.
		{"half interpolated", upTo(7), 4, 1.5, 6.5, ""},
		{"equal", repeat(0.1, 12), 0.1, 0.1, 0.1, ""},
		{"equal and interpolated", repeat(0.1, 7), 0.1, 0.1, 0.1, ""},
		{"zeros", repeat(0, 12), 0, 0, 0, ""},
		{"ties", []float64{1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3}, 2, 1, 3, ""},
		{"not a number", []float64{1, 2, nan, 4, 5, 6}, nan, nan, nan, "value 3 of 6 is NaN"},
		{"infinite", []float64{1, 2, 3, 4, 5, -inf}, nan, nan, nan, "value 6 of 6 is -Inf"},
		{"beyond arithmetic", []float64{1, 2, 3, 4, 5, 1e300}, nan, nan, nan, "value 6 of 6 is 1e+300"},
	} {
		t.Run(test.name, func(t *testing.T) {
			given := slices.Clone(test.samples)
			checkInterval(t, Median(given), test.center, test.low, test.high, len(given), test.doubt)
			if fmt.Sprint(given) != fmt.Sprint(test.samples) { // NaN differs from itself
				t.Errorf("the samples were changed to %v", given)
			}
		})
	}
}

// TestMedianAsBenchmath compares with an independent implementation where neither interpolates nor
// takes sides.
func TestMedianAsBenchmath(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 0))
	for _, n := range simulatedRounds {
		samples := make([]float64, n)
		for i := range samples {
			samples[i] = r.ExpFloat64()
		}
		sample := benchmath.NewSample(slices.Clone(samples), &benchmath.DefaultThresholds)
		want := benchmath.AssumeNothing.Summary(sample, confidence)
		checkInterval(t, Median(samples), want.Center, want.Lo, want.Hi, n, "")
	}
}

// TestMedianLevel bounds the level for any distribution from below, as medianDepth explains.
func TestMedianLevel(t *testing.T) {
	for n := minRounds; n <= 200; n++ {
		d, weight := medianDepth(n, highestLevel)
		level, inner := medianLevel(n, d), medianLevel(n, d+1)
		switch {
		case weight > 0.5:
			level = inner
		case weight > 0:
			level = (level + inner) / 2
		}
		if level < 0.929 || weight == 0 && level > highestLevel {
			t.Errorf("%d rounds: the level may be %.4f", n, level)
		}
	}
}

// TestMedianOfOtherRounds looks at numbers of rounds that no profile has, most of which are interpolated.
func TestMedianOfOtherRounds(t *testing.T) {
	replications := replications(t, 4000)
	for _, n := range []int{7, 8, 9, 10, 11, 13, 15, 16, 19, 20} {
		for _, test := range []struct {
			name  string
			noise func(*rand.Rand) float64
		}{
			{"lognormal", lognormal},
			{"exponential", exponential},
			{"bimodal", bimodal},
			{"symmetric", symmetric},
			// The median of two equal groups is in the gap between them.
			{"evenly split", func(r *rand.Rand) float64 {
				return 1 + math.Copysign(0.1, r.Float64()-0.5) + 0.02*r.NormFloat64()
			}},
		} {
			r := rand.New(rand.NewPCG(2, uint64(n)))
			var covered float64
			for range replications {
				samples := make([]float64, n)
				for i := range samples {
					samples[i] = test.noise(r)
				}
				covered += count(!Median(samples).Excludes(1))
			}
			name := fmt.Sprintf("%d rounds of %s noise", n, test.name)
			checkCoverage(t, name, covered/float64(replications), replications)
		}
	}
}

func TestQuantile(t *testing.T) {
	samples := []float64{10, 3, 1, 4, 2}
	for _, test := range []struct {
		samples []float64
		q, want float64
	}{
		{samples, 0, 1},
		{samples, 0.25, 2},
		{samples, 0.5, 3},
		{samples, 0.9, 7.6}, // quantile(c(1, 2, 3, 4, 10), 0.9) in R
		{samples, 1, 10},
		{[]float64{7}, 0.99, 7},
		{repeat(0.1, 10), 0.37, 0.1},
		{nil, 0.5, nan},
		{[]float64{1, nan}, 0.5, nan},
		{[]float64{1, inf}, 0.5, nan},
		{samples, -0.1, nan},
		{samples, 1.1, nan},
		{samples, nan, nan},
	} {
		if got := Quantile(test.samples, test.q); !near(got, test.want) {
			t.Errorf("Quantile(%v, %v) = %v, want %v", test.samples, test.q, got, test.want)
		}
	}
}

func TestReadings(t *testing.T) {
	for _, test := range []struct {
		center, low, high          float64
		halfWidth, floor, ruledOut float64
		excludesOne                bool
	}{
		{1.001, 0.985, 1.021, 0.020 / 1.001, 1.021, 0.021, false},
		{0.99, 0.95, 1.01, 0.04 / 0.99, 1 / 0.95, 0.05, false},
		{1, 1, 1, 0, 1, 0, false},
		{1.05, 1.02, 1.1, 0.05 / 1.05, 1.1, 0.1, true},
		{0.8, 0.7, 0.9, 0.125, 1 / 0.7, 0.3, true},
		{1.05, nan, nan, nan, nan, nan, false},
		{nan, nan, nan, nan, nan, nan, false},
		{0, 0, 0, 0, inf, 1, true},
		{0, -1, 1, inf, inf, 2, false},
		{-100, -102, -99, 0.02, inf, 103, true},
	} {
		i := Interval{Center: test.center, Low: test.low, High: test.high, N: 12}
		if got := i.HalfWidth(); !near(got, test.halfWidth) {
			t.Errorf("%v: half-width %v, want %v", i, got, test.halfWidth)
		}
		if got := Floor(i); !near(got, test.floor) {
			t.Errorf("%v: floor %v, want %v", i, got, test.floor)
		}
		if got := RuledOut(i); math.Abs(got-test.ruledOut) > 1e-12 || math.IsNaN(got) != math.IsNaN(test.ruledOut) {
			t.Errorf("%v: ruled out %v, want %v", i, got, test.ruledOut)
		}
		if got := i.Excludes(1); got != test.excludesOne {
			t.Errorf("%v: excludes 1 is %v, want %v", i, got, test.excludesOne)
		}
	}
}
