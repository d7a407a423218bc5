package env

import (
	"cmp"
	"fmt"
	"path"
	"runtime"
	"slices"
	"strconv"
	"strings"

	"github.com/klauspost/cpuid/v2"
)

// cpu0 is the directory of the processor that stands for all of them. On a
// chip with two kinds of cores, cpuid would answer for whichever core it
// happens to run on, so the kernel's word about the first one is preferred.
const cpu0 = "sys/devices/system/cpu/cpu0/"

// processor is the processor as it shows itself to programs.
var processor = []entry{
	{
		Key: Key{Name: "cpu-brand", Source: "cpuid; /proc/cpuinfo; sysctl machdep.cpu.brand_string",
			Doc: "Brand string of the processor. Arm's server cores have none and are named by their part number."},
		any: firstOf(func(system) string { return cpuid.CPU.BrandName }, armBrand),
	},
	{
		Key: Key{Name: "cpu-vendor", Source: "cpuid",
			Doc: "Vendor of the processor."},
		any: func(system) string { return cpuid.CPU.VendorString },
	},
	{
		Key: Key{Name: "cpu-family", Source: "cpuid; /proc/cpuinfo; sysctl hw.cpufamily",
			Doc: "Family number; on arm64 the version of the architecture."},
		any: cpuNumber(cpuid.CPU.Family, field("proc/cpuinfo", "CPU architecture")),
	},
	{
		Key: Key{Name: "cpu-model", Source: "cpuid; /proc/cpuinfo",
			Doc: "Model number within the family; on arm64 implementer and part number."},
		any: cpuNumber(cpuid.CPU.Model, cpuinfoFields("CPU implementer", "CPU part")),
	},
	{
		Key: Key{Name: "cpu-stepping", Source: "cpuid; /proc/cpuinfo",
			Doc: "Stepping of the model; on arm64 variant and revision."},
		any: cpuNumber(cpuid.CPU.Stepping, cpuinfoFields("CPU variant", "CPU revision")),
	},
	{
		Key: Key{Name: "cpu-cores", Unit: "count", Source: "/sys/devices/system/cpu/cpu*/topology; sysctl hw.physicalcpu",
			Doc: "Physical cores online, as far as a hypervisor tells the truth about them."},
		linux:  func(s system) string { cores, _ := s.topology(); return positive(cores) },
		darwin: sysctlNumber("hw.physicalcpu"),
	},
	{
		Key: Key{Name: "cpu-threads", Unit: "count", Source: "/sys/devices/system/cpu/cpu*/topology; sysctl hw.logicalcpu",
			Doc: "Logical processors online, whether or not this process may use them."},
		linux:  func(s system) string { return positive(s.threads()) },
		darwin: sysctlNumber("hw.logicalcpu"),
	},
	{
		Key: Key{Name: "cpu-threads-per-core", Unit: "count", Source: "/sys/devices/system/cpu/cpu*/topology; cpuid",
			Doc: "Most threads online on one core: 2 where simultaneous multithreading is on."},
		linux:  func(s system) string { _, threads := s.topology(); return positive(threads) },
		darwin: func(system) string { return positive(cpuid.CPU.ThreadsPerCore) },
	},
	linuxFile("smt", "", "sys/devices/system/cpu/smt/control",
		"Whether simultaneous multithreading is on, off, or not supported."),
	{
		Key: Key{Name: "cache-l1d", Unit: "B", Source: "/sys/devices/system/cpu/cpu0/cache; cpuid; sysctl hw.l1dcachesize",
			Doc: "First-level data cache of one core."},
		any: cacheSize("1", "Data", cpuid.CPU.Cache.L1D),
	},
	{
		Key: Key{Name: "cache-l1i", Unit: "B", Source: "/sys/devices/system/cpu/cpu0/cache; cpuid; sysctl hw.l1icachesize",
			Doc: "First-level instruction cache of one core."},
		any: cacheSize("1", "Instruction", cpuid.CPU.Cache.L1I),
	},
	{
		Key: Key{Name: "cache-l2", Unit: "B", Source: "/sys/devices/system/cpu/cpu0/cache; cpuid; sysctl hw.l2cachesize",
			Doc: "Second-level cache that the first core uses."},
		any: cacheSize("2", "Unified", cpuid.CPU.Cache.L2),
	},
	{
		Key: Key{Name: "cache-l3", Unit: "B", Source: "/sys/devices/system/cpu/cpu0/cache; cpuid; sysctl hw.l3cachesize",
			Doc: "Third-level cache that the first core uses, shared with others and in a cloud with other tenants."},
		any: cacheSize("3", "Unified", cpuid.CPU.Cache.L3),
	},
	{
		Key: Key{Name: "cache-line", Unit: "B", Source: "cpuid; sysctl hw.cachelinesize",
			Doc: "Length of a cache line."},
		any: func(system) string { return positive(cpuid.CPU.CacheLine) },
	},
	{
		Key: Key{Name: "cpu-features", Source: "cpuid; on arm64 the auxiliary vector or sysctl hw.optional",
			Doc: "Instruction set extensions, sorted, under the names of github.com/klauspost/cpuid. GODEBUG=cpu.* doesn't change them."},
		any: cpuFeatures,
	},
	{
		Key: Key{Name: "cpu-base-hz", Unit: "Hz", Source: "/sys/devices/system/cpu/cpu0/cpufreq/base_frequency; cpuid leaves 15h and 16h, or the brand string",
			Doc: "Rated frequency."},
		any: cpuBaseFrequency,
	},
	{
		Key: Key{Name: "cpu-max-hz", Unit: "Hz", Source: "/sys/devices/system/cpu/cpu0/cpufreq/cpuinfo_max_freq; cpuid leaf 16h",
			Doc: "Highest frequency with boost."},
		any: firstOf(kilohertz(cpu0+"cpufreq/cpuinfo_max_freq"),
			func(system) string { return positive(cpuid.CPU.BoostFreq) }),
	},
	{
		Key: Key{Name: "cpu-current-hz", Unit: "Hz", Source: "/sys/devices/system/cpu/cpu0/cpufreq/scaling_cur_freq; /proc/cpuinfo", Volatile: true,
			Doc: "Frequency of the first processor at the time of reading; a hypervisor shows a constant."},
		linux: firstOf(kilohertz(cpu0+"cpufreq/scaling_cur_freq"), cpuinfoFrequency),
	},
	{
		Key: Key{Name: "cpu-governor", Source: "/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor",
			Doc: "Policy by which the kernel picks a frequency."},
		linux: cpuGovernor,
	},
	{
		Key: Key{Name: "cpu-boost", Source: "/sys/devices/system/cpu/intel_pstate/no_turbo; /sys/devices/system/cpu/cpufreq/boost",
			Doc: "Whether the processor may exceed its rated frequency: on or off."},
		linux: cpuBoost,
	},
	{
		Key: Key{Name: "microcode", Source: "/proc/cpuinfo",
			Doc: "Revision of the microcode; a hypervisor may make one up."},
		linux: microcode,
	},
}

