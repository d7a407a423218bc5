// Records reads a TLS handshake record by record: what crosses the wire, in
// which order, how large, and what is inside (part 1, experiment A).
//
// # Question
//
// Which records does a handshake consist of, and which messages are in them?
// How many bytes go each way, in how many flights, and how often does the
// client wait for the server before it can send its request? How do TLS 1.3
// and 1.2, a full handshake, a session ticket and a HelloRetryRequest differ,
// and what do the post-quantum key exchange and the certificate add?
//
// # Method
//
// A server and a client, processes of their own, made anew in every round,
// talk over the loopback. The client connects, shakes hands, sends a request
// of 18 bytes and reads a response of 57 (35 and 74 in a record of TLS 1.3: the
// article's). Below its crypto/tls stands a watcher (experiments/internal/wire)
// that cuts both directions into records and decrypts them with the
// connection's own secrets to name the messages. The order of records is that
// in which the client sees them, but for the ChangeCipherSpec behind a
// HelloRetryRequest: it often arrives when the client has already answered, and
// stands where the server sends it. What follows the response, the closing
// alerts, does not count.
//
// The client is Go's default: it offers TLS 1.2 and 1.3, and with /pq=yes also
// the hybrid groups; with /pq=no it offers X25519 and P-256. The server speaks
// the case's version only. For /kind=hrr it takes only a group for which the
// client has sent no key share: SecP256r1MLKEM768 with /pq=yes, P-256 with
// /pq=no. The client has a session cache, so that the server sends tickets; for
// /kind=full and /kind=hrr the cache forgets them. TLS 1.2 has no hybrids, so
// there /pq=yes makes nothing but the ClientHello larger.
//
// Every connection is checked to be what the case says: version, group,
// certificates, HelloRetryRequest, and resumption, of which the server states
// in its response what it knows. Records must follow each other in the same order in every
// connection of a case, and their lengths and headers must add up to what a
// plain counter below the watcher has seen. Anything else fails the round.
//
// # Samples
//
// The window's line of a case has percentiles of the time from the start of
// connecting to the response. Other lines count the connections that had
// exactly these numbers of bytes (record headers included, TCP/IP headers not)
// and records in each direction and both, of flights (runs of records in one
// direction), of round-trips (server flights that the client waits for before
// its request), and of waits (those up to the response, and one for the
// server's TCP SYN-ACK).
//
// Each record has a case of its own: the case's name with a number, the sender
// and the messages, as in /record=05-server-certificate. Its lines have the
// median time since connect returned, at which the client wrote it or it had
// arrived, and count the connections in which it had exactly this length (as on
// the wire, without the header's 5 bytes), type and version. Lengths of records
// with an ECDSA signature vary by some bytes.
//
// The case /twin=b is the first one again, under another name (A/A).
//
// /cost=watching has what watching costs: a transfer of full records over one
// connection with both ends in one process, with and without a watcher under
// the reading end; CPU time of the process by byte and record, and rate. The
// watcher reads more at once than crypto/tls does, which costs less, and what it
// adds drowns in what such a transfer varies by. So /cost=replay has it alone:
// in one process, the bytes of a recorded full handshake cross a connection
// from memory, with no watcher (/of=handshake/watch=no), with one that keeps
// them as in all cases above (yes), and with one that decrypts and names them
// as well (named); and full records of application data are read from memory
// through a plain reader (/of=data/watch=no) and through a watcher that, beyond
// the first ones, cuts and counts them (yes). CPU time of the process by
// record, the garbage collector's included.
//
// /client=openssl has the size of the ClientHello of openssl s_client without
// hybrid groups, without the record's header. /check=... are behaviours,
// observed once a round.
//
// # Left out
//
// Delay on the wire (experiment roundtrips), early data (earlydata), client
// certificates, and what the times would be without the watcher.
//
// # Running
//
//	go run ./experiments/records -machine laptop
//	go run ./experiments/records -machine laptop -profile quick -cases 'kind=ticket'
//
// The standard profile takes about 40 seconds, quick about 15. The case of
// openssl needs the openssl program and is recorded as not measured without
// it.
package main

import (
	"time"

	"cryptocost/experiments/internal/host"
	"cryptocost/experiments/internal/trial"
)

func main() { trial.Main(experiment()) }

func experiment() trial.Experiment {
	return trial.Experiment{
		Name:         "records",
		Slice:        20 * time.Millisecond,
		Quota:        trial.Quotas{Quick: 40 * time.Millisecond, Standard: 60 * time.Millisecond, Thorough: 60 * time.Millisecond},
		RawLatencies: 5,
		Exact: []string{
			"sent-B/op", "sent-records/op", "received-records/op", "records/op", "flights/op", "round-trips/op", "waits/op",
			"record-type/op", "record-version/op", "clienthello-B/op",
		},
		Tools: tools,
		Roles: host.Roles{"server": newServer, "client": newClient, "pair": newPair, "replayer": newReplayer},
		Cases: cases,
	}
}
