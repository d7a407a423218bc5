package main

import (
	"fmt"
	"math"

	"cryptocost/analysis/internal/chart"
	"cryptocost/analysis/internal/number"
	"cryptocost/analysis/internal/samples"
	"cryptocost/analysis/internal/stat"
	"cryptocost/analysis/internal/study"
)

var nan = math.NaN()

// rowsOf draws rows with the CPU of server and client, here and elsewhere,
// and the published values.
func rowsOf(d *study.Data, rows []study.Row) []chart.Row {
	var list []chart.Row
	for _, r := range rows {
		row := chart.Row{Name: r.Name, Missing: d.Missing(r.Case)}
		if row.Missing == "" {
			for _, m := range append([]*samples.Machine{d.Main}, d.Others()...) {
				for _, unit := range []string{serverCPU, clientCPU} {
					row.Points = append(row.Points, d.Point(m, unit, r.Case))
					published := nan
					if m == d.Main {
						published = d.Published(unit, r.Case)
					}
					row.Published = append(row.Published, published)
				}
			}
		}
		list = append(list, row)
	}
	return list
}

// bothEnds are the series of rowsOf.
func bothEnds(d *study.Data) []chart.Series {
	series := []chart.Series{{Name: "server", Color: chart.Blue}, {Name: "client", Color: chart.Vermillion}}
	for _, m := range d.Others() {
		series = append(series,
			chart.Series{Name: "server, " + m.Name, Color: chart.Blue, Light: true},
			chart.Series{Name: "client, " + m.Name, Color: chart.Vermillion, Light: true})
	}
	return series
}

// kex draws the cost by key exchange.
func kex(d *study.Data) (study.Drawing, error) {
	p521 := "/kex=p521/cert=ecdsa-p256/tls=1.3"
	return chart.Rows{
		Head: chart.Head{
			Experiment: "keyexchange",
			Title: fmt.Sprintf("The hybrid that Go prefers costs a server %s, P-521 %s what X25519 costs",
				d.Times(serverCPU, hybrid, baseline), d.Times(serverCPU, p521, baseline)),
			Subtitle: d.Subtitle("TLS 1.3, ECDSA P-256; " + study.MedianWhiskers),
		},
		Quantity: "CPU time per handshake", Unit: serverCPU,
		Series: bothEnds(d),
		Groups: []chart.Group{{Name: "classical", Rows: rowsOf(d, kexRows[:4])}, {Name: "with ML-KEM", Rows: rowsOf(d, kexRows[4:])}},
	}, nil
}

// cert draws the cost by certificate.
func cert(d *study.Data) (study.Drawing, error) {
	rsa := "/kex=x25519/cert=rsa-2048/tls=1.3"
	return chart.Rows{
		Head: chart.Head{
			Experiment: "keyexchange",
			Title: fmt.Sprintf("An RSA-2048 certificate costs the server %s, the client %s what ECDSA P-256 costs",
				d.Times(serverCPU, rsa, baseline), d.Times(clientCPU, rsa, baseline)),
			Subtitle: d.Subtitle("TLS 1.3, X25519; " + study.MedianWhiskers),
		},
		Quantity: "CPU time per handshake", Unit: serverCPU, Log: true,
		Series: bothEnds(d),
		Groups: []chart.Group{{Rows: rowsOf(d, certRows)}},
	}, nil
}

// retry draws what a HelloRetryRequest costs without delay on the wire.
func retry(d *study.Data) (study.Drawing, error) {
	var groups []chart.Group
	rows := retryRows()
	for i := 0; i < len(rows); i += 2 {
		groups = append(groups, chart.Group{Rows: rowsOf(d, rows[i:i+2])})
	}
	return chart.Rows{
		Head: chart.Head{
			Experiment: "keyexchange",
			Title: fmt.Sprintf("A HelloRetryRequest costs the server %s, the client %s of CPU, before any delay of the network",
				d.Adds(serverCPU, retries[0].retry, retries[0].control), d.Adds(clientCPU, retries[0].retry, retries[0].control)),
			Subtitle: d.Subtitle("each retried handshake above its control; " + study.MedianWhiskers),
		},
		Quantity: "CPU time per handshake", Unit: serverCPU,
		Series: bothEnds(d), Groups: groups,
	}, nil
}

