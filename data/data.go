// Package data is the sample format of the study: what experiments record and
// analyses read.
//
// A file holds the samples of one experiment on one machine, in the Go
// benchmark format (golang.org/design/14313-benchmark-format), so that
// benchstat and golang.org/x/perf read it as it is. This package is stricter
// than they are: it accepts only files that a [Writer] finished and that
// nobody changed since.
//
//	schema: cryptocost/1
//	experiment: keyexchange
//	machine: xeon-2cpu
//	aslr: 2                              every other key, sorted
//	...
//	Unit sent-B/op assume=exact
//	# not-measured /lib=openssl/aead=aes-128-ccm openssl is not installed
//	# header lines=85 sha256=0f4a6a2a2f2d7e11
//	round: 1
//	BenchmarkKeyexchange/kex=p521/cert=ecdsa-p256/tls=1.3 840 1058211 server-cpu-ns/op
//	BenchmarkKeyexchange/kex=p521/cert=ecdsa-p256/tls=1.3 1 1910332 latency-ns/op
//	# round=1 samples=4010 sha256=5b1d0a3a3c0e55d2
//	...
//	# end rounds=12 samples=48120
//
// Each section, the header and every round, is closed by a mark that counts
// it and carries the first 64 bits of the SHA-256 of the mark before it and
// its lines. A line that was changed, dropped or repeated is therefore found,
// and so is a round of another file, and the last whole round of a file whose
// writer was killed.
package data

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"maps"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"cryptocost/env"
)

// Schema names the version of the format.
const Schema = "cryptocost/1"

// ServerPrefix opens the keys of env that describe the machine of the server
// role, where -server moved it to another one.
const ServerPrefix = "server-"

// ExactAssumption is the unit metadata of quantities that have no
// distribution: bytes, records, yes/no observations.
const ExactAssumption = "exact"

// RoundCase is the case under which each round records its own times:
// "round-ns" from its start to its end, processes included; "measured-ns"
// the sum of its windows; "idle-wait-ns" and "busy-ratio" of the wait before
// it, if it was the first; "failed-attempts" before it.
const RoundCase = "/trial=round"

// YesUnit is the unit of yes/no observations: 1 is yes.
const YesUnit = "yes"

// A Value is one measured quantity with its unit in the notation of Go
// benchmarks, qualifier first ("server-cpu-ns/op").
type Value struct {
	Value float64
	Unit  string
}

// A Sample is one line: values that Ops operations of one case gave together.
type Sample struct {
	Case   string // "/key=value" pairs in a fixed order
	Ops    int    // number of operations that the line spans, at least 1
	Values []Value
}

// A Round is one replicate: the samples of all cases from one set of
// processes.
type Round struct {
	Number  int // from 1
	Samples []Sample
}

// A Missing case was asked for but could not be measured.
type Missing struct {
	Case   string
	Reason string
}

// A Header says what the samples are of and where they came from.
type Header struct {
	// Config has the settings of the run and every key of env.
	Config map[string]string
	// Exact lists the units whose values have no distribution.
	Exact []string
	// Missing lists the cases that could not be measured.
	Missing []Missing
}

// A File is a whole data file.
type File struct {
	Header
	Rounds []Round
}

// Settings are the keys that a run itself decides, beside those of env.
// All of them must be in a header.
var Settings = []string{"schema", "experiment", "machine", "profile", "rounds", "seed", "cases", "passes", "slice", "quota"}

// Experiment, Machine and the like are looked up by name.
func (h Header) Experiment() string { return h.Config["experiment"] }

// Machine is the name that the machine's owner chose.
func (h Header) Machine() string { return h.Config["machine"] }

var (
	keyPattern  = regexp.MustCompile(`^[a-z][a-z0-9.-]*$`)
	namePattern = regexp.MustCompile(`^[a-z0-9][a-z0-9.-]*$`)
	// Other tools split lines at any Unicode space, so values are ASCII.
	casePattern = regexp.MustCompile(`^(/[a-z0-9-]+=[!-.0-~]+)+$`)
	unitPattern = regexp.MustCompile(`^[A-Za-z0-9%][A-Za-z0-9%/-]*$`)
)

// CheckMachine says whether name can name a machine: it is a folder of
// data/ and a word of the paper.
func CheckMachine(name string) error {
	if len(name) > 40 || !namePattern.MatchString(name) {
		return fmt.Errorf("machine name %q: use lower-case letters, digits, '-' and '.', beginning with a letter or digit, at most 40 (for example xeon-2cpu)", name)
	}
	return nil
}

// leading are the keys that open a header; the others follow sorted.
var leading = []string{"schema", "experiment", "machine"}

// keys returns the keys of config in the order of a file.
func keys(config map[string]string) []string {
	rest := slices.Sorted(maps.Keys(config))
	rest = slices.DeleteFunc(rest, func(k string) bool { return slices.Contains(leading, k) })
	return append(slices.Clone(leading), rest...)
}

// check says what a header lacks or has too much.
func (h Header) check() error {
	if s := h.Config["schema"]; s != Schema {
		return fmt.Errorf("schema %q: this program reads %q", s, Schema)
	}
	for _, k := range Settings {
		if h.Config[k] == "" {
			return fmt.Errorf("header key %q is missing", k)
		}
	}
	for _, k := range env.Keys() {
		if h.Config[k.Name] == "" {
			return fmt.Errorf("header key %q is missing", k.Name)
		}
	}
	if !namePattern.MatchString(h.Experiment()) {
		return fmt.Errorf("experiment %q is not a name", h.Experiment())
	}
	if err := CheckMachine(h.Machine()); err != nil {
		return err
	}
	for k, v := range h.Config {
		if !keyPattern.MatchString(k) || strings.TrimSpace(v) != v || strings.ContainsAny(v, "\n\r") {
			return fmt.Errorf("header line %q: not a key and a value", k+": "+v)
		}
	}
	for _, unit := range h.Exact {
		if !unitPattern.MatchString(unit) {
			return fmt.Errorf("exact unit %q", unit)
		}
	}
	for _, m := range h.Missing {
		if err := checkCase(m.Case); err != nil {
			return err
		}
		if strings.TrimSpace(m.Reason) == "" {
			return fmt.Errorf("case %q: not measured, and no reason why", m.Case)
		}
	}
	return nil
}

