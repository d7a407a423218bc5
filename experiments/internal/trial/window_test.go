package trial

import (
	"math/rand/v2"
	"reflect"
	"runtime"
	"slices"
	"testing"
	"time"

	"gonum.org/v1/gonum/stat/distuv"

	"cryptocost/data"
)

func TestPasses(t *testing.T) {
	const ms = time.Millisecond
	for _, test := range []struct {
		quota, slice time.Duration
		want         int
	}{
		{time.Second, 15 * ms, 67},
		{250 * ms, 15 * ms, 17},
		{700 * ms, 50 * ms, 14},
		{30 * ms, 15 * ms, 2},
		{37 * ms, 15 * ms, 2},
		{38 * ms, 15 * ms, 3},
		{ms, 15 * ms, 1},
		{0, 15 * ms, 1},
	} {
		if got := passes(test.quota, test.slice); got != test.want {
			t.Errorf("passes(%v, %v) = %d, want %d", test.quota, test.slice, got, test.want)
		}
	}
}

func TestSchedule(t *testing.T) {
	cases := make([]Case, 12)
	const first, second = 3, 7
	cases[first].Whole, cases[second].Whole = true, true
	const passes = 10
	order := schedule(cases, passes, 1, 1)
	if len(order) != passes*(len(cases)-2)+2 {
		t.Errorf("%d steps", len(order))
	}
	var sliced []int
	whole := map[int]int{}
	for _, i := range order {
		if cases[i].Whole {
			whole[i]++
		} else {
			sliced = append(sliced, i)
		}
	}
	if want := map[int]int{first: 1, second: 1}; !reflect.DeepEqual(whole, want) {
		t.Errorf("whole cases come %v times, want %v", whole, want)
	}
	orders := map[string]bool{}
	for pass := range slices.Chunk(sliced, len(cases)-2) {
		orders[string(runes(pass))] = true
		slices.Sort(pass)
		if want := []int{0, 1, 2, 4, 5, 6, 8, 9, 10, 11}; !slices.Equal(pass, want) {
			t.Errorf("a pass has the cases %v, want %v", pass, want)
		}
	}
	if len(orders) != passes {
		t.Errorf("%d different orders in %d passes", len(orders), passes)
	}
	if again := schedule(cases, passes, 1, 1); !slices.Equal(again, order) {
		t.Error("the same seed and round give another order")
	}
	if other := schedule(cases, passes, 1, 2); slices.Equal(other, order) {
		t.Error("another round has the same order")
	}
	if other := schedule(cases, passes, 2, 1); slices.Equal(other, order) {
		t.Error("another seed gives the same order")
	}
}

func runes(numbers []int) (r []rune) {
	for _, n := range numbers {
		r = append(r, rune(n))
	}
	return r
}

func TestScheduleOfFew(t *testing.T) {
	for _, test := range []struct {
		name  string
		cases []Case
		want  []int
	}{
		{"none", nil, nil},
		{"one", []Case{{}}, []int{0, 0}},
		{"one that is whole", []Case{{Whole: true}}, []int{0}},
		{"some that come first", []Case{{}, {Whole: true, First: true}, {Whole: true, First: true}}, []int{1, 2, 0, 0}},
	} {
		if got := schedule(test.cases, 2, 1, 1); !slices.Equal(got, test.want) {
			t.Errorf("%s: %v, want %v", test.name, got, test.want)
		}
	}
}

// uniform tells whether counts of equally likely outcomes are as even as
// chance has them in all but one of a thousand cases (Pearson's chi-square).
func uniform(counts []int) bool {
	sum := 0
	for _, n := range counts {
		sum += n
	}
	expected := float64(sum) / float64(len(counts))
	chi := 0.0
	for _, n := range counts {
		chi += (float64(n) - expected) * (float64(n) - expected) / expected
	}
	return chi < distuv.ChiSquared{K: float64(len(counts) - 1)}.Quantile(0.999)
}

func TestScheduleIsUniform(t *testing.T) {
	cases := make([]Case, 6)
	cases[5].Whole = true
	firsts, places := make([]int, 5), make([]int, 11)
	for round := range 5000 {
		order := schedule(cases, 2, 1, round)
		at := slices.Index(order, 5)
		places[at]++
		firsts[slices.Delete(order, at, at+1)[5]]++
	}
	if !uniform(firsts) {
		t.Errorf("the cases open the second pass %v times", firsts)
	}
	if !uniform(places) {
		t.Errorf("the whole case has the places %v times", places)
	}
}

// values gives the sample's values by unit.
func values(s data.Sample) map[string]float64 {
	m := map[string]float64{}
	for _, v := range s.Values {
		m[v.Unit] = v.Value
	}
	return m
}

