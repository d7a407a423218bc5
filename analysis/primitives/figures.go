package main

import (
	"fmt"
	"math"
	"strconv"

	"cryptocost/analysis/internal/chart"
	"cryptocost/analysis/internal/number"
	"cryptocost/analysis/internal/samples"
	"cryptocost/analysis/internal/study"
)

// publishedAs is the library of the case that a published rate is of: the
// article asked openssl speed.
var publishedAs = map[string]string{"go": "go", "openssl": "openssl-speed"}

// full draws the rates at full records, Go beside OpenSSL.
func full(d *study.Data) (study.Drawing, error) {
	aes, chacha := algorithms[0], algorithms[2]
	series := []chart.Series{{Name: "Go", Color: chart.Blue}, {Name: "OpenSSL", Color: chart.Vermillion}}
	for _, m := range d.Others() {
		series = append(series, chart.Series{Name: "Go, " + m.Name, Color: chart.Blue, Light: true}, chart.Series{Name: "OpenSSL, " + m.Name, Color: chart.Vermillion, Light: true})
	}
	var groups []chart.Group
	for i, setting := range aesSettings {
		group := chart.Group{Name: []string{"with AES instructions", "without AES instructions"}[i]}
		for _, a := range inGo {
			row := chart.Row{Name: a.name}
			for _, m := range append([]*samples.Machine{d.Main}, d.Others()...) {
				for _, lib := range []string{"go", "openssl"} {
					row.Points = append(row.Points, d.Point(m, net, a.in(lib, "seal", largest, setting)))
					published := math.NaN()
					if m == d.Main {
						published = d.Published(rate, a.in(publishedAs[lib], "seal", largest, setting))
					}
					row.Published = append(row.Published, published)
				}
			}
			group.Rows = append(group.Rows, row)
		}
		groups = append(groups, group)
	}
	return chart.Rows{
		Head: chart.Head{
			Experiment: "primitives",
			Title: "In Go, with AES instructions, " + d.Faster(rate, aes.name, aes.in("go", "seal", largest, "on"), chacha.name, chacha.in("go", "seal", largest, "on")) +
				"; without, " + d.Faster(rate, aes.name, aes.in("go", "seal", largest, "off"), chacha.name, chacha.in("go", "seal", largest, "off")),
			Subtitle: d.Subtitle("sealing 16 KiB on one core; OpenSSL without the crossings from Go; " + study.MedianWhiskers),
		},
		Quantity: "content sealed", Unit: net, Log: true, Series: series, Groups: groups,
	}, nil
}

// bySize draws the rates of Go and OpenSSL by the size of the message.
func bySize(d *study.Data) (study.Drawing, error) {
	aes, chacha := algorithms[0], algorithms[2]
	colors := []chart.Color{chart.Blue, chart.Gray, chart.Green, chart.Vermillion}
	var panels []chart.Panel
	var ticks []chart.XTick
	var x []float64
	for _, size := range sizes {
		v, err := strconv.ParseFloat(size, 64)
		if err != nil {
			return nil, err
		}
		x = append(x, v)
		ticks = append(ticks, chart.XTick{Value: v, Label: tickLabel(v)})
	}
	for i, setting := range aesSettings {
		panel := chart.Panel{Title: []string{"with AES instructions", "without AES instructions"}[i]}
		for j, a := range algorithms {
			if a.aead == "aes-256-gcm" {
				continue // close to AES-128-GCM, and in the table
			}
			for _, lib := range []string{"go", "openssl"} {
				if lib == "go" && j == 3 {
					continue
				}
				line := chart.Line{
					Series: chart.Series{Name: map[string]string{"go": "Go ", "openssl": "OpenSSL "}[lib] + a.name, Color: colors[j]},
					Dashed: lib == "openssl", Missing: d.Missing(a.in(lib, "seal", largest, setting)),
				}
				if line.Missing == "" {
					line.X = x
					for _, size := range sizes {
						line.Points = append(line.Points, d.Point(d.Main, net, a.in(lib, "seal", size, setting)))
					}
				}
				panel.Lines = append(panel.Lines, line)
			}
		}
		panels = append(panels, panel)
	}
	return chart.Lines{
		Head: chart.Head{
			Experiment: "primitives",
			Title: "At 16 KiB " + d.Faster(net, "OpenSSL's AES-128-GCM", aes.in("openssl", "seal", largest, "on"), "Go's AES-128-GCM", aes.in("go", "seal", largest, "on")) +
				"; " + d.Faster(net, "OpenSSL's ChaCha20-Poly1305", chacha.in("openssl", "seal", largest, "on"), "Go's ChaCha20-Poly1305", chacha.in("go", "seal", largest, "on")),
			Subtitle: d.Subtitle("sealing on one core; OpenSSL without the crossings from Go; whiskers: 95 % interval of the median"),
			Notes:    []string{fmt.Sprintf("Below %s the crossings that are taken off are so much of OpenSSL's time that it is not compared with Go.", number.Value(comparable, "B"))},
		},
		XQuantity: "size of the message", XUnit: "B", XTicks: ticks, Quantity: "content sealed", Unit: net, Log: true, Panels: panels,
	}, nil
}

