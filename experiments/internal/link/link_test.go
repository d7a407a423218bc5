package link

import (
	"os"
	"testing"
	"time"

	"cryptocost/experiments/internal/host"
)

func TestMain(m *testing.M) { os.Exit(host.RunTests(m, Roles(nil))) }

func TestTry(t *testing.T) {
	if Missing() != "" {
		t.Fatal(Missing())
	}
	t.Log(Describe())
	g := &host.Group{}
	defer g.Close()
	for _, w := range []Wire{{}, Symmetric(500 * time.Microsecond), Symmetric(time.Millisecond), Symmetric(50 * time.Millisecond), {0, 50 * time.Millisecond}, Symmetric(200 * time.Millisecond)} {
		m, err := w.Connecting(false)(t.Context(), g)
		if err != nil {
			t.Fatal(err)
		}
		s, err := m(t.Context(), 0)
		if err != nil {
			t.Fatal(err)
		}
		t.Log(w, median(s.Latencies), median(s.Moments["late"]), s.Quantities, len(s.Moments["late"]))
	}
}
