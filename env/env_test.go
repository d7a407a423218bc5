package env

import (
	"bytes"
	"fmt"
	"maps"
	"net"
	"os"
	"os/user"
	"path/filepath"
	"regexp"
	"runtime/debug"
	"slices"
	"strings"
	"testing"

	"golang.org/x/perf/benchfmt"
)

func TestKeysAreDocumented(t *testing.T) {
	name := regexp.MustCompile(`^[a-z][a-z0-9]*(-[a-z0-9]+)*$`)
	units := []string{"", "B", "Hz", "s", "us", "ns", "percent", "count"}
	keys := Keys()
	for i, k := range keys {
		if !name.MatchString(k.Name) {
			t.Errorf("%q: not lower-case words joined by '-'", k.Name)
		}
		if i > 0 && keys[i-1].Name >= k.Name {
			t.Errorf("%q follows %q", k.Name, keys[i-1].Name)
		}
		if !slices.Contains(units, k.Unit) {
			t.Errorf("%s: unit %q is not one of %q", k.Name, k.Unit, units)
		}
		if k.Source == "" || k.Group == "" || !strings.HasSuffix(k.Doc, ".") {
			t.Errorf("%s: source %q, group %q, doc %q: one is missing or no sentence", k.Name, k.Source, k.Group, k.Doc)
		}
	}
	for _, e := range table {
		if (e.any == nil) == (e.linux == nil && e.darwin == nil) {
			t.Errorf("%s: wants one reader for any system or some for single systems", e.Name)
		}
	}
}

func TestRead(t *testing.T) {
	values := Read()
	var names []string
	for _, k := range Keys() {
		names = append(names, k.Name)
	}
	if got := slices.Sorted(maps.Keys(values)); !slices.Equal(got, names) {
		t.Errorf("keys of Read = %q, want those of Keys, %q", got, names)
	}
	for name, v := range values {
		if v == "" || v != clean(v) {
			t.Errorf("%s = %q: empty or not clean", name, v)
		}
	}
	for _, name := range []string{"go", "goos", "goarch", "gomaxprocs", "gomaxprocs-source", "gogc", "cgo-enabled", "cpu-features"} {
		if values[name] == Unknown {
			t.Errorf("%s is unknown, but every program can read it", name)
		}
	}
}

// TestBenchmarkFormat reads the description back with the reader that
// benchstat uses, which ignores a configuration line that it doesn't like.
func TestBenchmarkFormat(t *testing.T) {
	want := Read()
	var text bytes.Buffer
	for name, v := range want {
		fmt.Fprintf(&text, "%s: %s\n", name, v)
	}
	text.WriteString("BenchmarkX 1 1 ns/op\n")
	r := benchfmt.NewReader(&text, "test")
	if !r.Scan() {
		t.Fatal("no result in the file")
	}
	result, ok := r.Result().(*benchfmt.Result)
	if !ok {
		t.Fatalf("read %T (%v), want a result", r.Result(), r.Result())
	}
	for name, v := range want {
		if got := result.GetConfig(name); got != v {
			t.Errorf("%s = %q after reading it back, want %q", name, got, v)
		}
	}
}

// absolutePath is a path from the root of a file system, or of a home.
var absolutePath = regexp.MustCompile(`(^|[\s=:,'"])(~|[A-Z]:)?[/\\]\w`)

// address is an IPv4 or a hardware address, or an IPv6 address that is long
// enough not to be a time of day.
var address = regexp.MustCompile(`\b\d{1,3}(\.\d{1,3}){3}\b|\b([0-9a-f]{2}:){5}[0-9a-f]{2}\b|\b[0-9a-f]{1,4}(:[0-9a-f]{0,4}){3,}`)

func TestNothingIdentifies(t *testing.T) {
	t.Setenv("GODEBUG", "gctrace=0,netdns=/home/jane/secret")
	t.Setenv("GOMAXPROCS", "/home/jane")
	// Words of a small vocabulary, which a host may well be named after, and
	// a version that may have four parts as an address does.
	vocabulary := []string{"goos", "goarch", "container", "hypervisor", "mitigations"}
	version := "kernel-release"
	secrets := identities(t)
	for name, v := range Read() {
		if m := absolutePath.FindString(v); m != "" {
			t.Errorf("%s = %q holds a path at %q", name, v, m)
		}
		if m := address.FindString(v); m != "" && name != version {
			t.Errorf("%s = %q holds an address, %q", name, v, m)
		}
		for what, secret := range secrets {
			if secret.MatchString(v) && !slices.Contains(vocabulary, name) {
				t.Errorf("%s = %q holds the %s", name, v, what)
			}
		}
	}
}

