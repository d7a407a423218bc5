package study

import (
	"flag"
	"math"
	"os"
	"path/filepath"
	"testing"

	"cryptocost/analysis/internal/samples"
	"cryptocost/analysis/internal/values"
)

var update = flag.Bool("update", false, "rewrite the golden files in testdata")

// compareGolden compares a text with a file in testdata.
func compareGolden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("%s differs (go test ./analysis/internal/study -update rewrites it); got\n%s\nwant\n%s", path, got, want)
	}
}

func TestTables(t *testing.T) {
	noisy := recording{machine: "epyc", rounds: 12, seed: 2, noise: 0.1, stolen: 4, cases: "all"}
	few := recording{machine: "arm", rounds: 5, seed: 3, noise: 0.005, cases: "all"}
	costs := []Row{{"base", base}, {"double", double}, {"near", near}, {"RSA", rsa}, {"unknown", "/kex=unknown"}}
	checks := []Row{{"it always does", always}, {"it never does", never}, {"it sometimes does", sometimes}, {"unknown", "/check=unknown"}}
	for name, table := range map[string]func() string{
		"costs.md":           func() string { return compute(t, standard).CostTable(cpu, costs) },
		"costs-machines.md":  func() string { return compute(t, noisy, standard, few).CostTable(cpu, costs) },
		"rates.md":           func() string { return compute(t, standard).CostTable(rate, costs) },
		"few-rounds.md":      func() string { return compute(t, few).CostTable(cpu, costs) },
		"checks.md":          func() string { return compute(t, standard).CheckTable(checks) },
		"checks-machines.md": func() string { return compute(t, standard, few).CheckTable(checks) },
		"wide.md":            func() string { return must(t)(compute(t, noisy).Wide()) },
		"wide-none.md":       func() string { return must(t)(compute(t, standard).Wide()) },
		"ranges.md": func() string {
			d := compute(t, standard)
			var lines [][]string
			for _, r := range costs {
				lines = append(lines, []string{r.Name, d.Range(sent, r.Case)})
			}
			return Markdown([]string{"", "client sends"}, lines)
		},
	} {
		t.Run(name, func(t *testing.T) { compareGolden(t, name, table()) })
	}
}

func TestBeyond(t *testing.T) {
	nan := math.NaN()
	for _, test := range []struct {
		low, high, floor float64
		want             bool
	}{
		{1.05, 1.2, 1.04, true},
		{1.05, 1.2, 1.05, false}, // up to the floor is within it
		{1.05, 1.2, 1.06, false},
		{1.001, 1.2, 1, true},
		{1, 1.2, 1, false},
		{0.4, 0.5, 1.9, true},
		{0.4, 0.5, 2, false},
		{0.4, 0.5, 2.1, false},
		{0.9, 1.1, 1, false},
		{0.4, 2.5, 1, false},
		{nan, nan, 1, false}, // no interval
		{1.05, 1.2, nan, false},
	} {
		if got := Beyond(values.Value{Value: 1, Low: test.low, High: test.high}, test.floor); got != test.want {
			t.Errorf("[%v, %v] beyond %v: %v, want %v", test.low, test.high, test.floor, got, test.want)
		}
	}
}

