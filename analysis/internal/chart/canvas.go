package chart

import (
	"bytes"
	"errors"
	"fmt"
	"html"
	"image/color"
	"math"
	"strings"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/vgsvg"
)

// A point is a place on the canvas. Unlike in vg, y grows downwards, as text does.
type point struct{ x, y float64 }

// A box is a rectangle on the canvas.
type box struct{ left, top, right, bottom float64 }

// overlaps reports whether the boxes have area in common.
func (b box) overlaps(o box) bool {
	return b.left < o.right && o.left < b.right && b.top < o.bottom && o.top < b.bottom
}

// grown returns the box with so much added on every side.
func (b box) grown(by float64) box {
	return box{b.left - by, b.top - by, b.right + by, b.bottom + by}
}

// within reports whether b lies inside o.
func (b box) within(o box) bool {
	return b.left >= o.left && b.right <= o.right && b.top >= o.top && b.bottom <= o.bottom
}

// An anchor says which part of a text is at its place.
type anchor string

const (
	start  anchor = "start"
	middle anchor = "middle"
	end    anchor = "end"
)

// A stroke is the look of a line.
type stroke struct {
	color  color.RGBA
	width  float64
	dashes []vg.Length
}

// A canvas is a drawing in progress. It puts text by its anchor, which vgsvg
// can't: a browser that lacks the font and takes a wider or narrower one then
// still centres what is centred.
type canvas struct {
	svg     *vgsvg.Canvas
	height  float64
	anchors []anchor // of each text, in the order of drawing
}

func newCanvas(height float64) *canvas {
	height = math.Ceil(height)
	c := &canvas{svg: vgsvg.New(width, vg.Length(height)), height: height}
	c.fill(background, box{0, 0, width, height})
	return c
}

// at converts to the coordinates of vg, rounded to what can be seen, so that the
// last bits of arithmetic don't reach the file.
func (c *canvas) at(p point) vg.Point {
	round := func(v float64) vg.Length { return vg.Length(math.Round(v*100) / 100) }
	return vg.Point{X: round(p.x), Y: round(c.height - p.y)}
}

// path returns the way through points.
func (c *canvas) path(points ...point) vg.Path {
	var path vg.Path
	path.Move(c.at(points[0]))
	for _, p := range points[1:] {
		path.Line(c.at(p))
	}
	return path
}

func (c *canvas) line(s stroke, points ...point) {
	c.setStroke(s)
	c.svg.Stroke(c.path(points...))
}

func (c *canvas) setStroke(s stroke) {
	c.svg.SetColor(s.color)
	c.svg.SetLineWidth(vg.Length(s.width))
	c.svg.SetLineDash(s.dashes, 0)
}

func (c *canvas) fill(color color.RGBA, b box) {
	c.svg.SetColor(color)
	path := c.path(point{b.left, b.top}, point{b.right, b.top}, point{b.right, b.bottom}, point{b.left, b.bottom})
	path.Close()
	c.svg.Fill(path)
}

// dot draws a disc, or a ring when hollow.
func (c *canvas) dot(p point, color color.RGBA, radius float64, hollow bool) {
	var path vg.Path
	path.Move(c.at(point{p.x + radius, p.y}))
	path.Arc(c.at(p), vg.Length(radius), 0, 2*math.Pi)
	path.Close()
	if !hollow {
		c.svg.SetColor(color)
		c.svg.Fill(path)
		return
	}
	c.svg.SetColor(background)
	c.svg.Fill(path)
	c.setStroke(stroke{color: color, width: 1.3})
	c.svg.Stroke(path)
}

// diamond draws the mark of a published value. It is see-through, so that it
// doesn't hide a dot at the same place, and has a halo, so that it shows on bars.
func (c *canvas) diamond(p point) {
	path := c.path(point{p.x - diamondSize, p.y}, point{p.x, p.y - diamondSize},
		point{p.x + diamondSize, p.y}, point{p.x, p.y + diamondSize})
	path.Close()
	for _, s := range []stroke{{color: background, width: 2.6}, {color: ink, width: 1}} {
		c.setStroke(s)
		c.svg.Stroke(path)
	}
}

// text writes text with its baseline at p.
func (c *canvas) text(s textStyle, p point, a anchor, text string) {
	if text == "" {
		return
	}
	c.svg.SetColor(s.color)
	c.svg.FillString(s.face, c.at(p), text)
	c.anchors = append(c.anchors, a)
}

// label writes text vertically centred on p.
func (c *canvas) label(s textStyle, p point, a anchor, text string) {
	// Digits and capitals of Liberation Sans are 0.7 em high.
	p.y += 0.35 * s.size()
	c.text(s, p, a, text)
}

// onGround writes text to the right of p, on a ground that hides the grid.
func (c *canvas) onGround(s textStyle, p point, text string) {
	c.fill(background, box{p.x - 1, p.y - 4.5, p.x + s.width(text) + 1, p.y + 4.5})
	c.label(s, p, start, text)
}

// finish returns the file. What vgsvg writes is kept but for its head, which
// names neither source nor meaning, and the attributes of text.
func (c *canvas) finish(h Head, description string) ([]byte, error) {
	var raw bytes.Buffer
	if _, err := c.svg.WriteTo(&raw); err != nil {
		return nil, err
	}
	_, body, found := strings.Cut(raw.String(), "<g ")
	if !found {
		return nil, errors.New("no group in the output of vgsvg")
	}

	var out bytes.Buffer
	fmt.Fprintf(&out, "<!-- made by analysis/%s from data/*/%[1]s.txt; do not edit -->\n", h.Experiment)
	fmt.Fprintf(&out, `<svg xmlns="http://www.w3.org/2000/svg" role="img" width="%d" height="%.0f" viewBox="0 0 %d %.0f" font-family="%s">`+"\n",
		width*4/3, c.height*4/3, width, c.height, fontFamily)
	fmt.Fprintf(&out, "<title>%s</title>\n", html.EscapeString(h.Title))
	fmt.Fprintf(&out, "<desc>%s</desc>\n", html.EscapeString(description))

	parts := strings.Split("<g "+body, "<text ")
	if len(parts) != len(c.anchors)+1 {
		return nil, fmt.Errorf("%d texts in the output of vgsvg, %d drawn", len(parts)-1, len(c.anchors))
	}
	out.WriteString(parts[0])
	for i, part := range parts[1:] {
		attributes, rest, _ := strings.Cut(part, ">")
		out.WriteString("<text ")
		if c.anchors[i] != start {
			fmt.Fprintf(&out, `text-anchor="%s" `, c.anchors[i])
		}
		out.WriteString(textAttributes.Replace(attributes) + ">" + rest)
	}
	return out.Bytes(), nil
}

// textAttributes takes out of a text's attributes what it inherits or what is
// the default. The family is a single name there, without any to fall back on.
var textAttributes = strings.NewReplacer("\n\t", " ", "font-family:Liberation Sans;", "",
	"font-variant:normal;", "", "font-weight:normal;", "", "font-style:normal;", "")
