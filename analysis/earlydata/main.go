// Earlydata analyzes the samples of the experiment earlydata: when a server
// has the request of a new connection, with and without early data.
//
//	go run ./analysis/earlydata
//
// It writes figures/earlydata.values, figures/earlydata-*.svg and
// figures/earlydata-*.md.
package main

import (
	"errors"
	"math"

	"cryptocost/analysis/internal/samples"
	"cryptocost/analysis/internal/study"
	"cryptocost/analysis/internal/values"
	"cryptocost/analysis/internal/wire"
)

const (
	// latency is from the connection's first packet to when the server has the
	// request, program from the start of the client's program to the same.
	latency = "p50-latency-sec/op"
	program = "p50-program-sec/op"

	// before is what passes from the start of the program to the first packet.
	before = "p50-before-sec/op"
	// expected is what the wire takes for the waits of the protocol, rest and
	// programRest what latency and program take beyond.
	expected    = "expected-sec/op"
	rest        = "rest-sec/op"
	programRest = "program-rest-sec/op"

	lateness = "wire-late-sec/packet"
)

// The wires; both have the same round trip.
const (
	article   = "0+50ms" // netem on the way from server to client
	symmetric = "25+25ms"
)

var wires = []string{article, symmetric}

// The clients and the ways to send a request.
const (
	openssl = "openssl"
	goQUIC  = "quic-go"

	full, ticket, early = "full", "ticket", "early"
)

// on names the case of a client that sends in one of the ways.
func on(wire, client, conn string) string {
	return "/wire=" + wire + "/client=" + client + "/conn=" + conn
}

var baseline = on(article, openssl, ticket)

// ways are those to send a request, with the names by which the reader knows
// them.
var ways = []struct{ name, conn string }{
	{"full handshake", full}, {"resumed", ticket}, {"resumed, early data", early},
}

// clients are the programs, with how often each waits for the server before its
// request is on its way: TCP's SYN-ACK (RFC 9293, 3.5), and but for early data
// the flight of ServerHello (RFC 8446, 2; RFC 9001, 4.1), full or resumed.
var clients = []struct {
	name, client string
	waits        map[string]float64
}{
	{"openssl, TCP", openssl, map[string]float64{full: 2, ticket: 2, early: 1}},
	{"quic-go, QUIC", goQUIC, map[string]float64{full: 1, ticket: 1, early: 0}},
}

// derive adds to each case what its times are beyond what the wire takes.
func derive(m *samples.Machine) {
	for _, w := range wires {
		for _, c := range clients {
			for _, way := range ways {
				name := on(w, c.client, way.conn)
				least := taken(w, c.waits[way.conn])
				minus(m, name, rest, latency, least)
				minus(m, name, programRest, program, least)
			}
		}
	}
}

// minus derives what a quantity has beyond another.
func minus(m *samples.Machine, name, unit, of string, other float64) {
	var list []float64
	for _, v := range m.Rounded(name, of) {
		list = append(list, v-other)
	}
	if list != nil {
		m.Derive(name, unit, list)
	}
}

// taken is the time in seconds that the wire takes for so many waits and the
// way of the request to the server.
func taken(name string, waits float64) float64 {
	w, _ := wire.Parse(name)
	return waits*w.RoundTrip() + w.Up
}

// extra adds what the wire takes in each case.
func extra(m *samples.Machine, t *values.Table) error {
	var errs []error
	for _, w := range wires {
		for _, c := range clients {
			for _, way := range ways {
				v := taken(w, c.waits[way.conn])
				errs = append(errs, t.Add(values.Value{Key: values.Case(expected, on(w, c.client, way.conn)),
					Value: v, Unit: expected, Low: v, High: v, N: m.Rounds(), Machine: m.Name}))
			}
		}
	}
	errs = append(errs, t.Add(values.Value{Key: "wait-limit", Value: waitLimit, Low: waitLimit, High: waitLimit, N: m.Rounds(), Machine: m.Name}))
	return errors.Join(append(errs, verdicts(m, t)...)...)
}

