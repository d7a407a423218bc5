package env

import (
	"errors"
	"math"
	"slices"
	"strconv"
)

// limits is what this process may use: control groups and resource limits.
var limits = []entry{
	{
		Key: Key{Name: "cgroup-version", Source: "/proc/self/cgroup",
			Doc: "Version of the control groups that govern the CPU: v1, v2, or hybrid for v1 with an empty v2 beside it."},
		linux: cgroupVersion,
	},
	{
		Key: Key{Name: "cpu-quota", Unit: "count", Source: "cpu.max or cpu.cfs_quota_us of the control group and its ancestors",
			Doc: "Processors' worth of time allowed by the tightest quota."},
		linux: cpuQuota(func(q quota) string { return strconv.FormatFloat(q.cores, 'g', -1, 64) }),
	},
	{
		Key: Key{Name: "cpu-quota-period", Unit: "us", Source: "cpu.max or cpu.cfs_period_us of the same group",
			Doc: "Period of that quota: a process that uses it up waits for the next."},
		linux: cpuQuota(func(q quota) string { return strconv.FormatInt(q.period.Microseconds(), 10) }),
	},
	{
		Key: Key{Name: "cpuset", Source: "cpuset.cpus.effective or cpuset.effective_cpus of the control group",
			Doc: "Processors that the control group allows."},
		linux: inGroup("cpuset", cpuset),
	},
	{
		Key: Key{Name: "cpus-allowed", Source: "/proc/self/status Cpus_allowed_list",
			Doc: "Processors that the affinity of the main thread allows, within the cpuset."},
		linux: field("proc/self/status", "Cpus_allowed_list"),
	},
	{
		Key: Key{Name: "memory-limit", Unit: "B", Source: "memory.max or memory.limit_in_bytes of the control group and its ancestors",
			Doc: "Memory allowed by the tightest limit."},
		linux: inGroup("memory", memoryLimit),
	},
	{
		Key: Key{Name: "throttle-periods", Unit: "count", Source: "cpu.stat nr_periods of the control group with the quota", Volatile: true,
			Doc: "Periods of the CPU quota so far in which the group ran."},
		linux: throttling(func(t Throttling) int64 { return t.Periods }),
	},
	{
		Key: Key{Name: "throttle-count", Unit: "count", Source: "cpu.stat nr_throttled of the control group with the quota", Volatile: true,
			Doc: "Periods so far in which the group used its quota up and was stopped."},
		linux: throttling(func(t Throttling) int64 { return t.Throttled }),
	},
	{
		Key: Key{Name: "throttled-time", Unit: "ns", Source: "cpu.stat throttled_usec or throttled_time of the control group with the quota", Volatile: true,
			Doc: "Time so far that the group was stopped, summed over processors."},
		linux: throttling(func(t Throttling) int64 { return int64(t.Time) }),
	},
	{
		Key: Key{Name: "nofile-soft", Unit: "count", Source: "getrlimit(2) RLIMIT_NOFILE",
			Doc: "Most files open at once, as Go's start-up left it: it raises the soft limit to the hard one."},
		any: filesSoft,
	},
	{
		Key: Key{Name: "nofile-hard", Unit: "count", Source: "getrlimit(2) RLIMIT_NOFILE",
			Doc: "Number to which a process may raise its own limit of open files."},
		any: filesHard,
	},
	{
		Key: Key{Name: "nproc", Unit: "count", Source: "getrlimit(2) RLIMIT_NPROC",
			Doc: "Most processes and threads of this user."},
		any: processesSoft,
	},
}

func cgroupVersion(s system) string {
	groups, err := s.memberships()
	if errors.Is(err, errNoGroup) {
		return None
	}
	if err != nil {
		return ""
	}
	_, version, ok := memberOf(groups, "cpu")
	switch {
	case !ok:
		return None
	case version == 1 && slices.ContainsFunc(groups, isV2):
		return "hybrid"
	}
	return "v" + strconv.Itoa(version)
}

// inGroup reads something of the control group under a controller.
func inGroup(controller string, read func(system, group) string) reader {
	return func(s system) string {
		g, err := s.group(controller)
		switch {
		case errors.Is(err, errNoGroup):
			return None
		case err != nil:
			return ""
		}
		return read(s, g)
	}
}

func cpuQuota(format func(quota) string) reader {
	return inGroup("cpu", func(s system, g group) string {
		q, _, err := s.tightestQuota(g)
		switch {
		case err != nil:
			return ""
		case q.cores == 0:
			return None
		}
		return format(q)
	})
}

// cpuset is the set of the nearest group that has one: version 2 gives the
// file only to groups that the controller is turned on for.
func cpuset(s system, g group) string {
	for _, dir := range g.dirs {
		for _, name := range []string{"/cpuset.cpus.effective", "/cpuset.effective_cpus", "/cpuset.cpus"} {
			if set := s.text(dir + name); set != "" {
				return set
			}
		}
	}
	return None
}

// memoryLimit is the lowest limit of the group and its ancestors. Version 1
// writes no limit as the largest number of whole pages, a little under 2^63.
func memoryLimit(s system, g group) string {
	name := map[int]string{1: "/memory.limit_in_bytes", 2: "/memory.max"}[g.version]
	const unlimited = math.MaxInt64 >> 1
	lowest := uint64(unlimited)
	for _, dir := range g.dirs {
		text := s.text(dir + name)
		if text == "max" || !s.exists(dir+name) {
			continue
		}
		n, err := strconv.ParseUint(text, 10, 64)
		if err != nil {
			return ""
		}
		lowest = min(lowest, n)
	}
	if lowest == unlimited {
		return None
	}
	return strconv.FormatUint(lowest, 10)
}

// throttling is None where no group counts: there is no quota to be stopped by.
func throttling(pick func(Throttling) int64) reader {
	return func(s system) string {
		f, err := s.openThrottling()
		if errors.Is(err, errNoGroup) {
			return None
		}
		if err != nil {
			return ""
		}
		defer f.Close()
		t, ok := readThrottling(f)
		if !ok {
			return ""
		}
		return strconv.FormatInt(pick(t), 10)
	}
}
