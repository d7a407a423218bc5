// Package stat turns the rounds of an experiment into estimates with 95 % confidence intervals, and
// says how sure one can be that two of them differ.
//
// A sample is one value per round (never one per operation: operations of a process share its layout
// and its moment). Which function to use follows from where the values come from:
//
//   - one case of one machine: [Median];
//   - two cases of one machine, which ran in the same rounds: [PairedRatio] and [PairedDifference];
//   - one case on two machines: [Unpaired], and [Holm] over the table of such comparisons;
//   - the same case twice under two names (the A/A twins): [Floor] and [Spread].
//
// No function assumes a distribution, none is random, and none panics: what speaks against a result
// travels with it as Doubts. [Simulate] shows how often the intervals hold what they promise.
package stat

import (
	"fmt"
	"math"
	"slices"
	"sort"
	"sync"

	"github.com/montanaflynn/stats"
	"gonum.org/v1/gonum/stat/distuv"
)

const (
	// confidence is the level of all intervals.
	confidence = 0.95

	// alpha is the probability of a false claim that goes with it.
	alpha = 1 - confidence

	// The level of an interval can't always be met exactly; between these two, 93 and 97 % when rounded,
	// it is close enough.
	lowestLevel  = 0.925
	highestLevel = 0.97

	// minRounds is the fewest rounds with an interval. The widest distribution-free interval, from
	// the least value to the greatest, reaches the level only at 6: 1 - 2/2⁶ = 96.9 %.
	minRounds = 6

	// largest is the greatest magnitude accepted. It keeps every sum, difference and ratio finite, so
	// that an interval is either made of numbers or missing.
	largest = 1e150
)

// Interval is an estimate with its 95 % confidence interval, in the unit of the samples (or without
// one, if it is a ratio).
type Interval struct {
	// Center is the estimate: NaN if there is none, and Doubts says why.
	Center float64

	// Low and High bound the interval, Low <= Center <= High. They are NaN under 6 rounds.
	Low, High float64

	// N is the number of rounds.
	N int

	// Doubts are reasons not to trust the estimate or the interval, as phrases to be printed beside it.
	Doubts []string
}

// HalfWidth returns how far the interval reaches from its center, to the farther side, as a share of
// the center: 0.02 for 100 [99, 102]. It is NaN without an interval.
func (i Interval) HalfWidth() float64 {
	reach := max(i.High-i.Center, i.Center-i.Low)
	if reach == 0 {
		return 0 // also where all samples are 0
	}
	return reach / math.Abs(i.Center)
}

// Excludes reports whether there is an interval and value lies outside.
func (i Interval) Excludes(value float64) bool {
	return value < i.Low || value > i.High
}

// missing is an Interval without an estimate.
func missing(n int, doubt string) Interval {
	return Interval{Center: math.NaN(), Low: math.NaN(), High: math.NaN(), N: n, Doubts: []string{doubt}}
}

// withoutBounds is an estimate from too few rounds for an interval.
func withoutBounds(center float64, n int) Interval {
	i := missing(n, fmt.Sprintf("no interval: %d of at least %d rounds", n, minRounds))
	i.Center = center
	return i
}

// unusable says which of the samples can't be computed with, and why; "" if all can.
func unusable(samples []float64) string {
	if len(samples) == 0 {
		return "no samples"
	}
	for i, v := range samples {
		if math.IsNaN(v) || math.Abs(v) > largest {
			return fmt.Sprintf("value %d of %d is %v", i+1, len(samples), v)
		}
	}
	return ""
}

// notPositive says which of the samples can't be in a ratio; "" if all can.
func notPositive(samples []float64) string {
	for i, v := range samples {
		if v < 1/largest {
			return fmt.Sprintf("value %d of %d is %v, and a ratio needs values above %g", i+1, len(samples), v, 1/largest)
		}
	}
	return ""
}

// Median returns the median of the samples with an interval made of order statistics, which holds for
// every distribution of independent rounds: the number of rounds below the true median is binomial.
//
// The levels that order statistics can reach are few. The narrowest pair at or above 95 % is taken as it
// is where its level is at most 97 %, as with the 6, 12 and 40 rounds of the profiles (96.9, 96.1 and
// 96.2 %). For other numbers (7: 98.4 %, 8: 99.2 %) it is interpolated towards 95 % (Hettmansperger and
// Sheather, "Confidence intervals based on interpolated order statistics", Statistics & Probability
// Letters 4, 1986), which depends little on the distribution (Nyblom, the same journal 14, 1992), and not
// so far that any distribution could have a level below 92.9 %.
//
// Rounds that drift are covered more often than promised: the number below the median of the whole run
// then varies less than the binomial (Hoeffding, "On the distribution of the number of successes in
// independent trials", Annals of Mathematical Statistics 27, 1956).
//
// Note: benchmath.AssumeNothing takes the same pair for 6, 12 and 40, but never interpolates: 7 rounds get
// 98.4 %. Where it can, it trims one side by a rank instead, so that one tail is likelier than the
// other (8 rounds: 3.5 % above and 0.4 % below), and over 30 rounds it relies on a normal approximation.
func Median(samples []float64) Interval {
	return medianInterval(samples, highestLevel)
}

