package main

import (
	"errors"
	"math"
	"regexp"
	"slices"
	"strconv"

	"cryptocost/analysis/internal/samples"
	"cryptocost/analysis/internal/stat"
	"cryptocost/analysis/internal/values"
)

// An answer is what an interval says to a question.
type answer int

const (
	no answer = iota
	unclear
	yes
)

// sure is the answer of what is no matter of intervals.
func sure(is bool) answer {
	if is {
		return yes
	}
	return no
}

// between says whether all of an interval is from low to high. One that is
// only partly there, or not known, does not tell.
func between(i stat.Interval, low, high float64) answer {
	switch {
	case i.Low >= low && i.High <= high:
		return yes
	case i.Low > high || i.High < low:
		return no
	default:
		return unclear
	}
}

// all is yes where all answers are, and no where one is.
func all(answers []answer) answer { return slices.Min(answers) }

// A recorder adds values of one machine to the table.
type recorder struct {
	machine *samples.Machine
	table   *values.Table
	errs    []error
}

func (r *recorder) interval(key, unit string, i stat.Interval) {
	if math.IsNaN(i.Center) {
		return
	}
	r.errs = append(r.errs, r.table.Add(values.Value{
		Key: key, Value: i.Center, Unit: unit, Low: i.Low, High: i.High, N: i.N, Machine: r.machine.Name}))
}

func (r *recorder) exact(key, unit string, v float64) {
	r.interval(key, unit, stat.Interval{Center: v, Low: v, High: v, N: r.machine.Rounds()})
}

// verdict adds an answer that the values give, under a name that templates
// take like that of a behaviour: 1 is seen, 0 is never seen, and what reaches
// from 0 to 1 is neither.
func (r *recorder) verdict(name string, a answer) {
	i := stat.Interval{Center: float64(a) / float64(yes), N: r.machine.Rounds(), Low: 0, High: 1}
	if a != unclear {
		i.Low, i.High = i.Center, i.Center
	}
	r.interval(values.Case("yes", "/verdict="+name), "yes", i)
}

// extra adds what is computed over several wires.
func extra(m *samples.Machine, t *values.Table) error {
	r := &recorder{machine: m, table: t}
	r.exact("tolerance", "", tolerance)
	r.exact("slight", "", slight)
	r.exact(values.Case("sec", "/verdict=tolerance"), "sec", near)
	r.fits()
	r.expectations()
	r.directions()
	r.unexplained()
	r.disturbed()
	r.chains()
	r.window()
	return errors.Join(r.errs...)
}

// fits adds the fitted lines, whether their slopes are whole and agree with the
// counts, and whether all of those of the main kinds do.
func (r *recorder) fits() {
	whole, narrow, judged := true, true, 0
	for _, k := range kinds {
		f := fitOf(r.machine, k.conn)
		if math.IsNaN(f.slope.Center) {
			continue
		}
		r.interval(values.Case(waits, anywhere(k.conn)), waits, f.slope)
		r.interval(values.Case(intercept, anywhere(k.conn)), intercept, f.intercept)
		r.exact(values.Case("wires", anywhere(k.conn)), "wires", float64(len(f.roundTrips)))
		count := r.machine.All(on(symmetric, k.conn), counted)
		if len(count) == 0 {
			continue
		}
		ok := f.whole() && f.number() == stat.Quantile(count, 0.5)
		r.verdict("whole-and-as-counted"+anywhere(k.conn), sure(ok))
		r.verdict("narrow"+anywhere(k.conn), sure(f.narrow()))
		if slices.Contains(mainKinds, k.conn) && len(f.roundTrips) == len(fitted) {
			judged++
			whole, narrow = whole && ok, narrow && f.narrow()
		}
	}
	if judged == len(mainKinds) {
		r.verdict("whole-and-as-counted", sure(whole))
		r.verdict("narrow", sure(narrow))
	}
}

