package values

import (
	"bytes"
	"flag"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "rewrite the golden files in testdata")

const golden = "testdata/fixture.values"

var nan = math.NaN()

// fixture is a table of two machines, not in the order of the file.
func fixture(t *testing.T) *Table {
	t.Helper()
	const (
		unit = "server-cpu-sec/op"
		p521 = "/kex=p521/cert=ecdsa-p256/tls=1.3"
		base = "/kex=x25519/cert=ecdsa-p256/tls=1.3"
	)
	table := &Table{}
	for _, v := range []Value{
		{Case(unit, p521), 0.0023001234, unit, 0.00225, 0.00236, 12, "xeon"},
		{Over(unit, p521, base), 5.35, "", 5.2, 5.5, 12, "xeon"},
		{Minus(unit, p521, base), 0.00187, unit, 0.0018, 0.0019, 12, "xeon"},
		{Minus(unit, base, p521), -0.00187, unit, -0.0019, -0.0018, 12, "xeon"},
		{Floor(unit), 1.021, "", nan, nan, 12, "xeon"},
		{NotMeasured("/kex=rsa"), 1, "", nan, nan, 12, "xeon"},
		{Case("B/s", base), 4.5234567e9, "B/s", 4.5e9, 4.6e9, 6, "epyc"},
		{Case("yes", "/check=a"), 0, "yes", 0, 0, 6, "epyc"},
		{Partial, 1, "", nan, nan, 6, "epyc"},
	} {
		if err := table.Add(v); err != nil {
			t.Fatal(err)
		}
	}
	return table
}

