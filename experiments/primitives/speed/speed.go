// Package speed runs openssl speed on one cipher and one size and reads its machine-readable output.
//
// What to know of that program, version 3.0 (apps/speed.c), before comparing its results:
//
//   - What one operation is differs between versions, and between ciphers within one: see
//     aead.Sequence. In 3.0.19 an AES-GCM or AES-CCM operation sets the key anew, and a
//     ChaCha20-Poly1305 operation is an update of one endless message, with or without -aead: no
//     nonce, no additional data, no tag.
//   - -aead adds 13 bytes of additional data. AES-CCM before openssl/openssl#25823 (November 2024)
//     ignored it, and decryption of any AEAD before that ran into a wrong tag on purpose.
//   - It encrypts in place, and never fetches the tag.
//   - It reads clocks in steps of 10 ms and runs for whole seconds, so a run of 1 s is exact to 1 %. It
//     divides by the user time, which leaves out what was stolen only in part, or with -elapsed by
//     the time that passed.
package speed

import (
	"context"
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"

	"cryptocost/experiments/internal/host"
)

// A Benchmark is what to run.
type Benchmark struct {
	// Cipher is the name of an EVP cipher, such as "aes-128-gcm".
	Cipher string
	// SizeBytes is the length of one operation's plaintext.
	SizeBytes int
	// Seconds is how long to run, at least 1.
	Seconds int
	// AEAD gives each operation 13 bytes of additional data.
	AEAD bool
	// Decrypt decrypts instead of encrypting.
	Decrypt bool
	// Elapsed divides by the time that passed instead of the user time.
	Elapsed bool
}

// Args returns the arguments for openssl.
func (b Benchmark) Args() []string {
	args := []string{"speed", "-mr"}
	for _, flag := range []struct {
		name string
		set  bool
	}{{"-aead", b.AEAD}, {"-decrypt", b.Decrypt}, {"-elapsed", b.Elapsed}} {
		if flag.set {
			args = append(args, flag.name)
		}
	}
	return append(args, "-evp", b.Cipher, "-bytes", strconv.Itoa(b.SizeBytes), "-seconds", strconv.Itoa(b.Seconds))
}

// A Result is what openssl speed found.
type Result struct {
	// Operations is how often the cipher was run, each time on Benchmark.SizeBytes.
	Operations int64
	// Seconds is the user time that took or, if Benchmark.Elapsed, the time that passed.
	Seconds float64
	// BytesPerSecond is the rate of plaintext, computed by openssl from the two.
	BytesPerSecond float64
}

// Run runs the benchmark with the openssl at path. The variables in environ ("name=value"), such as a
// capability mask, are added to this process's environment.
func (b Benchmark) Run(ctx context.Context, path string, environ []string) (Result, error) {
	// The count comes on stderr as soon as it is known, the rate on stdout at the end.
	output, err := host.Run(ctx, nil, environ, path, b.Args()...)
	if err != nil {
		return Result{}, fmt.Errorf("running openssl %s: %w: %s", strings.Join(b.Args(), " "), err, firstLine(string(output)))
	}
	result, err := b.parse(string(output))
	if err != nil {
		return Result{}, fmt.Errorf("reading the output of openssl %s: %w", strings.Join(b.Args(), " "), err)
	}
	return result, nil
}

// firstLine is the line in which openssl says what is wrong; details of the library follow.
func firstLine(s string) string {
	line, _, _ := strings.Cut(s, "\n")
	return line
}

// outputLines are the lines of the output, stderr's before stdout's, and the values in them.
var outputLines = []struct {
	meaning string
	pattern *regexp.Regexp
}{
	{"cipher, seconds and size to run", regexp.MustCompile(`^\+DT:([^:]+):(\d+):(\d+)$`)},
	{"operations, cipher and seconds", regexp.MustCompile(`^\+R:(\d+):([^:]+):(\d+\.\d{6})$`)},
	{"size", regexp.MustCompile(`^\+H:(\d+)$`)},
	{"cipher and rate", regexp.MustCompile(`^\+F:\d+:([^:]+):(\d+\.\d{2})$`)},
}

// parse reads the output of a benchmark: exactly outputLines, of this cipher and size, with a rate that
// follows from the operations and seconds.
func (b Benchmark) parse(output string) (Result, error) {
	lines := strings.Split(strings.TrimSuffix(output, "\n"), "\n")
	values := make([][]string, len(outputLines))
	for i, want := range outputLines {
		if i >= len(lines) {
			return Result{}, fmt.Errorf("line %d: missing, want %s", i+1, want.meaning)
		}
		if values[i] = want.pattern.FindStringSubmatch(lines[i]); values[i] == nil {
			return Result{}, fmt.Errorf("line %d: %q, want %s", i+1, lines[i], want.meaning)
		}
	}
	if len(lines) > len(outputLines) {
		return Result{}, fmt.Errorf("line %d: %q, want no more", len(outputLines)+1, lines[len(outputLines)])
	}
	plan, run, header, final := values[0], values[1], values[2], values[3]
	for _, cipher := range []string{plan[1], run[2], final[1]} {
		if !strings.EqualFold(cipher, b.Cipher) {
			return Result{}, fmt.Errorf("result of cipher %q, want %q", cipher, b.Cipher)
		}
	}
	if plan[2] != strconv.Itoa(b.Seconds) {
		return Result{}, fmt.Errorf("result for %s seconds, want %d", plan[2], b.Seconds)
	}
	for _, size := range []string{plan[3], header[1]} {
		if size != strconv.Itoa(b.SizeBytes) {
			return Result{}, fmt.Errorf("result for %s bytes, want %d", size, b.SizeBytes)
		}
	}
	return b.result(run[1], run[3], final[2])
}

// result converts the numbers and checks them against one another.
func (b Benchmark) result(operations, seconds, rate string) (Result, error) {
	var r Result
	var err error
	if r.Operations, err = strconv.ParseInt(operations, 10, 64); err != nil {
		return Result{}, fmt.Errorf("operations: %w", err)
	}
	if r.Seconds, err = strconv.ParseFloat(seconds, 64); err != nil {
		return Result{}, fmt.Errorf("seconds: %w", err)
	}
	if r.BytesPerSecond, err = strconv.ParseFloat(rate, 64); err != nil {
		return Result{}, fmt.Errorf("rate: %w", err)
	}
	if r.Operations == 0 || r.Seconds == 0 {
		return Result{}, fmt.Errorf("%d operations in %v seconds, want some", r.Operations, r.Seconds)
	}
	// The rate is printed to 0.01 bytes per second, the seconds are a multiple of a clock tick.
	const relative, absolute = 1e-6, 0.01
	want := float64(r.Operations) / r.Seconds * float64(b.SizeBytes)
	if math.Abs(r.BytesPerSecond-want) > want*relative+absolute {
		return Result{}, fmt.Errorf("rate %v, want %v from %d operations in %v seconds",
			r.BytesPerSecond, want, r.Operations, r.Seconds)
	}
	return r, nil
}
