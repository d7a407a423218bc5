package main

import (
	"cryptocost/analysis/internal/command"
	"io"

	"bytes"
	"flag"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"cryptocost/analysis/internal/samples"
	"cryptocost/data"
)

var update = flag.Bool("update", false, "write the golden files in testdata")

// p384 and p521 are cases of the simulated runs.
const (
	p384 = "/kex=p384/cert=ecdsa-p256/tls=1.3"
	p521 = "/kex=p521/cert=ecdsa-p256/tls=1.3"
)

// elsewhere is another kind of hardware.
var elsewhere = map[string]string{
	"cpu-brand": "Sample Core X", "cpu-threads": "4", "cpu-features": "AESNI AVX2 AVX512F SSE4", "kernel-release": "6.1.0",
}

// manyCases are enough for Holm's correction to matter.

// status runs the program as a user does.
func status(args []string, stdout, stderr io.Writer) int {
	return command.Status("diff", args, stdout, stderr, run)
}

func manyCases() []string {
	names := recording{}.names()
	for _, cert := range []string{"rsa-2048", "rsa-3072", "rsa-4096", "ed25519"} {
		names = append(names, "/kex=x25519/cert="+cert+"/tls=1.3")
	}
	return names
}

// scenarios are pairs of folders, and what is said of them.
var scenarios = []struct {
	name   string
	a, b   []recording
	args   []string
	change func(t *testing.T, dir string) // of the folder b
	says   []string
	status int
	stderr string
}{
	{
		name: "same-machine-twice",
		a:    []recording{{seed: 1}}, b: []recording{{seed: 2}},
		says: []string{"Same kind of hardware", "no recorded property", "18 metrics compared, 0 differ beyond the noise floor; 18 do not", "19 exact quantities compared, 0 differ"},
	}, {
		name: "slower-by-a-fifth",
		a:    []recording{{seed: 1}}, b: []recording{{seed: 2, cost: map[string]float64{p521: 1.2}}},
		says: []string{"18 metrics compared, 1 differs beyond the noise floor", p521 + "\n  server-cpu-sec/op", "slower"},
	}, {
		name: "baseline-faster-by-a-fifth",
		a:    []recording{{seed: 1}}, b: []recording{{seed: 2, cost: map[string]float64{simulatedBaseline: 0.8, simulatedBaseline + samples.TwinSuffix: 0.8}}},
		says: []string{"18 metrics compared, 1 differs beyond the noise floor", simulatedBaseline + "\n  server-cpu-sec/op", "faster"},
	}, {
		// The calibration loop sees the weather.
		name: "drift",
		a:    []recording{{seed: 1}}, b: []recording{{seed: 2, weather: 1.08, calibration: 1.08}},
		says: []string{"18 metrics compared, 0 differ beyond the noise floor"},
	}, {
		// The calibration loop, in registers, does not.
		name: "drift-unseen",
		a:    []recording{{seed: 1}}, b: []recording{{seed: 2, weather: 1.15}},
		says: []string{"18 metrics compared, 0 differ beyond the noise floor", "All cases together shifted in client-cpu-sec/op by"},
	}, {
		name: "exact",
		a:    []recording{{seed: 1}}, b: []recording{{seed: 2, sentBytes: 301, accepted: true}},
		says: []string{"305 B  301 B", "differs", "19 exact quantities compared, 7 differ", "yes    no"},
	}, {
		name: "other-hardware",
		a:    []recording{{seed: 1}}, b: []recording{{seed: 2, machine: "desktop", weather: 0.7, config: elsewhere}},
		says: []string{"Different hardware", "cpu-brand", "18 metrics compared, 18 differ beyond the noise floor"},
	}, {
		name: "other-settings",
		a:    []recording{{seed: 1, machine: "laptop"}},
		b: []recording{{seed: 2, rounds: 6, config: map[string]string{
			"profile": "quick", "seed": "7", "quota": "250ms", "slice": "50ms", "passes": "5", "tool-openssl": "3.5.0", "server-cpu-brand": "Other"}}},
		says: []string{"Different hardware", "on a machine of its own", "tool-openssl", "quota", "slice", "costs may differ for that alone"},
	}, {
		name: "missing",
		a: []recording{
			{seed: 1, missing: []data.Missing{{Case: "/check=hrr-in-openssl-msg", Reason: "openssl is not installed"}, {Case: "/kex=p224", Reason: "Go lacks it"}}},
			{experiment: "throughput", seed: 3},
		},
		b: []recording{
			{seed: 2, cases: []string{simulatedBaseline, simulatedBaseline + samples.TwinSuffix, p521, "/kex=rsa/cert=rsa-2048/tls=1.2"},
				missing: []data.Missing{{Case: p384, Reason: "no P-384 here"}, {Case: "/kex=p224", Reason: "Go lacks it"}},
				config:  map[string]string{"cases": "x25519/|p521|rsa"}},
		},
		says: []string{
			"throughput: not in B", "keyexchange: not measured in B: no P-384 here", "keyexchange: only in A; B was asked for the cases x25519/|p521|rsa",
			"keyexchange: only in B", "measured in neither: Go lacks it", "9 metrics compared",
		},
	}, {
		name: "other-schema",
		a:    []recording{{seed: 1}, {experiment: "throughput", seed: 3}},
		b:    []recording{{seed: 2}, {experiment: "throughput", seed: 4}},
		change: func(t *testing.T, dir string) {
			replace(t, filepath.Join(dir, "throughput.txt"), "schema: cryptocost/1", "schema: cryptocost/2")
		},
		says: []string{"throughput: schema cryptocost/2 in B; this program reads cryptocost/1", "keyexchange: 18 metrics compared"},
	}, {
		name: "damaged",
		a:    []recording{{seed: 1}, {experiment: "throughput", seed: 3}},
		b:    []recording{{seed: 2}, {experiment: "throughput", seed: 4}},
		change: func(t *testing.T, dir string) {
			replace(t, filepath.Join(dir, "throughput.txt"), "round: 3", "round: 4")
		},
		says:   []string{"throughput: damaged in B", "keyexchange: 18 metrics compared"},
		status: 1, stderr: `throughput.txt:\d+: "round: 4"`,
	}, {
		name: "unfinished",
		a:    []recording{{seed: 1}, {experiment: "throughput", seed: 3}},
		b:    []recording{{seed: 2}, {experiment: "throughput", seed: 4}},
		change: func(t *testing.T, dir string) {
			path := filepath.Join(dir, "throughput.txt")
			if err := os.Rename(path, path+data.PartialSuffix); err != nil {
				t.Fatal(err)
			}
		},
		says: []string{"throughput: unfinished in B"},
	}, {
		name: "few-rounds",
		a:    []recording{{seed: 1, rounds: 3}}, b: []recording{{seed: 2, cost: map[string]float64{p521: 1.5}}},
		says: []string{"keyexchange: no interval: 3 of at least 6 rounds of A", "18 metrics compared, 0 differ beyond the noise floor; 18 are not decided"},
	}, {
		// 6 rounds are enough for intervals, but no p survives the correction.
		name: "quick-against-quick",
		a:    []recording{{seed: 1, rounds: 6, cases: manyCases()}},
		b:    []recording{{seed: 2, rounds: 6, cases: manyCases(), cost: map[string]float64{p521: 1.5}}},
		says: []string{"30 metrics compared, 0 differ beyond", "1 lies beyond the floor with too great a p", "6 against 6 rounds can show no difference in a table of 30"},
	}, {
		name: "no-twin",
		a:    []recording{{seed: 1, cases: []string{simulatedBaseline, p521}}}, b: []recording{{seed: 2, cases: []string{simulatedBaseline, p521}, cost: map[string]float64{p521: 2}}},
		says: []string{"no common case has a twin", "6 metrics compared, 0 differ beyond the noise floor; 6 are not decided"},
	}, {
		name: "twin-in-one",
		a:    []recording{{seed: 1}}, b: []recording{{seed: 2, cases: []string{simulatedBaseline, p384, p521}, cost: map[string]float64{p521: 1.5}}},
		says: []string{"keyexchange: only in A", "9 metrics compared, 1 differs beyond the noise floor"},
	}, {
		name: "all",
		args: []string{"-all"},
		a:    []recording{{seed: 1}}, b: []recording{{seed: 2, cost: map[string]float64{p521: 1.2}}},
		says: []string{"over the baseline", "over all cases", "p99-latency-sec/op", "not judged", "stolen-ratio", "none > "},
	}, {
		name: "markdown",
		args: []string{"-markdown"},
		a:    []recording{{seed: 1}}, b: []recording{{seed: 2, cost: map[string]float64{p521: 1.2}, config: map[string]string{"mitigations": "retbleed: Not affected | spectre_v1: off"}}},
		says: []string{"## keyexchange", "| case |  | A | B | B/A | p | difference |", `Not affected \| spectre`},
	},
}

