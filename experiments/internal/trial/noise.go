package trial

import (
	"runtime"
	"time"

	"cryptocost/data"
	"cryptocost/env"
)

// A noise is what disturbed the machine during a case's slices.
type noise struct {
	span        time.Duration // wall time that the readings cover
	stolen      time.Duration // over all CPUs; see hasSteal
	throttled   time.Duration // see hasThrottle
	calibration time.Duration // sum of the fixed loop's times
	loops       int

	hasSteal, hasThrottle bool
}

func (n noise) plus(m noise) noise {
	return noise{
		n.span + m.span, n.stolen + m.stolen, n.throttled + m.throttled,
		n.calibration + m.calibration, n.loops + m.loops,
		n.hasSteal || m.hasSteal, n.hasThrottle || m.hasThrottle,
	}
}

// busyCPUs is how many CPUs a case keeps busy at most: a client and a server,
// or two ends of a connection. On a larger machine the stolen time of the
// others would dilute what these lost.
const busyCPUs = 2

// values are the noise of a window, in the units of its line:
// "stolen-ratio" is stolen CPU time by the CPU time that the two processes of a
// case can use,
// "throttled-ratio" the time for which the cgroup was held back by the wall
// time, "calibration-ns/op" the mean time of a fixed piece of work.
func (n noise) values() []data.Value {
	var values []data.Value
	if n.hasSteal && n.span > 0 {
		values = append(values, data.Value{Value: float64(n.stolen) / float64(n.span) / float64(min(runtime.NumCPU(), busyCPUs)), Unit: "stolen-ratio"})
	}
	if n.hasThrottle && n.span > 0 {
		values = append(values, data.Value{Value: float64(n.throttled) / float64(n.span), Unit: "throttled-ratio"})
	}
	if n.loops > 0 {
		values = append(values, data.Value{Value: float64(n.calibration) / float64(n.loops), Unit: "calibration-ns/op"})
	}
	return values
}

// A reading is the state of the machine's counters at a moment.
type reading struct {
	at        time.Time
	stolen    time.Duration
	throttled time.Duration

	hasSteal, hasThrottle bool
}

func read() reading {
	r := reading{at: time.Now()}
	r.stolen, r.hasSteal = stolenTime()
	if t, ok := env.Throttled(); ok {
		r.throttled, r.hasThrottle = t.Time, true
	}
	return r
}

// until gives the noise between two readings, and runs the calibration loop.
func (r reading) until(end reading) noise {
	n := noise{
		span:        end.at.Sub(r.at),
		hasSteal:    r.hasSteal && end.hasSteal,
		hasThrottle: r.hasThrottle && end.hasThrottle,
		loops:       1,
	}
	// Counters of a hypervisor have been seen to step back.
	n.stolen = max(0, end.stolen-r.stolen)
	n.throttled = max(0, end.throttled-r.throttled)
	start := time.Now()
	calibrate()
	n.calibration = time.Since(start)
	return n
}

// calibrationSteps takes about 0.1 ms on a processor of 3 GHz.
const calibrationSteps = 1 << 15

// calibrate is a fixed piece of work in registers: a chain of xorshift steps
// (Marsaglia 2003). Its time shows the clock rate and what neighbours take.
func calibrate() {
	x := uint64(88172645463325252)
	for range calibrationSteps {
		x ^= x << 13
		x ^= x >> 7
		x ^= x << 17
	}
	runtime.KeepAlive(x) // or the compiler would drop the loop
}
