package link

import (
	"time"

	"golang.org/x/sys/unix"
)

// Now is CLOCK_MONOTONIC, which is the same in all processes of a machine.
func Now() time.Duration { return clock(unix.CLOCK_MONOTONIC) }

// clock reads one of the system's clocks, which can't fail for those that
// exist.
func clock(id int32) time.Duration {
	var t unix.Timespec
	if err := unix.ClockGettime(id, &t); err != nil {
		panic(err)
	}
	return time.Duration(t.Nano())
}
