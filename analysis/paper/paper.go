package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"text/template"

	"cryptocost/analysis/internal/claim"
	"cryptocost/analysis/internal/command"
	"cryptocost/analysis/internal/samples"
	"cryptocost/analysis/internal/values"
)

// sources are where a paper is made from.
type sources struct {
	data, figures, templates, claims string
	machine                          string // at hand; "": the reference
	committed                        bool
}

// A paper is all that the templates can speak of.
type paper struct {
	sources
	reference   string
	experiments map[string]*experiment
	claims      []claim.Claim
	current     *experiment // chosen by use
	figure      int         // number of the latest figure
	table       int         // number of the latest table
}

// An experiment is what one section can speak of.
type experiment struct {
	name     string
	values   *values.Table
	main     *samples.Machine // whose numbers the section gives
	machines []*samples.Machine
}

// load reads everything but the templates.
func load(s sources) (*paper, error) {
	p := &paper{sources: s, experiments: map[string]*experiment{}}
	var err error
	if p.reference, err = samples.Reference(s.data); err != nil {
		return nil, err
	}
	if p.machine == "" {
		p.machine = p.reference
	}
	if p.claims, err = claim.Read(s.claims); err != nil {
		return nil, err
	}
	names, err := samples.Machines(s.data)
	if err != nil {
		return nil, err
	}
	if err := samples.Check(p.machine, names); err != nil {
		return nil, command.Usage(err)
	}
	if s.committed {
		if names, err = samples.Committed(s.data, names); err != nil {
			return nil, err
		}
	}
	for _, name := range sections {
		e := &experiment{name: name}
		if e.machines, err = samples.Load(s.data, name, names); err != nil {
			return nil, err
		}
		if e.main, err = samples.Choose(s.data, p.machine, e.machines); err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		if e.values, err = values.ReadFile(filepath.Join(s.figures, name+".values")); err != nil {
			return nil, fmt.Errorf("%w (make figures draws it)", err)
		}
		p.experiments[name] = e
	}
	return p, nil
}

// render makes the paper.
func (p *paper) render() ([]byte, error) {
	p.figure, p.table = 0, 0
	parts := []string{filepath.Join("paper", "front.md.tmpl")}
	for _, name := range sections {
		parts = append(parts, filepath.Join(name, "section.md.tmpl"))
	}
	parts = append(parts, filepath.Join("paper", "back.md.tmpl"))
	var out bytes.Buffer
	out.WriteString("<!-- made by analysis/paper from analysis/*/*.md.tmpl, figures/*.values and data/*/*.txt; do not edit: make paper -->\n\n")
	for _, part := range parts {
		p.current = p.experiments[filepath.Dir(part)]
		var text bytes.Buffer
		if err := p.renderPart(&text, part); err != nil {
			return nil, err
		}
		out.Write(p.withGaps(text.Bytes()))
	}
	return append(bytes.TrimRight(out.Bytes(), "\n"), '\n'), nil
}

// withGaps puts below the heading of a section what was not measured.
func (p *paper) withGaps(section []byte) []byte {
	if p.current == nil {
		return section
	}
	gaps := p.gaps()
	if gaps == "" {
		return section
	}
	heading, rest, _ := bytes.Cut(section, []byte("\n"))
	return slices.Concat(heading, []byte("\n\n"+gaps+"\n"), rest)
}

// renderPart appends one template, which begins with a comment of its own
// that does not reach the paper.
func (p *paper) renderPart(out *bytes.Buffer, part string) error {
	path := filepath.Join(p.templates, part)
	text, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	t, err := template.New(filepath.ToSlash(path)).Option("missingkey=error").Funcs(p.functions()).Parse(string(text))
	if err != nil {
		return err
	}
	var section bytes.Buffer
	if err := t.Execute(&section, nil); err != nil {
		return err
	}
	// Directives leave empty lines behind.
	tidy := blankLines.ReplaceAll(section.Bytes(), []byte("\n\n"))
	out.Write(bytes.TrimSpace(tidy))
	out.WriteString("\n\n")
	return nil
}

var blankLines = regexp.MustCompile(`\n[ \t]*\n(?:[ \t]*\n)+`)

// summary prints the headline numbers and where the paper is.
func (p *paper) summary(w io.Writer, path string) error {
	text, err := p.headlines()
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(w, "\n%s\nThe paper is in %s, its figures in %s.\n", text, path, p.figures)
	return err
}

// headlines renders the abstract's list as plain text.
func (p *paper) headlines() (string, error) {
	p.current = nil
	var out bytes.Buffer
	if err := p.renderPart(&out, filepath.Join("paper", "headlines.md.tmpl")); err != nil {
		return "", err
	}
	return strings.NewReplacer("**", "", "`", "").Replace(out.String()), nil
}

// errNoExperiment is a template that asks for a value before use.
var errNoExperiment = errors.New("no experiment is in use: begin with {{use \"NAME\"}}")

// others are the machines of the current experiment beside its main one.
func (e *experiment) others() []*samples.Machine {
	return slices.DeleteFunc(slices.Clone(e.machines), func(m *samples.Machine) bool { return m == e.main })
}
