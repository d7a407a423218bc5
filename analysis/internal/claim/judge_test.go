package claim

import (
	"math"
	"strings"
	"testing"

	"cryptocost/analysis/internal/values"
)

// table has values of the machine "one", each given as value, low and high.
func table(t testing.TB, content map[string][3]float64) *values.Table {
	t.Helper()
	tab := &values.Table{}
	for key, v := range content {
		if err := tab.Add(values.Value{Key: key, Value: v[0], Low: v[1], High: v[2], N: 12, Machine: "one"}); err != nil {
			t.Fatal(err)
		}
	}
	return tab
}

// compared are the values of a comparison of /a=1 with /a=2, in seconds;
// without a noise floor, if that is not a number.
func compared(ratio, low, high, floor float64) map[string][3]float64 {
	have := map[string][3]float64{
		"sec/op /a=1":            {ratio * 100e-6, ratio * 99e-6, ratio * 101e-6},
		"sec/op /a=2":            {100e-6, 99e-6, 101e-6},
		"sec/op /a=1 over /a=2":  {ratio, low, high},
		"sec/op /a=1 minus /a=2": {(ratio - 1) * 100e-6, (low - 1) * 100e-6, (high - 1) * 100e-6},
	}
	if !math.IsNaN(floor) {
		have["floor sec/op"] = [3]float64{floor, nan, nan}
	}
	return have
}

// against is a claim about that comparison.
func against(k Kind, value, unit string) Claim {
	return Claim{ID: "c", Experiment: "x", Kind: k, Metric: "sec/op", Case: "/a=1", Baseline: "/a=2", Value: value, Unit: unit}
}

// about is a claim about the case /a=1 alone.
func about(k Kind, metric, value, unit string) Claim {
	return Claim{ID: "c", Experiment: "x", Kind: k, Metric: metric, Case: "/a=1", Value: value, Unit: unit}
}

func alone(key string, value, low, high float64) map[string][3]float64 {
	return map[string][3]float64{key: {value, low, high}}
}

var nan = math.NaN()

