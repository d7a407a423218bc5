package env

import "cmp"

// A Difference is a key of which two descriptions have different values.
type Difference struct {
	Key  Key
	A, B string
}

// Diff lists the keys in which two descriptions differ, the most important
// first: the processor, the machine around it, Go, the operating system, the
// limits, the network. Volatile keys are left out, and so is what isn't a key
// of Keys. A key that one of the two lacks counts as Unknown there.
func Diff(a, b map[string]string) []Difference {
	var differences []Difference
	for _, e := range table {
		if e.Volatile {
			continue
		}
		d := Difference{e.Key, cmp.Or(a[e.Name], Unknown), cmp.Or(b[e.Name], Unknown)}
		if d.A != d.B {
			differences = append(differences, d)
		}
	}
	return differences
}

// hardware holds the keys that make two processors the same.
var hardware = []string{
	"cpu-brand", "cpu-family", "cpu-model", "cpu-stepping", "cpu-features", "cpu-cores", "cpu-threads",
}

// SameHardware says whether two descriptions are of the same processor with as
// many cores. What neither of them knows is taken to be the same.
func SameHardware(a, b map[string]string) bool {
	for _, name := range hardware {
		if cmp.Or(a[name], Unknown) != cmp.Or(b[name], Unknown) {
			return false
		}
	}
	return true
}
