package number

import (
	"math"
	"strings"
	"testing"
)

var nan, inf = math.NaN(), math.Inf(1)

func TestValue(t *testing.T) {
	for _, test := range []struct {
		v    float64
		unit string
		want string
	}{
		// Time.
		{152e-6, "sec/op", "152 µs"},
		{1.32e-3, "sec/op", "1.32 ms"},
		{1.32e-3, "sec", "1.32 ms"},
		{1.32e-3, "server-cpu-sec/op", "1.32 ms"},
		{12.34, "sec", "12.3 s"},
		{1234.5, "sec", "1,230 s"},
		{12e-9, "sec", "12.0 ns"},
		{0.21e-9, "sec", "0.21 ns"},
		{-152e-6, "sec/op", "−152 µs"},
		{10e-3, "sec/handshake", "10.0 ms/handshake"},

		// The edge between two prefixes lies where the printed digits turn over.
		{999.4e-6, "sec/op", "999 µs"},
		{999.51e-6, "sec/op", "1.00 ms"},
		{999.9e-6, "sec/op", "1.00 ms"},
		{1e-3, "sec/op", "1.00 ms"},
		{0.9994, "sec", "999 ms"},
		{0.9996, "sec", "1.00 s"},
		{999.4e-9, "sec", "999 ns"},
		{999.6e-9, "sec", "1.00 µs"},
		{0.9996e-9, "sec", "1.00 ns"},
		{99.94e-6, "sec", "99.9 µs"},
		{99.96e-6, "sec", "100 µs"},
		{9.994e-6, "sec", "9.99 µs"},
		{9.996e-6, "sec", "10.0 µs"},

		// Bytes.
		{1219, "B/op", "1,219 B"},
		{1219, "sent-B/op", "1,219 B"},
		{12.5, "B", "12.5 B"},
		{1219.4, "B", "1,219 B"},
		{64, "B", "64 B"},
		{999_999, "B", "999,999 B"},
		{1e6, "B", "1.00 MB"},
		{999_999.9, "B", "1.00 MB"},
		{24.46e6, "B", "24.5 MB"},
		{1.5e9, "B", "1.50 GB"},

		// Rates and their inverses.
		{4.52e9, "B/s", "4.52 GB/s"},
		{83.4e6, "B/s", "83.4 MB/s"},
		{999.6e6, "B/s", "1.00 GB/s"},
		{12, "B/s", "12.0 B/s"},
		{0.5, "B/s", "0.50 B/s"},
		{0.42e-9, "sec/B", "0.42 ns/B"},
		{0.4217e-9, "sec/B", "0.422 ns/B"},
		{0.5e-9, "sec/B", "0.50 ns/B"},
		{11.94e-9, "sec/B", "11.9 ns/B"},
		{38417.3, "requests/s", "38,400 requests/s"},
		{1462.2, "handshakes/s", "1,460 handshakes/s"},

		// Counts and bare numbers.
		{1, "records/op", "1 record"},
		{2, "records/op", "2 records"},
		{2.5, "records/op", "2.50 records"},
		{12345, "allocs/op", "12,345 allocs"},
		{1, "loss", "1 loss"},
		{1, "", "1"},
		{12000, "", "12,000"},
		{4.6213, "", "4.62"},
		{0.0312, "", "0.0312"},
		{1234.5, "", "1,234"},

		// Zero and what is no number.
		{0, "sec/op", "0 s"},
		{0, "B/op", "0 B"},
		{0, "B/s", "0 B/s"},
		{0, "records/op", "0 records"},
		{0, "", "0"},
		{math.Copysign(0, -1), "sec/op", "0 s"},
		{math.Copysign(0, -1), "", "0"},
		{nan, "sec/op", "—"},
		{inf, "B/s", "—"},
		{-inf, "", "—"},
	} {
		if got := Value(test.v, test.unit); got != test.want {
			t.Errorf("Value(%v, %q) = %q, want %q", test.v, test.unit, got, test.want)
		}
	}
}

