package main

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"cryptocost/analysis/internal/claim"
	"cryptocost/analysis/internal/command"
	"cryptocost/analysis/internal/values"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// root is the repository's, seen from this folder.
const root = "../.."

func readClaims(t *testing.T) []claim.Claim {
	t.Helper()
	claims, err := claim.Read("claims.csv")
	if err != nil {
		t.Fatal(err)
	}
	return claims
}

// The ids are those of the articles' list of claims; none is lost or new.
func TestIDs(t *testing.T) {
	const (
		wantCount  = 678
		wantSHA256 = "9ed1b1abd950e993f8521af95e1699a75b1e7f971e527890b5bb54ef88334e14" // of the sorted ids, joined by newlines
	)
	var ids []string
	for _, c := range readClaims(t) {
		ids = append(ids, c.ID)
	}
	slices.Sort(ids)
	got := fmt.Sprintf("%x", sha256.Sum256([]byte(strings.Join(ids, "\n"))))
	if len(ids) != wantCount || got != wantSHA256 {
		t.Errorf("%d claims with ids of SHA-256 %s; want %d of %s", len(ids), got, wantCount, wantSHA256)
	}
}

// measured are the experiments of the study so far, with the units of their
// values.
var measured = map[string][]string{
	"keyexchange": {"server-cpu-sec/op", "client-cpu-sec/op", "p50-latency-sec/op", "p90-latency-sec/op", "p99-latency-sec/op",
		"max-latency-sec/op", "sent-B/op", "received-B/op", "after-B/op", "clienthello-B/op", "key-share-B/op"},
	"throughput": {"B/s", "cpu-sec/B"},
	"primitives": {"B/s", "net-B/s"},
	"records": {"p50-latency-sec/op", "p50-since-connect-sec/op", "cpu-sec/record", "sent-B/op", "received-B/op", "sent-records/op", "received-records/op", "records/op",
		"flights/op", "round-trips/op", "waits/op", "record-B/op", "record-type/op", "record-version/op", "clienthello-B/op"},
	"roundtrips": {"p50-latency-sec/op", "p50-connect-sec/op", "p50-tls-sec/op", "p50-handshake-sec/op", "waits/op", "round-trips/op",
		"clienthello-segments/op", "certificate-B/op"},
	"earlydata": {"p50-latency-sec/op", "p50-program-sec/op"},
}

// Every case that a claim names is one that its experiment measures.
func TestCases(t *testing.T) {
	named := map[string][]string{}
	for _, c := range readClaims(t) {
		for experiment, cases := range c.Cases() {
			named[experiment] = append(named[experiment], cases...)
		}
	}
	for experiment, cases := range named {
		cmd := exec.Command("go", "run", "./experiments/"+experiment, "-list")
		cmd.Dir = root
		cmd.Stderr = os.Stderr
		out, err := cmd.Output()
		if err != nil {
			t.Errorf("list the cases of %s: %v", experiment, err)
			continue
		}
		known := map[string]bool{}
		for line := range strings.Lines(string(out)) {
			if fields := strings.Fields(line); len(fields) > 0 {
				known[fields[0]] = true
			}
		}
		for _, name := range cases {
			if !known[claim.Whole(name)] {
				t.Errorf("%s has no case %s", experiment, name)
			}
		}
	}
}

// wholeTables has a value for every case and unit that the claims name, and
// the comparisons that claim.Pairs asks of analyses.
func wholeTables(t *testing.T, claims []claim.Claim, machine string) claim.Tables {
	t.Helper()
	tables := claim.Tables{}
	for experiment, units := range measured {
		keys := map[string]bool{}
		for _, unit := range units {
			keys[values.Floor(unit)] = true
			for _, c := range claims {
				for _, name := range c.Cases()[experiment] {
					if strings.HasPrefix(name, "/check=") {
						keys["yes "+name] = true
					} else {
						keys[values.Case(unit, name)] = true
					}
				}
			}
		}
		for _, p := range claim.Pairs(claims, experiment) {
			keys[values.Over(p.Unit, p.Case, p.Baseline)] = true
			keys[values.Minus(p.Unit, p.Case, p.Baseline)] = true
		}
		tables[experiment] = &values.Table{}
		for key := range keys {
			if err := tables[experiment].Add(values.Value{Key: key, Value: 1, Low: 1, High: 1, N: 12, Machine: machine}); err != nil {
				t.Fatal(err)
			}
		}
	}
	return tables
}

// Every claim about an experiment of the study gets a verdict from the
// values that its analysis writes.
func TestEveryClaimIsJudged(t *testing.T) {
	claims := readClaims(t)
	rows, err := judge(claims, wholeTables(t, claims, "full"), "full")
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range rows {
		_, part := measured[r.Experiment]
		switch {
		case r.Word == claim.NotMeasured:
			t.Errorf("%s: %s: %s", r.ID, r.Word, r.Why)
		case r.Word == claim.Open && part && !strings.Contains(r.Evidence, "needs experiment "):
			t.Errorf("%s: %s: %s", r.ID, r.Word, r.Why)
		case r.Word != claim.Open && !part:
			t.Errorf("%s: %s, though %s is not measured", r.ID, r.Word, r.Experiment)
		}
	}
}

