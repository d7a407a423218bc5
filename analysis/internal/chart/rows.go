package chart

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"cryptocost/analysis/internal/number"
)

// Rows compares cases: each is a row with its name at the left, and in it each
// series has a dot with its interval and its value. Series of other machines
// (Light) share the line of the series that has their colour.
type Rows struct {
	Head
	Quantity string // what the axis shows, without its unit
	Unit     string // tidied unit of all values
	Log      bool   // logarithmic axis; otherwise it starts at zero
	Series   []Series
	Groups   []Group
}

// A Group is a block of rows with a small heading.
type Group struct {
	Name string // "" for none
	Rows []Row
}

// A Row is a case.
type Row struct {
	Name      string
	Points    []Point   // one for each series; without Center where there is none
	Published []float64 // nil, or one for each series; NaN where there is none

	// Missing is why the case was not measured; it has no points then, and what
	// was published is written beside the reason.
	Missing string
}

const (
	seriesGap = 12.5 // from one line of a row to the next
	lightDrop = 3.6  // lighter dots stand so far off the line of their colour
	touching  = 2    // marks this close read as one
)

// published returns the published value of the i-th series, or NaN.
func (r Row) published(i int) float64 {
	if i < len(r.Published) {
		return r.Published[i]
	}
	return math.NaN()
}

// SVG draws the chart.
func (r Rows) SVG() ([]byte, error) {
	if err := r.check(); err != nil {
		return nil, r.fail(err)
	}
	l := r.layout()
	c := newCanvas(l.list.bottom + axisHeight + l.text.bottom())
	l.text.draw(c)
	l.key.draw(c, l.text.top())
	l.axis.drawHorizontal(c, l.ticks, r.Quantity, l.list.top, l.list.bottom)
	l.list.draw(c)
	for i := range l.rows {
		l.drawRow(c, i)
	}
	return c.finish(r.Head, r.describe())
}

// check reports what makes the chart impossible to draw.
func (r Rows) check() error {
	if err := r.Head.check(); err != nil {
		return err
	}
	if err := checkSeries(r.Series); err != nil {
		return err
	}
	rows := 0
	for _, g := range r.Groups {
		for _, row := range g.Rows {
			rows++
			if err := r.checkRow(row); err != nil {
				return fmt.Errorf("row %q: %w", row.Name, err)
			}
		}
	}
	if rows == 0 {
		return errors.New("no rows")
	}
	return nil
}

func (r Rows) checkRow(row Row) error {
	if row.Missing != "" {
		if len(row.Points) > 0 {
			return fmt.Errorf("not measured (%s), yet with points", row.Missing)
		}
		return nil
	}
	if len(row.Points) != len(r.Series) {
		return fmt.Errorf("%d points for %d series", len(row.Points), len(r.Series))
	}
	if row.Published != nil && len(row.Published) != len(r.Series) {
		return fmt.Errorf("%d published values for %d series", len(row.Published), len(r.Series))
	}
	for i, p := range row.Points {
		if err := p.check(r.Log); err != nil {
			return fmt.Errorf("series %q: %w", r.Series[i].Name, err)
		}
		if v := row.published(i); math.IsInf(v, 0) || r.Log && v <= 0 {
			return fmt.Errorf("series %q: published value %v can't be drawn", r.Series[i].Name, v)
		}
	}
	return nil
}

// describe writes out all values.
func (r Rows) describe() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n%s:\n", r.Subtitle, r.Quantity)
	for _, g := range r.Groups {
		for _, row := range g.Rows {
			var parts []string
			if row.Missing != "" {
				parts = append(parts, "not measured: "+r.missing(row))
			}
			for i, p := range row.Points {
				text := r.Series[i].Name + " " + p.describe(r.Unit)
				if v := row.published(i); !math.IsNaN(v) {
					text += ", published " + number.Value(v, r.Unit)
				}
				parts = append(parts, text)
			}
			fmt.Fprintln(&b, strings.TrimPrefix(g.Name+", "+row.Name, ", ")+": "+strings.Join(parts, "; "))
		}
	}
	return b.String()
}

// A rowsLayout is the chart with everything in its place.
type rowsLayout struct {
	chart Rows
	text  texts
	key   key
	list  *list
	rows  []Row // of all groups, as in list
	axis  axis
	ticks []tick
	slots []int     // line within the row, for each series
	drops []float64 // how far below its line a lighter series is drawn
	lines int       // how many lines a row has
	named int       // the row that names the series beside the values; -1 for none
}