// armParts names the cores that are met in clouds and on small boards, by the
// implementer and part number of MIDR_EL1 (their Technical Reference Manuals;
// Linux, arch/arm64/include/asm/cputype.h).
var armParts = map[string]string{
	"0x41 0xd08": "Cortex-A72",
	"0x41 0xd0b": "Cortex-A76",
	"0x41 0xd0c": "Neoverse-N1",
	"0x41 0xd40": "Neoverse-V1",
	"0x41 0xd49": "Neoverse-N2",
	"0x41 0xd4f": "Neoverse-V2",
	"0xc0 0xac3": "Ampere-1",
}

// armBrand names an Arm core by what /proc/cpuinfo says of the first one.
func armBrand(s system) string {
	part := cpuinfoFields("CPU implementer", "CPU part")(s)
	if part == "" {
		return ""
	}
	return cmp.Or(armParts[part], "Arm part "+part)
}

// cpuNumber is a number that cpuid knows on amd64, where 0 is a number like
// any other; elsewhere 0 means that cpuid doesn't know, and the kernel is
// asked first because cpuid packs the fields of MIDR_EL1 differently.
func cpuNumber(n int, other reader) reader {
	if runtime.GOARCH == "amd64" {
		return func(system) string { return strconv.Itoa(n) }
	}
	return firstOf(other, func(system) string { return positive(n) })
}

