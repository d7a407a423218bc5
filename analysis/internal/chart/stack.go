package chart

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"cryptocost/analysis/internal/number"
)

// Stack shows the parts of a whole, such as the bytes of a handshake in either
// direction: a case is a bar from zero, with its total at the end.
type Stack struct {
	Head
	Quantity string   // what the axis shows, without its unit
	Unit     string   // tidied unit of all values
	Parts    []Series // from left to right; none of them Light
	Groups   []BarGroup
}

// A BarGroup is a block of bars with a small heading.
type BarGroup struct {
	Name string // "" for none
	Bars []Bar
}

// A Bar is a case.
type Bar struct {
	Name      string
	Values    []float64 // one for each part
	Published float64   // published total; 0 where there is none
	Missing   string    // why the case was not measured; it has no values then
}

const (
	barHeight = 13
	barLabel  = 3 // free on either side of a label inside a bar
)

// total returns the sum of the parts.
func (b Bar) total() float64 {
	sum := 0.0
	for _, v := range b.Values {
		sum += v
	}
	return sum
}

// SVG draws the chart.
func (s Stack) SVG() ([]byte, error) {
	if err := s.check(); err != nil {
		return nil, s.fail(err)
	}
	l := s.layout()
	c := newCanvas(l.list.bottom + axisHeight + l.text.bottom())
	l.text.draw(c)
	l.key.draw(c, l.text.top())
	l.axis.drawHorizontal(c, l.ticks, s.Quantity, l.list.top, l.list.bottom)
	l.list.draw(c)
	for i, bar := range l.bars {
		if bar.Missing == "" {
			l.drawBar(c, bar, l.list.rows[i].y)
		}
	}
	if l.named >= 0 {
		l.drawNames(c)
	}
	return c.finish(s.Head, s.describe())
}

// check reports what makes the chart impossible to draw.
func (s Stack) check() error {
	if err := s.Head.check(); err != nil {
		return err
	}
	if err := checkSeries(s.Parts); err != nil {
		return err
	}
	bars := 0
	for _, g := range s.Groups {
		for _, b := range g.Bars {
			bars++
			if b.Missing != "" && len(b.Values) > 0 {
				return fmt.Errorf("bar %q: not measured (%s), yet with values", b.Name, b.Missing)
			}
			if b.Missing == "" && len(b.Values) != len(s.Parts) {
				return fmt.Errorf("bar %q: %d values for %d parts", b.Name, len(b.Values), len(s.Parts))
			}
			for _, v := range append(slices.Clone(b.Values), b.Published) {
				if !(v >= 0) || math.IsInf(v, 0) {
					return fmt.Errorf("bar %q: value %v can't be part of a whole", b.Name, v)
				}
			}
		}
	}
	if bars == 0 {
		return errors.New("no bars")
	}
	return nil
}

// describe writes out all values.
func (s Stack) describe() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n%s:\n", s.Subtitle, s.Quantity)
	for _, g := range s.Groups {
		for _, bar := range g.Bars {
			var parts []string
			if bar.Missing != "" {
				parts = append(parts, "not measured: "+s.missing(bar))
			}
			for i, v := range bar.Values {
				parts = append(parts, s.Parts[i].Name+" "+number.Value(v, s.Unit))
			}
			if bar.Missing == "" {
				parts = append(parts, "total "+number.Value(bar.total(), s.Unit))
				if bar.Published > 0 {
					parts = append(parts, "published total "+number.Value(bar.Published, s.Unit))
				}
			}
			fmt.Fprintln(&b, strings.TrimPrefix(g.Name+", "+bar.Name, ", ")+": "+strings.Join(parts, "; "))
		}
	}
	return b.String()
}

// missing returns why bar was not measured, and what was published about it.
func (s Stack) missing(bar Bar) string {
	if bar.Missing == "" || bar.Published == 0 {
		return bar.Missing
	}
	return bar.Missing + " (published: " + number.Value(bar.Published, s.Unit) + ")"
}

// A stackLayout is the chart with everything in its place.
type stackLayout struct {
	chart Stack
	text  texts
	key   key
	list  *list
	bars  []Bar // of all groups, as in list
	axis  axis
	ticks []tick
	named int // the bar above which the parts are named; -1 for none
}

