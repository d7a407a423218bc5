//go:build unix

package host

import (
	"time"

	"golang.org/x/sys/unix"
)

// involuntarySwitches reads getrusage(2).
func involuntarySwitches() (int64, error) {
	var r unix.Rusage
	if err := unix.Getrusage(unix.RUSAGE_SELF, &r); err != nil {
		return 0, err
	}
	return int64(r.Nivcsw), nil
}

// rusageCPU is user and system time of the process, in microseconds or
// better.
func rusageCPU() (time.Duration, error) {
	var r unix.Rusage
	if err := unix.Getrusage(unix.RUSAGE_SELF, &r); err != nil {
		return 0, err
	}
	return time.Duration(r.Utime.Nano() + r.Stime.Nano()), nil
}
