package env

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"path"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/prometheus/procfs"
)

// errNoGroup is what there is to say about control groups where there are none.
var errNoGroup = errors.New("in no control group")

// A group is the control group of this process under one controller, of
// cgroup version 1 or 2 (cgroups(7)).
type group struct {
	version int
	// dirs holds the directory of the group itself, then those of its
	// ancestors as far as they can be seen from here. A limit of any of
	// them is a limit on this process.
	dirs []string
}

// group finds the control group of this process under a controller.
func (s system) group(controller string) (group, error) {
	groups, err := s.memberships()
	if err != nil {
		return group{}, err
	}
	membership, version, ok := memberOf(groups, controller)
	if !ok {
		return group{}, errNoGroup
	}
	proc, err := s.proc()
	if err != nil {
		return group{}, err
	}
	mounts, err := proc.GetMounts()
	if err != nil {
		return group{}, fmt.Errorf("reading the mounts: %w", err)
	}
	dirs := visibleDirs(mounts, controller, version, membership)
	if len(dirs) == 0 || !s.exists(dirs[0]) {
		return group{}, fmt.Errorf("control group of the %s controller: not mounted here", controller)
	}
	return group{version: version, dirs: dirs}, nil
}

func (s system) memberships() ([]procfs.Cgroup, error) {
	proc, err := s.proc()
	if err != nil {
		return nil, err
	}
	self, err := proc.Self()
	if err != nil {
		return nil, fmt.Errorf("finding this process in /proc: %w", err)
	}
	groups, err := self.Cgroups()
	if errors.Is(err, fs.ErrNotExist) {
		return nil, errNoGroup
	}
	return groups, err
}

// memberOf picks the path of the group that a controller governs. A controller
// is in one hierarchy only: if a hierarchy of version 1 names it, it is there,
// else in the one of version 2, which names none.
func memberOf(groups []procfs.Cgroup, controller string) (membership string, version int, ok bool) {
	for _, g := range groups {
		if slices.Contains(g.Controllers, controller) {
			return g.Path, 1, true
		}
		if isV2(g) {
			membership, version, ok = g.Path, 2, true
		}
	}
	return membership, version, ok
}

func isV2(g procfs.Cgroup) bool { return g.HierarchyID == 0 }

// visibleDirs finds the first mount that shows the group at the given path of
// its hierarchy, and yields the directories from the group up to that mount.
// Without a cgroup namespace a container's mount shows a subtree only, and its
// root in the list of mounts says which; the paths of groups outside of a
// namespace start with "/.." and can't be reached.
func visibleDirs(mounts []*procfs.MountInfo, controller string, version int, groupPath string) []string {
	for _, m := range mounts {
		_, controls := m.SuperOptions[controller]
		if !(version == 1 && m.FSType == "cgroup" && controls || version == 2 && m.FSType == "cgroup2") {
			continue
		}
		below, ok := strings.CutPrefix(groupPath, strings.TrimSuffix(unescapeMount(m.Root), "/"))
		if !ok || below != "" && below[0] != '/' || below == "/.." || strings.HasPrefix(below, "/../") {
			continue
		}
		var dirs []string
		for below = path.Clean("/" + below); ; below = path.Dir(below) {
			dirs = append(dirs, path.Join(unescapeMount(m.MountPoint), below))
			if below == "/" {
				return dirs
			}
		}
	}
	return nil
}

