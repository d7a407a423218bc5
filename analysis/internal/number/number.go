// Package number writes numbers as people read them: it alone decides the
// digits, separators and units of everything that the study prints or draws.
//
// Values come in the tidied units of golang.org/x/perf/benchunit ("sec/op",
// "B/op", "B/s", "sec/B", "records/op", "" for a bare number, or any other
// word), with or without a qualifier in front ("server-cpu-sec/op"). What is
// measured gets three significant digits and a decimal prefix ("152 µs",
// "4.52 GB/s"); what is counted is written out ("1,219 B", "12 records").
//
// Prefixes are decimal even for bytes, where benchunit would pick binary ones,
// because throughput is quoted in MB/s and GB/s everywhere in the field.
package number

import (
	"math"
	"strconv"
	"strings"

	"golang.org/x/perf/benchunit"
	"golang.org/x/text/language"
	"golang.org/x/text/message"
)

const (
	// missing stands for a number that does not exist.
	missing = "—"

	// minus is the sign that is as wide as the digits, unlike the hyphen.
	minus = "−"

	// digits is how many significant digits a measured value gets.
	digits = 3

	// exactBytes is where byte counts stop being written out.
	exactBytes = 1e6
)

// Value writes v, given in unit, with its printed unit: "1.32 ms", "0.42 ns/B",
// "1,219 B". A value without a unit is a bare number. NaN and infinities are "—".
func Value(v float64, unit string) string {
	if !finite(v) {
		return missing
	}
	s := scaleOf(v, unit)
	if !s.counted {
		// Rounded once, before the division, so that 999.5 µs can't become 1,000 µs.
		v, _ = round(v, digits)
	}
	text := significant(v/s.factor, s.counted)
	if text == "1" {
		return text + s.singular()
	}
	return text + s.suffix()
}

// Interval writes the interval from low to high, given in unit, at the scale of
// its middle (or, around zero, of its farther end): "148–157 µs". Ends that would
// read the same get up to two digits more; ends that are the same are one value.
// NaN and infinities are "—".
func Interval(low, high float64, unit string) string {
	if !finite(low) || !finite(high) {
		return missing
	}
	if low == high {
		return Value(low, unit)
	}
	s := scaleOf(typical(low, high), unit)
	return span(low/s.factor, high/s.factor, s.counted) + s.suffix()
}

// Estimate writes v with its interval, "152 µs (148–157 µs)". Where v with the
// digits of [Value] would not lie in the interval as it is written, it gets the
// decimals of that. A v that is exact has no interval.
func Estimate(v, low, high float64, unit string) string {
	if !(low < high) || !finite(v) {
		return Value(v, unit)
	}
	text := Value(v, unit)
	if s := scaleOf(typical(low, high), unit); !s.counted {
		p := spanPlaces(low/s.factor, high/s.factor, false)
		shown := func(x float64) float64 { return math.Round(x / s.factor * math.Pow10(p)) }
		if rounded, _ := round(v, digits); shown(rounded) < shown(low) || shown(rounded) > shown(high) {
			text = fixed(v/s.factor, p) + s.suffix()
		}
	}
	return text + " (" + Interval(low, high, unit) + ")"
}

// Ratio writes the quotient of two values with three significant digits, zeros
// included, as it usually stands beside its interval: "4.62×", "0.950×". NaN and
// infinities are "—".
func Ratio(r float64) string {
	if !finite(r) {
		return missing
	}
	return fixed(r, places(r, false)) + "×"
}

// RatioInterval writes the interval of a quotient: "4.55–4.70×", with the rules
// of [Interval].
func RatioInterval(low, high float64) string {
	if !finite(low) || !finite(high) {
		return missing
	}
	if low == high {
		return Ratio(low)
	}
	return span(low, high, false) + "×"
}

// Percent writes the share x, where 1 is the whole: "3.1 %". It has one decimal
// below 100 %, and one significant digit below 0.1 %. NaN and infinities are "—".
func Percent(x float64) string {
	x *= 100
	if !finite(x) {
		return missing
	}
	places := max(1, -exponent(x, 1))
	if math.Abs(x) >= 99.95 {
		places = 0
	}
	return fixed(x, places) + " %"
}

// Count writes a whole number: "12,000".
func Count(n int) string {
	return fixed(float64(n), 0)
}

// Tick writes the number of an axis tick, without unit and with no more digits
// than it needs (six at most): "0.05", "2.5", "16,384".
func Tick(v float64) string {
	if !finite(v) {
		return missing
	}
	places, most := 0, 5-exponent(v, 6)
	for places < most && !near(v, places) {
		places++
	}
	return fixed(v, places)
}

// Mark writes the number of an axis tick with its unit, for axes that span so
// much that no one prefix suits all of it: "50 µs", "1 ms".
func Mark(v float64, unit string) string {
	if !finite(v) {
		return missing
	}
	s := scaleOf(v, unit)
	return Tick(v/s.factor) + s.suffix()
}

// near reports whether v is a number of so many decimals, but for the last bits
// that arithmetic on ticks leaves behind.
func near(v float64, places int) bool {
	scaled := v * math.Pow10(places)
	return math.Abs(scaled-math.Round(scaled)) <= 1e-9*math.Abs(scaled)
}

