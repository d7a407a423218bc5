//go:build !linux

package trial

import "time"

// stolenTime is not known to other systems.
func stolenTime() (time.Duration, bool) { return 0, false }

// cpuTimes are not read on other systems.
func cpuTimes() (busy, all time.Duration, ok bool) { return 0, 0, false }
