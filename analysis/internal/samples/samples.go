// Package samples gives analyses the recorded samples of one experiment, by
// machine, case and unit.
//
// Units are tidied (golang.org/x/perf/benchunit): what was recorded as
// server-cpu-ns/op is here server-cpu-sec/op, and MB/s is B/s.
package samples

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/perf/benchunit"

	"cryptocost/data"
)

// MarkRatio is the share of its time that a window may lose to steal or
// throttling before it is marked.
const MarkRatio = 0.05

// TwinSuffix is appended to the name of a case for its A/A twin.
const TwinSuffix = "/twin=b"

// A Machine is the samples of one experiment on one machine.
type Machine struct {
	Name string
	File *data.File
	// cases are the names in the order of the first round, without
	// data.RoundCase.
	cases []string
	// byCase has the samples of each case by round.
	byCase map[string][][]data.Sample
	// derived has what Derive was given, by case and unit.
	derived map[[2]string][]float64
}

// Machines lists the folders of dir that hold samples of any experiment,
// sorted.
func Machines(dir string) ([]string, error) {
	files, err := filepath.Glob(filepath.Join(dir, "*", "*.txt"))
	if err != nil {
		return nil, err
	}
	var names []string
	for _, f := range files {
		names = append(names, filepath.Base(filepath.Dir(f)))
	}
	slices.Sort(names)
	return slices.Compact(names), nil
}

// Load reads dir/NAME/EXPERIMENT.txt of the named machines. Those that have
// no such file are left out; a damaged file is an error.
func Load(dir, experiment string, names []string) ([]*Machine, error) {
	var machines []*Machine
	for _, name := range names {
		path := filepath.Join(dir, name, experiment+".txt")
		file, err := data.ReadFile(path)
		if os.IsNotExist(err) {
			continue
		}
		if err != nil {
			return nil, err
		}
		if file.Machine() != name || file.Experiment() != experiment {
			return nil, fmt.Errorf("%s: its header says experiment %q on machine %q", path, file.Experiment(), file.Machine())
		}
		machines = append(machines, New(file))
	}
	return machines, nil
}

// New indexes a file.
func New(file *data.File) *Machine {
	m := &Machine{Name: file.Machine(), File: file, byCase: map[string][][]data.Sample{}}
	for i, round := range file.Rounds {
		for _, s := range round.Samples {
			rounds, ok := m.byCase[s.Case]
			if !ok {
				rounds = make([][]data.Sample, len(file.Rounds))
				m.byCase[s.Case] = rounds
				if s.Case != data.RoundCase {
					m.cases = append(m.cases, s.Case)
				}
			}
			rounds[i] = append(rounds[i], s)
		}
	}
	return m
}

// Cases are the names of the measured cases in the experiment's order.
func (m *Machine) Cases() []string { return m.cases }

// Rounds is the number of replicates.
func (m *Machine) Rounds() int { return len(m.File.Rounds) }

// Missing says why a case was not measured; empty: it was, or it is unknown.
func (m *Machine) Missing(name string) string {
	for _, missing := range m.File.Missing {
		if missing.Case == name {
			return missing.Reason
		}
	}
	return ""
}

// Units are the tidied units of a case's window lines, sorted; those of
// single operations and of exact observations are not among them.
func (m *Machine) Units(name string) []string {
	var units []string
	for _, samples := range m.byCase[name] {
		for _, s := range samples {
			if !isWindow(s) {
				continue
			}
			for _, v := range s.Values {
				_, unit := benchunit.Tidy(v.Value, v.Unit)
				units = append(units, unit)
			}
		}
	}
	slices.Sort(units)
	return slices.Compact(units)
}

// isWindow says whether s is the line of a whole window, which has noise
// beside its quantities.
func isWindow(s data.Sample) bool {
	return slices.ContainsFunc(s.Values, func(v data.Value) bool { return v.Unit == "window-ns" })
}

// Rounded gives one value of a case for every round, in the order of rounds,
// for a unit that comes once a round; nil where any round lacks it.
func (m *Machine) Rounded(name, unit string) []float64 {
	if values, ok := m.derived[[2]string{name, unit}]; ok {
		return values
	}
	var values []float64
	for _, samples := range m.byCase[name] {
		for _, s := range samples {
			if v, ok := tidied(s, unit); ok {
				values = append(values, v)
				break
			}
		}
	}
	if len(values) != m.Rounds() {
		return nil
	}
	return values
}

// Derive adds a quantity that an analysis computes from others, one value of
// a case for every round. Rounded gives it like those that were recorded.
func (m *Machine) Derive(name, unit string, values []float64) {
	if m.derived == nil {
		m.derived = map[[2]string][]float64{}
	}
	m.derived[[2]string{name, unit}] = values
}

