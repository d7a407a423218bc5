package chart

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"cryptocost/analysis/internal/number"
)

// Distribution shows how samples spread: each curve rises, at every value, to the
// share of its samples that are not larger (the empirical distribution function).
// A dot marks the median. More than five curves can't be told apart.
type Distribution struct {
	Head
	Quantity string // what the horizontal axis shows, without its unit
	Unit     string // tidied unit of the samples
	Log      bool   // logarithmic axis; otherwise it starts at zero
	Of       string // what is counted: "handshakes"
	Curves   []Curve
}

// A Curve is the distribution of the samples of one case.
type Curve struct {
	Series
	Samples []float64 // in any order
	Missing string    // why the case was not measured; it has no samples then
}

const (
	mostCurves  = 5
	curveHeight = 210 // of the area of curves
	curveWidth  = 1.4
	labelHeight = 10
	shareGap    = 8 // between the labels of shares and the curves
)

// SVG draws the chart.
func (d Distribution) SVG() ([]byte, error) {
	if err := d.check(); err != nil {
		return nil, d.fail(err)
	}
	l := d.layout()
	c := newCanvas(l.area.bottom + axisHeight + l.text.bottom())
	l.text.draw(c)
	l.axis.drawHorizontal(c, l.axis.ticks(axisText.width), d.Quantity, l.area.top, l.area.bottom)
	l.drawShares(c)
	for _, curve := range l.curves {
		c.line(stroke{color: curve.Color.shade(curve.Light), width: curveWidth}, curve.path...)
	}
	for i := range l.curves {
		l.drawLabel(c, i)
	}
	return c.finish(d.Head, d.describe())
}

// check reports what makes the chart impossible to draw.
func (d Distribution) check() error {
	if err := d.Head.check(); err != nil {
		return err
	}
	if len(d.Curves) == 0 || len(d.Curves) > mostCurves {
		return fmt.Errorf("%d curves; between 1 and %d can be read", len(d.Curves), mostCurves)
	}
	if d.Of == "" {
		return errors.New("no name for what is counted")
	}
	for _, curve := range d.Curves {
		if err := checkSeries([]Series{curve.Series}); err != nil {
			return err
		}
		if (curve.Missing == "") != (len(curve.Samples) > 0) {
			return fmt.Errorf("curve %q: %d samples and the reason for having none %q", curve.Name, len(curve.Samples), curve.Missing)
		}
		for _, v := range curve.Samples {
			if !(v >= 0) || math.IsInf(v, 0) || d.Log && v == 0 {
				return fmt.Errorf("curve %q: sample %v can't be drawn", curve.Name, v)
			}
		}
	}
	return nil
}

// describe writes out some quantiles.
func (d Distribution) describe() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s\nShare of %s by %s:\n", d.Subtitle, d.Of, d.Quantity)
	for _, curve := range d.Curves {
		if curve.Missing != "" {
			fmt.Fprintf(&b, "%s: not measured: %s\n", curve.Name, curve.Missing)
			continue
		}
		sorted := slices.Sorted(slices.Values(curve.Samples))
		fmt.Fprintf(&b, "%s: 10 %% within %s, 50 %% within %s, 90 %% within %s, 99 %% within %s\n", curve.Name,
			number.Value(quantile(sorted, 0.1), d.Unit), number.Value(quantile(sorted, 0.5), d.Unit),
			number.Value(quantile(sorted, 0.9), d.Unit), number.Value(quantile(sorted, 0.99), d.Unit))
	}
	return b.String()
}

// quantile returns the smallest of sorted samples that at least the share q of
// them does not exceed: where the curve crosses the height q.
func quantile(sorted []float64, q float64) float64 {
	return sorted[max(0, int(math.Ceil(q*float64(len(sorted))))-1)]
}

// A distributionLayout is the chart with everything in its place.
type distributionLayout struct {
	chart  Distribution
	text   texts
	area   box
	axis   axis
	curves []placedCurve // from the largest median to the smallest
}

type placedCurve struct {
	Curve
	sorted []float64
	path   []point
	label  placedLabel
}

// A placedLabel is a label beside a curve, or connected to it by a line.
type placedLabel struct {
	text   string
	box    box
	leader box  // without height, between the curve and the label
	away   bool // not next to its curve: the leader is drawn
	placed bool
}

// layout finds the place of everything.
func (d Distribution) layout() *distributionLayout {
	var notes []string
	l := &distributionLayout{chart: d}
	for _, curve := range d.Curves {
		if curve.Missing != "" {
			notes = append(notes, curve.Name+": not measured: "+curve.Missing)
			continue
		}
		l.curves = append(l.curves, placedCurve{Curve: curve, sorted: slices.Sorted(slices.Values(curve.Samples))})
	}
	slices.SortStableFunc(l.curves, func(a, b placedCurve) int {
		return cmp.Compare(quantile(b.sorted, 0.5), quantile(a.sorted, 0.5))
	})
	l.text = d.Head.layout(notes...)
	top := l.text.top() + lineGap + labelGap
	l.area = box{margin + axisText.width("100 %") + shareGap, top, edge, top + curveHeight}
	l.makeAxis()
	for i := range l.curves {
		l.curves[i].path = l.path(l.curves[i].sorted)
	}
	// From the outer curves, which have room, to the inner ones.
	for first, last := 0, len(l.curves)-1; first <= last; first, last = first+1, last-1 {
		l.placeLabel(first)
		if last > first {
			l.placeLabel(last)
		}
	}
	return l
}

