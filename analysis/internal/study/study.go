// Package study is what the analyses of all experiments share: it reads the
// samples, computes the values, draws the figures and writes the tables.
//
// An analysis is a list of units, cases and figures; its main calls [Main].
package study

import (
	"cmp"
	"errors"
	"flag"
	"fmt"
	"io"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"

	"cryptocost/analysis/internal/chart"
	"cryptocost/analysis/internal/claim"
	"cryptocost/analysis/internal/command"
	"cryptocost/analysis/internal/number"
	"cryptocost/analysis/internal/samples"
	"cryptocost/analysis/internal/stat"
	"cryptocost/analysis/internal/values"
	"cryptocost/data"
)

// An Analysis computes what one experiment shows.
type Analysis struct {
	// Name is the experiment's one word.
	Name string
	// Baseline is the case that others are compared with; its A/A twin has
	// the same name with [samples.TwinSuffix].
	Baseline string
	// Units are the quantities of windows, tidied; each gets medians, ratios
	// and differences to the baseline, and a noise floor.
	Units []string
	// Observed are exact quantities; each gets its median and range.
	Observed []string
	// Pairs are further ratios and differences, beside those to the baseline
	// and those that claims ask for.
	Pairs []Pair
	// Headlines are the ratios whose precision the paper reports.
	Headlines func(*Data) []Pair
	// Derive adds quantities that are computed from others; may be nil.
	Derive func(*samples.Machine)
	// Extra adds values that only this experiment has; may be nil.
	Extra func(*samples.Machine, *values.Table) error
	// Figures and Tables are drawn by the functions of the same names.
	Figures map[string]func(*Data) (Drawing, error)
	Tables  map[string]func(*Data) (string, error)
}

// A Pair is a comparison of two cases in one unit.
type Pair struct{ Unit, Case, Base string }

// A Drawing is a figure.
type Drawing interface{ SVG() ([]byte, error) }

// Data is what figures and tables are made of.
type Data struct {
	Analysis
	// Main is the machine at hand.
	Main *samples.Machine
	// Machines are all machines with samples, sorted by name; Main is one.
	Machines []*samples.Machine
	Values   *values.Table
	Claims   []claim.Claim
}

// Main runs the analysis as the whole program and ends the process.
func Main(a Analysis) {
	command.Main(a.Name, func(args []string, _, stderr io.Writer) error { return Run(a, args, stderr) })
}

// Run reads data/*/X.txt and writes X.values, X-*.svg and X-*.md.
func Run(a Analysis, args []string, stderr io.Writer) error {
	flags := flag.NewFlagSet(a.Name, flag.ContinueOnError)
	flags.SetOutput(stderr)
	dir := flags.String("data", "data", "`folder` of the machines' samples")
	out := flags.String("out", "figures", "`folder` to write to")
	machine := flags.String("machine", "", "`name` of the machine at hand; default: the reference machine")
	committed := flags.Bool("committed", false, "leave out machines whose data is not in the repository")
	claimsPath := flags.String("claims", filepath.Join("analysis", "claims", "claims.csv"), "the published claims")
	if err := flags.Parse(args); err != nil {
		if errors.Is(err, flag.ErrHelp) {
			return err
		}
		return command.Usage(err)
	}
	if flags.NArg() > 0 {
		return command.Usagef("unexpected argument %q", flags.Arg(0))
	}
	claims, err := claim.Read(*claimsPath)
	if err != nil {
		return err
	}
	names, err := samples.Machines(*dir)
	if err != nil {
		return err
	}
	if err := samples.Check(*machine, names); err != nil {
		return command.Usage(err)
	}
	if *committed {
		if names, err = samples.Committed(*dir, names); err != nil {
			return err
		}
	}
	machines, err := samples.Load(*dir, a.Name, names)
	if err != nil {
		return err
	}
	main, err := samples.Choose(*dir, *machine, machines)
	if err != nil {
		return fmt.Errorf("%s: %w", a.Name, err)
	}
	d, err := Compute(a, main, machines, claims)
	if err != nil {
		return err
	}
	return d.write(*out)
}

