package chart

import (
	"strings"
	"testing"
)

func init() { fixtures["fits"] = fitsFixture() }

// fitsFixture is a chart of made-up waits: two cases on one line, one above,
// one of another machine, one not measured.
func fitsFixture() Fits {
	roundTrips := []float64{0, 10e-3, 50e-3, 100e-3, 200e-3}
	fit := func(name string, color Color, slope, intercept float64) Fit {
		f := Fit{Line: Line{Series: Series{Name: name, Color: color}, X: roundTrips}, Slope: slope, Intercept: intercept}
		for _, x := range roundTrips {
			f.Points = append(f.Points, around(intercept+slope*x, 2))
		}
		return f
	}
	full := fit("full: 4 waits", Blue, 4, 1.2e-3)
	full.Published = []float64{nan, nan, 222e-3, nan, nan}
	full.Points[3].Noisy = true
	ticket := fit("ticket: 3 waits", Vermillion, 3, 0.9e-3)
	ticket.Dashed = true
	ticket.Points[1] = none
	over := fit("ticket: 3 waits", Vermillion, 3, 0.9e-3)
	over.Dashed = true
	elsewhere := fit("full, other machine", Blue, 3.1, 4e-3)
	elsewhere.Light = true
	without := fit("too few points", Green, nan, nan)
	without.X, without.Points = without.X[:1], without.Points[:1]
	return Fits{
		Head: Head{Experiment: "fixture", Title: "A full handshake of TLS 1.2 waits once more",
			Subtitle: "xeon-2cpu, 12 rounds; whiskers: 95 % interval of the median over rounds; lines: fitted"},
		XQuantity: "round trip", XUnit: "sec", XTicks: []float64{0, 50e-3, 100e-3, 200e-3},
		Quantity: "time to first response", Unit: "sec",
		Panels: []FitPanel{
			{Title: "TLS 1.3", Fits: []Fit{fit("full: 3 waits", Blue, 3, 0.9e-3), over, elsewhere,
				{Line: Line{Series: Series{Name: "early data", Color: Purple}, Missing: "openssl is not installed"}}}},
			{Title: "TLS 1.2", Fits: []Fit{full, ticket, without}},
		},
	}
}

func TestFitsRefuses(t *testing.T) {
	for _, test := range []struct {
		name  string
		spoil func(f *Fits, fit *Fit)
		want  string
	}{
		{"no panels", func(f *Fits, _ *Fit) { f.Panels = nil }, "no panels"},
		{"no lines", func(f *Fits, _ *Fit) { f.Panels[0].Fits = nil }, `panel "TLS 1.3": no lines`},
		{"no title", func(f *Fits, _ *Fit) { f.Title = "" }, "no title"},
		{"colour", func(_ *Fits, fit *Fit) { fit.Color = 9 }, "no colour has the number 9"},
		{"no points", func(_ *Fits, fit *Fit) { fit.Points = nil }, "0 points and the reason for having none"},
		{"places", func(_ *Fits, fit *Fit) { fit.X = fit.X[1:] }, "5 points at 4 places"},
		{"published", func(_ *Fits, fit *Fit) { fit.Published = []float64{1} }, "1 published values at 5 places"},
		{"negative place", func(_ *Fits, fit *Fit) { fit.X = []float64{-1, 0, 1, 2, 3} }, "are negative or don't increase"},
		{"order", func(_ *Fits, fit *Fit) { fit.X = []float64{0, 2, 1, 2, 3} }, "are negative or don't increase"},
		{"infinite", func(_ *Fits, fit *Fit) { fit.Slope = 1 / zero }, "is infinite"},
		{"value", func(_ *Fits, fit *Fit) {
			fit.Points = []Point{none, none, none, none, {Center: -1, Low: nan, High: nan}}
		}, "is negative"},
	} {
		t.Run(test.name, func(t *testing.T) {
			f := fitsFixture()
			test.spoil(&f, &f.Panels[0].Fits[0])
			if _, err := f.SVG(); err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("error %v, want %q", err, test.want)
			}
		})
	}
}

// zero is not a constant, by which nothing can be divided.
var zero = 0.0

// TestFitsOnLine tests that places and line share one linear axis from zero: points that
// lie on a line in their numbers lie on it in the drawing.
func TestFitsOnLine(t *testing.T) {
	f := fitsFixture()
	l := f.layout()
	p, fit := l.panels[1], f.Panels[1].Fits[0]
	from := point{p.x.at(0), l.y.at(fit.at(0))}
	to := point{p.x.at(200e-3), l.y.at(fit.at(200e-3))}
	if from.x != p.x.from {
		t.Errorf("zero is at %v, the axis starts at %v", from.x, p.x.from)
	}
	for i, x := range fit.X {
		at := point{p.x.at(x), l.y.at(fit.Points[i].Center)}
		share := (at.x - from.x) / (to.x - from.x)
		if want := from.y + share*(to.y-from.y); at.y < want-0.01 || at.y > want+0.01 {
			t.Errorf("the point at %v is %v high, its line %v", x, at.y, want)
		}
	}
}
