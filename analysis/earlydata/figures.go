package main

import (
	"fmt"
	"math"
	"slices"

	"cryptocost/analysis/internal/chart"
	"cryptocost/analysis/internal/claim"
	"cryptocost/analysis/internal/number"
	"cryptocost/analysis/internal/samples"
	"cryptocost/analysis/internal/study"
	"cryptocost/analysis/internal/values"
	"cryptocost/analysis/internal/wire"
)

// none stands in a table for what there is not.
const none = "—"

// requestFigure draws when the server has the request, three ways.
func requestFigure(d *study.Data) (study.Drawing, error) {
	rows := chart.Rows{
		Head: chart.Head{
			Experiment: "earlydata",
			Title: fmt.Sprintf("With early data the server has the request %s sooner over TCP, %s sooner over QUIC",
				d.Adds(latency, on(article, openssl, ticket), on(article, openssl, early)),
				d.Adds(latency, on(article, goQUIC, ticket), on(article, goQUIC, early))),
			Subtitle: d.Subtitle("since the connection's first packet, over QUIC since the dial; dots: median over rounds; whiskers: its 95 % interval"),
		},
		Quantity: "until the server has the request", Unit: latency,
	}
	machines := append([]*samples.Machine{d.Main}, d.Others()...)
	for _, m := range machines {
		for i, w := range wires {
			s := chart.Series{Name: "wire " + w, Color: []chart.Color{chart.Blue, chart.Vermillion}[i]}
			if m != d.Main {
				s.Name, s.Light = s.Name+", "+m.Name, true
			}
			rows.Series = append(rows.Series, s)
		}
	}
	for _, c := range clients {
		group := chart.Group{Name: c.name}
		for _, way := range ways {
			row := chart.Row{Name: way.name, Missing: d.Missing(on(article, c.client, way.conn))}
			for _, m := range machines {
				for _, w := range wires {
					if row.Missing == "" {
						row.Points = append(row.Points, d.Point(m, latency, on(w, c.client, way.conn)))
					}
				}
			}
			group.Rows = append(group.Rows, row)
		}
		rows.Groups = append(rows.Groups, group)
	}
	return rows, nil
}

// basesFigure draws the same times on both time bases, beside the published
// ones.
func basesFigure(d *study.Data) (study.Drawing, error) {
	rows := chart.Rows{
		Head: chart.Head{
			Experiment: "earlydata",
			Title:      basesTitle(d),
			Subtitle:   d.Subtitle("openssl, wire " + article + "; " + study.MedianWhiskers),
		},
		Quantity: "until the server has the request", Unit: latency,
	}
	machines := append([]*samples.Machine{d.Main}, d.Others()...)
	units := []string{latency, program}
	for _, m := range machines {
		for _, s := range []chart.Series{{Name: "since the first packet", Color: chart.Blue}, {Name: "since the client's program began", Color: chart.Vermillion}} {
			if m != d.Main {
				s.Name, s.Light = s.Name+", "+m.Name, true
			}
			rows.Series = append(rows.Series, s)
		}
	}
	var group chart.Group
	for _, way := range ways {
		name := on(article, openssl, way.conn)
		row := chart.Row{Name: way.name, Missing: d.Missing(name)}
		for _, m := range machines {
			for _, unit := range units {
				at := math.NaN()
				if m == d.Main && unit == program {
					at = published(d, name)
				}
				row.Published = append(row.Published, at)
				if row.Missing == "" {
					row.Points = append(row.Points, d.Point(m, unit, name))
				}
			}
		}
		group.Rows = append(group.Rows, row)
	}
	rows.Groups = []chart.Group{group}
	return rows, nil
}

// basesTitle says what the program's start takes.
func basesTitle(d *study.Data) string {
	if v, ok := d.Values.Get(d.Main.Name, values.Case(before, baseline)); ok {
		return fmt.Sprintf("A program that resumes a session takes %s before its first packet leaves", number.Value(v.Value, before))
	}
	return "The same times, since the first packet and since the client's program began"
}

// Tables.

// requestTable has the times of all clients and ways on both wires.
func requestTable(d *study.Data) (string, error) {
	var rows [][]string
	for _, c := range clients {
		for _, way := range ways {
			row := []string{c.name + ": " + way.name}
			for _, w := range wires {
				name := on(w, c.client, way.conn)
				row = append(row, number.Mark(taken(w, c.waits[way.conn]), "sec"), d.Estimate(d.Main, latency, name), estimate(d, rest, name))
			}
			rows = append(rows, row)
		}
	}
	head := []string{"since the first packet"}
	for _, w := range wires {
		head = append(head, "wire "+w+" takes", "measured", "rest")
	}
	return study.Markdown(head, rows), nil
}

