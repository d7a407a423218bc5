package chart_test

import (
	"fmt"
	"math"
	"strings"

	"cryptocost/analysis/internal/chart"
)

// A figure with two cases, one of them not measured.
func ExampleRows() {
	nan := math.NaN()
	svg, err := chart.Rows{
		Head: chart.Head{
			Experiment: "keyexchange",
			Title:      "A handshake with X25519 costs a server 152 µs",
			Subtitle:   "xeon-2cpu, 12 rounds; whiskers: 95 % interval of the median over rounds",
		},
		Quantity: "CPU time per handshake",
		Unit:     "sec/op",
		Series:   []chart.Series{{Name: "server", Color: chart.Blue}, {Name: "client", Color: chart.Vermillion}},
		Groups: []chart.Group{{Rows: []chart.Row{
			{
				Name:      "X25519",
				Points:    []chart.Point{{Center: 152e-6, Low: 148e-6, High: 157e-6}, {Center: 211e-6, Low: nan, High: nan}},
				Published: []float64{160e-6, nan},
			},
			{Name: "SecP384r1MLKEM1024", Missing: "this build of Go has no such group"},
		}}},
	}.SVG()
	if err != nil {
		fmt.Println(err)
		return
	}
	comment, rest, _ := strings.Cut(string(svg), "\n")
	_, rest, _ = strings.Cut(rest, "<desc>")
	description, _, _ := strings.Cut(rest, "</desc>")
	fmt.Println(comment)
	fmt.Println(description)
	// Output:
	// <!-- made by analysis/keyexchange from data/*/keyexchange.txt; do not edit -->
	// xeon-2cpu, 12 rounds; whiskers: 95 % interval of the median over rounds
	// CPU time per handshake:
	// X25519: server 152 µs (148–157 µs), published 160 µs; client 211 µs
	// SecP384r1MLKEM1024: not measured: this build of Go has no such group
}
