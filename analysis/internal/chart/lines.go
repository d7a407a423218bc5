package chart

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"cryptocost/analysis/internal/number"

	"gonum.org/v1/plot/vg"
)

// Lines shows how a quantity changes with a size: a line for each case, in one
// panel or several side by side, which share both axes. The horizontal axis is
// logarithmic.
type Lines struct {
	Head
	XQuantity string  // what the horizontal axis shows, without its unit
	XUnit     string  // tidied unit of the sizes
	XTicks    []XTick // which sizes are marked
	Quantity  string  // what the vertical axis shows, without its unit
	Unit      string  // tidied unit of the values
	Log       bool    // logarithmic vertical axis; otherwise it starts at zero
	Panels    []Panel
}

// An XTick is a marked size.
type XTick struct {
	Value float64
	Label string // "" for the number itself
}

// A Panel is one of the areas side by side.
type Panel struct {
	Title string // "" for none
	Lines []Line
}

// A Line is a case. Lines of the same colour may differ in being dashed.
type Line struct {
	Series
	Dashed    bool
	X         []float64 // sizes, increasing
	Points    []Point   // one for each size; without Center where there is none
	Published []float64 // nil, or one for each size; NaN where there is none
	Missing   string    // why the case was not measured; it has no points then
}

const (
	panelHeight = 220
	panelGap    = 20
	leaderRoom  = 12  // between the end of a line and its label
	narrowest   = 110 // a panel narrower than this gives up its labels for a key
)

// published returns the published value at the i-th size, or NaN.
func (l Line) published(i int) float64 {
	if i < len(l.Published) {
		return l.Published[i]
	}
	return math.NaN()
}

// last returns the number of the last point with a value.
func (l Line) last() int {
	for i := len(l.Points) - 1; i >= 0; i-- {
		if !l.Points[i].missing() {
			return i
		}
	}
	return -1
}

// SVG draws the chart.
func (n Lines) SVG() ([]byte, error) {
	if err := n.check(); err != nil {
		return nil, n.fail(err)
	}
	l := n.layout()
	c := newCanvas(l.bottom + axisHeight + l.text.bottom())
	l.text.draw(c)
	l.key.draw(c, l.text.top())
	c.text(axisText, point{margin, l.top - labelGap - l.titleRoom() + 1}, start, l.y.title(n.Quantity))
	left, right := l.panels[0].x.from, l.panels[len(l.panels)-1].x.to
	c.text(axisText, point{(left + right) / 2, l.bottom + 25}, middle, l.panels[0].x.title(n.XQuantity))
	for i, p := range l.panels {
		l.drawGrid(c, p, i == 0)
		for _, light := range []bool{true, false} {
			for _, line := range p.Lines {
				if line.Light == light {
					l.drawLine(c, p, line)
				}
			}
		}
		for _, label := range p.labels {
			label.draw(c)
		}
	}
	return c.finish(n.Head, n.describe())
}

// check reports what makes the chart impossible to draw.
func (n Lines) check() error {
	if err := n.Head.check(); err != nil {
		return err
	}
	if len(n.Panels) == 0 {
		return errors.New("no panels")
	}
	for _, p := range n.Panels {
		if len(p.Lines) == 0 {
			return fmt.Errorf("panel %q: no lines", p.Title)
		}
		for _, line := range p.Lines {
			if err := n.checkLine(line); err != nil {
				return fmt.Errorf("panel %q: line %q: %w", p.Title, line.Name, err)
			}
		}
	}
	return nil
}

func (n Lines) checkLine(line Line) error {
	if err := checkSeries([]Series{line.Series}); err != nil {
		return err
	}
	switch {
	case (line.Missing == "") != (len(line.Points) > 0):
		return fmt.Errorf("%d points and the reason for having none %q", len(line.Points), line.Missing)
	case len(line.X) != len(line.Points):
		return fmt.Errorf("%d points for %d sizes", len(line.Points), len(line.X))
	case line.Published != nil && len(line.Published) != len(line.X):
		return fmt.Errorf("%d published values for %d sizes", len(line.Published), len(line.X))
	case !slices.IsSorted(line.X) || len(line.X) > 0 && !(line.X[0] > 0):
		return fmt.Errorf("sizes %v are not positive and increasing", line.X)
	}
	for i, p := range line.Points {
		if err := p.check(n.Log); err != nil {
			return err
		}
		if v := line.published(i); math.IsInf(v, 0) || n.Log && v <= 0 {
			return fmt.Errorf("published value %v can't be drawn", v)
		}
	}
	return nil
}

