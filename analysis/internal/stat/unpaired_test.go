package stat

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/aclements/go-moremath/stats"
)

func TestUnpaired(t *testing.T) {
	for _, test := range []struct {
		name              string
		a, b              []float64
		p                 float64
		center, low, high float64
		doubt, ratioDoubt string
	}{
		{name: "none", b: upTo(12), p: nan, center: nan, low: nan, high: nan, doubt: "first sample: no samples", ratioDoubt: "no samples"},
		{name: "few", a: upTo(3), b: []float64{10, 11, 12}, p: 0.1, center: 5.5, low: nan, high: nan, doubt: "3 and 3 rounds can't differ: p is at least 0.10", ratioDoubt: "no interval: 3 of"},
		{name: "one against many", a: []float64{20}, b: upTo(12), p: 2.0 / 13, center: 0.325, low: nan, high: nan, doubt: "1 and 12 rounds can't differ: p is at least 0.15", ratioDoubt: "no interval: 1 of"},
		{name: "separate", a: upTo(4), b: []float64{10, 11, 12, 13}, p: 2.0 / 70, center: 4.6, low: nan, high: nan, ratioDoubt: "no interval: 4 of"},
		{name: "equal", a: repeat(3, 12), b: repeat(3, 12), p: 1, center: 1, low: 1, high: 1},
		{name: "equal, many", a: repeat(3, 60), b: repeat(3, 60), p: 1, center: 1, low: 1, high: 1},
		{name: "constant", a: repeat(3, 6), b: repeat(7, 8), p: 2.0 / 3003, center: 7.0 / 3, low: 7.0 / 3, high: 7.0 / 3},
		{name: "zeros", a: repeat(0, 6), b: upTo(6), p: 2.0 / 924, center: nan, low: nan, high: nan, ratioDoubt: "first sample: value 1 of 6 is 0"},
		{name: "not a number", a: upTo(6), b: []float64{1, 2, 3, 4, 5, nan}, p: nan, center: nan, low: nan, high: nan, doubt: "second sample: value 6 of 6 is NaN", ratioDoubt: "is NaN"},
	} {
		t.Run(test.name, func(t *testing.T) {
			c := Unpaired(test.a, test.b)
			if !near(c.P, test.p) || !near(c.HolmP, test.p) {
				t.Errorf("p = %v and %v, want %v", c.P, c.HolmP, test.p)
			}
			checkInterval(t, c.Ratio, test.center, test.low, test.high, min(len(test.a), len(test.b)), test.ratioDoubt)
			if doubts := strings.Join(c.Doubts, "; "); doubts != test.doubt {
				t.Errorf("doubts are %q, want %q", doubts, test.doubt)
			}
			if a := Median(test.a); !near(c.A.Center, a.Center) || !near(c.A.Low, a.Low) {
				t.Errorf("A is %v, want %v", c.A, a)
			}
		})
	}
}

// TestMannWhitney compares with an example of Hollander and Wolfe (4.1, permeability of placentas at
// term and before; 0.1272 one-sided in R's documentation of wilcox.test), and with the library where it does
// not remember its results.
func TestMannWhitney(t *testing.T) {
	atTerm := []float64{0.80, 0.83, 1.89, 1.04, 1.45, 1.38, 1.91, 1.64, 0.73, 1.46}
	before := []float64{1.15, 0.88, 0.90, 0.74, 1.21}
	if got, want := mannWhitney(atTerm, before), 0.2544122544122544; !near(got, want) {
		t.Errorf("p = %v, want %v", got, want)
	}

	r := rand.New(rand.NewPCG(4, 0))
	for _, size := range []struct{ a, b int }{{1, 1}, {4, 9}, {12, 12}, {40, 40}, {51, 12}} {
		for _, values := range []int{3, 1000000} { // with and without ties
			a, b := make([]float64, size.a), make([]float64, size.b)
			for i := range a {
				a[i] = float64(r.IntN(values))
			}
			for i := range b {
				b[i] = float64(r.IntN(values))
			}
			want, err := stats.MannWhitneyUTest(a, b, stats.LocationDiffers)
			if err != nil {
				t.Fatal(err)
			}
			if got := mannWhitney(a, b); !near(got, min(1, want.P)) {
				t.Errorf("%v and %v: p = %v, want %v", a, b, got, want.P)
			}
		}
	}
}

