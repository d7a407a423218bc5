// Primitives computes, from data/*/primitives.txt, how fast one core seals
// and opens messages in Go and in OpenSSL, and draws the figures and tables of
// the paper's section primitives.
//
//	go run ./analysis/primitives [-machine NAME]
//
// OpenSSL is called from Go, and every call costs the crossing from Go to C.
// The unit net-B/s is the rate without the crossings: from the CPU time of a
// message, round by round, the calls that it takes are taken off at the price
// of a call that does nothing, measured in the same round. Go has no
// crossings, nor has the program openssl speed; their net-B/s is their B/s.
//
// It writes figures/primitives.values, figures/primitives-*.svg and
// figures/primitives-*.md.
package main

import (
	"strconv"

	"cryptocost/analysis/internal/samples"
	"cryptocost/analysis/internal/study"
)

const (
	rate = "B/s"
	net  = "net-B/s"
	cpu  = "cpu-sec/op"

	baseline = "/lib=go/aead=aes-128-gcm/op=seal/size=16384/aes=on"
	callCase = "/lib=openssl/call=nothing"
)

// An algorithm is an AEAD by the name of the cases and by that of figures.
type algorithm struct{ aead, name string }

var algorithms = []algorithm{
	{"aes-128-gcm", "AES-128-GCM"},
	{"aes-256-gcm", "AES-256-GCM"},
	{"chacha20-poly1305", "ChaCha20-Poly1305"},
	{"aes-128-ccm", "AES-128-CCM"},
}

// inGo are those that Go has.
var inGo = algorithms[:3]

var (
	sizes       = []string{"64", "256", "1400", "8192", "16384"}
	aesSettings = []string{"on", "off"}
	ops         = []string{"seal", "open"}
)

// comparable is the smallest size, in bytes, at which OpenSSL is compared
// with Go: below it the crossings are too much of the time.
const comparable = 8192

// largest is the size of a full TLS record.
const largest = "16384"

// name is the case of an operation.
func (a algorithm) in(lib, op, size, aes string) string {
	return "/lib=" + lib + "/aead=" + a.aead + "/op=" + op + "/size=" + size + "/aes=" + aes
}

// derive computes net-B/s.
func derive(m *samples.Machine) {
	crossing := m.Rounded(callCase, cpu)
	for _, name := range m.Cases() {
		lib, size := samples.Key(name, "lib"), samples.Key(name, "size")
		if lib == "go" || lib == "openssl-speed" { // no crossings
			m.Derive(name, net, m.Rounded(name, rate))
			continue
		}
		message, calls := m.Rounded(name, cpu), m.Rounded(name, "calls/op")
		bytes, err := strconv.ParseFloat(size, 64)
		if err != nil || crossing == nil || message == nil || calls == nil {
			continue // the empty call itself
		}
		rates := make([]float64, len(message))
		for i := range rates {
			work := message[i] - calls[i]*crossing[i]
			if work <= 0 {
				rates = nil // all of it is crossings: no rate
				break
			}
			rates[i] = bytes / work
		}
		m.Derive(name, net, rates)
	}
}

// pairs are the comparisons beside those with the baseline: without AES
// instructions and with, AES with ChaCha20, OpenSSL with Go, and our calls
// with openssl speed.
func pairs() []study.Pair {
	var list []study.Pair
	add := func(unit, name, base string) { list = append(list, study.Pair{Unit: unit, Case: name, Base: base}) }
	chacha := algorithms[2]
	for _, a := range algorithms {
		for _, op := range ops {
			for _, size := range sizes {
				for _, aes := range aesSettings {
					add(net, a.in("openssl", op, size, aes), a.in("go", op, size, aes))
					add(net, a.in("openssl", op, size, aes), chacha.in("openssl", op, size, aes))
					add(rate, a.in("go", op, size, aes), chacha.in("go", op, size, aes))
				}
				for _, lib := range []string{"go", "openssl"} {
					add(net, a.in(lib, op, size, "off"), a.in(lib, op, size, "on"))
				}
				add(rate, a.in("go", op, size, "off"), a.in("go", op, size, "on"))
				add(rate, a.in("go", op, size, "on"), a.in("go", op, size, "off"))
			}
		}
		for _, aes := range aesSettings {
			add(net, a.in("openssl", "seal", largest, aes), algorithms[0].in("openssl", "seal", largest, aes))
			add(net, a.in("openssl-rekeyed", "seal", largest, aes), a.in("openssl-speed", "seal", largest, aes))
			add(net, a.in("openssl-speed", "seal", largest, aes), a.in("go", "seal", largest, aes))
		}
	}
	return list
}

// headlines are the ratios at full records.
func headlines(*study.Data) []study.Pair {
	var list []study.Pair
	for _, a := range algorithms {
		for _, aes := range aesSettings {
			if a != algorithms[3] {
				list = append(list, study.Pair{Unit: net, Case: a.in("openssl", "seal", largest, aes), Base: a.in("go", "seal", largest, aes)})
			}
			if name := a.in("go", "seal", largest, aes); name != baseline && a != algorithms[3] {
				list = append(list, study.Pair{Unit: rate, Case: name, Base: baseline})
			}
		}
	}
	return list
}

func main() {
	study.Main(study.Analysis{
		Name:      "primitives",
		Baseline:  baseline,
		Units:     []string{rate, cpu, net},
		Observed:  []string{"calls/op"},
		Pairs:     pairs(),
		Headlines: headlines,
		Derive:    derive,
		Figures: map[string]func(*study.Data) (study.Drawing, error){
			"full": full, "sizes": bySize,
		},
		Tables: map[string]func(*study.Data) (string, error){
			"full": fullTable, "openssl": opensslTable, "open": openTable, "speed": speedTable,
			"wide": (*study.Data).Wide,
		},
	})
}