// describe writes out all values.
func (n Lines) describe() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n%s by %s:\n", n.Subtitle, n.Quantity, n.XQuantity)
	for _, p := range n.Panels {
		for _, line := range p.Lines {
			var parts []string
			if line.Missing != "" {
				parts = append(parts, "not measured: "+line.Missing)
			}
			for i, point := range line.Points {
				text := number.Value(line.X[i], n.XUnit) + " " + point.describe(n.Unit)
				if v := line.published(i); !math.IsNaN(v) {
					text += ", published " + number.Value(v, n.Unit)
				}
				parts = append(parts, text)
			}
			fmt.Fprintln(&b, strings.TrimPrefix(p.Title+", "+line.Name, ", ")+": "+strings.Join(parts, "; "))
		}
	}
	return b.String()
}

// A linesLayout is the chart with everything in its place.
type linesLayout struct {
	chart  Lines
	text   texts
	key    key
	top    float64 // of the panels
	bottom float64
	y      axis
	ticks  []tick
	panels []placedPanel
}

type placedPanel struct {
	Panel
	x      axis
	labels []endLabel
}

// An endLabel names a line at its right end.
type endLabel struct {
	text  string
	color Color
	from  point // end of the line
	to    point // where the label starts
}

// layout finds the place of everything.
func (n Lines) layout() *linesLayout {
	var notes []string
	for _, p := range n.Panels {
		for _, line := range p.Lines {
			if line.Missing != "" {
				name := strings.TrimPrefix(p.Title+", "+line.Name, ", ")
				notes = append(notes, name+": not measured: "+line.Missing)
			}
		}
	}
	l := &linesLayout{chart: n, text: n.Head.layout(notes...)}

	// The places along the vertical axis follow from the key, whose size depends
	// on whether there is room for labels, which depends on the widths of ticks.
	l.makeVertical(0)
	widths := l.labelWidths()
	direct := l.makePanels(widths) >= narrowest
	if !direct {
		l.makePanels(make([]float64, len(n.Panels)))
	}
	l.makeKey(direct)
	_, keyHeight := l.key.place(0)
	l.makeVertical(l.text.top() + keyHeight + lineGap + l.titleRoom())
	if direct {
		for i := range l.panels {
			l.placeLabels(&l.panels[i])
		}
	}
	return l
}

// titleRoom returns the height of the titles of panels.
func (l *linesLayout) titleRoom() float64 {
	for _, p := range l.chart.Panels {
		if p.Title != "" {
			return lineGap + 4
		}
	}
	return 0
}

// makeVertical puts the panels at height top and makes the vertical axis.
func (l *linesLayout) makeVertical(top float64) {
	var values []float64
	for _, p := range l.chart.Panels {
		for _, line := range p.Lines {
			for i, point := range line.Points {
				low, high := point.ends()
				for _, v := range []float64{low, point.Center, high, line.published(i)} {
					if !math.IsNaN(v) {
						values = append(values, v)
					}
				}
			}
		}
	}
	l.top, l.bottom = top, top+panelHeight
	l.y = newAxis(l.chart.Unit, l.chart.Log, l.bottom, l.top, values, nil)
	l.ticks = l.y.ticks(func(string) float64 { return lineGap })
}

// labelWidths returns how wide the labels of each panel are.
func (l *linesLayout) labelWidths() []float64 {
	widths := make([]float64, len(l.chart.Panels))
	for i, p := range l.chart.Panels {
		for _, line := range p.Lines {
			if !line.Light && line.Missing == "" {
				widths[i] = max(widths[i], leaderRoom+valueText.width(line.Name))
			}
		}
	}
	return widths
}

// makePanels puts the panels side by side, each with so much room for labels at
// its right, and returns how wide that leaves them.
func (l *linesLayout) makePanels(labels []float64) float64 {
	left := float64(margin)
	for _, t := range l.ticks {
		left = max(left, margin+axisText.width(t.label)+labelGap)
	}
	var sizes []float64
	for _, t := range l.chart.XTicks {
		sizes = append(sizes, t.Value)
	}
	room := edge - left - panelGap*float64(len(labels)-1)
	for i, p := range l.chart.Panels {
		room -= labels[i]
		for _, line := range p.Lines {
			sizes = append(sizes, line.X...)
		}
	}
	room /= float64(len(labels))
	l.panels = nil
	for i, p := range l.chart.Panels {
		x := newAxis(l.chart.XUnit, true, left, left+room, sizes, nil)
		l.panels = append(l.panels, placedPanel{Panel: p, x: x})
		left += room + labels[i] + panelGap
	}
	return room
}

