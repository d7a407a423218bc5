package env

import (
	"os"
	"path"
	"runtime"
	"strings"

	"github.com/klauspost/cpuid/v2"
	"github.com/prometheus/procfs"
)

// machine is what the processor sits in: hardware, hypervisor, container.
var machine = []entry{
	{
		Key: Key{Name: "machine-model", Source: "/sys/class/dmi/id/sys_vendor and product_name; /proc/device-tree/model; sysctl hw.model",
			Doc: "Model of the computer, or the instance type that a cloud gives instead."},
		linux:  machineModel,
		darwin: sysctlText("hw.model"),
	},
	{
		Key: Key{Name: "hypervisor", Source: "cpuid leaf 40000000h; /sys/hypervisor/type; /proc/device-tree/hypervisor; sysctl kern.hv_vmm_present",
			Doc: "Signature of the hypervisor below, none on bare metal. On arm64 it often can't be told."},
		any: hypervisor,
	},
	{
		Key: Key{Name: "hypervisor-hides", Source: "the keys that it names",
			Doc: "Keys that a hypervisor usually keeps from its guests and that can't be read here; nothing if all can, none without a hypervisor."},
		linux: hypervisorHides,
	},
	{
		Key: Key{Name: "perf-counters", Source: "perf_event_open(2)",
			Doc: "Whether the hardware's counter of cycles is visible or hidden; unknown if the kernel refuses to say."},
		linux: perfCounters,
	},
	{
		Key: Key{Name: "container", Source: "/.dockerenv, /run/.containerenv, environment KUBERNETES_SERVICE_HOST, /proc/sys/kernel/osrelease, /proc/self/cgroup",
			Doc: "A hint at the container that this process runs in: kubernetes, docker, podman, containerd, lxc or wsl; none if there is no sign of one."},
		linux: container,
	},
	linuxFile("clock-source", "", "sys/devices/system/clocksource/clocksource0/current_clocksource",
		"Where the kernel reads the time; hpet and acpi_pm make reading the clock slow."),
	{
		Key: Key{Name: "power-source", Source: "/sys/class/power_supply",
			Doc: "Whether a laptop runs on mains or battery; none if it has no battery."},
		linux: powerSource,
	},
}

func machineModel(s system) string {
	dmi := s.text("sys/class/dmi/id/sys_vendor") + " " + s.text("sys/class/dmi/id/product_name")
	return firstOf(func(system) string { return strings.TrimSpace(dmi) }, file("proc/device-tree/model"))(s)
}

func hypervisor(s system) string {
	switch {
	case runtime.GOARCH == "amd64" && !cpuid.CPU.VM():
		return None
	case runtime.GOARCH == "amd64":
		return cpuid.CPU.HypervisorVendorString
	case runtime.GOOS == "darwin":
		return map[string]string{"0": None, "1": "present"}[sysctlNumber("kern.hv_vmm_present")(s)]
	}
	return firstOf(file("sys/hypervisor/type"), file("proc/device-tree/hypervisor/compatible"))(s)
}

func hypervisorHides(s system) string {
	if h := hypervisor(s); h == None || h == "" {
		return h
	}
	var hidden []string
	for _, usual := range []struct {
		key  string
		read reader
	}{
		{"cpu-base-hz", cpuBaseFrequency},
		{"cpu-boost", cpuBoost},
		{"cpu-governor", cpuGovernor},
		{"machine-model", machineModel},
		{"microcode", microcode},
		{"perf-counters", perfCounters},
	} {
		if v := usual.read(s); v == "" || v == "hidden" {
			hidden = append(hidden, usual.key)
		}
	}
	if hidden == nil {
		return "nothing"
	}
	return strings.Join(hidden, " ")
}

func container(s system) string {
	switch {
	case os.Getenv("KUBERNETES_SERVICE_HOST") != "":
		return "kubernetes"
	case s.exists(".dockerenv"):
		return "docker"
	case s.exists("run/.containerenv"):
		return "podman"
	case strings.Contains(strings.ToLower(s.text("proc/sys/kernel/osrelease")), "microsoft"):
		return "wsl"
	}
	groups, err := s.memberships()
	if err != nil {
		return ""
	}
	return containerOf(groups)
}

// containerOf looks for the names that container managers give to control
// groups. It sees none of them inside a cgroup namespace.
func containerOf(groups []procfs.Cgroup) string {
	for _, sign := range []struct{ part, name string }{
		{"kubepods", "kubernetes"}, {"docker", "docker"}, {"libpod", "podman"},
		{"containerd", "containerd"}, {"lxc", "lxc"},
	} {
		for _, g := range groups {
			if strings.Contains(g.Path, sign.part) {
				return sign.name
			}
		}
	}
	return None
}

func (s system) exists(name string) bool {
	_, err := os.Stat(s.path(name))
	return err == nil
}

// powerSource looks for a battery of the machine itself, not of its mouse, and
// for a supply that is online (Linux, Documentation/ABI/testing/sysfs-class-power).
func powerSource(s system) string {
	battery, mains := false, false
	for _, name := range s.glob("sys/class/power_supply/*/type") {
		dir := path.Dir(name)
		switch s.text(name) {
		case "Battery":
			battery = battery || s.text(dir+"/scope") != "Device"
		case "Mains", "USB":
			mains = mains || s.text(dir+"/online") == "1"
		}
	}
	switch {
	case !battery:
		return None
	case mains:
		return "mains"
	}
	return "battery"
}
