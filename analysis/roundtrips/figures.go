package main

import (
	"fmt"
	"math"

	"cryptocost/analysis/internal/chart"
	"cryptocost/analysis/internal/number"
	"cryptocost/analysis/internal/samples"
	"cryptocost/analysis/internal/stat"
	"cryptocost/analysis/internal/study"
	"cryptocost/analysis/internal/values"
	"cryptocost/analysis/internal/wire"
)

var nan = math.NaN()

// waitsFigure draws the time to the first response against the round trip.
func waitsFigure(d *study.Data) (study.Drawing, error) {
	f := chart.Fits{
		Head: chart.Head{
			Experiment: "roundtrips",
			Title:      waitsTitle(d),
			Subtitle:   d.Subtitle("dots: median over rounds; whiskers: its 95 % interval; lines: fitted, with their slopes; hollow diamonds: published, under the same round trip in one direction"),
		},
		XQuantity: "round trip of the wire", XUnit: "sec", Quantity: "time to first response", Unit: latency,
		Panels: []chart.FitPanel{{Title: "TLS 1.3"}, {Title: "TLS 1.2"}},
	}
	longest, _ := wire.Parse(fitted[len(fitted)-1])
	for _, name := range fitted {
		w, _ := wire.Parse(name)
		if share := w.RoundTrip() / longest.RoundTrip(); share == 0 || share > 0.1 { // others would hide the zero
			f.XTicks = append(f.XTicks, w.RoundTrip())
		}
	}
	for _, m := range append([]*samples.Machine{d.Main}, d.Others()...) {
		for i, conns := range [][2]string{{full13, ticket13}, {full12, ticket12}} {
			full := line(d, m, "full", conns[0])
			full.Color = chart.Blue
			ticket := line(d, m, "ticket", conns[1])
			ticket.Color, ticket.Dashed = chart.Vermillion, true
			for _, fit := range []chart.Fit{full, ticket} {
				if m == d.Main || fit.Missing == "" {
					f.Panels[i].Fits = append(f.Panels[i].Fits, fit)
				}
			}
		}
	}
	return f, nil
}

// waitsTitle says the fitted numbers of waits.
func waitsTitle(d *study.Data) string {
	var fitted []any
	for _, conn := range []string{full13, full12, ticket13, ticket12} {
		v, ok := d.Values.Get(d.Main.Name, values.Case(waits, anywhere(conn)))
		if !ok {
			return "How often a new connection waits for the server"
		}
		fitted = append(fitted, number.Tick(math.Round(v.Value*100)/100))
	}
	return fmt.Sprintf("A new connection waits %s times with TLS 1.3, %s with TLS 1.2; with a ticket %s and %s", fitted...)
}

// line gives the times of a kind on the fitted wires, with their line.
func line(d *study.Data, m *samples.Machine, name, conn string) chart.Fit {
	f := chart.Fit{Line: chart.Line{Series: chart.Series{Name: name}}, Slope: nan, Intercept: nan}
	for _, w := range fitted {
		parsed, _ := wire.Parse(w)
		p := d.Point(m, latency, on(w, conn))
		if math.IsNaN(p.Center) {
			continue
		}
		published := nan
		if m == d.Main && w == symmetric { // the article's wire has the same round trip
			published = d.Published(latency, on(article, conn))
		}
		f.X = append(f.X, parsed.RoundTrip())
		f.Points = append(f.Points, p)
		f.Published = append(f.Published, published)
	}
	if len(f.X) == 0 {
		f.Published = nil
		f.Missing = missing(d, on(symmetric, conn))
		return f
	}
	if v, ok := d.Values.Get(m.Name, values.Case(waits, anywhere(conn))); ok {
		f.Slope = v.Value
		f.Name += ": " + number.Value(v.Value, waits)
	}
	if v, ok := d.Values.Get(m.Name, values.Case(intercept, anywhere(conn))); ok {
		f.Intercept = v.Value
	}
	if m != d.Main {
		f.Name, f.Light = name+", "+m.Name, true
	}
	return f
}

// missing says why a case has no point, which it is known not to have.
func missing(d *study.Data, name string) string {
	if reason := d.Missing(name); reason != "" {
		return reason
	}
	return "not in all rounds"
}

