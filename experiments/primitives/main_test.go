package main

import (
	"context"
	"os"
	"strings"
	"testing"
	"time"

	"cryptocost/experiments/internal/aes"
	"cryptocost/experiments/internal/host"
	"cryptocost/experiments/internal/trial"
)

func TestMain(m *testing.M) { os.Exit(host.RunTests(m, experiment().Roles)) }

// TestCases lets every case of full records and the smallest messages work
// for a moment, all in one group as in a round.
func TestCases(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	group := &host.Group{}
	defer group.Close()
	for _, c := range cases() {
		middle := strings.Contains(c.Name, "size=256/") || strings.Contains(c.Name, "size=1400/") || strings.Contains(c.Name, "size=8192/")
		if middle || strings.Contains(c.Name, "/lib="+libSpeed+"/") && !strings.Contains(c.Name, "aes-128-gcm/op=seal/size=16384/aes=off") {
			continue
		}
		t.Run(c.Name, func(t *testing.T) {
			if c.Missing != "" {
				t.Skip(c.Missing)
			}
			measure, err := c.Start(ctx, group)
			if err != nil {
				t.Fatal(err)
			}
			s, err := measure(ctx, time.Millisecond)
			if err != nil {
				t.Fatal(err)
			}
			units := map[string]trial.Quantity{}
			for _, q := range s.Quantities {
				units[q.Unit] = q
			}
			if cpu := units["cpu-ns/op"]; s.Ops < 1 || cpu.Sum <= 0 || cpu.Per != float64(s.Ops) {
				t.Errorf("%d messages: %+v", s.Ops, cpu)
			}
			_, rated := units["MB/s"]
			_, crossings := units["calls/op"]
			if rated == strings.Contains(c.Name, "call=nothing") || crossings != (strings.Contains(c.Name, "/lib=openssl") && rated && !strings.Contains(c.Name, "speed")) {
				t.Errorf("quantities %v", s.Quantities)
			}
		})
	}
}

// TestWrongAES checks that a process whose AES instructions are not as its
// case says refuses to work.
func TestWrongAES(t *testing.T) {
	if reason := aes.Missing(aes.On) + aes.Missing(aes.Off); reason != "" {
		t.Skip(reason)
	}
	w := &worker{}
	if _, err := w.start(workerStart{Lib: libGo, AEAD: "aes-128-gcm", AES: false}); err == nil {
		t.Error("no error in a process that uses AES instructions")
	}
}

// TestTampered checks that a worker does not count messages that can't be
// opened.
func TestTampered(t *testing.T) {
	w := &worker{}
	if _, err := w.start(workerStart{Lib: libGo, AEAD: "chacha20-poly1305", AES: aes.Missing(aes.On) == ""}); err != nil {
		t.Fatal(err)
	}
	if _, err := w.work(work{Op: opOpen, SizeBytes: 64, For: time.Microsecond}); err != nil {
		t.Fatal(err)
	}
	w.sealed[64][0] ^= 1
	if _, err := w.work(work{Op: opOpen, SizeBytes: 64, For: time.Microsecond}); err == nil {
		t.Error("no error for a message that was tampered with")
	}
	if _, err := w.work(work{Op: "guess"}); err == nil {
		t.Error("no error for an unknown operation")
	}
}
