package samples

import (
	"errors"
	"io/fs"
	"maps"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"cryptocost/data"
	"cryptocost/env"
)

// header describes a run of so many rounds.
func header(machine, experiment string, rounds int) data.Header {
	config := map[string]string{}
	for _, k := range env.Keys() {
		config[k.Name] = env.Unknown
	}
	maps.Copy(config, map[string]string{
		"schema": data.Schema, "experiment": experiment, "machine": machine, "profile": "quick", "rounds": strconv.Itoa(rounds),
		"seed": "1", "cases": "all", "passes": "1", "slice": "15ms", "quota": "1s",
	})
	return data.Header{Config: config}
}

// sample is a line of pairs of value and unit.
func sample(name string, ops int, pairs ...any) data.Sample {
	s := data.Sample{Case: name, Ops: ops}
	for i := 0; i < len(pairs); i += 2 {
		s.Values = append(s.Values, data.Value{Value: pairs[i].(float64), Unit: pairs[i+1].(string)})
	}
	return s
}

// machine has the given samples, round by round.
func machine(rounds ...[]data.Sample) *Machine {
	file := &data.File{Header: header("laptop", "keyexchange", len(rounds))}
	for i, samples := range rounds {
		file.Rounds = append(file.Rounds, data.Round{Number: i + 1, Samples: samples})
	}
	return New(file)
}

// write records a run of one round and case.
func write(t *testing.T, path string, h data.Header) {
	t.Helper()
	w, err := data.Create(path, h)
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Round([]data.Sample{sample("/kex=x25519", 1, 305.0, "sent-B/op")}); err != nil {
		t.Fatal(err)
	}
	if err := w.Finish(false); err != nil {
		t.Fatal(err)
	}
}

// put writes a text file.
func put(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
}

func TestRounded(t *testing.T) {
	m := machine(
		[]data.Sample{
			sample("/kex=b", 200, 3000.0, "server-cpu-ns/op", 2.0, "MB/s", 1e8, "window-ns"),
			sample("/kex=b", 1, 7.0, "latency-ns/op"),
			sample("/kex=a", 1, 305.0, "sent-B/op"),
			sample("/kex=sometimes", 1, 1.0, "yes"),
			sample(data.RoundCase, 1, 10.0, "round-ns"),
		},
		[]data.Sample{
			sample("/kex=a", 1, 306.0, "sent-B/op"),
			sample("/kex=b", 1, 8.0, "latency-ns/op"),
			sample("/kex=b", 200, 1000.0, "server-cpu-ns/op", 4.0, "MB/s", 1e8, "window-ns"),
		},
		[]data.Sample{
			sample("/kex=b", 200, 2000.0, "server-cpu-ns/op", 3.0, "MB/s", 1e8, "window-ns"),
			sample("/kex=a", 1, 307.0, "sent-B/op"),
			sample("/kex=sometimes", 1, 0.0, "yes"),
			sample("/kex=late", 1, 1.0, "yes"),
		},
	)
	for _, test := range []struct {
		name, unit string
		want       []float64
	}{
		{"/kex=b", "server-cpu-sec/op", []float64{3000e-9, 1000e-9, 2000e-9}},
		{"/kex=b", "B/s", []float64{2e6, 4e6, 3e6}},
		{"/kex=b", "window-sec", []float64{0.1, 0.1, 0.1}},
		{"/kex=a", "sent-B/op", []float64{305, 306, 307}},
		{"/kex=b", "server-cpu-ns/op", nil},  // as it was recorded
		{"/kex=b", "latency-sec/op", nil},    // not in round 3
		{"/kex=a", "server-cpu-sec/op", nil}, // in no round
		{"/kex=sometimes", "yes", nil},
		{"/kex=unknown", "B/s", nil},
	} {
		if got := m.Rounded(test.name, test.unit); !near(got, test.want) {
			t.Errorf("Rounded(%q, %q) = %v, want %v", test.name, test.unit, got, test.want)
		}
	}
	if got, want := m.Cases(), []string{"/kex=b", "/kex=a", "/kex=sometimes", "/kex=late"}; !slices.Equal(got, want) {
		t.Errorf("cases %q, want %q", got, want)
	}
	if m.Rounds() != 3 {
		t.Errorf("%d rounds, want 3", m.Rounds())
	}
}

