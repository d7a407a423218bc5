package stat_test

import (
	"fmt"

	"cryptocost/analysis/internal/stat"
)

// Microseconds of server CPU per handshake in twelve rounds. The machine was busier in the later ones.
var (
	x25519 = []float64{101, 99, 103, 104, 102, 107, 110, 108, 113, 112, 117, 119}
	twin   = []float64{102, 98, 104, 102, 103, 106, 111, 109, 111, 114, 116, 118}
	p256   = []float64{121, 120, 122, 126, 122, 129, 131, 131, 135, 134, 141, 143}
)

func ExampleMedian() {
	i := stat.Median(x25519)
	fmt.Printf("%g µs [%g, %g], ± %.1f %%, %d rounds\n", i.Center, i.Low, i.High, 100*i.HalfWidth(), i.N)
	// Output: 107.5 µs [102, 113], ± 5.1 %, 12 rounds
}

// Too few rounds give an estimate, but no interval, and say so.
func ExampleMedian_doubts() {
	i := stat.Median(x25519[:3])
	fmt.Println(i.Center, i.Low, i.High, i.Doubts)
	// Output: 101 NaN NaN [no interval: 3 of at least 6 rounds]
}

// What slowed a round slowed both cases, so the ratio is known better than either.
func ExamplePairedRatio() {
	i := stat.PairedRatio(p256, x25519)
	fmt.Printf("%.3f [%.3f, %.3f]\n", i.Center, i.Low, i.High)
	// Output: 1.201 [1.195, 1.207]
}

func ExamplePairedDifference() {
	i := stat.PairedDifference(p256, x25519)
	fmt.Printf("%.1f µs [%.1f, %.1f]\n", i.Center, i.Low, i.High)
	// Output: 21.5 µs [20.5, 23.0]
}

// The twins are the same case under two names, so that what sets them apart is noise.
func ExampleFloor() {
	twins := stat.PairedRatio(twin, x25519)
	fmt.Printf("ratio %.3f [%.3f, %.3f], spread %.1f %%\n", twins.Center, twins.Low, twins.High, 100*stat.Spread(twin, x25519))
	fmt.Printf("no difference; more than %.1f %% is ruled out\n", 100*stat.RuledOut(twins))
	fmt.Printf("noise floor %.3f\n", stat.Floor(twins))
	// Output:
	// ratio 1.000 [0.991, 1.010], spread 1.3 %
	// no difference; more than 1.0 % is ruled out
	// noise floor 1.010
}

// Rounds of two machines have nothing in common, so their medians are compared.
func ExampleUnpaired() {
	laptop := []float64{96, 95, 98, 97, 102, 101, 94, 97, 105, 98, 100, 95}
	c := stat.Unpaired(x25519, laptop)
	fmt.Printf("%g and %g µs: ratio %.2f [%.2f, %.2f], p = %.1g\n",
		c.A.Center, c.B.Center, c.Ratio.Center, c.Ratio.Low, c.Ratio.High, c.P)
	// Output: 107.5 and 97.5 µs: ratio 0.91 [0.86, 0.96], p = 9e-05
}

// The first difference alone would be real at 5 %, but not as one of four.
func ExampleHolm() {
	fmt.Printf("%.3f\n", stat.Holm([]float64{0.02, 0.3, 0.001, 0.6}))
	// Output: [0.060 0.600 0.004 0.600]
}

func ExampleQuantile() {
	fmt.Println(stat.Quantile(x25519, 0.5), stat.Quantile(x25519, 0.9))
	// Output: 107.5 116.6
}
