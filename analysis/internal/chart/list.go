package chart

const (
	nameLimit  = 236 // names wider than this are wrapped
	nameGap    = 10  // between names and data
	groupGap   = 6   // before a heading
	rowPadding = 5   // between the marks of two rows
)

// A block is a heading and the names of the rows below it, and for rows without
// data why they have none.
type block struct {
	heading string
	rows    []rowName
}

type rowName struct{ name, missing string }

// A list is the rows of a chart in their places: names at the left, data at the
// right.
type list struct {
	from, to    float64 // where the data may be drawn
	top, bottom float64
	headings    []heading
	rows        []placedRow
}

type heading struct {
	text string
	y    float64
}

type placedRow struct {
	name    []string // wrapped
	missing []string // wrapped
	y       float64  // of the middle
}

// newList makes the columns of names and data.
func newList(blocks []block) *list {
	names := 0.0
	for _, b := range blocks {
		names = max(names, headingText.width(b.heading)-nameGap)
		for _, r := range b.rows {
			names = max(names, nameText.widest(nameText.balance(r.name, nameLimit)))
		}
	}
	return &list{from: margin + names + nameGap, to: edge}
}

// place puts the rows below each other from top on, each at least so high, and
// the row of number led so much lower that something has room above it.
func (l *list) place(blocks []block, top, height float64, led int, lead float64) {
	l.top = top
	y := top
	for i, b := range blocks {
		if b.heading != "" {
			if i > 0 {
				y += groupGap
			}
			y += lineGap + 4
			l.headings = append(l.headings, heading{b.heading, y - lineGap/2})
		}
		for _, r := range b.rows {
			p := placedRow{name: nameText.balance(r.name, nameLimit)}
			if r.missing != "" {
				p.missing = axisText.wrap("not measured: "+r.missing, l.to-l.from-labelGap)
			}
			if len(l.rows) == led {
				y += lead
			}
			h := max(height, lineGap*float64(max(len(p.name), len(p.missing)))) + rowPadding
			p.y = y + h/2
			y += h
			l.rows = append(l.rows, p)
		}
	}
	l.bottom = y + 2
}

// draw draws headings, names and reasons.
func (l *list) draw(c *canvas) {
	for _, h := range l.headings {
		c.label(headingText, point{margin, h.y}, start, h.text)
	}
	for _, row := range l.rows {
		for i, name := range row.name {
			y := row.y + lineGap*(float64(i)-float64(len(row.name)-1)/2)
			c.label(nameText, point{l.from - nameGap, y}, end, name)
		}
		for i, text := range row.missing {
			y := row.y + lineGap*(float64(i)-float64(len(row.missing)-1)/2)
			c.onGround(axisText, point{l.from + labelGap, y}, text)
		}
	}
}

// A span is a stretch of a row that a mark covers.
type span struct{ left, right float64 }

// besides returns where a label of width room starts that belongs to the mark at
// center: to the right of what covers it, else to the left, else after the next
// thing behind which there is room. The spans are apart and in order.
func besides(spans []span, center, room, leftmost float64) float64 {
	own := 0
	for own+1 < len(spans) && spans[own].right < center {
		own++
	}
	free := func(i int) bool {
		return i+1 == len(spans) || spans[i].right+room+2*labelGap <= spans[i+1].left
	}
	if x := spans[own].left - labelGap - room; !free(own) &&
		x >= leftmost && (own == 0 || spans[own-1].right+labelGap <= x) {
		return x
	}
	for !free(own) {
		own++
	}
	return spans[own].right + labelGap
}
