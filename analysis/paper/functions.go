package main

import (
	"bytes"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"text/template"
	"time"

	"cryptocost/analysis/internal/claim"
	"cryptocost/analysis/internal/number"
	"cryptocost/analysis/internal/samples"
	"cryptocost/analysis/internal/stat"
	"cryptocost/analysis/internal/study"
	"cryptocost/analysis/internal/values"
	"cryptocost/analysis/internal/wire"
)

// functions are what the templates may call. Those that speak of values take
// them from the experiment in use.
func (p *paper) functions() template.FuncMap {
	return template.FuncMap{
		"use":        p.use,
		"machine":    func() string { return p.machine },
		"elsewhere":  p.elsewhere,
		"subject":    p.subject,
		"val":        p.val,
		"ci":         p.interval,
		"ratio":      p.ratio,
		"difference": p.difference,
		"floor":      p.floor,
		"about":      p.about,
		"count":      p.count,
		"share":      p.share,
		"claim":      p.claim,
		"speed":      p.speed,
		"more":       func(unit, name, base string) (bool, error) { return p.beyond(unit, name, base, +1) },
		"less":       func(unit, name, base string) (bool, error) { return p.beyond(unit, name, base, -1) },
		"same":       p.same,
		"seen":       p.seen,
		"never":      p.never,
		"published":  p.published,
		"cited":      p.cited,
		"setting":    p.setting,
		"marking":    func() string { return number.Percent(samples.MarkRatio) },
		"narrow":     func() string { return number.Percent(study.NarrowRatio) },
		"wire":       roundTrip,
		"verdicts":   p.verdicts,
		"runs":       p.runTable,
		"wider":      p.wider,
		"table":      p.tableText,
		"figure":     p.figureText,
		"fragment":   p.fragment,
		"headlines":  func() (string, error) { return p.include("headlines.md.tmpl") },
		"machines":   p.machineTable,
		"described":  p.machineLine,
		"simulation": simulationTable,
	}
}

// use chooses the experiment that the following functions speak of.
func (p *paper) use(name string) (string, error) {
	e, ok := p.experiments[name]
	if !ok {
		return "", fmt.Errorf("no experiment %q", name)
	}
	p.current = e
	return "", nil
}

// elsewhere says so where the numbers that follow are not of the machine at
// hand, since it has no samples of the experiment.
func (p *paper) elsewhere() (string, error) {
	switch {
	case p.current == nil:
		return "", errNoExperiment
	case p.current.main.Name == p.machine:
		return "", nil
	default:
		return fmt.Sprintf("*(%s has not measured this; the numbers are those of %s.)* ", p.machine, p.current.main.Name), nil
	}
}

// subject is the machine whose numbers the experiment in use gives.
func (p *paper) subject() (string, error) {
	if p.current == nil {
		return "", errNoExperiment
	}
	return p.current.main.Name, nil
}

// include renders another template of analysis/paper in place.
func (p *paper) include(name string) (string, error) {
	before := p.current
	defer func() { p.current = before }()
	var out bytes.Buffer
	err := p.renderPart(&out, filepath.Join("paper", name))
	return strings.TrimSpace(out.String()), err
}

// gap is what stands in the text for a case that could not be measured.
const gap = "*(not measured)*"

// get looks a key up. Where the samples say why there is no value, ok is
// false; where they don't, that is an error.
func (p *paper) get(key string, cases ...string) (v values.Value, ok bool, err error) {
	e := p.current
	if e == nil {
		return v, false, errNoExperiment
	}
	if v, ok = e.values.Get(e.main.Name, key); ok {
		return v, true, nil
	}
	for _, name := range cases {
		if _, missing := e.values.Get(e.main.Name, values.NotMeasured(name)); missing {
			return v, false, nil
		}
	}
	if _, partial := e.values.Get(e.main.Name, values.Partial); partial {
		return v, false, nil
	}
	return v, false, fmt.Errorf("%s has no value %q of machine %s", e.name, key, e.main.Name)
}

// val writes a median.
func (p *paper) val(unit, name string) (string, error) {
	v, ok, err := p.get(values.Case(unit, name), name)
	if !ok {
		return gap, err
	}
	return number.Value(v.Value, unit), nil
}

