//go:build unix && !linux

package host

import (
	"time"

	"golang.org/x/sys/unix"
)

// processCPU reads getrusage(2): user and system time, in microseconds.
func processCPU() (time.Duration, error) {
	var r unix.Rusage
	if err := unix.Getrusage(unix.RUSAGE_SELF, &r); err != nil {
		return 0, err
	}
	return time.Duration(r.Utime.Nano() + r.Stime.Nano()), nil
}

// threadCPU is that of the process: there is no portable clock of a thread.
func threadCPU() (time.Duration, error) { return processCPU() }
