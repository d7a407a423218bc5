package chart

import (
	"math"
	"slices"
	"strings"
	"testing"
)

func TestTicks(t *testing.T) {
	for _, test := range []struct {
		unit      string
		log       bool
		low, high float64
		want      string
	}{
		{"sec", false, 0, 420e-6, "0 100 200 300 400"},
		{"sec", false, 0, 3.9e-3, "0 0.5 1 1.5 2 2.5 3 3.5"},
		{"B", false, 0, 3800, "0 500 1,000 1,500 2,000 2,500 3,000 3,500"},
		{"B/s", false, 0, 5.4e9, "0 1 2 3 4 5"},
		{"", false, 0, 1.5, "0 0.2 0.4 0.6 0.8 1 1.2 1.4"},
		{"sec", true, 80e-6, 2.1e-3, "100 200 500 1,000 2,000"},
		{"sec", true, 105e-6, 110e-6, "100 200"},
		{"B/s", true, 40e6, 4.6e9, "50 100 200 500 1,000 2,000"},
		{"sec", true, 0.3e-6, 60e-3, "_ 1 µs _ _ 10 µs _ _ 100 µs _ _ 1 ms _ _ 10 ms _ _"},
		{"sec", true, 1e-9, 100, "1 ns _ _ _ _ _ 100 ns _ _ _ _ _ 10 µs _ _ _ _ _ 1 ms _ _ _ _ _ 100 ms _ _ _ _ _ 10 s _ _ _"},
	} {
		a := newAxis(test.unit, test.log, 100, 400, []float64{test.low, test.high}, nil)
		var labels []string
		last := 0.0
		for _, tick := range a.ticks(axisText.width) {
			if tick.place < 100-1e-9 || tick.place > 400+1e-9 || tick.place <= last {
				t.Errorf("%v to %v: tick %q is at %v, after %v", test.low, test.high, tick.label, tick.place, last)
			}
			last = tick.place
			if tick.label == "" {
				tick.label = "_"
			}
			labels = append(labels, tick.label)
		}
		if got := strings.Join(labels, " "); got != test.want {
			t.Errorf("%v to %v: ticks %s, want %s", test.low, test.high, got, test.want)
		}
	}
}

func TestMakeRoom(t *testing.T) {
	for _, log := range []bool{false, true} {
		needs := []need{{10, 60}, {7, 190}, {100, 20}}
		a := newAxis("sec", log, 100, 400, []float64{1, 100}, needs)
		for _, n := range needs {
			if end := a.at(n.value) + n.room; end > 400+1e-6 {
				t.Errorf("log %t: the label at %v ends at %v, after the axis", log, n.value, end)
			}
		}
	}
}

func TestBesides(t *testing.T) {
	for _, test := range []struct {
		name   string
		spans  []span
		center float64
		want   float64
	}{
		{"alone", []span{{100, 106}}, 103, 112},
		{"room before the next", []span{{100, 106}, {160, 170}}, 103, 112},
		{"too near the next", []span{{100, 106}, {140, 150}}, 103, 64},
		{"no room on either side", []span{{20, 26}, {40, 50}}, 23, 56},
		{"nor after the next", []span{{20, 26}, {40, 50}, {70, 80}}, 23, 86},
		{"second", []span{{20, 26}, {100, 106}}, 103, 112},
		{"second, at the left of the third", []span{{20, 26}, {100, 106}, {120, 130}}, 103, 64},
	} {
		if got := besides(test.spans, test.center, 30, 10); got != test.want {
			t.Errorf("%s: %v, want %v", test.name, got, test.want)
		}
	}
}

func TestSpread(t *testing.T) {
	for _, test := range []struct{ places, want []float64 }{
		{nil, nil},
		{[]float64{50}, []float64{50}},
		{[]float64{20, 50}, []float64{20, 50}},
		{[]float64{50, 50}, []float64{45, 55}},
		{[]float64{50, 51, 52}, []float64{41, 51, 61}},
		{[]float64{1, 2}, []float64{0, 10}},
		{[]float64{98, 99, 99}, []float64{79, 89, 99}},
	} {
		got := spread(test.places, 10, 0, 99)
		if !slices.EqualFunc(got, test.want, func(a, b float64) bool { return math.Abs(a-b) < 1 }) {
			t.Errorf("spread(%v) = %v, want %v", test.places, got, test.want)
		}
	}
}

func TestBalance(t *testing.T) {
	const text = "a sentence that is too long for one line but not for two"
	wrapped, balanced := nameText.wrap(text, 200), nameText.balance(text, 200)
	if len(balanced) != len(wrapped) || strings.Join(balanced, " ") != text {
		t.Errorf("balance gives %q, wrap %q", balanced, wrapped)
	}
	if nameText.widest(balanced) > nameText.widest(wrapped) {
		t.Errorf("%q is wider than %q", balanced, wrapped)
	}
	if got := nameText.wrap("unbreakable", 10); !slices.Equal(got, []string{"unbreakable"}) {
		t.Errorf("a long word is wrapped to %q", got)
	}
	if got := nameText.balance("", 10); len(got) != 0 {
		t.Errorf("no text is wrapped to %q", got)
	}
}

func TestQuantile(t *testing.T) {
	sorted := []float64{1, 2, 3, 4}
	for q, want := range map[float64]float64{0: 1, 0.25: 1, 0.26: 2, 0.5: 2, 0.75: 3, 0.99: 4, 1: 4} {
		if got := quantile(sorted, q); got != want {
			t.Errorf("quantile %v is %v, want %v", q, got, want)
		}
	}
}

func TestPathIsTheDistribution(t *testing.T) {
	d := distributionFixture(true)
	l := d.layout()
	for _, curve := range l.curves {
		first, last := curve.path[0], curve.path[len(curve.path)-1]
		if first.y != l.area.bottom || math.Abs(last.y-l.area.top) > 1e-9 {
			t.Errorf("%s goes from %v to %v", curve.Name, first, last)
		}
		for _, q := range []float64{0.1, 0.5, 0.9} {
			want := l.axis.at(quantile(curve.sorted, q))
			i := slices.IndexFunc(curve.path, func(p point) bool { return p.y <= l.height(q) })
			if math.Abs(curve.path[i].x-want) > 1 {
				t.Errorf("%s: the curve reaches %v at %v, want %v", curve.Name, q, curve.path[i].x, want)
			}
		}
	}
}