// byteCounts draws the bytes of the handshake in both directions.
func byteCounts(d *study.Data) (study.Drawing, error) {
	bars := func(rows []study.Row) []chart.Bar {
		var list []chart.Bar
		for _, r := range rows {
			bar := chart.Bar{Name: r.Name, Missing: d.Missing(r.Case)}
			if bar.Missing == "" {
				for _, unit := range []string{sent, received, after} {
					bar.Values = append(bar.Values, d.Point(d.Main, unit, r.Case).Center)
				}
				if published := d.Published(sent, r.Case) + d.Published(received, r.Case); !math.IsNaN(published) {
					bar.Published = published
				}
			}
			list = append(list, bar)
		}
		return list
	}
	return chart.Stack{
		Head: chart.Head{
			Experiment: "keyexchange",
			Title:      fmt.Sprintf("Go's default ClientHello, with a hybrid key share, makes a client send %s more", d.Adds(sent, hybrid, baseline)),
			Subtitle:   d.Subtitle("medians of all handshakes, record headers included; hollow diamonds: published, without what follows the handshake"),
		},
		Quantity: "bytes per connection", Unit: sent,
		Parts: []chart.Series{{Name: "client sends", Color: chart.Vermillion}, {Name: "server sends", Color: chart.Blue}, {Name: "after the handshake", Color: chart.Gray}},
		Groups: []chart.BarGroup{
			{Name: "key exchange (ECDSA P-256)", Bars: bars(kexRows)},
			{Name: "certificate (X25519)", Bars: bars(certRows[1:])},
			{Name: "version and retries", Bars: bars([]study.Row{versionRows[1], versionRows[4], {Name: retries[0].name, Case: retries[0].retry}, ticketRow})},
		},
	}, nil
}

// latencies draws the distribution of single handshakes.
func latencies(d *study.Data) (study.Drawing, error) {
	var curves []chart.Curve
	for _, c := range []struct {
		row   study.Row
		color chart.Color
	}{
		{kexRows[0], chart.Green}, {study.Row{Name: "X25519MLKEM768", Case: hybrid}, chart.Blue},
		{kexRows[3], chart.Purple}, {study.Row{Name: "RSA-2048 certificate", Case: certRows[3].Case}, chart.Vermillion},
	} {
		curve := chart.Curve{Series: chart.Series{Name: c.row.Name, Color: c.color}, Missing: d.Missing(c.row.Case)}
		if curve.Missing == "" {
			curve.Samples = d.Main.All(c.row.Case, "latency-sec/op")
		}
		curves = append(curves, curve)
	}
	half := func(name string) string {
		return number.Value(stat.Quantile(d.Main.All(name, "latency-sec/op"), 0.5), latency)
	}
	return chart.Distribution{
		Head: chart.Head{
			Experiment: "keyexchange",
			Title: fmt.Sprintf("Half of the handshakes take less than %s with X25519, %s with X25519MLKEM768, %s with P-521",
				half(baseline), half(hybrid), half(kexRows[3].Case)),
			Subtitle: d.Subtitle("a uniform sample of the client's handshakes over loopback, connecting not included"),
		},
		Quantity: "latency of the handshake", Unit: latency, Log: true, Of: "handshakes", Curves: curves,
	}, nil
}

// slicing draws how far the A/A ratio of a round is from 1, in slices and in
// whole windows.
func slicing(d *study.Data) (study.Drawing, error) {
	curve := func(name string, color chart.Color, of string) chart.Curve {
		c := chart.Curve{Series: chart.Series{Name: name, Color: color}, Missing: d.Missing(of)}
		first, second := d.Main.Rounded(of, serverCPU), d.Main.Rounded(of+samples.TwinSuffix, serverCPU)
		for i := range min(len(first), len(second)) {
			c.Samples = append(c.Samples, 100*math.Abs(second[i]/first[i]-1))
		}
		return c
	}
	title := "The same case twice: how far the ratio of a round is from 1"
	if v, ok := d.Values.Get(d.Main.Name, "spread in slices over spread in whole windows"); ok {
		title = fmt.Sprintf("In slices, the ratio of two identical cases spreads %s what it does in whole windows", number.Ratio(v.Value))
	}
	return chart.Distribution{
		Head: chart.Head{
			Experiment: "keyexchange", Title: title,
			Subtitle: d.Subtitle("server CPU per handshake of the baseline's twin, by that of the baseline, in each round"),
		},
		Quantity: "distance of the ratio from 1", Unit: "%", Of: "rounds",
		Curves: []chart.Curve{curve("in slices", chart.Blue, baseline), curve("in whole windows", chart.Vermillion, whole)},
	}, nil
}