// medianInterval interpolates between order statistics where their exact level is above highest.
func medianInterval(samples []float64, highest float64) Interval {
	n := len(samples)
	if doubt := unusable(samples); doubt != "" {
		return missing(n, doubt)
	}
	x := sorted(samples)
	center := middle(x)
	if n < minRounds {
		return withoutBounds(center, n)
	}
	d, weight := medianDepth(n, highest)
	return Interval{
		Center: center,
		Low:    x[d-1] + weight*(x[d]-x[d-1]),
		High:   x[n-d] - weight*(x[n-d]-x[n-d-1]),
		N:      n,
	}
}

// medianDepth returns which of n order statistics, counted from either end, bounds the median, and with which
// weight the next one pulls it inwards.
func medianDepth(n int, highest float64) (d int, weight float64) {
	d = sort.Search(n/2, func(d int) bool { return medianLevel(n, d+1) < confidence })
	outer, inner := medianLevel(n, d), medianLevel(n, d+1)
	if outer <= highest {
		return d, 0
	}
	// Hettmansperger and Sheather 1986, equation 2.
	share := (outer - confidence) / (outer - inner)
	weight = float64(n-d) * share / (float64(d) + float64(n-2*d)*share)
	// The level depends most on the distribution if the median lies in a gap between two groups of
	// rounds. It then falls from outer to inner, but up to the weight 1/2 to no less than their mean for
	// any distribution (Guilbaud, "Interval estimation of the median of a general distribution",
	// Scandinavian Journal of Statistics 6, 1979).
	if inner < lowestLevel {
		weight = min(weight, 0.5)
	}
	return d, weight
}

// medianLevel is the probability that the median lies between the d-th values from below and above.
func medianLevel(n, d int) float64 {
	return 1 - 2*distuv.Binomial{N: float64(n), P: 0.5}.CDF(float64(d-1))
}

// Quantile returns the value below which a share q of the samples lies, by linear interpolation between
// order statistics: the value at rank 1 + q(n-1), definition 7 of Hyndman and Fan, "Sample quantiles in
// statistical packages", The American Statistician 50 (1996); the default of R, NumPy and spreadsheets.
// It is NaN if there are no samples, if one is not a number, or if q is outside [0, 1].
func Quantile(samples []float64, q float64) float64 {
	if unusable(samples) != "" {
		return math.NaN()
	}
	if q == 0 {
		return slices.Min(samples) // Percentile refuses 0
	}
	v, err := stats.Percentile(samples, 100*q)
	if err != nil {
		return math.NaN()
	}
	return v
}

// Floor returns the noise floor that an A/A pair shows: how far from 1 the interval of the twins' ratio
// reaches to either side, as a ratio of at least 1. Twins with a ratio of 1.001 [0.985, 1.021] give 1.021;
// a case that differs from another by less than 2.1 % is not called different. It is NaN without an
// interval.
func Floor(twin Interval) float64 {
	if twin.Low <= 0 {
		return math.Inf(1) // no ratio of positive values: nothing is above such a floor
	}
	return max(twin.High, 1/twin.Low)
}

// Beyond reports whether the interval of a ratio lies wholly farther from 1 than a noise floor (see
// [Floor]), on either side. Without an interval it does not.
func Beyond(low, high, floor float64) bool { return low > floor || high < 1/floor }

// RuledOut returns, for a ratio that is not distinguishable from 1, the largest relative difference that
// the interval still allows: 0.018 for [0.99, 1.018] ("no difference; more than 1.8 % is ruled out"). It
// is NaN without an interval.
func RuledOut(ratio Interval) float64 {
	return max(ratio.High-1, 1-ratio.Low)
}

func sorted(samples []float64) []float64 {
	x := slices.Clone(samples)
	slices.Sort(x)
	return x
}

// middle is the median of values in ascending order.
func middle(x []float64) float64 {
	n := len(x)
	return midpoint(x[(n-1)/2], x[n/2])
}

// midpoint lies between low and high, and is exactly low if they are equal; (low+high)/2 may be
// neither after rounding.
func midpoint(low, high float64) float64 {
	return low + (high-low)/2
}

// remembered returns compute(key), computed once: a table, and much more a simulation, asks for the null
// distributions of the same few sizes again and again.
func remembered[K comparable, V any](results *sync.Map, key K, compute func(K) V) V {
	if v, ok := results.Load(key); ok {
		return v.(V)
	}
	v := compute(key)
	results.Store(key, v)
	return v
}
