package chart

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
)

// The charts of this file are made up: they try the layout, not a claim.

var nan = math.NaN()

// around returns a point with an interval of so many percent on either side.
func around(center, percent float64) Point {
	return Point{Center: center, Low: center * (1 - percent/100), High: center * (1 + percent/100)}
}

var none = Point{Center: nan, Low: nan, High: nan}

// fixtures are the charts that have golden files, by the names of these.
var fixtures = map[string]interface{ SVG() ([]byte, error) }{
	"rows":                rowsFixture(),
	"rows-log":            logRowsFixture(),
	"rows-single":         singleRowsFixture(),
	"stack":               stackFixture(),
	"lines":               linesFixture(2),
	"lines-key":           linesFixture(3),
	"lines-one":           linesFixture(1),
	"distribution":        distributionFixture(true),
	"distribution-linear": distributionFixture(false),
	"stack-key":           keyedStackFixture(),
}

func rowsFixture() Rows {
	noisy := around(612e-6, 9)
	noisy.Noisy = true
	return Rows{
		Head: Head{
			Experiment: "fixture",
			Title:      "P-521 costs a server 5.4 times as much CPU as X25519, and the hybrid with ML-KEM-768 only 1.3 times",
			Subtitle:   "CPU time per full handshake, TLS 1.3, ECDSA P-256 certificate. xeon-2cpu, 12 rounds; whiskers: 95 % interval of the median over rounds.",
		},
		Quantity: "CPU time per handshake",
		Unit:     "sec/op",
		Series: []Series{
			{Name: "server", Color: Blue},
			{Name: "client", Color: Vermillion},
			{Name: "server, other machine", Color: Blue, Light: true},
			{Name: "client, other machine", Color: Vermillion, Light: true},
		},
		Groups: []Group{
			{Name: "Key exchange", Rows: []Row{
				{Name: "X25519MLKEM768 (Go's default)", Published: []float64{215e-6, 270e-6, nan, nan},
					Points: []Point{around(228e-6, 3), around(291e-6, 3), around(190e-6, 2), around(244e-6, 2)}},
				{Name: "X25519", Published: []float64{160e-6, 214e-6, nan, nan},
					Points: []Point{around(174e-6, 3), around(232e-6, 2), around(150e-6, 2), around(201e-6, 2)}},
				{Name: "P-256", Points: []Point{around(181e-6, 2), around(240e-6, 2), around(155e-6, 2), none}},
				{Name: "P-384, after a HelloRetryRequest for it", Published: []float64{590e-6, 700e-6, nan, nan},
					Points: []Point{noisy, around(733e-6, 3), around(520e-6, 3), around(633e-6, 3)}},
				{Name: "P-521", Published: []float64{1.91e-3, 880e-6, nan, nan},
					Points: []Point{around(941e-6, 3), around(1080e-6, 6), around(811e-6, 4), around(905e-6, 3)}},
				{Name: "SecP384r1MLKEM1024", Missing: "this build of Go has no such group"},
			}},
			{Name: "Certificate, with X25519", Rows: []Row{
				{Name: "RSA-2048", Points: []Point{around(811e-6, 2), around(240e-6, 2), around(655e-6, 2), around(201e-6, 2)}},
				{Name: "RSA-4096 with a name that is far too long to fit on one line", Points: []Point{around(3.91e-3, 1), around(262e-6, 2), none, none}},
				{Name: "Ed25519", Points: []Point{around(169e-6, 2), none, none, none}},
			}},
		},
	}
}

