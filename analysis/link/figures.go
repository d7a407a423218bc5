package main

import (
	"fmt"
	"math"

	"cryptocost/analysis/internal/chart"
	"cryptocost/analysis/internal/number"
	"cryptocost/analysis/internal/samples"
	"cryptocost/analysis/internal/study"
	"cryptocost/analysis/internal/values"
)

// errorFigure draws how far connecting is from the set round trip, and how late
// packets are handed on.
func errorFigure(d *study.Data) (study.Drawing, error) {
	lines := chart.Lines{
		Head: chart.Head{
			Experiment: "link",
			Title:      "How far the wire is from the round trip that was set",
			Subtitle:   d.Subtitle("same delay in both directions; dots: median over rounds; whiskers: its 95 % interval"),
		},
		XQuantity: "set round trip", XUnit: "sec", Quantity: "time", Unit: deviation,
		Panels: []chart.Panel{{Title: "connecting, beyond the round trip"}, {Title: "lateness of a packet"}},
	}
	if v, ok := d.Values.Get(d.Main.Name, values.Case(deviation, baseline)); ok {
		lines.Title = fmt.Sprintf("On a wire of %s, connecting takes %s longer than that",
			number.Mark(roundTrip(baseline), "sec"), number.Value(v.Value, deviation))
	}
	for _, m := range machines(d) {
		lines.Panels[0].Lines = append(lines.Panels[0].Lines,
			errorLine(d, m, "median", chart.Blue, deviation))
		lines.Panels[1].Lines = append(lines.Panels[1].Lines,
			errorLine(d, m, "median", chart.Blue, late50), errorLine(d, m, "p90", chart.Vermillion, late90))
	}
	for _, w := range wires(d.Main) {
		if w.symmetric && w.wire.RoundTrip() > 0 {
			lines.XTicks = append(lines.XTicks, chart.XTick{Value: w.wire.RoundTrip()})
		}
	}
	if v, ok := d.Values.Get(d.Main.Name, values.Case(deviation, onWire(zero))); ok {
		lines.Notes = append(lines.Notes, fmt.Sprintf("Over the wire without delay, connecting takes %s.", number.Value(v.Value, deviation)))
	}
	return lines, nil
}

// roundTrip is what was set of a wire.
func roundTrip(name string) float64 {
	for _, w := range wiresOf([]string{name}) {
		return w.wire.RoundTrip()
	}
	return math.NaN()
}

// machines are the one at hand and then the others.
func machines(d *study.Data) []*samples.Machine {
	return append([]*samples.Machine{d.Main}, d.Others()...)
}

// errorLine gives a quantity of the symmetric wires with a delay.
func errorLine(d *study.Data, m *samples.Machine, name string, color chart.Color, unit string) chart.Line {
	line := start(d, m, name, color)
	for _, w := range wires(m) {
		if w.symmetric && w.wire.RoundTrip() > 0 {
			line = with(line, w.wire.RoundTrip(), d.Point(m, unit, w.name))
		}
	}
	return end(d, line, baseline)
}

// start makes a line without points.
func start(d *study.Data, m *samples.Machine, name string, color chart.Color) chart.Line {
	line := chart.Line{Series: chart.Series{Name: name, Color: color}}
	if m != d.Main {
		line.Name, line.Light = name+", "+m.Name, true
	}
	return line
}

// with adds a point if it was measured. Connecting can't be sooner than the
// wire allows but by the steps of clocks, and the axis starts at zero.
func with(line chart.Line, x float64, p chart.Point) chart.Line {
	if math.IsNaN(p.Center) {
		return line
	}
	p.Center = max(p.Center, 0)
	line.X = append(line.X, x)
	line.Points = append(line.Points, p)
	return line
}

// end says why a line has no points, if it has none.
func end(d *study.Data, line chart.Line, name string) chart.Line {
	if len(line.X) > 0 {
		return line
	}
	line.Missing = d.Missing(name)
	if line.Missing == "" {
		line.Missing = "not in all rounds"
	}
	return line
}

