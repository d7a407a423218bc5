package chart

import (
	"errors"
	"fmt"
	"image/color"
	"math"
	"strings"

	"cryptocost/analysis/internal/number"
)

// Ladder shows what crosses connections, record by record: time runs downwards
// between the life lines of client and server, and a record is a box with what
// anyone on the way sees of it and, beside that, what is inside. Records that go
// the same way without a change of direction are a flight: boxes that touch, with
// one arrow.
type Ladder struct {
	Head
	Rows [][]Connection // drawn below each other, those of a row side by side
}

// A Connection is one ladder.
type Connection struct {
	Name    string
	Note    string // a line below the name, such as totals; wrapped
	Records []Record
	Missing string // why it was not measured; it has no records then
}

// A Record is a box.
type Record struct {
	FromClient bool
	Outer      string // its type, as a listener reads it
	Low, High  float64
	Inner      string // the messages in it; wrapped
	Encrypted  bool   // a listener can't read what is inside
}

const (
	ladderGap    = 16  // between two ladders of a row
	ladderWidest = 300 // of a ladder that has a row for itself
	ladderBelow  = 14  // from one row of ladders to the next
	lane         = 12  // between a life line and the boxes
	boxHeight    = 13  // of a record whose messages fit on one line
	boxPadding   = 4   // between the edge of a box and its text
	boxGap       = 1   // between two boxes of a flight
	flightGap    = 8   // between two flights
	arrowHead    = 5
)

const (
	outerHeading = "a listener sees"
	innerHeading = "inside"
	clientEnd    = "client"
	serverEnd    = "server"
)

// Colours of what is inside, readable on the way or not, and of the outside.
const (
	plainColor  = Vermillion
	hiddenColor = Blue
)

var outerColor = gridColor

// length writes the length of the record, or its range where it varies.
func (r Record) length() string { return number.Interval(r.Low, r.High, "B") }

// sender and receiver name the ends.
func (r Record) sender() string {
	if r.FromClient {
		return clientEnd
	}
	return serverEnd
}

// color is that of what is inside.
func (r Record) color() Color {
	if r.Encrypted {
		return hiddenColor
	}
	return plainColor
}

// SVG draws the chart.
func (l Ladder) SVG() ([]byte, error) {
	if err := l.check(); err != nil {
		return nil, l.fail(err)
	}
	p := l.layout()
	if p.widest > p.inner() {
		return nil, l.fail(fmt.Errorf("%d ladders side by side leave no room for what is inside", p.columns))
	}
	c := newCanvas(p.bottom + p.text.bottom())
	p.text.draw(c)
	p.key.draw(c, p.text.top())
	for _, placed := range p.ladders {
		p.draw(c, placed)
	}
	return c.finish(l.Head, l.describe())
}

// check reports what makes the chart impossible to draw.
func (l Ladder) check() error {
	if err := l.Head.check(); err != nil {
		return err
	}
	connections := 0
	for _, row := range l.Rows {
		for _, c := range row {
			connections++
			if err := c.check(); err != nil {
				return fmt.Errorf("connection %q: %w", c.Name, err)
			}
		}
	}
	if connections == 0 {
		return errors.New("no connections")
	}
	return nil
}

func (c Connection) check() error {
	switch {
	case c.Name == "":
		return errors.New("no name")
	case c.Missing != "" && len(c.Records) > 0:
		return fmt.Errorf("not measured (%s), yet with records", c.Missing)
	case c.Missing == "" && len(c.Records) == 0:
		return errors.New("neither records nor the reason for having none")
	}
	for i, r := range c.Records {
		switch {
		case r.Outer == "" || r.Inner == "":
			return fmt.Errorf("record %d lacks its type or what is inside", i+1)
		case !(r.Low >= 0) || !(r.High >= r.Low) || math.IsInf(r.High, 0):
			return fmt.Errorf("record %d: no length is %v to %v", i+1, r.Low, r.High)
		}
	}
	return nil
}

