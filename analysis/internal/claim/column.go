package claim

import (
	"cmp"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"cryptocost/analysis/internal/values"
	"cryptocost/analysis/internal/wire"
)

// separator stands between the items of a list.
const separator = "; "

// items splits a list; an empty column has none.
func items(column string) []string {
	if column == "" {
		return nil
	}
	return strings.Split(column, separator)
}

const (
	experimentPattern = `(?:([a-z0-9]+): )?`
	casePattern       = `(?:/[a-z0-9-]+=[^/ ]+)+`
)

// partKey begins what names a part of a case behind the case's own name.
const partKey = "/record="

// Whole is the case that a part of a case belongs to, or the case itself:
// what an experiment lists, and what it may say not to have measured.
func Whole(name string) string {
	before, _, _ := strings.Cut(name, partKey)
	return before
}

// A term is an item of the columns case and baseline: a case, or the ratio
// of two.
type term struct {
	experiment string
	name       string // of the case
	over       string // of the case that it is divided by; "" for none
}

var termPattern = regexp.MustCompile(`^` + experimentPattern + `(` + casePattern + `)(?: over (` + casePattern + `))?$`)

// terms reads the column case or baseline; none, if it is in the article's
// own words.
func (c Claim) terms(column string) []term {
	var list []term
	for _, item := range items(column) {
		m := termPattern.FindStringSubmatch(item)
		if m == nil {
			return nil
		}
		t := term{m[1], m[2], m[3]}
		if t.experiment == "" {
			t.experiment = c.Experiment
		}
		list = append(list, t)
	}
	return list
}

// key is the key of the term's value.
func (t term) key(unit string) string {
	if t.over == "" {
		return values.Case(unit, t.name)
	}
	return values.Over(unit, t.name, t.over)
}

// A quantity is one number that a claim is about.
type quantity struct {
	label   string // what tells it from the claim's other ones; "" if there are none
	unit    string
	formula string // what is computed from it; "": nothing
	of      term
	against term // the baseline; zero: none
}

// paired says whether the ratio of case and baseline is taken round by round.
func (q quantity) paired() bool {
	return q.of.experiment == q.against.experiment && q.of.over == "" && q.against.over == ""
}

// compares says whether the baseline is part of what is claimed, and not
// only named beside it.
func (c Claim) compares() bool {
	return slices.Contains([]Kind{Ratio, Difference, Ordering, Formula}, c.Kind) || c.Untested
}

// quantities multiplies metrics and cases out; none, if the columns are in
// the article's own words.
func (c Claim) quantities() ([]quantity, error) {
	cases, baselines := c.terms(c.Case), c.terms(c.Baseline)
	if len(cases) == 0 {
		return nil, nil
	}
	if len(baselines) > 1 && len(baselines) != len(cases) {
		return nil, fmt.Errorf("%d cases and %d baselines", len(cases), len(baselines))
	}
	metrics := items(c.Metric)
	if len(baselines) == 0 && c.compares() && !c.Untested && !c.alone(metrics) {
		return nil, fmt.Errorf("no baseline among the cases: %q", c.Baseline)
	}
	var list []quantity
	for _, metric := range metrics {
		for i, t := range cases {
			q := quantity{unit: metric, of: t, label: label(cases, i)}
			if formula, unit, ok := strings.Cut(metric, " of "); ok {
				q.formula, q.unit = formula, unit
			}
			if len(metrics) > 1 {
				q.label = strings.TrimSpace(cmp.Or(q.formula, strings.TrimSuffix(q.unit, "-sec/op")) + " " + q.label)
			}
			if len(baselines) > 0 && c.compares() {
				q.against = baselines[min(i, len(baselines)-1)]
			}
			if err := q.check(); err != nil {
				return nil, fmt.Errorf("metric %q: %w", metric, err)
			}
			list = append(list, q)
		}
	}
	return list, nil
}

// alone says whether the claim is a formula whose result is measured as such.
func (c Claim) alone(metrics []string) bool {
	return c.Kind == Formula && !slices.ContainsFunc(metrics, func(m string) bool { return strings.Contains(m, " of ") })
}

// check says what can't be computed of the quantity.
func (q quantity) check() error {
	if strings.Contains(q.unit, plus) && q.against.experiment != "" {
		return errors.New("a sum can't be compared")
	}
	if q.formula == "" {
		return nil
	}
	formula, ok := formulas[q.formula]
	if !ok {
		return fmt.Errorf("there is no formula %q", q.formula)
	}
	if formula.perRoundTrip && !(roundTrip(q.of.name) > 0) {
		return fmt.Errorf("the case %q is on no wire with a delay", q.of.name)
	}
	return nil
}

