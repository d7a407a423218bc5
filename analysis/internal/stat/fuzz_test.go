package stat

import (
	"encoding/binary"
	"math"
	"testing"
)

// FuzzIntervals feeds arbitrary bits as samples, also those of NaN and infinity.
func FuzzIntervals(f *testing.F) {
	encode := func(x ...float64) (b []byte) {
		for _, v := range x {
			b = binary.LittleEndian.AppendUint64(b, math.Float64bits(v))
		}
		return b
	}
	f.Add([]byte{}, []byte{}, 0.5)
	f.Add(encode(upTo(12)...), encode(repeat(0.1, 12)...), 0.99)
	f.Add(encode(upTo(7)...), encode(1, 1e-300, 5e-324, 1e308, -1e308, 0, 1), 0.0)
	f.Add(encode(nan, inf, -inf, 1, 2, 3), encode(3, 3, 2, 2, 1, 1), nan)
	f.Fuzz(func(t *testing.T, bytesA, bytesB []byte, q float64) {
		a, b := decode(bytesA), decode(bytesB)
		c := Unpaired(a, b)
		for name, i := range map[string]Interval{
			"median": Median(a), "paired ratio": PairedRatio(a, b), "paired difference": PairedDifference(a, b),
			"A": c.A, "B": c.B, "unpaired ratio": c.Ratio,
		} {
			checkSound(t, name, i)
		}
		if !math.IsNaN(c.P) && (c.P < 0 || c.P > 1) {
			t.Errorf("p = %v", c.P)
		}
		for i, p := range Holm(a) {
			if p < a[i] && a[i] <= 1 {
				t.Errorf("Holm(%v)[%d] = %v", a, i, p)
			}
		}
		if v := Quantile(a, q); v < Quantile(a, 0) || v > Quantile(a, 1) {
			t.Errorf("Quantile(%v, %v) = %v", a, q, v)
		}
		if s := Spread(a, b); s < 0 {
			t.Errorf("Spread(%v, %v) = %v", a, b, s)
		}
	})
}

// decode keeps the samples small enough for the exact distribution of U with ties.
func decode(b []byte) []float64 {
	var x []float64
	for len(b) >= 8 && len(x) < 64 {
		x = append(x, math.Float64frombits(binary.LittleEndian.Uint64(b)))
		b = b[8:]
	}
	return x
}

// checkSound expects what holds for every interval: numbers in order, or doubts.
func checkSound(t *testing.T, name string, i Interval) {
	t.Helper()
	bounded := !math.IsNaN(i.Low) && !math.IsNaN(i.High)
	switch {
	case bounded && !(i.Low <= i.Center && i.Center <= i.High):
		t.Errorf("%s: %v is not within [%v, %v]", name, i.Center, i.Low, i.High)
	case bounded && (math.IsInf(i.Low, 0) || math.IsInf(i.High, 0)):
		t.Errorf("%s: [%v, %v] is infinite", name, i.Low, i.High)
	case !bounded && (len(i.Doubts) == 0 || math.IsNaN(i.Low) != math.IsNaN(i.High)):
		t.Errorf("%s: [%v, %v] without a doubt", name, i.Low, i.High)
	case math.IsNaN(i.Center) && len(i.Doubts) == 0:
		t.Errorf("%s: no estimate and no doubt", name)
	}
	_, _, _ = i.HalfWidth(), Floor(i), RuledOut(i)
}
