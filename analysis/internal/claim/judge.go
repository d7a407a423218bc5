package claim

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"cryptocost/analysis/internal/number"
	"cryptocost/analysis/internal/values"
)

// A Word is a verdict in short.
type Word string

// The verdicts. A claim without one ("") can't be judged, and should be.
const (
	Reproduced    Word = "reproduced"          // within the interval or the tolerance
	Shifted       Word = "shifted"             // same direction, other size; or undecided
	Contradicted  Word = "contradicted"        // the other way, or no effect where one is claimed
	NotMeasurable Word = "not measurable here" // by none of the cases
	NotMeasured   Word = "not measured on this machine"
	Built         Word = "built"    // a design that the study has
	Answered      Word = "answered" // an open question of the article
	Open          Word = "open"     // its experiment is not part of the study yet
)

// Words lists the verdicts in the order in which they are counted.
var Words = []Word{Reproduced, Shifted, Contradicted, NotMeasurable, NotMeasured, Built, Answered, Open}

// A Verdict is what became of a claim on one machine.
type Verdict struct {
	Word     Word
	Measured string // with its interval; "" for nothing
	Why      string
}

// Tables are the values by experiment: those that are part of the study.
type Tables map[string]*values.Table

// Judge holds a claim against the values of a machine by [Rules]. A verdict
// without a word says in Why what is missing: a value that its analysis does
// not compute, or a reason in the claim's row.
func Judge(c Claim, tables Tables, machine string) Verdict {
	e := c.evidence()
	quantities, err := c.quantities()
	if err != nil {
		return Verdict{Why: err.Error()}
	}
	for _, experiment := range experiments(c, e, quantities) {
		if tables[experiment] == nil {
			v := Verdict{Word: Open, Why: fmt.Sprintf("the experiment %s is not part of the study yet", experiment)}
			if len(e.awaits) > 0 {
				v.Why = strings.Join(e.needs, separator)
			}
			v.Why = explain(c, e, v)
			return v
		}
	}
	switch {
	case len(e.awaits) > 0:
		return Verdict{Why: fmt.Sprintf("the experiment %s is part of the study now: name its case", e.awaits[0])}
	case len(quantities)+len(e.observations)+len(e.code) > 0:
	case len(e.needs)+len(e.notes) == 0:
		return Verdict{Why: "neither a case nor a reason"}
	default:
		return Verdict{Word: NotMeasurable, Why: strings.Join(slices.Concat(e.needs, e.notes), separator)}
	}
	j := judge{tables: tables, machine: machine}
	var findings []finding
	for _, q := range quantities {
		findings = append(findings, j.quantity(c, q))
	}
	for _, o := range e.observations {
		findings = append(findings, j.observation(o))
	}
	if len(j.missing) > 0 {
		return j.absent(e)
	}
	v := join(findings)
	switch {
	case v.Word == "":
		return v
	case c.Untested:
		v = Verdict{Word: Answered, Measured: v.Measured}
	case c.Kind == Design && v.Word != Contradicted && v.Word != Shifted:
		v.Word, v.Why = Built, place(e.code)
	}
	v.Why = explain(c, e, v)
	return v
}

// experiments lists those that a verdict needs: those of the cases that the
// claim names, or the one that answers for it.
func experiments(c Claim, e evidence, quantities []quantity) []string {
	list := slices.Clone(e.awaits)
	if len(quantities)+len(e.observations) == 0 {
		list = append(list, c.Experiment)
	}
	for _, q := range quantities {
		list = append(list, q.of.experiment)
		if q.against.experiment != "" {
			list = append(list, q.against.experiment)
		}
	}
	for _, o := range e.observations {
		list = append(list, o.experiment)
	}
	return list
}

// explain puts together why a verdict is as it is: what was found, the notes
// of the row, and what the article is known to depend on.
func explain(c Claim, e evidence, v Verdict) string {
	var why []string
	if v.Why != "" {
		why = append(why, v.Why)
	}
	why = append(why, e.notes...)
	contradicts := slices.ContainsFunc(e.notes, func(n string) bool { return strings.HasPrefix(n, contradiction) })
	if c.HoldsOn != "" && (contradicts || v.Word == Shifted || v.Word == Contradicted) {
		why = append(why, "noted with the claim: "+c.HoldsOn)
	}
	return strings.Join(why, separator)
}

