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
	"cryptocost/analysis/internal/wire"
)

// tolerance is how far a slope may be from a whole number of waits, as a share
// of it.
const tolerance = 0.02

// near is how far a difference of times may be from the round trip that it
// should be, in seconds; lateLimit is what package link calls a packet behind.
const (
	near      = 1e-3
	lateLimit = 300e-6
)

// derive adds to each case on a wire with a delay how many round trips the
// delay adds to its time ([waits]), and how much of its time the counted waits
// don't explain ([rest]).
func derive(m *samples.Machine) {
	for _, name := range m.Cases() {
		w, ok := wire.Parse(samples.Key(name, "wire"))
		times := m.Rounded(name, latency)
		if !ok || w.RoundTrip() == 0 || times == nil {
			continue
		}
		if without := m.Rounded(elsewhere(name, zero), latency); without != nil {
			added := make([]float64, len(times))
			for i := range times {
				added[i] = (times[i] - without[i]) / w.RoundTrip()
			}
			m.Derive(name, waits, added)
		}
		if count := m.All(name, counted); len(count) > 0 {
			left := make([]float64, len(times))
			for i := range times {
				left[i] = times[i] - stat.Quantile(count, 0.5)*w.RoundTrip()
			}
			m.Derive(name, rest, left)
		}
	}
}

// A fit is the line through the times of a kind over the symmetric wires.
type fit struct {
	roundTrips       []float64
	slope, intercept stat.Interval
}

// fitOf fits the times of a kind on those of the fitted wires that it was
// measured on; without a line, if these are fewer than two.
func fitOf(m *samples.Machine, conn string) fit {
	var f fit
	var times [][]float64
	for _, name := range fitted {
		w, ok := wire.Parse(name)
		if rounds := m.Rounded(on(name, conn), latency); ok && rounds != nil {
			f.roundTrips = append(f.roundTrips, w.RoundTrip())
			times = append(times, rounds)
		}
	}
	f.slope, f.intercept = stat.Line(f.roundTrips, times)
	return f
}

// number is the whole number of waits next to the slope.
func (f fit) number() float64 { return math.Round(f.slope.Center) }

// whole says whether the slope is a whole number of waits within the tolerance.
func (f fit) whole() bool {
	return f.number() > 0 && math.Abs(f.slope.Center-f.number()) <= tolerance*f.number()
}

// narrow says whether all of the slope's interval is within the tolerance. In 6
// rounds it reaches from the least to the greatest, so one that was disturbed is
// enough to make it wider.
func (f fit) narrow() bool {
	return f.slope.Low >= f.number()*(1-tolerance) && f.slope.High <= f.number()*(1+tolerance)
}

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
// take like that of a behaviour.
func (r *recorder) verdict(name string, yes bool) {
	v := 0.0
	if yes {
		v = 1
	}
	r.exact(values.Case("yes", "/verdict="+name), "yes", v)
}

// extra adds what is computed over several wires.
func extra(m *samples.Machine, t *values.Table) error {
	r := &recorder{machine: m, table: t}
	r.exact("tolerance", "", tolerance)
	r.exact(values.Case("sec", "/verdict=tolerance"), "sec", near)
	r.fits()
	r.expectations()
	r.disturbed()
	r.chains()
	r.window()
	return errors.Join(r.errs...)
}

// fits adds the fitted lines, whether their slopes are whole and agree with the
// counts, and whether all of those of the main kinds do.
func (r *recorder) fits() {
	all, narrow, judged := true, true, 0
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
		r.verdict("whole-and-as-counted"+anywhere(k.conn), ok)
		r.verdict("narrow"+anywhere(k.conn), f.narrow())
		if slices.Contains(mainKinds, k.conn) && len(f.roundTrips) == len(fitted) {
			judged++
			all, narrow = all && ok, narrow && f.narrow()
		}
	}
	if judged == len(mainKinds) {
		r.verdict("whole-and-as-counted", all)
		r.verdict("narrow", narrow)
	}
}

// expectations adds what should differ by one round trip of the article's wire
// or by nothing, and whether it does.
func (r *recorder) expectations() {
	for _, e := range []struct {
		verdict, unit, name, base string
		trips                     float64
	}{
		{"one-wait-more-in-tls12", latency, on(article, full12), on(article, full13), 1},
		{"one-wait-more-with-hrr", tls, on(article, retry), on(article, control), 1},
		{"direction-does-not-matter", latency, on(article, full13), on(symmetric, full13), 0},
	} {
		if a, b := r.machine.Rounded(e.name, e.unit), r.machine.Rounded(e.base, e.unit); a != nil && b != nil {
			r.verdict(e.verdict, math.Abs(stat.PairedDifference(a, b).Center-e.trips*delay()) <= near)
		}
	}
	left, without := r.machine.Rounded(baseline, rest), r.machine.Rounded(on(zero, full13), latency)
	if left != nil && without != nil {
		r.verdict("nothing-unexplained", math.Abs(stat.PairedDifference(left, without).Center) <= near)
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
	}
}

// extraWaits is by how many waits a case exceeds the count from records, which
// does not see that a flight is larger than the initial window.
func extraWaits(m *samples.Machine, name string) float64 {
	rounds, count := m.Rounded(name, waits), m.All(name, counted)
	if rounds == nil || len(count) == 0 {
		return math.NaN()
	}
	return stat.Median(rounds).Center - stat.Quantile(count, 0.5)
}

// chains adds the largest chain that costs no wait more and the smallest that
// does, as the sizes of their Certificate messages.
func (r *recorder) chains() {
	for _, w := range []string{article, symmetric} {
		for _, k := range chained {
			fits, exceeds := math.NaN(), math.NaN()
			for _, chain := range chains {
				name := withChain(w, k.conn, chain)
				size := stat.Quantile(r.machine.All(name, certificate), 0.5)
				switch more := extraWaits(r.machine, name); {
				case more < 0.5:
					fits = size
				case more >= 0.5 && math.IsNaN(exceeds):
					exceeds = size
				}
			}
			found := fits < exceeds // else some are missing, or not in order
			if w == symmetric && k.conn == full13 && !(math.IsNaN(fits) && math.IsNaN(exceeds)) {
				r.verdict("chain-limit-found", found)
			}
			if !found {
				continue
			}
			for name, size := range map[string]float64{"largest-that-fits": fits, "smallest-that-does-not": exceeds} {
				r.exact(values.Case(certificate, withChain(w, k.conn, name)), certificate, size)
			}
		}
	}
}

// described are the numbers in the description of the link that speak of the
// initial window.
var described = regexp.MustCompile(`\bmss=(\d+)\b.*\binitial-window=(\d+)\b`)

// window adds the initial window of a connection over the wire, in segments and
// bytes, as the kernel told it (both ends are set up alike).
func (r *recorder) window() {
	found := described.FindStringSubmatch(r.machine.File.Config["tool-link"])
	if found == nil {
		return
	}
	segment, err1 := strconv.ParseFloat(found[1], 64)
	window, err2 := strconv.ParseFloat(found[2], 64)
	r.errs = append(r.errs, err1, err2)
	r.exact("initial-window-segments", "segments", window)
	r.exact(values.Case("window-B", "/link=initial-window"), "window-B", segment*window)
}