func TestJudgeNumbers(t *testing.T) {
	for _, test := range []struct {
		name  string
		claim Claim
		have  map[string][3]float64
		word  Word
		why   string
	}{
		{"in the interval", about(Absolute, "sec/op", "230", "us"), alone("sec/op /a=1", 150e-6, 130e-6, 240e-6), Reproduced, "the interval holds the published number"},
		{"wide interval", about(Absolute, "sec/op", "230", "us"), alone("sec/op /a=1", 230e-6, 100e-6, 240e-6), Shifted, "undecided: the interval is too wide"},
		{"wide and beyond", about(Absolute, "sec/op", "230", "us"), alone("sec/op /a=1", 23.6e-6, 10e-6, 24e-6), Shifted, "0.103× the published number"},
		{"within tolerance", about(Absolute, "sec/op", "230", "us"), alone("sec/op /a=1", 280e-6, 279e-6, 281e-6), Reproduced, "1.22× the published number, within 25 %"},
		{"beyond", about(Absolute, "sec/op", "230", "us"), alone("sec/op /a=1", 117.76e-6, 114e-6, 118e-6), Shifted, "0.512× the published number"},
		{"no interval", about(Absolute, "sec/op", "230", "us"), alone("sec/op /a=1", 117.76e-6, nan, nan), Shifted, "0.512× the published number"},
		{"in the range", about(Absolute, "sec/op", "200-230", "us"), alone("sec/op /a=1", 210e-6, 205e-6, 215e-6), Reproduced, "the interval meets the published range"},
		{"above the range", about(Absolute, "sec/op", "200-230", "us"), alone("sec/op /a=1", 460e-6, 455e-6, 465e-6), Shifted, "2.00× the upper end of the published range"},
		{"below the range", about(Absolute, "sec/op", "200-230", "us"), alone("sec/op /a=1", 102.4e-6, 99e-6, 103e-6), Shifted, "0.512× the lower end of the published range"},
		{"zero", about(Absolute, "sec/op", "0", "us"), alone("sec/op /a=1", 1e-6, 1e-6, 1e-6), Shifted, "not 0 as published"},
		{"exact bytes", about(Bytes, "sent-B/op", "328", "B"), alone("sent-B/op /a=1", 328, 328, 328), Reproduced, "exactly the published number"},
		{"bytes that vary", about(Bytes, "sent-B/op", "328", "B"), alone("sent-B/op /a=1", 327, 326, 329), Reproduced, "the interval holds the published number"},
		{"bytes within tolerance", about(Bytes, "sent-B/op", "328", "B"), alone("sent-B/op /a=1", 332, 332, 332), Reproduced, "1.01× the published number, within 2 %"},
		{"other bytes", about(Bytes, "sent-B/op", "1556", "B"), alone("sent-B/op /a=1", 1501, 1501, 1501), Shifted, "0.965× the published number"},
		{"other count", about(Count, "records/op", "3", "records"), alone("records/op /a=1", 4, 4, 4), Shifted, "1.33× the published number"},

		{"ratio in the interval", against(Ratio, "4.6", "x"), compared(4, 3.9, 4.7, 1.02), Reproduced, "the interval holds the published number"},
		{"ratio within tolerance", against(Ratio, "4.6", "x"), compared(4.2, 4.1, 4.3, 1.02), Reproduced, "0.913× the published number, within 10 %"},
		{"same side", against(Ratio, "4.6", "x"), compared(2.3552, 2.2, 2.4, 1.02), Shifted, "0.512× the published number"},
		{"other side", against(Ratio, "4.6", "x"), compared(0.5, 0.4, 0.6, 1.02), Contradicted, "the other way round"},
		{"interval holds 1", against(Ratio, "4.6", "x"), compared(1.2, 0.9, 1.5, 1.02), Contradicted, "no effect is distinguishable (noise floor 2.0 %)"},
		{"interval holds 1 and the published", against(Ratio, "4.6", "x"), compared(2, 0.9, 5, 1.02), Shifted, "undecided: neither the published number nor 1 is ruled out"},
		{"ratio without interval", against(Ratio, "4.6", "x"), compared(4.6, nan, nan, nan), Shifted, "undecided: too few rounds for an interval"},
		{"no floor", against(Ratio, "4.6", "x"), compared(4.6, 4.5, 4.7, nan), Shifted, "undecided: neither the published number nor 1 is ruled out"},
		{"interval wide", against(Ratio, "4.6", "x"), compared(2, 1.5, 5, 1.02), Shifted, "undecided: the interval is too wide"},
		{"no effect as published", against(Ratio, "1.05", "x"), compared(1.01, 0.99, 1.03, 1.02), Reproduced, "0.962× the published number, within 10 %"},
		{"below the floor", against(Ratio, "1.5", "x"), compared(1.04, 1.03, 1.05, 1.06), Contradicted, "no effect is distinguishable (noise floor 6.0 %)"},
		{"below 1", against(Ratio, "0.2", "x"), compared(0.5, 0.4, 0.6, 1.02), Shifted, "2.50× the published number"},
		{"range of ratios", against(Ratio, "2-4.6", "x"), compared(3, 2.9, 3.1, 1.02), Reproduced, "the interval meets the published range"},

		{"difference in the interval", against(Difference, "70", "us"), compared(1.65, 1.6, 1.71, 1.02), Reproduced, "the interval holds the published number"},
		{"difference within tolerance", against(Difference, "70", "us"), compared(1.6, 1.59, 1.61, 1.02), Reproduced, "0.857× the published number, within 20 %"},
		{"other difference", against(Difference, "70", "us"), compared(1.3584, 1.34, 1.36, 1.02), Shifted, "0.512× the published number"},
		{"negative difference", against(Difference, "70", "us"), compared(0.5, 0.49, 0.51, 1.02), Contradicted, "the other way round"},
		{"no difference", against(Difference, "70", "us"), compared(1.01, 0.99, 1.03, 1.02), Contradicted, "no effect is distinguishable (noise floor 2.0 %)"},

		{"cores", formula(Formula, "cores-at-10-gbit/s of sec/op", "250", "cores"), compared(1.002, 1.0019, 1.0021, 1.001), Reproduced, "the interval holds the published number"},
		{"lost capacity", formula(Ratio, "lost-capacity of sec/op", "4/5", ""), compared(4.3, 4.2, 4.4, 1.02), Reproduced, "0.959× the published number, within 10 %"},
		{"less lost capacity", formula(Ratio, "lost-capacity of sec/op", "4/5", ""), compared(2, 1.9, 2.1, 1.02), Shifted, "0.625× the published number"},
		{"round trips", onWire("round-trips of sec/op", "1*RTT", "ms"), delayed(0.2, 0.1), Reproduced, "0.997× the published number, within 10 %"},
		{"two round trips", onWire("round-trips of sec/op", "1*RTT", "ms"), delayed(0.3, 0.1), Shifted, "2.00× the published number"},
		{"no round trip", onWire("round-trips of sec/op", "1*RTT", "ms"), delayed(0.1001, 0.1), Contradicted, "no effect is distinguishable (noise floor 2.0 %)"},
		{"at another round trip", onWire("at-200ms-round-trip of sec/op", "1/5", "s"), delayed(0.2, 0.1), Reproduced, "0.997× the published number, within 10 %"},
		{"sum", onWire("difference of sec/op", "2*50+processing", "ms"), delayed(0.2, 0.1), Reproduced, "0.997× the published number, within 10 %"},
		{"over a wire", Claim{Experiment: "x", Kind: Absolute, Metric: "sec/op", Case: "/wire=25+75ms/a=1", Value: "172", Unit: "ms"}, delayed(0.151, 0.1), Shifted, "0.878× the published number"},
		{"over a wire without delay", Claim{Experiment: "x", Kind: Absolute, Metric: "sec/op", Case: "/wire=0+0ms/a=1", Value: "172", Unit: "ms"},
			alone("sec/op /wire=0+0ms/a=1", 0.151, 0.15, 0.152), Reproduced, "0.878× the published number, within 25 %"},
		{"open sum", about(Formula, "sec/op", "50+50+rest", "ms"), alone("sec/op /a=1", 0.13, 0.129, 0.131), Shifted, "1.30× the published number"},
		{"open sum within tolerance", about(Formula, "sec/op", "50+50+rest", "ms"), alone("sec/op /a=1", 0.101, 0.1009, 0.1011), Reproduced, "1.01× the published number, within 25 %"},
		{"sum of counts", about(Count, "sent-records/op + received-records/op", "12", "records"),
			map[string][3]float64{"sent-records/op /a=1": {4, 4, 4}, "received-records/op /a=1": {8, 8, 8}}, Reproduced, "exactly the published number"},
		{"round trips counted", about(Count, "round-trips/op", "1", "rtt"), alone("round-trips/op /a=1", 2, 2, 2), Shifted, "2.00× the published number"},
		{"won capacity", formula(Ratio, "lost-capacity of sec/op", "4/5", ""), compared(0.5, 0.49, 0.51, 1.02), Contradicted, "the other way round"},
	} {
		t.Run(test.name, func(t *testing.T) {
			check(t, test.claim, Tables{"x": table(t, test.have)}, test.word, test.why)
		})
	}
}

