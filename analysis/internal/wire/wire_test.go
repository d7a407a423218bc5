package wire

import (
	"math"
	"testing"
)

func TestParse(t *testing.T) {
	for _, test := range []struct {
		name string
		want Wire
		ok   bool
	}{
		{"0+0ms", Wire{0, 0}, true},
		{"0+50ms", Wire{0, 0.05}, true},
		{"12.5+12.5ms", Wire{0.0125, 0.0125}, true},
		{"0.25+0.5ms", Wire{0.00025, 0.0005}, true},
		{None, Wire{}, false},
		{"", Wire{}, false},
		{"50ms", Wire{}, false},
		{"0+50", Wire{}, false},
		{"+50ms", Wire{}, false},
		{"0+-50ms", Wire{}, false},
		{"0++50ms", Wire{}, false},
		{"inf+0ms", Wire{}, false},
		{"1e2+0ms", Wire{}, false},
		{"1.2.3+0ms", Wire{}, false},
	} {
		got, ok := Parse(test.name)
		if ok != test.ok || ok && got != test.want {
			t.Errorf("%q: %v, %t; want %v, %t", test.name, got, ok, test.want, test.ok)
		}
	}
}

func TestRoundTrip(t *testing.T) {
	if got := (Wire{0.25, 0.5}).RoundTrip(); got != 0.75 {
		t.Errorf("round trip %v, want 0.75", got)
	}
}

func FuzzParse(f *testing.F) {
	f.Add("0+50ms")
	f.Add("12.5+12.5ms")
	f.Add("none")
	f.Fuzz(func(t *testing.T, name string) {
		w, ok := Parse(name)
		if ok && (!(w.RoundTrip() >= 0) || math.IsInf(w.RoundTrip(), 0)) {
			t.Errorf("%q: %v", name, w)
		}
	})
}
