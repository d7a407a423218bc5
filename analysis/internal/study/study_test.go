package study

import (
	"bytes"
	"errors"
	"flag"
	"io"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"cryptocost/analysis/internal/chart"
	"cryptocost/analysis/internal/command"
	"cryptocost/analysis/internal/samples"
	"cryptocost/analysis/internal/values"
)

// get gives a value that must be there.
func get(t *testing.T, d *Data, machine, key string) values.Value {
	t.Helper()
	v, ok := d.Values.Get(machine, key)
	if !ok {
		t.Fatalf("%s: no value %q", machine, key)
	}
	return v
}

// TestCompute compares what is computed with what was simulated.
func TestCompute(t *testing.T) {
	d := compute(t, standard)
	for _, test := range []struct {
		key   string
		want  float64
		share float64 // how far the estimate may be away
		unit  string
	}{
		{values.Case(cpu, base), 400e-6, 0.05, cpu},
		{values.Case(cpu, double), 800e-6, 0.05, cpu},
		{values.Case(rate, base), 1e9, 0.05, rate},
		{values.Over(cpu, double, base), 2, 0.01, ""},
		{values.Over(cpu, near, base), 1.01, 0.01, ""},
		{values.Over(cpu, twin, base), 1, 0.01, ""},
		{values.Over(rate, double, base), 0.5, 1e-9, ""},
		{values.Over(cpu, double, near), 2 / 1.01, 0.01, ""},  // from Pairs
		{values.Over(rate, near, double), 2 / 1.01, 1e-9, ""}, // from a claim
		{values.Minus(cpu, double, base), 400e-6, 0.05, cpu},
		{values.Minus(rate, near, double), 0.4901e9, 0.05, rate},
	} {
		v := get(t, d, "xeon", test.key)
		if math.Abs(v.Value-test.want) > test.share*test.want || v.Unit != test.unit || v.N != 12 {
			t.Errorf("%s: %+v, want %v %q of 12 rounds", test.key, v, test.want, test.unit)
		}
		if !(v.Low <= v.Value && v.Value <= v.High) {
			t.Errorf("%s: %v is not in its interval [%v, %v]", test.key, v.Value, v.Low, v.High)
		}
	}
	for _, key := range []string{
		values.Over(cpu, base, base), values.Minus(cpu, base, base), // itself
		values.Case(cpu, rsa), values.Over(cpu, rsa, base), // not measured
		values.Case(cpu, always), values.Over(cpu, always, base), // has no such unit
		values.Over(rate, base, double), // another experiment's claim
		values.Over(sent, near, base),   // nobody asks for it
		values.Floor(sent),              // exact
	} {
		if v, ok := d.Values.Get("xeon", key); ok {
			t.Errorf("%s is computed: %+v", key, v)
		}
	}
}

// TestFloor tests that the noise floor is the farther end of the interval of
// the twins' ratio.
func TestFloor(t *testing.T) {
	d := compute(t, standard)
	ratio, floor := get(t, d, "xeon", values.Over(cpu, twin, base)), get(t, d, "xeon", values.Floor(cpu))
	if want := max(ratio.High, 1/ratio.Low); floor.Value != want || floor.Value <= 1 || floor.Unit != "" || !math.IsNaN(floor.Low) {
		t.Errorf("floor %+v, want %v", floor, want)
	}
	if floor := get(t, d, "xeon", values.Floor(rate)); math.Abs(floor.Value-1) > 1e-9 {
		t.Errorf("floor of rates %v, whose twins are the same", floor.Value)
	}
}

func TestObserved(t *testing.T) {
	d := compute(t, standard)
	for _, test := range []struct {
		key              string
		value, low, high float64
		unit             string
	}{
		{values.Case(sent, double), 500, 500, 502, sent},
		{values.Case(sent, near), 300, 300, 300, sent},
		{values.Minus(sent, double, base), 200, 200, 202, sent},
		{values.Over(sent, double, base), 500. / 300, 500. / 300, 502. / 300, ""},
		{values.Case("yes", always), 1, 1, 1, "yes"},
		{values.Case("yes", never), 0, 0, 0, "yes"},
		{values.Case("yes", sometimes), 0.5, 0, 1, "yes"},
	} {
		want := values.Value{Key: test.key, Value: test.value, Unit: test.unit, Low: test.low, High: test.high, N: 12, Machine: "xeon"}
		if got := get(t, d, "xeon", test.key); got != want {
			t.Errorf("got %+v, want %+v", got, want)
		}
	}
}