// identities collects what would tell this host or user from others, each as
// a pattern of whole words.
func identities(t *testing.T) map[string]*regexp.Regexp {
	t.Helper()
	found := map[string]string{}
	if name, err := os.Hostname(); err == nil {
		found["host name"] = name
	}
	if u, err := user.Current(); err == nil {
		found["user"] = u.Username
		found["home"] = u.HomeDir
	}
	addresses, err := net.InterfaceAddrs()
	if err != nil {
		t.Fatal(err)
	}
	for _, a := range addresses {
		ip, _, _ := strings.Cut(a.String(), "/")
		found["address "+ip] = ip
	}
	for _, name := range []string{"/etc/machine-id", "/proc/sys/kernel/random/boot_id"} {
		if data, err := os.ReadFile(name); err == nil {
			found[name] = strings.TrimSpace(string(data))
		}
	}
	patterns := map[string]*regexp.Regexp{}
	for what, text := range found {
		if text != "" {
			patterns[what] = regexp.MustCompile(`(^|\W)` + regexp.QuoteMeta(text) + `(\W|$)`)
		}
	}
	return patterns
}

// TestIdentifyingPatterns shows that the patterns find what they are for.
func TestIdentifyingPatterns(t *testing.T) {
	for _, text := range []string{"/home/jane", "-L=/usr/lib", "a ~/x", `C:\Users`, "cpu:/docker/12"} {
		if !absolutePath.MatchString(text) {
			t.Errorf("%q is not taken for a path", text)
		}
	}
	for _, text := range []string{"usercopy/swapgs barriers", "golang.org/x/sys@v0.1.0", "GNU/Linux"} {
		if absolutePath.MatchString(text) {
			t.Errorf("%q is taken for a path", text)
		}
	}
	for _, text := range []string{"10.0.0.1", "fe80::1:2:3", "02:42:ac:11:00:02", "2001:db8:0:1::2"} {
		if !address.MatchString(text) {
			t.Errorf("%q is not taken for an address", text)
		}
	}
}

func TestBuildSettings(t *testing.T) {
	settings := func(pairs ...string) []debug.BuildSetting {
		var list []debug.BuildSetting
		for i := 0; i < len(pairs); i += 2 {
			list = append(list, debug.BuildSetting{Key: pairs[i], Value: pairs[i+1]})
		}
		return list
	}
	tests := []struct {
		name  string
		build debug.BuildInfo
		want  map[string]string
	}{
		{
			name: "nothing recorded",
			want: map[string]string{
				"cgo-enabled": Unknown, "instrumentation": Unknown, "ldflags": Unknown, "gcflags": Unknown, "build-tags": Unknown,
				"pgo": Unknown, "godebug-default": Unknown, "goexperiment": Unknown, "modules": Unknown, "revision": Unknown, "revision-dirty": Unknown,
			},
		},
		{
			name:  "plain",
			build: debug.BuildInfo{Settings: settings("CGO_ENABLED", "0", "vcs.revision", "c0ffee", "vcs.modified", "true")},
			want: map[string]string{
				"cgo-enabled": "0", "instrumentation": None, "ldflags": None, "gcflags": None, "build-tags": None,
				"pgo": None, "godebug-default": None, "goexperiment": None, "revision": "c0ffee", "revision-dirty": "true",
			},
		},
		{
			name: "switches",
			build: debug.BuildInfo{Settings: settings("-race", "true", "-cover", "true", "-gcflags", "all=-N -l", "-ldflags", "-s -w -linkmode=external",
				"-tags", "netgo,hsm", "DefaultGODEBUG", "tlsmlkem=0,cpu.aes=off", "GOEXPERIMENT", "nogreenteagc", "-pgo", "/home/jane/default.pgo")},
			want: map[string]string{
				"instrumentation": "race cover", "gcflags": "all=-N -l", "ldflags": "-s -w -linkmode=external",
				"build-tags": "netgo,hsm", "godebug-default": "tlsmlkem=0,cpu.aes=off", "goexperiment": "nogreenteagc", "pgo": "used",
			},
		},
		{
			name: "names and paths",
			build: debug.BuildInfo{Settings: settings("-gcflags", "-trimpath=/home/jane ./...=-N",
				"-ldflags", "-s -X main.by=jane -X=main.by=jane -X 'main.by=Jane Doe' -extldflags=-L/home/jane", "DefaultGODEBUG", "x=/home/jane")},
			want: map[string]string{
				"gcflags":         "withheld withheld",
				"ldflags":         "-s -X withheld withheld -X withheld withheld withheld",
				"godebug-default": "withheld",
			},
		},
		{
			name:  "linker flags lost",
			build: debug.BuildInfo{Settings: settings("-trimpath", "true")},
			want:  map[string]string{"ldflags": Unknown, "gcflags": None},
		},
		{
			name: "modules",
			build: debug.BuildInfo{Deps: []*debug.Module{
				{Path: "golang.org/x/sys", Version: "v0.50.0"},
				{Path: "golang.org/x/crypto", Version: "v0.59.0", Replace: &debug.Module{Path: "/home/jane/crypto"}},
			}},
			want: map[string]string{"modules": "golang.org/x/crypto@replaced golang.org/x/sys@v0.50.0"},
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			checkValues(t, system{root: t.TempDir(), build: &test.build}, test.want)
		})
	}
}