func TestWindow(t *testing.T) {
	const ms = time.Millisecond
	tally := func(ops int, sent, received float64) Tally {
		return Tally{ops, []data.Value{{Value: sent, Unit: "sent-B/op"}, {Value: received, Unit: "received-B/op"}}}
	}
	var w window
	w.add(Slice{
		Ops: 10, Elapsed: 10 * ms, Involuntary: 3,
		Quantities: []Quantity{{"cpu-ns/op", 100, 10}, {"MB/s", 50, 2}},
		Tallies:    []Tally{tally(7, 429, 1321), tally(3, 429, 1320)},
		Latencies:  []time.Duration{5, 1, 4},
	}, noise{span: 10 * ms, stolen: 2 * ms, throttled: ms, calibration: 100, loops: 1, hasSteal: true, hasThrottle: true})
	w.add(Slice{
		Ops: 1, Elapsed: 20 * ms, Involuntary: 4,
		// Another order, and a quantity that the first slice lacked.
		Quantities: []Quantity{{"MB/s", 10, 1}, {"cpu-ns/op", 900, 90}, {"wait-ns/op", 6, 4}},
		Tallies:    []Tally{tally(1, 429, 1321)},
		Latencies:  []time.Duration{3, 2, 10, 6, 7, 8, 9},
	}, noise{span: 30 * ms, stolen: 2 * ms, throttled: 3 * ms, calibration: 300, loops: 3, hasSteal: true, hasThrottle: true})
	samples, err := w.samples("/kind=a", 3, rand.New(rand.NewPCG(1, 1)))
	if err != nil {
		t.Fatal(err)
	}
	if len(samples) != 1+2+3 {
		t.Fatalf("%d samples: %+v", len(samples), samples)
	}
	want := map[string]float64{
		"cpu-ns/op": 10, "MB/s": 20, "wait-ns/op": 1.5,
		"p50-latency-ns/op": 5, "p90-latency-ns/op": 9, "p99-latency-ns/op": 10, "max-latency-ns/op": 10,
		"window-ns": 30e6, "involuntary-switches": 7,
		"stolen-ratio": 0.1 / float64(runtime.NumCPU()), "throttled-ratio": 0.1, "calibration-ns/op": 100,
	}
	if got := values(samples[0]); samples[0].Ops != 11 || !reflect.DeepEqual(got, want) {
		t.Errorf("the window of %d operations has %v, want %v", samples[0].Ops, got, want)
	}
	tallies := []data.Sample{
		{Case: "/kind=a", Ops: 3, Values: tally(3, 429, 1320).Values},
		{Case: "/kind=a", Ops: 8, Values: tally(8, 429, 1321).Values},
	}
	if got := samples[1:3]; !reflect.DeepEqual(got, tallies) {
		t.Errorf("tallies %+v, want %+v", got, tallies)
	}
	for _, s := range samples {
		if s.Case != "/kind=a" {
			t.Errorf("a sample of %q", s.Case)
		}
	}
	for _, s := range samples[3:] {
		if s.Ops != 1 || len(s.Values) != 1 || s.Values[0].Unit != "latency-ns/op" {
			t.Errorf("raw latency %+v", s)
		}
	}
}

func TestWindowWithLittle(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	var none window
	if _, err := none.samples("/kind=a", 3, rng); err == nil {
		t.Error("a window without an operation has samples")
	}
	var w window
	w.add(Slice{Ops: 1, Quantities: []Quantity{{"cpu-ns/op", 5, 0}}}, noise{})
	_, err := w.samples("/kind=a", 3, rng)
	wantError(t, err, "/kind=a", "cpu-ns/op")
	w = window{}
	w.add(Slice{Ops: 1, Tallies: []Tally{{1, []data.Value{{Value: 1, Unit: data.YesUnit}}}}}, noise{loops: 1, calibration: 5})
	samples, err := w.samples("/check=a", 3, rng)
	if want := []data.Sample{{Case: "/check=a", Ops: 1, Values: []data.Value{{Value: 1, Unit: data.YesUnit}}}}; err != nil || !reflect.DeepEqual(samples, want) {
		t.Errorf("an observation gives %+v, %v; want %+v", samples, err, want)
	}
}

