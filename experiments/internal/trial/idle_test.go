package trial

import (
	"bytes"
	"context"
	"errors"
	"testing"
	"time"
)

// machine gives CPU times of which in every probe these shares were busy,
// the last one for ever; -1: not known.
func machine(shares ...float64) clocks {
	var busy, all time.Duration
	calls := 0
	return func() (time.Duration, time.Duration, bool) {
		if calls++; calls%2 == 1 { // a probe begins
			return busy, all, shares[0] >= 0
		}
		busy += time.Duration(shares[0] * float64(time.Second))
		all += time.Second
		if len(shares) > 1 {
			shares = shares[1:]
		}
		return busy, all, true
	}
}

func TestWaitIdle(t *testing.T) {
	probe, most := idleProbe, idleMost
	defer func() { idleProbe, idleMost = probe, most }()
	idleProbe = time.Microsecond
	for _, test := range []struct {
		name   string
		clocks clocks
		most   time.Duration
		busy   float64
		says   string
	}{
		{"idle", machine(0.05), time.Hour, 0.05, ""},
		{"busy, then idle", machine(0.9, 0.5, 0.1, 0.02), time.Hour, 0.02, "the machine is 90 % busy with other work; waiting up to 1h0m0s for it to be idle\n"},
		{"busy for ever", machine(0.7), 0, 0.7, "the machine is still 70 % busy after 0s; measuring all the same (recorded as busy-ratio)\n"},
		{"not known", machine(-1), time.Hour, 0, ""},
		{"clocks that stand still", func() (time.Duration, time.Duration, bool) { return 5, 9, true }, time.Hour, 0, ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			idleMost = test.most
			var said bytes.Buffer
			waited, busy, err := waitIdle(t.Context(), &said, test.clocks)
			if err != nil || waited < 0 || busy < test.busy-1e-6 || busy > test.busy+1e-6 || said.String() != test.says {
				t.Errorf("waited %v, busy %v, error %v, said %q", waited, busy, err, said.String())
			}
		})
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	idleProbe = time.Hour
	if _, _, err := waitIdle(ctx, &bytes.Buffer{}, machine(0.9)); !errors.Is(err, context.Canceled) {
		t.Errorf("interrupted: %v", err)
	}
}

// TestClocks reads the real ones, where there are.
func TestClocks(t *testing.T) {
	busy, all, ok := cpuTimes()
	if !ok {
		t.Skip("this system does not tell its CPU times")
	}
	if busy <= 0 || all < busy {
		t.Errorf("%v busy of %v", busy, all)
	}
	if stolen, ok := stolenTime(); !ok || stolen < 0 || stolen > busy {
		t.Errorf("%v stolen of %v busy, %v", stolen, busy, ok)
	}
}