// Published numbers have the dimension of the metric that they are compared
// with.
func TestUnits(t *testing.T) {
	for _, c := range readClaims(t) {
		p, isNumber := c.Published()
		experiment, name, elsewhere := strings.Cut(c.Case, ": ")
		if !elsewhere {
			experiment, name = c.Experiment, c.Case
		}
		if !isNumber || c.Untested || c.Kind == claim.Ratio || strings.Contains(c.Metric, " of ") || !strings.HasPrefix(name, "/") {
			continue
		}
		for metric := range strings.FieldsFuncSeq(strings.ReplaceAll(c.Metric, " + ", "; "), func(r rune) bool { return r == ';' }) {
			metric = strings.TrimSpace(metric)
			if !slices.Contains(measured[experiment], metric) {
				t.Errorf("%s: %s has no unit %q", c.ID, experiment, metric)
			}
			if !strings.HasSuffix("-"+strings.TrimSuffix(metric, "/op"), "-"+p.Unit) {
				t.Errorf("%s: published in %s (%s), measured in %s", c.ID, c.Unit, p.Unit, metric)
			}
		}
	}
}

// What claims call built is in the tree: the file, the name in it, and the
// test beside it.
func TestBuilt(t *testing.T) {
	for _, c := range readClaims(t) {
		dir := ""
		for _, code := range c.Code() {
			pattern := filepath.Join(root, dir, "*_test.go")
			if code.File != "" {
				dir = filepath.Dir(code.File)
				pattern = filepath.Join(root, code.File)
			}
			files, err := filepath.Glob(pattern)
			if err != nil {
				t.Fatal(err)
			}
			declared := regexp.MustCompile(`(?m)^(func|type|var|const) (\([^)]*\) )?` + code.Name + `\b`)
			if !slices.ContainsFunc(files, func(file string) bool {
				content, err := os.ReadFile(file)
				return err == nil && declared.Match(content)
			}) {
				t.Errorf("%s: no %s in %s", c.ID, code.Name, pattern)
			}
		}
	}
}

func TestGolden(t *testing.T) {
	const golden = "testdata/claims.md"
	out := filepath.Join(t.TempDir(), "claims.md")
	var stdout bytes.Buffer
	err := run([]string{"-machine", "one", "-claims", "testdata/claims.csv", "-values", "testdata/figures", "-o", out}, &stdout, os.Stderr)
	if err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile(out)
	if err != nil {
		t.Fatal(err)
	}
	if *update {
		if err := os.WriteFile(golden, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("claims.md differs from %s; if it should, run go test ./analysis/claims -update and read the change:\n%s", golden, got)
	}
	const wantSummary = "16 claims: 2 reproduced, 5 shifted, 3 contradicted, 1 not measurable here, 1 not measured on this machine, 1 built, 1 answered, 2 open\n"
	if stdout.String() != wantSummary {
		t.Errorf("summary %q, want %q", &stdout, wantSummary)
	}
}

func TestErrors(t *testing.T) {
	good := []string{"-machine", "one", "-claims", "testdata/claims.csv", "-values", "testdata/figures"}
	for _, test := range []struct {
		name  string
		args  []string
		usage bool
		want  string
	}{
		{"no machine", []string{"-values", "testdata/figures"}, true, "-machine is missing"},
		{"unknown machine", append(good, "-machine", "two"), true, `no values of machine "two" in "testdata/figures": there are those of ["one"]`},
		{"argument", append(good, "one"), true, `unexpected argument "one"`},
		{"unknown flag", []string{"-frobnicate"}, true, "frobnicate"},
		{"no claims", append(good, "-claims", "testdata/none.csv"), false, "read the claims: open testdata/none.csv"},
		{"no values", append(good, "-values", "testdata"), false, `no *.values in "testdata"`},
		{"damaged values", append(good, "-values", "testdata/damaged"), false, "testdata/damaged/throughput.values:2: 2 columns"},
		{"unwritable", append(good, "-o", "testdata/none/claims.md"), false, "write the verdicts: open testdata/none/claims.md"},
		{"no verdict", append(good, "-claims", "testdata/unjudged.csv"), false,
			"2 claims without a verdict on machine \"one\":\n" +
				"claim \"missing\": the values of throughput have no \"B/s /suite=none\"\nclaim \"silent\": neither a case nor a reason"},
	} {
		t.Run(test.name, func(t *testing.T) {
			args := append([]string{"-o", filepath.Join(t.TempDir(), "claims.md")}, test.args...)
			var output bytes.Buffer
			err := run(args, &output, &output)
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Fatalf("%v; want %q in it", err, test.want)
			}
			if got := errors.As(err, new(command.UsageError)); got != test.usage {
				t.Errorf("usage error: %v, want %v", got, test.usage)
			}
		})
	}
}
