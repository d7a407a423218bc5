package chart

import (
	"image/color"
	"strings"

	xfont "golang.org/x/image/font"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/vg"
)

// Lengths are in points: the picture is 540 pt, that is 720 px, wide.
const (
	width   = 540
	margin  = 14
	edge    = width - margin - 6 // where data end; a centred label may stand out
	dotSize = 3.1                // radius

	diamondSize = 4.6 // half of a diagonal
	lineGap     = 12  // from one line of small text to the next
	labelGap    = 6   // between a mark and its label
)

// fontFamily names fonts of the same metrics first: the layout is computed with
// those of Liberation Sans, which Arial and Helvetica share. On a Linux machine
// without any of them the condensed DejaVu comes nearest; its normal width, which
// is sans-serif there, is a sixth too wide.
const fontFamily = "Liberation Sans, Arial, Helvetica, DejaVu Sans Condensed, sans-serif"

// A Color is one of the hues of the palette of Okabe and Ito, which people with
// any of the usual kinds of colour blindness can tell apart
// (jfly.uni-koeln.de/color), or a grey for what serves as background to them.
type Color int

// The hues are few on purpose: a figure that needs more shows too much.
const (
	Blue Color = iota
	Vermillion
	Green
	Purple
	Gray
)

var palette = [...]color.RGBA{
	Blue:       {0x00, 0x72, 0xB2, 0xFF},
	Vermillion: {0xD5, 0x5E, 0x00, 0xFF},
	Green:      {0x00, 0x9E, 0x73, 0xFF},
	Purple:     {0xCC, 0x79, 0xA7, 0xFF},
	Gray:       {0x6B, 0x6B, 0x6B, 0xFF},
}

var (
	background = color.RGBA{0xFF, 0xFF, 0xFF, 0xFF}
	ink        = color.RGBA{0x22, 0x22, 0x22, 0xFF} // text and published values
	faintInk   = color.RGBA{0x5F, 0x5F, 0x5F, 0xFF} // text of lesser weight
	gridColor  = color.RGBA{0xE4, 0xE4, 0xE4, 0xFF}
	axisColor  = color.RGBA{0xA8, 0xA8, 0xA8, 0xFF}
)

// shade returns the colour of marks: lighter for other machines.
func (c Color) shade(light bool) color.RGBA {
	if light {
		return mix(palette[c], background, 0.5)
	}
	return palette[c]
}

// text returns a shade dark enough to read small letters in.
func (c Color) text() color.RGBA {
	return mix(palette[c], color.RGBA{A: 0xFF}, 0.25)
}

// inside returns the colour of text on a surface of colour c: white or ink,
// whichever contrasts more. The weights are those of relative luminance in WCAG.
func (c Color) inside() color.RGBA {
	rgb := palette[c]
	if 0.2126*float64(rgb.R)+0.7152*float64(rgb.G)+0.0722*float64(rgb.B) < 110 {
		return background
	}
	return ink
}

// mix returns a with so much of it replaced by b.
func mix(a, b color.RGBA, share float64) color.RGBA {
	blend := func(x, y uint8) uint8 { return uint8(float64(x)*(1-share) + float64(y)*share + 0.5) }
	return color.RGBA{blend(a.R, b.R), blend(a.G, b.G), blend(a.B, b.B), 0xFF}
}

// A textStyle is a font at a size, in a colour.
type textStyle struct {
	face  font.Face
	color color.RGBA
}

var (
	titleText    = newTextStyle(11, xfont.WeightBold, ink)
	subtitleText = newTextStyle(9, xfont.WeightNormal, faintInk)
	headingText  = newTextStyle(10, xfont.WeightBold, ink)
	nameText     = newTextStyle(10, xfont.WeightNormal, ink)
	valueText    = newTextStyle(9, xfont.WeightNormal, ink)
	axisText     = newTextStyle(9, xfont.WeightNormal, faintInk)
)

func newTextStyle(points float64, weight xfont.Weight, c color.RGBA) textStyle {
	f := font.Font{Typeface: "Liberation", Variant: "Sans", Weight: weight}
	return textStyle{font.DefaultCache.Lookup(f, vg.Length(points)), c}
}

// in returns the style in another colour.
func (s textStyle) in(c color.RGBA) textStyle {
	s.color = c
	return s
}

// width returns the width of text set in the style.
func (s textStyle) width(text string) float64 { return s.face.Width(text).Points() }

// size returns the font size.
func (s textStyle) size() float64 { return s.face.Font.Size.Points() }

// wrap breaks text into lines no wider than limit, unless a word alone is.
func (s textStyle) wrap(text string, limit float64) []string {
	var lines []string
	line := ""
	for _, word := range strings.Fields(text) {
		switch longer := line + " " + word; {
		case line == "":
			line = word
		case s.width(longer) <= limit:
			line = longer
		default:
			lines = append(lines, line)
			line = word
		}
	}
	if line != "" {
		lines = append(lines, line)
	}
	return lines
}

// balance breaks text like wrap, into lines that are about as long as each other.
func (s textStyle) balance(text string, limit float64) []string {
	lines := s.wrap(text, limit)
	for {
		limit -= s.size()
		narrower := s.wrap(text, limit)
		if len(narrower) > len(lines) || len(lines) < 2 {
			return lines
		}
		lines = narrower
	}
}

// widest returns the width of the widest of texts.
func (s textStyle) widest(texts []string) float64 {
	widest := 0.0
	for _, text := range texts {
		widest = max(widest, s.width(text))
	}
	return widest
}
