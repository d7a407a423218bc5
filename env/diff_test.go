package env_test

import (
	"fmt"
	"maps"
	"testing"

	"cryptocost/env"
)

func ExampleDiff() {
	desktop := env.Read()
	cloud := maps.Clone(desktop)
	desktop["cpu-brand"], cloud["cpu-brand"] = "AMD Ryzen 7", "Neoverse-N1"
	desktop["tcp-tw-reuse"], cloud["tcp-tw-reuse"] = "2", "0"
	desktop["load-average"], cloud["load-average"] = "0.10", "3.90"
	for _, d := range env.Diff(desktop, cloud) {
		fmt.Printf("%s: %s: %s or %s\n", d.Key.Group, d.Key.Name, d.A, d.B)
	}
	// Output:
	// processor: cpu-brand: AMD Ryzen 7 or Neoverse-N1
	// network: tcp-tw-reuse: 2 or 0
}

func TestDiff(t *testing.T) {
	tests := []struct {
		name string
		a, b map[string]string
		want []string
	}{
		{"both empty", nil, nil, nil},
		{"equal", map[string]string{"go": "go1"}, map[string]string{"go": "go1"}, nil},
		{"by importance", map[string]string{"aslr": "0", "somaxconn": "1", "cpu-brand": "x", "go": "go1"}, map[string]string{},
			[]string{"cpu-brand", "go", "aslr", "somaxconn"}},
		{"lacking is unknown", map[string]string{"go": env.Unknown}, nil, nil},
		{"volatile", map[string]string{"throttle-count": "1"}, map[string]string{"throttle-count": "2"}, nil},
		{"foreign key", map[string]string{"machine": "one"}, map[string]string{"machine": "two"}, nil},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			var got []string
			for _, d := range env.Diff(test.a, test.b) {
				got = append(got, d.Key.Name)
			}
			if fmt.Sprint(got) != fmt.Sprint(test.want) {
				t.Errorf("Diff = %q, want %q", got, test.want)
			}
		})
	}
}

// TestDiffOfOneMachine reads twice: what differs must be marked volatile.
func TestDiffOfOneMachine(t *testing.T) {
	a, b := env.Read(), env.Read()
	if d := env.Diff(a, b); len(d) > 0 {
		t.Errorf("two readings of one machine differ: %v", d)
	}
	if !env.SameHardware(a, b) {
		t.Error("two readings of one machine aren't of the same hardware")
	}
}

func TestSameHardware(t *testing.T) {
	base := map[string]string{
		"cpu-brand": "x", "cpu-family": "6", "cpu-model": "1", "cpu-stepping": "2", "cpu-features": "AESNI", "cpu-cores": "2", "cpu-threads": "4",
	}
	for name, want := range map[string]bool{
		"cpu-brand": false, "cpu-family": false, "cpu-model": false, "cpu-stepping": false, "cpu-features": false,
		"cpu-cores": false, "cpu-threads": false, "kernel-release": true, "cache-l3": true, "microcode": true,
	} {
		other := maps.Clone(base)
		other[name] = "other"
		if got := env.SameHardware(base, other); got != want {
			t.Errorf("with another %s: SameHardware = %t, want %t", name, got, want)
		}
		delete(other, name)
		if got := env.SameHardware(other, base); got != want {
			t.Errorf("without %s: SameHardware = %t, want %t", name, got, want)
		}
	}
}
