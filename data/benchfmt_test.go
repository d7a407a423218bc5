package data

import (
	"maps"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"golang.org/x/perf/benchfmt"
	"golang.org/x/perf/benchunit"
)

// sameInBenchfmt checks that golang.org/x/perf reads text as it does file.
func sameInBenchfmt(t *testing.T, file *File, text string) {
	t.Helper()
	var want []Sample
	var round []string
	for _, r := range file.Rounds {
		for _, s := range r.Samples {
			want = append(want, s)
			round = append(round, format(float64(r.Number)))
		}
	}
	r := benchfmt.NewReader(strings.NewReader(text), "x")
	i := 0
	for r.Scan() {
		switch rec := r.Result().(type) {
		case *benchfmt.SyntaxError:
			t.Fatalf("benchfmt: %v", rec)
		case *benchfmt.Result:
			if i >= len(want) {
				t.Fatalf("benchfmt sees more than %d samples", i)
			}
			checkResult(t, rec, want[i], file, round[i])
			i++
		}
	}
	if err := r.Err(); err != nil {
		t.Fatal(err)
	}
	if i != len(want) {
		t.Errorf("benchfmt sees %d samples of %d", i, len(want))
	}
	var exact []string
	for key, m := range r.Units() {
		if key.Key == "assume" && m.Value == ExactAssumption {
			exact = append(exact, m.OrigUnit)
		}
	}
	slices.Sort(exact)
	// Two units that are one in base units are one for benchfmt.
	tidied := map[string]string{}
	for _, unit := range file.Exact {
		_, tidy := benchunit.Tidy(1, unit)
		if _, ok := tidied[tidy]; !ok {
			tidied[tidy] = unit
		}
	}
	if want := slices.Sorted(maps.Values(tidied)); !slices.Equal(exact, want) {
		t.Errorf("benchfmt takes %q for exact, want %q", exact, want)
	}
}

func checkResult(t *testing.T, got *benchfmt.Result, want Sample, file *File, round string) {
	t.Helper()
	if name := strings.TrimPrefix(benchmark(file.Experiment()), "Benchmark") + want.Case; string(got.Name) != name || got.Iters != want.Ops {
		t.Errorf("benchfmt sees %s of %d, want %s of %d", got.Name, got.Iters, name, want.Ops)
	}
	if _, parts := got.Name.Parts(); len(parts) != strings.Count(want.Case, "/") {
		t.Errorf("benchfmt cuts %s into %q", got.Name, parts)
	}
	if len(got.Values) != len(want.Values) {
		t.Fatalf("benchfmt sees %d values of %d", len(got.Values), len(want.Values))
	}
	for i, v := range got.Values {
		value, unit := v.OrigValue, v.OrigUnit
		if unit == "" {
			value, unit = v.Value, v.Unit
		}
		if value != want.Values[i].Value || unit != want.Values[i].Unit {
			t.Errorf("benchfmt sees %v %s, want %v", value, unit, want.Values[i])
		}
	}
	for key, value := range file.Config {
		if got.GetConfig(key) != value {
			t.Errorf("benchfmt sees %s: %q, want %q", key, got.GetConfig(key), value)
		}
	}
	if got.GetConfig("round") != round {
		t.Errorf("benchfmt sees round %q, want %q", got.GetConfig("round"), round)
	}
}

func TestBenchfmt(t *testing.T) {
	path := write(t, testHeader("2"), testRounds())
	file, err := ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	sameInBenchfmt(t, file, readText(t, path))
}

// TestBenchstat runs the command that the package's files are made for, on
// two machines that differ in much.
func TestBenchstat(t *testing.T) {
	there := testHeader("2")
	there.Config["machine"] = "other"
	there.Config["cpu-brand"] = "another processor"
	a, b := write(t, testHeader("2"), testRounds()), write(t, there, testRounds())
	cmd := exec.Command("go", "run", "golang.org/x/perf/cmd/benchstat", "-table", "goos", "-ignore", "round", a, b)
	var errs strings.Builder
	cmd.Stderr = &errs
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v: %s", err, errs.String())
	}
	text := string(out) + errs.String()
	for _, want := range []string{"goos: linux", "Keyexchange/kex=p521/cert=ecdsa-p256/tls=1.3", "server-cpu-sec/op", "sent-B/op"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
	if strings.Contains(text, "vary in") {
		t.Errorf("a warning about the configuration in\n%s", text)
	}
}