// place names where a design is built.
func place(code []Code) string {
	var list []string
	for _, c := range code {
		text := "`" + c.Name + "`"
		if c.File != "" {
			text += " in " + c.File
		}
		list = append(list, text)
	}
	return strings.Join(list, ", ")
}

// A finding is the verdict about one of a claim's quantities or behaviours.
type finding struct {
	label string
	Verdict
}

// severity orders the verdicts of findings: the worst is the claim's.
var severity = []Word{Reproduced, Shifted, Contradicted}

// join makes one verdict of findings: the worst word, all that was measured,
// and the reasons of those that have that word.
func join(findings []finding) Verdict {
	v := Verdict{Word: Reproduced}
	var measured, why []string
	for _, f := range findings {
		if f.Word == "" {
			return Verdict{Why: f.Why}
		}
		if slices.Index(severity, f.Word) > slices.Index(severity, v.Word) {
			v.Word = f.Word
		}
		measured = append(measured, f.labelled(f.Measured))
	}
	same := !slices.ContainsFunc(findings, func(f finding) bool { return f.Why != findings[0].Why })
	for _, f := range findings {
		switch {
		case f.Word != v.Word || f.Why == "":
		case same:
			why = []string{f.Why}
		default:
			why = append(why, f.labelled(f.Why))
		}
	}
	v.Measured, v.Why = strings.Join(measured, separator), strings.Join(why, separator)
	return v
}

func (f finding) labelled(text string) string {
	if f.label == "" {
		return text
	}
	return f.label + ": " + text
}

// A judge looks values up and remembers which were not there.
type judge struct {
	tables  Tables
	machine string
	missing []missing
}

// missing is a value that is not there.
type missing struct {
	experiment, key string
	name            string // of the case; "" if the value is computed from cases that are there
}

// absent is the verdict where values are missing.
func (j *judge) absent(e evidence) Verdict {
	m := j.missing[0]
	has := func(key string) bool {
		_, ok := j.tables[m.experiment].Get(j.machine, key)
		return ok
	}
	switch {
	case !slices.Contains(j.tables[m.experiment].Machines(), j.machine):
		return Verdict{Word: NotMeasured, Why: fmt.Sprintf("the experiment %s was not run", m.experiment)}
	case m.name != "" && len(e.needs) > 0:
		return Verdict{Word: NotMeasured, Why: strings.Join(e.needs, separator)}
	case m.name != "" && has(values.NotMeasured(Whole(m.name))):
		return Verdict{Word: NotMeasured, Why: "not available: " + m.name}
	case has(values.Partial):
		return Verdict{Word: NotMeasured, Why: "not asked for: only some cases were"}
	default:
		return Verdict{Why: fmt.Sprintf("the values of %s have no %q", m.experiment, m.key)}
	}
}

// one stands in for a value that is missing.
var one = values.Value{Value: 1, Low: 1, High: 1}

// get looks up what was measured of a term.
func (j *judge) get(t term, unit string) values.Value {
	for _, name := range []string{t.name, t.over} {
		if name != "" {
			j.require(t.experiment, values.Case(unit, name), name)
		}
	}
	return j.require(t.experiment, t.key(unit), "")
}

// require looks up a value of a case, or, without a name, one that is
// computed from several, and notes if it is missing.
func (j *judge) require(experiment, key, name string) values.Value {
	v, ok := j.tables[experiment].Get(j.machine, key)
	if !ok {
		j.missing = append(j.missing, missing{experiment, key, name})
		return one
	}
	return v
}

// observation judges a behaviour.
func (j *judge) observation(o observation) finding {
	f := finding{label: strings.TrimPrefix(o.name, "/check=")}
	absent := "not measured"
	if part := strings.TrimPrefix(o.name, Whole(o.name)); part != "" {
		f.label, absent = part[1:], "none"
	}
	switch {
	case o.is != "":
		return j.exactly(o, f)
	case o.as != "":
		return j.alike(o, f)
	}
	if _, ok := j.tables[o.experiment].Get(j.machine, o.key); !ok && o.not && !o.check {
		f.Word, f.Measured = Reproduced, absent
		return f
	}
	v := j.require(o.experiment, o.key, o.name)
	low, high := v.Low, v.High
	if math.IsNaN(low) {
		low, high = v.Value, v.Value
	}
	switch {
	case !o.check:
		low, high, f.Measured = 1, 1, "measured"
	case low == 1:
		f.Measured = "yes"
	case high == 0:
		f.Measured = "no"
	default:
		f.Word, f.Measured, f.Why = Shifted, "in some rounds", "not the same in every round"
		return f
	}
	switch {
	case (low == 1) != o.not:
		f.Word = Reproduced
	case o.not:
		f.Word, f.Why = Contradicted, "observed, against the claim"
	default:
		f.Word, f.Why = Contradicted, "not observed"
	}
	return f
}

