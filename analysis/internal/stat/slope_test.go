package stat

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
)

func TestLine(t *testing.T) {
	// Six rounds with the slopes 1 to 6, from 10 to 60 at x = 0.
	steep := [][]float64{{10, 20, 30, 40, 50, 60}, {11, 22, 33, 44, 55, 66}, {13, 26, 39, 52, 65, 78}}
	slope, intercept := Line([]float64{0, 1, 3}, steep)
	checkInterval(t, slope, 3.5, 1, 6, 6, "")
	checkInterval(t, intercept, 35, 10, 60, 6, "")

	// The means are 3 and 4, the sums of products 6 and of squares 10: the line is 2.2 + 0.6 x.
	slope, intercept = Line([]float64{1, 2, 3, 4, 5}, [][]float64{{2}, {4}, {5}, {4}, {5}})
	checkInterval(t, slope, 0.6, nan, nan, 1, "no interval: 1 of at least 6 rounds")
	checkInterval(t, intercept, 2.2, nan, nan, 1, "no interval: 1 of at least 6 rounds")
}

func TestLineImpossible(t *testing.T) {
	for _, test := range []struct {
		name  string
		x     []float64
		y     [][]float64
		n     int
		doubt string
	}{
		{"nothing", nil, nil, 0, "places: no samples"},
		{"one place", []float64{2}, [][]float64{upTo(6)}, 6, "no line: all values are at 2"},
		{"one place twice", []float64{2, 2}, [][]float64{upTo(6), upTo(6)}, 6, "no line: all values are at 2"},
		{"places", []float64{1, 2, 3}, [][]float64{upTo(6), upTo(6)}, 6, "no line: 3 places and values at 2"},
		{"rounds", []float64{1, 2}, [][]float64{upTo(6), upTo(5)}, 6, "not paired: 6 rounds at 1 and 5 at 2"},
		{"no rounds", []float64{1, 2}, [][]float64{nil, nil}, 0, "at 1: no samples"},
		{"infinite place", []float64{1, inf}, [][]float64{upTo(6), upTo(6)}, 6, "places: value 2 of 2 is +Inf"},
		{"not a number", []float64{1, 2}, [][]float64{upTo(6), {1, 2, nan, 4, 5, 6}}, 6, "at 2: value 3 of 6 is NaN"},
	} {
		t.Run(test.name, func(t *testing.T) {
			slope, intercept := Line(test.x, test.y)
			checkInterval(t, slope, nan, nan, nan, test.n, test.doubt)
			checkInterval(t, intercept, nan, nan, nan, test.n, test.doubt)
		})
	}
}

// TestLineCoverage: over wires of 0 to 200 ms with three waits, under noise of 0.3 ms at each delay and of
// 1 ms that a whole round shares, the interval holds the three.
func TestLineCoverage(t *testing.T) {
	roundTrips := []float64{0, 10, 50, 100, 200}
	for _, noise := range []struct {
		name string
		of   func(*rand.Rand) float64
	}{
		{"symmetric", func(r *rand.Rand) float64 { return 0.3 * r.NormFloat64() }},
		{"lateness", func(r *rand.Rand) float64 { return 0.3 * (r.ExpFloat64() - math.Ln2) }},
		{"two modes", func(r *rand.Rand) float64 {
			if r.Float64() < 0.4 {
				return 0.6 + 0.1*r.NormFloat64()
			}
			return 0.1 * r.NormFloat64()
		}},
	} {
		for _, rounds := range simulatedRounds {
			replications := replications(t, 2000)
			rng := rand.New(rand.NewPCG(3, uint64(rounds)))
			covered := 0
			for range replications {
				y := make([][]float64, len(roundTrips))
				weather := make([]float64, rounds)
				for i := range weather {
					weather[i] = rng.NormFloat64()
				}
				for i, x := range roundTrips {
					for r := range rounds {
						y[i] = append(y[i], 0.9+3*x+weather[r]+noise.of(rng))
					}
				}
				if slope, _ := Line(roundTrips, y); !slope.Excludes(3) {
					covered++
				}
			}
			name := fmt.Sprintf("%s, %d rounds", noise.name, rounds)
			coverage := float64(covered) / float64(replications)
			t.Logf("%s: coverage %.3f", name, coverage)
			if rounds > minRounds { // of 6 rounds the level is 96.9 %
				checkCoverage(t, name, coverage, replications)
			} else if coverage < 0.93-2*standardError(0.93, replications) {
				t.Errorf("%s: coverage is %.4f, want at least 0.93", name, coverage)
			}
		}
	}
}
