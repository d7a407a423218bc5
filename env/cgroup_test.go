package env

import (
	"errors"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

const (
	// mountsV1 is a host that mounts each controller of version 1 by itself
	// and an empty version 2 beside them.
	mountsV1 = `24 1 0:28 / /sys/fs/cgroup rw,relatime - tmpfs tmpfs rw,mode=755
25 24 0:29 / /sys/fs/cgroup/cpu,cpuacct rw,relatime shared:9 - cgroup cgroup rw,cpu,cpuacct
26 24 0:30 / /sys/fs/cgroup/cpuset rw,relatime - cgroup cgroup rw,cpuset
27 24 0:31 / /sys/fs/cgroup/memory rw,relatime - cgroup cgroup rw,memory
28 24 0:32 / /sys/fs/cgroup/unified rw,relatime - cgroup2 cgroup2 rw
`
	groupsV1 = "4:memory:/app\n3:cpuset:/\n1:cpu,cpuacct:/app\n0::/\n"

	mountsV2 = "31 1 0:26 / /sys/fs/cgroup rw,nosuid shared:9 - cgroup2 cgroup2 rw,nsdelegate\n"

	statV2 = `usage_usec 9000
user_usec 6000
system_usec 3000
nr_periods 40
nr_throttled 10
throttled_usec 2500
nr_bursts 0
burst_usec 0
`
)

func TestControlGroups(t *testing.T) {
	tests := []struct {
		name  string
		files map[string]string
		want  map[string]string
	}{
		{
			name: "v1 with limits",
			files: map[string]string{
				"proc/7/cgroup": groupsV1, "proc/7/mountinfo": mountsV1,
				"sys/fs/cgroup/cpu,cpuacct/cpu.cfs_quota_us":      "-1\n",
				"sys/fs/cgroup/cpu,cpuacct/cpu.cfs_period_us":     "100000\n",
				"sys/fs/cgroup/cpu,cpuacct/app/cpu.cfs_quota_us":  "150000\n",
				"sys/fs/cgroup/cpu,cpuacct/app/cpu.cfs_period_us": "100000\n",
				"sys/fs/cgroup/cpu,cpuacct/app/cpu.stat":          "nr_periods 12\nnr_throttled 3\nthrottled_time 4000\n",
				"sys/fs/cgroup/cpuset/cpuset.cpus":                "0-3\n",
				"sys/fs/cgroup/cpuset/cpuset.effective_cpus":      "0-2\n",
				"sys/fs/cgroup/memory/memory.limit_in_bytes":      "9223372036854771712\n",
				"sys/fs/cgroup/memory/app/memory.limit_in_bytes":  "1073741824\n",
			},
			want: map[string]string{
				"cgroup-version": "hybrid", "cpu-quota": "1.5", "cpu-quota-period": "100000", "cpuset": "0-2", "memory-limit": "1073741824",
				"throttle-periods": "12", "throttle-count": "3", "throttled-time": "4000", "container": None,
			},
		},
		{
			name: "v1 without limits",
			files: map[string]string{
				"proc/7/cgroup":    "2:memory:/\n1:cpu,cpuacct:/\n",
				"proc/7/mountinfo": mountsV1,
				"sys/fs/cgroup/cpu,cpuacct/cpu.cfs_quota_us":  "-1\n",
				"sys/fs/cgroup/cpu,cpuacct/cpu.cfs_period_us": "100000\n",
				"sys/fs/cgroup/cpu,cpuacct/cpu.stat":          "nr_periods 0\nnr_throttled 0\nthrottled_time 0\n",
				"sys/fs/cgroup/memory/memory.limit_in_bytes":  "9223372036854771712\n",
			},
			want: map[string]string{
				"cgroup-version": "v1", "cpu-quota": None, "cpu-quota-period": None, "cpuset": None, "memory-limit": None, "throttle-periods": "0",
			},
		},
		{
			name: "v1 in docker without a cgroup namespace",
			files: map[string]string{
				"proc/7/cgroup":                       "1:cpu,cpuacct:/docker/0123abcd\n",
				"proc/7/mountinfo":                    "25 24 0:29 /docker/0123abcd /sys/fs/cgroup/cpu ro - cgroup cgroup rw,cpu,cpuacct\n",
				"sys/fs/cgroup/cpu/cpu.cfs_quota_us":  "50000\n",
				"sys/fs/cgroup/cpu/cpu.cfs_period_us": "10000\n",
			},
			want: map[string]string{"cgroup-version": "v1", "cpu-quota": "5", "cpu-quota-period": "10000", "throttle-count": None, "container": "docker"},
		},
		{
			name: "v2 on a desktop",
			files: map[string]string{
				"proc/7/cgroup": "0::/user.slice/app.slice\n", "proc/7/mountinfo": mountsV2,
				"sys/fs/cgroup/cpuset.cpus.effective":             "0-15\n",
				"sys/fs/cgroup/cpu.stat":                          "usage_usec 9000\nuser_usec 6000\nsystem_usec 3000\n",
				"sys/fs/cgroup/user.slice/memory.max":             "max\n",
				"sys/fs/cgroup/user.slice/app.slice/memory.max":   "max\n",
				"sys/fs/cgroup/user.slice/app.slice/cpu.pressure": "",
			},
			want: map[string]string{
				"cgroup-version": "v2", "cpu-quota": None, "cpu-quota-period": None, "cpuset": "0-15", "memory-limit": None,
				"throttle-periods": None, "throttle-count": None, "throttled-time": None,
			},
		},
		{
			name: "v2 in a container with a namespace",
			files: map[string]string{
				"proc/7/cgroup": "0::/\n", "proc/7/mountinfo": mountsV2, "run/.containerenv": "",
				"sys/fs/cgroup/cpu.max":    "250000 100000\n",
				"sys/fs/cgroup/cpu.stat":   statV2,
				"sys/fs/cgroup/memory.max": "536870912\n",
			},
			want: map[string]string{
				"cgroup-version": "v2", "cpu-quota": "2.5", "memory-limit": "536870912",
				"throttle-periods": "40", "throttle-count": "10", "throttled-time": "2500000", "container": "podman",
			},
		},
		{
			name: "v2 with a quota of max under a tighter ancestor",
			files: map[string]string{
				"proc/7/cgroup": "0::/a/b\n", "proc/7/mountinfo": mountsV2,
				"sys/fs/cgroup/a/cpu.max":      "50000 100000\n",
				"sys/fs/cgroup/a/cpu.stat":     statV2,
				"sys/fs/cgroup/a/memory.max":   "1000000\n",
				"sys/fs/cgroup/a/b/cpu.max":    "max 100000\n",
				"sys/fs/cgroup/a/b/cpu.stat":   strings.ReplaceAll(statV2, "40", "1"),
				"sys/fs/cgroup/a/b/memory.max": "2000000\n",
			},
			want: map[string]string{"cpu-quota": "0.5", "memory-limit": "1000000", "throttle-periods": "40"},
		},
		{
			name: "v2 at a mount point and group with escapes",
			files: map[string]string{
				"proc/7/cgroup":                   "0::/app\\x2done/inner\n",
				"proc/7/mountinfo":                `31 1 0:26 /app\134x2done /control\040groups rw - cgroup2 cgroup2 rw` + "\n",
				"control groups/inner/cpu.max":    "70000 100000\n",
				"control groups/inner/memory.max": "max\n",
			},
			want: map[string]string{"cpu-quota": "0.7", "memory-limit": None},
		},
		{
			name: "no control groups in the kernel",
			files: map[string]string{
				"proc/7/stat": "",
			},
			want: map[string]string{"cgroup-version": None, "cpu-quota": None, "cpuset": None, "memory-limit": None, "throttle-count": None},
		},
		{
			name:  "not mounted",
			files: map[string]string{"proc/7/cgroup": "0::/\n", "proc/7/mountinfo": "1 1 0:1 / / rw - ext4 root rw\n"},
			want:  map[string]string{"cgroup-version": "v2", "cpu-quota": Unknown, "cpuset": Unknown, "memory-limit": Unknown, "throttle-count": Unknown},
		},
		{
			name:  "outside of the namespace",
			files: map[string]string{"proc/7/cgroup": "0::/../other\n", "proc/7/mountinfo": mountsV2, "sys/fs/cgroup/cpu.max": "1000 2000\n"},
			want:  map[string]string{"cpu-quota": Unknown},
		},
		{
			name:  "group removed",
			files: map[string]string{"proc/7/cgroup": "0::/gone\n", "proc/7/mountinfo": mountsV2, "sys/fs/cgroup/cpu.max": "1000 2000\n"},
			want:  map[string]string{"cpu-quota": Unknown},
		},
		{
			name: "damaged",
			files: map[string]string{
				"proc/7/cgroup": "0::/\n", "proc/7/mountinfo": mountsV2,
				"sys/fs/cgroup/cpu.max": "half\n", "sys/fs/cgroup/memory.max": "much\n", "sys/fs/cgroup/cpu.stat": statV2,
			},
			want: map[string]string{"cpu-quota": Unknown, "memory-limit": Unknown, "throttle-count": Unknown},
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			checkValues(t, system{root: writeTree(t, test.files)}, test.want)
		})
	}
}

