// Link measures the wire with a fixed delay on which roundtrips and earlydata
// are measured: how close it keeps to its delay, and up to which rate.
//
// # Question
//
// A delay that is added by a program of ours is only as good as that program.
// How far is the round trip that TCP sees from the one that was set? How late
// is a packet handed on? How many packets in a second does the wire carry
// before it adds a delay of its own or loses some?
//
// # Method
//
// The wire joins two network namespaces (experiments/internal/link); one
// thread reads the packets of both ends and hands each on when it is due,
// counted from the kernel's time of its arrival. A process at each end
// measures connecting: 60 connects over TCP in a slice, each begun 2 ms after
// the one before, on symmetric wires with round trips of 0 to 200 ms and on
// the article's, with 50 ms from server to client only. Connecting takes one
// round trip, and what else it takes on the wire without delay is the price of
// the kernel, of the forwarder and of waking up processes. For the rates, one
// process sends UDP packets of 1 KiB, each when it is due, over a wire with
// 2.5 ms in each direction, and another one counts what arrives. All cases
// take turns on one link, made anew in every round.
//
// # Samples
//
// The window's line of /wire=W counts connects: latency-ns/op is the time of a
// connect, late-ns/op by how much a packet was handed on after it was due (of
// all packets, or 8192 drawn from them). wire-late-ns/packet is the mean of
// that, wire-behind-ratio the share of packets more than 0.3 ms late,
// wire-lost-ratio the share that the forwarder had no room for. The line of
// /rate=R counts packets sent: offered-packets/s is their rate, which falls
// behind R where the sender can't keep up, delivered-ratio the share that
// arrived and that the receiver's socket had room for.
//
// # Left out
//
// Loss, reordering, jitter and a limited bandwidth: the wire adds a delay and
// nothing else. Rates of several senders, and packets in both directions at
// once beyond what TCP acknowledges.
//
// # Running
//
//	go run ./experiments/link -machine laptop
//
// The standard profile takes about 80 seconds, quick 25. It needs Linux with
// user namespaces, and no privileges.
package main

import (
	"time"

	"cryptocost/experiments/internal/host"
	"cryptocost/experiments/internal/link"
	"cryptocost/experiments/internal/trial"
)

func main() { trial.Main(experiment()) }

func experiment() trial.Experiment {
	return trial.Experiment{
		Name:  "link",
		Slice: 150 * time.Millisecond,
		Quota: trial.Quotas{Quick: 150 * time.Millisecond, Standard: 300 * time.Millisecond, Thorough: 600 * time.Millisecond},
		Tools: func() map[string]string { return map[string]string{"link": link.Describe()} },
		Roles: link.Roles(host.Roles{"source": sourceRole, "sink": sinkRole}),
		Cases: cases,
	}
}
