// Link analyzes the samples of the experiment link: how close the wire that
// other experiments are measured on keeps to its delay, and up to which rate of
// packets.
//
//	go run ./analysis/link
//
// It writes figures/link.values, figures/link-*.svg and figures/link-*.md.
package main

import (
	"cmp"
	"errors"
	"math"
	"slices"
	"strconv"
	"strings"

	"cryptocost/analysis/internal/samples"
	"cryptocost/analysis/internal/stat"
	"cryptocost/analysis/internal/study"
	"cryptocost/analysis/internal/values"
	"cryptocost/analysis/internal/wire"
)

const (
	latency = "p50-latency-sec/op" // of connecting over TCP, which takes a round trip

	// deviation is what connecting takes longer than the round trip that was
	// set, delayed the same less what connecting takes on the wire without delay.
	// The latter can be negative: without a delay each packet finds the forwarder
	// asleep, with one it waits for the packet.
	deviation = "error-sec/op"
	delayed   = "error-of-delay-sec/op"

	// How late packets were handed on.
	late50 = "p50-late-sec/op"
	late90 = "p90-late-sec/op"
	late99 = "p99-late-sec/op"
	late   = "wire-late-sec/packet" // the mean
	behind = "wire-behind-ratio"    // the share of those late by more than lateLimit
	lost   = "wire-lost-ratio"      // the share of those that the wire had no room for

	offered   = "offered-packets/s"
	delivered = "delivered-ratio"
)

const (
	zero     = "0+0ms" // the control
	article  = "0+50ms"
	baseline = "/wire=25+25ms"
)

// A wire carries a rate if it delivers all but one in a thousand of its packets,
// and no more than a tenth of them later than package link calls behind
// (lateLimit there).
const (
	deliveredLimit = 0.999
	lateLimit      = 300e-6 // seconds
)

// onWire names the case of a wire.
func onWire(name string) string { return "/wire=" + name }

// A set is a case of a wire with what was set.
type set struct {
	name      string // of the case
	wire      wire.Wire
	symmetric bool
}

// wires are those of a machine but for twins, measured or missing, by round
// trip, those with the same delay in both directions first.
func wires(m *samples.Machine) []set { return wiresOf(names(m)) }

// names are all cases of a machine, measured or missing.
func names(m *samples.Machine) []string {
	list := slices.Clone(m.Cases())
	for _, missing := range m.File.Missing {
		list = append(list, missing.Case)
	}
	return list
}

// wiresOf are those among the names of cases.
func wiresOf(names []string) []set {
	var list []set
	for _, name := range names {
		w, ok := wire.Parse(samples.Key(name, "wire"))
		if ok && name == onWire(samples.Key(name, "wire")) {
			list = append(list, set{name, w, w.Up == w.Down})
		}
	}
	slices.SortStableFunc(list, func(a, b set) int {
		switch {
		case a.symmetric == b.symmetric:
			return cmp.Compare(a.wire.RoundTrip(), b.wire.RoundTrip())
		case a.symmetric:
			return -1
		default:
			return +1
		}
	})
	return list
}

// A load is a case of a rate.
type load struct {
	name      string  // of the case
	perSecond float64 // offered, as the case says
}

// loads are those of a machine, by rate.
func loads(m *samples.Machine) []load {
	var list []load
	for _, name := range names(m) {
		rate, ok := strings.CutSuffix(samples.Key(name, "rate"), "pps")
		perSecond, err := strconv.ParseUint(rate, 10, 32)
		if ok && err == nil && perSecond > 0 {
			list = append(list, load{name, float64(perSecond)})
		}
	}
	slices.SortStableFunc(list, func(a, b load) int { return cmp.Compare(a.perSecond, b.perSecond) })
	return list
}

