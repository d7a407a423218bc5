package chart

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"cryptocost/analysis/internal/number"
)

// Fits shows that a quantity grows in proportion to another: dots with their
// intervals, and the straight line fitted to those of each case. Both axes are
// linear and start at zero, and panels side by side share them.
type Fits struct {
	Head
	XQuantity string    // what the horizontal axis shows, without its unit
	XUnit     string    // tidied unit of the places
	XTicks    []float64 // which places are marked
	Quantity  string    // what the vertical axis shows, without its unit
	Unit      string    // tidied unit of the values
	Panels    []FitPanel
}

// A FitPanel is one of the areas side by side.
type FitPanel struct {
	Title string // "" for none
	Fits  []Fit
}

// A Fit is a case: a [Line] whose X may begin with zero and whose points are
// not joined, but lie along Intercept + Slope·X, in the units of the chart. A NaN
// stands for no line. Its name stands at the end of the line.
type Fit struct {
	Line
	Slope, Intercept float64
}

// at returns the height of the fitted line.
func (f Fit) at(x float64) float64 { return f.Intercept + f.Slope*x }

// SVG draws the chart.
func (f Fits) SVG() ([]byte, error) {
	if err := f.check(); err != nil {
		return nil, f.fail(err)
	}
	l := f.layout()
	c := newCanvas(l.bottom + axisHeight + l.text.bottom())
	l.text.draw(c)
	l.key.draw(c, l.text.top())
	c.text(axisText, point{margin, l.top - labelGap - l.titleRoom() + 1}, start, l.y.title(f.Quantity))
	left, right := l.panels[0].x.from, l.panels[len(l.panels)-1].x.to
	c.text(axisText, point{(left + right) / 2, l.bottom + 25}, middle, l.panels[0].x.title(f.XQuantity))
	for i, p := range l.panels {
		l.drawGrid(c, p, i == 0)
		for _, light := range []bool{true, false} {
			for _, fit := range f.Panels[i].Fits {
				if fit.Light == light && fit.Missing == "" {
					l.drawFit(c, p, fit)
				}
			}
		}
		for _, label := range p.labels {
			label.draw(c)
		}
	}
	return c.finish(f.Head, f.describe())
}

// check reports what makes the chart impossible to draw.
func (f Fits) check() error {
	if err := f.Head.check(); err != nil {
		return err
	}
	if len(f.Panels) == 0 {
		return errors.New("no panels")
	}
	for _, p := range f.Panels {
		if len(p.Fits) == 0 {
			return fmt.Errorf("panel %q: no lines", p.Title)
		}
		for _, fit := range p.Fits {
			if err := fit.check(); err != nil {
				return fmt.Errorf("panel %q: line %q: %w", p.Title, fit.Name, err)
			}
		}
	}
	return nil
}

func (f Fit) check() error {
	if err := checkSeries([]Series{f.Series}); err != nil {
		return err
	}
	switch {
	case (f.Missing == "") != (len(f.Points) > 0):
		return fmt.Errorf("%d points and the reason for having none %q", len(f.Points), f.Missing)
	case len(f.X) != len(f.Points):
		return fmt.Errorf("%d points at %d places", len(f.Points), len(f.X))
	case f.Published != nil && len(f.Published) != len(f.X):
		return fmt.Errorf("%d published values at %d places", len(f.Published), len(f.X))
	case !slices.IsSorted(f.X) || len(f.X) > 0 && !(f.X[0] >= 0):
		return fmt.Errorf("places %v are negative or don't increase", f.X)
	case math.IsInf(f.Slope, 0) || math.IsInf(f.Intercept, 0):
		return fmt.Errorf("the line %v + %v x is infinite", f.Intercept, f.Slope)
	}
	for i, p := range f.Points {
		if err := p.check(false); err != nil {
			return err
		}
		if math.IsInf(f.published(i), 0) {
			return fmt.Errorf("published value %v can't be drawn", f.published(i))
		}
	}
	return nil
}

// lines returns the chart as one of [Lines], which shares its layout but for
// the horizontal axis, of which the ticks are given and the scale is not.
func (f Fits) lines() Lines {
	n := Lines{Head: f.Head, XQuantity: f.XQuantity, XUnit: f.XUnit, Quantity: f.Quantity, Unit: f.Unit}
	for _, x := range f.XTicks {
		n.XTicks = append(n.XTicks, XTick{Value: x})
	}
	for _, p := range f.Panels {
		panel := Panel{Title: p.Title}
		for _, fit := range p.Fits {
			panel.Lines = append(panel.Lines, fit.Line)
		}
		n.Panels = append(n.Panels, panel)
	}
	return n
}

// layout finds the place of everything.
func (f Fits) layout() *linesLayout {
	l := f.lines().layout()
	places := slices.Clone(f.XTicks)
	for _, p := range f.Panels {
		for _, fit := range p.Fits {
			places = append(places, fit.X...)
		}
	}
	for i := range l.panels {
		p := &l.panels[i]
		p.x = newAxis(f.XUnit, false, p.x.from, p.x.to, places, nil)
		if len(p.labels) > 0 { // else the key names the lines
			p.labels = nil
			l.placeLabels(p)
		}
	}
	return l
}

// drawFit draws a line from zero to the last point, and the marks along it.
func (l *linesLayout) drawFit(c *canvas, p placedPanel, f Fit) {
	if last := f.last(); last >= 0 && !math.IsNaN(f.Slope) && !math.IsNaN(f.Intercept) {
		c.line(f.stroke(), point{p.x.at(0), l.y.at(f.at(0))}, point{p.x.at(f.X[last]), l.y.at(f.at(f.X[last]))})
	}
	color := f.Color.shade(f.Light)
	for i, at := range f.Points {
		x := p.x.at(f.X[i])
		if v := f.published(i); !math.IsNaN(v) {
			c.diamond(point{x, l.y.at(v)})
		}
		if at.missing() {
			continue
		}
		if at.whisker() {
			low, high := at.ends()
			c.line(stroke{color: color, width: 1.1}, point{x, l.y.at(low)}, point{x, l.y.at(high)})
		}
		c.dot(point{x, l.y.at(at.Center)}, color, dotSize-0.9, at.Noisy)
	}
}

// describe writes out all values and lines.
func (f Fits) describe() string {
	text := f.lines().describe()
	for _, p := range f.Panels {
		for _, fit := range p.Fits {
			if fit.Missing != "" || math.IsNaN(fit.Slope) || math.IsNaN(fit.Intercept) {
				continue
			}
			name := fit.Name
			if p.Title != "" {
				name = p.Title + ", " + name
			}
			text += fmt.Sprintf("Fitted, %s: %s + %s %s\n", name, number.Value(fit.Intercept, f.Unit), number.Ratio(fit.Slope), f.XQuantity)
		}
	}
	return text
}