func TestNoProc(t *testing.T) {
	checkValues(t, system{root: t.TempDir()}, map[string]string{
		"cgroup-version": Unknown, "cpu-quota": Unknown, "memory-limit": Unknown, "throttle-count": Unknown, "container": Unknown,
		"cpus-allowed": Unknown, "memory-total": Unknown, "load-average": Unknown, "time-wait-sockets": Unknown,
	})
}

func TestParseQuota(t *testing.T) {
	tests := []struct {
		text string
		want quota
		ok   bool
	}{
		{"max 100000\n", quota{}, true},
		{"-1 100000", quota{}, true},
		{"100000 100000\n", quota{1, 100 * time.Millisecond}, true},
		{"5000 10000", quota{0.5, 10 * time.Millisecond}, true},
		{"", quota{}, false},
		{"max", quota{}, false},
		{"100000", quota{}, false},
		{"0 100000", quota{}, false},
		{"100000 0", quota{}, false},
		{"-2 100000", quota{}, false},
		{"100000 -1", quota{}, false},
		{"1e5 100000", quota{}, false},
		{"100000 100000 100000", quota{}, false},
		{"99999999999999999999 100000", quota{}, false},
	}
	for _, test := range tests {
		got, err := parseQuota(test.text)
		if got != test.want || (err == nil) != test.ok {
			t.Errorf("parseQuota(%q) = %v, %v, want %v, ok %t", test.text, got, err, test.want, test.ok)
		}
	}
}

