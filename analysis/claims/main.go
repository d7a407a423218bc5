// Claims writes claims.md: what became of every published claim on one
// machine.
//
// # Question
//
// Which of the articles' numbers, orderings and behaviours does this machine
// reproduce, which does it not, and where is what they say a system must have?
//
// # Method
//
// Each row of claims.csv is held against the values that the analyses have
// computed (figures/*.values); package claim has the rules, which are also
// printed at the head of claims.md. No verdict is written by hand: what can't
// be measured says why in the row's column evidence.
//
// An experiment is part of the study once it has a file of values. A row of
// such an experiment that has neither a value nor a reason is an error.
//
// # Running
//
//	go run ./analysis/claims -machine xeon-2cpu -claims analysis/claims/claims.csv -values figures -o claims.md
package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"cryptocost/analysis/internal/claim"
	"cryptocost/analysis/internal/command"
	"cryptocost/analysis/internal/values"
)

func main() { command.Main("claims", run) }

// run is the program. It ends with a line about the verdicts on stdout.
func run(args []string, stdout, stderr io.Writer) error {
	flags := flag.NewFlagSet("claims", flag.ContinueOnError)
	flags.SetOutput(stderr)
	machine := flags.String("machine", "", "judge by the values of the machine with this `name`")
	path := flags.String("claims", "analysis/claims/claims.csv", "read the claims from this `file`")
	dir := flags.String("values", "figures", "read EXPERIMENT.values in this `folder`")
	out := flags.String("o", "claims.md", "write to this `file`")
	if err := flags.Parse(args); err != nil {
		if errors.Is(err, flag.ErrHelp) {
			return err
		}
		return command.Usage(err)
	}
	switch {
	case flags.NArg() > 0:
		return command.Usagef("unexpected argument %q: everything is a flag, see -h", flags.Arg(0))
	case *machine == "":
		return command.Usagef("-machine is missing: say by whose values to judge")
	}
	claims, err := claim.Read(*path)
	if err != nil {
		return fmt.Errorf("read the claims: %w", err)
	}
	tables, err := readTables(*dir)
	if err != nil {
		return err
	}
	if names := machines(tables); !slices.Contains(names, *machine) {
		return command.Usagef("no values of machine %q in %q: there are those of %q", *machine, *dir, names)
	}
	rows, err := judge(claims, tables, *machine)
	if err != nil {
		return err
	}
	if err := os.WriteFile(*out, report(rows, tables, *machine), 0o644); err != nil {
		return fmt.Errorf("write the verdicts: %w", err)
	}
	fmt.Fprintln(stdout, summary(rows))
	return nil
}

// readTables reads dir/EXPERIMENT.values.
func readTables(dir string) (claim.Tables, error) {
	files, err := filepath.Glob(filepath.Join(dir, "*.values"))
	if err != nil {
		return nil, fmt.Errorf("look for values in %q: %w", dir, err)
	}
	if len(files) == 0 {
		return nil, fmt.Errorf("no *.values in %q: the analyses write them", dir)
	}
	tables := claim.Tables{}
	for _, file := range files {
		table, err := values.ReadFile(file)
		if err != nil {
			return nil, err
		}
		tables[strings.TrimSuffix(filepath.Base(file), ".values")] = table
	}
	return tables, nil
}

// machines lists the machines of all tables, sorted.
func machines(tables claim.Tables) []string {
	var names []string
	for _, t := range tables {
		names = append(names, t.Machines()...)
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// A row is a claim and what became of it.
type row struct {
	claim.Claim
	claim.Verdict
}

// judge judges every claim; that one can't be judged is an error.
func judge(claims []claim.Claim, tables claim.Tables, machine string) ([]row, error) {
	var rows []row
	var faults []error
	for _, c := range claims {
		v := claim.Judge(c, tables, machine)
		if v.Word == "" {
			faults = append(faults, fmt.Errorf("claim %q: %s", c.ID, v.Why))
		}
		rows = append(rows, row{c, v})
	}
	if len(faults) > 0 {
		return nil, fmt.Errorf("%d claims without a verdict on machine %q:\n%w", len(faults), machine, errors.Join(faults...))
	}
	return rows, nil
}
