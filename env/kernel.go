package env

import (
	"path"
	"strconv"
	"strings"

	"github.com/prometheus/procfs"
)

// operatingSystem is the kernel, its settings, and memory.
var operatingSystem = []entry{
	{
		Key: Key{Name: "os-name", Source: "/etc/os-release PRETTY_NAME; sysctl kern.osproductversion",
			Doc: "Name and version of the operating system or distribution; a container's own, not its host's."},
		linux: func(s system) string {
			// os-release(5) gives the order of the two places.
			return firstOf(prettyName("etc/os-release"), prettyName("usr/lib/os-release"))(s)
		},
		darwin: func(s system) string { return "macOS " + sysctlText("kern.osproductversion")(s) },
	},
	{
		Key: Key{Name: "kernel-release", Source: "/proc/sys/kernel/osrelease; sysctl kern.osrelease",
			Doc: "Release of the kernel."},
		linux:  file("proc/sys/kernel/osrelease"),
		darwin: sysctlText("kern.osrelease"),
	},
	{
		Key: Key{Name: "memory-total", Unit: "B", Source: "/proc/meminfo MemTotal; sysctl hw.memsize",
			Doc: "Memory of the machine, without what the kernel keeps for itself on Linux."},
		linux:  meminfo(func(m procfs.Meminfo) *uint64 { return m.MemTotalBytes }),
		darwin: sysctlNumber("hw.memsize"),
	},
	{
		Key: Key{Name: "swap-total", Unit: "B", Source: "/proc/meminfo SwapTotal",
			Doc: "Swap space."},
		linux: meminfo(func(m procfs.Meminfo) *uint64 { return m.SwapTotalBytes }),
	},
	{
		Key: Key{Name: "transparent-huge-pages", Source: "/sys/kernel/mm/transparent_hugepage/enabled",
			Doc: "When the kernel backs memory by huge pages: always, madvise or never."},
		linux: func(s system) string { return chosen(s.text("sys/kernel/mm/transparent_hugepage/enabled")) },
	},
	{
		Key: Key{Name: "mitigations", Source: "/sys/devices/system/cpu/vulnerabilities",
			Doc: "What the kernel says about each known weakness of processors, sorted, joined by ' | '."},
		linux: mitigations,
	},
	linuxFile("aslr", "", "proc/sys/kernel/randomize_va_space",
		"Randomization of addresses: 0 off, 1 without the heap, 2 full."),
	{
		Key: Key{Name: "load-average", Unit: "count", Source: "/proc/loadavg", Volatile: true,
			Doc: "Runnable tasks averaged over the last minute at the time of reading."},
		linux: loadAverage,
	},
}

func prettyName(name string) reader {
	return func(s system) string { return parsePrettyName(s.text(name)) }
}

// parsePrettyName finds PRETTY_NAME in the text of os-release(5), whose values
// are quoted for a shell.
func parsePrettyName(text string) string {
	for line := range strings.Lines(text) {
		if value, ok := strings.CutPrefix(line, "PRETTY_NAME="); ok {
			return strings.Trim(strings.TrimSpace(value), `"'`)
		}
	}
	return ""
}

// meminfo is a value of /proc/meminfo in bytes.
func meminfo(pick func(procfs.Meminfo) *uint64) reader {
	return func(s system) string {
		proc, err := s.proc()
		if err != nil {
			return ""
		}
		m, err := proc.Meminfo()
		if err != nil {
			return ""
		}
		n := pick(m)
		if n == nil {
			return ""
		}
		return strconv.FormatUint(*n, 10)
	}
}

func (s system) proc() (procfs.FS, error) { return procfs.NewFS(s.path("proc")) }

// chosen is the word in brackets of "always [madvise] never".
func chosen(choice string) string {
	_, after, _ := strings.Cut(choice, "[")
	word, _, ok := strings.Cut(after, "]")
	if !ok {
		return ""
	}
	return word
}

// mitigations keeps the kernel's own words: which of several mitigations is
// active decides what a system call costs.
func mitigations(s system) string {
	var list []string
	for _, name := range s.glob("sys/devices/system/cpu/vulnerabilities/*") {
		list = append(list, path.Base(name)+": "+s.text(name))
	}
	return strings.Join(list, " | ")
}

func loadAverage(s system) string {
	proc, err := s.proc()
	if err != nil {
		return ""
	}
	load, err := proc.LoadAvg()
	if err != nil {
		return ""
	}
	return strconv.FormatFloat(load.Load1, 'f', 2, 64)
}
