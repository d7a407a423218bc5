package main

import (
	"math"

	"cryptocost/analysis/internal/number"
	"cryptocost/analysis/internal/stat"
	"cryptocost/analysis/internal/study"
	"cryptocost/analysis/internal/values"
	"cryptocost/analysis/internal/wire"
)

// none stands in a table for what there is not.
const none = "—"

// timesTable has the times of all kinds on the article's wire.
func timesTable(d *study.Data) (string, error) {
	var rows [][]string
	for _, k := range kinds {
		name := on(article, k.conn)
		row := []string{k.name, d.Estimate(d.Main, connect, name)}
		if k.conn == quic { // connecting is part of its handshake
			row[1] = none
		}
		for _, unit := range []string{tls, latency} {
			if unit == tls && k.conn == tcp {
				row = append(row, none, none, none)
				continue
			}
			row = append(row, d.Estimate(d.Main, unit, name), d.PublishedText(unit, name), d.Verdict(unit, name))
		}
		rows = append(rows, row)
	}
	return study.Markdown([]string{"wire " + article, "connect", "TLS handshake", "published", "verdict", "first response", "published", "verdict"}, rows), nil
}

// waitsTable holds the fitted slopes against the counts from records.
func waitsTable(d *study.Data) (string, error) {
	var rows [][]string
	for _, k := range kinds {
		name := anywhere(k.conn)
		row := []string{k.name, none, none, none, none, none}
		if count := median(d, counted, on(symmetric, k.conn)); !math.IsNaN(count) {
			row[1] = number.Value(count, counted)
		}
		if v, ok := d.Values.Get(d.Main.Name, values.Case(waits, name)); ok {
			row[2] = study.WithInterval(v)
			at, _ := d.Values.Get(d.Main.Name, values.Case(intercept, name))
			row[3] = study.WithInterval(at)
			over, _ := d.Values.Get(d.Main.Name, values.Case("wires", name))
			row[4] = number.Value(over.Value, over.Unit)
			if over.Value == 2 { // a line through two points fits them in any case
				row[4] = "difference of two wires"
			}
		} else {
			row[2] = d.Estimate(d.Main, latency, on(symmetric, k.conn)) // which says why
		}
		is, ok := d.Values.Get(d.Main.Name, values.Case("yes", "/verdict=whole-and-as-counted"+name))
		narrow, _ := d.Values.Get(d.Main.Name, values.Case("yes", "/verdict=narrow"+name))
		switch {
		case ok && is.Value == 1 && narrow.Value == 1:
			row[5] = "yes"
		case ok && is.Value == 1:
			row[5] = "yes, its interval is wider"
		case ok:
			row[5] = "no"
		}
		rows = append(rows, row)
	}
	return study.Markdown([]string{"", "counted from records", "fitted to times", "where the line begins", "over",
		"a whole number within " + number.Percent(tolerance) + ", and as counted"}, rows), nil
}

// differencesTable has what one kind takes longer than another, by wire.
func differencesTable(d *study.Data) (string, error) {
	wires := append([]string{article}, fitted...)
	var rows [][]string
	for _, of := range differences {
		row := []string{of.name}
		for _, w := range wires {
			row = append(row, d.Difference(latency, on(w, of.conn), on(w, of.base)))
		}
		rows = append(rows, row)
	}
	return study.Markdown(append([]string{"first response"}, wires...), rows), nil
}

// wiresTable shows what the wire itself adds, and that a delay costs the same
// in either direction.
func wiresTable(d *study.Data) (string, error) {
	var rows [][]string
	for _, k := range kinds {
		name := func(w string) string { return on(w, k.conn) }
		rows = append(rows, []string{k.name,
			d.Estimate(d.Main, latency, name(wire.None)), d.Estimate(d.Main, latency, name(zero)), d.Difference(latency, name(zero), name(wire.None)),
			d.Estimate(d.Main, latency, name(article)), d.Estimate(d.Main, latency, name(symmetric)), d.Difference(latency, name(article), name(symmetric)),
		})
	}
	return study.Markdown([]string{"first response", "loopback", "wire " + zero, "the wire adds", "wire " + article, "wire " + symmetric, "difference"}, rows), nil
}

// restTable shows what the counted waits leave unexplained, there and here.
func restTable(d *study.Data) (string, error) {
	var rows [][]string
	for _, conn := range mainKinds {
		name := on(article, conn)
		row := []string{nameOf(conn), d.PublishedText(latency, name), none, none,
			d.Estimate(d.Main, latency, name), d.Estimate(d.Main, rest, name), d.Estimate(d.Main, latency, on(zero, conn)), none}
		if v, ok := d.Values.Get(d.Main.Name, values.Case(unexplained, name)); ok {
			row[7] = study.WithInterval(v)
		}
		if count := median(d, counted, name); !math.IsNaN(count) {
			row[2] = number.Mark(count*delay(), "sec")
			if published := d.Published(latency, name); !math.IsNaN(published) {
				row[3] = number.Value(published-count*delay(), "sec")
			}
		}
		rows = append(rows, row)
	}
	return study.Markdown([]string{"wire " + article, "published", "counted waits", "published rest", "here", "rest here", "without delay", "rest without that"}, rows), nil
}

// nameOf is how the reader knows a kind.
func nameOf(conn string) string {
	for _, k := range kinds {
		if k.conn == conn {
			return k.name
		}
	}
	return conn
}

// chainTable has the waits by the size of the certificate.
func chainTable(d *study.Data) (string, error) {
	window, known := d.Values.Get(d.Main.Name, values.Case("window-B", "/link=initial-window"))
	var rows [][]string
	for _, k := range chained {
		for _, chain := range k.chains {
			name := withChain(k.conn, chain)
			fits := none
			if v, ok := d.Values.Get(d.Main.Name, values.Case(flight, name)); ok && known {
				switch between(stat.Interval{Low: v.Low, High: v.High}, 0, window.Value) {
				case yes:
					fits = "yes"
				case no:
					fits = "no"
				}
			}
			rows = append(rows, []string{k.name, d.Range(certificate, name), d.Range(flight, name), fits, d.Range(counted, name), d.Estimate(d.Main, waits, name)})
		}
	}
	return study.Markdown([]string{"wire " + symmetric, "Certificate message", "server's flight", "within the initial window", "counted from records", "from times"}, rows), nil
}