// tidied gives the value of s in a tidied unit.
func tidied(s data.Sample, unit string) (float64, bool) {
	for _, v := range s.Values {
		if value, got := benchunit.Tidy(v.Value, v.Unit); got == unit {
			return value, true
		}
	}
	return 0, false
}

// All gives all values of a case in a unit, each as often as it was observed
// (a line of n operations n times), over all rounds.
func (m *Machine) All(name, unit string) []float64 {
	var values []float64
	for _, samples := range m.byCase[name] {
		for _, s := range samples {
			if v, ok := tidied(s, unit); ok {
				values = append(values, slices.Repeat([]float64{v}, s.Ops)...)
			}
		}
	}
	return values
}

// Marked counts the rounds in which a case lost more than [MarkRatio] of its
// window to steal or throttling.
func (m *Machine) Marked(name string) int {
	marked := 0
	for _, samples := range m.byCase[name] {
		if slices.ContainsFunc(samples, func(s data.Sample) bool {
			stolen, _ := tidied(s, "stolen-ratio")
			throttled, _ := tidied(s, "throttled-ratio")
			return stolen > MarkRatio || throttled > MarkRatio
		}) {
			marked++
		}
	}
	return marked
}

// Measured gives the share of the run's time that its windows fill.
func (m *Machine) Measured() float64 {
	var measured, all float64
	for _, v := range m.Rounded(data.RoundCase, "measured-sec") {
		measured += v
	}
	for _, v := range m.Rounded(data.RoundCase, "round-sec") {
		all += v
	}
	return measured / all
}

// Key gives the value of a case's key, "" if it has none: Key("/kex=p521/
// tls=1.3", "kex") is "p521".
func Key(name, key string) string {
	for pair := range strings.SplitSeq(name, "/") {
		if k, v, ok := strings.Cut(pair, "="); ok && k == key {
			return v
		}
	}
	return ""
}

// ReferenceFile, in the folder of all data, names the machine that the
// committed paper is about.
const ReferenceFile = "reference"

// Reference reads the name of the reference machine.
func Reference(dir string) (string, error) {
	content, err := os.ReadFile(filepath.Join(dir, ReferenceFile))
	if err != nil {
		return "", fmt.Errorf("read the name of the reference machine: %w", err)
	}
	return strings.TrimSpace(string(content)), nil
}

// Choose gives the machine that a section is about: the one asked for; or
// the reference machine, where none is asked for or the one asked for has no
// samples of the experiment (the paper then says so).
func Choose(dir, want string, have []*Machine) (*Machine, error) {
	if m := find(have, want); m != nil {
		return m, nil
	}
	reference, err := Reference(dir)
	if err != nil {
		return nil, err
	}
	if m := find(have, reference); m != nil {
		return m, nil
	}
	if want == "" || want == reference {
		return nil, fmt.Errorf("the reference machine %q has no samples", reference)
	}
	return nil, fmt.Errorf("neither machine %q nor the reference machine %q has samples", want, reference)
}

// find gives the machine of that name, nil if it is not among them.
func find(machines []*Machine, name string) *Machine {
	for _, m := range machines {
		if m.Name == name {
			return m
		}
	}
	return nil
}

// isCheckout says whether a folder lies in a git checkout.
func isCheckout(dir string) bool {
	dir, err := filepath.Abs(dir)
	for err == nil {
		if _, err := os.Stat(filepath.Join(dir, ".git")); err == nil {
			return true
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			break
		}
		dir = parent
	}
	return false
}

// Check says whether machine names one of the machines that have samples of
// any experiment; empty is the reference machine.
func Check(machine string, names []string) error {
	if machine == "" || slices.Contains(names, machine) {
		return nil
	}
	return fmt.Errorf("machine %q has no samples; there are those of %s", machine, strings.Join(names, ", "))
}

// Committed keeps the names of machines whose samples are in the
// repository. Outside a git checkout all are.
func Committed(dir string, names []string) ([]string, error) {
	cmd := exec.Command("git", "ls-files", "--", ".")
	cmd.Dir = dir
	out, err := cmd.Output()
	if err != nil {
		if isCheckout(dir) {
			return nil, fmt.Errorf("ask git which samples are in the repository: %w", err)
		}
		return names, nil // an unpacked release
	}
	tracked := map[string]bool{}
	for path := range strings.Lines(string(out)) {
		name, _, _ := strings.Cut(path, "/")
		tracked[name] = true
	}
	return slices.DeleteFunc(slices.Clone(names), func(name string) bool { return !tracked[name] }), nil
}
