// Package trial runs an experiment: its cases, in rounds of fresh processes,
// in short slices whose order is shuffled anew in every pass, with what
// disturbed them recorded beside them; and it survives interruption.
//
// A round starts the processes of all its cases and keeps them alive. Then
// come passes; in each pass every case works for one slice of 10 to 200 ms.
// All cases so see the same weather of a shared machine, whose changes take
// tens to hundreds of milliseconds. The slices of a case and round are summed
// up to one window, which gives one sample of each quantity: the round is the
// replicate, not the operation.
package trial

import (
	"context"
	"fmt"
	"time"

	"cryptocost/data"
	"cryptocost/experiments/internal/host"
)

// An Experiment is what a program of experiments/ measures.
type Experiment struct {
	// Name is the experiment's one word.
	Name string
	// Slice is how long a case works at a time.
	Slice time.Duration
	// Quota is the measured time of a case in one round, by profile.
	Quota Quotas
	// RawLatencies is how many latencies are kept of each case and round, a
	// uniform sample.
	RawLatencies int
	// Exact lists the units that have no distribution.
	Exact []string
	// Tools gives the versions of the outside programs and libraries used,
	// recorded as "tool-NAME".
	Tools func() map[string]string
	// Roles are the processes that the cases start.
	Roles host.Roles
	// RemoteRoles lists the roles that -server moves to another machine.
	RemoteRoles []string
	// Cases gives the axes, multiplied out. It is not called in roles.
	Cases func() []Case
}

// Quotas is a time for each profile.
type Quotas struct{ Quick, Standard, Thorough time.Duration }

// A Case is one configuration under test.
type Case struct {
	// Name is "/key=value" pairs in the experiment's fixed order.
	Name string
	// Missing says why the case can't be measured here; empty: it can.
	Missing string
	// Whole asks for one window of the whole quota, at a random moment of
	// the round, for what can't be sliced.
	Whole bool
	// First asks, of a whole case, for its window before all others of the
	// round, in the order of the cases: what it finds wrong fails the round
	// before more time is spent on it.
	First bool
	// Needs names the cases that this one is measured with even if the pattern
	// of the command line leaves them out, such as the check of its wire.
	Needs []string
	// Repeats marks a case that repeats another, to show noise. Of its
	// latencies only the percentiles are kept.
	Repeats bool
	// Start brings the case to life for one round. Processes come from the
	// group, which ends them after the round.
	Start func(ctx context.Context, g *host.Group) (Measure, error)
}

// Once brings the case to life alone, lets it work for one slice, and ends its
// processes.
func (c Case) Once(ctx context.Context, d time.Duration) (Slice, error) {
	group := &host.Group{}
	defer group.Close()
	measure, err := c.Start(ctx, group)
	if err != nil {
		return Slice{}, err
	}
	return measure(ctx, d)
}

// A Measure lets a case work for about d and says what it did. Operations
// that settle caches at the beginning are not in the slice.
type Measure func(ctx context.Context, d time.Duration) (Slice, error)

// A Slice is what a case did without a pause.
type Slice struct {
	// Ops is the number of operations.
	Ops int
	// Elapsed is the time that they took.
	Elapsed time.Duration
	// Quantities are summed up over the slices of a window.
	Quantities []Quantity
	// Latencies of the operations, where they are timed one by one.
	Latencies []time.Duration
	// Moments are further times of the operations, by name: "handshake"
	// gives p50-handshake-ns/op. Their percentiles are kept.
	Moments map[string][]time.Duration
	// Tallies are exact observations.
	Tallies []Tally
	// Parts are what the operations consist of.
	Parts []Part
	// Involuntary is the number of context switches forced on the processes.
	Involuntary int64
}

// A Part is a part of each operation, such as one record of a handshake,
// recorded as a case of its own under the case's name and the suffix, which
// is one more "/key=value". Its Elapsed, Involuntary and Parts do not count.
type Part struct {
	Suffix string
	Slice  Slice
}

// A Quantity is a sum divided by what it is spread over: 3 ms of CPU per 20
// handshakes. Over a window both parts are summed up before dividing.
type Quantity struct {
	Unit     string
	Sum, Per float64
}

// A Tally counts the operations that gave exactly these values.
type Tally struct {
	Ops    int
	Values []data.Value
}

// Check makes a case of a behaviour: name says what is expected ("/check=
// hrr-visible"), and f whether it was observed. It is observed once a round.
func Check(name string, f func(ctx context.Context, g *host.Group) (bool, error)) Case {
	return Case{Name: name, Whole: true, Start: func(_ context.Context, g *host.Group) (Measure, error) {
		return func(ctx context.Context, _ time.Duration) (Slice, error) {
			yes, err := f(ctx, g)
			if err != nil {
				return Slice{}, fmt.Errorf("observe %s: %w", name, err)
			}
			value := 0.0
			if yes {
				value = 1
			}
			return Slice{Ops: 1, Tallies: []Tally{{Ops: 1, Values: []data.Value{{Value: value, Unit: data.YesUnit}}}}}, nil
		}, nil
	}}
}

// A Profile fixes the number of rounds and the quota beforehand; nothing
// stops because a result looks good.
type Profile string

// The profiles.
const (
	Quick    Profile = "quick"
	Standard Profile = "standard"
	Thorough Profile = "thorough"
)

var profileRounds = map[Profile]int{Quick: 6, Standard: 12, Thorough: 40}

// of gives the quota of a profile.
func (q Quotas) of(p Profile) time.Duration {
	switch p {
	case Quick:
		return q.Quick
	case Thorough:
		return q.Thorough
	default:
		return q.Standard
	}
}