// makeKey lists the marks that occur and are not labelled in place.
func (l *linesLayout) makeKey(direct bool) {
	published, noisy := false, false
	type look struct {
		Series
		dashed bool
	}
	seen := make(map[look]bool)
	for _, p := range l.chart.Panels {
		for _, line := range p.Lines {
			look := look{line.Series, line.Dashed}
			if (!direct || line.Light) && line.Missing == "" && !seen[look] {
				seen[look] = true
				l.key.add(true, line.Name, func(c *canvas, p point) {
					c.line(line.stroke(), point{p.x - 5, p.y}, point{p.x + 5, p.y})
				})
			}
			for i, point := range line.Points {
				published = published || !math.IsNaN(line.published(i))
				noisy = noisy || point.Noisy
			}
		}
	}
	l.key.published(published)
	l.key.noisy(noisy)
}

// stroke returns the look of the line.
func (l Line) stroke() stroke {
	s := stroke{color: l.Color.shade(l.Light), width: 1.5}
	if l.Dashed {
		s.dashes = []vg.Length{4, 2.5}
	}
	return s
}

// placeLabels puts the labels of a panel to the right of it, as near to the ends
// of their lines as they can be without touching each other.
func (l *linesLayout) placeLabels(p *placedPanel) {
	for _, line := range p.Lines {
		i := line.last()
		if line.Light || i < 0 {
			continue
		}
		end := point{p.x.at(line.X[i]), l.y.at(line.Points[i].Center)}
		p.labels = append(p.labels, endLabel{line.Name, line.Color, end, point{p.x.to + leaderRoom, end.y}})
	}
	slices.SortStableFunc(p.labels, func(a, b endLabel) int { return cmp.Compare(a.from.y, b.from.y) })
	places := make([]float64, len(p.labels))
	for i, label := range p.labels {
		places[i] = label.from.y
	}
	for i, y := range spread(places, labelHeight, l.top, l.bottom) {
		p.labels[i].to.y = y
	}
}

// spread moves places, which increase, until they are a gap apart and between
// first and last, if they fit: neighbours that are too close push each other.
func spread(places []float64, gap, first, last float64) []float64 {
	spread := slices.Clone(places)
	const rounds = 200
	for range rounds {
		for i := range spread {
			spread[i] = min(max(spread[i], first), last)
			if i > 0 {
				if missing := gap - (spread[i] - spread[i-1]); missing > 0 {
					spread[i-1] -= missing / 2
					spread[i] += missing / 2
				}
			}
		}
	}
	return spread
}

// draw writes the label and connects it to its line.
func (e endLabel) draw(c *canvas) {
	c.line(stroke{color: e.color.shade(true), width: 0.6},
		point{e.from.x + dotSize, e.from.y}, point{e.to.x - 6, e.to.y}, point{e.to.x - 2, e.to.y})
	c.label(valueText.in(e.color.text()), e.to, start, e.text)
}

// drawGrid draws the title, grid and ticks of a panel; the labels of the grid are
// those of the first.
func (l *linesLayout) drawGrid(c *canvas, p placedPanel, first bool) {
	c.text(headingText, point{p.x.from, l.top - labelGap}, start, p.Title)
	for _, t := range l.ticks {
		c.line(stroke{color: gridColor, width: 0.6}, point{p.x.from, t.place}, point{p.x.to, t.place})
		if first && t.label != "" {
			c.label(axisText, point{p.x.from - labelGap, t.place}, end, t.label)
		}
	}
	c.line(stroke{color: axisColor, width: 0.8}, point{p.x.from, l.bottom}, point{p.x.to, l.bottom})
	// From the largest size down, so that it keeps its label where two collide.
	free := math.Inf(1)
	for _, t := range slices.Backward(l.chart.XTicks) {
		x := p.x.at(t.Value)
		c.line(stroke{color: axisColor, width: 0.8}, point{x, l.bottom}, point{x, l.bottom + 3})
		text := cmp.Or(t.Label, number.Tick(t.Value/p.x.scale))
		half := axisText.width(text) / 2
		if x+half <= free {
			c.text(axisText, point{x, l.bottom + 12}, middle, text)
			free = x - half - labelGap/2
		}
	}
}

// drawLine draws a line, broken where points are missing, and its marks.
func (l *linesLayout) drawLine(c *canvas, p placedPanel, line Line) {
	var run []point
	for i, at := range line.Points {
		if !at.missing() {
			run = append(run, point{p.x.at(line.X[i]), l.y.at(at.Center)})
		}
		if (at.missing() || i == len(line.Points)-1) && len(run) > 0 {
			c.line(line.stroke(), run...)
			run = nil
		}
	}
	color := line.Color.shade(line.Light)
	for i, at := range line.Points {
		x := p.x.at(line.X[i])
		if v := line.published(i); !math.IsNaN(v) {
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
