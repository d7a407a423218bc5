package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestTree holds the one rule of the house: figures/X-* is made by analysis/X
// from data/*/X.txt, which is recorded by experiments/X and discussed in the
// paper. Whatever lacks one of the five is an orphan.
func TestTree(t *testing.T) {
	glob := func(pattern string) []string {
		paths, err := filepath.Glob(filepath.Join(root, pattern))
		if err != nil {
			t.Fatal(err)
		}
		return paths
	}
	paper, err := os.ReadFile(filepath.Join(root, "paper.md"))
	if err != nil {
		t.Fatal(err)
	}
	var experiments []string
	for _, main := range glob("experiments/*/main.go") {
		experiments = append(experiments, filepath.Base(filepath.Dir(main)))
	}
	sorted := slices.Clone(sections)
	slices.Sort(sorted)
	if !slices.Equal(experiments, sorted) {
		t.Errorf("experiments %q, but sections of the paper %q", experiments, sorted)
	}
	for _, x := range experiments {
		for _, pattern := range []string{"analysis/" + x + "/main.go", "analysis/" + x + "/section.md.tmpl", "data/*/" + x + ".txt", "figures/" + x + ".values", "figures/" + x + "-*.svg", "figures/" + x + "-wide.md"} {
			if len(glob(pattern)) == 0 {
				t.Errorf("experiments/%s has no %s", x, pattern)
			}
		}
		if !strings.Contains(string(paper), "("+x+")\n") {
			t.Errorf("paper.md has no section (%s)", x)
		}
	}
	for _, pattern := range []string{"analysis/*/section.md.tmpl", "data/*/*.txt", "figures/*"} {
		for _, path := range glob(pattern) {
			if x := experimentOf(path); !slices.Contains(experiments, x) {
				t.Errorf("%s belongs to no experiment", path)
			}
		}
	}
	for _, figure := range glob("figures/*.svg") {
		if !strings.Contains(string(paper), "(figures/"+filepath.Base(figure)+")") {
			t.Errorf("%s is not shown in the paper", figure)
		}
	}
}

// experimentOf gives the experiment's name in a path.
func experimentOf(path string) string {
	if filepath.Base(path) == "section.md.tmpl" {
		return filepath.Base(filepath.Dir(path))
	}
	x, _, _ := strings.Cut(filepath.Base(path), ".")
	x, _, _ = strings.Cut(x, "-")
	return x
}

// TestNothingPersonal looks in everything that is recorded and rendered for
// what could identify a person or a host.
func TestNothingPersonal(t *testing.T) {
	forbidden := []string{"/home/", "/root", "/tmp/", "/Users/", "BEGIN PRIVATE KEY", "BEGIN EC PRIVATE KEY"}
	if host, err := os.Hostname(); err == nil && len(host) > 3 && host != "localhost" {
		forbidden = append(forbidden, host)
	}
	if home, err := os.UserHomeDir(); err == nil && len(home) > 1 {
		forbidden = append(forbidden, home+"/")
	}
	if here, err := filepath.Abs(root); err == nil {
		forbidden = append(forbidden, here)
	}
	for _, pattern := range []string{"data/*/*", "figures/*", "paper.md", "claims.md"} {
		paths, err := filepath.Glob(filepath.Join(root, pattern))
		if err != nil || len(paths) == 0 {
			t.Fatalf("%s: %v, %v", pattern, paths, err)
		}
		for _, path := range paths {
			content, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			for _, word := range forbidden {
				if strings.Contains(string(content), word) {
					t.Errorf("%s contains %q", path, word)
				}
			}
		}
	}
}
