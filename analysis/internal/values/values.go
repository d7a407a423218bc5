// Package values is the file figures/X.values: every number that an analysis
// computes, once, by name. The paper, the claims and the figures' captions
// take their numbers from it.
//
// A line is a value of one machine, its columns separated by tabs:
//
//	key, value, unit, low, high, n, machine
//
// Low and high bound its 95 % interval (of exact observations: their range)
// and are "-" where there is none; n is the number of rounds. Keys read as
//
//	server-cpu-sec/op /kex=p521/cert=ecdsa-p256/tls=1.3
//	server-cpu-sec/op /kex=p521/cert=... over /kex=x25519/cert=...
//	server-cpu-sec/op /kex=p521/cert=... minus /kex=x25519/cert=...
//	floor server-cpu-sec/op
package values

import (
	"bytes"
	"cmp"
	"fmt"
	"math"
	"os"
	"slices"
	"strconv"
	"strings"
)

// A Value is one number.
type Value struct {
	Key     string
	Value   float64
	Unit    string // tidied; "" for ratios
	Low     float64
	High    float64 // NaN: no interval
	N       int
	Machine string
}

// Case, Over and Minus make keys.
func Case(unit, name string) string { return unit + " " + name }

// Over is the key of the ratio of two cases.
func Over(unit, name, base string) string { return unit + " " + name + " over " + base }

// Minus is the key of the difference of two cases.
func Minus(unit, name, base string) string { return unit + " " + name + " minus " + base }

// Floor is the key of a unit's noise floor.
func Floor(unit string) string { return "floor " + unit }

const (
	none    = "-" // stands for a unit or a bound that there is not
	comment = "#" // opens a line without a value
)

// A Table is the content of a file.
type Table struct {
	values []Value
	index  map[[2]string]int // machine and key
}

// Add puts v into the table. A second value of the same key and machine is
// an error of the analysis.
func (t *Table) Add(v Value) error {
	id := [2]string{v.Machine, v.Key}
	if _, ok := t.index[id]; ok {
		return fmt.Errorf("the value %q of %s is computed twice", v.Key, v.Machine)
	}
	if !v.writable() {
		return fmt.Errorf("the value %q of %s can't be written: %v", v.Key, v.Machine, v.Value)
	}
	if t.index == nil {
		t.index = map[[2]string]int{}
	}
	t.index[id] = len(t.values)
	t.values = append(t.values, v)
	return nil
}

// writable says whether Parse would read v back.
func (v Value) writable() bool {
	return v.Key != "" && v.Machine != "" && v.Unit != none && !strings.HasPrefix(v.Key, comment) &&
		!strings.ContainsAny(v.Key+v.Unit+v.Machine, "\t\n\r") && !math.IsNaN(v.Value) && !math.IsInf(v.Value, 0)
}

// Get looks a value up.
func (t *Table) Get(machine, key string) (Value, bool) {
	i, ok := t.index[[2]string{machine, key}]
	if !ok {
		return Value{}, false
	}
	return t.values[i], true
}

// Machines lists the machines, sorted.
func (t *Table) Machines() []string {
	var names []string
	for _, v := range t.values {
		names = append(names, v.Machine)
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// Format writes the table as a file; origin is its first line, as a comment.
func (t *Table) Format(origin string) []byte {
	sorted := slices.Clone(t.values)
	slices.SortFunc(sorted, func(a, b Value) int {
		return cmp.Or(cmp.Compare(a.Machine, b.Machine), cmp.Compare(a.Key, b.Key))
	})
	var b bytes.Buffer
	fmt.Fprintf(&b, "# %s\n# key\tvalue\tunit\tlow\thigh\tn\tmachine\n", origin)
	for _, v := range sorted {
		unit := v.Unit
		if unit == "" {
			unit = none
		}
		fmt.Fprintf(&b, "%s\t%s\t%s\t%s\t%s\t%d\t%s\n", v.Key, number(v.Value), unit, number(v.Low), number(v.High), v.N, v.Machine)
	}
	return b.Bytes()
}

// number writes six significant digits, more than any sample bears, so that
// the file does not depend on the last bits of floating-point arithmetic.
func number(f float64) string {
	if math.IsNaN(f) {
		return none
	}
	return strconv.FormatFloat(f, 'g', 6, 64)
}

// ReadFile reads a file that Format wrote.
func ReadFile(path string) (*Table, error) {
	content, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	t, err := Parse(content)
	if err != nil {
		return nil, fmt.Errorf("%s:%w", path, err)
	}
	return t, nil
}

// Parse reads what Format wrote. Errors begin with the line.
func Parse(content []byte) (*Table, error) {
	t := &Table{}
	n := 0
	for text := range strings.Lines(string(content)) {
		n++
		text, whole := strings.CutSuffix(text, "\n")
		if !whole {
			return nil, fmt.Errorf("%d: the line is cut off", n)
		}
		if strings.HasPrefix(text, comment) {
			continue
		}
		v, err := parseLine(text)
		if err == nil {
			err = t.Add(v)
		}
		if err != nil {
			return nil, fmt.Errorf("%d: %w", n, err)
		}
	}
	return t, nil
}

func parseLine(text string) (Value, error) {
	fields := strings.Split(text, "\t")
	if len(fields) != 7 {
		return Value{}, fmt.Errorf("%d columns, want 7", len(fields))
	}
	v := Value{Key: fields[0], Unit: fields[2], Machine: fields[6]}
	if v.Unit == none {
		v.Unit = ""
	}
	for _, f := range []struct {
		to   *float64
		text string
	}{{&v.Value, fields[1]}, {&v.Low, fields[3]}, {&v.High, fields[4]}} {
		if f.text == none {
			*f.to = math.NaN()
			continue
		}
		parsed, err := strconv.ParseFloat(f.text, 64)
		if err != nil {
			return v, fmt.Errorf("%q is not a number", f.text)
		}
		*f.to = parsed
	}
	n, err := strconv.Atoi(fields[5])
	if err != nil {
		return v, fmt.Errorf("n %q is not a whole number", fields[5])
	}
	v.N = n
	return v, nil
}

// NotMeasured is the key that marks a case as not measured.
func NotMeasured(name string) string { return "not-measured " + name }

// Partial is the key that marks a machine on which some cases could not be
// measured or were not asked for, so that values made from them are missing.
const Partial = "partial"
