package stat

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"sync"

	"github.com/aclements/go-moremath/mathx"
	"github.com/aclements/go-moremath/stats"
)

// Comparison is what two independent samples say about each other.
type Comparison struct {
	// A and B are the medians of the two samples.
	A, B Interval

	// Ratio is that of the medians, B to A; its N is the smaller of the two.
	Ratio Interval

	// P is the probability of samples at least as different if both came from one distribution. It is
	// NaN if a sample is empty or unusable.
	P float64

	// HolmP is P corrected for the number of comparisons made with it. Unpaired sets it to P, the
	// correction for a table of one; see [Holm].
	HolmP float64

	// Doubts are those about P. The intervals have their own.
	Doubts []string
}

// Unpaired compares one case on two machines, or any samples whose rounds have nothing in common.
//
// P is that of the two-sided Mann-Whitney U test (Mann and Whitney, "On a test of whether one of two random
// variables is stochastically larger than the other", Annals of Mathematical Statistics 18, 1947): exact up
// to 50 rounds, with ties up to 25, approximate beyond.
//
// Ratio is B's median to A's with the percentile bootstrap interval (Efron, "Bootstrap methods: another
// look at the jackknife", Annals of Statistics 7, 1979). The bootstrap distribution is computed, not
// sampled, so it needs no random numbers; see ratioOfMedians. It needs positive values.
//
// The two can disagree, because P compares distributions and the interval medians. Of machines with equal
// medians one of which is quiet and the other noisy, up to 14 % have P below 0.05 ("one-sided" in
// [Simulate]), and the interval still contains 1 in up to half of these cases. Require both before calling a
// difference one.
//
// Note: the Hodges-Lehmann shift of the logarithms, with the interval that inverts the U test (Hollander and
// Wolfe, section 4.3), is narrower, but covers the ratio of medians in only 90 % where one machine is quiet and
// the other noisy, as a test shows. The accelerated bootstrap (BCa) needs a smooth statistic, which
// the median is not.
func Unpaired(a, b []float64) Comparison {
	c := Comparison{A: Median(a), B: Median(b), P: math.NaN(), HolmP: math.NaN()}
	n := min(len(a), len(b))
	if doubt := firstDoubt(unusable, a, b); doubt != "" {
		c.Ratio = missing(n, doubt)
		c.Doubts = []string{doubt}
		return c
	}
	c.P = mannWhitney(a, b)
	c.HolmP = c.P
	if least := 2 / mathx.Choose(len(a)+len(b), len(a)); least >= alpha { // no overlap at all
		c.Doubts = append(c.Doubts, fmt.Sprintf("%d and %d rounds can't differ: p is at least %.2f", len(a), len(b), least))
	}
	if doubt := notRatios(a, b); doubt != "" {
		c.Ratio = missing(n, doubt)
		return c
	}
	c.Ratio = ratioOfMedians(a, b)
	return c
}

// mannWhitney returns the two-sided p value of the U test; 1 if all values are equal.
func mannWhitney(a, b []float64) float64 {
	all := sorted(slices.Concat(a, b))
	ties := len(slices.Compact(all)) < len(a)+len(b)
	if ties || len(a) > exactRounds || len(b) > exactRounds {
		result, err := stats.MannWhitneyUTest(a, b, stats.LocationDiffers)
		if err != nil {
			return 1 // the samples are not empty, so it is stats.ErrSamplesEqual
		}
		return min(result.P, 1) // twice a tail of a discrete distribution can exceed 1
	}
	var u int
	for _, x := range a {
		for _, y := range b {
			if x < y {
				u++
			}
		}
	}
	tail := uTail{len(a), len(b), min(u, len(a)*len(b)-u)}
	return min(2*remembered(&uTails, tail, uTail.probability), 1)
}

// uTail is the event U <= u for samples of n1 and n2 values.
type uTail struct{ n1, n2, u int }

var uTails sync.Map

// probability is that of the event under the null hypothesis, without ties.
func (t uTail) probability() float64 {
	return stats.UDist{N1: t.n1, N2: t.n2}.CDF(float64(t.u))
}

// Holm returns the p values of a table corrected for its size, in the order given: calling those
// differences real whose corrected value is below 0.05 makes one or more false claims in at most 5 % of
// tables, whatever the dependence between the comparisons (Holm, "A simple sequentially rejective multiple
// test procedure", Scandinavian Journal of Statistics 6, 1979). NaN stays NaN and does not count.
func Holm(ps []float64) []float64 {
	adjusted := slices.Clone(ps)
	order := make([]int, 0, len(ps))
	for i, p := range ps {
		if !math.IsNaN(p) {
			order = append(order, i)
		}
	}
	slices.SortStableFunc(order, func(i, j int) int { return cmp.Compare(ps[i], ps[j]) })
	var least float64 // a corrected value is never below that of a smaller p
	for rank, i := range order {
		least = max(least, min(1, float64(len(order)-rank)*ps[i]))
		adjusted[i] = least
	}
	return adjusted
}
