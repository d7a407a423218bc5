package trial

import (
	"context"
	"fmt"
	"io"
	"time"
)

// idleBusyRatio is the busy share of all CPUs under which a machine is idle.
const idleBusyRatio = 0.10

// Tests shorten both.
var (
	idleProbe = time.Second      // over which the ratio is taken
	idleMost  = 60 * time.Second // then the run begins all the same
)

// waitIdle waits until the machine is idle, a minute at most, and gives the
// time it waited and how busy the machine was in the last second of it.
// Where cpuTimes does not tell, it does not wait.
func waitIdle(ctx context.Context, progress io.Writer, cpuTimes clocks) (waited time.Duration, busy float64, err error) {
	start := time.Now()
	said := false
	for {
		ratio, ok, err := busyRatio(ctx, cpuTimes)
		if err != nil || !ok {
			return 0, 0, err
		}
		waited = time.Since(start)
		if ratio < idleBusyRatio {
			return waited, ratio, nil
		}
		if waited > idleMost {
			fmt.Fprintf(progress, "the machine is still %.0f %% busy after %v; measuring all the same (recorded as busy-ratio)\n", 100*ratio, idleMost)
			return waited, ratio, nil
		}
		if !said {
			fmt.Fprintf(progress, "the machine is %.0f %% busy with other work; waiting up to %v for it to be idle\n", 100*ratio, idleMost)
			said = true
		}
	}
}

// clocks are the busy and all CPU time so far, over all CPUs.
type clocks func() (busy, all time.Duration, ok bool)

// busyRatio is the busy share of all CPUs over the next second.
func busyRatio(ctx context.Context, cpuTimes clocks) (ratio float64, ok bool, err error) {
	busy, all, ok := cpuTimes()
	if !ok {
		return 0, false, nil
	}
	select {
	case <-time.After(idleProbe):
	case <-ctx.Done():
		return 0, false, ctx.Err()
	}
	busyEnd, allEnd, ok := cpuTimes()
	if !ok || allEnd <= all {
		return 0, false, nil
	}
	return float64(busyEnd-busy) / float64(allEnd-all), true, nil
}