func logRowsFixture() Rows {
	r := Rows{
		Head: Head{Experiment: "fixture", Title: "Twenty-four cases over five orders of magnitude",
			Subtitle: "Time per operation. xeon-2cpu, 12 rounds; whiskers: 95 % interval.",
			Notes:    []string{"A note below the figure says what does not fit anywhere else, and is wrapped when it is longer than the figure is wide, as this one is."}},
		Quantity: "time per operation", Unit: "sec/op", Log: true,
		Series: []Series{{Name: "Go", Color: Blue}, {Name: "OpenSSL", Color: Vermillion}},
	}
	for g := range 4 {
		group := Group{Name: fmt.Sprintf("Group %d", g+1)}
		for i := range 6 {
			v := 0.4e-6 * math.Pow(1.68, float64(6*g+i))
			row := Row{Name: fmt.Sprintf("case %d of a rather long kind of name, %d bytes", 6*g+i+1, 64<<i),
				Points: []Point{around(v, 8), around(v*0.62, 5)}}
			if i%2 == 0 {
				row.Published = []float64{v * 1.04, nan}
			}
			group.Rows = append(group.Rows, row)
		}
		r.Groups = append(r.Groups, group)
	}
	return r
}

func singleRowsFixture() Rows {
	r := Rows{
		Head: Head{Experiment: "fixture", Title: "One series needs no key",
			Subtitle: "Throughput. xeon-2cpu, 6 rounds."},
		Quantity: "throughput", Unit: "B/s",
		Series: []Series{{Name: "throughput", Color: Green}},
		Groups: []Group{{}},
	}
	for i, name := range []string{"plaintext", "AES-128-GCM", "AES-256-GCM", "ChaCha20-Poly1305", "AES-128-CBC"} {
		p := around([]float64{5.2e9, 4.1e9, 3.6e9, 1.9e9, 0.41e9}[i], 4)
		r.Groups[0].Rows = append(r.Groups[0].Rows, Row{Name: name, Points: []Point{p}, Published: []float64{p.Center * 1.15}})
	}
	return r
}

// lognormal returns samples of a skewed distribution, the same in every run.
func lognormal(seed uint64, n int, median, sigma float64) []float64 {
	random := rand.New(rand.NewPCG(seed, seed))
	samples := make([]float64, n)
	for i := range samples {
		samples[i] = median * math.Exp(sigma*random.NormFloat64())
		if i%40 == 0 {
			samples[i] *= 1 + 10*random.Float64()
		}
	}
	return samples
}

func stackFixture() Stack {
	return Stack{
		Head: Head{Experiment: "fixture", Title: "The hybrid doubles the bytes of a handshake",
			Subtitle: "Bytes on the wire per handshake, TCP payload. xeon-2cpu, 12 rounds, exact."},
		Quantity: "bytes per handshake", Unit: "B/op",
		Parts: []Series{{Name: "sent", Color: Blue}, {Name: "received", Color: Vermillion}, {Name: "after the handshake", Color: Gray}},
		Groups: []BarGroup{
			{Name: "Key exchange", Bars: []Bar{
				{Name: "X25519MLKEM768 (Go's default)", Values: []float64{1574, 1999, 137}, Published: 3560},
				{Name: "X25519", Values: []float64{349, 879, 137}, Published: 1230},
				{Name: "P-256 after HelloRetryRequest", Values: []float64{733, 1012, 137}, Published: 2900},
				{Name: "TLS 1.2 with RSA key exchange", Values: []float64{520, 900, 0}, Published: 1510},
				{Name: "SecP384r1MLKEM1024", Missing: "this build of Go has no such group", Published: 5100},
			}},
			{Name: "Certificate", Bars: []Bar{
				{Name: "RSA-4096", Values: []float64{349, 2391, 137}},
				{Name: "Ed25519", Values: []float64{349, 811, 137}},
			}},
		},
	}
}

func keyedStackFixture() Stack {
	s := Stack{
		Head:     Head{Experiment: "fixture", Title: "Names that don't fit above the first bar go into a key", Subtitle: "Memory per connection."},
		Quantity: "memory per connection", Unit: "B",
		Parts:  []Series{{Name: "stack", Color: Purple}, {Name: "heap", Color: Green}, {Name: "buffers", Color: Blue}, {Name: "kernel", Color: Vermillion}},
		Groups: []BarGroup{{}},
	}
	for i := range 6 {
		v := float64(i * i * i)
		s.Groups[0].Bars = append(s.Groups[0].Bars, Bar{Name: fmt.Sprintf("%d requests", i*i*100), Values: []float64{8192, 3000 + 40*v, 500 * v, 0}})
	}
	return s
}