// unescapeMount undoes the octal escapes of the list of mounts
// (proc_pid_mountinfo(5)); systemd's names of groups hold backslashes.
func unescapeMount(escaped string) string {
	return strings.NewReplacer(`\040`, " ", `\011`, "\t", `\012`, "\n", `\134`, `\`).Replace(escaped)
}

// A quota is a limit on processor time; without cores there is none.
type quota struct {
	cores  float64
	period time.Duration
}

// quota is the limit that a group sets itself. A group without the file sets
// none: the root of version 2, or a group that the controller isn't turned on
// for.
func (s system) quota(version int, dir string) (quota, error) {
	files := []string{"cpu.max"}
	if version == 1 {
		files = []string{"cpu.cfs_quota_us", "cpu.cfs_period_us"}
	}
	text := ""
	for _, name := range files {
		data, err := os.ReadFile(s.path(dir + "/" + name))
		if errors.Is(err, fs.ErrNotExist) {
			return quota{}, nil
		}
		if err != nil {
			return quota{}, err
		}
		text += " " + string(data)
	}
	return parseQuota(text)
}

// parseQuota parses time and period in microseconds. No limit is "max" in
// version 2 and -1 in version 1.
func parseQuota(text string) (quota, error) {
	f := strings.Fields(text)
	if len(f) != 2 {
		return quota{}, fmt.Errorf("CPU quota %q: not a time and a period", text)
	}
	if f[0] == "max" || f[0] == "-1" {
		return quota{}, nil
	}
	allowed, err := strconv.ParseUint(f[0], 10, 63)
	if err != nil {
		return quota{}, fmt.Errorf("CPU quota %q: %w", text, err)
	}
	period, err := strconv.ParseUint(f[1], 10, 32)
	if err != nil {
		return quota{}, fmt.Errorf("period of CPU quota %q: %w", text, err)
	}
	if allowed == 0 || period == 0 {
		return quota{}, fmt.Errorf("CPU quota %q: zero time or period", text)
	}
	return quota{float64(allowed) / float64(period), time.Duration(period) * time.Microsecond}, nil
}

// tightestQuota is the lowest quota over a group and its ancestors, and the
// directory of the group that sets it.
func (s system) tightestQuota(g group) (tightest quota, dir string, err error) {
	for _, d := range g.dirs {
		q, err := s.quota(g.version, d)
		if err != nil {
			return quota{}, "", err
		}
		if q.cores > 0 && (tightest.cores == 0 || q.cores < tightest.cores) {
			tightest, dir = q, d
		}
	}
	return tightest, dir, nil
}

// ownQuota is the quota in cores of the process's own group, which is all that
// the Go runtime looks at; 0 if there is none or it can't be read.
func (s system) ownQuota() float64 {
	g, err := s.group("cpu")
	if err != nil {
		return 0
	}
	q, err := s.quota(g.version, g.dirs[0])
	if err != nil {
		return 0
	}
	return q.cores
}

// Throttling counts how often a CPU quota stopped a control group.
type Throttling struct {
	Periods   int64         // periods of the quota in which the group ran
	Throttled int64         // those in which it was stopped for having used its quota up
	Time      time.Duration // how long it was stopped, summed over processors
}

// throttleFile is opened once: reading an open file again costs a tenth of
// opening it.
var throttleFile = sync.OnceValues(system{root: "/"}.openThrottling)

// Throttled reads the process's cgroup throttling so far; ok is false where it
// can't be read. The counters are those of the group whose quota is the
// tightest of the process's own and its ancestors', or of the process's own
// where none has a quota. Which group that is is settled by the first call: a
// process that is moved to another group must not have called before.
func Throttled() (t Throttling, ok bool) {
	f, err := throttleFile()
	if err != nil {
		return Throttling{}, false
	}
	return readThrottling(f)
}

// openThrottling opens the cpu.stat that holds the counters. The error is
// errNoGroup where no group counts.
func (s system) openThrottling() (*os.File, error) {
	g, err := s.group("cpu")
	if err != nil {
		return nil, err
	}
	_, tightest, err := s.tightestQuota(g)
	if err != nil {
		return nil, err
	}
	dirs := g.dirs
	if tightest != "" {
		dirs = []string{tightest}
	}
	for _, dir := range dirs {
		f, err := os.Open(s.path(dir + "/cpu.stat"))
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, err
		}
		if _, ok := readThrottling(f); ok {
			return f, nil
		}
		if err := f.Close(); err != nil {
			return nil, err
		}
	}
	return nil, errNoGroup
}

// readThrottling reads a cpu.stat from its beginning, which makes the kernel
// write it anew. The file is far shorter than the buffer.
func readThrottling(f *os.File) (Throttling, bool) {
	buffer := make([]byte, 4096)
	n, err := f.ReadAt(buffer, 0)
	if !errors.Is(err, io.EOF) {
		return Throttling{}, false
	}
	return parseThrottling(string(buffer[:n]))
}

// parseThrottling parses cpu.stat. Version 1 counts the time in nanoseconds,
// version 2 in microseconds. A group of version 2 that has no CPU controller
// has a cpu.stat without these counters.
func parseThrottling(text string) (Throttling, bool) {
	var t Throttling
	found := 0
	for line := range strings.Lines(text) {
		name, value, _ := strings.Cut(strings.TrimSpace(line), " ")
		n, err := strconv.ParseInt(value, 10, 64)
		if err != nil || n < 0 {
			continue
		}
		switch name {
		case "nr_periods":
			t.Periods = n
		case "nr_throttled":
			t.Throttled = n
		case "throttled_time":
			t.Time = time.Duration(n)
		case "throttled_usec":
			t.Time = time.Duration(min(n, math.MaxInt64/1000)) * time.Microsecond
		default:
			continue
		}
		found++
	}
	return t, found == 3
}
