// Package link joins two network namespaces by a wire with a fixed delay for
// each direction, without privileges: the kernel's own TCP works at both ends,
// and a process of ours, the hub, hands each packet on when it is due.
//
// The hub is the first process of user, network and process namespaces of its
// own. It has one more network namespace for each end, joined to it by a pair
// of virtual Ethernet devices (veth), whose packets it reads and writes through
// packet sockets. Processes at an end are children of the hub. When the
// experiment ends or is killed, the hub is killed by the kernel, with it its
// process namespace, so all processes at both ends, and with the last of them
// all namespaces and devices: nothing has to be cleaned up.
package link

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"sync"
	"time"

	"cryptocost/experiments/internal/host"
	"cryptocost/experiments/internal/trial"
)

// The addresses of the two ends.
const (
	ClientAddress = "10.0.0.1"
	ServerAddress = "10.0.0.2"
)

// MTU is that of both ends, as on Ethernet.
const MTU = 1500

// MaxDelay bounds the delay of each direction.
const MaxDelay = 500 * time.Millisecond

// A Wire is the delay of each direction, 0 to MaxDelay.
type Wire struct {
	Up   time.Duration `json:"up"`   // client to server
	Down time.Duration `json:"down"` // server to client
}

// Symmetric is the wire with half of a round trip in each direction.
func Symmetric(roundTrip time.Duration) Wire { return Wire{roundTrip / 2, roundTrip - roundTrip/2} }

// RoundTrip is the sum of both delays.
func (w Wire) RoundTrip() time.Duration { return w.Up + w.Down }

// String names the wire in cases: "0+50ms".
func (w Wire) String() string {
	millis := func(d time.Duration) string {
		return strconv.FormatFloat(float64(d)/float64(time.Millisecond), 'f', -1, 64)
	}
	return millis(w.Up) + "+" + millis(w.Down) + "ms"
}

// check says what makes w no wire.
func (w Wire) check() error {
	for _, d := range []time.Duration{w.Up, w.Down} {
		if d < 0 || d > MaxDelay {
			return fmt.Errorf("wire %v: a delay of %v is not between 0 and %v", w, d, MaxDelay)
		}
	}
	return nil
}

// Names of the roles that a link consists of, and of the hub in a group.
const (
	hubRole   = "link"
	probeRole = "link-probe"
)

// Roles adds the processes that a link consists of to the roles of an
// experiment.
func Roles(roles host.Roles) host.Roles {
	all := host.Roles{hubRole: hub, probeRole: probe}
	for name, role := range roles {
		all[name] = role
	}
	return all
}

// tried opens a link once in the life of a process and describes it.
var tried = sync.OnceValues(func() (description string, err error) {
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	g := &host.Group{}
	defer g.Close()
	l, err := Open(ctx, g)
	if err != nil {
		return "", err
	}
	p, err := l.probes(ctx, g)
	if err != nil {
		return "", err
	}
	seen, err := p.connect(ctx, 1)
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("veth and packet sockets, mtu=%d mss=%d congestion=%s/%s initial-window=%d slow-start-after-idle=%s",
		MTU, seen.MSS, seen.Congestion, seen.ServerCongestion, seen.Window, seen.SlowStartAfterIdle), nil
})

// A refusal is that the system does not let us make a link. Any other failure
// is a fault, and fails the cases that need the link.
type refusal struct {
	why, remedy string // the command that would allow it; "" if there is none
}

func (r *refusal) Error() string {
	text := "no link of network namespaces: " + r.why
	if r.remedy != "" {
		text += " (" + r.remedy + ")"
	}
	return text
}

// Missing says why the system allows no link here and what would allow it, or
// nothing if it does. It makes one to find out.
func Missing() string {
	_, err := tried()
	var refused *refusal
	if errors.As(err, &refused) {
		return refused.Error()
	}
	return "" // where a link can't be made for another reason, Open says so
}

// Describe is what both ends of the link have in common on all wires, as
// recorded with the samples; "none" where there is no link.
func Describe() string {
	description, err := tried()
	if err != nil {
		return "none"
	}
	return description
}

// Open gives the link of the group, made when it is asked for first, without
// delay.
func Open(ctx context.Context, g *host.Group) (*Link, error) {
	return host.Shared(g, "link", func() (*Link, error) { return open(ctx) })
}

// Client is one end, for [host.Spec]. A process there may start any outside
// program as its child, which then is at that end too.
func (l *Link) Client() host.Place { return end{l, clientEnd} }

// Server is the other end.
func (l *Link) Server() host.Place { return end{l, serverEnd} }

// The ends by number.
const (
	clientEnd = iota
	serverEnd
	ends
)

// Set waits until the wire is empty and sets its delays.
func (l *Link) Set(ctx context.Context, w Wire) error {
	if err := w.check(); err != nil {
		return err
	}
	return l.hub.Call(ctx, "set", w, nil)
}

// lateLimit is what a packet may be late before it counts as behind.
const lateLimit = 300 * time.Microsecond