// formula is a claim about something computed from that comparison.
func formula(k Kind, metric, value, unit string) Claim {
	c := against(k, value, unit)
	c.Metric = metric
	return c
}

// onWire is a claim about something computed from two cases on a wire.
func onWire(metric, value, unit string) Claim {
	return Claim{ID: "c", Experiment: "x", Kind: Formula, Metric: metric, Case: "/wire=25+75ms/a=1", Baseline: "/wire=25+75ms/a=2", Value: value, Unit: unit}
}

// delayed are the values of those cases in seconds; their difference is
// 0.3 ms short.
func delayed(of, against float64) map[string][3]float64 {
	const short = 0.3e-3
	ratio := of / against
	return map[string][3]float64{
		"sec/op /wire=25+75ms/a=1":                         {of, of - 1e-3, of + 1e-3},
		"sec/op /wire=25+75ms/a=2":                         {against, against - 1e-3, against + 1e-3},
		"sec/op /wire=25+75ms/a=1 over /wire=25+75ms/a=2":  {ratio, ratio - 1e-3, ratio + 1e-3},
		"sec/op /wire=25+75ms/a=1 minus /wire=25+75ms/a=2": {of - against - short, of - against - short - 1e-5, of - against - short + 1e-5},
		"floor sec/op": {1.02, nan, nan},
	}
}

func check(t *testing.T, c Claim, tables Tables, word Word, why string) Verdict {
	t.Helper()
	v := Judge(c, tables, "one")
	if v.Word != word || v.Why != why {
		t.Errorf("%q because %q; want %q because %q", v.Word, v.Why, word, why)
	}
	return v
}

