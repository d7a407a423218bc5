package claim

import (
	"fmt"
	"math"
	"strings"

	"cryptocost/analysis/internal/number"
)

// How far a measured number may be from the published one, as a share of it,
// where its interval does not hold it. Absolute numbers depend on processor
// and release most, ratios least; bytes are exact but for lengths that vary
// (signatures in DER, names in certificates).
const (
	absoluteTolerance   = 0.25
	wireTolerance       = 0.10 // of absolute times over a wire: its delay makes them up, and one wait more must show
	differenceTolerance = 0.20
	ratioTolerance      = 0.10
	exactTolerance      = 0.02
)

// widest is by how many times the ends of an interval may differ; a wider
// one holds so many numbers that holding the published one shows nothing.
const widest = 2.0

// What the orderings allow the ratio of two cases to be.
const (
	equalLimit   = 1.10 // "equal"
	similarLimit = 1.25 // "nearly-equal", "similar"
	smallLimit   = 1.50 // "small", "slightly-greater"
)

// Rules says in Markdown how claims are judged.
func Rules() string {
	percent := func(share float64) string { return fmt.Sprintf("%.0f %%", 100*share) }
	return strings.NewReplacer(
		"{absolute}", percent(absoluteTolerance), "{wire}", percent(wireTolerance), "{difference}", percent(differenceTolerance),
		"{ratio}", percent(ratioTolerance), "{exact}", percent(exactTolerance),
		"{widest}", fmt.Sprint(widest),
		"{equal}", percent(equalLimit-1), "{similar}", percent(similarLimit-1), "{small}", percent(smallLimit-1),
	).Replace(rules)
}

const rules = `* An **absolute** number is *reproduced* if the 95 % interval holds it or the measured value is within {absolute} of it, else *shifted*;
  a time over a wire with a delay, which is made up of the delay and not of the processor's work, within {wire}.
* **Bytes** and **counts** are *reproduced* if they are the same or within {exact}, else *shifted*.
* A **ratio** is *reproduced* if the interval holds it or the measured one is within {ratio} of it; *shifted* if it is on the same side of 1;
  *contradicted* if it is on the other side, or if there is no effect: the measured one is not distinguishable from 1 and the published one ruled
  out. To be distinguished, a ratio must differ from 1 by more than its interval and by more than the noise floor of its experiment (what
  two cases that are the same seem to differ by). If neither 1 nor the published one is ruled out, it is undecided, which counts as *shifted*.
* A **difference** is judged like a ratio, within {difference} (of bytes: {exact}) and around 0. Whether it is distinguished is decided by
  the ratio of its two cases.
* A **formula** is computed from measured values and judged like a difference, within {absolute} (over a wire {wire}); where the article calls it a ratio, within {ratio};
  where its result is measured as such, like an absolute number. Of a published sum with an open end ("3*50+processing") the numbers count.
* An **ordering** is judged by the interval of the ratio. *Greater* and *lower* are reproduced if the ratio is distinguished from 1 on that
  side, and contradicted if it is on the other side or the whole interval is within {equal} of 1. *Equal* is reproduced if the ratio is not
  distinguished from 1 and the whole interval is within {equal} of it, *nearly equal* and *similar* within {similar}, *small* within {small}, and contradicted if the whole interval is outside. *Slightly
  greater* is greater by at most {small}. These limits are factors: as far below 1 as above. What the interval does not decide is *shifted*.
* An **interval** of which one end is more than {widest} times the other decides nothing about a number that it holds: undecided, *shifted*.
  So is every comparison of cases with too few rounds for an interval.
* A **behaviour** is *reproduced* if it was observed in every round, *contradicted* if in none, *shifted* if in some. Where it is that two cases
  are alike, the whole interval of their ratio must be within {equal}.
* A **design** is *built* if the study has it: where, and the test or the observation that shows it.
* An open question, which the article did not measure, is *answered* if a case measures it.
* A claim about several quantities gets the worst of their verdicts.
* The rest is *not measurable here* (by none of the cases), *not measured on this machine*, or *open*: its experiment is not part of the study yet.
`

// size compares a number with the published one.
func (r reading) size(p Published, tolerance float64) (Word, string) {
	switch {
	case r.ruledOut(p, tolerance):
		return Shifted, factor(r.value, p)
	case r.wide():
		return Shifted, "undecided: the interval is too wide"
	case r.value == p.Low && p.Low == p.High:
		return Reproduced, "exactly the published number"
	case !r.holds(p):
		return Reproduced, fmt.Sprintf("%s, within %.0f %%", factor(r.value, p), 100*tolerance)
	case p.Low == p.High:
		return Reproduced, "the interval holds the published number"
	}
	return Reproduced, "the interval meets the published range"
}

