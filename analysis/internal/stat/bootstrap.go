package stat

import (
	"cmp"
	"math"
	"slices"
	"sync"

	"gonum.org/v1/gonum/stat/distuv"
)

// atom is a value of a discrete distribution. Those of a distribution are in ascending order of values.
type atom struct{ value, probability float64 }

// ratioOfMedians returns the ratio of the median of b to that of a with its percentile bootstrap interval.
// All values are positive.
//
// The bootstrap asks how the ratio would vary if both samples were drawn again from themselves. Drawing them
// a few thousand times needs a seed and leaves a random error in the interval; for medians the answer
// can be computed (Efron 1979, section 3; Maritz and Jarrett, "A note on estimating the variance of the
// sample median", Journal of the American Statistical Association 73, 1978).
func ratioOfMedians(a, b []float64) Interval {
	a, b = sorted(a), sorted(b)
	n := min(len(a), len(b))
	center := middle(b) / middle(a)
	if n < minRounds {
		return withoutBounds(center, n)
	}
	medianA, medianB := bootstrapMedian(a), bootstrapMedian(b)
	return Interval{
		Center: center,
		Low:    ratioQuantile(medianB, medianA, alpha/2),
		High:   ratioQuantile(medianB, medianA, 1-alpha/2),
		N:      n,
	}
}

// bootstrapMedian returns the distribution of the median of n values drawn with replacement from the n
// values of x, which are in ascending order.
func bootstrapMedian(x []float64) []atom {
	draws := remembered(&medianDraws, len(x), medianDrawsOf)
	medians := make([]atom, len(draws))
	for i, d := range draws {
		medians[i] = atom{midpoint(x[d.lower], x[d.upper]), d.probability}
	}
	slices.SortFunc(medians, func(s, t atom) int { return cmp.Compare(s.value, t.value) })
	return medians
}

// draw is the event that the two middle ones of n draws are the values of these indices; both indices
// are that of the one in the middle if n is odd.
type draw struct {
	lower, upper int
	probability  float64
}

var medianDraws sync.Map

// medianDrawsOf returns the possible draws of n from n values. It leaves out those too rare to move a
// quantile.
func medianDrawsOf(n int) []draw {
	const rare = 1e-9
	last := logGreatest(n)
	half := n / 2
	var draws []draw
	for i := range n {
		// The middle draw, or the lower of two, has index i if that many draws are among the first
		// i+1 values, but not among the first i.
		rank := (n + 1) / 2
		same := draw{i, i, atLeast(rank, n, i+1) - atLeast(rank, n, i)}
		if same.probability < rare {
			continue
		}
		// The middle draws of an even number are i and a greater j if half of them are among the first i+1
		// values and include i, and the others are among the last n-j and include j. The farther
		// apart i and j, the rarer.
		for j := i + 1; j < n && n%2 == 0; j++ {
			p := math.Exp(logChoose(n, half) + last[i] + last[n-1-j])
			if p < rare {
				break
			}
			draws = append(draws, draw{i, j, p})
			same.probability -= p
		}
		if same.probability > rare {
			draws = append(draws, same)
		}
	}
	return draws
}

// atLeast is the probability that k or more of n draws are among the first i of n values.
func atLeast(k, n, i int) float64 {
	return distuv.Binomial{N: float64(n), P: float64(i) / float64(n)}.Survival(float64(k - 1))
}

// logGreatest returns, for each i, the logarithm of the probability that i is the greatest index among
// n/2 draws from n values: ((i+1)/n)^(n/2) - (i/n)^(n/2), arranged so as not to underflow. By symmetry, it is
// that of n-1-i being the least.
func logGreatest(n int) []float64 {
	half := float64(n / 2)
	p := make([]float64, n)
	for i := range p {
		p[i] = half*math.Log(float64(i+1)/float64(n)) + math.Log1p(-math.Pow(float64(i)/float64(i+1), half))
	}
	return p
}

func logChoose(n, k int) float64 {
	logFactorial := func(n int) float64 {
		v, _ := math.Lgamma(float64(n + 1))
		return v
	}
	return logFactorial(n) - logFactorial(k) - logFactorial(n-k)
}

// ratioQuantile returns the q quantile of x/y, x and y being independent and positive: the least ratio r
// with P(x/y <= r) >= q.
func ratioQuantile(x, y []atom, q float64) float64 {
	cumulative := make([]float64, len(x)+1)
	for i, t := range x {
		cumulative[i+1] = cumulative[i] + t.probability
	}
	// Both ends are possible ratios all along, and the quantile lies between them.
	low, high := x[0].value/y[len(y)-1].value, x[len(x)-1].value/y[0].value
	for low < high {
		ratio := midpoint(low, high)
		if ratio == high { // low is next to it, and rounding went up
			ratio = low
		}
		below, above := low, high // the possible ratios next to it
		var p float64
		var i int // as y grows, more values of x are below ratio times y
		for _, t := range y {
			for i < len(x) && x[i].value/t.value <= ratio {
				i++
			}
			p += t.probability * cumulative[i]
			if i > 0 {
				below = max(below, x[i-1].value/t.value)
			}
			if i < len(x) {
				above = min(above, x[i].value/t.value)
			}
		}
		if p >= q {
			high = below
		} else {
			low = above
		}
	}
	return high
}