// near compares values up to what the conversion of units leaves; nil is not
// the same as an empty list.
func near(got, want []float64) bool {
	return (got == nil) == (want == nil) && slices.EqualFunc(got, want, func(a, b float64) bool {
		return a-b <= 1e-12*b && b-a <= 1e-12*b
	})
}

func TestUnits(t *testing.T) {
	m := machine(
		[]data.Sample{
			sample("/kex=a", 200, 3.0, "server-cpu-ns/op", 2.0, "MB/s", 1e8, "window-ns"),
			sample("/kex=a", 1, 7.0, "latency-ns/op", 305.0, "sent-B/op"),
			sample("/kex=exact", 1, 305.0, "sent-B/op"),
		},
		[]data.Sample{sample("/kex=a", 200, 3.0, "server-cpu-ns/op", 0.1, "stolen-ratio", 1e8, "window-ns")},
	)
	for name, want := range map[string][]string{
		"/kex=a":     {"B/s", "server-cpu-sec/op", "stolen-ratio", "window-sec"},
		"/kex=exact": nil, "/kex=unknown": nil,
	} {
		if got := m.Units(name); !slices.Equal(got, want) {
			t.Errorf("units of %s: %q, want %q", name, got, want)
		}
	}
}

func TestDerive(t *testing.T) {
	m := machine([]data.Sample{sample("/kex=a", 1, 5.0, "MB/s")}, []data.Sample{sample("/kex=a", 1, 6.0, "MB/s")})
	m.Derive("/kex=a", "net-B/s", []float64{1, 2})
	m.Derive("/kex=a", "none-B/s", nil)
	for unit, want := range map[string][]float64{"net-B/s": {1, 2}, "none-B/s": nil, "B/s": {5e6, 6e6}} {
		if got := m.Rounded("/kex=a", unit); !near(got, want) {
			t.Errorf("%s: %v, want %v", unit, got, want)
		}
	}
	if got := m.Rounded("/kex=b", "net-B/s"); got != nil {
		t.Errorf("another case has %v", got)
	}
}

func TestAll(t *testing.T) {
	m := machine(
		[]data.Sample{
			sample("/kex=a", 2, 10.0, "sent-B/op"),
			sample("/kex=a", 1, 11.0, "sent-B/op"),
			sample("/kex=a", 1, 7000.0, "latency-ns/op"),
		},
		[]data.Sample{sample("/kex=b", 5, 99.0, "sent-B/op")},
		[]data.Sample{sample("/kex=a", 3, 10.0, "sent-B/op")},
	)
	for _, test := range []struct {
		name, unit string
		want       []float64
	}{
		{"/kex=a", "sent-B/op", []float64{10, 10, 11, 10, 10, 10}},
		{"/kex=a", "latency-sec/op", []float64{7e-6}},
		{"/kex=a", "received-B/op", nil},
		{"/kex=unknown", "sent-B/op", nil},
	} {
		if got := m.All(test.name, test.unit); !near(got, test.want) {
			t.Errorf("All(%q, %q) = %v, want %v", test.name, test.unit, got, test.want)
		}
	}
}

func TestMarked(t *testing.T) {
	window := func(stolen, throttled float64) []data.Sample {
		return []data.Sample{
			sample("/kex=a", 200, stolen, "stolen-ratio", throttled, "throttled-ratio", 1e8, "window-ns"),
			sample("/kex=a", 1, 7.0, "latency-ns/op"),
			sample("/kex=b", 200, 1e8, "window-ns"), // nothing known
		}
	}
	for _, test := range []struct {
		name              string
		stolen, throttled float64
		want              int
	}{
		{"quiet", 0, 0, 0},
		{"stolen up to the limit", 0.05, 0, 0},
		{"stolen beyond it", 0.0501, 0, 1},
		{"throttled up to the limit", 0, 0.05, 0},
		{"throttled beyond it", 0, 0.0501, 1},
		{"both", 0.5, 0.5, 1},
		{"only together", 0.03, 0.03, 0},
	} {
		t.Run(test.name, func(t *testing.T) {
			m := machine(window(0, 0), window(test.stolen, test.throttled), window(0.06, 0))
			if got := m.Marked("/kex=a"); got != test.want+1 {
				t.Errorf("%d windows are marked, want %d", got, test.want+1)
			}
			if got := m.Marked("/kex=b"); got != 0 {
				t.Errorf("%d windows of another case are marked", got)
			}
		})
	}
}