func TestJudgeOrderings(t *testing.T) {
	for _, test := range []struct {
		published string
		have      map[string][3]float64
		word      Word
		why       string
	}{
		{"greater", compared(3, 2.9, 3.1, 1.02), Reproduced, "greater beyond the noise floor 2.0 %"},
		{"greater", compared(0.5, 0.4, 0.6, 1.02), Contradicted, "lower beyond the noise floor 2.0 %"},
		{"greater", compared(1.01, 0.97, 1.05, 1.02), Contradicted, "no difference: the whole interval is within 10 %"},
		{"greater", compared(1.2, 0.9, 1.5, 1.02), Shifted, "undecided: not distinguishable from 1 (noise floor 2.0 %), and a difference is not ruled out"},
		{"greater", compared(3, nan, nan, nan), Shifted, "undecided: too few rounds for an interval"},
		{"lower", compared(0.5, 0.4, 0.6, 1.02), Reproduced, "lower beyond the noise floor 2.0 %"},
		{"lower", compared(3, 2.9, 3.1, 1.02), Contradicted, "greater beyond the noise floor 2.0 %"},
		{"equal", compared(1.005, 0.99, 1.02, 1.01), Reproduced, "the whole interval is within 10 %"},
		{"equal", compared(1.05, 1.02, 1.09, 1.01), Shifted, "distinguished, though within 10 % (noise floor 1.0 %)"},
		{"equal", compared(0.87, 0.85, 0.89, 1.01), Contradicted, "the whole interval is not within 10 %"},
		{"equal", compared(1.05, 0.95, 1.15, 1.01), Shifted, "undecided: the interval is partly within 10 %"},
		{"nearly-equal", compared(0.87, 0.85, 0.89, 1.01), Reproduced, "the whole interval is within 25 %"},
		{"similar", compared(1.4, 1.3, 1.5, 1.01), Contradicted, "the whole interval is not within 25 %"},
		{"small", compared(1.4, 1.3, 1.5, 1.01), Reproduced, "the whole interval is within 50 %"},
		{"slightly-greater", compared(1.2, 1.1, 1.3, 1.01), Reproduced, "greater beyond the noise floor 1.0 %"},
		{"slightly-greater", compared(2, 1.9, 2.1, 1.01), Shifted, "greater, but perhaps by more than 50 %"},
		{"slightly-greater", compared(0.5, 0.4, 0.6, 1.01), Shifted, "less, not slightly more: lower beyond the noise floor 1.0 %"},
		{"ratios-stable", compared(1, 1, 1, 1.01), "", `no rule for the ordering "ratios-stable"`},
	} {
		t.Run(test.published, func(t *testing.T) {
			check(t, against(Ordering, test.published, ""), Tables{"x": table(t, test.have)}, test.word, test.why)
		})
	}
}

// Ratios of two experiments are compared by the widest interval.
func TestJudgeAcross(t *testing.T) {
	c := Claim{ID: "c", Experiment: "x", Kind: Ordering, Metric: "sec/op", Case: "/a=1 over /a=2", Baseline: "y: /b=1 over /b=2", Value: "greater"}
	y := map[string][3]float64{
		"sec/op /b=1": {400, 399, 401}, "sec/op /b=2": {100, 99, 101}, "sec/op /b=1 over /b=2": {4, 3.8, 4.2}, "floor sec/op": {1.05, nan, nan},
	}
	for _, test := range []struct {
		have map[string][3]float64
		word Word
		why  string
	}{
		{compared(8, 7.5, 8.5, 1.1), Reproduced, "greater beyond the noise floor 15.5 %"},
		{compared(4.4, 4.3, 4.5, 1.1), Shifted, "undecided: not distinguishable from 1 (noise floor 15.5 %), and a difference is not ruled out"},
	} {
		check(t, c, Tables{"x": table(t, test.have), "y": table(t, y)}, test.word, test.why)
	}
	check(t, c, Tables{"x": table(t, compared(8, 7.5, 8.5, 1.1))}, Open, "the experiment y is not part of the study yet")
	check(t, c, Tables{"x": table(t, compared(8, 7.5, 8.5, 1.1)), "y": table(t, nil)}, NotMeasured, "the experiment y was not run")
}