func TestRun(t *testing.T) {
	noisy := standard
	noisy.stolen = 4
	d := compute(t, noisy)
	for key, want := range map[string]float64{
		"rounds": 12, "measured-ratio": 0.9, "windows": 48, "marked-windows": 4,
		"samples": 12 * 13, values.NotMeasured(rsa): 1,
	} {
		if v := get(t, d, "xeon", key); math.Abs(v.Value-want) > 1e-12 || v.N != 12 || !math.IsNaN(v.Low) || !math.IsNaN(v.High) {
			t.Errorf("%s: %+v, want %v", key, v, want)
		}
	}
	if _, ok := d.Values.Get("xeon", values.Partial); !ok {
		t.Error("a run in which a case could not be measured is not partial")
	}
	part := standard
	part.cases = "/kex=double"
	if v := get(t, compute(t, part), "xeon", values.Partial); v.Value != 1 {
		t.Errorf("a run of some cases has %+v", v)
	}
}

func TestFewRounds(t *testing.T) {
	few := standard
	few.rounds = 5
	d := compute(t, few)
	for _, key := range []string{values.Case(cpu, base), values.Over(cpu, double, base), values.Minus(cpu, double, base)} {
		if v := get(t, d, "xeon", key); !math.IsNaN(v.Low) || !math.IsNaN(v.High) || v.N != 5 {
			t.Errorf("5 rounds give an interval: %+v", v)
		}
	}
	for _, key := range []string{values.Floor(cpu)} {
		if v, ok := d.Values.Get("xeon", key); ok {
			t.Errorf("5 rounds give %+v", v)
		}
	}
	if v := get(t, d, "xeon", "headlines"); v.Value != 0 {
		t.Errorf("5 rounds give %+v", v)
	}
	if got, err := d.Wide(); err != nil || got != "None has an interval.\n" {
		t.Errorf("5 rounds give the wide ratios\n%s", got)
	}
}

// TestPrecision tests that each headline with an interval counts once.
func TestPrecision(t *testing.T) {
	noisy := standard
	noisy.noise = 0.1
	for _, test := range []struct {
		recording
		narrow float64
	}{{standard, 3}, {noisy, 1}} {
		d := compute(t, test.recording)
		for key, want := range map[string]float64{"headlines": 3, "narrow-headlines": test.narrow} {
			if v := get(t, d, "xeon", key); v.Value != want {
				t.Errorf("noise %v: %s = %v, want %v", test.noise, key, v.Value, want)
			}
		}
	}
}