// Tables.

func serverTable(d *study.Data) (string, error) { return costs(d, serverCPU), nil }
func clientTable(d *study.Data) (string, error) { return costs(d, clientCPU), nil }

func latencyTable(d *study.Data) (string, error) { return costs(d, latency), nil }

// costs has a row for every handshake without retry.
func costs(d *study.Data, unit string) string {
	var rows []study.Row
	rows = append(rows, kexRows...)
	for _, r := range certRows[1:] {
		rows = append(rows, study.Row{Name: "X25519, " + r.Name, Case: r.Case})
	}
	rows = append(rows, versionRows[1], versionRows[3], versionRows[4], ticketRow,
		study.Row{Name: "HelloRetryRequest: " + retries[0].name, Case: retries[0].retry})
	return d.CostTable(unit, rows)
}

// retryTable compares each retried handshake with its control.
func retryTable(d *study.Data) (string, error) {
	var lines [][]string
	for _, r := range retries {
		line := []string{r.name}
		for _, unit := range []string{sent, received, serverCPU, clientCPU, latency} {
			line = append(line, d.Difference(unit, r.retry, r.control))
		}
		lines = append(lines, line)
	}
	return study.Markdown([]string{"against its control", "client sends", "server sends", "server CPU", "client CPU", "latency p50"}, lines), nil
}

// sizesTable has the bytes of every kind of handshake.
func sizesTable(d *study.Data) (string, error) {
	rows := append(append([]study.Row{}, kexRows...), certRows[1:]...)
	rows = append(rows, versionRows[1], versionRows[4], study.Row{Name: retries[0].name, Case: retries[0].retry}, ticketRow)
	head := []string{"", "ClientHello", "key share", "client sends", "published", "server sends", "published", "after"}
	var lines [][]string
	for _, r := range rows {
		lines = append(lines, []string{
			r.Name, d.Range("clienthello-B/op", r.Case), d.Range("key-share-B/op", r.Case),
			d.Range(sent, r.Case), d.PublishedText(sent, r.Case), d.Range(received, r.Case), d.PublishedText(received, r.Case), d.Range(after, r.Case),
		})
	}
	return study.Markdown(head, lines), nil
}

// checkTable lists the observed behaviours.
func checkTable(d *study.Data) (string, error) {
	return d.CheckTable([]study.Row{
		{Name: "A default client is refused by a server whose only suite needs RSA key exchange (`remote error: tls: handshake failure`)", Case: "/check=rsa-kex-refused-by-default"},
		{Name: "With `GODEBUG=tlsrsakex=1` on both sides it is accepted", Case: "/check=rsa-kex-accepted-with-godebug"},
		{Name: "`ConnectionState.HelloRetryRequest` tells that one happened", Case: "/check=hrr-in-connection-state"},
		{Name: "The client sends more bytes when it is asked to retry", Case: "/check=hrr-in-bytes"},
		{Name: "`openssl s_client -msg` shows two ClientHellos when only its first group lacks the server's support", Case: "/check=hrr-in-openssl-msg"},
		{Name: "The order of `CurvePreferences` alone causes a retry (the article's recipe)", Case: "/check=hrr-by-order-of-preferences"},
		{Name: "Go's default ClientHello lists X25519, P-256, P-384, P-521 in this order", Case: "/check=default-offers-classical-groups-in-order"},
		{Name: "Go's default ClientHello lists X25519MLKEM768 first", Case: "/check=default-offers-hybrid-first"},
	}), nil
}
