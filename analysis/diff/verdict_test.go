package main

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"cryptocost/analysis/internal/samples"
	"cryptocost/analysis/internal/stat"
	"cryptocost/data"
)

// TestFalseClaims compares runs of one machine in different hours, which the
// calibration loop does not see: all costs drift by 7 % (standard deviation),
// and those of a case by another 1.5 %, from run to run. Few tables may claim
// a difference.
func TestFalseClaims(t *testing.T) {
	const pairs, most = 120, 0.05
	rng := rand.New(rand.NewPCG(7, 0))
	run := func(rounds int) recording {
		return recording{seed: rng.Uint64(), rounds: rounds, weather: math.Exp(0.07 * rng.NormFloat64()), sensitivity: 0.015, cases: manyCases()}
	}
	for _, rounds := range [][2]int{{12, 12}, {12, 6}} {
		tables, claims, absolute := 0, 0, 0
		for range pairs {
			c := compare(run(rounds[0]).samples(), run(rounds[1]).samples())
			n := c.count(verdict.differs)
			claims += n
			if n > 0 {
				tables++
			}
			for _, m := range c.metrics {
				if decide(m.floor, m.HolmP, m.Ratio).differs() {
					absolute++
				}
			}
		}
		t.Logf("%d against %d rounds: %d of %d tables claim a difference, %d in all; by absolute costs alone there would be %d",
			rounds[0], rounds[1], tables, pairs, claims, absolute)
		if float64(tables) > most*pairs {
			t.Errorf("%d against %d rounds: %d of %d tables claim a difference", rounds[0], rounds[1], tables, pairs)
		}
	}
}

// TestPower plants a slowdown of a fifth in one case; nearly all tables have
// to find it, whatever the hour.
func TestPower(t *testing.T) {
	const pairs, fewest = 60, 0.9
	rng := rand.New(rand.NewPCG(8, 0))
	run := func(cost map[string]float64) recording {
		return recording{seed: rng.Uint64(), weather: math.Exp(0.02 * rng.NormFloat64()), cost: cost, cases: manyCases()}
	}
	found := 0
	for range pairs {
		c := compare(run(nil).samples(), run(map[string]float64{p384: 1.2}).samples())
		i := slices.IndexFunc(c.metrics, func(m metric) bool { return m.name == p384 && m.unit == "server-cpu-sec/op" })
		if c.metrics[i].verdict.kind == higher {
			found++
		}
	}
	t.Logf("found in %d of %d", found, pairs)
	if float64(found) < fewest*pairs {
		t.Errorf("found in %d of %d", found, pairs)
	}
}

func TestDecide(t *testing.T) {
	interval := func(low, center, high float64) stat.Interval {
		return stat.Interval{Low: low, Center: center, High: high, N: 12}
	}
	unknown := interval(math.NaN(), 1.5, math.NaN())
	for _, c := range []struct {
		name     string
		floor, p float64
		ratios   []stat.Interval
		want     verdict
	}{
		{"contains 1", 1.05, 0.001, []stat.Interval{interval(0.99, 1, 1.02)}, verdict{kind: noDifference, ruledOut: 1.02*1.05 - 1}},
		{"contains 1, more room below", 1.05, 1, []stat.Interval{interval(0.8, 1, 1.02)}, verdict{kind: noDifference, ruledOut: 1 - 0.8/1.05}},
		{"within the floor", 1.05, 0.001, []stat.Interval{interval(1.01, 1.02, 1.04)}, verdict{kind: noDifference, ruledOut: 1.04*1.05 - 1}},
		{"across the floor", 1.05, 0.001, []stat.Interval{interval(1.01, 1.06, 1.1)}, verdict{}},
		{"above", 1.05, 0.04, []stat.Interval{interval(1.06, 1.1, 1.2)}, verdict{kind: higher}},
		{"below", 1.05, 0.04, []stat.Interval{interval(0.8, 0.9, 0.95)}, verdict{kind: lower}},
		{"p too great", 1.05, 0.05, []stat.Interval{interval(1.06, 1.1, 1.2)}, verdict{beyond: true}},
		{"no p", 1.05, math.NaN(), []stat.Interval{interval(1.06, 1.1, 1.2)}, verdict{beyond: true}},
		{"both above", 1.05, 0.01, []stat.Interval{interval(1.06, 1.1, 1.2), interval(1.1, 1.2, 1.3)}, verdict{kind: higher}},
		{"opposite", 1.05, 0.01, []stat.Interval{interval(1.06, 1.1, 1.2), interval(0.7, 0.8, 0.9)}, verdict{}},
		{"only the absolute", 1.05, 0.01, []stat.Interval{interval(0.98, 1, 1.01), interval(1.1, 1.2, 1.3)}, verdict{kind: noDifference, ruledOut: 1 - 0.98/1.05}},
		{"only the relative", 1.05, 0.01, []stat.Interval{interval(1.1, 1.2, 1.3), interval(0.99, 1, 1.02)}, verdict{kind: noDifference, ruledOut: 1.02*1.05 - 1}},
		{"no interval", 1.05, 0.01, []stat.Interval{unknown}, verdict{}},
		{"no floor", math.NaN(), 0.01, []stat.Interval{interval(1.06, 1.1, 1.2)}, verdict{}},
	} {
		got := decide(c.floor, c.p, c.ratios...)
		if math.Abs(got.ruledOut-c.want.ruledOut) > 1e-12 {
			t.Errorf("%s: ruled out %v, want %v", c.name, got.ruledOut, c.want.ruledOut)
		}
		got.ruledOut = c.want.ruledOut
		if got != c.want {
			t.Errorf("%s: %+v, want %+v", c.name, got, c.want)
		}
	}
}