func TestInterval(t *testing.T) {
	for _, test := range []struct {
		low, high float64
		unit      string
		want      string
	}{
		{148e-6, 157e-6, "sec/op", "148–157 µs"},
		{0.95e-3, 1.05e-3, "sec/op", "0.95–1.05 ms"},
		{0.94e-3, 1.04e-3, "sec/op", "940–1,040 µs"},
		{98.6e-6, 101.2e-6, "sec/op", "98.6–101.2 µs"},
		{0, 5e-6, "sec/op", "0–5.00 µs"},
		{-3e-3, 5e-3, "sec/op", "−3.00 to 5.00 ms"},
		{-5e-3, -3e-3, "sec/op", "−5.00 to −3.00 ms"},
		{-5e-6, 5e-6, "sec/op", "−5.00 to 5.00 µs"},
		{0.415e-9, 0.425e-9, "sec/B", "0.415–0.425 ns/B"},
		{4.48e9, 4.61e9, "B/s", "4.48–4.61 GB/s"},
		{1219, 1321, "B/op", "1,219–1,321 B"},
		{5, 6, "records/op", "5–6 records"},
		{38417.3, 39123.4, "requests/s", "38,400–39,100 requests/s"},
		{1e-6, 40, "sec", "0.0–40.0 s"},
		{12, 38000, "requests/s", "0–38,000 requests/s"},

		// Ends that would read the same get more digits, but not without end.
		{151.8e-6, 152.3e-6, "sec/op", "151.8–152.3 µs"},
		{152.01e-6, 152.04e-6, "sec/op", "152.01–152.04 µs"},
		{152.001e-6, 152.002e-6, "sec/op", "152 µs"},
		{38417.3, 38418.9, "requests/s", "38,417–38,419 requests/s"},
		{1219, 1219, "B/op", "1,219 B"},
		{1, 1, "records/op", "1 record"},

		{nan, 1, "sec/op", "—"},
		{1, nan, "sec/op", "—"},
		{1, inf, "B/s", "—"},
	} {
		if got := Interval(test.low, test.high, test.unit); got != test.want {
			t.Errorf("Interval(%v, %v, %q) = %q, want %q", test.low, test.high, test.unit, got, test.want)
		}
	}
}

func TestEstimate(t *testing.T) {
	for _, test := range []struct {
		v, low, high float64
		unit, want   string
	}{
		{0.000152, 0.000148, 0.000157, "sec/op", "152 µs (148–157 µs)"},
		{0.100156, 0.1001, 0.1002, "sec/op", "100.2 ms (100.1–100.2 ms)"},
		{0.15082, 0.15051, 0.15089, "sec/op", "150.8 ms (150.5–150.9 ms)"},
		{0.00042, 0.0003, 0.0005, "sec", "420 µs (300–500 µs)"},
		{542, 540, 543, "B/op", "542 B (540–543 B)"},
		{3, 3, 3, "waits/op", "3 waits"},
		{0.002, nan, nan, "sec/op", "2.00 ms"},
		{nan, 1, 2, "sec/op", "—"},
		{-2e-6, -9e-6, 5e-6, "sec/op", "−2.00 µs (−9.00 to 5.00 µs)"},
	} {
		if got := Estimate(test.v, test.low, test.high, test.unit); got != test.want {
			t.Errorf("%v (%v to %v): got %q, want %q", test.v, test.low, test.high, got, test.want)
		}
	}
}

func TestRatio(t *testing.T) {
	for _, test := range []struct {
		r    float64
		want string
	}{
		{4.62, "4.62×"},
		{28.19, "28.2×"},
		{1.03, "1.03×"},
		{1, "1.00×"},
		{0.9996, "1.00×"},
		{0.217, "0.217×"},
		{0.78, "0.780×"},
		{0.95, "0.950×"},
		{0.1, "0.100×"},
		{152.4, "152×"},
		{1234, "1,230×"},
		{0, "0×"},
		{nan, "—"},
		{inf, "—"},
	} {
		if got := Ratio(test.r); got != test.want {
			t.Errorf("Ratio(%v) = %q, want %q", test.r, got, test.want)
		}
	}
}

func TestRatioInterval(t *testing.T) {
	for _, test := range []struct {
		low, high float64
		want      string
	}{
		{4.55, 4.7, "4.55–4.70×"},
		{0.98, 1.03, "0.98–1.03×"},
		{0.214, 0.22, "0.214–0.220×"},
		{9.9, 10.3, "9.9–10.3×"},
		{1.0301, 1.0304, "1.0301–1.0304×"},
		{2, 2, "2.00×"},
		{0.5, 0.5, "0.500×"},
		{1.000001, 1.000002, "1.00×"},
		{nan, 2, "—"},
	} {
		if got := RatioInterval(test.low, test.high); got != test.want {
			t.Errorf("RatioInterval(%v, %v) = %q, want %q", test.low, test.high, got, test.want)
		}
	}
}

// TestRatioBesideInterval tests that a ratio has three digits beside its
// interval, zeros included.
func TestRatioBesideInterval(t *testing.T) {
	for _, test := range []struct {
		r, low, high float64
		want         string
	}{
		{0.78, 0.449, 1.486, "0.780× (0.449–1.486×)"},
		{0.95, 0.926, 0.968, "0.950× (0.926–0.968×)"},
		{0.5, 0.4961, 0.5042, "0.500× (0.496–0.504×)"},
		{1.02, 0.99, 1.05, "1.02× (0.99–1.05×)"},
		{8, 4, 12, "8.00× (4.00–12.00×)"},
		{110, 95, 130, "110× (95–130×)"},
	} {
		if got := Ratio(test.r) + " (" + RatioInterval(test.low, test.high) + ")"; got != test.want {
			t.Errorf("%v [%v, %v] is %q, want %q", test.r, test.low, test.high, got, test.want)
		}
	}
}

