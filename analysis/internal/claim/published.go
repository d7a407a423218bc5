package claim

import (
	"regexp"
	"strconv"
	"strings"

	"cryptocost/analysis/internal/values"
)

// Published is a published number in the tidied unit of the values: seconds
// instead of microseconds, bytes per second instead of MB/s.
type Published struct {
	// Low and High bound a range ("200-230 us"); of a single number they are
	// the same.
	Low, High float64
	Unit      string // "sec", "B/s", "sec/B", "B", "" for ratios, or any other word
}

// units are the published units by the tidied ones.
var units = map[string]struct {
	factor float64
	tidy   string
}{
	"s": {1, "sec"}, "ms": {1e-3, "sec"}, "us": {1e-6, "sec"}, "ns": {1e-9, "sec"},
	"ns/B": {1e-9, "sec/B"}, "MB/s": {1e6, "B/s"},
	"KB": {1e3, "B"}, "MB": {1e6, "B"}, "KiB": {1 << 10, "B"}, "MiB": {1 << 20, "B"}, "GiB": {1 << 30, "B"},
	"x": {1, ""}, "%": {1e-2, ""}, "rtt": {1, "round-trips"},
}

// Published gives the claim's number; false if it is not one. Of a sum whose
// last term is a word ("3*50+processing") it is the sum of the others: the
// word is for what the baseline takes, or for what is not measured. A number
// "*RTT" is one of round trips.
func (c Claim) Published() (Published, bool) {
	if n, ok := strings.CutSuffix(c.Value, "*RTT"); ok {
		return Claim{Value: n, Unit: "rtt"}.Published()
	}
	if n, ok := sum(c.Value); ok {
		return Claim{Value: n, Unit: c.Unit}.Published()
	}
	low, high, isRange := strings.Cut(c.Value, "-")
	if !isRange {
		high = low
	}
	from, ok1 := parseNumber(low)
	to, ok2 := parseNumber(high)
	if !ok1 || !ok2 || from > to {
		return Published{}, false
	}
	u, ok := units[c.Unit]
	if !ok {
		u.factor, u.tidy = 1, c.Unit
	}
	return Published{from * u.factor, to * u.factor, u.tidy}, true
}

var sumPattern = regexp.MustCompile(`^[0-9.]+(?:[*+][0-9.]+)*\+[a-z]+$`)

// sum adds "3*50+processing" up to "150"; false if it is no such sum.
func sum(value string) (string, bool) {
	if !sumPattern.MatchString(value) {
		return "", false
	}
	terms := strings.Split(value, "+")
	var total float64
	for _, term := range terms[:len(terms)-1] {
		product := 1.0
		for factor := range strings.SplitSeq(term, "*") {
			f, ok := parseNumber(factor)
			if !ok {
				return "", false
			}
			product *= f
		}
		total += product
	}
	return strconv.FormatFloat(total, 'f', -1, 64), true
}

// parseNumber reads "0.48" and "1/4".
func parseNumber(s string) (float64, bool) {
	const digits = "0123456789./"
	if s == "" || strings.Trim(s, digits) != "" {
		return 0, false // ParseFloat would take "inf" and "1e3" too
	}
	numerator, denominator, ok := strings.Cut(s, "/")
	if !ok {
		denominator = "1"
	}
	n, err1 := strconv.ParseFloat(numerator, 64)
	d, err2 := strconv.ParseFloat(denominator, 64)
	return n / d, err1 == nil && err2 == nil && d > 0
}

// nearest is the number of the range that is nearest to v.
func (p Published) nearest(v float64) float64 { return min(max(v, p.Low), p.High) }

// Find gives the claim that publishes a value of an experiment, by the
// value's key: of a case, of the ratio or of the difference of two. It may be
// a claim that another experiment answers for. Claims about several values at
// once are not found.
func Find(claims []Claim, experiment, key string) (Claim, bool) {
	for _, c := range claims {
		if _, ok := c.Published(); !ok || c.Untested {
			continue
		}
		q, err := c.quantities()
		if err == nil && len(q) == 1 && q[0].of.experiment == experiment && q[0].formula == "" && q[0].key(c.Kind) == key {
			return c, true
		}
	}
	return Claim{}, false
}

// A Pair is two cases of an experiment that are compared in a unit.
type Pair struct{ Unit, Case, Baseline string }

// Pairs lists what the analysis of an experiment must compare, in the order
// of the claims: of each pair the claims need the ratio ([values.Over]) and
// the difference ([values.Minus]).
func Pairs(claims []Claim, experiment string) []Pair {
	var pairs []Pair
	seen := map[Pair]bool{}
	add := func(of, unit, name, base string) {
		p := Pair{unit, name, base}
		if of == experiment && name != "" && base != "" && !seen[p] {
			seen[p] = true
			pairs = append(pairs, p)
		}
	}
	for _, c := range claims {
		for _, o := range c.evidence().observations {
			add(o.experiment, o.unit, o.name, o.as)
		}
		quantities, err := c.quantities()
		if err != nil || !c.compares() {
			continue
		}
		for _, q := range quantities {
			add(q.of.experiment, q.unit, q.of.name, q.of.over)
			add(q.against.experiment, q.unit, q.against.name, q.against.over)
			if q.paired() {
				add(q.of.experiment, q.unit, q.of.name, q.against.name)
			}
		}
	}
	return pairs
}

// key is the key of the value that a claim of that kind publishes.
func (q quantity) key(k Kind) string {
	switch {
	case k == Ratio:
		return values.Over(q.unit, q.of.name, q.against.name)
	case k == Difference:
		return values.Minus(q.unit, q.of.name, q.against.name)
	case k == Absolute, k == Bytes, k == Count:
		return values.Case(q.unit, q.of.name)
	}
	return ""
}