// exactly judges whether a quantity is the number in every operation.
func (j *judge) exactly(o observation, f finding) finding {
	v := j.require(o.experiment, o.key, o.name)
	want, _ := parseNumber(o.is)
	f.Measured = quoted(v.Value, o.unit)
	isSame := v.Low == want && v.High == want
	switch {
	case v.Low <= want && want <= v.High && !isSame:
		f.Word, f.Why = Shifted, "not the same in every operation"
	case isSame != o.not:
		f.Word = Reproduced
	case o.not:
		f.Word, f.Why = Contradicted, "observed, against the claim"
	default:
		f.Word, f.Why = Contradicted, "not "+quoted(want, o.unit)
	}
	return f
}

// alike judges whether a quantity is the same in two cases.
func (j *judge) alike(o observation, f finding) finding {
	q := quantity{unit: o.unit, of: term{experiment: o.experiment, name: o.name}, against: term{experiment: o.experiment, name: o.as}}
	base := q
	base.of = q.against
	f.Measured = fmt.Sprintf("%s against %s", quoted(j.alone(q).value, o.unit), quoted(j.alone(base).value, o.unit))
	r := j.read(Behaviour, q)
	if r.pointwise {
		f.Word, f.Why = Shifted, undecidable
		return f
	}
	f.Word, f.Why = r.within(equalLimit)
	if f.Word == Reproduced {
		f.Why = ""
	}
	return f
}

// quoted writes an exact quantity; codes are not counted.
func quoted(v float64, unit string) string {
	switch unit {
	case "record-type/op":
		return fmt.Sprintf("type %.0f", v)
	case "record-version/op":
		return fmt.Sprintf("version %04x", int(v))
	}
	return number.Value(v, unit)
}

// quantity measures one of a claim's quantities and judges it.
func (j *judge) quantity(c Claim, q quantity) finding {
	f := finding{label: q.label}
	r := j.read(c.Kind, q)
	f.Measured = r.String()
	switch {
	case len(j.missing) > 0:
		return f
	case c.Untested:
		f.Word = Reproduced // Judge makes it Answered
		if q.against.experiment != "" {
			alone := q
			alone.against = term{}
			f.Measured = fmt.Sprintf("%v, %v the baseline", j.read(c.Kind, alone), r)
		}
		return f
	case c.Kind == Ordering:
		f.Word, f.Why = r.order(c.Value)
		return f
	}
	p, ok := c.Published()
	if !ok {
		f.Why = fmt.Sprintf("the published value %q is not a number", c.Value)
		return f
	}
	switch {
	case c.Kind == Ratio && q.formula == "":
		f.Word, f.Why = r.effect(p, 1, ratioTolerance)
	case c.Kind == Difference && strings.HasSuffix(q.unit, "B/op"):
		f.Word, f.Why = r.effect(p, 0, exactTolerance)
	case c.Kind == Difference:
		f.Word, f.Why = r.effect(p, 0, differenceTolerance)
	case c.Kind == Ratio:
		f.Word, f.Why = r.effect(p, 0, ratioTolerance)
	case c.Kind == Formula && q.against.experiment == "":
		f.Word, f.Why = r.size(p, q.tolerance())
	case c.Kind == Formula:
		f.Word, f.Why = r.effect(p, 0, q.tolerance())
	case c.Kind == Bytes, c.Kind == Count:
		f.Word, f.Why = r.size(p, exactTolerance)
	default:
		f.Word, f.Why = r.size(p, q.tolerance())
	}
	return f
}

// tolerance is that of an absolute number.
func (q quantity) tolerance() float64 {
	if roundTrip(q.of.name) > 0 {
		return wireTolerance
	}
	return absoluteTolerance
}