// holds says whether the published number is in the interval.
func (r reading) holds(p Published) bool { return r.low <= p.High && p.Low <= r.high }

// ruledOut says whether it is neither there nor near the measured value.
func (r reading) ruledOut(p Published, tolerance float64) bool {
	nearest := p.nearest(r.value)
	return !r.holds(p) && math.Abs(r.value-nearest) > tolerance*math.Abs(nearest)
}

// wide says whether the interval is wider than [widest].
func (r reading) wide() bool {
	least, most := math.Abs(r.low), math.Abs(r.high)
	if least > most {
		least, most = most, least
	}
	return r.low != r.high && (r.low*r.high <= 0 || most > widest*least)
}

// factor says how many times the published number v is.
func factor(v float64, p Published) string {
	nearest, what := p.nearest(v), "the published number"
	switch {
	case p.Low != p.High && nearest == p.Low:
		what = "the lower end of the published range"
	case p.Low != p.High:
		what = "the upper end of the published range"
	}
	if nearest == 0 {
		return "not 0 as published"
	}
	return number.Ratio(v/nearest) + " " + what
}

// undecidable is why a comparison without an interval shows nothing.
const undecidable = "undecided: too few rounds for an interval"

// effect compares a ratio, whose null is 1, or a difference, whose null is
// 0, with the published one.
func (r reading) effect(p Published, null, tolerance float64) (Word, string) {
	word, why := r.size(p, tolerance)
	ruledOut := r.ruledOut(p, tolerance)
	// Whether an effect is claimed, and not that there is none.
	claimed := math.Abs(p.nearest(null)-null) > tolerance*null
	switch {
	case r.pointwise && claimed:
		return Shifted, undecidable
	case !r.distinct && ruledOut:
		return Contradicted, "no effect is distinguishable (" + r.noise() + ")"
	case !r.distinct && claimed:
		return Shifted, "undecided: neither the published number nor " + number.Tick(null) + " is ruled out"
	case r.distinct && ruledOut && (r.value-null)*(p.Low-null) < 0:
		return Contradicted, "the other way round"
	}
	return word, why
}

// noise says what a ratio has to exceed.
func (r reading) noise() string {
	return "noise floor " + number.Percent(r.floor-1)
}

// order compares the ratio of two cases with the published word.
func (r reading) order(published string) (Word, string) {
	if r.pointwise {
		return Shifted, undecidable
	}
	inverse := reading{value: 1 / r.value, low: 1 / r.high, high: 1 / r.low, floor: r.floor, distinct: r.distinct}
	switch published {
	case "greater":
		return r.greater("greater", "lower")
	case "lower":
		return inverse.greater("lower", "greater")
	case "equal":
		return r.equal(equalLimit)
	case "nearly-equal", "similar":
		return r.equal(similarLimit)
	case "small":
		return r.equal(smallLimit)
	case "slightly-greater":
		word, why := r.greater("greater", "lower")
		if r.distinct && r.value < 1 {
			return Shifted, "less, not slightly more: " + why
		}
		if word == Reproduced && r.high > smallLimit {
			return Shifted, fmt.Sprintf("greater, but perhaps by more than %.0f %%", 100*(smallLimit-1))
		}
		return word, why
	}
	return "", fmt.Sprintf("no rule for the ordering %q", published)
}

// greater judges whether the ratio is above 1.
func (r reading) greater(word, opposite string) (Word, string) {
	switch {
	case r.distinct && r.value > 1:
		return Reproduced, word + " beyond the " + r.noise()
	case r.distinct:
		return Contradicted, opposite + " beyond the " + r.noise()
	case r.low >= 1/equalLimit && r.high <= equalLimit:
		return Contradicted, fmt.Sprintf("no difference: the whole interval is within %.0f %%", 100*(equalLimit-1))
	}
	return Shifted, "undecided: not distinguishable from 1 (" + r.noise() + "), and a difference is not ruled out"
}

// equal judges whether the ratio is between 1/limit and limit, and of those
// that are called equal whether it is distinguished from 1 all the same.
func (r reading) equal(limit float64) (Word, string) {
	word, why := r.within(limit)
	if word == Reproduced && limit == equalLimit && r.distinct {
		return Shifted, fmt.Sprintf("distinguished, though within %.0f %% (%s)", 100*(limit-1), r.noise())
	}
	return word, why
}

// within judges whether the ratio is between 1/limit and limit.
func (r reading) within(limit float64) (Word, string) {
	within := fmt.Sprintf("within %.0f %%", 100*(limit-1))
	switch {
	case r.low >= 1/limit && r.high <= limit:
		return Reproduced, "the whole interval is " + within
	case r.high < 1/limit || r.low > limit:
		return Contradicted, "the whole interval is not " + within
	}
	return Shifted, "undecided: the interval is partly " + within
}
