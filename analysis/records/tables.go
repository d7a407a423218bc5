package main

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"

	"cryptocost/analysis/internal/number"
	"cryptocost/analysis/internal/study"
)

// recordTable has every record of the article's connection.
func recordTable(d *study.Data) (string, error) {
	var rows [][]string
	for _, r := range recordsOf(d.Main, full13) {
		version := d.Range(recordVersion, r.name)
		if v := d.Point(d.Main, recordVersion, r.name); v.Low == v.High {
			version = fmt.Sprintf("%04x", int(v.Center))
		}
		rows = append(rows, []string{
			strconv.Itoa(r.number) + ". " + r.sender() + ": " + r.title(), typeName(typeOf(d, r)), version,
			d.Range(recordBytes, r.name), d.PublishedText(recordBytes, r.name), d.Verdict(recordBytes, r.name),
			d.Estimate(d.Main, sinceConnect, r.name), d.PublishedText(sinceConnect, r.name), d.Verdict(sinceConnect, r.name),
		})
	}
	if len(rows) == 0 {
		return d.Range(sent, full13) + "\n", nil // which says why
	}
	return study.Markdown([]string{"record", "type", "version", "length", "published", "verdict", "since connect", "published", "verdict"}, rows), nil
}

// count writes a whole number that the column or sentence around it says the
// unit of.
func count(d *study.Data, unit, name string) string {
	p := d.Point(d.Main, unit, name)
	if !(p.Low == p.High) { // or there is none
		return d.Range(unit, name)
	}
	return number.Count(int(p.Center))
}

// totalTable has the sums of all kinds, with and without hybrids.
func totalTable(d *study.Data) (string, error) {
	var rows [][]string
	for _, o := range offers {
		for _, k := range kinds {
			name := caseOf(k.tls, k.kind, o.pq, selfSigned)
			row := []string{k.name + ", " + o.title, count(d, sentRecords, name) + " + " + count(d, receivedRecords, name),
				d.PublishedText(bothRecords, name), d.Verdict(bothRecords, name),
				count(d, flights, name), count(d, beforeRequest, name), count(d, waits, name)}
			for _, unit := range []string{sent, received} {
				row = append(row, d.Range(unit, name), d.PublishedText(unit, name), d.Verdict(unit, name))
			}
			rows = append(rows, row)
		}
	}
	return study.Markdown([]string{"", "records, client + server", "published", "verdict", "flights", "waits until the request", "until the response",
		"client sends", "published", "verdict", "server sends", "published", "verdict"}, rows), nil
}

// certificateTable has the sums of a full handshake by certificate, and the
// records that the certificate is in.
func certificateTable(d *study.Data) (string, error) {
	var rows [][]string
	for _, c := range certificates {
		for _, version := range []string{tls13, tls12} {
			name := caseOf(version, "full", "yes", c.cert)
			var lengths []string
			for _, r := range recordsOf(d.Main, name) {
				if r.has("certificate") {
					lengths = append(lengths, d.Range(recordBytes, r.name))
				}
			}
			rows = append(rows, []string{c.name + ", TLS " + version, cmp.Or(strings.Join(lengths, ", "), "—"), d.Range(sent, name), d.Range(received, name)})
		}
	}
	return study.Markdown([]string{"", "records with the certificate", "client sends", "server sends"}, rows), nil
}

// watchingTable has what watching costs a transfer of full records.
func watchingTable(d *study.Data) (string, error) {
	var rows [][]string
	for _, r := range []study.Row{{Name: "not watched", Case: unwatched}, {Name: "watched", Case: watched}} {
		rows = append(rows, []string{r.Name, d.Estimate(d.Main, cpuPerRecord, r.Case), d.Estimate(d.Main, cpuPerByte, r.Case), d.Estimate(d.Main, rate, r.Case)})
	}
	rows = append(rows, []string{"watched over not watched",
		d.Ratio(d.Main, study.Pair{Unit: cpuPerRecord, Case: watched, Base: unwatched}), d.Ratio(d.Main, study.Pair{Unit: cpuPerByte, Case: watched, Base: unwatched}),
		d.Ratio(d.Main, study.Pair{Unit: rate, Case: watched, Base: unwatched})})
	return study.Markdown([]string{"", "CPU time per record", "per byte", "rate"}, rows), nil
}

// replayTable has what watching adds to a record, alone.
func replayTable(d *study.Data) (string, error) {
	var rows [][]string
	for _, r := range replays {
		rows = append(rows, []string{r.title, d.Estimate(d.Main, cpuPerRecord, r.base), d.Estimate(d.Main, cpuPerRecord, r.name), d.Difference(cpuPerRecord, r.name, r.base)})
	}
	return study.Markdown([]string{"", "not watched", "watched", "watching adds"}, rows), nil
}

// checks are the behaviours, in the order of the section.
var checks = []study.Row{
	{Name: "In TLS 1.3, every record behind the ServerHello has type 23, but for ChangeCipherSpec", Case: "/check=tls13-records-after-serverhello-are-23-but-changecipherspec"},
	{Name: "The bytes of the certificate cross in plaintext in TLS 1.2, and do not in TLS 1.3", Case: "/check=tls12-certificate-in-plaintext"},
	{Name: "The server sends NewSessionTicket right behind its Finished, before the client has answered", Case: "/check=ticket-follows-server-finished"},
	{Name: "It sends none to a client without a session cache", Case: "/check=no-ticket-without-session-cache"},
	{Name: "The longest record holds 16 KiB of content, however much is written at once", Case: "/check=longest-record-holds-16KiB"},
	{Name: "The alert that closes a TLS 1.2 connection is a record of type 21", Case: "/check=closing-alert-is-an-alert-record"},
	{Name: "`GODEBUG=tlsmlkem=0` takes the hybrids out of the ClientHello", Case: "/check=tlsmlkem-off-drops-hybrid"},
	{Name: "`GODEBUG=tlskyber=0` changes the ClientHello (the article's switch)", Case: "/check=tlskyber-switch-has-effect"},
}

// checkTable lists the observed behaviours.
func checkTable(d *study.Data) (string, error) { return d.CheckTable(checks), nil }
