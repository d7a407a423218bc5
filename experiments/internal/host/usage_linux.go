package host

import (
	"time"

	"golang.org/x/sys/unix"
)

// processCPU reads CLOCK_PROCESS_CPUTIME_ID (clock_gettime(2)), which counts
// in nanoseconds where /proc/PID/stat counts in ticks of 10 ms.
func processCPU() (time.Duration, error) { return clock(unix.CLOCK_PROCESS_CPUTIME_ID) }

// threadCPU reads CLOCK_THREAD_CPUTIME_ID.
func threadCPU() (time.Duration, error) { return clock(unix.CLOCK_THREAD_CPUTIME_ID) }

func clock(id int32) (time.Duration, error) {
	var t unix.Timespec
	if err := unix.ClockGettime(id, &t); err != nil {
		return 0, err
	}
	return time.Duration(t.Nano()), nil
}
