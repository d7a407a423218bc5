// Keyexchange measures what a TLS handshake costs by key exchange, by the
// server's certificate and by protocol version (part 4, experiment A).
//
// # Question
//
// How much CPU does a new connection cost the server and the client, how long
// does it take, and how many bytes cross the wire? Is the post-quantum hybrid
// that Go prefers dear? Is P-521? RSA? What does a HelloRetryRequest cost?
//
// # Method
//
// Each case has a server and a client, processes of their own, made anew in
// every round. All are alive together and take turns in slices of 20 ms. The
// client connects over loopback, shakes hands, says that it is done, reads
// until the server closes, and connects again; the server closes first. The leaf certificate is issued
// by a root that the client trusts, and verified. No session is resumed: the
// client has no session cache, as in Go's default, and so gets no ticket;
// with /tickets=asked it has one that stores nothing.
//
// Every connection is checked to be what the case says: version, group,
// algorithm of the certificate, HelloRetryRequest, no resumption. A wrong
// one fails the round.
//
// # Samples
//
// The window's line has, per handshake, the CPU time of the server's process
// and of the client's (user and system, from their own clocks; connecting
// and closing included) and percentiles of the latency from the first byte
// of the ClientHello to the end of the client's handshake (connecting not
// included). Lines with sent-B/op, received-B/op and after-B/op count the
// handshakes in which the client had sent and received exactly these bytes
// when its handshake ended, and received these after (tickets, closing
// alert), TLS record headers included, TCP/IP headers not. They are taken from
// the first handshake of every slice, which settles caches and is not among
// the times, since counting costs time itself. One line gives the size of the
// first ClientHello's record and of the first key share in it.
// Lines with latency-ns/op are single handshakes, a uniform sample.
//
// The case /twin=b is the baseline again, under another name (A/A). The two
// cases with /window=whole are the same pair, each in one window of the whole
// quota instead of slices, to show what slicing is good for.
//
// # Left out
//
// Delay on the wire (experiment roundtrips), resumption and several clients
// at once (handshakes), client certificates.
//
// # Running
//
//	go run ./experiments/keyexchange -machine laptop
//	go run ./experiments/keyexchange -machine laptop -profile quick -cases 'kex=p(384|521)'
//
// The standard profile takes about 6 minutes, quick about 1. The check of
// HelloRetryRequest with openssl needs the openssl program and is recorded as
// not measured without it.
package main

import (
	"time"

	"cryptocost/experiments/internal/host"
	"cryptocost/experiments/internal/trial"
)

func main() { trial.Main(experiment()) }

func experiment() trial.Experiment {
	return trial.Experiment{
		Name:         "keyexchange",
		Slice:        20 * time.Millisecond,
		Quota:        trial.Quotas{Quick: 250 * time.Millisecond, Standard: time.Second, Thorough: time.Second},
		RawLatencies: 100,
		Exact:        []string{"clienthello-B/op", "key-share-B/op"},
		Tools:        tools,
		Roles:        host.Roles{"server": newServer, "client": newClient},
		RemoteRoles:  []string{"server"},
		Cases:        cases,
	}
}