// tickLabel is short, as two panels share the width: 8K for 8,192.
func tickLabel(bytes float64) string {
	if math.Mod(bytes, 1024) == 0 {
		return number.Tick(bytes/1024) + "K"
	}
	return number.Tick(bytes)
}

// Tables.

// fullTable has the rates at full records as they are called.
func fullTable(d *study.Data) (string, error) {
	var rows []study.Row
	for _, lib := range []string{"go", "openssl"} {
		for _, aes := range aesSettings {
			for _, a := range algorithms {
				if lib == "go" && a == algorithms[3] {
					continue
				}
				row := study.Row{Name: map[string]string{"go": "Go, ", "openssl": "OpenSSL, "}[lib] + a.name, Case: a.in(lib, "seal", largest, aes)}
				if aes == "off" {
					row.Name += ", AES instructions off"
				}
				rows = append(rows, row)
			}
		}
	}
	for _, a := range inGo[:3] {
		rows = append(rows, study.Row{Name: "Go, " + a.name + ", 1400 B", Case: a.in("go", "seal", "1400", "on")})
	}
	return d.CostTable(rate, rows), nil
}

// opensslTable compares OpenSSL with Go at every size.
func opensslTable(d *study.Data) (string, error) {
	var lines [][]string
	for _, aes := range aesSettings {
		for _, a := range inGo {
			for _, size := range sizes {
				bytes, err := strconv.ParseFloat(size, 64)
				if err != nil {
					return "", err
				}
				line := []string{a.name + ", " + number.Value(bytes, "B")}
				if aes == "off" {
					line[0] += ", AES off"
				}
				goCase, foreign := a.in("go", "seal", size, aes), a.in("openssl", "seal", size, aes)
				ratio := d.Ratio(d.Main, study.Pair{Unit: net, Case: foreign, Base: goCase})
				if bytes < comparable {
					ratio = "not compared: too much of it is crossings"
				}
				lines = append(lines, append(line, d.Estimate(d.Main, rate, goCase), d.Estimate(d.Main, rate, foreign), d.Estimate(d.Main, net, foreign), ratio))
			}
		}
	}
	return study.Markdown([]string{"seal", "Go", "OpenSSL, called from Go", "OpenSSL, without crossings", "ratio to Go"}, lines), nil
}

// openTable compares opening with sealing in Go.
func openTable(d *study.Data) (string, error) {
	var lines [][]string
	for _, a := range inGo {
		for _, size := range sizes {
			bytes, err := strconv.ParseFloat(size, 64)
			if err != nil {
				return "", err
			}
			lines = append(lines, []string{
				a.name + ", " + number.Value(bytes, "B"),
				d.Estimate(d.Main, rate, a.in("go", "seal", size, "on")), d.Estimate(d.Main, rate, a.in("go", "open", size, "on")),
			})
		}
	}
	return study.Markdown([]string{"Go, with AES instructions", "seal", "open"}, lines), nil
}

// speedTable compares our calls with what openssl speed says.
func speedTable(d *study.Data) (string, error) {
	var lines [][]string
	for _, aes := range aesSettings {
		for _, a := range algorithms {
			rekeyed, program := a.in("openssl-rekeyed", "seal", largest, aes), a.in("openssl-speed", "seal", largest, aes)
			name := a.name
			if aes == "off" {
				name += ", AES off"
			}
			lines = append(lines, []string{
				name, d.Estimate(d.Main, net, a.in("openssl", "seal", largest, aes)), d.Estimate(d.Main, net, rekeyed), d.Estimate(d.Main, rate, program), d.PublishedText(rate, program),
				d.Ratio(d.Main, study.Pair{Unit: net, Case: rekeyed, Base: program}),
			})
		}
	}
	return study.Markdown([]string{"seal, 16 KiB", "our calls, key set once", "our calls, key set each time", "`openssl speed -aead`", "published", "our calls by `openssl speed`"}, lines), nil
}