// expected is by how many waits kinds should differ on the article's wire.
// Where the question is how often they wait, what they compute is taken off
// ([waits]); the others are those of the article, which compares times.
var expected = []struct {
	verdict, unit, conn, base string
	trips                     float64
}{
	{"one-wait-more-in-tls12", latency, full12, full13, 1},
	{"one-wait-more-with-hrr", tls, retry, control, 1},
	{"ticket-saves-none-in-tls13", waits, full13, ticket13, 0},
	{"ticket-saves-one-in-tls12", waits, full12, ticket12, 1},
	{"tickets-wait-alike", waits, ticket12, ticket13, 0},
	{"rsa-adds-no-wait", waits, rsa, classic, 0},
	{"clienthello-adds-no-wait", waits, full13, classic, 0},
	{"quic-saves-one", waits, full13, quic, 1},
	{"quic-waits-as-tcp", waits, quic, tcp, 0},
}

// expectations adds whether they do, with all of the interval.
func (r *recorder) expectations() {
	for _, e := range expected {
		a, b := r.machine.Rounded(on(article, e.conn), e.unit), r.machine.Rounded(on(article, e.base), e.unit)
		if a == nil || b == nil {
			continue
		}
		want, allowed := e.trips*delay(), near
		if e.unit == waits {
			want, allowed = e.trips, slight
		}
		r.verdict(e.verdict, between(stat.PairedDifference(a, b), want-allowed, want+allowed))
	}
}

// directions adds whether a delay costs the same in either direction, for all
// kinds.
func (r *recorder) directions() {
	var answers []answer
	for _, k := range kinds {
		a, b := r.machine.Rounded(on(article, k.conn), latency), r.machine.Rounded(on(symmetric, k.conn), latency)
		if a == nil || b == nil {
			return
		}
		answers = append(answers, between(stat.PairedDifference(a, b), -near, near))
	}
	r.verdict("direction-does-not-matter", all(answers))
}

// unexplained adds what of the main kinds' rest on the article's wire is not
// there without a delay, paired, and whether that is nothing: an interval that
// has 0 in it and is near it.
func (r *recorder) unexplained() {
	for _, conn := range mainKinds {
		left, without := r.machine.Rounded(on(article, conn), rest), r.machine.Rounded(on(zero, conn), latency)
		if left == nil || without == nil {
			continue
		}
		i := stat.PairedDifference(left, without)
		r.interval(values.Case(unexplained, on(article, conn)), unexplained, i)
		if conn != full13 {
			continue
		}
		nothing := between(i, -near, near)
		if i.Excludes(0) {
			nothing = no
		}
		r.verdict("nothing-unexplained", nothing)
	}
}

// disturbed counts the windows in which the wire was late by more than lateLimit
// in the mean, since other work kept its forwarder from running. No steal need
// show that.
func (r *recorder) disturbed() {
	windows, behind := 0, 0
	for _, name := range r.machine.Cases() {
		for _, late := range r.machine.Rounded(name, lateness) {
			windows++
			if late > lateLimit {
				behind++
			}
		}
	}
	if windows > 0 {
		r.exact("wire-windows", "windows", float64(windows))
		r.exact("late-windows", "windows", float64(behind))
		r.exact(values.Case("sec", "/limit=late"), "sec", lateLimit)
		r.verdict("wire-measured", yes)
	}
}

// extraWaits is by how many waits a case exceeds the count from records, which
// does not see that a flight is larger than the initial window.
func extraWaits(m *samples.Machine, name string) stat.Interval {
	rounds, count := m.Rounded(name, waits), m.All(name, counted)
	if rounds == nil || len(count) == 0 {
		return stat.Interval{Center: nan, Low: nan, High: nan}
	}
	i, whole := stat.Median(rounds), stat.Quantile(count, 0.5)
	i.Center, i.Low, i.High = i.Center-whole, i.Low-whole, i.High-whole
	return i
}

// half of a wait is what parts a flight that costs one more from one that
// doesn't.
const half = 0.5

// realChain is the size of the largest real chain in bytes, as the article has
// it (claim p1-records-real-chain-size).
const realChain = 4e3