func TestParseThrottling(t *testing.T) {
	tests := []struct {
		name, text string
		want       Throttling
		ok         bool
	}{
		{"v2", statV2, Throttling{40, 10, 2500 * time.Microsecond}, true},
		{"v1", "nr_periods 5\nnr_throttled 4\nthrottled_time 3\n", Throttling{5, 4, 3}, true},
		{"no controller", "usage_usec 1\n", Throttling{}, false},
		{"cut short", "nr_periods 5\nnr_throttled 4\n", Throttling{5, 4, 0}, false},
		{"negative", "nr_periods 5\nnr_throttled -4\nthrottled_time 3\n", Throttling{5, 0, 3}, false},
		{"enormous", "nr_periods 5\nnr_throttled 4\nthrottled_usec 9223372036854775807\n",
			Throttling{5, 4, math.MaxInt64 / 1000 * time.Microsecond}, true},
		{"empty", "", Throttling{}, false},
	}
	for _, test := range tests {
		if got, ok := parseThrottling(test.text); got != test.want || ok != test.ok {
			t.Errorf("%s: parseThrottling = %v, %t, want %v, %t", test.name, got, ok, test.want, test.ok)
		}
	}
}

// TestThrottlingIsReadAnew reads the counters of one open file as they grow.
func TestThrottlingIsReadAnew(t *testing.T) {
	root := writeTree(t, map[string]string{
		"proc/7/cgroup": "0::/\n", "proc/7/mountinfo": mountsV2,
		"sys/fs/cgroup/cpu.max": "1000 2000\n", "sys/fs/cgroup/cpu.stat": statV2,
	})
	f, err := system{root: root}.openThrottling()
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for _, want := range []Throttling{{40, 10, 2500 * time.Microsecond}, {41, 11, 2500 * time.Microsecond}} {
		if got, ok := readThrottling(f); got != want || !ok {
			t.Errorf("readThrottling = %v, %t, want %v", got, ok, want)
		}
		grown := strings.NewReplacer("periods 40", "periods 41", "throttled 10", "throttled 11").Replace(statV2)
		if err := os.WriteFile(filepath.Join(root, "sys/fs/cgroup/cpu.stat"), []byte(grown), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Remove(filepath.Join(root, "sys/fs/cgroup/cpu.stat")); err != nil {
		t.Fatal(err)
	}
	if _, err := (system{root: root}).openThrottling(); !errors.Is(err, errNoGroup) {
		t.Errorf("without a cpu.stat: %v, want %v", err, errNoGroup)
	}
}

// TestThrottledAgreesWithRead compares the two ways to the counters of this
// process. They only grow, so the later reading is not the lower one.
func TestThrottledAgreesWithRead(t *testing.T) {
	values := Read()
	got, ok := Throttled()
	if readable := values["throttle-count"] != None && values["throttle-count"] != Unknown; ok != readable {
		t.Fatalf("Throttled = %v, %t, but throttle-count = %q", got, ok, values["throttle-count"])
	}
	later, _ := Throttled()
	if later.Periods < got.Periods || later.Throttled < got.Throttled || later.Time < got.Time {
		t.Errorf("Throttled went from %v to %v", got, later)
	}
}

func FuzzParsers(f *testing.F) {
	for _, seed := range []string{
		statV2, mountsV1, "max 100000\n", "150000 100000\n", "-1 100000", "32K", "always [madvise] never",
		"processor\t: 0\ncpu MHz\t\t: 2445.4\n", "NAME=Debian\nPRETTY_NAME=\"Debian GNU/Linux 12 (bookworm)\"\n",
		"-s -w -X 'main.by=Jane Doe'", "gctrace=1,cpu.aes=off", "NaN", "1e400",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if q, err := parseQuota(text); err == nil && (q != quota{}) && !(q.cores > 0 && !math.IsInf(q.cores, 0) && q.period > 0) {
			t.Errorf("parseQuota = %v", q)
		}
		if s, _ := parseThrottling(text); s.Periods < 0 || s.Throttled < 0 || s.Time < 0 {
			t.Errorf("parseThrottling = %v", s)
		}
		for name, value := range map[string]string{
			"parseField": parseField(text, "cpu MHz"), "parsePrettyName": parsePrettyName(text), "chosen": chosen(text),
			"parseCacheSize": parseCacheSize(text), "scaled": scaled(text, 1e6),
		} {
			if v := clean(value); strings.ContainsAny(v, "\n\r\x00") || v != clean(v) {
				t.Errorf("%s gives %q, which isn't clean", name, v)
			}
		}
		for _, list := range []string{
			plainList(text, " ", plainFlag), plainList(text, ",", plainDebug), plainList(text, ",", plainWord),
		} {
			if strings.ContainsAny(list, `/\~'"`) {
				t.Errorf("settings %q may hold a path", list)
			}
		}
	})
}