func TestPercent(t *testing.T) {
	for _, test := range []struct {
		x    float64
		want string
	}{
		{0.031, "3.1 %"},
		{0.004, "0.4 %"},
		{0.0004, "0.04 %"},
		{0.00096, "0.1 %"},
		{0.0096, "1.0 %"},
		{0.5, "50.0 %"},
		{0.9994, "99.9 %"},
		{0.9996, "100 %"},
		{1, "100 %"},
		{1.234, "123 %"},
		{12.34, "1,234 %"},
		{-0.018, "−1.8 %"},
		{0, "0 %"},
		{math.Copysign(0, -1), "0 %"},
		{nan, "—"},
		{inf, "—"},
	} {
		if got := Percent(test.x); got != test.want {
			t.Errorf("Percent(%v) = %q, want %q", test.x, got, test.want)
		}
	}
}

func TestCount(t *testing.T) {
	for n, want := range map[int]string{
		0: "0", 1: "1", 999: "999", 1000: "1,000", 12000: "12,000", 1234567: "1,234,567", -4000: "−4,000",
	} {
		if got := Count(n); got != want {
			t.Errorf("Count(%d) = %q, want %q", n, got, want)
		}
	}
}

func TestTick(t *testing.T) {
	for _, test := range []struct {
		v    float64
		want string
	}{
		{0, "0"},
		{0.05, "0.05"},
		{3 * 0.1, "0.3"},
		{2.5, "2.5"},
		{100, "100"},
		{16384, "16,384"},
		{1e-7, "0.0000001"},
		{1.0 / 3, "0.333333"},
		{-20, "−20"},
		{1e6, "1,000,000"},
		{nan, "—"},
	} {
		if got := Tick(test.v); got != test.want {
			t.Errorf("Tick(%v) = %q, want %q", test.v, got, test.want)
		}
	}
}

func TestMark(t *testing.T) {
	for _, test := range []struct {
		v    float64
		unit string
		want string
	}{
		{50e-6, "sec/op", "50 µs"},
		{1e-3, "sec/op", "1 ms"},
		{0.1e-9, "sec", "0.1 ns"},
		{100, "sec", "100 s"},
		{2e9, "B/s", "2 GB/s"},
		{1e5, "B", "100,000 B"},
		{10, "", "10"},
		{nan, "sec", "—"},
	} {
		if got := Mark(test.v, test.unit); got != test.want {
			t.Errorf("Mark(%v, %q) = %q, want %q", test.v, test.unit, got, test.want)
		}
	}
}

func TestAxis(t *testing.T) {
	for _, test := range []struct {
		unit    string
		maximum float64
		scale   float64
		label   string
	}{
		{"sec/op", 420e-6, 1e-6, "µs"},
		{"server-cpu-sec/op", 1.2e-3, 1e-3, "ms"},
		{"sec", 90, 1, "s"},
		{"sec/B", 12e-9, 1e-9, "ns/B"},
		{"B/s", 4.5e9, 1e9, "GB/s"},
		{"B/op", 4000, 1, "B"},
		{"B", 3e7, 1e6, "MB"},
		{"records/op", 12, 1, "records"},
		{"", 30, 1, ""},
		{"sec", nan, 1, "s"},
	} {
		scale, label := Axis(test.unit, test.maximum)
		if scale != test.scale || label != test.label {
			t.Errorf("Axis(%q, %v) = %v, %q, want %v, %q", test.unit, test.maximum, scale, label, test.scale, test.label)
		}
	}
}

// FuzzValue looks for numbers whose text is malformed: a signed zero or an
// exponent, or a dash for a number that exists.
func FuzzValue(f *testing.F) {
	for _, v := range []float64{0, 1, -1, 152e-6, 999.9e-6, 4.52e9, 1e300, 5e-324, -0.0004} {
		for _, unit := range []string{"sec/op", "B/op", "B/s", "sec/B", "records/op", "", "requests/s"} {
			f.Add(v, unit)
		}
	}
	f.Fuzz(func(t *testing.T, v float64, unit string) {
		got := Value(v, unit)
		digitsOnly, _, _ := strings.Cut(got, " ")
		if digitsOnly == missing {
			if finite(v) {
				t.Errorf("Value(%v, %q) = %q", v, unit, got)
			}
			return
		}
		if strings.ContainsAny(digitsOnly, "eE+-NI×") {
			t.Errorf("Value(%v, %q) = %q is not in plain digits", v, unit, got)
		}
		if strings.HasPrefix(digitsOnly, minus) && strings.Trim(digitsOnly, minus+"0.") == "" {
			t.Errorf("Value(%v, %q) = %q is a signed zero", v, unit, got)
		}
	})
}