// origin is the first line of what an analysis writes.
func (a Analysis) origin() string {
	return fmt.Sprintf("made by analysis/%[1]s from data/*/%[1]s.txt; do not edit", a.Name)
}

// write writes all files of the analysis to dir.
func (d *Data) write(dir string) error {
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return err
	}
	files := map[string][]byte{d.Name + ".values": d.Values.Format(d.origin())}
	for name, draw := range d.Figures {
		drawing, err := draw(d)
		if err != nil {
			return fmt.Errorf("figure %s-%s: %w", d.Name, name, err)
		}
		svg, err := drawing.SVG()
		if err != nil {
			return fmt.Errorf("figure %s-%s: %w", d.Name, name, err)
		}
		files[d.Name+"-"+name+".svg"] = svg
	}
	for name, table := range d.Tables {
		text, err := table(d)
		if err != nil {
			return fmt.Errorf("table %s-%s: %w", d.Name, name, err)
		}
		files[d.Name+"-"+name+".md"] = []byte("<!-- " + d.origin() + " -->\n" + text)
	}
	for _, name := range slices.Sorted(maps.Keys(files)) {
		if err := os.WriteFile(filepath.Join(dir, name), files[name], 0o666); err != nil {
			return err
		}
	}
	return nil
}

// Compute computes the values of all machines.
func Compute(a Analysis, main *samples.Machine, machines []*samples.Machine, claims []claim.Claim) (*Data, error) {
	d := &Data{Analysis: a, Main: main, Machines: machines, Values: &values.Table{}, Claims: claims}
	for _, m := range machines {
		if a.Derive != nil {
			a.Derive(m)
		}
		c := computation{Data: d, machine: m}
		if err := c.all(); err != nil {
			return nil, fmt.Errorf("machine %s: %w", m.Name, err)
		}
	}
	return d, nil
}

// A computation fills the table with the values of one machine.
type computation struct {
	*Data
	machine *samples.Machine
	pairs   map[Pair]bool // done
}

func (c *computation) all() error {
	c.pairs = map[Pair]bool{}
	steps := []func() error{c.run, c.medians, c.floors, c.comparisons, c.observations, c.precision}
	if c.Extra != nil {
		steps = append(steps, func() error { return c.Extra(c.machine, c.Values) })
	}
	for _, step := range steps {
		if err := step(); err != nil {
			return err
		}
	}
	return nil
}

// add puts an estimate into the table, if there is one.
func (c *computation) add(key, unit string, i stat.Interval) error {
	if math.IsNaN(i.Center) {
		return nil
	}
	return c.Values.Add(values.Value{Key: key, Value: i.Center, Unit: unit, Low: i.Low, High: i.High, N: i.N, Machine: c.machine.Name})
}

// number puts a value without an interval into the table.
func (c *computation) number(key, unit string, value float64) error {
	return c.Values.Add(values.Value{Key: key, Value: value, Unit: unit, Low: math.NaN(), High: math.NaN(), N: c.machine.Rounds(), Machine: c.machine.Name})
}

// run describes the run: "rounds", "measured-ratio" (the share of its time
// that windows fill), "windows" and how many are marked as noisy, "samples",
// and the cases that could not be measured.
func (c *computation) run() error {
	m := c.machine
	windows, marked, count := 0, 0, 0
	for _, name := range m.Cases() {
		if m.Rounded(name, "window-sec") == nil {
			continue
		}
		windows += m.Rounds()
		marked += m.Marked(name)
	}
	for _, r := range m.File.Rounds {
		count += len(r.Samples)
	}
	var errs []error
	for _, missing := range m.File.Missing {
		errs = append(errs, c.number(values.NotMeasured(missing.Case), "", 1))
	}
	if m.File.Config["cases"] != "all" || len(m.File.Missing) > 0 {
		errs = append(errs, c.number(values.Partial, "", 1))
	}
	return errors.Join(append(errs,
		c.number("rounds", "rounds", float64(m.Rounds())),
		c.number("measured-ratio", "", m.Measured()),
		c.number("windows", "windows", float64(windows)),
		c.number("marked-windows", "windows", float64(marked)),
		c.number("samples", "samples", float64(count)))...)
}

