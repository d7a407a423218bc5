package stat

import (
	"math"
	"math/rand/v2"
	"sync"

	"gonum.org/v1/gonum/stat/distuv"
)

// SimulationRow says how a method did on simulated rounds of which the truth is known. All rates are
// shares of the replications; a rate p of R replications has a standard error of sqrt(p(1-p)/R).
type SimulationRow struct {
	// Method is "median", "paired ratio", "paired difference" or "unpaired ratio", which are what this
	// package does, or one of the rejected "interpolated median" and "paired ratio by order statistics".
	Method string

	// Shape names the noise; see shapes.
	Shape string

	// N is the number of rounds.
	N int

	// Coverage is how often the interval contains the true value, which is 5 % from that of twins.
	Coverage float64

	// MeanWidth is the mean of High-Low. The median of the cheaper case is 1.
	MeanWidth float64

	// FalseAlarms is how often two cases that cost the same are called different: by an interval without
	// 1 (a ratio) or 0 (a difference), or by p < 0.05 (unpaired). It is NaN for medians, which
	// compare nothing.
	FalseAlarms float64

	// Power is how often a slowdown of 5 % is called different by the same rule.
	Power float64
}

// slowdown is the planted effect, small against the noise of a round.
const slowdown = 0.05

// simulatedRounds are those of the profiles quick, standard and thorough.
var simulatedRounds = []int{6, 12, 40}

// shape is a kind of noise with median 1 and a standard deviation of about 10 %.
type shape struct {
	name  string
	noise func(*rand.Rand) float64

	// ramp is the drift from the first round to the last, in logarithms, which the cases of a round share.
	ramp float64

	// oneSided spares one of the two cases the noise.
	oneSided bool
}

var shapes = []shape{
	// A floor with a lognormal excess, skewness 4.
	{name: "lognormal", noise: lognormal},
	// A floor with an exponential excess, skewness 2.
	{name: "exponential", noise: exponential},
	// Two modes, the upper one with 40 % of the rounds and 20 % dearer: hard on a median, which then lies
	// near the edge of the gap.
	{name: "bimodal", noise: bimodal},
	{name: "drift", noise: symmetric, ramp: 0.05},
	// So much that samples which are not paired are covered in 99 % instead of 95 %; see Median.
	{name: StrongDrift, noise: symmetric, ramp: 0.3},
	// A noisy case against a quiet one. Their medians are equal, but they are no twins.
	{name: OneSided, noise: exponential, oneSided: true},
}

func symmetric(r *rand.Rand) float64 { return math.Exp(0.1 * r.NormFloat64()) }

func lognormal(r *rand.Rand) float64 { return 0.93 + 0.07*math.Exp(0.83*r.NormFloat64()) }

func exponential(r *rand.Rand) float64 { return 1 + 0.1*(r.ExpFloat64()-math.Ln2) }

// bimodalMedian is where 5/6 of the lower mode's 60 %, half of all, lie below.
var bimodalMedian = 1 + 0.02*distuv.UnitNormal.Quantile(5.0/6)

func bimodal(r *rand.Rand) float64 {
	v := 1 + 0.02*r.NormFloat64()
	if r.Float64() < 0.4 {
		v += 0.2
	}
	return v / bimodalMedian
}

// twins draws n rounds of two cases that cost the same.
func (s shape) twins(r *rand.Rand, n int) (a, b []float64) {
	a, b = make([]float64, n), make([]float64, n)
	for i := range n {
		drift := math.Exp(s.ramp * (float64(i)/float64(n-1) - 0.5))
		a[i] = drift
		if !s.oneSided {
			a[i] *= s.noise(r)
		}
		// 0.01 % of noise keeps the spared case free of ties.
		a[i] *= math.Exp(1e-4 * r.NormFloat64())
		b[i] = drift * s.noise(r)
	}
	return a, b
}

// StrongDrift names the shape in which the machine drifts over the rounds more than cases differ.
const StrongDrift = "strong drift"

// OneSided names the shape that signed ranks do not suit: a noisy case beside
// a quiet one.
const OneSided = "one-sided"

