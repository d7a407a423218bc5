// Package claim holds the published claims against the measured values.
//
// The claims are rows of analysis/claims/claims.csv. Four of its columns are
// lists, whose items are separated by "; ":
//
//   - metric is a unit of figures/X.values ("server-cpu-sec/op"), what is
//     computed from one ("lost-capacity of server-cpu-sec/op"), or the sum of
//     exact ones ("sent-records/op + received-records/op").
//   - case and baseline are names of cases ("/kex=p521/cert=ecdsa-p256/tls=1.3"),
//     or ratios of two ("/lib=go/aead=... over /lib=go/aead=..."). With
//     "throughput: " in front they are another experiment's. A part of a
//     case, one record of its connections, is named as the analyses name it
//     (".../record=03-server-changecipherspec"). The claim is
//     about every metric of every case; there is one baseline for all cases
//     or one for each, in their order. What does not begin like a case is
//     the article's own term, kept where no case measures it.
//   - evidence is what is known beside the values, see [Claim.evidence].
package claim

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
)

// A Kind says what sort of statement a claim is, and so how it is judged.
type Kind string

// The kinds.
const (
	Absolute   Kind = "absolute"   // a quantity
	Bytes      Kind = "bytes"      // an exact number of bytes
	Count      Kind = "count"      // an exact number of anything else
	Ratio      Kind = "ratio"      // one case by another
	Difference Kind = "difference" // one case less another
	Ordering   Kind = "ordering"   // how two cases compare, in a word
	Behaviour  Kind = "behaviour"  // what happens
	Formula    Kind = "formula"    // computed from other quantities
	Design     Kind = "design"     // what a system must do or have
)

var kinds = []Kind{Absolute, Bytes, Count, Ratio, Difference, Ordering, Behaviour, Formula, Design}

// A Claim is one row of the file.
type Claim struct {
	ID         string // stable
	Article    string // part1, part2, part4, part6, order
	Place      string // letter or section in the article
	Experiment string // the one that answers for it
	Statement  string // in plain English
	Kind       Kind
	Metric     string // what is measured,
	Case       string // on which cases,
	Baseline   string // against which
	Value      string // as published
	Unit       string // of Value, as published
	HoldsOn    string // what may change it
	Untested   bool   // an open question, which the article did not measure
	Evidence   string
}

// columns are where the texts of a row go, by the names of the header.
func (c *Claim) columns() map[string]*string {
	return map[string]*string{
		"id": &c.ID, "article": &c.Article, "place": &c.Place, "experiment": &c.Experiment, "statement": &c.Statement,
		"kind": (*string)(&c.Kind), "metric": &c.Metric, "case": &c.Case, "baseline": &c.Baseline, "value": &c.Value, "unit": &c.Unit,
		"holds_on": &c.HoldsOn, "untested": new(string), "evidence": &c.Evidence,
	}
}

// Read reads the file at path. An error about its content begins with file
// and line.
func Read(path string) ([]Claim, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	claims, line, err := parse(f)
	if err != nil {
		return nil, fmt.Errorf("%s:%d: %w", path, line, err)
	}
	return claims, nil
}

// parse reads the claims; line is where an error is.
func parse(r io.Reader) (claims []Claim, line int, err error) {
	rows := csv.NewReader(r)
	header, err := rows.Read()
	if err == io.EOF {
		err = errors.New("no header")
	}
	if err == nil {
		err = checkHeader(header)
	}
	if err != nil {
		return nil, 1, err
	}
	lines := map[string]int{}
	for {
		fields, err := rows.Read()
		if err == io.EOF {
			return claims, 0, nil
		}
		var syntax *csv.ParseError
		if errors.As(err, &syntax) {
			return nil, syntax.Line, syntax.Err
		}
		if err != nil {
			return nil, 0, err
		}
		line, _ := rows.FieldPos(0)
		c, err := parseRow(header, fields)
		if err != nil {
			return nil, line, err
		}
		if first, ok := lines[c.ID]; ok {
			return nil, line, fmt.Errorf("the id %q is that of line %d", c.ID, first)
		}
		lines[c.ID] = line
		claims = append(claims, c)
	}
}

// checkHeader says which column is unknown, missing or there twice.
func checkHeader(header []string) error {
	known := new(Claim).columns()
	for i, name := range header {
		if known[name] == nil {
			return fmt.Errorf("unknown column %q", name)
		}
		if slices.Contains(header[:i], name) {
			return fmt.Errorf("the column %q is there twice", name)
		}
	}
	for name := range known {
		if !slices.Contains(header, name) {
			return fmt.Errorf("the column %q is missing", name)
		}
	}
	return nil
}

// parseRow reads the fields, of which there are as many as in the header.
func parseRow(header, fields []string) (Claim, error) {
	var c Claim
	columns := c.columns()
	for i, name := range header {
		*columns[name] = fields[i]
	}
	for _, name := range []string{"id", "article", "experiment", "statement"} {
		if strings.TrimSpace(*columns[name]) == "" {
			return c, fmt.Errorf("the column %q is empty", name)
		}
	}
	if !slices.Contains(kinds, c.Kind) {
		return c, fmt.Errorf("kind %q: want one of %q", c.Kind, kinds)
	}
	switch untested := *columns["untested"]; untested {
	case "yes":
		c.Untested = true
	case "no":
	default:
		return c, fmt.Errorf("untested %q: want yes or no", untested)
	}
	return c, nil
}