// replace changes the first occurrence of a text in a file.
func replace(t *testing.T, path, old, new string) {
	t.Helper()
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	changed := bytes.Replace(content, []byte(old), []byte(new), 1)
	if bytes.Equal(changed, content) {
		t.Fatalf("%s has no %q", path, old)
	}
	if err := os.WriteFile(path, changed, 0o666); err != nil {
		t.Fatal(err)
	}
}

// TestScenarios runs the program on simulated folders and compares what it
// prints with testdata.
func TestScenarios(t *testing.T) {
	for _, s := range scenarios {
		t.Run(s.name, func(t *testing.T) {
			t.Chdir(t.TempDir())
			for _, r := range s.a {
				r.write(t, filepath.Join("data", "one"))
			}
			for _, r := range s.b {
				r.write(t, filepath.Join("data", "other"))
			}
			if s.change != nil {
				s.change(t, filepath.Join("data", "other"))
			}
			var stdout, stderr bytes.Buffer
			args := append(slices.Clone(s.args), "data/one", "data/other")
			if got := status(args, &stdout, &stderr); got != s.status {
				t.Errorf("exit status %d, want %d; %s", got, s.status, &stderr)
			}
			if !regexp.MustCompile(s.stderr).MatchString(stderr.String()) || (s.stderr == "") != (stderr.Len() == 0) {
				t.Errorf("standard error is %q, want %q", &stderr, s.stderr)
			}
			for _, want := range s.says {
				// Wrapping may put a line break anywhere.
				if !strings.Contains(unwrapped(stdout.String()), unwrapped(want)) {
					t.Errorf("the output lacks %q", want)
				}
			}
			checkWidth(t, stdout.String(), slices.Contains(s.args, "-markdown"))
			golden(t, s.name, stdout.Bytes())
		})
	}
}