func TestMissing(t *testing.T) {
	m := machine([]data.Sample{sample("/kex=a", 1, 1.0, "yes")})
	m.File.Missing = []data.Missing{{Case: "/kex=b", Reason: "openssl is not installed"}}
	for name, want := range map[string]string{"/kex=b": "openssl is not installed", "/kex=a": "", "/kex=c": ""} {
		if got := m.Missing(name); got != want {
			t.Errorf("%s is missing for %q, want %q", name, got, want)
		}
	}
}

func TestMeasured(t *testing.T) {
	round := func(measured float64) []data.Sample {
		return []data.Sample{sample(data.RoundCase, 1, 10e9, "round-ns", measured, "measured-ns")}
	}
	if got := machine(round(9e9), round(8e9)).Measured(); !near([]float64{got}, []float64{0.85}) {
		t.Errorf("measured %v, want 0.85", got)
	}
	if got := machine([]data.Sample{sample("/kex=a", 1, 1.0, "yes")}).Measured(); !math.IsNaN(got) {
		t.Errorf("measured %v without records of the rounds, want NaN", got)
	}
}

func TestKey(t *testing.T) {
	const name = "/kex=p521/cert=ecdsa-p256/offer=a=b"
	for key, want := range map[string]string{"kex": "p521", "cert": "ecdsa-p256", "offer": "a=b", "ex": "", "tls": "", "": ""} {
		if got := Key(name, key); got != want {
			t.Errorf("Key(%q, %q) = %q, want %q", name, key, got, want)
		}
	}
	if !strings.HasPrefix(TwinSuffix, "/") || Key(name+TwinSuffix, "twin") != "b" {
		t.Errorf("the twin's suffix %q is not a key", TwinSuffix)
	}
}

func TestMachines(t *testing.T) {
	dir := t.TempDir()
	for _, path := range []string{"xeon/throughput.txt", "xeon/keyexchange.txt", "epyc/keyexchange.txt", "begun/keyexchange.txt.partial", "reference", "notes.txt"} {
		put(t, filepath.Join(dir, path), "x\n")
	}
	got, err := Machines(dir)
	if want := []string{"epyc", "xeon"}; err != nil || !slices.Equal(got, want) {
		t.Errorf("machines %q, %v, want %q", got, err, want)
	}
	if got, err := Machines(t.TempDir()); err != nil || len(got) != 0 {
		t.Errorf("machines of an empty folder: %q, %v", got, err)
	}
}

func TestLoad(t *testing.T) {
	dir := t.TempDir()
	write(t, filepath.Join(dir, "xeon", "keyexchange.txt"), header("xeon", "keyexchange", 1))
	write(t, filepath.Join(dir, "epyc", "keyexchange.txt"), header("epyc", "keyexchange", 1))
	write(t, filepath.Join(dir, "arm", "throughput.txt"), header("arm", "throughput", 1))
	machines, err := Load(dir, "keyexchange", []string{"xeon", "arm", "epyc", "unknown"})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, m := range machines {
		got = append(got, m.Name)
		if sent := m.Rounded("/kex=x25519", "sent-B/op"); !near(sent, []float64{305}) {
			t.Errorf("%s: %v bytes sent, want 305", m.Name, sent)
		}
	}
	if want := []string{"xeon", "epyc"}; !slices.Equal(got, want) {
		t.Errorf("loaded %q, want %q", got, want)
	}
}