// rateFigure draws how late packets are by the rate at which they are offered.
func rateFigure(d *study.Data) (study.Drawing, error) {
	lines := chart.Lines{
		Head: chart.Head{
			Experiment: "link",
			Title:      "How late packets are, by the rate at which they are offered",
			Subtitle:   d.Subtitle("one sender, packets of 1 KiB; dots: median over rounds; whiskers: its 95 % interval"),
		},
		XQuantity: "offered rate", XUnit: "packets/s", Quantity: "lateness of a packet", Unit: late50, Log: true,
	}
	if v, ok := d.Values.Get(d.Main.Name, values.Case("packets/s", "/rate=highest-carried")); ok {
		lines.Title = fmt.Sprintf("The wire keeps its delay up to %s", number.Value(v.Value, "packets/s"))
	}
	panel := chart.Panel{}
	var first string
	for _, l := range loads(d.Main) {
		if first == "" {
			first = l.name
		}
		lines.XTicks = append(lines.XTicks, chart.XTick{Value: l.perSecond})
		if share := d.Point(d.Main, delivered, l.name); share.Center < deliveredLimit {
			lines.Notes = append(lines.Notes, fmt.Sprintf("Of %s offered, %s were lost.", number.Value(l.perSecond, "packets/s"), number.Percent(1-share.Center)))
		}
	}
	for _, q := range []struct {
		name, unit string
		color      chart.Color
	}{{"p99", late99, chart.Purple}, {"p90", late90, chart.Vermillion}, {"median", late50, chart.Blue}} {
		for _, m := range machines(d) {
			line := start(d, m, q.name, q.color)
			for _, l := range loads(m) {
				if p := d.Point(m, q.unit, l.name); p.Center > 0 { // on a logarithmic axis
					line = with(line, l.perSecond, p)
				}
			}
			if m == d.Main || len(line.X) > 0 {
				panel.Lines = append(panel.Lines, end(d, line, first))
			}
		}
	}
	lines.Panels = []chart.Panel{panel}
	return lines, nil
}

// Tables.

// errorTable has what was set and what was measured of every wire.
func errorTable(d *study.Data) (string, error) {
	var rows [][]string
	for _, w := range wires(d.Main) {
		row := []string{samples.Key(w.name, "wire"), number.Mark(w.wire.RoundTrip(), "sec"), d.Estimate(d.Main, latency, w.name)}
		for _, unit := range []string{deviation, delayed, late50, late90, late99} {
			row = append(row, estimate(d, unit, w.name))
		}
		rows = append(rows, append(row, share(d, behind, w.name)))
	}
	return study.Markdown([]string{"wire", "set round trip", "connecting", "beyond it", "less that without delay",
		"packets late by, median", "p90", "p99", "later than " + number.Mark(lateLimit, "sec")}, rows), nil
}

// estimate writes a value with its interval, and no reason where there is none,
// which another cell of the row gives.
func estimate(d *study.Data, unit, name string) string {
	if _, ok := d.Values.Get(d.Main.Name, values.Case(unit, name)); !ok {
		return "—"
	}
	return d.Estimate(d.Main, unit, name)
}

// share writes the median of a share.
func share(d *study.Data, unit, name string) string {
	v, ok := d.Values.Get(d.Main.Name, values.Case(unit, name))
	if !ok {
		return "—"
	}
	return number.Percent(v.Value)
}

// rateTable has what became of the packets at every rate.
func rateTable(d *study.Data) (string, error) {
	var rows [][]string
	for _, l := range loads(d.Main) {
		row := []string{number.Value(l.perSecond, "packets/s"), "—", "—"}
		if v, ok := d.Values.Get(d.Main.Name, values.Case(delivered, l.name)); ok {
			row[2] = number.Percent(1 - v.Value) // one in ten thousand shows
		}
		if v, ok := d.Values.Get(d.Main.Name, values.Case(offered, l.name)); ok {
			row[1] = number.Value(v.Value, "packets/s")
		} else if reason := d.Missing(l.name); reason != "" {
			row[1] = "not measured: " + reason
		}
		for _, unit := range []string{late50, late90, late99} {
			row = append(row, estimate(d, unit, l.name))
		}
		verdict := "—"
		switch yes, ok := carries(d.Main, l); {
		case ok && yes:
			verdict = "yes"
		case ok:
			verdict = "no"
		}
		rows = append(rows, append(row, share(d, behind, l.name), verdict))
	}
	return study.Markdown([]string{"set rate", "really sent", "lost", "late by, median", "p90", "p99",
		"later than " + number.Mark(lateLimit, "sec"), "carried"}, rows), nil
}