func unwrapped(text string) string { return strings.Join(strings.Fields(text), " ") }

// checkWidth says which lines don't fit a terminal.
func checkWidth(t *testing.T, text string, markdown bool) {
	t.Helper()
	for line := range strings.Lines(text) {
		if n := utf8.RuneCountInString(strings.TrimSuffix(line, "\n")); n > lineWidth && !markdown {
			t.Errorf("%d characters: %s", n, line)
		}
	}
}

// testdata is absolute, because the tests change directory.
var testdata string

func TestMain(m *testing.M) {
	var err error
	if testdata, err = filepath.Abs("testdata"); err != nil {
		panic(err)
	}
	os.Exit(m.Run())
}

// golden compares got with a file of testdata.
func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	path := filepath.Join(testdata, name+".golden")
	if *update {
		if err := os.WriteFile(path, got, 0o666); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("differs from %s (go test ./analysis/diff -update writes it anew):\n%s", path, got)
	}
}

func TestUsage(t *testing.T) {
	t.Chdir(t.TempDir())
	recording{}.write(t, "data/one")
	recording{}.write(t, "data/two")
	if err := os.Mkdir("data/empty", 0o777); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		args   []string
		status int
		says   string
	}{
		{nil, 2, "two folders of samples are needed, not 0"},
		{[]string{"data/one"}, 2, "two folders of samples are needed, not 1"},
		{[]string{"data/one", "data/two", "-all"}, 2, "flags come before"},
		{[]string{"-fast", "data/one", "data/two"}, 2, "-fast"},
		{[]string{"data/one", "data/tow"}, 2, `B: no folder "data/tow"; folders of "data" with samples: one, two`},
		{[]string{"data/empty", "data/two"}, 2, `A: no samples in "data/empty"; folders of "data" with samples: one, two`},
		{[]string{"data/one", "elsewhere/two"}, 2, `nor are there any in the folders of "elsewhere"`},
		{[]string{"data/one", "data/two/"}, 0, ""},
	} {
		var stdout, stderr bytes.Buffer
		if got := status(c.args, &stdout, &stderr); got != c.status {
			t.Errorf("%q: exit status %d, want %d", c.args, got, c.status)
		}
		if !strings.Contains(stderr.String(), c.says) || strings.Contains(stderr.String(), usage) != (c.status == 2) {
			t.Errorf("%q: standard error is %q, want %q", c.args, &stderr, c.says)
		}
	}
	var stdout, stderr bytes.Buffer
	if got := status([]string{"-help"}, &stdout, &stderr); got != 0 || !strings.Contains(stdout.String(), "-markdown") {
		t.Errorf("-help: exit status %d, %q", got, &stdout)
	}
}