// estimate writes a value with its interval, and no reason where there is none,
// which the cell before gives.
func estimate(d *study.Data, unit, name string) string {
	if _, ok := d.Values.Get(d.Main.Name, values.Case(unit, name)); !ok {
		return none
	}
	return d.Estimate(d.Main, unit, name)
}

// gainsTable has what each way saves over another.
func gainsTable(d *study.Data) (string, error) {
	var rows [][]string
	for _, c := range clients {
		for _, g := range gains {
			row := []string{c.name + ": " + g.name}
			for _, w := range wires {
				row = append(row, saved(d, on(w, c.client, g.conn), on(w, c.client, g.base)))
			}
			rows = append(rows, row)
		}
	}
	return study.Markdown([]string{"the request is there sooner by", "wire " + article, "wire " + symmetric}, rows), nil
}

// saved writes by how much base is sooner.
func saved(d *study.Data, name, base string) string {
	v, ok := d.Values.Get(d.Main.Name, values.Minus(latency, name, base))
	if !ok {
		return none
	}
	return study.WithInterval(v)
}

// basesTable shows what the article's times have beyond the wire's, there and
// here.
func basesTable(d *study.Data) (string, error) {
	w, _ := wire.Parse(article)
	var rows [][]string
	for _, way := range ways {
		name := on(article, openssl, way.conn)
		least := taken(article, clients[0].waits[way.conn])
		row := []string{way.name, number.Value(published(d, name), "sec"), verdict(d, name), number.Mark(least, "sec"), number.Value(published(d, name)-least, "sec"),
			d.Estimate(d.Main, program, name), estimate(d, programRest, name), estimate(d, before, name)}
		rows = append(rows, row)
	}
	return study.Markdown([]string{"since the program began", "published", "verdict", "waits of " + number.Mark(w.RoundTrip(), "sec"),
		"published rest", "here", "rest here", "of it, before the first packet"}, rows), nil
}

// claimOf finds the claim that publishes a time since the program began. It
// may be about several cases: the article says of one of its times at one place
// that it is a resumed connection's and at another that it is a full one's.
func claimOf(d *study.Data, name string) (claim.Claim, bool) {
	for _, c := range d.Claims {
		if c.Kind == claim.Absolute && c.Metric == program && slices.Contains(c.Cases()[d.Name], name) {
			return c, true
		}
	}
	return claim.Claim{}, false
}

// published is the published time of a case since the program began; NaN if
// there is none.
func published(d *study.Data, name string) float64 {
	if c, ok := claimOf(d, name); ok {
		if p, ok := c.Published(); ok && p.Low == p.High {
			return p.Low
		}
	}
	return math.NaN()
}

// verdict is the word on it.
func verdict(d *study.Data, name string) string {
	c, ok := claimOf(d, name)
	if !ok {
		return none
	}
	return string(claim.Judge(c, claim.Tables{d.Name: d.Values}, d.Main.Name).Word)
}

// checks are the behaviours, with what each says.
var checks = []study.Row{
	{Name: "`openssl s_client` says that its session was reused", Case: "/check=openssl-session-reused"},
	{Name: "`openssl s_client` says that its early data was accepted", Case: "/check=openssl-early-data-accepted"},
	{Name: "`openssl s_server` says that it received early data", Case: "/check=openssl-early-data-received"},
	{Name: "The request is in the client's first flight, right behind the ClientHello", Case: "/check=request-in-first-flight"},
	{Name: "The same flight sent again: the server refuses its early data by default", Case: "/check=replay-refused-by-default"},
	{Name: "The same with `-no_anti_replay`: the server takes the request twice", Case: "/check=replay-accepted-with-no-anti-replay"},
	{Name: "A client that closes right after its request has no session to resume", Case: "/check=no-session-without-waiting"},
	{Name: "A server of Go resumes over TCP but takes no early data", Case: "/check=go-server-takes-no-early-data"},
	{Name: "A client of Go offers none over TCP, even with a session that allows it", Case: "/check=go-client-has-no-early-data-over-tcp"},
	{Name: "Over QUIC, quic-go's client sends early data and its server accepts it", Case: "/check=quic-early-data-accepted"},
}

// checkTable lists the observed behaviours.
func checkTable(d *study.Data) (string, error) { return d.CheckTable(checks), nil }