func TestFloorRatio(t *testing.T) {
	nan := math.NaN()
	for _, c := range []struct {
		f    floor
		want float64
	}{
		{floor{twinsA: 1.02, twinsB: 1.03, calibration: 1.01}, 1.03},
		{floor{twinsA: 1.04, twinsB: 1.03, calibration: nan}, 1.04},
		{floor{twinsA: nan, twinsB: 1.03, calibration: 1.08}, 1.08},
		{floor{twinsA: 1.02, twinsB: nan, calibration: nan}, 1.02},
		{floor{twinsA: nan, twinsB: nan, calibration: 1.08}, nan},
	} {
		if got := c.f.ratio(); got != c.want && !(math.IsNaN(got) && math.IsNaN(c.want)) {
			t.Errorf("%+v: %v, want %v", c.f, got, c.want)
		}
	}
}

// TestTwinsOfWindows keeps the noise of whole windows from judging slices.
func TestTwinsOfWindows(t *testing.T) {
	whole := simulatedBaseline + "/window=whole"
	cases := append(recording{}.names(), whole, whole+samples.TwinSuffix)
	noisy := recording{seed: 1, cases: cases, cost: map[string]float64{whole: 1.5}}
	c := compare(noisy.samples(), recording{seed: 2, cases: cases}.samples())
	if c.baseline != simulatedBaseline {
		t.Fatalf("the baseline is %q", c.baseline)
	}
	for _, m := range c.metrics {
		if m.unit != "server-cpu-sec/op" {
			continue
		}
		if isWhole(m.name) && m.floor < 1.4 || !isWhole(m.name) && m.floor > 1.1 {
			t.Errorf("the floor of %s is %v", m.name, m.floor)
		}
	}
}

func TestObserve(t *testing.T) {
	run := func(values ...float64) recording {
		return recording{cases: []string{"/case=it"}, exact: values}
	}
	for _, c := range []struct {
		name     string
		a, b     []float64
		declared bool
		want     string
	}{
		{"constant", []float64{5, 5}, []float64{5}, false, same},
		{"another constant", []float64{5, 5}, []float64{6, 6}, false, differs},
		{"the same range", []float64{5, 7}, []float64{7, 6, 5}, false, same},
		{"overlapping", []float64{5, 7}, []float64{6, 8}, false, overlap},
		{"apart", []float64{5, 6}, []float64{7, 8}, false, differs},
		{"one varies", []float64{5, 5}, []float64{5, 6}, false, differs},
		{"overlapping, but declared exact", []float64{5, 7}, []float64{6, 8}, true, differs},
	} {
		unit := "sent-B/op"
		a, b := run(c.a...).file(), run(c.b...).file()
		if c.declared {
			a.Exact = []string{unit}
		}
		if got := compare(samples.New(a), samples.New(b)).exact; len(got) != 1 || got[0].verdict != c.want {
			t.Errorf("%s: %+v, want %q", c.name, got, c.want)
		}
	}
}

func TestUnits(t *testing.T) {
	for _, c := range []struct {
		unit                    string
		noise, tail, time, rate bool
	}{
		{unit: "server-cpu-sec/op", time: true},
		{unit: "cpu-sec/B", time: true},
		{unit: "p50-latency-sec/op", time: true},
		{unit: "p99-latency-sec/op", tail: true, time: true},
		{unit: "p99.9-latency-sec/op", tail: true, time: true},
		{unit: "max-latency-sec/op", tail: true, time: true},
		{unit: "process-cpu-sec/op", time: true},
		{unit: "B/s", rate: true},
		{unit: "B/op"},
		{unit: "peak-B/op"},
		{unit: "sec/op", time: true},
		{unit: data.YesUnit},
		{unit: "stolen-ratio", noise: true},
		{unit: "window-sec", noise: true, time: true},
		{unit: calibrationUnit, noise: true, time: true},
	} {
		if isNoise(c.unit) != c.noise || isTail(c.unit) != c.tail || isTime(c.unit) != c.time || isRate(c.unit) != c.rate {
			t.Errorf("%s: noise %v, tail %v, time %v, rate %v", c.unit, isNoise(c.unit), isTail(c.unit), isTime(c.unit), isRate(c.unit))
		}
	}
	for _, c := range []struct {
		unit string
		kind kind
		want string
	}{
		{"cpu-sec/B", higher, "slower"}, {"cpu-sec/B", lower, "faster"},
		{"B/s", higher, "faster"}, {"B/s", lower, "slower"},
		{"heap-B/op", higher, "more"}, {"heap-B/op", lower, "less"},
	} {
		if got := (metric{unit: c.unit, verdict: verdict{kind: c.kind}}).word(); got != c.want {
			t.Errorf("%s: %s, want %s", c.unit, got, c.want)
		}
	}
}