func TestGolden(t *testing.T) {
	got := fixture(t).Format("made by a test; do not edit")
	if *update {
		if err := os.WriteFile(golden, got, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("Format gives\n%s\nwant\n%s(go test ./analysis/internal/values -update rewrites it)", got, want)
	}
}

func TestRoundTrip(t *testing.T) {
	written := fixture(t)
	read, err := ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := read.Machines(), []string{"epyc", "xeon"}; !slices.Equal(got, want) {
		t.Errorf("machines %q, want %q", got, want)
	}
	if len(read.values) != len(written.values) {
		t.Errorf("%d values, want %d", len(read.values), len(written.values))
	}
	for _, want := range written.values {
		got, ok := read.Get(want.Machine, want.Key)
		if !ok || !same(got, want) {
			t.Errorf("%s: read %+v, %v, want %+v", want.Key, got, ok, want)
		}
	}
}

// same compares values up to the six digits of a file.
func same(a, b Value) bool {
	near := func(x, y float64) bool {
		return math.IsNaN(x) && math.IsNaN(y) || math.Abs(x-y) <= 5e-6*math.Abs(y)
	}
	return a.Key == b.Key && a.Unit == b.Unit && a.N == b.N && a.Machine == b.Machine &&
		near(a.Value, b.Value) && near(a.Low, b.Low) && near(a.High, b.High)
}

func TestKeys(t *testing.T) {
	for _, test := range []struct{ got, want string }{
		{Case("B/s", "/a=1"), "B/s /a=1"},
		{Over("B/s", "/a=1", "/b=2"), "B/s /a=1 over /b=2"},
		{Minus("B/s", "/a=1", "/b=2"), "B/s /a=1 minus /b=2"},
		{Floor("B/s"), "floor B/s"},
		{NotMeasured("/a=1"), "not-measured /a=1"},
	} {
		if test.got != test.want {
			t.Errorf("key %q, want %q", test.got, test.want)
		}
	}
}

func TestGet(t *testing.T) {
	table := fixture(t)
	for _, id := range [][2]string{{"epyc", Floor("server-cpu-sec/op")}, {"xeon", Partial}, {"arm", Partial}} {
		if v, ok := table.Get(id[0], id[1]); ok {
			t.Errorf("Get(%q) = %+v, want none", id, v)
		}
	}
	if v, ok := new(Table).Get("xeon", Partial); ok {
		t.Errorf("an empty table has %+v", v)
	}
	if names := new(Table).Machines(); len(names) != 0 {
		t.Errorf("an empty table has machines %q", names)
	}
}

func TestAddRefuses(t *testing.T) {
	good := Value{Key: "a", Value: 1, Unit: "sec", Low: nan, High: nan, N: 12, Machine: "m"}
	for name, change := range map[string]func(*Value){
		"no key":               func(v *Value) { v.Key = "" },
		"no machine":           func(v *Value) { v.Machine = "" },
		"tab in the key":       func(v *Value) { v.Key = "a\tb" },
		"newline in the unit":  func(v *Value) { v.Unit = "sec\n" },
		"return":               func(v *Value) { v.Machine = "m\r" },
		"read as a comment":    func(v *Value) { v.Key = "# a" },
		"read as no unit":      func(v *Value) { v.Unit = "-" },
		"not a number":         func(v *Value) { v.Value = nan },
		"infinite":             func(v *Value) { v.Value = math.Inf(1) },
		"negatively infinite":  func(v *Value) { v.Value = math.Inf(-1) },
		"twice on one machine": func(v *Value) { v.Key = "first" },
	} {
		t.Run(name, func(t *testing.T) {
			table := &Table{}
			first := good
			first.Key = "first"
			if err := table.Add(first); err != nil {
				t.Fatal(err)
			}
			v := good
			change(&v)
			if err := table.Add(v); err == nil {
				t.Errorf("%+v was added", v)
			}
			if len(table.values) != 1 {
				t.Errorf("the table has %d values, want 1", len(table.values))
			}
		})
	}
	table := &Table{}
	for _, machine := range []string{"m", "other"} {
		v := good
		v.Machine = machine
		if err := table.Add(v); err != nil {
			t.Errorf("the same key on another machine: %v", err)
		}
	}
}

func TestParse(t *testing.T) {
	for _, test := range []struct {
		name, line string
		want       Value
	}{
		{"interval", "a b\t1.5\tsec/op\t1.25\t2e3\t12\tm\n", Value{"a b", 1.5, "sec/op", 1.25, 2000, 12, "m"}},
		{"no interval", "a\t-1\t-\t-\t-\t0\tm\n", Value{"a", -1, "", nan, nan, 0, "m"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			table, err := Parse([]byte("# comment\n" + test.line))
			if err != nil {
				t.Fatal(err)
			}
			if got, _ := table.Get("m", test.want.Key); !same(got, test.want) {
				t.Errorf("got %+v, want %+v", got, test.want)
			}
		})
	}
}

func TestParseErrors(t *testing.T) {
	const good = "a\t1\tsec\t-\t-\t12\tm\n"
	for _, test := range []struct{ name, content, want string }{
		{"too few columns", "# x\n" + good + "b\t1\tsec\n", "3: 3 columns, want 7"},
		{"empty line", good + "\n", "2: 1 columns, want 7"},
		{"value", "b\tmany\tsec\t-\t-\t12\tm\n", `1: "many" is not a number`},
		{"no value", "b\t-\tsec\t-\t-\t12\tm\n", `1: the value "b" of m can't be written: NaN`},
		{"infinite value", "b\tInf\tsec\t-\t-\t12\tm\n", `1: the value "b" of m can't be written: +Inf`},
		{"bound", good + "b\t1\tsec\t0\tx\t12\tm\n", `2: "x" is not a number`},
		{"rounds", good + "b\t1\tsec\t-\t-\t1.5\tm\n", `2: n "1.5" is not a whole number`},
		{"duplicate", good + "# x\n" + good, `3: the value "a" of m is computed twice`},
		{"return", "a\t1\tsec\t-\t-\t12\tm\r\n", `1: the value "a" of m`},
		{"cut off", good + "b\t1\tsec\t-\t-\t12\tm", "2: the line is cut off"},
		{"long line", good + strings.Repeat("b", 1<<17) + "\n", "2: 1 columns, want 7"},
	} {
		t.Run(test.name, func(t *testing.T) {
			table, err := Parse([]byte(test.content))
			if err == nil || !strings.HasPrefix(err.Error(), test.want) {
				t.Errorf("error %v, want %s", err, test.want)
			}
			if table != nil {
				t.Errorf("got %+v beside the error", table)
			}
		})
	}
}

func TestReadFileErrors(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.values")
	if _, err := ReadFile(path); !os.IsNotExist(err) {
		t.Errorf("a missing file: %v", err)
	}
	if err := os.WriteFile(path, []byte("# x\nb\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	if _, err := ReadFile(path); err == nil || err.Error() != path+":2: 1 columns, want 7" {
		t.Errorf("a damaged file: %v", err)
	}
}

// FuzzParse looks for tables that read back as others than they were written.
func FuzzParse(f *testing.F) {
	content, err := os.ReadFile(golden)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(content)
	f.Add([]byte("a\t1e-320\t-\t-Inf\tNaN\t-1\tm\n"))
	f.Add([]byte("a\t0x1p3\t\t-0\t1_0\t+1\tm\r\n"))
	f.Fuzz(func(t *testing.T, content []byte) {
		table, err := Parse(content)
		if err != nil {
			return
		}
		once := table.Format("x")
		again, err := Parse(once)
		if err != nil {
			t.Fatalf("%q was written as %q: %v", content, once, err)
		}
		if twice := again.Format("x"); !bytes.Equal(once, twice) {
			t.Errorf("%q was written as %q, then as %q", content, once, twice)
		}
	})
}