// makeAxis makes the axis of the samples, with room for labels beside the lower
// half of the curves.
func (l *distributionLayout) makeAxis() {
	var values []float64
	var needs []need
	for i, curve := range l.curves {
		text := curve.Name + " " + number.Value(quantile(curve.sorted, 0.5), l.chart.Unit)
		l.curves[i].label.text = text
		values = append(values, curve.sorted[0], curve.sorted[len(curve.sorted)-1])
		for _, other := range l.curves {
			needs = append(needs, need{quantile(other.sorted, 0.6), 3*labelGap + valueText.width(text)})
		}
	}
	l.axis = newAxis(l.chart.Unit, l.chart.Log, l.area.left, l.area.right, values, needs)
}

// height returns the place of a share.
func (l *distributionLayout) height(share float64) float64 {
	return l.area.bottom - share*(l.area.bottom-l.area.top)
}

// path returns the steps of a curve, leaving out those too small to be seen.
func (l *distributionLayout) path(sorted []float64) []point {
	const visible = 0.4
	at := point{l.axis.at(sorted[0]), l.area.bottom}
	path := []point{at}
	for i, v := range sorted {
		next := point{l.axis.at(v), l.height(float64(i+1) / float64(len(sorted)))}
		last := i == len(sorted)-1
		if !last && next.x-at.x < visible && at.y-next.y < visible {
			continue
		}
		path = append(path, point{next.x, at.y}, next)
		at = next
	}
	return path
}

// placeLabel puts the label of curve i beside it or, where there is no room, on
// the far side of the next curves with a line to it: wherever is nearest.
func (l *distributionLayout) placeLabel(i int) {
	const gap = dotSize + labelGap/2
	const half = labelHeight / 2
	text := l.curves[i].label.text
	room := valueText.width(text)
	// Nowhere free, which takes odd data, leaves the label across other curves.
	x := min(l.axis.at(quantile(l.curves[i].sorted, 0.5))+gap, l.area.right-room)
	best := placedLabel{text: text, placed: true, box: box{x, l.height(0.5) - half, x + room, l.height(0.5) + half}}
	lowest := math.Inf(1)
	for level := 0.05; level < 0.96; level += 0.05 {
		y := l.height(level)
		from := l.axis.at(quantile(l.curves[i].sorted, level))
		for j, curve := range l.curves {
			// The label is as high as a few percent, over which a curve moves on.
			left := l.axis.at(quantile(curve.sorted, max(0, level-half/curveHeight))) - gap
			right := l.axis.at(quantile(curve.sorted, min(1, level+half/curveHeight))) + gap
			for _, x := range []float64{right, left - room} {
				p := placedLabel{text: text, placed: true, away: i != j}
				p.box = box{x, y - half, x + room, y + half}
				p.leader = box{min(from, x+room), y, max(from, x), y}
				// Near the median, where the dot is, is worth a little way.
				cost := p.leader.right - p.leader.left + 20*math.Abs(level-0.5)
				if p.away {
					cost += 30
				}
				if cost < lowest && l.free(p) {
					best, lowest = p, cost
				}
			}
		}
	}
	l.curves[i].label = best
}

// free reports whether a label can stand at p: within the area, off all curves,
// and off the labels placed before.
func (l *distributionLayout) free(p placedLabel) bool {
	if !p.box.within(l.area) {
		return false
	}
	for _, curve := range l.curves {
		for j := range curve.path[1:] {
			from, to := curve.path[j], curve.path[j+1]
			if p.box.overlaps(box{from.x, to.y, to.x, from.y}.grown(curveWidth)) {
				return false
			}
		}
	}
	for _, curve := range l.curves {
		other := curve.label
		if !other.placed {
			continue
		}
		if p.box.overlaps(other.box) || p.box.overlaps(other.leader.grown(1)) || p.leader.grown(1).overlaps(other.box) {
			return false
		}
	}
	return true
}

// drawShares draws the labels of the vertical axis.
func (l *distributionLayout) drawShares(c *canvas) {
	for _, share := range []float64{0, 0.25, 0.5, 0.75, 1} {
		y := l.height(share)
		c.label(axisText, point{l.area.left - shareGap, y}, end, strconv.Itoa(int(share*100))+" %")
		c.line(stroke{color: axisColor, width: 0.8}, point{l.area.left - 4, y}, point{l.area.left, y})
	}
	c.line(stroke{color: axisColor, width: 0.8}, point{l.area.left, l.area.top}, point{l.area.left, l.area.bottom})
	c.text(axisText, point{margin, l.area.top - lineGap + 1}, start, "share of "+l.chart.Of+" (dot: median)")
}

// drawLabel draws the median of curve i and its label.
func (l *distributionLayout) drawLabel(c *canvas, i int) {
	curve := l.curves[i]
	color := curve.Color.shade(curve.Light)
	c.dot(point{l.axis.at(quantile(curve.sorted, 0.5)), l.height(0.5)}, color, dotSize, false)
	if leader := curve.label.leader; curve.label.away {
		const clear = 2 // of the label
		if leader.right == curve.label.box.left {
			leader.right -= clear
		} else {
			leader.left += clear
		}
		c.line(stroke{color: color, width: 0.6}, point{leader.left, leader.top}, point{leader.right, leader.top})
	}
	at := point{curve.label.box.left, (curve.label.box.top + curve.label.box.bottom) / 2}
	c.onGround(valueText.in(curve.Color.text()), at, curve.label.text)
}
