// Package env describes the machine under which samples are recorded: the
// processor, the Go runtime and the limits it ran under.
//
// A description is a map from key to text. Keys lists and documents all of
// them; Read fills them in. The keys are the same on every system, so that
// two descriptions can always be laid side by side (Diff). A value that can't
// be read is Unknown, one that doesn't apply is None; nothing is left out and
// nothing is guessed. Nothing in a description identifies a person or a host:
// there is no host name, user, address, path or serial number in it.
package env

import (
	"cmp"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"unicode"
)

// Values that stand for the lack of one.
const (
	Unknown = "unknown" // it can't be read here
	None    = "none"    // it doesn't apply here, or no such limit is set
)

// Key documents one line of the description.
type Key struct {
	// Name is lower-case words joined by '-', a valid configuration key of
	// the Go benchmark format (golang.org/design/14313-benchmark-format).
	Name string
	// Group is the heading under which people look for the key.
	Group string
	// Unit is that of the value: B, Hz, s, us, ns, percent or count. It
	// is empty where the value is text.
	Unit string
	// Source says where the value is read.
	Source string
	// Doc says in a sentence or two what the value means.
	Doc string
	// Volatile marks what may differ between two starts on one machine
	// with the same settings, such as a counter. It plays no part in
	// deciding whether two descriptions are of the same set-up.
	Volatile bool
}

// A reader reads one value; an empty one means that it can't be read.
type reader func(system) string

// An entry is a key with its reader: either one for any system, or one for
// each system to which the key applies.
type entry struct {
	Key
	any           reader
	linux, darwin reader
}

// table holds all entries, the most important first.
var table = slices.Concat(
	grouped("processor", processor),
	grouped("machine", machine),
	grouped("go", goRuntime),
	grouped("operating system", operatingSystem),
	grouped("limits", limits),
	grouped("network", network),
)

func grouped(name string, entries []entry) []entry {
	for i := range entries {
		entries[i].Group = name
	}
	return entries
}

// Keys lists every key, sorted by name.
func Keys() []Key {
	keys := make([]Key, len(table))
	for i, e := range table {
		keys[i] = e.Key
	}
	slices.SortFunc(keys, func(a, b Key) int { return cmp.Compare(a.Name, b.Name) })
	return keys
}

// Read reads the description of this machine and process. The result has
// exactly the keys of Keys. No value is empty or holds a line break.
func Read() map[string]string {
	build, ok := debug.ReadBuildInfo()
	if !ok {
		build = &debug.BuildInfo{}
	}
	return system{root: "/", build: build}.describe()
}

// A system is what readers read: a file tree with /proc and /sys in it, and
// the build information of a binary. Tests set both.
type system struct {
	root  string
	build *debug.BuildInfo
}

func (s system) describe() map[string]string {
	values := make(map[string]string, len(table))
	for _, e := range table {
		values[e.Name] = e.value(s)
	}
	return values
}

func (e entry) value(s system) string {
	read := e.any
	if read == nil {
		switch runtime.GOOS {
		case "linux":
			read = e.linux
		case "darwin":
			read = e.darwin
		default:
			return Unknown
		}
	}
	if read == nil {
		return None
	}
	return cmp.Or(clean(read(s)), Unknown)
}

// clean makes one line of text without control characters or doubled spaces;
// firmware and hypervisors pad their strings with both.
func clean(text string) string {
	return strings.Join(strings.FieldsFunc(text, func(r rune) bool {
		return unicode.IsSpace(r) || !unicode.IsPrint(r) || r == unicode.ReplacementChar
	}), " ")
}

func (s system) path(name string) string {
	return filepath.Join(s.root, filepath.FromSlash(name))
}

// text is the content of a file, trimmed; empty where it can't be read.
func (s system) text(name string) string {
	data, err := os.ReadFile(s.path(name))
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(data))
}

// glob lists the files that match a pattern, as names for text, sorted.
func (s system) glob(pattern string) []string {
	paths, err := filepath.Glob(s.path(pattern))
	if err != nil {
		return nil
	}
	names := make([]string, len(paths))
	for i, p := range paths {
		names[i] = filepath.ToSlash(strings.TrimPrefix(p, s.root))
	}
	return names
}

// file reads a pseudo file that holds one value.
func file(name string) reader {
	return func(s system) string { return s.text(name) }
}

// linuxFile is an entry of Linux only whose value is the content of a file.
func linuxFile(name, unit, path, doc string) entry {
	return entry{
		Key:   Key{Name: name, Unit: unit, Source: "/" + path, Doc: doc},
		linux: file(path),
	}
}

// field reads the first line "name: value" of a file such as /proc/cpuinfo.
func field(path, name string) reader {
	return func(s system) string { return parseField(s.text(path), name) }
}

// parseField finds the first line "name: value" of a text; the result is
// empty where there is none.
func parseField(text, name string) string {
	for line := range strings.Lines(text) {
		key, value, ok := strings.Cut(line, ":")
		if ok && strings.TrimSpace(key) == name {
			return strings.TrimSpace(value)
		}
	}
	return ""
}

// firstOf takes the first reader that can read its value.
func firstOf(readers ...reader) reader {
	return func(s system) string {
		for _, read := range readers {
			if v := read(s); v != "" {
				return v
			}
		}
		return ""
	}
}