// medians computes one value for each case and unit.
func (c *computation) medians() error {
	for _, name := range c.machine.Cases() {
		for _, unit := range c.Units {
			if rounds := c.machine.Rounded(name, unit); rounds != nil {
				if err := c.add(values.Case(unit, name), unit, stat.Median(rounds)); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// floors computes what the two names of the baseline seem to differ by.
func (c *computation) floors() error {
	for _, unit := range c.Units {
		a, b := c.machine.Rounded(c.Baseline, unit), c.machine.Rounded(c.Baseline+samples.TwinSuffix, unit)
		if a == nil || b == nil {
			continue
		}
		if floor := stat.Floor(stat.PairedRatio(b, a)); !math.IsNaN(floor) {
			if err := c.number(values.Floor(unit), "", floor); err != nil {
				return err
			}
		}
	}
	return nil
}

// comparisons computes ratios and differences to the baseline, those that
// the analysis names, and those that claims ask for.
func (c *computation) comparisons() error {
	var pairs []Pair
	for _, name := range c.machine.Cases() {
		for _, unit := range c.Units {
			pairs = append(pairs, Pair{unit, name, c.Baseline})
		}
	}
	pairs = append(pairs, c.Pairs...)
	for _, p := range claim.Pairs(c.Claims, c.Name) {
		pairs = append(pairs, Pair{p.Unit, p.Case, p.Baseline})
	}
	for _, p := range pairs {
		if err := c.compare(p); err != nil {
			return err
		}
	}
	return nil
}

func (c *computation) compare(p Pair) error {
	if c.pairs[p] || p.Case == p.Base {
		return nil
	}
	c.pairs[p] = true
	if slices.Contains(c.Observed, p.Unit) {
		return c.compareObserved(p)
	}
	a, b := c.machine.Rounded(p.Case, p.Unit), c.machine.Rounded(p.Base, p.Unit)
	if a == nil || b == nil {
		return nil
	}
	return errors.Join(
		c.add(values.Over(p.Unit, p.Case, p.Base), "", stat.PairedRatio(a, b)),
		c.add(values.Minus(p.Unit, p.Case, p.Base), p.Unit, stat.PairedDifference(a, b)))
}

// compareObserved compares the medians of exact quantities; the range is
// that of all differences between an observation here and one there.
func (c *computation) compareObserved(p Pair) error {
	a, b := c.machine.All(p.Case, p.Unit), c.machine.All(p.Base, p.Unit)
	if len(a) == 0 || len(b) == 0 {
		return nil
	}
	difference := stat.Interval{
		Center: stat.Quantile(a, 0.5) - stat.Quantile(b, 0.5),
		Low:    slices.Min(a) - slices.Max(b), High: slices.Max(a) - slices.Min(b), N: c.machine.Rounds(),
	}
	if err := c.add(values.Minus(p.Unit, p.Case, p.Base), p.Unit, difference); err != nil || slices.Min(b) <= 0 {
		return err
	}
	return c.add(values.Over(p.Unit, p.Case, p.Base), "", stat.Interval{
		Center: stat.Quantile(a, 0.5) / stat.Quantile(b, 0.5),
		Low:    slices.Min(a) / slices.Max(b), High: slices.Max(a) / slices.Min(b), N: c.machine.Rounds(),
	})
}

// observations computes the median and range of exact quantities, over all
// operations of all rounds.
func (c *computation) observations() error {
	for _, name := range c.machine.Cases() {
		for _, unit := range append([]string{data.YesUnit}, c.Observed...) {
			all := c.machine.All(name, unit)
			if len(all) == 0 {
				continue
			}
			err := c.add(values.Case(unit, name), unit, stat.Interval{
				Center: stat.Quantile(all, 0.5), Low: slices.Min(all), High: slices.Max(all), N: c.machine.Rounds(),
			})
			if err != nil {
				return err
			}
		}
	}
	return nil
}

// NarrowRatio is the half-width that the intervals of headline ratios should
// stay under.
const NarrowRatio = 0.03

// precision counts the headline ratios that have an interval, and those of
// which it is narrow enough.
func (c *computation) precision() error {
	var widths []float64
	narrow := 0
	for _, h := range c.headlines(c.machine) {
		widths = append(widths, h.width)
		if h.width < NarrowRatio {
			narrow++
		}
	}
	return errors.Join(
		c.number("headlines", "ratios", float64(len(widths))),
		c.number("narrow-headlines", "ratios", float64(narrow)))
}

// A headline is a ratio with the half-width of its interval.
type headline struct {
	Pair
	width float64
}

// headlines gives those of a machine that have an interval, each once, widest
// first.
func (d *Data) headlines(m *samples.Machine) []headline {
	var list []headline
	seen := map[Pair]bool{}
	for _, p := range d.Headlines(d) {
		if seen[p] {
			continue
		}
		seen[p] = true
		v, ok := d.Values.Get(m.Name, values.Over(p.Unit, p.Case, p.Base))
		if !ok || math.IsNaN(v.Low) {
			continue
		}
		i := stat.Interval{Center: v.Value, Low: v.Low, High: v.High}
		list = append(list, headline{p, i.HalfWidth()})
	}
	slices.SortStableFunc(list, func(a, b headline) int { return cmp.Compare(b.width, a.width) })
	return list
}

// Point gives a value of a machine for a chart.
func (d *Data) Point(m *samples.Machine, unit, name string) chart.Point {
	v, ok := d.Values.Get(m.Name, values.Case(unit, name))
	if !ok {
		return chart.Point{Center: math.NaN(), Low: math.NaN(), High: math.NaN()}
	}
	return chart.Point{Center: v.Value, Low: v.Low, High: v.High, Noisy: mostlyMarked(m, name)}
}

// Faster writes for a title how two rates compare, with the faster first:
// "AES is 2.1× as fast as ChaCha20".
func (d *Data) Faster(unit, subject, name, object, base string) string {
	v, ok := d.Values.Get(d.Main.Name, values.Over(unit, name, base))
	switch {
	case !ok:
		return subject + " and " + object
	case v.Value >= 1:
		return subject + " is " + number.Ratio(v.Value) + " as fast as " + object
	default:
		return object + " is " + number.Ratio(1/v.Value) + " as fast as " + subject
	}
}

// Times writes a ratio for a title; one that is not beyond the noise floor
// is "about 1×".
func (d *Data) Times(unit, name, base string) string {
	v, ok := d.Values.Get(d.Main.Name, values.Over(unit, name, base))
	if !ok {
		return "(not measured)"
	}
	if floor, ok := d.Values.Get(d.Main.Name, values.Floor(unit)); ok && !Beyond(v, floor.Value) {
		return "about 1×"
	}
	return number.Ratio(v.Value)
}

// Adds writes for a title what one case costs more than another; a
// difference whose interval includes 0 is none.
func (d *Data) Adds(unit, name, base string) string {
	v, ok := d.Values.Get(d.Main.Name, values.Minus(unit, name, base))
	switch {
	case !ok:
		return "(not measured)"
	case v.Low <= 0 && v.High >= 0:
		return "no measurable amount"
	default:
		return number.Value(v.Value, unit)
	}
}

// mostlyMarked says whether more than a quarter of a case's windows lost
// time to others: its median is then drawn hollow.
func mostlyMarked(m *samples.Machine, name string) bool { return 4*m.Marked(name) > m.Rounds() }

// Missing says why a case has no values on the machine at hand; empty: it has.
func (d *Data) Missing(name string) string {
	if reason := d.Main.Missing(name); reason != "" {
		return reason
	}
	if !slices.Contains(d.Main.Cases(), name) {
		return "not among the cases of this run"
	}
	return ""
}

// Others are the machines beside the one at hand.
func (d *Data) Others() []*samples.Machine {
	return slices.DeleteFunc(slices.Clone(d.Machines), func(m *samples.Machine) bool { return m == d.Main })
}
