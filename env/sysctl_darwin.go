package env

import (
	"encoding/binary"
	"strconv"

	"golang.org/x/sys/unix"
)

// sysctlText reads a string.
func sysctlText(name string) reader {
	return func(system) string {
		text, err := unix.Sysctl(name)
		if err != nil {
			return ""
		}
		return text
	}
}

// sysctlNumber reads an integer of 4 or 8 bytes; which of the two a name has
// is for the kernel to say.
func sysctlNumber(name string) reader {
	return func(system) string {
		raw, err := unix.SysctlRaw(name)
		if err != nil {
			return ""
		}
		switch len(raw) {
		case 4:
			return strconv.FormatUint(uint64(binary.NativeEndian.Uint32(raw)), 10)
		case 8:
			return strconv.FormatUint(binary.NativeEndian.Uint64(raw), 10)
		}
		return ""
	}
}
