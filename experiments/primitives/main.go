// Primitives measures authenticated encryption by itself: AES-GCM, AES-CCM
// and ChaCha20-Poly1305 in Go and in OpenSSL, with the processor's AES
// instructions and without (part 4, experiment C).
//
// # Question
//
// How many bytes a second does one core seal and open? How much is lost
// without AES instructions? Is OpenSSL faster than Go?
//
// # Method
//
// Each library, algorithm and setting of the AES instructions has a process
// of its own, made anew in every round; all are alive together and take turns
// in slices of 10 ms. Go is crypto/aes with crypto/cipher and
// golang.org/x/crypto/chacha20poly1305. OpenSSL is libcrypto's EVP functions,
// called from Go without cgo, so that both can be sliced against each other.
// Both sides get the same message, of the same length, with 13 bytes of
// additional data (as in TLS 1.2) and a 12-byte nonce; the key is set once.
// The nonce stays the same, which is fit for nothing but a benchmark.
//
// Every call into libcrypto costs the crossing from Go to C, and a message
// takes several. The case /lib=openssl/call=nothing measures a call that does
// nothing, in the same rounds, so that the analysis can take the crossings
// off; below 8 KiB they are too much of the time, and the result is not called
// a comparison there.
//
// As a check, `openssl speed` runs the same algorithms at 16 KiB in one
// window of a second. It can't run for less, and so can't be sliced. What it
// does for a message is described in package speed: it sets the key anew for
// AES-GCM and AES-CCM, and leaves out nonce and tag for ChaCha20-Poly1305. The
// cases /lib=openssl-rekeyed do the former, to be compared with it.
//
// Every process checks whether AES instructions are in use as its case says.
//
// # Samples
//
// The window's line counts messages; MB/s is bytes of content (10^6) by CPU
// time of the thread that works, cpu-ns/op CPU time per message, calls/op the calls
// into libcrypto that a message takes.
//
// # Left out
//
// Key setup, other lengths of additional data, several cores, and real
// processors without AES instructions.
//
// # Running
//
//	go run ./experiments/primitives -machine laptop
//	go run ./experiments/primitives -machine laptop -cases 'lib=go/.*size=16384'
//
// The standard profile takes about 4 minutes, quick about 1. OpenSSL 3's
// libcrypto and the openssl program are needed for its cases, which are
// recorded as not measured without.
package main

import (
	"time"

	"cryptocost/experiments/internal/host"
	"cryptocost/experiments/internal/trial"
)

func main() { trial.Main(experiment()) }

func experiment() trial.Experiment {
	return trial.Experiment{
		Name:  "primitives",
		Slice: 10 * time.Millisecond,
		Quota: trial.Quotas{Quick: 20 * time.Millisecond, Standard: 70 * time.Millisecond, Thorough: 200 * time.Millisecond},
		Exact: []string{"calls/op"},
		Tools: tools,
		Roles: host.Roles{"worker": newWorker},
		Cases: cases,
	}
}
