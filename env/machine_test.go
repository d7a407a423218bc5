package env

import (
	"runtime"
	"testing"
)

const sysCPU = "sys/devices/system/cpu/"

// laptop is a machine with two kinds of cores, one of them with two threads.
var laptop = map[string]string{
	sysCPU + "cpu0/topology/core_id":                                  "0\n",
	sysCPU + "cpu0/topology/physical_package_id":                      "0\n",
	sysCPU + "cpu1/topology/core_id":                                  "0\n",
	sysCPU + "cpu1/topology/physical_package_id":                      "0\n",
	sysCPU + "cpu2/topology/core_id":                                  "4\n",
	sysCPU + "cpu2/topology/physical_package_id":                      "0\n",
	sysCPU + "cpu3/cache/index0/level":                                "1\n",
	sysCPU + "cpu0/cache/index0/level":                                "1\n",
	sysCPU + "cpu0/cache/index0/type":                                 "Data\n",
	sysCPU + "cpu0/cache/index0/size":                                 "48K\n",
	sysCPU + "cpu0/cache/index1/level":                                "1\n",
	sysCPU + "cpu0/cache/index1/type":                                 "Instruction\n",
	sysCPU + "cpu0/cache/index1/size":                                 "32K\n",
	sysCPU + "cpu0/cache/index2/level":                                "2\n",
	sysCPU + "cpu0/cache/index2/type":                                 "Unified\n",
	sysCPU + "cpu0/cache/index2/size":                                 "damaged\n",
	sysCPU + "cpu0/cpufreq/base_frequency":                            "2400000\n",
	sysCPU + "cpu0/cpufreq/cpuinfo_max_freq":                          "4700000\n",
	sysCPU + "cpu0/cpufreq/scaling_cur_freq":                          "1200345\n",
	sysCPU + "cpu0/cpufreq/scaling_governor":                          "powersave\n",
	sysCPU + "intel_pstate/no_turbo":                                  "1\n",
	sysCPU + "smt/control":                                            "on\n",
	sysCPU + "vulnerabilities/spectre_v1":                             "Mitigation: usercopy/swapgs barriers\n",
	sysCPU + "vulnerabilities/meltdown":                               "Not affected\n",
	"sys/class/dmi/id/sys_vendor":                                     "Example Inc.\n",
	"sys/class/dmi/id/product_name":                                   "Notebook  14\n",
	"sys/class/power_supply/AC/type":                                  "Mains\n",
	"sys/class/power_supply/AC/online":                                "0\n",
	"sys/class/power_supply/BAT0/type":                                "Battery\n",
	"sys/kernel/mm/transparent_hugepage/enabled":                      "always [madvise] never\n",
	"sys/devices/system/clocksource/clocksource0/current_clocksource": "hpet\n",
	"proc/cpuinfo":                          "processor\t: 0\nmicrocode\t: 0x42\ncpu MHz\t\t: 800.123\n",
	"proc/meminfo":                          "MemTotal:       1024 kB\nSwapTotal:         0 kB\n",
	"proc/loadavg":                          "0.50 0.25 0.10 1/200 300\n",
	"proc/net/sockstat":                     "sockets: used 11\nTCP: inuse 1 orphan 0 tw 17 alloc 1 mem 1\n",
	"proc/7/status":                         "Name:\tx\nCpus_allowed:\t7\nCpus_allowed_list:\t0-2\n",
	"proc/sys/kernel/osrelease":             "6.1.0\n",
	"proc/sys/kernel/randomize_va_space":    "2\n",
	"proc/sys/net/ipv4/ip_local_port_range": "32768\t60999\n",
	"proc/sys/net/ipv4/tcp_rmem":            "4096\t131072\t6291456\n",
	"usr/lib/os-release":                    "NAME=Example\nPRETTY_NAME='Example OS 1'\n",
}

