package main

import (
	"os"
	"testing"
	"time"

	"cryptocost/experiments/internal/host"
)

func TestMain(m *testing.M) { os.Exit(host.RunTests(m, experiment().Roles)) }

// TestCases lets every case work once.
func TestCases(t *testing.T) {
	for _, c := range cases() {
		t.Run(c.Name, func(t *testing.T) {
			if c.Missing != "" {
				t.Skip(c.Missing)
			}
			s, err := c.Once(t.Context(), 20*time.Millisecond)
			if err != nil {
				t.Fatal(err)
			}
			if s.Ops < 1 || len(s.Moments["late"]) == 0 {
				t.Errorf("%d operations, %d values of lateness", s.Ops, len(s.Moments["late"]))
			}
			for _, q := range s.Quantities {
				if q.Unit == "delivered-ratio" && (q.Sum < 1 || q.Sum > q.Per) {
					t.Errorf("%v of %v packets arrived", q.Sum, q.Per)
				}
			}
		})
	}
}