// interval writes the interval of a median.
func (p *paper) interval(unit, name string) (string, error) {
	v, ok, err := p.get(values.Case(unit, name), name)
	if !ok {
		return gap, err
	}
	return bounds(v, func(low, high float64) string { return number.Interval(low, high, unit) }), nil
}

// bounds writes an interval or why there is none.
func bounds(v values.Value, write func(low, high float64) string) string {
	if math.IsNaN(v.Low) {
		return fmt.Sprintf("no interval from %d rounds", v.N)
	}
	return write(v.Low, v.High)
}

// ratio writes a paired ratio with its interval.
func (p *paper) ratio(unit, name, base string) (string, error) {
	v, ok, err := p.get(values.Over(unit, name, base), name, base)
	if !ok {
		return gap, err
	}
	if v.Low == v.High { // exact
		return number.Ratio(v.Value), nil
	}
	return number.Ratio(v.Value) + " (" + bounds(v, number.RatioInterval) + ")", nil
}

// difference writes a paired difference with its interval.
func (p *paper) difference(unit, name, base string) (string, error) {
	v, ok, err := p.get(values.Minus(unit, name, base), name, base)
	if !ok {
		return gap, err
	}
	if math.IsNaN(v.Low) {
		return number.Value(v.Value, unit) + " (" + bounds(v, nil) + ")", nil
	}
	return number.Estimate(v.Value, v.Low, v.High, unit), nil
}

// floor writes the noise floor of a unit: what the A/A twins seem to differ
// by.
func (p *paper) floor(unit string) (string, error) {
	f, ok, err := p.floorOf(unit)
	if !ok {
		return "unknown", err
	}
	return number.Percent(f - 1), nil
}

// floorOf is the noise floor, if the run has enough rounds for one.
func (p *paper) floorOf(unit string) (float64, bool, error) {
	if p.current == nil {
		return 0, false, errNoExperiment
	}
	v, ok := p.current.values.Get(p.current.main.Name, values.Floor(unit))
	return v.Value, ok, nil
}

// about writes a value of the run itself as a ratio with three digits.
func (p *paper) about(key string) (string, error) {
	v, ok, err := p.get(key)
	if !ok {
		return gap, err
	}
	return number.Ratio(v.Value), nil
}

// count writes a value of the run itself as a whole number.
func (p *paper) count(key string) (string, error) {
	v, ok, err := p.get(key)
	if !ok {
		return gap, err
	}
	return number.Count(int(v.Value)), nil
}

// share writes a value of the run itself as a percentage.
func (p *paper) share(key string) (string, error) {
	v, ok, err := p.get(key)
	if !ok {
		return gap, err
	}
	return number.Percent(v.Value), nil
}

// claim words a comparison of costs by its interval: "P-521 costs the server
// 5.4 times what X25519 does", or that no difference was found and what is
// ruled out.
func (p *paper) claim(subject, verb, object, unit, name, base string) (string, error) {
	return p.compare(unit, name, base, wording{
		differs: func(times string) string {
			return fmt.Sprintf("%s %s %s times what %s does", subject, verb, times, object)
		},
		same:    fmt.Sprintf("%s %s as much as %s as far as this run can tell", subject, verb, object),
		unknown: fmt.Sprintf("%s %s an amount that this run can't tell apart from that of %s", subject, verb, object),
	})
}

// speed words a comparison of rates in the same way.
func (p *paper) speed(subject, object, unit, name, base string) (string, error) {
	return p.compare(unit, name, base, wording{
		differs: func(times string) string { return fmt.Sprintf("%s is %s times as fast as %s", subject, times, object) },
		same:    fmt.Sprintf("%s is as fast as %s as far as this run can tell", subject, object),
		unknown: fmt.Sprintf("%s runs at a rate that this run can't tell apart from that of %s", subject, object),
	})
}

// A wording says a comparison in the three ways that it can end.
type wording struct {
	differs func(times string) string
	same    string // a null result that rules something out
	unknown string // one that rules out nothing of interest
}

// tellingRatio is the difference that a null result must rule out to be
// called one.
const tellingRatio = 0.25

