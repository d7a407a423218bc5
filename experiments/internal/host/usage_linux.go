package host

import (
	"time"

	"golang.org/x/sys/unix"
)

// processCPU reads CLOCK_PROCESS_CPUTIME_ID (clock_gettime(2)), which counts
// in nanoseconds where /proc/PID/stat counts in ticks of 10 ms.
func processCPU() (time.Duration, error) {
	var t unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_PROCESS_CPUTIME_ID, &t); err != nil {
		return 0, err
	}
	return time.Duration(t.Nano()), nil
}