func TestHolm(t *testing.T) {
	for _, test := range []struct{ ps, want []float64 }{
		{nil, nil},
		{[]float64{0.04}, []float64{0.04}},
		// p.adjust(c(0.01, 0.04, 0.03, 0.02)) in R
		{[]float64{0.01, 0.04, 0.03, 0.02}, []float64{0.04, 0.06, 0.06, 0.06}},
		{[]float64{0.6, 0.5, 0.001}, []float64{1, 1, 0.003}},
		{[]float64{nan, 0.01, nan, 0.01}, []float64{nan, 0.02, nan, 0.02}},
		{[]float64{0, 1}, []float64{0, 1}},
	} {
		given := slices.Clone(test.ps)
		got := Holm(given)
		if !slices.EqualFunc(got, test.want, near) || !slices.EqualFunc(given, test.ps, near) {
			t.Errorf("Holm(%v) = %v, want %v; argument is now %v", test.ps, got, test.want, given)
		}
	}
}

// TestHolmOnTwins makes tables of 20 comparisons of which each is of twins. At most 5 % of the tables may make
// a claim, but for three standard errors of the simulation (2 % of 1000).
func TestHolmOnTwins(t *testing.T) {
	tables := replications(t, 1000)
	r := rand.New(rand.NewPCG(5, 0))
	var corrected, uncorrected float64
	for range tables {
		ps := make([]float64, 20)
		for i := range ps {
			ps[i] = mannWhitney(shapes[i%len(shapes)].identical(r, 12))
		}
		uncorrected += count(slices.Min(ps) < alpha)
		corrected += count(slices.Min(Holm(ps)) < alpha)
	}
	corrected /= float64(tables)
	uncorrected /= float64(tables)
	t.Logf("tables with a false claim: %.3f, uncorrected %.3f", corrected, uncorrected)
	if corrected > alpha+3*standardError(alpha, tables) {
		t.Errorf("%.3f of the tables make a false claim", corrected)
	}
	if uncorrected < 0.5 {
		t.Errorf("only %.3f of the tables would make a false claim without correction: the test is too easy", uncorrected)
	}
}

// identical draws twins even of a one-sided shape.
func (s shape) identical(r *rand.Rand, n int) (a, b []float64) {
	s.oneSided = false
	return s.twins(r, n)
}

// shiftOfMedians is the rejected alternative to ratioOfMedians: the Hodges-Lehmann shift.
func shiftOfMedians(a, b []float64) Interval {
	var ratios []float64
	for _, x := range a {
		for _, y := range b {
			ratios = append(ratios, y/x)
		}
	}
	slices.Sort(ratios)
	d := 0
	for (uTail{len(a), len(b), d}).probability() <= alpha/2 {
		d++
	}
	return Interval{Center: middle(ratios), Low: ratios[d-1], High: ratios[len(ratios)-d], N: len(a)}
}

// TestUnequalNoise shows why machines are not compared by the Hodges-Lehmann shift, though it is narrower:
// where one is quiet and the other noisy, it does not cover.
func TestUnequalNoise(t *testing.T) {
	replications := replications(t, 2000)
	s := shape{noise: exponential, oneSided: true}
	r := rand.New(rand.NewPCG(6, 0))
	var bootstrap, shift float64
	for range replications {
		a, b := s.twins(r, 12)
		bootstrap += count(!ratioOfMedians(a, b).Excludes(1))
		shift += count(!shiftOfMedians(a, b).Excludes(1))
	}
	bootstrap /= float64(replications)
	shift /= float64(replications)
	t.Logf("coverage: bootstrap %.3f, shift %.3f", bootstrap, shift)
	checkCoverage(t, "bootstrap", bootstrap, replications)
	if shift > 0.93 {
		t.Errorf("the shift covers %.3f: why not take it?", shift)
	}
}