// layout finds the place of everything, from left to right and then downwards.
func (r Rows) layout() *rowsLayout {
	l := &rowsLayout{chart: r, text: r.Head.layout(), named: -1}
	var blocks []block
	for _, g := range r.Groups {
		b := block{heading: g.Name}
		for _, row := range g.Rows {
			b.rows = append(b.rows, rowName{row.Name, r.missing(row)})
			l.rows = append(l.rows, row)
		}
		blocks = append(blocks, b)
	}
	l.list = newList(blocks)
	l.assignLines()
	l.makeAxis()
	l.makeKey()
	_, keyHeight := l.key.place(0)
	l.list.place(blocks, l.text.top()+keyHeight, seriesGap*float64(l.lines), -1, 0)
	return l
}

// missing returns why row was not measured, and what was published about it.
func (r Rows) missing(row Row) string {
	var published []string
	for i := range row.Published {
		if v := row.published(i); !math.IsNaN(v) {
			published = append(published, number.Value(v, r.Unit))
		}
	}
	if row.Missing == "" || len(published) == 0 {
		return row.Missing
	}
	return row.Missing + " (published: " + strings.Join(published, ", ") + ")"
}

// assignLines gives each series its line within the row: one of its own, or for
// another machine the line of its colour, where it stands a little lower or, if
// it is the second one there, higher.
func (l *rowsLayout) assignLines() {
	l.slots = make([]int, len(l.chart.Series))
	l.drops = make([]float64, len(l.chart.Series))
	slots := make(map[Color]int)
	others := make(map[Color]int)
	for _, light := range []bool{false, true} {
		for i, s := range l.chart.Series {
			if s.Light != light {
				continue
			}
			slot, taken := slots[s.Color]
			if taken && light {
				l.slots[i] = slot
				l.drops[i] = lightDrop * float64(1-2*(others[s.Color]%2))
				others[s.Color]++
				continue
			}
			slots[s.Color] = l.lines
			l.slots[i] = l.lines
			l.lines++
		}
	}
}

// complete reports whether row has a value in each series of this machine.
func (l *rowsLayout) complete(row Row) bool {
	for i, p := range row.Points {
		if p.missing() && !l.chart.Series[i].Light {
			return false
		}
	}
	return len(row.Points) > 0
}

// makeAxis makes the axis, and lets the first complete row name the series beside
// their values if there is room.
func (l *rowsLayout) makeAxis() {
	var values []float64
	var needs []need
	for _, row := range l.rows {
		for i, p := range row.Points {
			low, high := p.ends()
			for _, v := range []float64{low, p.Center, high, row.published(i)} {
				if !math.IsNaN(v) {
					values = append(values, v)
				}
			}
			if !l.chart.Series[i].Light {
				needs = append(needs, need{l.rightmost(row, l.slots[i]), diamondSize + labelGap + l.room(p)})
			}
		}
	}
	l.axis = newAxis(l.chart.Unit, l.chart.Log, l.list.from, l.list.to, values, needs)
	l.ticks = l.axis.ticks(axisText.width)

	first := slices.IndexFunc(l.rows, l.complete)
	if len(l.chart.Series) < 2 || first < 0 {
		return
	}
	for i, p := range l.rows[first].Points {
		s := l.chart.Series[i]
		x := l.axis.at(l.rightmost(l.rows[first], l.slots[i])) + diamondSize
		if !s.Light && x+labelGap+l.room(p)+labelGap+valueText.width(s.Name) > l.list.to {
			return
		}
	}
	l.named = first
}

// room returns the width of the value of p.
func (l *rowsLayout) room(p Point) float64 { return valueText.width(l.value(p)) }

// rightmost returns the largest number drawn on one line of row.
func (l *rowsLayout) rightmost(row Row, slot int) float64 {
	largest := math.Inf(-1)
	for i, p := range row.Points {
		if l.slots[i] != slot {
			continue
		}
		_, high := p.ends()
		for _, v := range []float64{high, row.published(i)} {
			if v > largest { // never for NaN
				largest = v
			}
		}
	}
	return largest
}