// A claim about several quantities has the worst verdict, and names them.
func TestJudgeSeveral(t *testing.T) {
	have := compared(4.6, 4.5, 4.7, 1.02)
	for key, v := range compared(1.01, 0.99, 1.03, 1.02) {
		have[strings.Replace(key, "/a=1", "/a=3", 1)] = v
	}
	c := against(Ratio, "4.6", "x")
	c.Case = "/a=1; /a=3"
	v := check(t, c, Tables{"x": table(t, have)}, Contradicted, "a=3: no effect is distinguishable (noise floor 2.0 %)")
	if want := "a=1: 4.60× (4.50–4.70×); a=3: 1.01× (0.99–1.03×)"; v.Measured != want {
		t.Errorf("measured %q, want %q", v.Measured, want)
	}
	c.Baseline = "/a=2; /a=2; /a=2"
	check(t, c, Tables{"x": table(t, have)}, "", "2 cases and 3 baselines")
}

func TestMeasured(t *testing.T) {
	for _, test := range []struct {
		claim Claim
		have  map[string][3]float64
		want  string
	}{
		{about(Absolute, "server-cpu-sec/op", "1", "us"), alone("server-cpu-sec/op /a=1", 152e-6, 148e-6, 157e-6), "152 µs (148–157 µs)"},
		{about(Absolute, "sec/op", "1", "us"), alone("sec/op /a=1", 152e-6, nan, nan), "152 µs (no interval)"},
		{about(Bytes, "sent-B/op", "1", "B"), alone("sent-B/op /a=1", 1501, 1501, 1501), "1,501 B"},
		{against(Ratio, "1", "x"), compared(4.6, 4.5, 4.7, 1.02), "4.60× (4.50–4.70×)"},
		{against(Difference, "1", "us"), compared(1.7, 1.6, 1.8, 1.02), "70.0 µs (60.0–80.0 µs)"},
		{formula(Ratio, "lost-capacity of sec/op", "4/5", ""), compared(4, 3.8, 4.2, 1.02), "75.0 % (73.7 % to 76.2 %)"},
		{onWire("round-trips of sec/op", "1*RTT", "ms"), delayed(0.2, 0.1), "0.997 round-trips (0.9969–0.9971 round-trips)"},
		{onWire("at-100ms-round-trip of sec/op; at-200ms-round-trip of sec/op", "1/4", "s"), delayed(0.2, 0.1),
			"at-100ms-round-trip: 99.7 ms (99.69–99.71 ms); at-200ms-round-trip: 199.40 ms (199.38–199.42 ms)"},
		{about(Count, "sent-records/op + received-records/op", "12", "records"),
			map[string][3]float64{"sent-records/op /a=1": {4, 4, 4}, "received-records/op /a=1": {8, 7, 8}}, "12 records (11–12 records)"},
	} {
		if v := Judge(test.claim, Tables{"x": table(t, test.have)}, "one"); v.Measured != test.want {
			t.Errorf("%s: measured %q, want %q", test.claim.Kind, v.Measured, test.want)
		}
	}
}