// TestRawLatencies: what is kept is a uniform sample without replacement.
func TestRawLatencies(t *testing.T) {
	const all, kept = 20, 5
	var w window
	var latencies []time.Duration
	for i := range all {
		latencies = append(latencies, time.Duration(i))
	}
	w.add(Slice{Ops: all, Latencies: latencies}, noise{})
	counts := make([]int, all)
	for seed := range uint64(2000) {
		samples, err := w.samples("/kind=a", kept, rand.New(rand.NewPCG(seed, 1)))
		if err != nil {
			t.Fatal(err)
		}
		seen := map[float64]bool{}
		if len(samples) != 1+kept {
			t.Fatalf("%d samples, want the percentiles and %d latencies", len(samples), kept)
		}
		samples = samples[1:]
		for _, s := range samples {
			counts[int(s.Values[0].Value)]++
			seen[s.Values[0].Value] = true
		}
		if len(samples) != kept || len(seen) != kept {
			t.Fatalf("%d samples, %d different ones, want %d", len(samples), len(seen), kept)
		}
	}
	// Drawn without replacement they are more even than chi-square expects.
	if !uniform(counts) {
		t.Errorf("the latencies are kept %v times", counts)
	}
	for _, raw := range []int{all, all + 1} {
		samples, err := w.samples("/kind=a", raw, rand.New(rand.NewPCG(1, 1)))
		if err != nil || len(samples) != 1+all {
			t.Errorf("%d of %d latencies are kept, want all (%v)", len(samples), raw, err)
		}
	}
	if !slices.IsSorted(w.latencies) {
		t.Error("sampling changed the window's latencies")
	}
}

// TestParts: a part is a case of its own, without what is around the window.
func TestParts(t *testing.T) {
	record := func(bytes float64, at time.Duration) Part {
		return Part{Suffix: "/record=a", Slice: Slice{Ops: 1, Latencies: []time.Duration{at}, Tallies: []Tally{{1, []data.Value{{Value: bytes, Unit: "record-B/op"}}}}}}
	}
	var w window
	for _, at := range []time.Duration{4, 8, 6} {
		w.add(Slice{Ops: 1, Elapsed: 10, Moments: map[string][]time.Duration{"handshake": {at}}, Parts: []Part{record(float64(at), at)}},
			noise{span: 10, calibration: 5, loops: 1})
	}
	w.add(Slice{Ops: 1, Elapsed: 10, Moments: map[string][]time.Duration{"handshake": {2}}, Parts: []Part{record(8, 10)}}, noise{})
	samples, err := w.samples("/kind=a", 5, rand.New(rand.NewPCG(1, 1)))
	if err != nil {
		t.Fatal(err)
	}
	if len(samples) != 1+1+3 {
		t.Fatalf("%d samples: %+v", len(samples), samples)
	}
	want := map[string]float64{
		"p50-handshake-ns/op": 4, "p90-handshake-ns/op": 8, "p99-handshake-ns/op": 8, "max-handshake-ns/op": 8,
		"window-ns": 40, "involuntary-switches": 0, "calibration-ns/op": 5,
	}
	if got := values(samples[0]); samples[0].Case != "/kind=a" || samples[0].Ops != 4 || !reflect.DeepEqual(got, want) {
		t.Errorf("the window of %d operations has %v, want %v", samples[0].Ops, got, want)
	}
	want = map[string]float64{"p50-latency-ns/op": 6}
	if got := values(samples[1]); samples[1].Case != "/kind=a/record=a" || samples[1].Ops != 4 || !reflect.DeepEqual(got, want) {
		t.Errorf("the part of %d operations has %v, want %v", samples[1].Ops, got, want)
	}
	for i, tally := range []struct {
		ops   int
		bytes float64
	}{{1, 4}, {1, 6}, {2, 8}} {
		want := data.Sample{Case: "/kind=a/record=a", Ops: tally.ops, Values: []data.Value{{Value: tally.bytes, Unit: "record-B/op"}}}
		if got := samples[2+i]; !reflect.DeepEqual(got, want) {
			t.Errorf("tally %+v, want %+v", got, want)
		}
	}
}

func TestNoise(t *testing.T) {
	if got := (noise{span: 1}).values(); got != nil {
		t.Errorf("nothing known gives %v", got)
	}
	if got := (noise{hasSteal: true, hasThrottle: true}).values(); got != nil {
		t.Errorf("no time gives %v", got)
	}
	now := time.Now()
	before := reading{at: now, stolen: 100, throttled: 50, hasSteal: true, hasThrottle: true}
	after := reading{at: now.Add(1000), stolen: 130, throttled: 70, hasSteal: true, hasThrottle: true}
	n := before.until(after)
	if n.span != 1000 || n.stolen != 30 || n.throttled != 20 || !n.hasSteal || !n.hasThrottle || n.loops != 1 || n.calibration <= 0 {
		t.Errorf("%+v", n)
	}
	back := after.until(reading{at: now.Add(2000), stolen: 100, throttled: 60})
	if back.stolen != 0 || back.throttled != 0 || back.hasSteal || back.hasThrottle {
		t.Errorf("counters that step back or are gone: %+v", back)
	}
	sum := n.plus(back)
	if sum.span != 2000 || sum.stolen != 30 || sum.throttled != 20 || sum.loops != 2 || !sum.hasSteal || !sum.hasThrottle || sum.calibration != n.calibration+back.calibration {
		t.Errorf("%+v and %+v make %+v", n, back, sum)
	}
}
