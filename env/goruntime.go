package env

import (
	"cmp"
	"crypto/fips140"
	"fmt"
	"math"
	"os"
	"regexp"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"slices"
	"strconv"
	"strings"
)

// withheld stands in the place of a word that may hold a path or a name.
const withheld = "withheld"

// goRuntime is the Go toolchain, the settings of the runtime, and the build.
var goRuntime = []entry{
	{
		Key: Key{Name: "go", Source: "runtime.Version",
			Doc: "Version of Go that built the program."},
		any: func(system) string { return runtime.Version() },
	},
	{
		Key: Key{Name: "goos", Source: "runtime.GOOS",
			Doc: "Operating system that the program was built for."},
		any: func(system) string { return runtime.GOOS },
	},
	{
		Key: Key{Name: "goarch", Source: "runtime.GOARCH",
			Doc: "Architecture that the program was built for."},
		any: func(system) string { return runtime.GOARCH },
	},
	{
		Key: Key{Name: "goamd64", Source: "build setting GOAMD64",
			Doc: "Level of amd64 that the compiler may use; none on another architecture."},
		any: architectureLevel("amd64", "GOAMD64"),
	},
	{
		Key: Key{Name: "goarm64", Source: "build setting GOARM64",
			Doc: "Version of arm64 that the compiler may use; none on another architecture."},
		any: architectureLevel("arm64", "GOARM64"),
	},
	{
		Key: Key{Name: "gomaxprocs", Unit: "count", Source: "runtime.GOMAXPROCS",
			Doc: "Threads that may run Go code at once."},
		any: func(system) string { return strconv.Itoa(runtime.GOMAXPROCS(0)) },
	},
	{
		Key: Key{Name: "gomaxprocs-source", Source: "environment GOMAXPROCS, CPU quota, affinity",
			Doc: "What GOMAXPROCS comes from: environment, cpu-quota, affinity, all-cpus, or program when something else set it."},
		any: func(s system) string {
			return gomaxprocsSource(runtime.GOMAXPROCS(0), os.Getenv("GOMAXPROCS"), runtime.NumCPU(), s.threads(), s.ownQuota())
		},
	},
	{
		Key: Key{Name: "gogc", Unit: "percent", Source: "runtime/metrics /gc/gogc:percent",
			Doc: "Growth of the heap between garbage collections, or off."},
		any: func(system) string { return metric("/gc/gogc:percent", math.MaxUint64, "off") },
	},
	{
		Key: Key{Name: "gomemlimit", Unit: "B", Source: "runtime/metrics /gc/gomemlimit:bytes",
			Doc: "Soft memory limit of the runtime, or none."},
		any: func(system) string { return metric("/gc/gomemlimit:bytes", math.MaxInt64, None) },
	},
	{
		Key: Key{Name: "godebug", Source: "environment GODEBUG",
			Doc: "Settings of the runtime given from outside. What isn't a plain setting is withheld."},
		any: func(system) string { return plainList(os.Getenv("GODEBUG"), ",", plainDebug) },
	},
	{
		Key: Key{Name: "godebug-default", Source: "build setting DefaultGODEBUG",
			Doc: "Settings of the runtime that are built into the program, where they differ from those of its Go version."},
		any: buildList("DefaultGODEBUG", ",", plainDebug),
	},
	{
		Key: Key{Name: "fips140", Source: "crypto/fips140.Enabled",
			Doc: "Whether the cryptographic packages run in FIPS 140-3 mode: on or off."},
		any: func(system) string { return map[bool]string{true: "on", false: "off"}[fips140.Enabled()] },
	},
	{
		Key: Key{Name: "fips140-module", Source: "crypto/fips140.Version",
			Doc: "Version of Go's cryptographic module, latest unless the build selected a frozen one."},
		any: func(system) string { return fips140.Version() },
	},
	{
		Key: Key{Name: "cgo-enabled", Source: "build setting CGO_ENABLED",
			Doc: "Whether the build allowed cgo: 1 or 0."},
		any: func(s system) string { return s.setting("CGO_ENABLED") },
	},
	{
		Key: Key{Name: "instrumentation", Source: "build settings -race, -msan, -asan and -cover",
			Doc: "What the build added to the code to watch it: race, msan, asan or cover; each distorts every time."},
		any: instrumentation,
	},
	{
		Key: Key{Name: "goexperiment", Source: "build setting GOEXPERIMENT",
			Doc: "Experiments of the toolchain that the build turned on."},
		any: buildList("GOEXPERIMENT", ",", plainWord),
	},
	{
		Key: Key{Name: "build-tags", Source: "build setting -tags",
			Doc: "Build tags."},
		any: buildList("-tags", ",", plainWord),
	},
	{
		Key: Key{Name: "gcflags", Source: "build setting -gcflags",
			Doc: "Flags of the compiler. What isn't a plain flag is withheld."},
		any: buildList("-gcflags", " ", plainFlag),
	},
	{
		Key: Key{Name: "ldflags", Source: "build setting -ldflags",
			Doc: "Flags of the linker; unknown with -trimpath, where the toolchain doesn't record them. What isn't a plain flag is withheld."},
		any: linkerFlags,
	},
	{
		Key: Key{Name: "pgo", Source: "build setting -pgo",
			Doc: "Whether a profile guided the compiler: used or none."},
		any: profile,
	},
	{
		Key: Key{Name: "modules", Source: "debug.ReadBuildInfo",
			Doc: "Modules linked into the program, as path@version; a version of replaced where other source took its place."},
		any: modules,
	},
	{
		Key: Key{Name: "revision", Source: "what make links in, else build setting vcs.revision",
			Doc: "Commit that the program was built from; unknown without either."},
		any: func(s system) string { return cmp.Or(linkedRevision, s.setting("vcs.revision")) },
	},
	{
		Key: Key{Name: "revision-dirty", Source: "what make links in, else build setting vcs.modified",
			Doc: "Whether the source differed from that commit, samples and figures aside: true or false."},
		any: func(s system) string { return cmp.Or(linkedDirty, s.setting("vcs.modified")) },
	},
}

