// Records computes, from data/*/records.txt, what crosses a TLS connection
// record by record, and draws the figures and tables of the paper's section
// records.
//
//	go run ./analysis/records [-machine NAME]
//
// It writes figures/records.values, figures/records-*.svg and
// figures/records-*.md.
package main

import "cryptocost/analysis/internal/study"

const (
	latency         = "p50-latency-sec/op"
	sinceConnect    = "p50-since-connect-sec/op"
	sent            = "sent-B/op"
	received        = "received-B/op"
	sentRecords     = "sent-records/op"
	receivedRecords = "received-records/op"
	bothRecords     = "records/op"
	flights         = "flights/op"
	beforeRequest   = "round-trips/op" // waits for flights of the server up to the request
	waits           = "waits/op"       // those up to the response, and for TCP's answer
	recordBytes     = "record-B/op"
	recordType      = "record-type/op"
	recordVersion   = "record-version/op"
	helloBytes      = "clienthello-B/op"

	cpuPerByte   = "cpu-sec/B"
	cpuPerRecord = "cpu-sec/record"
	rate         = "B/s"

	unwatched = "/cost=watching/watch=no"
	watched   = "/cost=watching/watch=yes"

	replayed = "/cost=replay"

	selfSigned = "ecdsa-p256-selfsigned" // the article's certificate
)

// A kind of connection with the name by which the reader knows it.
type kind struct{ name, tls, kind string }

// kinds are in the order of figures and tables.
var kinds = []kind{
	{"TLS 1.3, full", tls13, "full"},
	{"TLS 1.3, ticket", tls13, "ticket"},
	{"TLS 1.3, HelloRetryRequest", tls13, "hrr"},
	{"TLS 1.2, full", tls12, "full"},
	{"TLS 1.2, ticket", tls12, "ticket"},
}

const tls13, tls12 = "1.3", "1.2"

// offers are what the client sends key shares for.
var offers = []struct{ title, pq string }{{"hybrids offered", "yes"}, {"no hybrids", "no"}}

// certificates are those of the server.
var certificates = []struct{ name, short, cert string }{
	{"ECDSA P-256, self-signed", "ECDSA", selfSigned},
	{"RSA-2048, leaf alone", "leaf", "rsa-2048-leaf"},
	{"RSA-2048, leaf and intermediate", "chain", "rsa-2048-chain"},
}

// caseOf names the case of a connection.
func caseOf(tls, kind, pq, cert string) string {
	return "/tls=" + tls + "/kind=" + kind + "/pq=" + pq + "/cert=" + cert
}

// Cases of the article's certificate.
var (
	full13 = caseOf(tls13, "full", "yes", selfSigned)
	full12 = caseOf(tls12, "full", "yes", selfSigned)
)

// replays are what watching does to a record, over the same without a watcher.
var replays = []struct{ title, name, base string }{
	{"a record of a handshake, cut and kept", replayed + "/of=handshake/watch=yes", replayed + "/of=handshake/watch=no"},
	{"the same, decrypted and named as well", replayed + "/of=handshake/watch=named", replayed + "/of=handshake/watch=no"},
	{fullRecord, replayed + "/of=data/watch=yes", replayed + "/of=data/watch=no"},
}

const fullRecord = "a full record of application data, cut and counted"

// pairs are the comparisons beside those with the baseline: of a ticket and a
// retry with a full handshake, of hybrids with none, and of the certificates.
func pairs() []study.Pair {
	var list []study.Pair
	for _, unit := range []string{sent, received, beforeRequest, waits, latency} {
		add := func(name, base string) { list = append(list, study.Pair{Unit: unit, Case: name, Base: base}) }
		for _, k := range kinds {
			for _, o := range offers {
				full, this := caseOf(k.tls, "full", o.pq, selfSigned), caseOf(k.tls, k.kind, o.pq, selfSigned)
				add(full, this)
				add(this, full)
			}
			add(caseOf(k.tls, k.kind, "yes", selfSigned), caseOf(k.tls, k.kind, "no", selfSigned))
		}
		for _, c := range certificates {
			add(caseOf(tls13, "full", "yes", c.cert), full13)
		}
		add(full12, full13)
	}
	for _, unit := range []string{cpuPerByte, cpuPerRecord, rate} {
		list = append(list, study.Pair{Unit: unit, Case: watched, Base: unwatched})
	}
	for _, r := range replays {
		list = append(list, study.Pair{Unit: cpuPerRecord, Case: r.name, Base: r.base})
	}
	return list
}

// headlines are the ratios of times that the section speaks of.
func headlines(*study.Data) []study.Pair {
	var list []study.Pair
	for _, k := range kinds {
		if name := caseOf(k.tls, k.kind, "yes", selfSigned); name != full13 {
			list = append(list, study.Pair{Unit: latency, Case: name, Base: full13})
		}
	}
	return append(list,
		study.Pair{Unit: latency, Case: full13, Base: caseOf(tls13, "full", "no", selfSigned)},
		study.Pair{Unit: cpuPerRecord, Case: watched, Base: unwatched})
}

func analysis() study.Analysis {
	return study.Analysis{
		Name:      "records",
		Baseline:  full13,
		Units:     []string{latency, sinceConnect, cpuPerByte, cpuPerRecord, rate},
		Observed:  []string{sent, received, sentRecords, receivedRecords, bothRecords, flights, beforeRequest, waits, recordBytes, recordType, recordVersion, helloBytes},
		Pairs:     pairs(),
		Headlines: headlines,
		Extra:     observations,
		Figures: map[string]func(*study.Data) (study.Drawing, error){
			"ladder": ladder, "bytes": byteCounts,
		},
		Tables: map[string]func(*study.Data) (string, error){
			"records": recordTable, "totals": totalTable, "certificates": certificateTable,
			"watching": watchingTable, "replay": replayTable, "checks": checkTable, "wide": (*study.Data).Wide,
		},
	}
}

func main() { study.Main(analysis()) }