// describe writes out all records.
func (l Ladder) describe() string {
	var b strings.Builder
	fmt.Fprintln(&b, l.Subtitle)
	for _, row := range l.Rows {
		for _, c := range row {
			fmt.Fprintln(&b, strings.TrimSuffix(c.Name+": "+c.Note, ": "))
			if c.Missing != "" {
				fmt.Fprintln(&b, "not measured: "+c.Missing)
			}
			for i, r := range c.Records {
				secret := ""
				if r.Encrypted {
					secret = ", encrypted"
				}
				fmt.Fprintf(&b, "%d. %s: %s, %s: %s%s\n", i+1, r.sender(), r.Outer, r.length(), r.Inner, secret)
			}
		}
	}
	return b.String()
}

// flights cuts the records where the direction changes.
func (c Connection) flights() [][]Record {
	var list [][]Record
	for i, r := range c.Records {
		if i == 0 || r.FromClient != c.Records[i-1].FromClient {
			list = append(list, nil)
		}
		last := len(list) - 1
		list[last] = append(list[last], r)
	}
	return list
}

// A ladderLayout is the chart with everything in its place.
type ladderLayout struct {
	chart   Ladder
	text    texts
	key     key
	columns int     // ladders side by side, at most
	width   float64 // of a ladder, between and including its life lines
	outer   float64 // width of what a listener sees
	stacked bool    // length below type: there is no room for it beside
	widest  float64 // of the words inside
	ladders []placedLadder
	bottom  float64
}

type placedLadder struct {
	Connection
	left, top float64
	note      []string // wrapped
	missing   []string // wrapped
	ends      float64  // height at which the ends are named
	flights   []placedFlight
	bottom    float64
}

type placedFlight struct {
	fromClient  bool
	top, bottom float64
	boxes       []placedRecord
}

type placedRecord struct {
	Record
	top, bottom float64
	inner       []string // wrapped
}

// layout finds the place of everything, from left to right and then downwards.
func (l Ladder) layout() *ladderLayout {
	p := &ladderLayout{chart: l, text: l.Head.layout()}
	plain, hidden, above := false, false, 0.0
	for _, row := range l.Rows {
		p.columns = max(p.columns, len(row))
		for _, c := range row {
			for _, r := range c.Records {
				plain, hidden = plain || !r.Encrypted, hidden || r.Encrypted
				outer, length := valueText.width(r.Outer), valueText.width(r.length())
				p.outer = max(p.outer, outer+labelGap+length+2*boxPadding)
				above = max(above, outer+2*boxPadding, length+2*boxPadding)
				p.widest = max(p.widest, valueText.widest(strings.Fields(r.Inner)))
			}
		}
	}
	swatch := func(c color.RGBA) func(*canvas, point) {
		return func(canvas *canvas, at point) { canvas.fill(c, box{at.x - 4, at.y - 4, at.x + 4, at.y + 4}) }
	}
	p.key.add(plain || hidden, "what a listener sees of a record: its type and length", swatch(outerColor))
	p.key.add(plain, "inside, readable for a listener", swatch(plainColor.shade(false)))
	p.key.add(hidden, "inside, encrypted", swatch(hiddenColor.shade(false)))
	_, keyHeight := p.key.place(0)

	p.width = min(ladderWidest, (width-2*margin-ladderGap*float64(p.columns-1))/float64(p.columns))
	if p.widest > p.inner() {
		p.outer, p.stacked = above, true
	}
	y := p.text.top() + keyHeight
	for i, row := range l.Rows {
		if i > 0 {
			y += ladderBelow
		}
		bottom, notes := y, 0
		for _, c := range row {
			notes = max(notes, len(axisText.wrap(c.Note, p.width)))
		}
		for column, c := range row {
			placed := p.place(c, point{margin + (p.width+ladderGap)*float64(column), y}, notes)
			bottom = max(bottom, placed.bottom)
			p.ladders = append(p.ladders, placed)
		}
		y = bottom
	}
	p.bottom = y
	return p
}

// inner returns the room for the names of messages.
func (p *ladderLayout) inner() float64 { return p.width - 2*lane - p.outer - 2*boxPadding }

