//go:build unix

package host

import "golang.org/x/sys/unix"

// involuntarySwitches reads getrusage(2).
func involuntarySwitches() (int64, error) {
	var r unix.Rusage
	if err := unix.Getrusage(unix.RUSAGE_SELF, &r); err != nil {
		return 0, err
	}
	return int64(r.Nivcsw), nil
}