func distributionFixture(log bool) Distribution {
	d := Distribution{
		Head: Head{Experiment: "fixture", Title: "A few handshakes take ten times as long as most",
			Subtitle: "Latency of 1,200 handshakes per case, 100 from each of 12 rounds. xeon-2cpu."},
		Quantity: "latency of a handshake", Unit: "sec/op", Log: log, Of: "handshakes",
		Curves: []Curve{
			{Series: Series{Name: "X25519", Color: Blue}, Samples: lognormal(1, 1200, 480e-6, 0.2)},
			{Series: Series{Name: "X25519MLKEM768", Color: Vermillion}, Samples: lognormal(2, 1200, 560e-6, 0.2)},
			{Series: Series{Name: "P-256", Color: Green}, Samples: lognormal(3, 1200, 500e-6, 0.2)},
			{Series: Series{Name: "P-521", Color: Purple}, Samples: lognormal(4, 1200, 2600e-6, 0.15)},
			{Series: Series{Name: "SecP384r1MLKEM1024", Color: Gray}, Missing: "this build of Go has no such group"},
		},
	}
	if !log {
		for i := range d.Curves {
			d.Curves[i].Samples = slices.Sorted(slices.Values(d.Curves[i].Samples))
			d.Curves[i].Samples = d.Curves[i].Samples[:len(d.Curves[i].Samples)*19/20]
		}
		d.Curves[4] = Curve{Series: Series{Name: "X25519, other machine", Color: Blue, Light: true}, Samples: lognormal(5, 30, 400e-6, 0.1)}
	}
	return d
}

func linesFixture(panels int) Lines {
	n := Lines{
		Head: Head{Experiment: "fixture", Title: "Go seals as fast as OpenSSL from 1400 bytes on, and both are far slower without AES instructions",
			Subtitle: "Seal on one core. xeon-2cpu, 12 rounds; whiskers: 95 % interval of the median over rounds."},
		XQuantity: "size of a block", XUnit: "B", Quantity: "throughput of one core", Unit: "B/s", Log: true,
		XTicks: []XTick{{64, ""}, {256, ""}, {1400, ""}, {8192, "8K"}, {16384, "16K"}},
	}
	sizes := []float64{64, 256, 1400, 8192, 16384}
	line := func(name string, color Color, dashed bool, most, overhead float64) Line {
		l := Line{Series: Series{Name: name, Color: color}, Dashed: dashed, X: sizes}
		for i, x := range sizes {
			l.Points = append(l.Points, around(most*x/(x+overhead), 3+float64(4-i)*3))
		}
		return l
	}
	for i := range panels {
		slower := math.Pow(40, float64(i%2))
		p := Panel{Title: []string{"With AES instructions", "Without"}[i%2], Lines: []Line{
			line("AES-128-GCM", Blue, false, 4.6e9/slower, 240),
			line("OpenSSL", Blue, true, 4.8e9/slower, 700),
			line("AES-256-GCM", Vermillion, false, 3.9e9/slower, 250),
			line("OpenSSL", Vermillion, true, 4.0e9/slower, 800),
			line("ChaCha20", Green, false, 1.9e9, 200),
			line("OpenSSL", Green, true, 2.1e9, 500),
		}}
		p.Lines[4].Points[2].Noisy = true
		p.Lines[0].Published = []float64{nan, nan, 3.5e9 / slower, nan, 4.2e9 / slower}
		p.Lines[2].Points[1] = none
		if panels == 1 {
			other := line("AES-128-GCM, other machine", Blue, false, 3.1e9, 240)
			other.Light = true
			p.Lines = append(p.Lines, other, Line{Series: Series{Name: "AES-128-CCM", Color: Purple}, Missing: "Go lacks it"})
		}
		n.Panels = append(n.Panels, p)
	}
	return n
}