func TestLoadErrors(t *testing.T) {
	dir := t.TempDir()
	write(t, filepath.Join(dir, "moved", "keyexchange.txt"), header("xeon", "keyexchange", 1))
	write(t, filepath.Join(dir, "renamed", "keyexchange.txt"), header("renamed", "throughput", 1))
	write(t, filepath.Join(dir, "whole", "keyexchange.txt"), header("whole", "keyexchange", 1))
	whole, err := os.ReadFile(filepath.Join(dir, "whole", "keyexchange.txt"))
	if err != nil {
		t.Fatal(err)
	}
	put(t, filepath.Join(dir, "changed", "keyexchange.txt"), strings.Replace(string(whole), " 305 ", " 306 ", 1))
	put(t, filepath.Join(dir, "empty", "keyexchange.txt"), "")
	for name, want := range map[string]string{
		"moved":   `its header says experiment "keyexchange" on machine "xeon"`,
		"renamed": `its header says experiment "throughput" on machine "renamed"`,
		"changed": "does not match its checksum",
		"empty":   "the file is empty",
	} {
		path := filepath.Join(dir, name, "keyexchange.txt")
		_, err := Load(dir, "keyexchange", []string{"whole", name})
		if err == nil || !strings.HasPrefix(err.Error(), path+":") || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: error %v, want %s: ... %s", name, err, path, want)
		}
	}
}

func TestChoose(t *testing.T) {
	dir := t.TempDir()
	put(t, filepath.Join(dir, ReferenceFile), "xeon\n")
	xeon, epyc := &Machine{Name: "xeon"}, &Machine{Name: "epyc"}
	for _, test := range []struct {
		name, want string
		have       []*Machine
		machine    *Machine
		err        string
	}{
		{"asked for", "epyc", []*Machine{epyc, xeon}, epyc, ""},
		{"the reference is asked for", "xeon", []*Machine{epyc, xeon}, xeon, ""},
		{"none asked for", "", []*Machine{epyc, xeon}, xeon, ""},
		{"has no samples", "arm", []*Machine{epyc, xeon}, xeon, ""},
		{"neither", "arm", []*Machine{epyc}, nil, `neither machine "arm" nor the reference machine "xeon" has samples`},
		{"no reference", "", []*Machine{epyc}, nil, `the reference machine "xeon" has no samples`},
		{"nothing", "xeon", nil, nil, `the reference machine "xeon" has no samples`},
	} {
		t.Run(test.name, func(t *testing.T) {
			m, err := Choose(dir, test.want, test.have)
			if m != test.machine || (err == nil) != (test.err == "") || err != nil && err.Error() != test.err {
				t.Errorf("got %v, %v, want %v, %s", m, err, test.machine, test.err)
			}
		})
	}
}

func TestChooseWithoutReference(t *testing.T) {
	dir := t.TempDir()
	epyc := &Machine{Name: "epyc"}
	if m, err := Choose(dir, "epyc", []*Machine{epyc}); m != epyc || err != nil {
		t.Errorf("the machine asked for: %v, %v", m, err)
	}
	if _, err := Choose(dir, "", []*Machine{epyc}); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the reference machine: %v, want that its file does not exist", err)
	}
}

func TestCommitted(t *testing.T) {
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("git is not installed")
	}
	// What a hook that runs the tests sets would lead away from the folder.
	for _, name := range []string{"GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_PREFIX"} {
		t.Setenv(name, "")
		os.Unsetenv(name)
	}
	repository := t.TempDir()
	t.Setenv("GIT_CEILING_DIRECTORIES", filepath.Dir(repository)) // which may be in a repository
	dir := filepath.Join(repository, "data")
	for _, path := range []string{"xeon/keyexchange.txt", "epyc/keyexchange.txt", "xeon/new.txt", "mine/keyexchange.txt", "reference"} {
		put(t, filepath.Join(dir, path), "x\n")
	}
	git := func(args ...string) {
		t.Helper()
		cmd := exec.Command("git", args...)
		cmd.Dir = repository
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("git %q: %v\n%s", args, err, out)
		}
	}
	names := []string{"epyc", "mine", "xeon"}
	check := func(when string, want ...string) {
		t.Helper()
		got, err := Committed(dir, names)
		if err != nil || !slices.Equal(got, want) {
			t.Errorf("%s: %q, %v, want %q", when, got, err, want)
		}
	}
	check("outside a repository", names...)
	git("init", "-q")
	check("nothing committed")
	git("add", "data/xeon/keyexchange.txt", "data/epyc", "data/reference")
	check("two committed", "epyc", "xeon")
	if !slices.Equal(names, []string{"epyc", "mine", "xeon"}) {
		t.Errorf("the list was changed to %q", names)
	}
}
