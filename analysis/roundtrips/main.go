// Roundtrips analyzes the samples of the experiment roundtrips: how often a
// new connection waits for the server, and what each wait costs on a wire with
// a delay.
//
//	go run ./analysis/roundtrips
//
// It writes figures/roundtrips.values, figures/roundtrips-*.svg and
// figures/roundtrips-*.md.
package main

import (
	"strings"

	"cryptocost/analysis/internal/samples"
	"cryptocost/analysis/internal/study"
	"cryptocost/analysis/internal/wire"
)

const (
	latency   = "p50-latency-sec/op"   // dial start to first response byte
	connect   = "p50-connect-sec/op"   // dial start to dial returned
	tls       = "p50-tls-sec/op"       // dial returned to handshake done
	handshake = "p50-handshake-sec/op" // dial start to handshake done

	// counted is how often the client waited, from the order of records.
	counted = "waits/op"
	// waits is the same from times: of a case on a wire what the delay adds, in
	// round trips; of a case without /wire= the slope of the line through its
	// times.
	waits = "waits"
	// rest is the time beside the counted waits, and unexplained what of it is
	// not there without a delay.
	rest        = "rest-sec/op"
	unexplained = "unexplained-sec/op"
	// intercept is where the line through the times of a case begins.
	intercept = "intercept-sec/op"

	segments    = "clienthello-segments/op"
	certificate = "certificate-B/op"
	flight      = "server-flight-B/op" // the one with the Certificate message
	lateness    = "wire-late-sec/packet"
)

// The wires that all kinds were measured on, and those of the fitted lines.
const (
	zero      = "0+0ms"
	article   = "0+50ms" // netem on the way from server to client
	symmetric = "25+25ms"
)

// fitted have the same delay in both directions. The article's wire is left
// out: whether it costs the same is another question.
var fitted = []string{zero, "5+5ms", symmetric, "50+50ms", "100+100ms"}

// on names the case of a kind of connection on a wire.
func on(wire, conn string) string { return "/wire=" + wire + "/conn=" + conn }

// anywhere names what was computed of a kind over wires.
func anywhere(conn string) string { return "/conn=" + conn }

// elsewhere is the same case on another wire.
func elsewhere(name, other string) string {
	return strings.Replace(name, "/wire="+samples.Key(name, "wire"), "/wire="+other, 1)
}

var baseline = on(article, "tls1.3-full")

// The kinds of connections.
const (
	full13, ticket13 = "tls1.3-full", "tls1.3-ticket"
	full12, ticket12 = "tls1.2-full", "tls1.2-ticket"
	retry, control   = "tls1.3-hrr", "tls1.3-hrr-control"
	classic, rsa     = "tls1.3-x25519", "tls1.3-rsa"
	tcp, quic        = "tcp", "quic"
)

// main kinds were measured on all wires.
var mainKinds = []string{full13, ticket13, full12, ticket12}

// A kind of connection with the name by which the reader knows it.
type kind struct{ name, conn string }

// kinds are in the order of tables and figures.
var kinds = []kind{
	{"TCP without TLS", tcp},
	{"TLS 1.3, full", full13},
	{"TLS 1.3, ticket", ticket13},
	{"TLS 1.2, full", full12},
	{"TLS 1.2, ticket", ticket12},
	{"TLS 1.3, X25519 only", classic},
	{"TLS 1.3, X25519, RSA-2048", rsa},
	{"TLS 1.3, HelloRetryRequest", retry},
	{"… its control", control},
	{"QUIC", quic},
}

// chained are the kinds that were measured with several sizes of the
// Certificate message, from small to large.
var chained = []struct {
	kind
	chains []string
}{
	{kind{"TLS 1.3", full13}, []string{"0.5KB", "4KB", "12KB", "13KB", "13.1KB", "20KB", "32KB"}},
	{kind{"TLS 1.2", full12}, []string{"14.2KB", "14.3KB"}},
}

// The limits of what fits, in place of a chain's name.
const (
	largest  = "largest-that-fits"
	smallest = "smallest-that-does-not"
)

// withChain names the case of a chain, on the wire that they were measured on.
func withChain(conn, chain string) string { return on(symmetric, conn) + "/chain=" + chain }

// differences are the comparisons of two kinds on the same wire.
var differences = []struct{ name, conn, base string }{
	{"TLS 1.3 above TCP", full13, tcp},
	{"TLS 1.2 above TLS 1.3", full12, full13},
	{"TLS 1.3: ticket above full", ticket13, full13},
	{"TLS 1.2: ticket above full", ticket12, full12},
	{"ticket: TLS 1.2 above TLS 1.3", ticket12, ticket13},
	{"HelloRetryRequest above its control", retry, control},
	{"default ClientHello above X25519 only", full13, classic},
	{"RSA-2048 above ECDSA P-256", rsa, classic},
	{"TLS 1.3 over TCP above QUIC", full13, quic},
	{"QUIC above TCP without TLS", quic, tcp},
}

// pairs are the comparisons beside those with the baseline.
func pairs() []study.Pair {
	var list []study.Pair
	for _, unit := range []string{latency, tls, handshake, waits} {
		for _, w := range append([]string{wire.None, article}, fitted...) {
			for _, d := range differences {
				list = append(list, study.Pair{Unit: unit, Case: on(w, d.conn), Base: on(w, d.base)})
			}
		}
		for _, k := range kinds {
			list = append(list, study.Pair{Unit: unit, Case: on(article, k.conn), Base: on(symmetric, k.conn)})
		}
	}
	for _, unit := range []string{latency, connect} {
		for _, k := range kinds {
			list = append(list, study.Pair{Unit: unit, Case: on(zero, k.conn), Base: on(wire.None, k.conn)})
		}
	}
	return list
}

// headlines are the ratios to the baseline that the section speaks of.
func headlines(*study.Data) []study.Pair {
	var list []study.Pair
	for _, k := range kinds {
		if k.conn != full13 {
			list = append(list, study.Pair{Unit: latency, Case: on(article, k.conn), Base: baseline})
		}
	}
	return list
}

func main() {
	study.Main(analysis())
}

func analysis() study.Analysis {
	return study.Analysis{
		Name:      "roundtrips",
		Baseline:  baseline,
		Units:     []string{latency, connect, tls, handshake, waits, rest, lateness},
		Observed:  []string{counted, "round-trips/op", segments, certificate, flight},
		Pairs:     pairs(),
		Headlines: headlines,
		Derive:    derive,
		Extra:     extra,
		Figures: map[string]func(*study.Data) (study.Drawing, error){
			"waits": waitsFigure, "kinds": kindsFigure, "chain": chainFigure,
		},
		Tables: map[string]func(*study.Data) (string, error){
			"times": timesTable, "waits": waitsTable, "differences": differencesTable, "wires": wiresTable,
			"rest": restTable, "chain": chainTable, "wide": (*study.Data).Wide,
		},
	}
}
