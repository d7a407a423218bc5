package main

import (
	"bufio"
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"cryptocost/analysis/internal/command"
	"cryptocost/analysis/internal/samples"
	"cryptocost/data"
)

// A side is one of the two directories.
type side struct {
	label string // "A" or "B"
	dir   string
	// files are its readable experiments by name.
	files map[string]*samples.Machine
	// absent says of an experiment that the directory knows why it can't be
	// read.
	absent map[string]string
}

// load reads all data files of dir. A damaged one is an error, and the others
// are read nonetheless.
//
// The folder need not be named as the machine is: a copy of an old run under
// another name is one of the things to compare with.
func load(label, dir string) (*side, error) {
	s := &side{label: label, dir: dir, files: map[string]*samples.Machine{}, absent: map[string]string{}}
	names, err := s.list()
	if err != nil {
		return nil, err
	}
	var damaged []error
	for _, name := range names {
		if err := s.read(name); err != nil {
			s.absent[name] = "damaged in " + label
			damaged = append(damaged, err)
		}
	}
	return s, errors.Join(damaged...)
}

// list gives the names of the experiments of which there is any file.
func (s *side) list() ([]string, error) {
	entries, err := os.ReadDir(s.dir)
	if err != nil {
		return nil, command.Usagef("%s: no folder %q; %s\n%s", s.label, s.dir, siblings(s.dir), usage)
	}
	var names []string
	for _, e := range entries {
		if name, ok := strings.CutSuffix(strings.TrimSuffix(e.Name(), data.PartialSuffix), ".txt"); ok && !e.IsDir() {
			names = append(names, name)
		}
	}
	if len(names) == 0 {
		return nil, command.Usagef("%s: no samples in %q; %s\n%s", s.label, s.dir, siblings(s.dir), usage)
	}
	slices.Sort(names)
	return slices.Compact(names), nil
}

// siblings names the folders that could have been meant.
func siblings(dir string) string {
	parent := filepath.Dir(filepath.Clean(dir))
	names, err := samples.Machines(parent)
	if err != nil || len(names) == 0 {
		return fmt.Sprintf("nor are there any in the folders of %q", parent)
	}
	return fmt.Sprintf("folders of %q with samples: %s", parent, strings.Join(names, ", "))
}

// read reads the file of one experiment.
func (s *side) read(name string) error {
	path := filepath.Join(s.dir, name+".txt")
	file, err := data.ReadFile(path)
	switch {
	case errors.Is(err, os.ErrNotExist):
		s.absent[name] = "unfinished in " + s.label + ": the same command that started the run goes on with it"
		return nil
	case err != nil:
		if schema := otherSchema(path); schema != "" {
			s.absent[name] = fmt.Sprintf("schema %s in %s; this program reads %s", schema, s.label, data.Schema)
			return nil
		}
		return err
	case file.Experiment() != name:
		return fmt.Errorf("%s: its header says that it is of experiment %q", path, file.Experiment())
	}
	s.files[name] = samples.New(file)
	return nil
}

// otherSchema gives the schema of a file that was written by another version
// of this study; empty: it wasn't.
func otherSchema(path string) string {
	f, err := os.Open(path)
	if err != nil {
		return ""
	}
	defer f.Close()
	lines := bufio.NewScanner(f)
	lines.Scan()
	schema, _ := strings.CutPrefix(lines.Text(), "schema: ")
	family, _, _ := strings.Cut(data.Schema, "/")
	if schema == data.Schema || !strings.HasPrefix(schema, family+"/") {
		return ""
	}
	return schema
}

// experiments are the names that either side knows, sorted.
func experiments(a, b *side) []string {
	var names []string
	for _, s := range []*side{a, b} {
		for name := range s.files {
			names = append(names, name)
		}
		for name := range s.absent {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// lack says why an experiment can't be compared; empty: it can.
func lack(a, b *side, name string) string {
	var reasons []string
	for _, s := range []*side{a, b} {
		if s.files[name] == nil {
			reasons = append(reasons, cmp.Or(s.absent[name], "not in "+s.label))
		}
	}
	return strings.Join(reasons, "; ")
}