func (p *paper) compare(unit, name, base string, words wording) (string, error) {
	v, ok, err := p.get(values.Over(unit, name, base), name, base)
	if !ok {
		return words.differs(gap), err
	}
	ratio := strings.TrimSuffix(number.Ratio(v.Value), "×")
	interval := bounds(v, number.RatioInterval)
	floor, hasFloor, err := p.floorOf(unit)
	if err != nil {
		return "", err
	}
	if !hasFloor {
		return words.unknown + " (" + ratio + "×, " + interval + ", no noise floor)", nil
	}
	if study.Beyond(v, floor) {
		return words.differs(ratio) + " (" + interval + ")", nil
	}
	allowed := ruledOut(v, floor)
	if allowed > tellingRatio {
		return fmt.Sprintf("%s (%s, with a noise floor of %s)", words.unknown, interval, number.Percent(floor-1)), nil
	}
	return fmt.Sprintf("%s (%s, with a noise floor of %s; a difference of more than %s is ruled out)",
		words.same, interval, number.Percent(floor-1), number.Percent(allowed)), nil
}

// beyond says whether a ratio is beyond the noise floor in the direction of
// sign. Cases that were not measured are not.
func (p *paper) beyond(unit, name, base string, sign int) (bool, error) {
	v, ok, err := p.get(values.Over(unit, name, base), name, base)
	if !ok {
		return false, err
	}
	floor, hasFloor, err := p.floorOf(unit)
	if err != nil || !hasFloor {
		return false, err
	}
	return study.Beyond(v, floor) && (v.Value > 1) == (sign > 0), nil
}

// same says whether a ratio is a null result that rules something out.
func (p *paper) same(unit, name, base string) (bool, error) {
	v, ok, err := p.get(values.Over(unit, name, base), name, base)
	if !ok {
		return false, err
	}
	floor, hasFloor, err := p.floorOf(unit)
	if err != nil || !hasFloor {
		return false, err
	}
	return !study.Beyond(v, floor) && ruledOut(v, floor) <= tellingRatio, nil
}

// ruledOut is the difference that a null result still allows.
func ruledOut(v values.Value, floor float64) float64 {
	return max(floor-1, stat.RuledOut(stat.Interval{Center: v.Value, Low: v.Low, High: v.High, N: v.N}))
}

// seen says whether a behaviour was observed in every round.
func (p *paper) seen(check string) (bool, error) {
	v, ok, err := p.get(values.Case("yes", check), check)
	return ok && v.Low == 1, err
}

// never says whether a behaviour was observed in no round.
func (p *paper) never(check string) (bool, error) {
	v, ok, err := p.get(values.Case("yes", check), check)
	return ok && v.High == 0, err
}

// published writes the published value of a case.
func (p *paper) published(unit, name string) (string, error) {
	if p.current == nil {
		return "", errNoExperiment
	}
	c, ok := claim.Find(p.claims, p.current.name, values.Case(unit, name))
	if !ok {
		return "", fmt.Errorf("no claim about %s of %s", unit, name)
	}
	v, ok := c.Published()
	if !ok {
		return "", fmt.Errorf("claim %s has no number", c.ID)
	}
	if v.Low != v.High {
		return number.Interval(v.Low, v.High, unit), nil
	}
	return number.Value(v.Low, unit), nil
}

// cited writes the value of a claim as it was published.
func (p *paper) cited(id string) (string, error) {
	for _, c := range p.claims {
		if c.ID == id {
			return c.Value, nil
		}
	}
	return "", fmt.Errorf("no claim %q", id)
}

// setting writes a duration among the settings of the run.
func (p *paper) setting(key string) (string, error) {
	if p.current == nil {
		return "", errNoExperiment
	}
	d, err := time.ParseDuration(p.current.main.File.Config[key])
	if err != nil {
		return "", fmt.Errorf("setting %q: %w", key, err)
	}
	return number.Value(d.Seconds(), "sec"), nil
}

// roundTrip writes the round trip of the wire that a case is on: "50 ms" of
// "/wire=0+50ms/conn=tcp".
func roundTrip(name string) (string, error) {
	_, after, _ := strings.Cut(name, "/wire=")
	delays, _, _ := strings.Cut(after, "/")
	w, ok := wire.Parse(delays)
	if !ok {
		return "", fmt.Errorf("case %q is on no wire", name)
	}
	return number.Mark(w.RoundTrip(), "sec"), nil
}

