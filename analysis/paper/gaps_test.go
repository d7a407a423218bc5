package main

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"cryptocost/analysis/internal/samples"
	"cryptocost/data"
)

// TestGaps renders everything for machines on which something is missing: the
// paper shows the gap, and neither it nor the claims fail.
func TestGaps(t *testing.T) {
	reference, err := samples.Reference(filepath.Join(root, "data"))
	if err != nil {
		t.Fatal(err)
	}
	const noLink = "no link of network namespaces: operation not permitted (allow it as root with: sysctl -w user.max_user_namespaces=1000)"
	for _, test := range []struct {
		name     string
		change   func(*data.File) bool // false: the machine has no such file
		says     string
		sections []string // in which; none: anywhere
	}{
		{"no OpenSSL", drop("OpenSSL is not installed", "lib=openssl", "openssl-msg", "client=openssl", "/check=openssl-", "/check=replay-", "/check=request-in-", "/check=go-", "/check=no-session-"),
			"OpenSSL is not installed", []string{"records", "earlydata", "keyexchange", "primitives"}},
		{"no namespaces", drop(noLink, "wire=0", "wire=2", "wire=5", "wire=1", "/rate=", "/check=no-session-"), noLink, []string{"link", "roundtrips", "earlydata"}},
		{"no AES instructions", drop("this processor has no AES instructions", "aes=on", "with-aes", "server-with", "client-with", "call=nothing"), "not measured", nil},
		{"four rounds", func(f *data.File) bool {
			f.Rounds = f.Rounds[:4]
			f.Config["rounds"] = strconv.Itoa(len(f.Rounds))
			return true
		}, "no interval from 4 rounds", nil},
		{"some cases", func(f *data.File) bool {
			f.Config["cases"] = "aes=on|p521|twin"
			for i := range f.Rounds {
				var kept []data.Sample
				for _, s := range f.Rounds[i].Samples {
					if strings.Contains(s.Case, "p521") || strings.Contains(s.Case, "twin") || strings.Contains(s.Case, "aes=on") || s.Case == data.RoundCase {
						kept = append(kept, s)
					}
				}
				f.Rounds[i].Samples = kept
			}
			return true
		}, "not measured", nil},
		{"one experiment", func(f *data.File) bool { return f.Experiment() == "throughput" }, "changed has not measured this; the numbers are those of " + reference, nil},
	} {
		t.Run(test.name, func(t *testing.T) {
			paper := renderChanged(t, reference, test.change)
			if !strings.Contains(paper, test.says) {
				t.Errorf("the paper does not say %q", test.says)
			}
			for _, x := range test.sections {
				if !strings.Contains(sectionOf(paper, x), test.says) {
					t.Errorf("the section %s does not say %q", x, test.says)
				}
			}
			for _, word := range []string{"NaN", "<no value>", "%!"} {
				if strings.Contains(paper, word) {
					t.Errorf("the paper contains %q", word)
				}
			}
		})
	}
}

// drop takes the cases with any of the words in their names out of a file, as
// if they could not be measured.
func drop(reason string, words ...string) func(*data.File) bool {
	return func(f *data.File) bool {
		missing := map[string]bool{}
		for i := range f.Rounds {
			var kept []data.Sample
			for _, s := range f.Rounds[i].Samples {
				gone := false
				for _, word := range words {
					gone = gone || strings.Contains(s.Case, word)
				}
				if !gone {
					kept = append(kept, s)
				} else if !missing[s.Case] {
					missing[s.Case] = true
					f.Missing = append(f.Missing, data.Missing{Case: s.Case, Reason: reason})
				}
			}
			f.Rounds[i].Samples = kept
		}
		return true
	}
}

// renderChanged renders the paper for a machine "changed", which has the
// samples of the reference machine as change leaves them.
func renderChanged(t *testing.T, reference string, change func(*data.File) bool) string {
	t.Helper()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, samples.ReferenceFile), []byte(reference+"\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	for _, x := range sections {
		copyFile(t, filepath.Join(root, "data", reference, x+".txt"), filepath.Join(dir, reference, x+".txt"))
		file, err := data.ReadFile(filepath.Join(root, "data", reference, x+".txt"))
		if err != nil {
			t.Fatal(err)
		}
		file.Config["machine"] = "changed"
		if change(file) {
			write(t, filepath.Join(dir, "changed", x+".txt"), file)
		}
	}
	figures, out := t.TempDir(), filepath.Join(t.TempDir(), "paper.md")
	for _, x := range sections {
		program(t, "./analysis/"+x, "-data", dir, "-machine", "changed", "-out", figures)
	}
	program(t, "./analysis/claims", "-machine", "changed", "-values", figures, "-o", filepath.Join(figures, "claims.md"))
	program(t, "./analysis/paper", "-data", dir, "-machine", "changed", "-figures", figures, "-o", out)
	paper, err := os.ReadFile(out)
	if err != nil {
		t.Fatal(err)
	}
	return string(paper)
}

// sectionOf is the text of a section, whose heading ends in its name.
func sectionOf(paper, name string) string {
	_, after, _ := strings.Cut(paper, "("+name+")\n")
	text, _, _ := strings.Cut(after, "\n## ")
	return text
}

func copyFile(t *testing.T, from, to string) {
	t.Helper()
	content, err := os.ReadFile(from)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(filepath.Dir(to), 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(to, content, 0o666); err != nil {
		t.Fatal(err)
	}
}

// write records a changed file anew.
func write(t *testing.T, path string, f *data.File) {
	t.Helper()
	w, err := data.Create(path, f.Header)
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range f.Rounds {
		if err := w.Round(r.Samples); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Finish(false); err != nil {
		t.Fatal(err)
	}
}
