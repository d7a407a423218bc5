package main

import (
	"context"
	"crypto/tls"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"cryptocost/experiments/internal/aes"
	"cryptocost/experiments/internal/host"
	"cryptocost/experiments/internal/trial"
)

// TestMain lets the test binary be its own roles.
func TestMain(m *testing.M) {
	isRole, err := host.Dispatch(experiment().Roles, os.Args[1:], os.Stdin, os.Stdout)
	if isRole {
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	// Under -race every role would wait a second at its end.
	os.Setenv("GORACE", "atexit_sleep_ms=0")
	os.Exit(m.Run())
}

func slice(t *testing.T, c trial.Case) (trial.Slice, error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	group := &host.Group{}
	defer group.Close()
	measure, err := c.Start(ctx, group)
	if err != nil {
		return trial.Slice{}, err
	}
	return measure(ctx, 5*time.Millisecond)
}

// TestCases lets every case transfer for a moment; the suite is checked by
// the process itself, content and time must fit each other.
func TestCases(t *testing.T) {
	for _, c := range cases() {
		t.Run(c.Name, func(t *testing.T) {
			if c.Missing != "" {
				t.Skip(c.Missing)
			}
			s, err := slice(t, c)
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
			if s.Ops < 1 || rate.Per != s.Elapsed.Seconds() || cpu.Sum <= 0 || rate.Sum*1e6 != cpu.Per {
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
	if _, err := slice(t, trial.Case{Start: c.start("wrong", aes.On)}); err == nil || !strings.Contains(err.Error(), "AES_128_GCM") {
		t.Errorf("got %v, want an error that names the suite", err)
	}
}