// Traffic counts what the wire has carried since it was opened.
type Traffic struct {
	Packets int64         `json:"packets"`
	Late    time.Duration `json:"late"` // sum over packets of how late each was delivered
	// Behind counts the packets that were more than 0.3 ms late.
	Behind int64 `json:"behind"`
	// Dropped counts the packets that the hub was too slow to read.
	Dropped int64 `json:"dropped"`
	// Involuntary counts the context switches forced on the hub.
	Involuntary int64 `json:"involuntary"`
	// LastSYN is when the last connection's first packet left the client, on
	// the clock of Now; 0 before the first.
	LastSYN time.Duration `json:"last_syn"`
}

// Mark reads the counts.
func (l *Link) Mark(ctx context.Context) (Traffic, error) {
	var t Traffic
	err := l.hub.Call(ctx, "traffic", nil, &t)
	return t, err
}

// Lateness gives how late packets were delivered since it was called last, a
// uniform sample of at most 8192 of them.
func (l *Link) Lateness(ctx context.Context) ([]time.Duration, error) {
	var late []time.Duration
	err := l.hub.Call(ctx, "lateness", nil, &late)
	return late, err
}

// Since gives what samples record of the wire over a slice: the mean lateness
// of a packet, and the shares of packets that were more than 0.3 ms late and
// that were lost.
func (t Traffic) Since(earlier Traffic) []trial.Quantity {
	packets := float64(t.Packets - earlier.Packets)
	if packets == 0 {
		return nil
	}
	dropped := float64(t.Dropped - earlier.Dropped)
	return []trial.Quantity{
		{Unit: "wire-late-ns/packet", Sum: float64(t.Late - earlier.Late), Per: packets},
		{Unit: "wire-behind-ratio", Sum: float64(t.Behind - earlier.Behind), Per: packets},
		{Unit: "wire-lost-ratio", Sum: dropped, Per: packets + dropped},
	}
}

// connects is how many connects measure the wire, each begun 2 ms after the one
// before.
const connects = 60

// Check is the case that measures the wire itself before each round: the
// times of 60 connects. It fails the round when their median is off the set
// round trip by more than 2 % and 0.3 ms.
func Check(w Wire) trial.Case {
	return trial.Case{Name: "/check-wire=" + w.String(), Whole: true, First: true, Missing: Missing(), Start: w.Connecting(true)}
}

// Connecting starts a case that measures connects over the wire and, if
// strict, fails where it is off.
func (w Wire) Connecting(strict bool) func(context.Context, *host.Group) (trial.Measure, error) {
	return func(ctx context.Context, g *host.Group) (trial.Measure, error) {
		l, err := Open(ctx, g)
		if err != nil {
			return nil, err
		}
		p, err := l.probes(ctx, g)
		if err != nil {
			return nil, err
		}
		return func(ctx context.Context, _ time.Duration) (trial.Slice, error) {
			s, err := w.connecting(ctx, l, p)
			if err == nil && strict {
				err = w.off(s.Latencies)
			}
			return s, err
		}, nil
	}
}

// connecting is one slice of connects. They are closed when the wire's traffic
// has been read, since what all of them send at once then is late.
func (w Wire) connecting(ctx context.Context, l *Link, p probes) (trial.Slice, error) {
	if err := l.Set(ctx, w); err != nil {
		return trial.Slice{}, err
	}
	if _, err := l.Lateness(ctx); err != nil { // forgets what was before
		return trial.Slice{}, err
	}
	before, err := l.Mark(ctx)
	if err != nil {
		return trial.Slice{}, err
	}
	start := time.Now()
	seen, err := p.connect(ctx, connects)
	if err != nil {
		return trial.Slice{}, err
	}
	elapsed := time.Since(start)
	after, err := l.Mark(ctx)
	if err != nil {
		return trial.Slice{}, err
	}
	late, err := l.Lateness(ctx)
	if err != nil {
		return trial.Slice{}, err
	}
	return trial.Slice{Ops: connects, Elapsed: elapsed, Latencies: seen.Times, Quantities: after.Since(before),
		Involuntary: after.Involuntary - before.Involuntary + seen.Involuntary,
		Moments:     map[string][]time.Duration{"late": late}}, p.client.Call(ctx, "close", nil, nil)
}

// off says whether connects took too long or too short for the wire.
func (w Wire) off(times []time.Duration) error {
	median := median(times)
	allowed := w.RoundTrip()/50 + 300*time.Microsecond
	if distance := time.Duration(math.Abs(float64(median - w.RoundTrip()))); distance > allowed {
		return fmt.Errorf("the wire %v is off: connects take %v in the median, and no more than %v from the set %v is allowed", w, median, allowed, w.RoundTrip())
	}
	return nil
}

// median of times, which are not empty.
func median(times []time.Duration) time.Duration {
	sorted := slices.Sorted(slices.Values(times))
	return sorted[len(sorted)/2]
}
