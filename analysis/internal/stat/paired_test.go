package stat

import (
	"math"
	"math/rand/v2"
	"testing"
)

// Hamilton depression scale factor IV of nine patients before and after a tranquilizer: Hollander and
// Wolfe, example 3.1. Their estimate is -0.46 with the 96.1 % interval (-0.786, -0.010).
var (
	depressionBefore = []float64{1.83, 0.50, 1.62, 2.48, 1.68, 1.88, 1.55, 3.06, 1.30}
	depressionAfter  = []float64{0.878, 0.647, 0.598, 2.05, 1.06, 1.29, 1.06, 3.14, 1.29}
)

func TestPairedDifference(t *testing.T) {
	got := PairedDifference(depressionAfter, depressionBefore)
	checkInterval(t, got, -0.46, -0.786, -0.010, 9, "")

	for _, test := range []struct {
		name              string
		a, b              []float64
		center, low, high float64
		doubt             string
	}{
		{"none", nil, nil, nan, nan, nan, "no samples"},
		{"few", []float64{3, 5}, []float64{1, 1}, 3, nan, nan, "no interval: 2 of at least 6 rounds"},
		{"quick", upTo(6), repeat(0, 6), 3.5, 1, 6, ""},
		{"equal", repeat(0.3, 12), repeat(0.1, 12), 0.3 - 0.1, 0.3 - 0.1, 0.3 - 0.1, ""},
		{"itself", upTo(12), upTo(12), 0, 0, 0, ""},
		{"zeros", repeat(0, 12), upTo(12), -6.5, -9, -4, ""},
		{"lengths", upTo(12), upTo(11), nan, nan, nan, "not paired: 12 and 11 rounds"},
		{"not a number", upTo(6), []float64{1, nan, 1, 1, 1, 1}, nan, nan, nan, "second sample: value 2 of 6 is NaN"},
		{"infinite", []float64{inf, 1, 1, 1, 1, 1}, upTo(6), nan, nan, nan, "first sample: value 1 of 6 is +Inf"},
	} {
		t.Run(test.name, func(t *testing.T) {
			got := PairedDifference(test.a, test.b)
			checkInterval(t, got, test.center, test.low, test.high, len(test.a), test.doubt)
		})
	}
}

func TestPairedRatio(t *testing.T) {
	powers := []float64{2, 4, 8, 16, 32, 64}
	for _, test := range []struct {
		name              string
		a, b              []float64
		center, low, high float64
		doubt             string
	}{
		{"none", nil, nil, nan, nan, nan, "no samples"},
		{"few", []float64{2, 8}, []float64{1, 1}, 4, nan, nan, "no interval: 2 of at least 6 rounds"},
		{"quick", powers, repeat(1, 6), math.Exp2(3.5), 2, 64, ""},
		{"inverse", repeat(1, 6), powers, math.Exp2(-3.5), 1.0 / 64, 0.5, ""},
		{"equal", repeat(3, 12), repeat(7, 12), 3.0 / 7, 3.0 / 7, 3.0 / 7, ""},
		{"itself", upTo(12), upTo(12), 1, 1, 1, ""},
		{"lengths", upTo(6), upTo(12), nan, nan, nan, "not paired: 6 and 12 rounds"},
		{"zero", upTo(6), []float64{1, 1, 1, 0, 1, 1}, nan, nan, nan, "second sample: value 4 of 6 is 0, and a ratio needs values above"},
		{"negative", []float64{1, -1, 1, 1, 1, 1}, upTo(6), nan, nan, nan, "first sample: value 2 of 6 is -1"},
		{"not a number", []float64{nan, 1, 1, 1, 1, 1}, upTo(6), nan, nan, nan, "first sample: value 1 of 6 is NaN"},
	} {
		t.Run(test.name, func(t *testing.T) {
			got := PairedRatio(test.a, test.b)
			checkInterval(t, got, test.center, test.low, test.high, len(test.a), test.doubt)
		})
	}
}

// TestSignedRankDepth compares with the critical values of the usual tables (two-sided 5 %; Hollander and
// Wolfe, table A.4), each of which is one below the depth.
func TestSignedRankDepth(t *testing.T) {
	for n, critical := range map[int]int{
		6: 0, 7: 2, 8: 3, 9: 5, 10: 8, 11: 10, 12: 13, 15: 25, 20: 52, 25: 89, 30: 137, 40: 264, 50: 434,
	} {
		if got := signedRankDepth(n); got != critical+1 {
			t.Errorf("%d rounds: depth %d, want %d", n, got, critical+1)
		}
	}
}

// TestSignedRankLevels holds the documentation to its word: from 6 rounds on, the exact level is between
// 95 and 97 %. So are the levels of the normal approximation beyond 50.
func TestSignedRankLevels(t *testing.T) {
	for n := minRounds; n <= 80; n++ {
		level := 1.0
		for _, p := range signedRankDistribution(n)[:signedRankDepth(n)] {
			level -= 2 * p
		}
		if level < confidence-1e-4 || level > 0.97 {
			t.Errorf("%d rounds: level %.4f", n, level)
		}
	}
}

func TestSpread(t *testing.T) {
	for _, test := range []struct {
		a, b []float64
		want float64
	}{
		{[]float64{1, math.E, math.E * math.E}, []float64{1, 1, 1}, 1},
		{[]float64{5, 7, 9}, []float64{10, 14, 18}, 0},
		{[]float64{1}, []float64{1}, nan},
		{nil, nil, nan},
		{[]float64{1, 2}, []float64{1, 0}, nan},
		{[]float64{1, 2}, []float64{1, nan}, nan},
		{[]float64{1, 2}, []float64{1, 2, 3}, nan},
	} {
		if got := Spread(test.a, test.b); !near(got, test.want) {
			t.Errorf("Spread(%v, %v) = %v, want %v", test.a, test.b, got, test.want)
		}
	}
}

// TestDoubtAboutGroups: the doubt about rounds in groups is raised where the estimate lies between
// two groups, and almost never where it should not be.
func TestDoubtAboutGroups(t *testing.T) {
	replications := replications(t, 2000)
	doubted := func(s shape) float64 {
		r := rand.New(rand.NewPCG(3, 0))
		var n float64
		for range replications {
			a, b := s.twins(r, 40)
			n += count(len(PairedRatio(a, b).Doubts) > 0)
		}
		return n / float64(replications)
	}
	for _, s := range shapes {
		if share := doubted(s); share > 0.002 && !s.oneSided {
			t.Errorf("%s: %.4f of the runs are doubted", s.name, share)
		}
	}
	if share := doubted(shape{noise: bimodal, oneSided: true}); share < 0.25 {
		t.Errorf("one-sided noise of two modes: only %.3f of the runs are doubted", share)
	}
}