// roundTrip is that of the wire in a case's name in seconds; 0 without one.
func roundTrip(name string) float64 {
	for pair := range strings.SplitSeq(name, "/") {
		if value, ok := strings.CutPrefix(pair, "wire="); ok {
			w, _ := wire.Parse(value)
			return w.RoundTrip()
		}
	}
	return 0
}

// label names case i by the keys that not all cases have alike.
func label(cases []term, i int) string {
	var parts []string
	for pair := range strings.SplitSeq(cases[i].name[1:], "/") {
		everywhere := !slices.ContainsFunc(cases, func(t term) bool { return !strings.Contains(t.name+"/", "/"+pair+"/") })
		if !everywhere {
			parts = append(parts, pair)
		}
	}
	return strings.Join(parts, " ")
}

// evidence is what the column of that name says.
type evidence struct {
	observations []observation
	code         []Code
	awaits       []string // experiments that are still to be written
	needs        []string // what a machine must have for the claim to be measured
	notes        []string
}

// An observation is a behaviour that is among the values.
type observation struct {
	experiment string
	name       string // of the case
	key        string
	check      bool // the value is 1 or 0; else it is enough that it was measured
	not        bool // the claim is that it does not happen
	// What is claimed of the value of a case that is no check; none: nothing.
	unit string
	is   string // the exact number
	as   string // the case that has the same value
}

// Code is a place in the repository that shows a claim to be built.
type Code struct {
	File string // with path; of a test "", it is one of the last file's package
	Name string // of the function, type, variable or constant
}

var (
	observationPattern = regexp.MustCompile(`^(not )?` + experimentPattern + `(?:/check=([a-z0-9.-]+)|([A-Za-z0-9/-]+) (` + casePattern + `)(?: is ([0-9]+)| as (` + casePattern + `))?)$`)
	codePattern        = regexp.MustCompile(`^([a-z0-9/_]+\.go) (\w+)$`)
	testPattern        = regexp.MustCompile(`^(?:Test|Fuzz|Example)\w+$`)
)

// contradiction begins the note of a claim that its own article contradicts;
// the column holds_on then says how.
const contradiction = "the article contradicts itself"

// evidence reads the column. Its items are
//
//	/check=NAME                   a behaviour that the experiment observes
//	UNIT /CASE                    a case that works, or it would not be measured
//	not ...                       either of them that the claim rules out
//	UNIT /CASE is NUMBER          an exact quantity that is the same always
//	UNIT /CASE as /CASE           a quantity that is the same in both cases
//	throughput: ...               the same of another experiment
//	experiments/x/y.go Name       where a design is built
//	TestName                      the test beside that file that shows it
//	needs experiment NAME: why    what the study lacks so far
//	needs ...                     what a machine may lack
//
// and anything else is a note, printed with the verdict.
func (c Claim) evidence() evidence {
	var e evidence
	for _, item := range items(c.Evidence) {
		if m := observationPattern.FindStringSubmatch(item); m != nil {
			e.observations = append(e.observations, c.observation(m))
		} else if m := codePattern.FindStringSubmatch(item); m != nil {
			e.code = append(e.code, Code{m[1], m[2]})
		} else if testPattern.MatchString(item) {
			e.code = append(e.code, Code{Name: item})
		} else if what, ok := strings.CutPrefix(item, "needs experiment "); ok {
			name, _, _ := strings.Cut(what, ":")
			e.awaits = append(e.awaits, name)
			e.needs = append(e.needs, item)
		} else if strings.HasPrefix(item, "needs ") {
			e.needs = append(e.needs, item)
		} else {
			e.notes = append(e.notes, item)
		}
	}
	return e
}

// observation makes one of the groups of observationPattern.
func (c Claim) observation(m []string) observation {
	o := observation{experiment: m[2], not: m[1] != "", check: m[3] != ""}
	if o.experiment == "" {
		o.experiment = c.Experiment
	}
	if o.check {
		o.name, m[4] = "/check="+m[3], "yes"
	} else {
		o.name, o.unit, o.is, o.as = m[5], m[4], m[6], m[7]
	}
	o.key = values.Case(m[4], o.name)
	return o
}

// Code lists the places that the claim's evidence names.
func (c Claim) Code() []Code { return c.evidence().code }

// Cases lists the cases that the claim names, by their experiment.
func (c Claim) Cases() map[string][]string {
	list := map[string][]string{}
	add := func(experiment, name string) {
		if name != "" {
			list[experiment] = append(list[experiment], name)
		}
	}
	for _, t := range slices.Concat(c.terms(c.Case), c.terms(c.Baseline)) {
		add(t.experiment, t.name)
		add(t.experiment, t.over)
	}
	for _, o := range c.evidence().observations {
		add(o.experiment, o.name)
		add(o.experiment, o.as)
	}
	return list
}
