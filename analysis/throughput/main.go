// Throughput computes, from data/*/throughput.txt, how fast bytes go through
// TLS and what they cost, with AES instructions and without, and draws the
// figures and tables of the paper's section throughput.
//
//	go run ./analysis/throughput [-machine NAME]
//
// It writes figures/throughput.values, figures/throughput-*.svg and
// figures/throughput-*.md.
package main

import (
	"cryptocost/analysis/internal/samples"
	"cryptocost/analysis/internal/study"
)

const (
	rate = "B/s"
	cpu  = "cpu-sec/B"
	// cores is how many the process kept busy: rate times cpu.
	cores = "cores"

	baseline = "/proto=tls1.2/suite=aes-128-gcm/write=16384/aes=on"
)

// A protocol is what a row of figures and tables shows, with AES
// instructions and without.
type protocol struct{ name, prefix string }

var protocols = []protocol{
	{"plain TCP", "/proto=tcp"},
	{"TLS 1.3, Go's choice", "/proto=tls1.3/suite=auto"},
	{"AES-128-GCM", "/proto=tls1.2/suite=aes-128-gcm"},
	{"AES-256-GCM", "/proto=tls1.2/suite=aes-256-gcm"},
	{"ChaCha20-Poly1305", "/proto=tls1.2/suite=chacha20-poly1305"},
	{"AES-128-CBC with SHA-1", "/proto=tls1.2/suite=aes-128-cbc"},
}

// on and off are the cases of a protocol with full records.
func (p protocol) on() string  { return p.prefix + "/write=16384/aes=on" }
func (p protocol) off() string { return p.prefix + "/write=16384/aes=off" }

// small are the protocols with smaller writes, and their sizes in bytes.
var (
	small      = []protocol{protocols[2], protocols[4]}
	writeSizes = []string{"1400", "4096", "16384"}
)

func (p protocol) write(size string) string { return p.prefix + "/write=" + size + "/aes=on" }

// rows are the protocols with AES instructions, then without.
func rows() []study.Row {
	var list []study.Row
	for _, p := range protocols {
		list = append(list, study.Row{Name: p.name, Case: p.on()})
	}
	for _, p := range protocols[1:] {
		list = append(list, study.Row{Name: p.name + ", AES instructions off", Case: p.off()})
	}
	return list
}

// derive computes the cores that were busy.
func derive(m *samples.Machine) {
	for _, name := range m.Cases() {
		rates, costs := m.Rounded(name, rate), m.Rounded(name, cpu)
		if rates == nil || costs == nil {
			continue
		}
		busy := make([]float64, len(rates))
		for i := range busy {
			busy[i] = rates[i] * costs[i]
		}
		m.Derive(name, cores, busy)
	}
}

// pairs are the comparisons beside those with the baseline: each protocol
// without AES instructions with itself, AES-GCM with ChaCha20, and small
// writes with full ones.
func pairs() []study.Pair {
	var list []study.Pair
	chacha := protocols[4]
	for _, unit := range []string{rate, cpu} {
		for _, p := range protocols {
			list = append(list,
				study.Pair{Unit: unit, Case: p.off(), Base: p.on()},
				study.Pair{Unit: unit, Case: p.on(), Base: protocols[0].on()},
				study.Pair{Unit: unit, Case: p.off(), Base: protocols[0].off()},
				study.Pair{Unit: unit, Case: p.on(), Base: chacha.on()},
				study.Pair{Unit: unit, Case: p.off(), Base: chacha.off()})
		}
		for _, p := range small {
			for _, size := range writeSizes[:2] {
				list = append(list, study.Pair{Unit: unit, Case: p.write(size), Base: p.write(writeSizes[2])})
			}
		}
	}
	return list
}

// headlines are the ratios of CPU per byte to the baseline, and what
// switching AES instructions off does to each protocol that uses them.
func headlines(*study.Data) []study.Pair {
	var list []study.Pair
	for _, p := range protocols {
		if p.on() != baseline {
			list = append(list, study.Pair{Unit: cpu, Case: p.on(), Base: baseline})
		}
	}
	for _, p := range protocols[1:] {
		list = append(list, study.Pair{Unit: cpu, Case: p.off(), Base: p.on()})
	}
	return list
}

func main() {
	study.Main(study.Analysis{
		Name:      "throughput",
		Baseline:  baseline,
		Units:     []string{rate, cpu, cores},
		Derive:    derive,
		Pairs:     pairs(),
		Headlines: headlines,
		Figures: map[string]func(*study.Data) (study.Drawing, error){
			"rate": rates, "cpu": cpus, "writes": writes,
		},
		Tables: map[string]func(*study.Data) (string, error){
			"rate": rateTable, "cpu": cpuTable, "writes": writeTable, "checks": checkTable,
			"wide": (*study.Data).Wide,
		},
	})
}