// limits are the chains around that from which on there is one wait more.
type limits struct {
	fits, exceeds       string  // cases; "" is none
	fitting, exceeding  float64 // bytes of their Certificate messages; NaN is none
	unclear, disordered bool    // some interval does not tell, or a larger one fits
}

// limitsOf finds those of a kind; ok says whether any was measured.
func limitsOf(m *samples.Machine, conn string, chains []string) (l limits, ok bool) {
	l.fitting, l.exceeding = nan, nan
	for _, chain := range chains {
		name := withChain(conn, chain)
		more := extraWaits(m, name)
		if math.IsNaN(more.Center) {
			continue
		}
		ok = true
		size := stat.Quantile(m.All(name, certificate), 0.5)
		switch between(more, math.Inf(-1), half) {
		case yes:
			l.disordered = l.disordered || l.exceeds != ""
			l.fits, l.fitting = name, size
		case no:
			if l.exceeds == "" {
				l.exceeds, l.exceeding = name, size
			}
		default:
			l.unclear = true
		}
	}
	return l, ok
}

// chains adds the largest chain that costs no wait more and the smallest that
// does, as the sizes of their Certificate messages and of their flights; one
// alone where the other is not among those measured.
func (r *recorder) chains() {
	for _, k := range chained {
		l, ok := limitsOf(r.machine, k.conn, k.chains)
		if !ok {
			continue
		}
		found, real := sure(l.fits != "" && l.exceeds != "" && !l.disordered), unclear
		if l.unclear {
			found = unclear
		}
		switch {
		case l.exceeding <= realChain:
			real = no
		case l.fitting >= realChain && !l.disordered:
			real = yes
		}
		if k.conn == full13 {
			r.verdict("chain-limit-found", found)
			r.verdict("real-chain-fits", real)
		}
		if l.disordered || l.unclear {
			continue
		}
		for limit, name := range map[string]string{largest: l.fits, smallest: l.exceeds} {
			for _, unit := range []string{certificate, flight} {
				if sizes := r.machine.All(name, unit); len(sizes) > 0 {
					r.exact(values.Case(unit, withChain(k.conn, limit)), unit, stat.Quantile(sizes, 0.5))
				}
			}
		}
	}
}

// described are the numbers in the description of the link that speak of the
// initial window.
var described = regexp.MustCompile(`\bmss=(\d+)\b.*\binitial-window=(\d+)\b`)

// window adds the initial window of a connection over the wire, in segments and
// bytes, as the kernel told it (both ends are set up alike), and whether it is
// what decides about one wait more: none for all flights that fit it, one for
// all that don't.
func (r *recorder) window() {
	found := described.FindStringSubmatch(r.machine.File.Config["tool-link"])
	if found == nil {
		return
	}
	segment, err1 := strconv.ParseFloat(found[1], 64)
	segments, err2 := strconv.ParseFloat(found[2], 64)
	r.errs = append(r.errs, err1, err2)
	window := segment * segments
	r.exact("initial-window-segments", "segments", segments)
	r.exact(values.Case("window-B", "/link=initial-window"), "window-B", window)
	var answers []answer
	within := map[answer]bool{}
	for _, k := range chained {
		for _, chain := range k.chains {
			name := withChain(k.conn, chain)
			sizes, more := r.machine.All(name, flight), extraWaits(r.machine, name)
			if len(sizes) == 0 || math.IsNaN(more.Center) {
				continue
			}
			fits := between(stat.Interval{Low: slices.Min(sizes), High: slices.Max(sizes)}, 0, window)
			low, high := math.Inf(-1), half
			if fits == no {
				low, high = half, 1+half
			}
			within[fits] = true
			answers = append(answers, between(more, low, high))
		}
	}
	switch {
	case len(answers) == 0:
	case !within[yes] || !within[no] || within[unclear]:
		r.verdict("initial-window-decides", unclear)
	default:
		r.verdict("initial-window-decides", all(answers))
	}
}
