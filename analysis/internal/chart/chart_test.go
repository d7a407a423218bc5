package chart

import (
	"bytes"
	"encoding/xml"
	"flag"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "rewrite the golden files in testdata")

func TestGolden(t *testing.T) {
	for name, chart := range fixtures {
		t.Run(name, func(t *testing.T) {
			got := draw(t, chart)
			file := filepath.Join("testdata", name+".svg")
			if *update {
				if err := os.WriteFile(file, got, 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(got, want) {
				t.Errorf("%s differs; look at the picture that `go test ./analysis/internal/chart -update` makes", file)
			}
			if !bytes.Equal(draw(t, chart), got) {
				t.Error("drawn again, the chart differs")
			}
		})
	}
}

// A document is what the tests look at in a figure.
type document struct {
	Role   string `xml:"role,attr"`
	Width  string `xml:"width,attr"`
	Height string `xml:"height,attr"`
	Box    string `xml:"viewBox,attr"`
	Family string `xml:"font-family,attr"`
	Title  string `xml:"title"`
	Desc   string `xml:"desc"`
	Texts  []text `xml:"g>text"`
}

type text struct {
	X      float64 `xml:"x,attr"`
	Y      float64 `xml:"y,attr"` // minus the height above the bottom
	Anchor anchor  `xml:"text-anchor,attr"`
	Style  string  `xml:"style,attr"`
	Text   string  `xml:",chardata"`
}

// bounds returns the area that capitals of the text cover on a canvas so high.
func (e text) bounds(t *testing.T, height float64) box {
	t.Helper()
	style := nameText
	if strings.Contains(e.Style, "font-weight:bold") {
		style = titleText
	}
	size, err := strconv.ParseFloat(regexp.MustCompile(`font-size:([0-9.]+)px`).FindStringSubmatch(e.Style)[1], 64)
	if err != nil {
		t.Fatal(err)
	}
	room := style.width(e.Text) * size / style.size()
	left := e.X
	switch e.Anchor {
	case middle:
		left -= room / 2
	case end:
		left -= room
	}
	y := height + e.Y
	return box{left, y - 0.7*size, left + room, y + 0.1*size}
}

func draw(t *testing.T, chart interface{ SVG() ([]byte, error) }) []byte {
	t.Helper()
	svg, err := chart.SVG()
	if err != nil {
		t.Fatal(err)
	}
	return svg
}

func parse(t *testing.T, svg []byte) document {
	t.Helper()
	var d document
	if err := xml.Unmarshal(svg, &d); err != nil {
		t.Fatal(err)
	}
	return d
}

func TestDocument(t *testing.T) {
	for name, chart := range fixtures {
		t.Run(name, func(t *testing.T) {
			svg := draw(t, chart)
			first, _, _ := strings.Cut(string(svg), "\n")
			if want := "<!-- made by analysis/fixture from data/*/fixture.txt; do not edit -->"; first != want {
				t.Errorf("first line is %q, want %q", first, want)
			}
			if attribute := regexp.MustCompile(`\s(id|class|href|xlink:href)=`).Find(svg); attribute != nil {
				t.Errorf("has the attribute%s...", attribute)
			}
			d := parse(t, svg)
			if d.Role != "img" || d.Width != "720" || d.Family != fontFamily {
				t.Errorf("role %q, width %q, font family %q", d.Role, d.Width, d.Family)
			}
			if len(strings.Fields(d.Title)) < 4 {
				t.Errorf("title %q is not a sentence", d.Title)
			}
			if strings.Count(d.Desc, "\n") < 3 {
				t.Errorf("description %q does not list the values", d.Desc)
			}
			var words []string
			for _, e := range d.Texts {
				words = append(words, e.Text)
			}
			if !strings.HasPrefix(strings.Join(words, " "), d.Title) {
				t.Errorf("texts %q do not start with the title %q", words, d.Title)
			}
		})
	}
}

// TestTextsApart sees to it that no text touches another one or the edge, in the
// fixtures and in charts of random numbers.
func TestTextsApart(t *testing.T) {
	for name, chart := range fixtures {
		t.Run(name, func(t *testing.T) { checkTexts(t, chart) })
	}
	for seed := range uint64(25) {
		t.Run(fmt.Sprintf("random rows %d", seed), func(t *testing.T) { checkTexts(t, randomRows(seed)) })
		t.Run(fmt.Sprintf("random stack %d", seed), func(t *testing.T) { checkTexts(t, randomStack(seed)) })
		t.Run(fmt.Sprintf("random distribution %d", seed), func(t *testing.T) { checkTexts(t, randomDistribution(seed)) })
		t.Run(fmt.Sprintf("random lines %d", seed), func(t *testing.T) { checkTexts(t, randomLines(seed)) })
	}
}

func checkTexts(t *testing.T, chart interface{ SVG() ([]byte, error) }) {
	t.Helper()
	d := parse(t, draw(t, chart))
	var canvas box
	if _, err := fmt.Sscanf(d.Box, "0 0 %g %g", &canvas.right, &canvas.bottom); err != nil {
		t.Fatal(err)
	}
	for i, e := range d.Texts {
		b := e.bounds(t, canvas.bottom)
		if !b.within(canvas.grown(-2)) {
			t.Errorf("%q at %v leaves the canvas %v", e.Text, b, canvas)
		}
		for _, other := range d.Texts[:i] {
			if o := other.bounds(t, canvas.bottom); b.overlaps(o) {
				t.Errorf("%q at %v and %q at %v overlap", e.Text, b, other.Text, o)
			}
		}
	}
}

func TestShown(t *testing.T) {
	for name, want := range map[string][]string{
		"rows":         {"not measured: this build of Go has no such group", "not measured", "published value", "noisy window (steal or throttling)", "server", "client, other machine", "CPU time per handshake, ms"},
		"rows-log":     {"time per operation (log scale)", "1 µs", "10 ms"},
		"stack":        {"not measured: this build of Go has no such group (published: 5,100 B)", "published value", "after the handshake", "3,710 B"},
		"distribution": {"SecP384r1MLKEM1024: not measured: this build of Go has no such group", "latency of a handshake, ms (log scale)", "share of handshakes (dot: median)"},
		"lines-one":    {"With AES instructions, AES-128-CCM: not measured: Go lacks it", "AES-128-GCM, other machine", "size of a block, B (log scale)"},
	} {
		var texts []string
		for _, e := range parse(t, draw(t, fixtures[name])).Texts {
			texts = append(texts, e.Text)
		}
		for _, text := range want {
			if !slices.Contains(texts, text) {
				t.Errorf("%s does not say %q, but %q", name, text, texts)
			}
		}
	}
}

// TestEscaped sees to it that no text can break the file.
func TestEscaped(t *testing.T) {
	r := singleRowsFixture()
	r.Title = `Is <b> & "c" --> shown as it is?`
	r.Groups[0].Rows[0].Name = "</text>&amp; font-style:normal;"
	d := parse(t, draw(t, r))
	if d.Title != r.Title {
		t.Errorf("title is %q, want %q", d.Title, r.Title)
	}
	if !slices.ContainsFunc(d.Texts, func(e text) bool { return e.Text == r.Groups[0].Rows[0].Name }) {
		t.Errorf("no text is %q", r.Groups[0].Rows[0].Name)
	}
}

func TestErrors(t *testing.T) {
	rows := func(change func(*Rows)) Rows {
		r := singleRowsFixture()
		change(&r)
		return r
	}
	stack := func(change func(*Stack)) Stack {
		s := stackFixture()
		change(&s)
		return s
	}
	distribution := func(change func(*Distribution)) Distribution {
		d := distributionFixture(true)
		change(&d)
		return d
	}
	lines := func(change func(*Lines)) Lines {
		n := linesFixture(1)
		change(&n)
		return n
	}
	for _, test := range []struct {
		chart interface{ SVG() ([]byte, error) }
		want  string
	}{
		{rows(func(r *Rows) { r.Experiment = "../x" }), "one lower-case word"},
		{rows(func(r *Rows) { r.Title = "" }), "no title"},
		{rows(func(r *Rows) { r.Series = nil }), "no series"},
		{rows(func(r *Rows) { r.Series[0].Color = 9 }), "no colour"},
		{rows(func(r *Rows) { r.Groups = nil }), "no rows"},
		{rows(func(r *Rows) { r.Groups[0].Rows[1].Points = nil }), `row "AES-128-GCM": 0 points for 1 series`},
		{rows(func(r *Rows) { r.Groups[0].Rows[1].Missing = "why" }), "yet with points"},
		{rows(func(r *Rows) { r.Groups[0].Rows[1].Published = []float64{1, 2} }), "2 published values for 1 series"},
		{rows(func(r *Rows) { r.Groups[0].Rows[1].Published[0] = math.Inf(1) }), "can't be drawn"},
		{rows(func(r *Rows) { r.Groups[0].Rows[1].Points[0].Center = math.Inf(1) }), "infinite"},
		{rows(func(r *Rows) { r.Groups[0].Rows[1].Points[0].Low = nan }), "half an interval"},
		{rows(func(r *Rows) { r.Groups[0].Rows[1].Points[0].Center = -1 }), "negative"},
		{rows(func(r *Rows) { r.Log = true; r.Groups[0].Rows[1].Points[0].Center = 0 }), "not positive"},
		{stack(func(s *Stack) { s.Title = "" }), "no title"},
		{stack(func(s *Stack) { s.Parts = nil }), "no series"},
		{stack(func(s *Stack) { s.Groups = nil }), "no bars"},
		{stack(func(s *Stack) { s.Groups[0].Bars[0].Values[1] = -1 }), "part of a whole"},
		{stack(func(s *Stack) { s.Groups[0].Bars[0].Values[1] = nan }), "part of a whole"},
		{stack(func(s *Stack) { s.Groups[0].Bars[0].Missing = "why" }), "yet with values"},
		{stack(func(s *Stack) { s.Groups[0].Bars[0].Values = nil }), "0 values for 3 parts"},
		{distribution(func(d *Distribution) { d.Title = "" }), "no title"},
		{distribution(func(d *Distribution) { d.Curves = nil }), "0 curves"},
		{distribution(func(d *Distribution) { d.Curves = append(d.Curves, d.Curves...) }), "10 curves"},
		{distribution(func(d *Distribution) { d.Of = "" }), "what is counted"},
		{distribution(func(d *Distribution) { d.Curves[0].Color = -1 }), "no colour"},
		{distribution(func(d *Distribution) { d.Curves[0].Samples = nil }), "0 samples"},
		{distribution(func(d *Distribution) { d.Curves[0].Samples[0] = 0 }), "can't be drawn"},
		{lines(func(n *Lines) { n.Title = "" }), "no title"},
		{lines(func(n *Lines) { n.Panels = nil }), "no panels"},
		{lines(func(n *Lines) { n.Panels[0].Lines = nil }), "no lines"},
		{lines(func(n *Lines) { n.Panels[0].Lines[0].Color = 9 }), "no colour"},
		{lines(func(n *Lines) { n.Panels[0].Lines[0].Points = nil }), "0 points and"},
		{lines(func(n *Lines) { n.Panels[0].Lines[0].X = []float64{1} }), "5 points for 1 sizes"},
		{lines(func(n *Lines) { n.Panels[0].Lines[0].Published = []float64{1} }), "1 published values"},
		{lines(func(n *Lines) { n.Panels[0].Lines[0].X = []float64{5, 4, 3, 2, 1} }), "increasing"},
		{lines(func(n *Lines) { n.Panels[0].Lines[0].Points[0].Center = 0 }), "not positive"},
		{lines(func(n *Lines) { n.Panels[0].Lines[0].Published[2] = 0 }), "can't be drawn"},
	} {
		_, err := test.chart.SVG()
		if err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("error is %v, want one with %q", err, test.want)
		}
	}
}

// TestNothingMeasured draws charts in which every case is missing.
func TestNothingMeasured(t *testing.T) {
	head := Head{Experiment: "fixture", Title: "Nothing was measured"}
	for _, chart := range []interface{ SVG() ([]byte, error) }{
		Rows{Head: head, Series: []Series{{Name: "a"}}, Groups: []Group{{Rows: []Row{{Name: "x", Missing: "no reason"}}}}},
		Rows{Head: head, Log: true, Series: []Series{{Name: "a"}}, Groups: []Group{{Rows: []Row{{Name: "x", Points: []Point{none}}}}}},
		Stack{Head: head, Parts: []Series{{Name: "a"}}, Groups: []BarGroup{{Bars: []Bar{{Name: "x", Missing: "no reason"}}}}},
		Stack{Head: head, Parts: []Series{{Name: "a"}}, Groups: []BarGroup{{Bars: []Bar{{Name: "x", Values: []float64{0}}}}}},
		Distribution{Head: head, Of: "x", Curves: []Curve{{Series: Series{Name: "x"}, Missing: "no reason"}}},
		Lines{Head: head, Log: true, Panels: []Panel{{Lines: []Line{{Series: Series{Name: "x"}, Missing: "no reason"}}}}},
		Lines{Head: head, Panels: []Panel{{Lines: []Line{{Series: Series{Name: "x"}, X: []float64{1}, Points: []Point{none}}}}}},
	} {
		if svg := string(draw(t, chart)); strings.Contains(svg, "NaN") || strings.Contains(svg, "Inf") {
			t.Errorf("%T has a place that is not a number", chart)
		}
	}
}
