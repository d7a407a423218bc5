package main

import (
	"crypto/tls"
	"math"
	"os"
	"strings"
	"testing"
	"time"

	"cryptocost/experiments/internal/aes"
	"cryptocost/experiments/internal/host"
	"cryptocost/experiments/internal/trial"
)

func TestMain(m *testing.M) { os.Exit(host.RunTests(m, experiment().Roles)) }

// TestCases lets every case transfer for a moment; the suite is checked by
// the process itself, content and time must fit each other.
func TestCases(t *testing.T) {
	for _, c := range cases() {
		t.Run(c.Name, func(t *testing.T) {
			if c.Missing != "" {
				t.Skip(c.Missing)
			}
			s, err := c.Once(t.Context(), 5*time.Millisecond)
			if err != nil {
				t.Fatal(err)
			}
			if strings.HasPrefix(c.Name, "/check=") {
				if got := s.Tallies[0].Values[0].Value; got != 1 {
					t.Errorf("observed %v", got)
				}
				return
			}
			var rate, cpu trial.Quantity
			for _, q := range s.Quantities {
				switch q.Unit {
				case "MB/s":
					rate = q
				case "cpu-ns/B":
					cpu = q
				}
			}
			if s.Ops < 1 || rate.Per != s.Elapsed.Seconds() || cpu.Sum <= 0 || math.Abs(rate.Sum*1e6-cpu.Per) > 1 {
				t.Errorf("%d writes in %v: %+v, %+v", s.Ops, s.Elapsed, rate, cpu)
			}
		})
	}
}

// TestWrongSuite checks that a connection with another suite than the case
// says fails.
func TestWrongSuite(t *testing.T) {
	c := fixed("aes-128-gcm", fullWrite)
	c.Negotiated = []uint16{tls.TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384}
	if _, err := (trial.Case{Start: c.start("wrong", aes.On)}).Once(t.Context(), 5*time.Millisecond); err == nil || !strings.Contains(err.Error(), "AES_128_GCM") {
		t.Errorf("got %v, want an error that names the suite", err)
	}
}