// layout finds the place of everything, from left to right and then downwards.
func (s Stack) layout() *stackLayout {
	l := &stackLayout{chart: s, text: s.Head.layout(), named: -1}
	var blocks []block
	for _, g := range s.Groups {
		b := block{heading: g.Name}
		for _, bar := range g.Bars {
			b.rows = append(b.rows, rowName{bar.Name, s.missing(bar)})
			l.bars = append(l.bars, bar)
		}
		blocks = append(blocks, b)
	}
	l.list = newList(blocks)

	var values []float64
	var needs []need
	published := false
	for _, bar := range l.bars {
		if bar.Missing == "" {
			published = published || bar.Published > 0
			values = append(values, bar.total(), bar.Published)
			room := diamondSize + 2*labelGap + valueText.width(number.Value(bar.total(), s.Unit))
			needs = append(needs, need{max(bar.total(), bar.Published), room})
		}
	}
	l.axis = newAxis(s.Unit, false, l.list.from, l.list.to, values, needs)
	l.ticks = l.axis.ticks(axisText.width)
	if first := slices.IndexFunc(l.bars, func(b Bar) bool { return b.Missing == "" }); first >= 0 {
		if l.names(l.bars[first]) != nil {
			l.named = first
		}
	}

	for _, part := range s.Parts {
		l.key.add(l.named < 0, part.Name, func(c *canvas, p point) {
			c.fill(part.Color.shade(false), box{p.x - 4, p.y - 4, p.x + 4, p.y + 4})
		})
	}
	l.key.published(published)
	_, keyHeight := l.key.place(0)
	l.list.place(blocks, l.text.top()+keyHeight, barHeight, l.named, lineGap)
	return l
}

// names returns where the names of the parts start above bar: where the parts
// do, or so much before that the right edge is not touched. It returns nil if the
// names would touch each other.
func (l *stackLayout) names(bar Bar) []float64 {
	var places []float64
	free, sum := l.list.from, 0.0
	for i, part := range l.chart.Parts {
		room := valueText.width(part.Name)
		x := min(l.axis.at(sum), l.list.to-room)
		if x < free {
			return nil
		}
		free = x + room + labelGap
		places = append(places, x)
		sum += bar.Values[i]
	}
	return places
}

// drawNames writes the names of the parts above the bar that has room for them.
func (l *stackLayout) drawNames(c *canvas) {
	y := l.list.rows[l.named].y - barHeight/2 - 6
	for i, x := range l.names(l.bars[l.named]) {
		part := l.chart.Parts[i]
		c.onGround(valueText.in(part.Color.text()), point{x + 1, y}, part.Name)
	}
}

// drawBar draws a bar around height y, with those values inside that fit.
func (l *stackLayout) drawBar(c *canvas, bar Bar, y float64) {
	published := span{math.Inf(1), math.Inf(1)}
	if bar.Published > 0 {
		x := l.axis.at(bar.Published)
		published = span{x - diamondSize, x + diamondSize}
	}
	sum := 0.0
	for i, v := range bar.Values {
		part := l.chart.Parts[i]
		left, right := l.axis.at(sum), l.axis.at(sum+v)
		sum += v
		c.fill(part.Color.shade(false), box{left, y - barHeight/2, right, y + barHeight/2})
		text := number.Value(v, l.chart.Unit)
		room := valueText.width(text)
		from := (left+right-room)/2 - barLabel
		covered := published.left < from+room+2*barLabel && from < published.right
		if from >= left && !covered {
			c.label(valueText.in(part.Color.inside()), point{(left + right) / 2, y}, middle, text)
		}
	}

	spans := []span{{l.axis.from, l.axis.at(sum)}}
	switch {
	case published.right <= spans[0].right || bar.Published == 0:
	case published.left <= spans[0].right+touching:
		spans[0].right = published.right
	default:
		spans = append(spans, published)
	}
	text := number.Value(sum, l.chart.Unit)
	x := besides(spans, spans[0].left, valueText.width(text), l.list.from)
	c.onGround(valueText, point{x, y}, text)
	if bar.Published > 0 {
		c.diamond(point{l.axis.at(bar.Published), y})
	}
}