func TestDeriveAndExtra(t *testing.T) {
	a := fixture()
	a.Units = append(a.Units, "twice-B/s")
	a.Derive = func(m *samples.Machine) {
		derived := m.Rounded(base, rate)
		for i := range derived {
			derived[i] *= 2
		}
		m.Derive(base, "twice-B/s", derived)
	}
	a.Extra = func(m *samples.Machine, table *values.Table) error {
		return table.Add(values.Value{Key: "extra", Value: 7, Machine: m.Name})
	}
	m := samples.New(standard.file())
	d, err := Compute(a, m, []*samples.Machine{m}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if once, twice := get(t, d, "xeon", values.Case(rate, base)), get(t, d, "xeon", values.Case("twice-B/s", base)); twice.Value != 2*once.Value {
		t.Errorf("derived %v from %v", twice.Value, once.Value)
	}
	if v := get(t, d, "xeon", "extra"); v.Value != 7 {
		t.Errorf("extra value %+v", v)
	}
	broken := errors.New("broken")
	a.Extra = func(*samples.Machine, *values.Table) error { return broken }
	if _, err := Compute(a, m, []*samples.Machine{m}, nil); !errors.Is(err, broken) || !strings.HasPrefix(err.Error(), "machine xeon: ") {
		t.Errorf("error %v, want machine xeon: broken", err)
	}
}

func TestTwoMachines(t *testing.T) {
	other := standard
	other.machine, other.seed = "epyc", 2
	d := compute(t, standard, other)
	if got, want := d.Values.Machines(), []string{"epyc", "xeon"}; !slices.Equal(got, want) {
		t.Errorf("values of %q, want %q", got, want)
	}
	if others := d.Others(); len(others) != 1 || others[0].Name != "epyc" || len(d.Machines) != 2 {
		t.Errorf("others than %s: %v of %v", d.Main.Name, others, d.Machines)
	}
	alone := compute(t, other)
	key := values.Over(cpu, double, base)
	if got, want := get(t, d, "epyc", key), get(t, alone, "epyc", key); got != want {
		t.Errorf("beside another machine %+v, alone %+v", got, want)
	}
}

func TestPoint(t *testing.T) {
	for stolen, noisy := range map[int]bool{3: false, 4: true} { // a quarter of 12 is 3
		r := standard
		r.stolen = stolen
		d := compute(t, r)
		v := get(t, d, "xeon", values.Case(cpu, double))
		if got, want := d.Point(d.Main, cpu, double), (chart.Point{Center: v.Value, Low: v.Low, High: v.High, Noisy: noisy}); got != want {
			t.Errorf("%d rounds marked: %+v, want %+v", stolen, got, want)
		}
	}
	d := compute(t, standard)
	if p := d.Point(d.Main, cpu, rsa); !math.IsNaN(p.Center) || !math.IsNaN(p.Low) || !math.IsNaN(p.High) {
		t.Errorf("what is not measured has the point %+v", p)
	}
}

func TestWords(t *testing.T) {
	d := compute(t, standard)
	for _, test := range []struct{ got, want string }{
		{d.Times(rate, near, double), "1.98×"},
		{d.Times(cpu, twin, base), "about 1×"},
		{d.Times(cpu, rsa, base), "(not measured)"},
		{d.Adds(sent, double, base), "200 B"},
		{d.Adds(cpu, twin, base), "no measurable amount"},
		{d.Adds(cpu, rsa, base), "(not measured)"},
		{d.Faster(rate, "half", double, "whole", base), "whole is 2.00× as fast as half"},
		{d.Faster(rate, "near", near, "half", double), "near is 1.98× as fast as half"},
		{d.Faster(rate, "rsa", rsa, "whole", base), "rsa and whole"},
	} {
		if test.got != test.want {
			t.Errorf("got %q, want %q", test.got, test.want)
		}
	}
}

// A workshop is a folder as the program finds it.
type workshop struct{ data, figures, claims string }

// newWorkshop has the recordings; the first machine is the reference.
func newWorkshop(t *testing.T, recordings ...recording) workshop {
	t.Helper()
	dir := t.TempDir()
	w := workshop{filepath.Join(dir, "data"), filepath.Join(dir, "figures"), filepath.Join(dir, "claims.csv")}
	for _, r := range recordings {
		r.write(t, w.data)
	}
	for path, text := range map[string]string{
		filepath.Join(w.data, samples.ReferenceFile): recordings[0].machine + "\n",
		w.claims: "id,article,place,experiment,statement,kind,metric,case,baseline,value,unit,holds_on,untested,evidence\n" +
			"ratio,part4,B,fixture,It is so.,ratio,B/s,/kex=near,/kex=double,2,x,,no,\n",
	} {
		if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	return w
}

// run runs an analysis there.
func (w workshop) run(a Analysis, args ...string) error {
	return Run(a, append([]string{"-data", w.data, "-out", w.figures, "-claims", w.claims}, args...), io.Discard)
}

// drawn is the fixture with a figure and a table.
func drawn() Analysis {
	a := fixture()
	a.Figures = map[string]func(*Data) (Drawing, error){"cpu": func(d *Data) (Drawing, error) {
		return chart.Rows{
			Head:     chart.Head{Experiment: "fixture", Title: "What it costs", Subtitle: d.Subtitle("medians")},
			Quantity: "CPU time", Unit: cpu, Series: []chart.Series{{Name: "server", Color: chart.Blue}},
			Groups: []chart.Group{{Rows: []chart.Row{{Name: "base", Points: []chart.Point{d.Point(d.Main, cpu, base)}}}}},
		}, nil
	}}
	a.Tables = map[string]func(*Data) (string, error){"cpu": func(d *Data) (string, error) {
		return d.CostTable(cpu, []Row{{"base", base}}), nil
	}}
	return a
}

func TestRunWrites(t *testing.T) {
	other := standard
	other.machine, other.seed = "epyc", 2
	w := newWorkshop(t, standard, other)
	if err := w.run(drawn()); err != nil {
		t.Fatal(err)
	}
	const origin = "made by analysis/fixture from data/*/fixture.txt; do not edit"
	contents := map[string]string{}
	for name, first := range map[string]string{
		"fixture.values": "# " + origin, "fixture-cpu.svg": "<!-- " + origin + " -->", "fixture-cpu.md": "<!-- " + origin + " -->",
	} {
		content, err := os.ReadFile(filepath.Join(w.figures, name))
		if err != nil {
			t.Fatal(err)
		}
		contents[name] = string(content)
		if line, _, _ := strings.Cut(string(content), "\n"); line != first {
			t.Errorf("%s begins with %q, want %q", name, line, first)
		}
	}
	if entries, err := os.ReadDir(w.figures); err != nil || len(entries) != len(contents) {
		t.Errorf("written: %v, %v, want %d files", entries, err, len(contents))
	}
	if head := "|  | published | verdict on it | xeon | epyc | ratio to the baseline |"; !strings.Contains(contents["fixture-cpu.md"], head) {
		t.Errorf("the table lacks the head %s:\n%s", head, contents["fixture-cpu.md"])
	}
	if !strings.Contains(contents["fixture-cpu.svg"], "xeon, 12 rounds; medians") {
		t.Error("the figure does not name the machine and its rounds")
	}
	table, err := values.ReadFile(filepath.Join(w.figures, "fixture.values"))
	if err != nil {
		t.Fatal(err)
	}
	if got, want := table.Machines(), []string{"epyc", "xeon"}; !slices.Equal(got, want) {
		t.Errorf("values of %q, want %q", got, want)
	}
	if _, ok := table.Get("xeon", values.Over(rate, near, double)); !ok {
		t.Error("the pair of the claim is not compared")
	}

	if err := w.run(drawn()); err != nil {
		t.Fatal(err)
	}
	for name, before := range contents {
		if after, err := os.ReadFile(filepath.Join(w.figures, name)); err != nil || !bytes.Equal(after, []byte(before)) {
			t.Errorf("%s differs when it is made again (%v)", name, err)
		}
	}
}

func TestRunMachine(t *testing.T) {
	other := standard
	other.machine, other.seed = "epyc", 2
	w := newWorkshop(t, standard, other)
	for want, args := range map[string][]string{"epyc": {"-machine", "epyc"}, "xeon": nil} {
		var main string
		a := drawn()
		a.Tables["main"] = func(d *Data) (string, error) { main = d.Main.Name; return "", nil }
		if err := w.run(a, args...); err != nil || main != want {
			t.Errorf("%q: machine at hand %q, %v, want %q", args, main, err, want)
		}
	}
	if err := w.run(drawn(), "-machine", "arm"); !errors.As(err, new(command.UsageError)) {
		t.Errorf("an unknown machine gives %v, want a usage error", err)
	}
}

func TestRunErrors(t *testing.T) {
	w := newWorkshop(t, standard)
	broken := errors.New("broken")
	for _, test := range []struct {
		name   string
		change func(*Analysis)
		args   []string
		want   string
	}{
		{"figure", func(a *Analysis) { a.Figures["x"] = func(*Data) (Drawing, error) { return nil, broken } }, nil, "figure fixture-x: broken"},
		{"drawing", func(a *Analysis) { a.Figures["x"] = func(*Data) (Drawing, error) { return brokenDrawing{broken}, nil } }, nil, "figure fixture-x: broken"},
		{"table", func(a *Analysis) { a.Tables["x"] = func(*Data) (string, error) { return "", broken } }, nil, "table fixture-x: broken"},
		{"no samples", func(a *Analysis) { a.Name = "other" }, nil, `other: the reference machine "xeon" has no samples`},
		{"claims", nil, []string{"-claims", filepath.Join(w.data, samples.ReferenceFile)}, samples.ReferenceFile + `:1: unknown column "xeon"`},
	} {
		t.Run(test.name, func(t *testing.T) {
			a := drawn()
			if test.change != nil {
				test.change(&a)
			}
			err := w.run(a, test.args...)
			if err == nil || !strings.HasSuffix(err.Error(), test.want) || errors.As(err, new(command.UsageError)) {
				t.Errorf("error %v, want %s", err, test.want)
			}
			if entries, _ := os.ReadDir(w.figures); len(entries) > 0 {
				t.Errorf("files were written nonetheless: %v", entries)
			}
		})
	}
	if err := w.run(drawn(), "-claims", filepath.Join(w.data, "none.csv")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("without claims: %v", err)
	}
}

type brokenDrawing struct{ err error }

func (b brokenDrawing) SVG() ([]byte, error) { return nil, b.err }

func TestUsage(t *testing.T) {
	for _, test := range []struct {
		args []string
		want string
	}{
		{[]string{"xeon"}, `unexpected argument "xeon"`},
		{[]string{"-nonsense"}, "flag provided but not defined: -nonsense"},
		{[]string{"-committed=maybe"}, `invalid boolean value "maybe" for -committed`},
	} {
		var stderr strings.Builder
		err := Run(fixture(), test.args, &stderr)
		if !errors.As(err, new(command.UsageError)) || !strings.HasPrefix(err.Error(), test.want) {
			t.Errorf("%q: error %v, want the usage error %s", test.args, err, test.want)
		}
	}
	var stderr strings.Builder
	if err := Run(fixture(), []string{"-help"}, &stderr); !errors.Is(err, flag.ErrHelp) || errors.As(err, new(command.UsageError)) {
		t.Errorf("-help: error %v", err)
	}
	if !strings.Contains(stderr.String(), "-machine name") {
		t.Errorf("-help prints\n%s", stderr.String())
	}
}