// TestRatio tests what is written of a ratio.
func TestRatio(t *testing.T) {
	const machine = "xeon"
	d := compute(t, standard)
	add := func(v values.Value) {
		t.Helper()
		v.Machine = machine
		if err := d.Values.Add(v); err != nil {
			t.Fatal(err)
		}
	}
	nan := math.NaN()
	add(values.Value{Key: values.Floor("x/op"), Value: 1.02, Low: nan, High: nan})
	for unit, v := range map[string]values.Value{
		"x/op": {Value: 1.5, Low: 1.021, High: 1.6}, // beyond the floor
		"y/op": {Value: 1.01, Low: 1.001, High: 1.02},
		"z/op": {Value: 1.01, Low: nan, High: nan},
	} {
		v.Key = values.Over(unit, double, base)
		add(v)
	}
	add(values.Value{Key: values.Over("x/op", near, base), Value: 1.01, Low: 1.001, High: 1.03}) // within it
	for _, test := range []struct {
		pair Pair
		want string
	}{
		{Pair{"x/op", double, base}, "1.50× (1.02–1.60×)"},
		{Pair{"x/op", near, base}, "[1.01× (1.00–1.03×)]"},
		{Pair{"y/op", double, base}, "1.01× (1.00–1.02×)"}, // there is no floor
		{Pair{"z/op", double, base}, "1.01×"},
		{Pair{"x/op", base, base}, "1"},
		{Pair{"x/op", rsa, base}, "—"},
	} {
		if got := d.Ratio(d.Main, test.pair); got != test.want {
			t.Errorf("%+v is written %q, want %q", test.pair, got, test.want)
		}
	}
}

func TestPublished(t *testing.T) {
	d := compute(t, standard)
	for _, test := range []struct{ unit, name, want string }{
		{cpu, double, "790 µs"},
		{cpu, base, "4.00 ms"},
		{cpu, near, "—"},
		{rate, near, "—"}, // only a ratio is published
	} {
		if got := d.PublishedText(test.unit, test.name); got != test.want {
			t.Errorf("published %s of %s: %q, want %q", test.unit, test.name, got, test.want)
		}
	}
}

// must gives a table that has no error.
func must(t *testing.T) func(string, error) string {
	return func(table string, err error) string {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return table
	}
}

func TestDifference(t *testing.T) {
	nan := math.NaN()
	for _, test := range []struct {
		v    values.Value
		want string
	}{
		{values.Value{Value: 130, Low: 128, High: 131, Unit: "B/op"}, "+130 B (128–131 B)"},
		{values.Value{Value: 0, Low: 0, High: 0, Unit: "B/op"}, "0 B"},
		{values.Value{Value: -2e-6, Low: -9e-6, High: 5e-6, Unit: "sec/op"}, "−2.00 µs (−9.00 to 5.00 µs)"},
		{values.Value{Value: 2e-6, Low: nan, High: nan, Unit: "sec/op"}, "+2.00 µs"},
	} {
		d := &Data{Main: &samples.Machine{Name: "xeon"}, Values: &values.Table{}}
		test.v.Key, test.v.Machine, test.v.N = values.Minus(test.v.Unit, "/a=b", "/c=d"), "xeon", 6
		if err := d.Values.Add(test.v); err != nil {
			t.Fatal(err)
		}
		if got := d.Difference(test.v.Unit, "/a=b", "/c=d"); got != test.want {
			t.Errorf("got %q, want %q", got, test.want)
		}
		if got := d.Difference(test.v.Unit, "/c=d", "/a=b"); got != "—" {
			t.Errorf("not computed: %q", got)
		}
	}
}

// TestDifferenceWithinFloor: what the twins differ by is no difference.
func TestDifferenceWithinFloor(t *testing.T) {
	for ratio, want := range map[float64]string{1.01: "[+2.00 µs]", 1.2: "+2.00 µs"} {
		d := &Data{Main: &samples.Machine{Name: "xeon"}, Values: &values.Table{}}
		nan := math.NaN()
		for _, v := range []values.Value{
			{Key: values.Minus("sec/op", "/a=b", "/c=d"), Value: 2e-6, Low: nan, High: nan, Unit: "sec/op"},
			{Key: values.Over("sec/op", "/a=b", "/c=d"), Value: ratio, Low: ratio - 0.005, High: ratio + 0.005},
			{Key: values.Floor("sec/op"), Value: 1.03, Low: nan, High: nan},
		} {
			v.N, v.Machine = 6, "xeon"
			if err := d.Values.Add(v); err != nil {
				t.Fatal(err)
			}
		}
		if got := d.Difference("sec/op", "/a=b", "/c=d"); got != want {
			t.Errorf("with a ratio of %v: %q, want %q", ratio, got, want)
		}
	}
}