// place puts a ladder below and to the right of corner: its name, its note, for
// which the row has so many lines, the names of its ends, and flight after flight.
func (p *ladderLayout) place(c Connection, corner point, notes int) placedLadder {
	placed := placedLadder{Connection: c, left: corner.x, top: corner.y, note: axisText.wrap(c.Note, p.width)}
	y := corner.y + lineGap*float64(1+notes) + 2
	if c.Missing != "" {
		placed.missing = axisText.wrap("not measured: "+c.Missing, p.width)
		placed.bottom = y + lineGap*float64(len(placed.missing))
		return placed
	}
	placed.ends = y + lineGap/2
	y += lineGap + 2
	for _, records := range c.flights() {
		y += flightGap / 2
		f := placedFlight{fromClient: records[0].FromClient, top: y}
		for i, r := range records {
			if i > 0 {
				y += boxGap
			}
			b := placedRecord{Record: r, top: y, inner: valueText.wrap(r.Inner, p.inner())}
			lines := len(b.inner)
			if p.stacked {
				lines = max(lines, 2)
			}
			y += boxHeight + lineGap*float64(lines-1)
			b.bottom = y
			f.boxes = append(f.boxes, b)
		}
		f.bottom = y
		y += flightGap / 2
		placed.flights = append(placed.flights, f)
	}
	placed.bottom = y + 2
	return placed
}

// draw draws one ladder.
func (p *ladderLayout) draw(c *canvas, l placedLadder) {
	y := l.top + lineGap/2
	c.label(headingText, point{l.left, y}, start, l.Name)
	for _, text := range l.note {
		y += lineGap
		c.label(axisText, point{l.left, y}, start, text)
	}
	y = l.bottom - lineGap*float64(len(l.missing))
	for i, text := range l.missing {
		c.label(axisText, point{l.left, y + lineGap*(float64(i)+0.5)}, start, text)
	}
	if l.Missing != "" {
		return
	}
	right := l.left + p.width
	split := l.left + lane + p.outer
	c.label(valueText, point{l.left, l.ends}, start, clientEnd)
	c.label(valueText, point{right, l.ends}, end, serverEnd)
	c.label(axisText, point{l.left + lane + p.outer/2, l.ends}, middle, outerHeading)
	c.label(axisText, point{(split + right - lane) / 2, l.ends}, middle, innerHeading)
	for _, x := range []float64{l.left, right} {
		c.line(stroke{color: axisColor, width: 1.2}, point{x, l.ends + lineGap/2}, point{x, l.bottom})
	}
	for _, f := range l.flights {
		c.arrow(l.left, right, (f.top+f.bottom)/2, f.fromClient)
		for _, b := range f.boxes {
			p.drawRecord(c, b, l.left+lane, split, right-lane)
		}
	}
}

// arrow draws the way from one life line to the boxes and on to the other.
func (c *canvas) arrow(left, right, y float64, fromClient bool) {
	to, back := left+1, left+1+arrowHead
	if fromClient {
		to, back = right-1, right-1-arrowHead
	}
	for _, x := range []float64{left, right - lane} {
		c.line(stroke{color: faintInk, width: 1}, point{x, y}, point{x + lane, y})
	}
	head := c.path(point{to, y}, point{back, y - arrowHead/2.0}, point{back, y + arrowHead/2.0})
	head.Close()
	c.svg.SetColor(faintInk)
	c.svg.Fill(head)
}

// drawRecord draws a box: what a listener sees from left to split, what is inside
// from there to right.
func (p *ladderLayout) drawRecord(c *canvas, b placedRecord, left, split, right float64) {
	y := (b.top + b.bottom) / 2
	c.fill(outerColor, box{left, b.top, split, b.bottom})
	c.fill(b.color().shade(false), box{split, b.top, right, b.bottom})
	between := 0.0
	if p.stacked {
		between = lineGap
	}
	c.label(valueText, point{left + boxPadding, y - between/2}, start, b.Outer)
	c.label(valueText, point{split - boxPadding, y + between/2}, end, b.length())
	for i, text := range b.inner {
		line := y + lineGap*(float64(i)-float64(len(b.inner)-1)/2)
		c.label(valueText.in(b.color().inside()), point{split + boxPadding, line}, start, text)
	}
}
