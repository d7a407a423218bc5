// Throughput measures what TLS costs per byte by cipher suite, with the
// processor's AES instructions and without (part 4, experiment B).
//
// # Question
//
// How fast do bytes go through a tls.Conn, and how much CPU does a byte cost?
// What is left of AES-GCM on a processor without AES instructions, and does
// Go then choose another suite by itself? What do small writes cost?
//
// # Method
//
// One process has both ends of a connection over loopback. One goroutine
// writes for the length of a slice (25 ms), another reads and discards. Each
// case is a process of its own, made anew in every round; all are alive
// together and take turns. AES instructions are switched off by starting the
// process with GODEBUG=cpu.aes=off: the same binary on the same processor.
// The connection has sent 256 KiB before the first slice, so that crypto/tls
// is past the small records with which it begins (crypto/tls/conn.go,
// recordSizeBoostThreshold), and 8 writes settle caches before every slice.
// The negotiated suite is checked to be what the case says.
//
// # Samples
//
// The window's line counts writes. MB/s is bytes of content (10^6) by the
// time from the first write to the arrival of the last byte; cpu-ns/B is the
// CPU time of the process, both ends together, per byte of content;
// cipher-suite is the code of the negotiated suite (0: plain TCP). The checks
// record which suite Go negotiates by itself.
//
// # Left out
//
// Kernel TLS, zero-copy sending (os.File to net.Conn), several connections at
// once, and a real processor without AES instructions: with the instructions
// off this one still has its caches and pipelines.
//
// # Running
//
//	go run ./experiments/throughput -machine laptop
//	go run ./experiments/throughput -machine laptop -cases 'aes=off'
//
// The standard profile takes about 3 minutes, quick about half a minute.
package main

import (
	"time"

	"cryptocost/experiments/internal/host"
	"cryptocost/experiments/internal/trial"
)

func main() { trial.Main(experiment()) }

func experiment() trial.Experiment {
	return trial.Experiment{
		Name:  "throughput",
		Slice: 25 * time.Millisecond,
		Quota: trial.Quotas{Quick: 150 * time.Millisecond, Standard: 700 * time.Millisecond, Thorough: time.Second},
		Exact: []string{"cipher-suite"},
		Roles: host.Roles{"pair": newPair},
		Cases: cases,
	}
}