// processorsSuffix is what "go test" appends to the name of a benchmark, the
// number of processors, and what its readers cut off.
var processorsSuffix = regexp.MustCompile(`-[0-9]+$`)

// checkCase says what makes name unfit to name a case.
func checkCase(name string) error {
	if !casePattern.MatchString(name) {
		return fmt.Errorf("case %q: want /key=value pairs", name)
	}
	if suffix := processorsSuffix.FindString(name); suffix != "" {
		return fmt.Errorf("case %q: readers of Go benchmarks would take %q at its end for a number of processors", name, suffix)
	}
	return nil
}

// benchmark is the name of the experiment as a Go benchmark.
func benchmark(experiment string) string {
	return "Benchmark" + strings.ToUpper(experiment[:1]) + experiment[1:]
}

// check says what makes s unfit to be recorded.
func (s Sample) check() error {
	if err := checkCase(s.Case); err != nil {
		return err
	}
	if s.Ops < 1 {
		return fmt.Errorf("case %q: %d operations", s.Case, s.Ops)
	}
	if len(s.Values) == 0 {
		return fmt.Errorf("case %q: no value", s.Case)
	}
	units := map[string]bool{}
	for _, v := range s.Values {
		if !unitPattern.MatchString(v.Unit) {
			return fmt.Errorf("case %q: unit %q", s.Case, v.Unit)
		}
		if units[v.Unit] {
			return fmt.Errorf("case %q: unit %q twice", s.Case, v.Unit)
		}
		units[v.Unit] = true
		if math.IsNaN(v.Value) || math.IsInf(v.Value, 0) || v.Value < 0 {
			return fmt.Errorf("case %q: %v %s is not a measured quantity", s.Case, v.Value, v.Unit)
		}
	}
	return nil
}

// format writes v with the digits that a measurement can bear, and exactly
// where it is whole.
func format(v float64) string {
	const significant = 6
	if v == math.Trunc(v) && v < 1e15 {
		return strconv.FormatFloat(v, 'f', -1, 64)
	}
	rounded, _ := strconv.ParseFloat(strconv.FormatFloat(v, 'e', significant-1, 64), 64)
	return strconv.FormatFloat(rounded, 'f', -1, 64)
}

// line writes s as a benchmark line without its newline.
func (s Sample) line(name string) string {
	var b strings.Builder
	b.WriteString(name)
	b.WriteString(s.Case)
	b.WriteByte(' ')
	b.WriteString(strconv.Itoa(s.Ops))
	for _, v := range s.Values {
		b.WriteByte(' ')
		b.WriteString(format(v.Value))
		b.WriteByte(' ')
		b.WriteString(v.Unit)
	}
	return b.String()
}

// checkOrder says whether the samples of a round are a block for each case;
// a case that comes back later was recorded twice.
func checkOrder(samples []Sample) error {
	seen := map[string]bool{}
	for i, s := range samples {
		if i > 0 && samples[i-1].Case == s.Case {
			continue
		}
		if seen[s.Case] {
			return fmt.Errorf("case %q comes twice in one round", s.Case)
		}
		seen[s.Case] = true
	}
	return nil
}

// newSection begins the checksum of a section: of the mark before it, empty
// for a header, and its lines, newlines included.
func newSection(before string) hash.Hash {
	section := sha256.New()
	io.WriteString(section, before) // a hash takes all
	return section
}

// sum is the checksum of a whole section.
func sum(before, lines string) string {
	section := newSection(before)
	io.WriteString(section, lines)
	return checksum(section)
}

// checksum is what a mark carries of a section.
func checksum(section hash.Hash) string { return hex.EncodeToString(section.Sum(nil)[:8]) }

// missingPrefix opens the line of a case that could not be measured.
const missingPrefix = "# not-measured "

// headerMark, roundMark and endMark are the lines that close the sections of
// a file, newlines included.
func headerMark(lines int, sum string) string {
	return fmt.Sprintf("# header lines=%d sha256=%s\n", lines, sum)
}

func roundMark(number, samples int, sum string) string {
	return fmt.Sprintf("# round=%d samples=%d sha256=%s\n", number, samples, sum)
}

func endMark(rounds, samples int) string {
	return fmt.Sprintf("# end rounds=%d samples=%d\n", rounds, samples)
}

// Errors of files that are not whole; they come wrapped in an [*Error].
var (
	// ErrUnfinished is a file whose run was interrupted.
	ErrUnfinished = errors.New("the end line is missing: the run was interrupted or the file was cut")
	// ErrTooLarge is a file beyond what any run writes.
	ErrTooLarge = fmt.Errorf("larger than %d MiB: not a file of this study", maxBytes>>20)
)

// An Error is what makes a file unreadable, and where.
type Error struct {
	File string
	Line int
	Err  error
}

// Error formats as file:line: message, which editors understand.
func (e *Error) Error() string { return fmt.Sprintf("%s:%d: %v", e.File, e.Line, e.Err) }

// Unwrap gives the cause.
func (e *Error) Unwrap() error { return e.Err }
