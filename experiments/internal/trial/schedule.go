package trial

import (
	"math/rand/v2"
	"slices"
	"time"
)

// passes is the number of slices that a case gets in one round.
func passes(quota, slice time.Duration) int {
	return max(1, int((quota+slice/2)/slice))
}

// schedule is the order of a round as indices of cases: a permutation of the
// sliced cases for every pass, and each whole case once, at a random place or
// before all others.
// The same seed and round give the same order.
func schedule(cases []Case, passes int, seed uint64, round int) []int {
	rng := rand.New(rand.NewPCG(seed, uint64(round)))
	var first, sliced, whole []int
	for i, c := range cases {
		switch {
		case c.Whole && c.First:
			first = append(first, i)
		case c.Whole:
			whole = append(whole, i)
		default:
			sliced = append(sliced, i)
		}
	}
	var order []int
	for range passes {
		rng.Shuffle(len(sliced), func(i, j int) { sliced[i], sliced[j] = sliced[j], sliced[i] })
		order = append(order, sliced...)
	}
	for _, i := range whole {
		order = slices.Insert(order, rng.IntN(len(order)+1), i)
	}
	return append(first, order...)
}