// articles names the articles in the order of their verdicts.
var articles = []struct{ id, name string }{
	{"part1", "part 1"}, {"part2", "part 2"}, {"part4", "part 4"}, {"part6", "part 6"}, {"order", "the article on order fields"},
}

// verdicts counts, by article, the verdicts on the claims that are answered
// by the current experiment.
func (p *paper) verdicts() (string, error) {
	if p.current == nil {
		return "", errNoExperiment
	}
	tables := claim.Tables{}
	for name, e := range p.experiments {
		tables[name] = e.values
	}
	counts := map[string]map[claim.Word]int{}
	totals := map[string]int{}
	for _, c := range p.claims {
		if !answers(p.current.name, c) {
			continue
		}
		if totals[c.Article]++; totals[c.Article] == 1 {
			counts[c.Article] = map[claim.Word]int{}
		}
		counts[c.Article][claim.Judge(c, tables, p.current.main.Name).Word]++
	}
	var parts []string
	for _, a := range articles {
		if totals[a.id] == 0 {
			continue
		}
		var words []string
		for _, word := range claim.Words {
			if n := counts[a.id][word]; n > 0 {
				words = append(words, fmt.Sprintf("%d %s", n, word))
			}
		}
		parts = append(parts, fmt.Sprintf("of the %s of %s, %s", claimCount(totals[a.id]), a.name, strings.Join(words, ", ")))
	}
	if parts == nil {
		return "", fmt.Errorf("no claim is answered by %s", p.current.name)
	}
	return "Verdicts on what is published about this: " + strings.Join(parts, "; ") + " ([all of them](claims.md)).", nil
}

func claimCount(n int) string {
	if n == 1 {
		return "one claim"
	}
	return fmt.Sprintf("%d claims", n)
}

// answers says whether the claim is one of the experiment, or of another but
// about cases of this one alone.
func answers(experiment string, c claim.Claim) bool {
	cases := c.Cases()
	return c.Experiment == experiment || len(cases) == 1 && cases[experiment] != nil
}

// tableText includes figures/X-NAME.md with a caption that leads to the
// samples.
func (p *paper) tableText(name, caption string) (string, error) {
	text, err := p.fragment(name)
	if err != nil {
		return "", err
	}
	p.table++
	return fmt.Sprintf("**Table %d.** %s %s\n\n%s", p.table, caption, p.provenance(), text), nil
}

// fragment is the text of figures/X-NAME.md without its first line.
func (p *paper) fragment(name string) (string, error) {
	if p.current == nil {
		return "", errNoExperiment
	}
	content, err := os.ReadFile(filepath.Join(p.figures, p.current.name+"-"+name+".md"))
	if err != nil {
		return "", err
	}
	_, text, _ := strings.Cut(string(content), "\n")
	return strings.TrimSpace(text), nil
}

// figureText shows figures/X-NAME.svg with a caption that leads to the
// samples.
func (p *paper) figureText(name, caption string) (string, error) {
	if p.current == nil {
		return "", errNoExperiment
	}
	file := p.current.name + "-" + name + ".svg"
	if _, err := os.Stat(filepath.Join(p.figures, file)); err != nil {
		return "", err
	}
	p.figure++
	return fmt.Sprintf("![%s](figures/%s)\n\n**Figure %d.** %s %s", strings.TrimSuffix(caption, "."), file, p.figure, caption, p.provenance()), nil
}

// provenance says on what and from how many rounds, and links samples,
// analysis and experiment.
func (p *paper) provenance() string {
	e := p.current
	var files []string
	for _, m := range append([]*samples.Machine{e.main}, e.others()...) {
		files = append(files, fmt.Sprintf("[%s](data/%s/%s.txt)", m.Name, m.Name, e.name))
	}
	return fmt.Sprintf("*%s, %d rounds. Samples: %s; [analysis](analysis/%[4]s/main.go); [experiment](experiments/%[4]s/main.go).*",
		e.main.Name, e.main.Rounds(), strings.Join(files, ", "), e.name)
}