// derive adds how far connecting is from the round trip that was set.
func derive(m *samples.Machine) {
	control := m.Rounded(onWire(zero), latency)
	for _, w := range wires(m) {
		times := m.Rounded(w.name, latency)
		if times == nil {
			continue
		}
		longer, beyond := make([]float64, len(times)), make([]float64, len(times))
		for i, t := range times {
			longer[i] = t - w.wire.RoundTrip()
			if control != nil {
				beyond[i] = longer[i] - control[i]
			}
		}
		m.Derive(w.name, deviation, longer)
		if control != nil && w.wire.RoundTrip() > 0 {
			m.Derive(w.name, delayed, beyond)
		}
	}
}

// carries says whether the wire carries a load on a machine, by the ends of the
// intervals where there are any; ok is false where that was not measured.
func carries(m *samples.Machine, l load) (yes, ok bool) {
	share, tenth := m.Rounded(l.name, delivered), m.Rounded(l.name, late90)
	if share == nil || tenth == nil {
		return false, false
	}
	least, most := stat.Median(share), stat.Median(tenth)
	if math.IsNaN(least.Low) || math.IsNaN(most.High) {
		return least.Center >= deliveredLimit && most.Center <= lateLimit, true
	}
	return least.Low >= deliveredLimit && most.High <= lateLimit, true
}

// extra adds up to which rate the wire carries packets, as they were really
// offered, and the largest deviations.
func extra(m *samples.Machine, t *values.Table) error {
	exact := func(key, unit string, v float64) error {
		if math.IsNaN(v) {
			return nil
		}
		return t.Add(values.Value{Key: key, Value: v, Unit: unit, Low: v, High: v, N: m.Rounds(), Machine: m.Name})
	}
	highest, some, all := math.NaN(), math.NaN(), math.NaN()
	for _, l := range loads(m) {
		yes, ok := carries(m, l)
		if ok && math.IsNaN(some) {
			some, all = 0, 1
		}
		if !yes {
			all = math.Min(all, 0)
			break
		}
		some = 1
		if rate := m.Rounded(l.name, offered); rate != nil {
			highest = stat.Median(rate).Center
		}
	}
	farthest, share := math.NaN(), math.NaN()
	for _, w := range wires(m) {
		rounds := m.Rounded(w.name, deviation)
		if rounds == nil || w.wire.RoundTrip() == 0 {
			continue
		}
		off := math.Abs(stat.Median(rounds).Center)
		if !(off <= farthest) {
			farthest = off
		}
		if w.name == baseline {
			share = off / w.wire.RoundTrip()
		}
	}
	return errors.Join(
		exact(values.Case("yes", "/verdict=carries-a-rate"), "yes", some),
		exact(values.Case("yes", "/verdict=carries-all-rates"), "yes", all),
		exact(values.Case("packets/s", "/rate=highest-carried"), "packets/s", highest),
		exact(values.Case("sec", "/wire=farthest-off"), "sec", farthest),
		exact("share-off-at-baseline", "", share),
		exact("delivered-limit", "", deliveredLimit),
		exact(values.Case("sec", "/limit=late"), "sec", lateLimit))
}

// headlines are none: the wire is compared with what was set, not with another
// case.
func headlines(*study.Data) []study.Pair { return nil }

func main() {
	study.Main(analysis())
}

func analysis() study.Analysis {
	return study.Analysis{
		Name:     "link",
		Baseline: baseline,
		Units:    []string{latency, deviation, delayed, late50, late90, late99, late, behind, lost, offered, delivered},
		Pairs: []study.Pair{
			{Unit: latency, Case: onWire(article), Base: baseline}, {Unit: latency, Case: baseline, Base: onWire(zero)},
		},
		Headlines: headlines,
		Derive:    derive,
		Extra:     extra,
		Figures: map[string]func(*study.Data) (study.Drawing, error){
			"error": errorFigure, "rate": rateFigure,
		},
		Tables: map[string]func(*study.Data) (string, error){
			"error": errorTable, "rate": rateTable, "wide": (*study.Data).Wide,
		},
	}
}