// checkValues compares some keys of a description, as they are read on Linux.
func checkValues(t *testing.T, s system, want map[string]string) {
	t.Helper()
	for _, name := range slices.Sorted(maps.Keys(want)) {
		i := slices.IndexFunc(table, func(e entry) bool { return e.Name == name })
		if i < 0 {
			t.Fatalf("no key %q", name)
		}
		e := table[i]
		if e.any == nil {
			e.any = e.linux
		}
		if got := e.value(s); got != want[name] {
			t.Errorf("%s = %q, want %q", name, got, want[name])
		}
	}
}

// writeTree makes a file tree of name and content. Process 7 is this process.
func writeTree(t *testing.T, files map[string]string) (root string) {
	t.Helper()
	root = t.TempDir()
	for name, content := range files {
		path := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.MkdirAll(filepath.Join(root, "proc/7"), 0o755); err != nil {
		t.Fatal(err)
	}
	// The kernel links proc/self to the number, and proc/self/x is proc/7/x.
	if err := os.Symlink("7", filepath.Join(root, "proc/self")); err != nil {
		t.Fatal(err)
	}
	return root
}

func TestGOMAXPROCSSource(t *testing.T) {
	tests := []struct {
		name        string
		procs       int
		environment string
		cpus        int
		online      int
		quota       float64
		want        string
	}{
		{"every processor", 8, "", 8, 8, 0, "all-cpus"},
		{"online not known", 8, "", 8, 0, 0, "all-cpus"},
		{"affinity", 4, "", 4, 8, 0, "affinity"},
		{"quota", 4, "", 8, 8, 3.2, "cpu-quota"},
		{"small quota", 2, "", 8, 8, 0.5, "cpu-quota"},
		{"quota above the processors", 8, "", 8, 8, 16, "all-cpus"},
		{"quota not adapted to", 8, "", 8, 8, 3, "all-cpus"},
		{"environment", 3, "3", 8, 8, 2, "environment"},
		{"environment overruled", 5, "3", 8, 8, 0, "program"},
		{"environment ignored", 8, "zero", 8, 8, 0, "all-cpus"},
		{"runtime.GOMAXPROCS", 5, "", 8, 8, 0, "program"},
		{"runtime.GOMAXPROCS under a quota", 5, "", 8, 8, 2, "program"},
	}
	for _, test := range tests {
		got := gomaxprocsSource(test.procs, test.environment, test.cpus, test.online, test.quota)
		if got != test.want {
			t.Errorf("%s: source = %q, want %q", test.name, got, test.want)
		}
	}
}

func TestClean(t *testing.T) {
	for text, want := range map[string]string{
		"":                       "",
		" \t\n":                  "",
		"32768\t60999\n":         "32768 60999",
		"Intel(R)   CPU @ 2GHz ": "Intel(R) CPU @ 2GHz",
		"XenVMMXenVMM\x00":       "XenVMMXenVMM",
		"linux,kvm\x00other\x00": "linux,kvm other",
		"a\xffb\u2028c":          "a b c",
	} {
		if got := clean(text); got != want {
			t.Errorf("clean(%q) = %q, want %q", text, got, want)
		}
	}
}
