package main

import (
	"fmt"
	"math"

	"cryptocost/analysis/internal/chart"
	"cryptocost/analysis/internal/samples"
	"cryptocost/analysis/internal/study"
)

// onAndOff are the series of all rows: with AES instructions and without.
func onAndOff(d *study.Data) []chart.Series {
	series := []chart.Series{{Name: "AES instructions", Color: chart.Blue}, {Name: "without", Color: chart.Vermillion}}
	for _, m := range d.Others() {
		series = append(series,
			chart.Series{Name: "AES instructions, " + m.Name, Color: chart.Blue, Light: true},
			chart.Series{Name: "without, " + m.Name, Color: chart.Vermillion, Light: true})
	}
	return series
}

// protocolRows has a row for each protocol.
func protocolRows(d *study.Data, unit string) []chart.Row {
	var list []chart.Row
	for _, p := range protocols {
		row := chart.Row{Name: p.name, Missing: d.Missing(p.on())}
		if row.Missing == "" {
			for _, m := range append([]*samples.Machine{d.Main}, d.Others()...) {
				for _, name := range []string{p.on(), p.off()} {
					row.Points = append(row.Points, d.Point(m, unit, name))
					published := math.NaN()
					if m == d.Main {
						published = d.Published(unit, name)
					}
					row.Published = append(row.Published, published)
				}
			}
		}
		list = append(list, row)
	}
	return list
}

// rates draws how fast bytes arrive.
func rates(d *study.Data) (study.Drawing, error) {
	aes, chacha := protocols[2], protocols[4]
	return chart.Rows{
		Head: chart.Head{
			Experiment: "throughput",
			Title: "With AES instructions " + d.Faster(rate, aes.name, aes.on(), chacha.name, chacha.on()) +
				"; without, " + d.Faster(rate, aes.name, aes.off(), chacha.name, chacha.off()),
			Subtitle: d.Subtitle("one connection over loopback, 16 KiB writes; " + study.MedianWhiskers),
		},
		Quantity: "content that arrives", Unit: rate, Log: true,
		Series: onAndOff(d), Groups: []chart.Group{{Rows: protocolRows(d, rate)}},
	}, nil
}

// cpus draws the CPU time of a byte.
func cpus(d *study.Data) (study.Drawing, error) {
	aes, tcp := protocols[2], protocols[0]
	return chart.Rows{
		Head: chart.Head{
			Experiment: "throughput",
			Title: fmt.Sprintf("AES-128-GCM adds %s to a byte; without AES instructions it costs %s as much",
				d.Adds(cpu, aes.on(), tcp.on()), d.Times(cpu, aes.off(), aes.on())),
			Subtitle: d.Subtitle("CPU time of both ends together, socket included; " + study.MedianWhiskers),
		},
		Quantity: "CPU time per byte", Unit: cpu, Log: true,
		Series: onAndOff(d), Groups: []chart.Group{{Rows: protocolRows(d, cpu)}},
	}, nil
}

// writes draws the CPU time of a byte by the size of writes.
func writes(d *study.Data) (study.Drawing, error) {
	colors := []chart.Color{chart.Blue, chart.Green}
	var series []chart.Series
	var list []chart.Row
	for i, p := range small {
		series = append(series, chart.Series{Name: p.name, Color: colors[i]})
	}
	for _, size := range writeSizes {
		row := chart.Row{Name: "writes of " + size + " B"}
		for _, p := range small {
			row.Points = append(row.Points, d.Point(d.Main, cpu, p.write(size)))
		}
		list = append(list, row)
	}
	return chart.Rows{
		Head: chart.Head{
			Experiment: "throughput",
			Title:      fmt.Sprintf("A byte in writes of 1400 B costs %s what it costs in full records", d.Times(cpu, small[0].write("1400"), small[0].write("16384"))),
			Subtitle:   d.Subtitle("TLS 1.2, a record for each write; dots: median over rounds; whiskers: its 95 % interval"),
		},
		Quantity: "CPU time per byte", Unit: cpu, Series: series, Groups: []chart.Group{{Rows: list}},
	}, nil
}

// Tables.

func rateTable(d *study.Data) (string, error) { return d.CostTable(rate, rows()), nil }
func cpuTable(d *study.Data) (string, error)  { return d.CostTable(cpu, rows()), nil }

// writeTable compares small writes with full ones.
func writeTable(d *study.Data) (string, error) {
	var lines [][]string
	for _, p := range small {
		for _, size := range writeSizes {
			lines = append(lines, []string{
				p.name + ", " + size + " B",
				d.Estimate(d.Main, rate, p.write(size)), d.Estimate(d.Main, cpu, p.write(size)),
				d.Ratio(d.Main, study.Pair{Unit: cpu, Case: p.write(size), Base: p.write("16384")}),
			})
		}
	}
	return study.Markdown([]string{"size of a write", "rate", "CPU per byte", "CPU, ratio to full records"}, lines), nil
}

// checkTable lists what Go negotiates.
func checkTable(d *study.Data) (string, error) {
	return d.CheckTable([]study.Row{
		{Name: "TLS 1.3 with AES instructions picks AES-128-GCM", Case: "/check=tls1.3-with-aes-picks-aes-128-gcm"},
		{Name: "TLS 1.3 without AES instructions picks ChaCha20-Poly1305", Case: "/check=tls1.3-without-aes-picks-chacha20"},
		{Name: "TLS 1.3 ignores `CipherSuites`", Case: "/check=tls1.3-ignores-cipher-suites"},
		{Name: "A client without AES instructions offers ChaCha20-Poly1305 first", Case: "/check=client-without-aes-offers-chacha20-first"},
		{Name: "TLS 1.2 with a list of AES alone stays on AES without AES instructions", Case: "/check=tls1.2-aes-only-without-aes-stays-on-aes"},
		{Name: "TLS 1.2 with AES and ChaCha20 in the list picks ChaCha20 without AES instructions", Case: "/check=tls1.2-aes-and-chacha20-without-aes-picks-chacha20"},
		{Name: "TLS 1.2 with AES and ChaCha20 in the list picks AES with AES instructions", Case: "/check=tls1.2-aes-and-chacha20-with-aes-picks-aes"},
	}), nil
}
