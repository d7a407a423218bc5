package main

import (
	"crypto/cipher"
	"fmt"
	"runtime"
	"time"

	"cryptocost/experiments/internal/aes"
	"cryptocost/experiments/internal/host"
	"cryptocost/experiments/primitives/aead"
)

// The operations, as the axis op names them; opCall is a call into libcrypto
// that does nothing.
const (
	opSeal = "seal"
	opOpen = "open"
	opCall = "call"
)

// workerStart is the argument of the request "start".
type workerStart struct {
	Lib  string `json:"lib"`
	AEAD string `json:"aead"`
	AES  bool   `json:"aes"` // AES instructions must be in use, or must not
}

// A workReport is what a worker did in one slice.
type workReport struct {
	Ops     int           `json:"ops"`
	Elapsed time.Duration `json:"elapsed"`
	Usage   host.Usage    `json:"usage"`
	Calls   int           `json:"calls"` // into libcrypto for one message
}

// A worker is the role worker: one algorithm of one library.
type worker struct {
	aead  cipher.AEAD
	evp   *aead.EVP // aead, if it is libcrypto's
	nonce []byte
	ad    []byte
	out   []byte
	plain []byte
	// sealed are messages for opening, by the size of their content.
	sealed map[int][]byte
}

func newWorker() map[string]host.Handler {
	w := &worker{}
	return map[string]host.Handler{"start": host.Handle(w.start), "work": host.Handle(w.work)}
}

func (w *worker) start(s workerStart) (struct{}, error) {
	size, err := aead.KeySize(s.AEAD)
	if err != nil {
		return struct{}{}, err
	}
	w.nonce, w.ad = pattern(aead.NonceSize), pattern(aead.AdditionalDataSize)
	w.plain = pattern(largest)
	w.out = make([]byte, 0, largest+aead.TagSize)
	w.sealed = map[int][]byte{}
	if s.Lib == libGo {
		if w.aead, err = aead.NewGo(s.AEAD, pattern(size)); err != nil {
			return struct{}{}, err
		}
		return struct{}{}, checkAES("Go", s.AES, aes.UsedByGo)
	}
	lib, err := aead.Load()
	if err != nil {
		return struct{}{}, err
	}
	sequence := aead.KeyOnce
	if s.Lib == libRekeyed {
		sequence = aead.KeyEachMessage
	}
	if w.evp, err = lib.New(s.AEAD, pattern(size), sequence); err != nil {
		return struct{}{}, err
	}
	w.aead = w.evp
	return struct{}{}, checkAES("libcrypto", s.AES, lib.UsesAES)
}

// checkAES compares what a library uses with what the case says.
func checkAES(library string, want bool, used func() (bool, error)) error {
	got, err := used()
	if err == nil && got != want {
		err = fmt.Errorf("%s uses AES instructions: %v, want %v", library, got, want)
	}
	return err
}

// pattern makes bytes that are neither all the same nor random.
func pattern(n int) []byte {
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(i*7 + 1)
	}
	return b
}

// step is the time between two looks at the clock, roughly.
const step = 100 * time.Microsecond

// work does one operation again and again for about the time asked for. The
// first step finds out how many operations fit a step, and settles caches.
func (w *worker) work(job work) (workReport, error) {
	do, err := w.operation(job)
	if err != nil {
		return workReport{}, err
	}
	batch := 1
	for {
		took, err := repeat(do, batch)
		if err != nil {
			return workReport{}, err
		}
		if took >= step || batch >= 1<<20 {
			break
		}
		batch *= 2
	}
	var r workReport
	if w.evp != nil {
		r.Calls = w.evp.SealCalls()
	}
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	before, start := host.ThreadUsage(), time.Now()
	for r.Elapsed < job.For {
		if _, err := repeat(do, batch); err != nil {
			return r, err
		}
		r.Ops += batch
		r.Elapsed = time.Since(start)
	}
	r.Usage = host.ThreadUsage().Sub(before)
	return r, nil
}

// repeat does an operation n times.
func repeat(do func(int) error, n int) (time.Duration, error) {
	start := time.Now()
	err := do(n)
	return time.Since(start), err
}

// operation gives the loop of a job. What is called through a variable is
// the loop, so that an operation itself is called as in any Go program.
func (w *worker) operation(job work) (func(n int) error, error) {
	switch job.Op {
	case opCall:
		return func(n int) error {
			for range n {
				w.evp.CallNothing()
			}
			return nil
		}, nil
	case opSeal:
		plain := w.plain[:job.SizeBytes]
		return func(n int) error {
			for range n {
				w.aead.Seal(w.out, w.nonce, plain, w.ad)
			}
			return nil
		}, nil
	case opOpen:
		message, ok := w.sealed[job.SizeBytes]
		if !ok {
			message = w.aead.Seal(nil, w.nonce, w.plain[:job.SizeBytes], w.ad)
			w.sealed[job.SizeBytes] = message
		}
		return func(n int) error {
			for range n {
				if _, err := w.aead.Open(w.out, w.nonce, message, w.ad); err != nil {
					return err
				}
			}
			return nil
		}, nil
	}
	return nil, fmt.Errorf("no operation %q", job.Op)
}