// Axis returns how an axis of values in unit, of which maximum is a typical or
// the largest one, is marked: values are divided by scale and label is the unit
// that the quotients have ("µs", "GB/s", "" without a unit).
func Axis(unit string, maximum float64) (scale float64, label string) {
	if !finite(maximum) {
		maximum = 1
	}
	s := scaleOf(maximum, unit)
	return s.factor, s.symbol
}

// A scale is what a value is divided by to be printed, and the unit it has then.
type scale struct {
	factor float64
	symbol string

	// counted values are whole in principle: they are written out instead of
	// being rounded to significant digits.
	counted bool
}

// suffix returns what follows the number.
func (s scale) suffix() string {
	if s.symbol == "" {
		return ""
	}
	return " " + s.symbol
}

// singular returns what follows the number 1 ("1 record").
func (s scale) singular() string {
	if s.counted && !strings.HasSuffix(s.symbol, "ss") {
		s.symbol = strings.TrimSuffix(s.symbol, "s")
	}
	return s.suffix()
}

// scaleOf returns the scale at which people write v, given in unit.
func scaleOf(v float64, unit string) scale {
	numerator, denominator, _ := strings.Cut(strings.TrimSuffix(unit, "/op"), "/")
	if denominator != "" {
		denominator = "/" + denominator
	}
	// A qualifier says what was measured, not in which unit.
	base := numerator[strings.LastIndexByte(numerator, '-')+1:]

	// Rounding first makes the prefix change where the printed digits do:
	// 999.9 µs is 1.00 ms.
	size, _ := round(math.Abs(v), digits)
	switch {
	case base == "sec":
		// Nobody writes kiloseconds.
		s := benchunit.CommonScale([]float64{min(size, 1)}, benchunit.Decimal)
		return scale{s.Factor, s.Prefix + "s" + denominator, false}
	case base == "B" && denominator == "" && math.Round(math.Abs(v)) < exactBytes:
		return scale{1, "B", true}
	case base == "B":
		// Nobody writes millibytes.
		s := benchunit.CommonScale([]float64{max(size, 1)}, benchunit.Decimal)
		return scale{s.Factor, s.Prefix + "B" + denominator, false}
	}
	return scale{1, numerator + denominator, denominator == ""}
}

// significant writes x with as many digits as it deserves. Below 1, a last digit
// that is zero is dropped: "0.42" rather than "0.420".
func significant(x float64, counted bool) string {
	p := places(x, counted)
	text := fixed(x, p)
	if strings.HasPrefix(strings.TrimPrefix(text, minus), "0.") && strings.HasSuffix(text, "0") {
		return fixed(x, p-1)
	}
	return text
}

// spanPlaces returns with how many decimals the numbers from low to high are
// written: those of a typical one, or up to two more where they would read the
// same.
func spanPlaces(low, high float64, counted bool) int {
	p := places(typical(low, high), counted)
	if counted && low == math.Trunc(low) && high == math.Trunc(high) {
		p = 0
	}
	for more := 0; more <= 2; more++ {
		if fixed(low, p+more) != fixed(high, p+more) {
			return p + more
		}
	}
	return p
}

// span writes the numbers from low to high.
func span(low, high float64, counted bool) string {
	p := spanPlaces(low, high, counted)
	from, to := fixed(low, p), fixed(high, p)
	switch {
	case from == to:
		return from
	case low < 0:
		return from + " to " + to
	}
	return from + "–" + to
}

// typical returns the number whose size decides how an interval is written: its
// middle, or, where that could be next to nothing, the end farther from zero.
func typical(low, high float64) float64 {
	if low < 0 && high > 0 {
		return max(-low, high)
	}
	return low + (high-low)/2
}

// places returns how many decimals x is written with; -1 stands for whole tens,
// -2 for hundreds, and so on.
func places(x float64, counted bool) int {
	if counted && x == math.Trunc(x) {
		return 0
	}
	p := digits - 1 - exponent(x, digits)
	if counted {
		return max(p, 0)
	}
	return p
}

// fixed writes x with a fixed number of decimals (see places) and separators
// between thousands. Zero is "0", and what rounds to zero has no sign.
func fixed(x float64, places int) string {
	if x == 0 {
		return "0"
	}
	if places < 0 {
		unit := math.Pow10(-places)
		x, places = math.Round(x/unit)*unit, 0
	}
	text := message.NewPrinter(language.English).Sprintf("%.*f", places, math.Abs(x))
	if x < 0 && strings.Trim(text, "0.") != "" {
		return minus + text
	}
	return text
}

// exponent returns the decimal exponent of x once it is rounded to n digits.
func exponent(x float64, n int) int {
	_, e := round(x, n)
	return e
}

// round rounds x to n significant digits and returns its decimal exponent too.
// It goes through the printed form, which rounds exactly as printing does.
func round(x float64, n int) (rounded float64, exponent int) {
	text := strconv.FormatFloat(x, 'e', n-1, 64)
	rounded, _ = strconv.ParseFloat(text, 64)
	exponent, _ = strconv.Atoi(text[strings.IndexByte(text, 'e')+1:])
	return rounded, exponent
}

// finite reports whether v is an ordinary number.
func finite(v float64) bool {
	return !math.IsNaN(v) && !math.IsInf(v, 0)
}