// TestMixedFolder says so where a folder has runs of several machines.
func TestMixedFolder(t *testing.T) {
	t.Chdir(t.TempDir())
	recording{machine: "laptop"}.write(t, "data/one")
	recording{machine: "desktop", experiment: "throughput", config: map[string]string{"go": "go1.27.1"}}.write(t, "data/one")
	recording{machine: "laptop"}.write(t, "data/other")
	recording{machine: "laptop", experiment: "throughput"}.write(t, "data/other")
	var stdout, stderr bytes.Buffer
	if got := status([]string{"data/one", "data/other"}, &stdout, &stderr); got != 0 {
		t.Fatalf("exit status %d: %s", got, &stderr)
	}
	for _, want := range []string{"machine desktop or laptop", "go1.26.8 or go1.27.1", "go (throughput) A go1.27.1 B go1.26.8"} {
		if !strings.Contains(unwrapped(stdout.String()), want) {
			t.Errorf("the output lacks %q:\n%s", want, &stdout)
		}
	}
}

func TestApart(t *testing.T) {
	long := strings.Repeat("FEATURE ", 20)
	for _, c := range []struct{ a, b, wantA, wantB string }{
		{"x y", "x", "x y", "x"},
		{long + "AVX2", long + "AVX512F VAES", "only here: AVX2", "only here: AVX512F VAES"},
		{long + "AVX2", strings.TrimSpace(long), "only here: AVX2", "only here: nothing"},
		{"retbleed: Not affected | " + long + "| mds: off", "retbleed: Not affected | " + long + "| mds: on", "only here: mds: off", "only here: mds: on"},
	} {
		if a, b := apart(c.a, c.b); a != c.wantA || b != c.wantB {
			t.Errorf("%q and %q: %q and %q", c.a, c.b, a, b)
		}
	}
}

func TestTable(t *testing.T) {
	table := table{group: "case", columns: []string{"", "A", "note"}}
	table.add("/case=1", "sec/op", "65 µs", "fine")
	table.add("/case=1", "B/op", "7 B", strings.Repeat("word ", 25))
	table.add("only a group | of its own")
	wantText := `          A      note
/case=1
  sec/op  65 µs  fine
  B/op    7 B    ` + strings.TrimSpace(strings.Repeat("word ", 16)) + `
                 ` + strings.TrimSpace(strings.Repeat("word ", 9)) + `
only a group | of its own`
	if got := strings.Join(table.text(), "\n"); got != wantText {
		t.Errorf("text is\n%s\nwant\n%s", got, wantText)
	}
	wantMarkdown := `| case |  | A | note |
| --- | --- | --- | --- |
| /case=1 | sec/op | 65 µs | fine |
| /case=1 | B/op | 7 B | ` + strings.Repeat("word ", 25) + ` |
| only a group \| of its own |  |  |  |`
	if got := table.markdown(); got != wantMarkdown {
		t.Errorf("Markdown is\n%s\nwant\n%s", got, wantMarkdown)
	}
}
