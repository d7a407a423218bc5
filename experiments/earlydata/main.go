// Earlydata measures when a server has the request of a new connection, with
// and without early data (0-RTT; RFC 8446, 2.3) (part 1, experiment C).
//
// # Question
//
// How much sooner does the server have the request when the client sends it as
// early data, and what is the price? Can Go do it?
//
// # Method
//
// openssl s_server -early_data runs at one end of a link (package link) and
// openssl s_client at the other, each started by a process of ours that is at
// that end. The same request is sent in three ways, each as soon as the program
// can: over a full handshake (on the standard input of s_client, which is
// there from its start), over a resumed one (with -sess_in), and as early data
// (with -sess_in and -early_data). s_server writes what it receives to its
// output at once and unbuffered, unlike what it says about it; the process that
// reads this output notes the moment at which the request line is complete, on
// CLOCK_MONOTONIC, which is the same at both ends. The client stays until it has
// a new session, so each connection can resume the one before: s_server takes a
// session once (its protection against replay).
//
// Go's own way is 0-RTT in QUIC (quic-go), on the same wire: the same three
// kinds, seven connections started 5 ms apart. Go's server takes a ticket, with
// its early data, more than once, so one session serves all of a round.
//
// Every connection is checked to be what the case says, by what both programs
// say: TLS 1.3, verified certificate, resumed or not, early data accepted by
// the client's word and received by the server's. A wrong one fails the round.
//
// Neither the private key nor a session or a request touches a disk: openssl
// reads and writes them through pipes (/dev/fd).
//
// # Samples
//
// A line of a window has percentiles of the latency, from the connection's
// first packet (the SYN, when it left the client's end; for QUIC the start of
// the dial) to the moment when the server has the request; for openssl also of
// "program", from the start of the client's program to the same (the article's
// way), and of "before", from there to the first packet; and for all how late
// the wire was. The connections of a window are a fixed, odd number, three of
// openssl and seven of quic-go, so p50 is that of one of them and no lesser
// one of two. Lines with latency-ns/op are single
// connections.
//
// Lines /check=NAME are behaviours, observed once a round: what the programs
// say, the replay of a first flight that was captured on its way, and what Go
// does over TCP. They need no delay and are observed on the loopback, but for
// the client that does not wait for its ticket. Lines /check-wire=W are the
// wire's own times. The case /twin=b is the same as the one without it (A/A).
//
// # Left out
//
// Early data of more than one record, the server's limits on it, HTTP.
//
// # Running
//
//	go run ./experiments/earlydata -machine laptop
//	go run ./experiments/earlydata -machine laptop -profile quick -cases client=openssl
//
// The standard profile takes about 85 seconds, quick about 45. Cases that need
// the openssl program or the link are recorded as not measured where it is
// missing; without the link most of the checks are still observed.
package main

import (
	"time"

	"cryptocost/experiments/internal/host"
	"cryptocost/experiments/internal/link"
	"cryptocost/experiments/internal/tool"
	"cryptocost/experiments/internal/trial"
)

func main() { trial.Main(experiment()) }

func experiment() trial.Experiment {
	return trial.Experiment{
		Name:         "earlydata",
		Slice:        300 * time.Millisecond, // the connections of a slice are a fixed number, whatever they take
		Quota:        trial.Quotas{Quick: 300 * time.Millisecond, Standard: 300 * time.Millisecond, Thorough: 600 * time.Millisecond},
		RawLatencies: 20,
		Tools:        tools,
		Roles:        link.Roles(host.Roles{"server": newServer, "client": newClient}),
		Cases:        cases,
	}
}

// tools are the version of the program under test, and the wire; that of
// quic-go is among the modules.
func tools() map[string]string {
	versions := map[string]string{"openssl": "none", "link": link.Describe()}
	if found, err := tool.OpenSSL(); err == nil {
		versions["openssl"] = found.Version
	}
	return versions
}
