package link

import (
	"slices"
	"strings"
	"testing"
	"time"

	"cryptocost/experiments/internal/host"
)

func TestWireNames(t *testing.T) {
	for _, test := range []struct {
		wire  Wire
		want  string
		valid bool
	}{
		{Wire{}, "0+0ms", true},
		{Wire{0, 50 * time.Millisecond}, "0+50ms", true},
		{Symmetric(50 * time.Millisecond), "25+25ms", true},
		{Symmetric(500 * time.Microsecond), "0.25+0.25ms", true},
		{Symmetric(3), "0.000001+0.000002ms", true},
		{Wire{MaxDelay, MaxDelay}, "500+500ms", true},
		{Wire{MaxDelay + 1, 0}, "500.000001+0ms", false},
		{Wire{0, -time.Millisecond}, "0+-1ms", false},
	} {
		if got := test.wire.String(); got != test.want {
			t.Errorf("%+v is called %q, want %q", test.wire, got, test.want)
		}
		if err := test.wire.check(); (err == nil) != test.valid {
			t.Errorf("%v: %v", test.wire, err)
		}
	}
}

func TestOff(t *testing.T) {
	w := Symmetric(50 * time.Millisecond)
	for _, test := range []struct {
		median time.Duration
		off    bool
	}{
		{50 * time.Millisecond, false},
		{51300 * time.Microsecond, false}, // 2 % and 0.3 ms
		{51301 * time.Microsecond, true},
		{48700 * time.Microsecond, false},
		{48699 * time.Microsecond, true},
	} {
		err := w.off([]time.Duration{time.Second, test.median, 0})
		if (err != nil) != test.off {
			t.Errorf("a median of %v: %v", test.median, err)
		}
		if err != nil && !strings.Contains(err.Error(), "25+25ms") {
			t.Errorf("the error does not name the wire: %v", err)
		}
	}
}

// TestConnects: no packet comes before its time, on any wire.
func TestConnects(t *testing.T) {
	if Missing() != "" {
		t.Skip(Missing())
	}
	g := &host.Group{}
	defer g.Close()
	for _, w := range []Wire{{}, Symmetric(time.Millisecond), {0, 20 * time.Millisecond}, {20 * time.Millisecond, 0}, {}} {
		measure, err := w.Connecting(false)(t.Context(), g)
		if err != nil {
			t.Fatal(err)
		}
		s, err := measure(t.Context(), 0)
		if err != nil {
			t.Fatal(err)
		}
		if s.Ops != connects || len(s.Latencies) != connects {
			t.Errorf("%v: %d connects", w, s.Ops)
		}
		// Even on a busy machine one of so many connects finds all awake.
		if least := slices.Min(s.Latencies); least < w.RoundTrip() || least > w.RoundTrip()+5*time.Millisecond {
			t.Errorf("%v: the shortest connect took %v", w, least)
		}
		// SYN and SYN-ACK of each; what follows may still be under way.
		if len(s.Quantities) != 3 || s.Quantities[0].Per < 2*connects || s.Quantities[1].Sum > s.Quantities[1].Per {
			t.Errorf("%v: traffic %v", w, s.Quantities)
		}
		if late := s.Moments["late"]; len(late) < 2*connects || slices.Min(late) < 0 {
			t.Errorf("%v: %d values of lateness, the least %v", w, len(late), slices.Min(late))
		}
	}
	for _, part := range []string{"mtu=1500", "mss=1448", "congestion=cubic/cubic", "initial-window=10 "} {
		if !strings.Contains(Describe(), part) {
			t.Errorf("no %q in %q", part, Describe())
		}
	}
}

// TestCheck: the case of every round passes on a wire that is what it should
// be, and comes first.
func TestCheck(t *testing.T) {
	c := Check(Symmetric(50 * time.Millisecond))
	if c.Name != "/check-wire=25+25ms" || !c.Whole || !c.First {
		t.Errorf("case %+v", c)
	}
	if c.Missing != "" {
		t.Skip(c.Missing)
	}
	s, err := c.Once(t.Context(), 0)
	if err != nil && !strings.Contains(err.Error(), "is off") { // as a machine under test may be
		t.Fatal(err)
	}
	if s.Ops != connects {
		t.Errorf("%d connects", s.Ops)
	}
}

func TestSetRefuses(t *testing.T) {
	var l Link
	if err := l.Set(t.Context(), Wire{-1, 0}); err == nil {
		t.Error("a delay below 0 is set")
	}
}