// What behaviours say of exact quantities, and of two cases that are alike.
func TestJudgeExactly(t *testing.T) {
	const part = "/a=1/record=03-server-changecipherspec"
	have := map[string][3]float64{
		"record-type/op " + part: {20, 20, 20}, "record-version/op " + part: {769, 769, 769}, "waits/op /a=1": {3, 3, 3}, "waits/op /a=2": {4, 4, 4},
		"round-trips/op /a=1": {1, 1, 2}, "waits/op /a=1 over /a=2": {0.75, 0.75, 0.75}, "sec/op /a=1": {0.151, 0.15, 0.152},
		"sec/op /a=2": {0.15, 0.15, 0.15}, "sec/op /a=1 over /a=2": {1.007, 1.006, 1.008}, "floor sec/op": {1.001, nan, nan},
		"few/op /a=1": {1, nan, nan}, "few/op /a=2": {1, nan, nan}, "few/op /a=1 over /a=2": {1, nan, nan},
		values.NotMeasured("/a=3"): {1, nan, nan},
	}
	for _, test := range []struct {
		evidence      string
		word          Word
		measured, why string
	}{
		{"record-type/op " + part + " is 20", Reproduced, "record=03-server-changecipherspec: type 20", ""},
		{"record-type/op " + part + " is 23", Contradicted, "record=03-server-changecipherspec: type 20", "not type 23"},
		{"record-version/op " + part + " is 771", Contradicted, "record=03-server-changecipherspec: version 0301", "not version 0303"},
		{"not record-type/op " + part + " is 23", Reproduced, "record=03-server-changecipherspec: type 20", ""},
		{"not record-type/op " + part + " is 20", Contradicted, "record=03-server-changecipherspec: type 20", "observed, against the claim"},
		{"not record-type/op /a=1/record=02-x; waits/op /a=1", Reproduced, "record=02-x: none; /a=1: measured", ""},
		{"waits/op /a=1 is 3; waits/op /a=2 is 3", Contradicted, "/a=1: 3 waits; /a=2: 4 waits", "/a=2: not 3 waits"},
		{"round-trips/op /a=1 is 1", Shifted, "/a=1: 1 round-trip", "not the same in every operation"},
		{"waits/op /a=1 as /a=2", Contradicted, "/a=1: 3 waits against 4 waits", "the whole interval is not within 10 %"},
		// That it is distinguished does not make a behaviour another one.
		{"sec/op /a=1 as /a=2", Reproduced, "/a=1: 151 ms against 150 ms", ""},
		{"few/op /a=1 as /a=2", Shifted, "/a=1: 1 few against 1 few", "undecided: too few rounds for an interval"},
		{"record-type/op /a=3/record=01-x is 20", NotMeasured, "", "not available: /a=3/record=01-x"},
		{"record-type/op /a=1/record=02-x is 20", "", "", `the values of x have no "record-type/op /a=1/record=02-x"`},
		{"waits/op /a=2 as /a=1", "", "", `the values of x have no "waits/op /a=2 over /a=1"`},
	} {
		t.Run(test.evidence, func(t *testing.T) {
			c := Claim{ID: "c", Experiment: "x", Kind: Behaviour, Case: "a=1", Evidence: test.evidence}
			v := check(t, c, Tables{"x": table(t, have)}, test.word, test.why)
			if v.Measured != test.measured {
				t.Errorf("measured %q, want %q", v.Measured, test.measured)
			}
		})
	}
}

