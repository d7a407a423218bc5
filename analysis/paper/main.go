// Paper joins the sections of all experiments into paper.md.
//
//	go run ./analysis/paper [-machine NAME]
//
// The text comes from templates: front.md.tmpl and back.md.tmpl here, and
// analysis/X/section.md.tmpl of each experiment. Numbers, figures and tables
// come from figures/X.values and figures/X-*, which analysis/X has written;
// the description of each machine from the headers of data/*/X.txt. No number
// is typed into a template, and a function that finds no number stops the
// rendering. The output depends on nothing else: no clock, no map order, no
// locale.
package main

import (
	"errors"
	"flag"
	"io"
	"os"

	"cryptocost/analysis/internal/command"
)

// sections are the experiments in the order of the paper: the wire, which is
// part of the method, and then the articles in theirs.
var sections = []string{"link", "records", "roundtrips", "earlydata", "keyexchange", "throughput", "primitives"}

func main() { command.Main("paper", run) }

func run(args []string, stdout, stderr io.Writer) error {
	flags := flag.NewFlagSet("paper", flag.ContinueOnError)
	flags.SetOutput(stderr)
	var s sources
	flags.StringVar(&s.data, "data", "data", "`folder` of the machines' samples")
	flags.StringVar(&s.figures, "figures", "figures", "`folder` of values, figures and tables")
	flags.StringVar(&s.templates, "templates", "analysis", "`folder` of the sections' templates")
	flags.StringVar(&s.claims, "claims", "analysis/claims/claims.csv", "the published claims")
	flags.StringVar(&s.machine, "machine", "", "`name` of the machine at hand; default: the reference machine")
	flags.BoolVar(&s.committed, "committed", false, "leave out machines whose data is not in the repository")
	out := flags.String("o", "paper.md", "`file` to write")
	summary := flags.Bool("summary", false, "print the headline numbers to standard output as well")
	if err := flags.Parse(args); err != nil {
		if errors.Is(err, flag.ErrHelp) {
			return err
		}
		return command.Usage(err)
	}
	if flags.NArg() > 0 {
		return command.Usagef("unexpected argument %q", flags.Arg(0))
	}
	p, err := load(s)
	if err != nil {
		return err
	}
	text, err := p.render()
	if err != nil {
		return err
	}
	if err := os.WriteFile(*out, text, 0o666); err != nil {
		return err
	}
	if *summary {
		return p.summary(stdout, *out)
	}
	return nil
}