// The random charts have numbers of several orders of magnitude, values missing
// here and there, and names of all lengths. Each seed gives one chart.

func randomName(random *rand.Rand, longest int) string {
	const letters = "the longest of all the names that a case may have"
	return letters[:1+random.IntN(min(longest, len(letters)))]
}

func randomPoint(random *rand.Rand) Point {
	if random.IntN(8) == 0 {
		return none
	}
	p := around(1e-6*math.Exp(8*random.Float64()), 30*random.Float64())
	p.Noisy = random.IntN(8) == 0
	return p
}

func randomRows(seed uint64) Rows {
	random := rand.New(rand.NewPCG(seed, 1))
	r := Rows{Head: Head{Experiment: "fixture", Title: "Random rows"}, Quantity: "time", Unit: "sec", Log: seed%2 == 0}
	for i := range 1 + random.IntN(4) {
		r.Series = append(r.Series, Series{Name: randomName(random, 20), Color: Color(i % 3), Light: i > 1})
	}
	for range 1 + random.IntN(3) {
		g := Group{Name: randomName(random, 30)}
		for range 1 + random.IntN(8) {
			row := Row{Name: randomName(random, 49)}
			if random.IntN(8) == 0 {
				row.Missing = randomName(random, 49)
			} else {
				for range r.Series {
					row.Points = append(row.Points, randomPoint(random))
					row.Published = append(row.Published, randomPoint(random).Center)
				}
			}
			g.Rows = append(g.Rows, row)
		}
		r.Groups = append(r.Groups, g)
	}
	return r
}

func randomStack(seed uint64) Stack {
	random := rand.New(rand.NewPCG(seed, 2))
	s := Stack{Head: Head{Experiment: "fixture", Title: "Random stack"}, Quantity: "size", Unit: "B"}
	for i := range 1 + random.IntN(4) {
		s.Parts = append(s.Parts, Series{Name: randomName(random, 20), Color: Color(i)})
	}
	g := BarGroup{Name: randomName(random, 30)}
	for range 1 + random.IntN(8) {
		bar := Bar{Name: randomName(random, 49)}
		for range s.Parts {
			bar.Values = append(bar.Values, float64(random.IntN(4000)))
		}
		if random.IntN(2) == 0 {
			bar.Published = float64(random.IntN(15000))
		}
		g.Bars = append(g.Bars, bar)
	}
	s.Groups = append(s.Groups, g)
	return s
}

func randomDistribution(seed uint64) Distribution {
	random := rand.New(rand.NewPCG(seed, 3))
	d := Distribution{Head: Head{Experiment: "fixture", Title: "Random curves"},
		Quantity: "latency", Unit: "sec", Log: seed%2 == 0, Of: "requests"}
	for i := range 1 + random.IntN(mostCurves) {
		samples := lognormal(seed+uint64(i), 1+random.IntN(300), 1e-3*math.Exp(random.Float64()), 0.3*random.Float64())
		d.Curves = append(d.Curves, Curve{Series: Series{Name: randomName(random, 20), Color: Color(i)}, Samples: samples})
	}
	return d
}

func randomLines(seed uint64) Lines {
	random := rand.New(rand.NewPCG(seed, 4))
	n := Lines{Head: Head{Experiment: "fixture", Title: "Random lines"}, Quantity: "time", Unit: "sec", Log: seed%2 == 0,
		XQuantity: "size", XUnit: "B", XTicks: []XTick{{64, ""}, {256, ""}, {1400, ""}, {8192, ""}, {16384, ""}}}
	for range 1 + random.IntN(3) {
		p := Panel{Title: randomName(random, 20)}
		for i := range 1 + random.IntN(6) {
			line := Line{Series: Series{Name: randomName(random, 24), Color: Color(i % 4)}, Dashed: i > 3}
			for _, x := range n.XTicks {
				line.X = append(line.X, x.Value)
				line.Points = append(line.Points, randomPoint(random))
			}
			p.Lines = append(p.Lines, line)
		}
		n.Panels = append(n.Panels, p)
	}
	return n
}