func TestJudgeOthers(t *testing.T) {
	yes := map[string][3]float64{"yes /check=seen": {1, 1, 1}, "yes /check=unseen": {0, 0, 0}, "yes /check=wavers": {1, 0, 1}, "B/s /a=1": {1e9, 9e8, 1.1e9},
		values.NotMeasured("/check=unavailable"): {1, nan, nan}}
	row := func(k Kind, untested bool, evidence string) Claim {
		return Claim{ID: "c", Experiment: "x", Kind: k, Case: "a=1", HoldsOn: "the release", Untested: untested, Evidence: evidence}
	}
	answer := against(Ordering, "greater", "")
	answer.Untested = true
	for _, test := range []struct {
		name           string
		claim          Claim
		word           Word
		measured, why  string
		withComparison bool
	}{
		{name: "seen", claim: row(Behaviour, false, "/check=seen"), word: Reproduced, measured: "seen: yes"},
		{name: "unseen", claim: row(Behaviour, false, "/check=seen; /check=unseen"), word: Contradicted, measured: "seen: yes; unseen: no",
			why: "unseen: not observed; noted with the claim: the release"},
		{name: "wavers", claim: row(Behaviour, false, "/check=wavers"), word: Shifted, measured: "wavers: in some rounds",
			why: "not the same in every round; noted with the claim: the release"},
		{name: "rightly unseen", claim: row(Behaviour, false, "not /check=unseen; a note"), word: Reproduced, measured: "unseen: no", why: "a note"},
		{name: "wrongly seen", claim: row(Behaviour, false, "not /check=seen"), word: Contradicted, measured: "seen: yes",
			why: "observed, against the claim; noted with the claim: the release"},
		{name: "works", claim: row(Behaviour, false, "B/s /a=1"), word: Reproduced, measured: "/a=1: measured"},
		{name: "works after all", claim: row(Behaviour, false, "not B/s /a=1"), word: Contradicted, measured: "/a=1: measured",
			why: "observed, against the claim; noted with the claim: the release"},
		{name: "does not work", claim: row(Behaviour, false, "not B/s /a=2"), word: Reproduced, measured: "/a=2: not measured"},
		{name: "contradiction", claim: row(Behaviour, false, "/check=seen; the article contradicts itself"), word: Reproduced, measured: "seen: yes",
			why: "the article contradicts itself; noted with the claim: the release"},
		{name: "built", claim: row(Design, false, "a/b.go Name; TestName; a note"), word: Built, why: "`Name` in a/b.go, `TestName`; a note"},
		{name: "built and seen", claim: row(Design, false, "a/b.go Name; /check=seen"), word: Built, measured: "seen: yes", why: "`Name` in a/b.go"},
		{name: "built in vain", claim: row(Design, false, "a/b.go Name; /check=unseen"), word: Contradicted, measured: "unseen: no",
			why: "not observed; noted with the claim: the release"},
		{name: "answered", claim: answer, word: Answered, measured: "300 µs (297–303 µs), 3.00× (2.90–3.10×) the baseline", withComparison: true},
		{name: "not measurable", claim: row(Behaviour, true, "needs a phone; a note"), word: NotMeasurable, why: "needs a phone; a note"},
		{name: "silent", claim: row(Behaviour, false, ""), why: "neither a case nor a reason"},
		{name: "missing", claim: row(Behaviour, false, "/check=none"), why: `the values of x have no "yes /check=none"`},
		{name: "missing with a reason", claim: row(Behaviour, false, "/check=none; needs OpenSSL"), word: NotMeasured, why: "needs OpenSSL"},
		{name: "awaited", claim: row(Behaviour, false, "needs experiment y: a wire"), word: Open, why: "needs experiment y: a wire"},
		{name: "awaited no more", claim: row(Behaviour, false, "needs experiment x: a wire"), why: "the experiment x is part of the study now: name its case"},
		{name: "no number", claim: about(Absolute, "B/s", "tens", "MB/s"), why: `the published value "tens" is not a number`},
		{name: "no baseline", claim: Claim{Experiment: "x", Kind: Ratio, Metric: "B/s", Case: "/a=1", Baseline: "part 2"}, why: `no baseline among the cases: "part 2"`},
		{name: "no formula", claim: formula(Ratio, "gain of sec/op", "1", ""), why: `metric "gain of sec/op": there is no formula "gain"`},
		{name: "no wire", claim: formula(Formula, "round-trips of sec/op", "1", "rtt"), why: `metric "round-trips of sec/op": the case "/a=1" is on no wire with a delay`},
		{name: "compared sum", claim: Claim{Experiment: "x", Kind: Ratio, Metric: "B/s + b/s", Case: "/a=1", Baseline: "/a=1"}, why: `metric "B/s + b/s": a sum can't be compared`},
		{name: "unavailable", claim: row(Behaviour, false, "/check=unavailable"), word: NotMeasured, why: "not available: /check=unavailable"},
		// What is computed from cases that are there can't be missing for a reason.
		{name: "not computed", claim: Claim{Experiment: "x", Kind: Ratio, Metric: "B/s", Case: "/a=1", Baseline: "/a=1", Evidence: "needs OpenSSL"},
			why: `the values of x have no "B/s /a=1 over /a=1"`},
	} {
		t.Run(test.name, func(t *testing.T) {
			have := yes
			if test.withComparison {
				have = compared(3, 2.9, 3.1, 1.02)
			}
			v := check(t, test.claim, Tables{"x": table(t, have)}, test.word, test.why)
			if v.Measured != test.measured {
				t.Errorf("measured %q, want %q", v.Measured, test.measured)
			}
		})
	}
	other := Claim{Experiment: "z", Kind: Behaviour}
	check(t, other, Tables{"x": table(t, yes)}, Open, "the experiment z is not part of the study yet")
	// It is enough that the experiments of its cases are.
	other.Evidence = "x: /check=seen"
	check(t, other, Tables{"x": table(t, yes)}, Reproduced, "")
	yes[values.Partial] = [3]float64{1, nan, nan}
	check(t, row(Behaviour, false, "/check=none"), Tables{"x": table(t, yes)}, NotMeasured, "not asked for: only some cases were")
	elsewhere := Tables{"x": &values.Table{}}
	check(t, row(Behaviour, false, "/check=seen"), elsewhere, NotMeasured, "the experiment x was not run")
	check(t, row(Design, false, "a/b.go Name"), elsewhere, Built, "`Name` in a/b.go")
}

func TestRules(t *testing.T) {
	rules := Rules()
	if strings.ContainsAny(rules, "{}") {
		t.Errorf("a limit is not filled in:\n%s", rules)
	}
	for _, w := range Words {
		if !strings.Contains(rules, "*"+string(w)+"*") {
			t.Errorf("no rule for %q", w)
		}
	}
}