// method estimates from rounds of two cases what sets b apart from a.
type method struct {
	name     string
	plant    func(float64) float64 // slows b down
	truth    float64               // what estimate should cover then
	null     float64               // what it should cover for twins; NaN for medians
	estimate func(a, b []float64) Interval
	differs  func(a, b []float64) bool // nil where the interval decides
}

func methods() []method {
	dearer := func(v float64) float64 { return v * (1 + slowdown) }
	longer := func(v float64) float64 { return v + slowdown } // in proportion, it would drift with the rounds

	median := func(_, b []float64) Interval { return Median(b) }
	interpolated := func(_, b []float64) Interval { return medianInterval(b, confidence) }
	ratio := func(a, b []float64) Interval { return PairedRatio(b, a) }
	difference := func(a, b []float64) Interval { return PairedDifference(b, a) }
	uTest := func(a, b []float64) bool { return mannWhitney(a, b) < alpha }
	return []method{
		{"median", dearer, 1 + slowdown, math.NaN(), median, nil},
		{"interpolated median", dearer, 1 + slowdown, math.NaN(), interpolated, nil},
		{"paired ratio", dearer, 1 + slowdown, 1, ratio, nil},
		{"paired ratio by order statistics", dearer, 1 + slowdown, 1, ratioByOrder, nil},
		{"paired difference", longer, slowdown, 0, difference, nil},
		{"unpaired ratio", dearer, 1 + slowdown, 1, ratioOfMedians, uTest},
	}
}

// ratioByOrder is the rejected alternative to PairedRatio.
func ratioByOrder(a, b []float64) Interval {
	i := Median(logRatios(b, a))
	i.Center, i.Low, i.High = math.Exp(i.Center), math.Exp(i.Low), math.Exp(i.High)
	return i
}

// Simulate measures the methods of this package on rounds of 6, 12 and 40 under noise of known shapes,
// the same rounds for all methods. Equal arguments give equal rows on machines of one architecture. A
// thousand replications take a few seconds.
func Simulate(seed uint64, replications int) []SimulationRow {
	cells := make([][]SimulationRow, len(shapes)*len(simulatedRounds))
	var running sync.WaitGroup
	for i, s := range shapes {
		for j, n := range simulatedRounds {
			cell := i*len(simulatedRounds) + j
			running.Go(func() {
				r := rand.New(rand.NewPCG(seed, uint64(cell)))
				cells[cell] = s.simulate(r, n, replications)
			})
		}
	}
	running.Wait()
	var rows []SimulationRow
	for _, cell := range cells {
		rows = append(rows, cell...)
	}
	return rows
}

// simulate returns a row per method for n rounds under the noise s.
func (s shape) simulate(r *rand.Rand, n, replications int) []SimulationRow {
	ms := methods()
	rows := make([]SimulationRow, len(ms))
	for range replications {
		a, b := s.twins(r, n)
		for i, m := range ms {
			rows[i].add(m, a, b)
		}
	}
	for i, m := range ms {
		row := &rows[i]
		row.Method, row.Shape, row.N = m.name, s.name, n
		for _, sum := range []*float64{&row.Coverage, &row.MeanWidth, &row.FalseAlarms, &row.Power} {
			*sum /= float64(replications)
		}
		if math.IsNaN(m.null) {
			row.FalseAlarms, row.Power = math.NaN(), math.NaN()
		}
	}
	return rows
}

// add adds the result of one replication to the sums that become the rates of the row.
func (row *SimulationRow) add(m method, a, b []float64) {
	slow := make([]float64, len(b))
	for i, v := range b {
		slow[i] = m.plant(v)
	}
	interval := m.estimate(a, slow)
	row.MeanWidth += interval.High - interval.Low
	row.Coverage += count(!interval.Excludes(m.truth))
	switch {
	case m.differs != nil:
		row.FalseAlarms += count(m.differs(a, b))
		row.Power += count(m.differs(a, slow))
	case !math.IsNaN(m.null):
		row.FalseAlarms += count(m.estimate(a, b).Excludes(m.null))
		row.Power += count(interval.Excludes(m.null))
	}
}

func count(happened bool) float64 {
	if happened {
		return 1
	}
	return 0
}
