// Roundtrips measures how long a new connection takes until the first byte of
// the response on networks with a delay, and how many times it waits for one
// (part 1, experiment B, and the delayed rows of part 4).
//
// # Question
//
// How many round trips are between connecting and the first byte of an
// answer: over TLS 1.3 and 1.2, with and without a session ticket, with a
// HelloRetryRequest, with the larger messages of a post-quantum exchange, and
// over QUIC? From which size on does a certificate chain cost one more?
//
// # Method
//
// A server and a client, processes of their own in every round, are at the two
// ends of a wire with a fixed delay for each direction
// (experiments/internal/link): with 50 ms from server to client only, as in
// the article; with round trips of 50, and for the four main kinds of 10, 100
// and 200 ms, half of it in each direction; and without delay. What a
// HelloRetryRequest costs is measured with 100 and 200 ms too, the article's
// mobile networks. A second pair of processes is on the loopback, outside of
// any link. In a slice, 8 connections are timed: a request of 18 bytes and a
// response of 57. They begin 4 ms one after the other on all wires and on the
// loopback, and overlap where they wait: what is compared so finds processors
// that are as warm, but for those that cool during a wait. The server closes, the client waits
// for it and resets its end, so that nothing is under way when the wire gets
// its next delay. All kinds and wires take turns. Sockets are those of TCP and
// not of MPTCP, which Go's listeners accept by default.
//
// Every connection is checked to have negotiated what its kind says, the
// resumption at both ends. A ticket is got before the round's first slice. The
// certificate is the article's, ECDSA P-256 and self-signed, but for RSA and
// for /chain, whose chains are one certificate each, issued by a root that is
// not sent and padded to the size in the name; it is verified. Chains are
// measured without delay and with 25 ms each way, those of TLS 1.2 only around
// the size at which its flight outgrows the initial window. Before each round 60 connects
// measure every wire, and the round fails where one is off.
//
// The waits are also counted, without a clock, on one more connection, which
// begins each slice and is not timed: from the order of its TLS records.
//
// # Samples
//
// The window's line counts timed connections. Its latency is from the
// beginning of connecting to the first byte of the response; connect-ns until
// TCP is connected, handshake-ns until the handshake of TLS or QUIC has ended,
// both from that beginning; tls-ns is the handshake without TCP's, over QUIC,
// whose handshake carries that of TLS, the same as handshake-ns. wire-late-ns
// and its like are of the wire (see experiments/link).
//
// Of the connection that is not timed, waits/op is how many times the client
// waits for the server until the response, SYN-ACK included; round-trips/op how
// many of them are the handshake of TLS; certificate-B/op the Certificate
// message with its header of 4 bytes; server-flight-B/op the server's flight
// that has this message, or the ServerHello where a session is resumed, up to
// its Finished, record headers included; clienthello-segments/op the TCP
// segments that the first flight of the client takes on a wire. Signatures
// differ by a byte or two in length, and with them the flights. Of QUIC nothing
// is counted.
//
// # Left out
//
// Loss, limited bandwidth, and a DNS lookup before connecting. QUIC's address
// validation (Retry), which quic-go leaves off by default and which costs one
// more round trip, and its negotiation of versions: both ends speak version 1
// only. TCP Fast Open. Early data is in experiments/earlydata.
//
// # Running
//
//	go run ./experiments/roundtrips -machine laptop
//	go run ./experiments/roundtrips -machine laptop -cases 'wire=25.25ms'
//
// The standard profile takes about 200 seconds, quick half of that. It needs
// Linux with user namespaces, and no privileges; elsewhere only the loopback
// is measured.
package main

import (
	"time"

	"cryptocost/experiments/internal/host"
	"cryptocost/experiments/internal/link"
	"cryptocost/experiments/internal/trial"
)

func main() { trial.Main(experiment()) }

func experiment() trial.Experiment {
	const slice = 200 * time.Millisecond
	return trial.Experiment{
		Name:         "roundtrips",
		Slice:        slice, // as many connections on all wires, whatever they take
		Quota:        trial.Quotas{Quick: slice, Standard: slice, Thorough: 2 * slice},
		RawLatencies: visits,
		Exact:        []string{"waits/op", "round-trips/op", "certificate-B/op", "clienthello-segments/op"},
		Tools:        func() map[string]string { return map[string]string{"link": link.Describe()} },
		Roles:        link.Roles(host.Roles{"server": newServer, "client": newClient}),
		Cases:        cases,
	}
}
