//go:build linux || darwin

package env

import (
	"strconv"

	"golang.org/x/sys/unix"
)

func filesSoft(system) string {
	soft, _ := rlimit(unix.RLIMIT_NOFILE)
	return soft
}

func filesHard(system) string {
	_, hard := rlimit(unix.RLIMIT_NOFILE)
	return hard
}

func processesSoft(system) string {
	soft, _ := rlimit(unix.RLIMIT_NPROC)
	return soft
}

// rlimit reads a resource limit of this process (getrlimit(2)).
func rlimit(resource int) (soft, hard string) {
	var l unix.Rlimit
	if err := unix.Getrlimit(resource, &l); err != nil {
		return "", ""
	}
	return formatLimit(l.Cur), formatLimit(l.Max)
}

func formatLimit(n uint64) string {
	if n == unix.RLIM_INFINITY {
		return None
	}
	return strconv.FormatUint(n, 10)
}