// value returns what is written beside p.
func (l *rowsLayout) value(p Point) string {
	if p.missing() {
		return "not measured"
	}
	return number.Value(p.Center, l.chart.Unit)
}

// makeKey lists the marks that occur and are not labelled in place.
func (l *rowsLayout) makeKey() {
	for _, s := range l.chart.Series {
		l.key.dot(len(l.chart.Series) > 1 && (s.Light || l.named < 0), s)
	}
	published, noisy := false, false
	for _, row := range l.rows {
		for i, p := range row.Points {
			published = published || !math.IsNaN(row.published(i))
			noisy = noisy || p.Noisy
		}
	}
	l.key.published(published)
	l.key.noisy(noisy)
}

// drawRow draws the marks of a row, other machines first, so that they don't
// cover this one.
func (l *rowsLayout) drawRow(c *canvas, row int) {
	for _, light := range []bool{true, false} {
		for i, s := range l.chart.Series {
			if s.Light == light && l.rows[row].Missing == "" {
				l.drawPoint(c, row, i)
			}
		}
	}
	for i, s := range l.chart.Series {
		if !s.Light && l.rows[row].Missing == "" {
			l.drawValue(c, row, i)
		}
	}
}

// line returns the height at which series i is drawn in row.
func (l *rowsLayout) line(row, i int) float64 {
	return l.list.rows[row].y + seriesGap*(float64(l.slots[i])-float64(l.lines-1)/2)
}

// drawPoint draws whisker, dot and published value.
func (l *rowsLayout) drawPoint(c *canvas, row, i int) {
	s, p := l.chart.Series[i], l.rows[row].Points[i]
	y := l.line(row, i)
	if v := l.rows[row].published(i); !math.IsNaN(v) {
		c.diamond(point{l.axis.at(v), y})
	}
	if p.missing() {
		return
	}
	radius := dotSize
	if s.Light {
		radius -= 0.6
		y += l.drops[i]
	}
	if p.whisker() {
		low, high := p.ends()
		c.line(stroke{color: s.Color.shade(s.Light), width: 1.3},
			point{l.axis.at(low), y}, point{l.axis.at(high), y})
	}
	c.dot(point{l.axis.at(p.Center), y}, s.Color.shade(s.Light), radius, p.Noisy)
}

// drawValue writes the value of series i, and its name in the row that names the
// series, beside its mark.
func (l *rowsLayout) drawValue(c *canvas, row, i int) {
	s, p := l.chart.Series[i], l.rows[row].Points[i]
	y := l.line(row, i)
	spans := l.spans(l.rows[row], l.slots[i])
	room := l.room(p)
	if p.missing() {
		x := l.list.from + labelGap
		if len(spans) > 0 && spans[0].left < x+room+labelGap {
			x = besides(spans, spans[0].left, room, l.list.from)
		}
		c.onGround(axisText, point{x, y}, l.value(p))
		return
	}
	if row == l.named {
		room += labelGap + valueText.width(s.Name)
	}
	x := besides(spans, l.axis.at(p.Center), room, l.list.from)
	c.onGround(valueText.in(s.Color.text()), point{x, y}, l.value(p)) // in its colour, as a published value may stand nearer
	if row == l.named {
		c.onGround(valueText.in(s.Color.text()), point{x + l.room(p) + labelGap, y}, s.Name)
	}
}

// spans returns the stretches of one line of row that marks cover, merged where
// they overlap, from left to right.
func (l *rowsLayout) spans(row Row, slot int) []span {
	var spans []span
	cover := func(left, right float64) { spans = append(spans, span{left, right}) }
	for i, p := range row.Points {
		if l.slots[i] != slot {
			continue
		}
		if v := row.published(i); !math.IsNaN(v) {
			x := l.axis.at(v)
			cover(x-diamondSize, x+diamondSize)
		}
		if !p.missing() {
			low, high := p.ends()
			x := l.axis.at(p.Center)
			cover(min(l.axis.at(low), x-dotSize), max(l.axis.at(high), x+dotSize))
		}
	}
	slices.SortFunc(spans, func(a, b span) int { return cmp.Compare(a.left, b.left) })
	merged := spans[:0]
	for _, s := range spans {
		if n := len(merged); n > 0 && s.left <= merged[n-1].right+touching {
			merged[n-1].right = max(merged[n-1].right, s.right)
			continue
		}
		merged = append(merged, s)
	}
	return merged
}
