package env

import (
	"errors"
	"unsafe"

	"golang.org/x/sys/unix"
)

// perfCounters tries to open a counter of processor cycles of this process.
// A hypervisor that passes no performance monitoring unit through makes the
// kernel answer that there is none; a refusal says nothing about it.
func perfCounters(system) string {
	attr := unix.PerfEventAttr{
		Type:   unix.PERF_TYPE_HARDWARE,
		Size:   uint32(unsafe.Sizeof(unix.PerfEventAttr{})),
		Config: unix.PERF_COUNT_HW_CPU_CYCLES,
		Bits:   unix.PerfBitDisabled | unix.PerfBitExcludeKernel | unix.PerfBitExcludeHv,
	}
	fd, err := unix.PerfEventOpen(&attr, 0, -1, -1, unix.PERF_FLAG_FD_CLOEXEC)
	switch {
	case err == nil:
		// A counter that was only opened has nothing to lose by closing.
		_ = unix.Close(fd)
		return "visible"
	case errors.Is(err, unix.ENOENT), errors.Is(err, unix.EOPNOTSUPP), errors.Is(err, unix.ENODEV):
		return "hidden"
	}
	return ""
}