// kindsFigure draws handshake and first response on the article's wire.
func kindsFigure(d *study.Data) (study.Drawing, error) {
	var rows []chart.Row
	var series []chart.Series
	machines := append([]*samples.Machine{d.Main}, d.Others()...)
	for _, m := range machines {
		for _, s := range []chart.Series{{Name: "TLS handshake alone", Color: chart.Vermillion}, {Name: "connect to first response", Color: chart.Blue}} {
			if m != d.Main {
				s.Name, s.Light = s.Name+", "+m.Name, true
			}
			series = append(series, s)
		}
	}
	var notes []string
	for _, k := range kinds {
		if k.conn == tcp { // which has no handshake to draw
			notes = append(notes, k.name+": first response after "+d.Estimate(d.Main, latency, on(article, tcp))+".")
			continue
		}
		row := chart.Row{Name: k.name, Missing: d.Missing(on(article, k.conn))}
		for _, m := range machines {
			for _, unit := range []string{tls, latency} {
				published := nan
				if m == d.Main {
					published = d.Published(unit, on(article, k.conn))
				}
				row.Published = append(row.Published, published)
				if row.Missing == "" {
					row.Points = append(row.Points, d.Point(m, unit, on(article, k.conn)))
				}
			}
		}
		rows = append(rows, row)
	}
	return chart.Rows{
		Head: chart.Head{
			Experiment: "roundtrips",
			Title:      kindsTitle(d),
			Subtitle:   d.Subtitle("wire " + article + "; " + study.MedianWhiskers),
			Notes:      notes,
		},
		Quantity: "time", Unit: latency, Series: series, Groups: []chart.Group{{Rows: rows}},
	}, nil
}

// kindsTitle says what one wait more costs, where it is more.
func kindsTitle(d *study.Data) string {
	more := func(conn, base string) (string, bool) {
		v, ok := d.Values.Get(d.Main.Name, values.Minus(latency, on(article, conn), on(article, base)))
		return number.Value(v.Value, latency), ok && v.Low > 0
	}
	old, ok1 := more(full12, full13)
	again, ok2 := more(retry, control)
	if !ok1 || !ok2 {
		return "How long handshakes and first responses take with a delay from server to client"
	}
	return fmt.Sprintf("With %s from server to client, TLS 1.2 answers %s after TLS 1.3, and a HelloRetryRequest costs %s", number.Mark(delay(), "sec"), old, again)
}

// delay is the round trip of the article's wire.
func delay() float64 {
	w, _ := wire.Parse(article)
	return w.RoundTrip()
}

// chainFigure draws waits against the size of the server's flight.
func chainFigure(d *study.Data) (study.Drawing, error) {
	lines := chart.Lines{
		Head: chart.Head{
			Experiment: "roundtrips",
			Title:      chainTitle(d),
			Subtitle:   d.Subtitle("waits: what the delay adds to the time to first response, in round trips; whiskers: 95 % interval of the median"),
		},
		XQuantity: "the server's flight with its Certificate message", XUnit: "KB", Quantity: "waits for the server",
	}
	if v, ok := d.Values.Get(d.Main.Name, values.Case("window-B", "/link=initial-window")); ok {
		lines.Notes = append(lines.Notes, fmt.Sprintf("The server's initial window is %s: what exceeds it waits for the client's acknowledgment.", number.Value(v.Value, v.Unit)))
	}
	panel := chart.Panel{Title: "wire " + symmetric}
	for i, k := range chained {
		panel.Lines = append(panel.Lines, chainLine(d, k.kind, k.chains, []chart.Color{chart.Blue, chart.Vermillion}[i]))
	}
	lines.Panels = []chart.Panel{panel}
	last := 0.0
	for _, size := range panel.Lines[0].X {
		if size-last < 1.5 { // labels would touch
			continue
		}
		last = size
		lines.XTicks = append(lines.XTicks, chart.XTick{Value: size, Label: number.Tick(math.Round(10*size) / 10)})
	}
	return lines, nil
}

// chainLine gives the waits of a kind by the size of its flight.
func chainLine(d *study.Data, k kind, chains []string, color chart.Color) chart.Line {
	line := chart.Line{Series: chart.Series{Name: k.name, Color: color}, Dashed: color == chart.Vermillion}
	for _, chain := range chains {
		name := withChain(k.conn, chain)
		size, p := d.Point(d.Main, flight, name), d.Point(d.Main, waits, name)
		if math.IsNaN(size.Center) || math.IsNaN(p.Center) {
			continue
		}
		line.X = append(line.X, size.Center/1e3)
		line.Points = append(line.Points, p)
	}
	if len(line.X) == 0 {
		line.Missing = missing(d, withChain(k.conn, chains[0]))
	}
	return line
}

// chainTitle says between which sizes a wait is added.
func chainTitle(d *study.Data) string {
	get := func(limit string) (string, bool) {
		v, ok := d.Values.Get(d.Main.Name, values.Case(flight, withChain(full13, limit)))
		return number.Value(v.Value, v.Unit), ok
	}
	fits, ok1 := get(largest)
	exceeds, ok2 := get(smallest)
	switch {
	case ok1 && ok2:
		return fmt.Sprintf("A flight of %s still costs no wait, one of %s costs one more", fits, exceeds)
	case ok1:
		return fmt.Sprintf("No chain costs a wait more, not even one whose flight has %s", fits)
	default:
		return "How often a client waits, by the size of the server's flight"
	}
}

// median is the middle of an exact quantity on the machine at hand.
func median(d *study.Data, unit, name string) float64 {
	return stat.Quantile(d.Main.All(name, unit), 0.5)
}