func TestLaptop(t *testing.T) {
	checkValues(t, system{root: writeTree(t, laptop)}, map[string]string{
		"cpu-cores": "2", "cpu-threads": "3", "cpu-threads-per-core": "2", "smt": "on",
		"cache-l1d": "49152", "cache-l1i": "32768", "cache-l2": Unknown, "cache-l3": None,
		"cpu-base-hz": "2400000000", "cpu-max-hz": "4700000000", "cpu-current-hz": "1200345000",
		"cpu-governor": "powersave", "cpu-boost": "off", "microcode": "0x42",
		"machine-model": "Example Inc. Notebook 14", "power-source": "battery", "clock-source": "hpet",
		"os-name": "Example OS 1", "kernel-release": "6.1.0", "memory-total": "1048576", "swap-total": "0",
		"transparent-huge-pages": "madvise", "aslr": "2", "load-average": "0.50",
		"mitigations":  "meltdown: Not affected | spectre_v1: Mitigation: usercopy/swapgs barriers",
		"cpus-allowed": "0-2", "port-range": "32768 60999", "tcp-rmem": "4096 131072 6291456", "time-wait-sockets": "17",
		"tcp-wmem": Unknown, "somaxconn": Unknown,
	})
}

func TestArmBoard(t *testing.T) {
	s := system{root: writeTree(t, map[string]string{
		"proc/cpuinfo": "processor\t: 0\nCPU implementer\t: 0x41\nCPU architecture: 8\nCPU variant\t: 0x3\n" +
			"CPU part\t: 0xd0c\nCPU revision\t: 1\n\nprocessor\t: 1\nCPU part\t: 0xd08\n",
		"proc/device-tree/model":                     "Example Board 5\x00",
		"proc/device-tree/hypervisor/compatible":     "linux,kvm\x00",
		sysCPU + "cpufreq/boost":                     "1\n",
		sysCPU + "cpu0/topology/physical_package_id": "0\n",
	})}
	checkValues(t, s, map[string]string{
		"machine-model": "Example Board 5", "cpu-boost": "on", "cpu-cores": Unknown, "cpu-threads": Unknown, "power-source": None,
		"mitigations": Unknown, "os-name": Unknown,
	})
	if got := armBrand(s); got != "Neoverse-N1" {
		t.Errorf("armBrand = %q, want Neoverse-N1", got)
	}
	if got := cpuinfoFields("CPU variant", "CPU revision")(s); got != "0x3 1" {
		t.Errorf("variant and revision = %q, want 0x3 1", got)
	}
	if runtime.GOARCH == "arm64" {
		checkValues(t, s, map[string]string{"cpu-family": "8", "cpu-model": "0x41 0xd0c", "cpu-stepping": "0x3 1", "hypervisor": "linux,kvm"})
	}
}

func TestPowerSource(t *testing.T) {
	const supply = "sys/class/power_supply/"
	tests := []struct {
		name  string
		files map[string]string
		want  string
	}{
		{"no supply", nil, None},
		{"mouse with a battery", map[string]string{supply + "hid/type": "Battery\n", supply + "hid/scope": "Device\n"}, None},
		{"desktop with a free USB port", map[string]string{supply + "usb/type": "USB\n", supply + "usb/online": "0\n"}, None},
		{"charging", map[string]string{supply + "BAT0/type": "Battery\n", supply + "AC/type": "Mains\n", supply + "AC/online": "1\n"}, "mains"},
		{"unplugged", map[string]string{supply + "BAT0/type": "Battery\n", supply + "AC/type": "Mains\n", supply + "AC/online": "0\n"}, "battery"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			checkValues(t, system{root: writeTree(t, test.files)}, map[string]string{"power-source": test.want})
		})
	}
}

func TestContainer(t *testing.T) {
	t.Setenv("KUBERNETES_SERVICE_HOST", "")
	tests := []struct {
		name  string
		files map[string]string
		want  string
	}{
		{"none", map[string]string{"proc/7/cgroup": "0::/user.slice\n"}, None},
		{"docker", map[string]string{".dockerenv": ""}, "docker"},
		{"podman", map[string]string{"run/.containerenv": ""}, "podman"},
		{"wsl", map[string]string{"proc/sys/kernel/osrelease": "5.15.0-Microsoft-standard\n"}, "wsl"},
		{"kubernetes by its group", map[string]string{"proc/7/cgroup": "0::/kubepods/besteffort/pod1\n"}, "kubernetes"},
		{"lxc by its group", map[string]string{"proc/7/cgroup": "1:cpu:/lxc/one\n0::/\n"}, "lxc"},
		{"damaged list of groups", map[string]string{"proc/7/cgroup": "x\n"}, Unknown},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			checkValues(t, system{root: writeTree(t, test.files)}, map[string]string{"container": test.want})
		})
	}
	t.Setenv("KUBERNETES_SERVICE_HOST", "10.0.0.1")
	checkValues(t, system{root: writeTree(t, nil)}, map[string]string{"container": "kubernetes"})
}