// cpuinfoFields joins fields of /proc/cpuinfo; empty unless all are there.
func cpuinfoFields(names ...string) reader {
	return func(s system) string {
		values := make([]string, len(names))
		for i, name := range names {
			values[i] = field("proc/cpuinfo", name)(s)
			if values[i] == "" {
				return ""
			}
		}
		return strings.Join(values, " ")
	}
}

func cpuFeatures(system) string {
	features := cpuid.CPU.FeatureSet()
	slices.Sort(features)
	return strings.Join(features, " ")
}

func cpuBaseFrequency(s system) string {
	return firstOf(kilohertz(cpu0+"cpufreq/base_frequency"),
		func(system) string { return positive(cpuid.CPU.Hz) })(s)
}

func cpuGovernor(s system) string { return s.text(cpu0 + "cpufreq/scaling_governor") }

func cpuBoost(s system) string {
	const cpus = "sys/devices/system/cpu/"
	switch {
	case s.text(cpus+"intel_pstate/no_turbo") == "0", s.text(cpus+"cpufreq/boost") == "1":
		return "on"
	case s.text(cpus+"intel_pstate/no_turbo") == "1", s.text(cpus+"cpufreq/boost") == "0":
		return "off"
	}
	return ""
}

func microcode(s system) string { return field("proc/cpuinfo", "microcode")(s) }

// threads counts the logical processors online: only those have a topology.
func (s system) threads() int {
	return len(s.glob("sys/devices/system/cpu/cpu[0-9]*/topology/core_id"))
}

// topology counts the physical cores online and the most threads on one of
// them. A core is known by its number within its package.
func (s system) topology() (cores, threadsPerCore int) {
	threads := map[string]int{}
	for _, name := range s.glob("sys/devices/system/cpu/cpu[0-9]*/topology/core_id") {
		core := s.text(path.Dir(name)+"/physical_package_id") + " " + s.text(name)
		threads[core]++
		threadsPerCore = max(threadsPerCore, threads[core])
	}
	return len(threads), threadsPerCore
}

// cacheSize is the size of a cache of the first processor by sysfs, or what
// cpuid says where sysfs describes no caches.
func cacheSize(level, kind string, byCPUID int) reader {
	return func(s system) string {
		levels := s.glob(cpu0 + "cache/index[0-9]*/level")
		if len(levels) == 0 {
			return positive(byCPUID)
		}
		for _, name := range levels {
			dir := path.Dir(name)
			if s.text(name) == level && s.text(dir+"/type") == kind {
				return parseCacheSize(s.text(dir + "/size"))
			}
		}
		return None
	}
}

// parseCacheSize turns sysfs's "32K" into bytes. The kernel writes KiB only
// (drivers/base/cacheinfo.c, size_show).
func parseCacheSize(text string) string {
	kib, ok := strings.CutSuffix(text, "K")
	n, err := strconv.ParseUint(kib, 10, 32)
	if !ok || err != nil {
		return ""
	}
	return strconv.FormatUint(n<<10, 10)
}

// kilohertz reads a file of cpufreq, which counts in kHz, as Hz.
func kilohertz(name string) reader {
	return func(s system) string { return scaled(s.text(name), 1e3) }
}

func cpuinfoFrequency(s system) string {
	return scaled(field("proc/cpuinfo", "cpu MHz")(s), 1e6)
}

// scaled multiplies a decimal number; empty where text isn't one above 0.
func scaled(text string, factor float64) string {
	f, err := strconv.ParseFloat(text, 64)
	if err != nil || !(f > 0) {
		return ""
	}
	return strconv.FormatFloat(f*factor, 'f', 0, 64)
}

// positive formats a number of which 0 and below mean that it isn't known.
func positive[N int | int64](n N) string {
	if n <= 0 {
		return ""
	}
	return fmt.Sprint(n)
}