// waitLimit is what a time may differ by, as a share of the round trip, from
// the waits that it is said to have: far less than one wait, and more than
// what programs and processors take.
const waitLimit = 0.1

// verdicts adds what the intervals say of waits, on all wires: yes if all of an
// interval is near the whole number of waits, no if none of it is.
func verdicts(m *samples.Machine, t *values.Table) []error {
	saved := func(unit, client, conn, base string) func(w string) string {
		return func(w string) string { return values.Minus(unit, on(w, client, conn), on(w, client, base)) }
	}
	var errs []error
	for _, v := range []struct {
		name  string
		waits float64
		key   func(wire string) string
	}{
		{"early-data-saves-a-wait", 1, saved(latency, openssl, ticket, early)},
		{"early-data-saves-a-wait-of-the-program", 1, saved(program, openssl, ticket, early)},
		{"resuming-saves-no-wait", 0, saved(latency, openssl, full, ticket)},
		{"early-data-over-quic-waits-for-nothing", 0, func(w string) string { return values.Case(rest, on(w, goQUIC, early)) }},
	} {
		low, high, known := 1.0, 0.0, true
		for _, name := range wires {
			w, _ := wire.Parse(name)
			value, ok := t.Get(m.Name, v.key(name))
			if !ok {
				known = false
				break
			}
			if math.IsNaN(value.Low) { // too few rounds for an interval
				value.Low, value.High = math.Inf(-1), math.Inf(1)
			}
			limit := waitLimit * w.RoundTrip()
			from, to := value.Low-v.waits*w.RoundTrip(), value.High-v.waits*w.RoundTrip()
			if from < -limit || to > limit {
				low = 0
			}
			if from <= limit && to >= -limit {
				high = 1
			}
		}
		if known {
			errs = append(errs, t.Add(values.Value{Key: values.Case("yes", "/verdict="+v.name), Value: low, Unit: "yes", Low: low, High: high, N: m.Rounds(), Machine: m.Name}))
		}
	}
	return errs
}

// gains are the pairs of which the first is what the second saves.
var gains = []struct{ name, conn, base string }{
	{"early data instead of resuming", ticket, early},
	{"early data instead of a full handshake", full, early},
	{"resuming instead of a full handshake", full, ticket},
}

// pairs are the comparisons beside those with the baseline.
func pairs() []study.Pair {
	var list []study.Pair
	for _, unit := range []string{latency, program} {
		for _, c := range clients {
			for _, w := range wires {
				for _, g := range gains {
					list = append(list, study.Pair{Unit: unit, Case: on(w, c.client, g.conn), Base: on(w, c.client, g.base)})
				}
			}
			for _, way := range ways {
				list = append(list, study.Pair{Unit: unit, Case: on(symmetric, c.client, way.conn), Base: on(article, c.client, way.conn)})
			}
		}
		for _, w := range wires {
			for _, way := range ways {
				list = append(list, study.Pair{Unit: unit, Case: on(w, openssl, way.conn), Base: on(w, goQUIC, way.conn)})
			}
		}
	}
	return list
}

// headlines are the ratios to the baseline that the section speaks of.
func headlines(*study.Data) []study.Pair {
	return []study.Pair{
		{Unit: latency, Case: on(article, openssl, early), Base: baseline},
		{Unit: latency, Case: on(article, openssl, full), Base: baseline},
	}
}

func main() {
	study.Main(analysis())
}

func analysis() study.Analysis {
	return study.Analysis{
		Name:      "earlydata",
		Baseline:  baseline,
		Units:     []string{latency, program, before, rest, programRest, lateness},
		Pairs:     pairs(),
		Headlines: headlines,
		Derive:    derive,
		Extra:     extra,
		Figures: map[string]func(*study.Data) (study.Drawing, error){
			"request": requestFigure, "bases": basesFigure,
		},
		Tables: map[string]func(*study.Data) (string, error){
			"request": requestTable, "gains": gainsTable, "bases": basesTable, "checks": checkTable, "wide": (*study.Data).Wide,
		},
	}
}
