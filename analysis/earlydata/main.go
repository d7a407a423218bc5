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
	before = "before-sec/op"
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
	{"openssl, TLS 1.3 over TCP", openssl, map[string]float64{full: 2, ticket: 2, early: 1}},
	{"quic-go, QUIC", goQUIC, map[string]float64{full: 1, ticket: 1, early: 0}},
}

// derive adds to each case what its times are beyond what the wire takes, and
// what the program takes before its first packet.
func derive(m *samples.Machine) {
	for _, w := range wires {
		for _, c := range clients {
			for _, way := range ways {
				name := on(w, c.client, way.conn)
				least := taken(w, c.waits[way.conn])
				minus(m, name, rest, latency, func(int) float64 { return least })
				minus(m, name, programRest, program, func(int) float64 { return least })
				if first := m.Rounded(name, latency); first != nil {
					minus(m, name, before, program, func(i int) float64 { return first[i] })
				}
			}
		}
	}
}

// minus derives what a quantity has beyond others.
func minus(m *samples.Machine, name, unit, of string, other func(round int) float64) {
	var list []float64
	for i, v := range m.Rounded(name, of) {
		list = append(list, v-other(i))
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
	return errors.Join(errs...)
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