// linkedRevision and linkedDirty are set by make with -ldflags=-X. The go
// command's own vcs.modified counts samples that were recorded a minute ago as
// changes of the source.
var linkedRevision, linkedDirty string

// setting is a setting of the build; empty where there is none.
func (s system) setting(key string) string {
	i := slices.IndexFunc(s.build.Settings, func(b debug.BuildSetting) bool { return b.Key == key })
	if i < 0 {
		return ""
	}
	return s.build.Settings[i].Value
}

func architectureLevel(arch, setting string) reader {
	return func(s system) string {
		if runtime.GOARCH != arch {
			return None
		}
		return s.setting(setting)
	}
}

// gomaxprocsSource says where procs comes from, by the rules of the runtime:
// the environment, if it holds a positive number; else the processors that
// the process may use (cpus), or fewer if the quota of its own control group
// is lower, rounded up and at least 2 (runtime/cgroup_linux.go,
// adjustCgroupGOMAXPROCS). It is 0 where there is no quota. The processors
// online are 0 where they aren't known.
func gomaxprocsSource(procs int, environment string, cpus, online int, quota float64) string {
	n, err := strconv.Atoi(environment)
	set := err == nil && n > 0
	switch {
	case set && n == procs:
		return "environment"
	case set:
		return "program"
	case procs == cpus && cpus < online:
		return "affinity"
	case procs == cpus:
		return "all-cpus"
	case quota > 0 && procs == max(2, int(math.Ceil(quota))):
		return "cpu-quota"
	}
	return "program"
}

// metric reads an unsigned number of runtime/metrics, of which one value
// means that there is no limit.
func metric(name string, unlimited uint64, word string) string {
	samples := []metrics.Sample{{Name: name}}
	metrics.Read(samples)
	if samples[0].Value.Kind() != metrics.KindUint64 {
		return ""
	}
	n := samples[0].Value.Uint64()
	if n == unlimited {
		return word
	}
	return strconv.FormatUint(n, 10)
}

// Settings come from people's shells, and a linker flag such as
// -X main.builder=name can hold anything. Only what has the shape of a switch
// is recorded.
var (
	plainWord  = regexp.MustCompile(`^[A-Za-z0-9_.]+$`)
	plainDebug = regexp.MustCompile(`^[a-z0-9.#]+=[a-z0-9.+-]*$`)
	plainFlag  = regexp.MustCompile(`^(all=|std=)?-[A-Za-z]+(=[a-z0-9]*)?$`)
)

// plainList keeps the elements of a list that have the given shape and
// replaces the others; None for an empty list.
func plainList(list, separator string, shape *regexp.Regexp) string {
	var words []string
	for word := range strings.SplitSeq(list, separator) {
		word = strings.TrimSpace(word)
		switch {
		case word == "":
		case shape.MatchString(word):
			words = append(words, word)
		default:
			words = append(words, withheld)
		}
	}
	if words == nil {
		return None
	}
	return strings.Join(words, separator)
}

// buildList is a setting of the build that holds a list; nothing is known of
// a build without settings.
func buildList(key, separator string, shape *regexp.Regexp) reader {
	return func(s system) string {
		if len(s.build.Settings) == 0 {
			return ""
		}
		return plainList(s.setting(key), separator, shape)
	}
}

// linkerFlags knows nothing under -trimpath (golang.org/issue/52372).
func linkerFlags(s system) string {
	if s.setting("-trimpath") == "true" {
		return ""
	}
	return buildList("-ldflags", " ", plainFlag)(s)
}

func instrumentation(s system) string {
	if len(s.build.Settings) == 0 {
		return ""
	}
	var list []string
	for _, name := range []string{"race", "msan", "asan", "cover"} {
		if s.setting("-"+name) == "true" {
			list = append(list, name)
		}
	}
	if list == nil {
		return None
	}
	return strings.Join(list, " ")
}

// profile doesn't say which profile was used: the setting is a path.
func profile(s system) string {
	switch {
	case len(s.build.Settings) == 0:
		return ""
	case s.setting("-pgo") == "":
		return None
	}
	return "used"
}

// modules can't be read from a test binary, which records none. This package
// itself needs some, so an empty list is never the truth.
func modules(s system) string {
	var list []string
	for _, m := range s.build.Deps {
		version := m.Version
		if m.Replace != nil {
			version = "replaced"
		}
		list = append(list, fmt.Sprintf("%s@%s", m.Path, version))
	}
	slices.Sort(list)
	return strings.Join(list, " ")
}
