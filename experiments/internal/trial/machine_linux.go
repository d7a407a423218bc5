package trial

import (
	"time"

	"github.com/prometheus/procfs"
)

// procStat reads the totals of /proc/stat.
func procStat() (procfs.CPUStat, bool) {
	fs, err := procfs.NewDefaultFS()
	if err != nil {
		return procfs.CPUStat{}, false
	}
	s, err := fs.Stat()
	if err != nil {
		return procfs.CPUStat{}, false
	}
	return s.CPUTotal, true
}

// stolenTime is the time that the hypervisor gave to others while a CPU of
// this machine wanted to run (proc(5), /proc/stat, steal).
func stolenTime() (time.Duration, bool) {
	s, ok := procStat()
	return seconds(s.Steal), ok
}

// cpuTimes are the busy and all CPU time since boot, over all CPUs.
func cpuTimes() (busy, all time.Duration, ok bool) {
	s, ok := procStat()
	used := s.User + s.Nice + s.System + s.IRQ + s.SoftIRQ + s.Steal
	return seconds(used), seconds(used + s.Idle + s.Iowait), ok
}

func seconds(s float64) time.Duration { return time.Duration(s * float64(time.Second)) }
