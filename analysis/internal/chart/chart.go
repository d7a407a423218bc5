// Package chart draws the figures of the study: one theme, six kinds.
//
//   - [Rows] compares cases: a row each, a dot with its interval per series.
//   - [Stack] shows the parts of a whole: a stacked bar per case.
//   - [Distribution] shows how samples spread: cumulative curves.
//   - [Lines] shows how something changes with a size: panels side by side.
//   - [Fits] shows how something grows with a quantity: points and fitted lines.
//   - [Ladder] shows what crosses connections: records between two life lines.
//
// Each is a struct of plain numbers in tidied units (see package number) with a
// method SVG. The picture is 720 px wide and as high as it needs to be, brings
// its own white background, keeps text as text, and is the same, byte for byte,
// whenever it is made from the same numbers.
//
// The same marks mean the same in every kind: a dot or curve in full colour is
// the machine at hand, a lighter one is another machine, a hollow dot is a value
// from a noisy window, a hollow diamond is the published value, and a case that
// was not measured says so in its place.
package chart

import (
	"errors"
	"fmt"
	"math"
	"regexp"

	"cryptocost/analysis/internal/number"
)

// A Head is what every figure has besides its data.
type Head struct {
	// Experiment is the one-word name of the experiment whose samples are shown
	// and of the analysis that draws them. It is written into the file.
	Experiment string

	// Title is a sentence that says what the figure shows. It is wrapped.
	Title string

	// Subtitle says on which machine, in how many rounds, and what the whiskers
	// are. It is wrapped.
	Subtitle string

	// Notes are printed below the figure, each on lines of its own.
	Notes []string
}

// A Point is a value with its interval, in the unit of its chart.
type Point struct {
	Center    float64 // NaN: there is no value
	Low, High float64 // NaN: there is no interval, and no whisker
	Noisy     bool    // from a marked window: drawn hollow
}

// A Series is what all points of one colour have in common. The same series has
// the same name and colour in every figure of the paper.
type Series struct {
	Name  string
	Color Color
	Light bool // another machine: drawn lighter and without values
}

// experimentName is the form of the names of experiments, which are also the
// names of directories.
var experimentName = regexp.MustCompile(`^[a-z]+$`)

// check reports what is wrong with the head.
func (h Head) check() error {
	switch {
	case !experimentName.MatchString(h.Experiment):
		return fmt.Errorf("experiment %q is not one lower-case word", h.Experiment)
	case h.Title == "":
		return errors.New("no title")
	}
	return nil
}

// fail says which chart could not be drawn, and why.
func (h Head) fail(err error) error {
	return fmt.Errorf("drawing chart %q of %q: %w", h.Title, h.Experiment, err)
}

// checkSeries reports what makes series impossible to draw.
func checkSeries(series []Series) error {
	if len(series) == 0 {
		return errors.New("no series")
	}
	for _, s := range series {
		if s.Color < 0 || int(s.Color) >= len(palette) {
			return fmt.Errorf("series %q: no colour has the number %d", s.Name, s.Color)
		}
	}
	return nil
}

// missing reports whether there is no value to draw.
func (p Point) missing() bool { return math.IsNaN(p.Center) }

// whisker reports whether there is an interval to draw.
func (p Point) whisker() bool { return !math.IsNaN(p.Low) && !math.IsNaN(p.High) }

// ends returns the smallest and largest number that the point covers.
func (p Point) ends() (low, high float64) {
	if !p.whisker() {
		return p.Center, p.Center
	}
	return min(p.Low, p.Center), max(p.High, p.Center)
}

// check reports what makes the point impossible to draw.
func (p Point) check(log bool) error {
	low, high := p.ends()
	switch {
	case math.IsInf(p.Center, 0) || math.IsInf(low, 0) || math.IsInf(high, 0):
		return fmt.Errorf("value %v (%v to %v) is infinite", p.Center, p.Low, p.High)
	case math.IsNaN(p.Low) != math.IsNaN(p.High):
		return fmt.Errorf("value %v has half an interval (%v to %v)", p.Center, p.Low, p.High)
	case !log && p.Center < 0:
		return fmt.Errorf("value %v is negative, on an axis from zero", p.Center)
	case log && p.Center <= 0:
		return fmt.Errorf("value %v is not positive, on a logarithmic axis", p.Center)
	}
	return nil
}

// describe writes the point for those who can't see it.
func (p Point) describe(unit string) string {
	if p.missing() {
		return "not measured"
	}
	text := number.Value(p.Center, unit)
	if p.whisker() {
		text = number.Estimate(p.Center, p.Low, p.High, unit)
	}
	if p.Noisy {
		text += " (noisy)"
	}
	return text
}
