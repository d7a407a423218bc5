package main

import (
	"context"
	"fmt"
	"time"

	"cryptocost/experiments/internal/host"
	"cryptocost/experiments/internal/link"
	"cryptocost/experiments/internal/trial"
)

// roundTrips are those of the symmetric wires.
var roundTrips = []time.Duration{
	0, 500 * time.Microsecond, time.Millisecond, 5 * time.Millisecond, 10 * time.Millisecond,
	25 * time.Millisecond, 50 * time.Millisecond, 100 * time.Millisecond, 200 * time.Millisecond,
}

// rates are the packets offered in a second, and loaded the wire that they
// cross.
var (
	rates  = []int{1000, 5000, 10000, 20000, 50000, 100000, 200000}
	loaded = link.Symmetric(5 * time.Millisecond)
)

// cases multiplies out the axes.
func cases() []trial.Case {
	var list []trial.Case
	add := func(name string, repeats bool, start func(context.Context, *host.Group) (trial.Measure, error)) {
		list = append(list, trial.Case{Name: name, Repeats: repeats, Missing: link.Missing(), Start: start})
	}
	for _, roundTrip := range roundTrips {
		w := link.Symmetric(roundTrip)
		add("/wire="+w.String(), false, w.Connecting(false))
	}
	asymmetric := link.Wire{Down: 50 * time.Millisecond}
	add("/wire="+asymmetric.String(), false, asymmetric.Connecting(false))
	baseline := link.Symmetric(50 * time.Millisecond)
	add("/wire="+baseline.String()+"/twin=b", true, baseline.Connecting(false))
	for _, rate := range rates {
		add(fmt.Sprintf("/rate=%dpps", rate), false, flow{perSecond: rate}.start)
	}
	return list
}

// An offer is packets to send.
type offer struct {
	PerSecond int           `json:"per_second"`
	For       time.Duration `json:"for"`
}

// An offered is what was sent.
type offered struct {
	Sent        int64         `json:"sent"`
	Elapsed     time.Duration `json:"elapsed"`
	Involuntary int64         `json:"involuntary"` // context switches forced on the sender
}

// A flow sends packets over the wire at a rate.
type flow struct {
	perSecond    int
	link         *link.Link
	source, sink *host.Process
}

func (f flow) start(ctx context.Context, g *host.Group) (trial.Measure, error) {
	var err error
	if f.link, err = link.Open(ctx, g); err != nil {
		return nil, err
	}
	var port int
	name := fmt.Sprintf(" of %d", f.perSecond)
	f.sink, err = g.Process(ctx, "sink"+name, host.Spec{Role: "sink", Place: f.link.Server()}, func(p *host.Process) error {
		return p.Call(ctx, "listen", nil, &port)
	})
	if err != nil {
		return nil, err
	}
	f.source, err = g.Process(ctx, "source"+name, host.Spec{Role: "source", Place: f.link.Client()}, func(p *host.Process) error {
		return p.Call(ctx, "aim", port, nil)
	})
	return f.measure, err
}

// mark reads what has crossed the wire and what has arrived.
func (f flow) mark(ctx context.Context) (t link.Traffic, arrived int64, err error) {
	if t, err = f.link.Mark(ctx); err != nil {
		return t, 0, err
	}
	err = f.sink.Call(ctx, "count", nil, &arrived)
	return t, arrived, err
}

func (f flow) measure(ctx context.Context, d time.Duration) (trial.Slice, error) {
	if err := f.link.Set(ctx, loaded); err != nil {
		return trial.Slice{}, err
	}
	if _, err := f.link.Lateness(ctx); err != nil { // forgets what was before
		return trial.Slice{}, err
	}
	before, already, err := f.mark(ctx)
	if err != nil {
		return trial.Slice{}, err
	}
	var sent offered
	if err := f.source.Call(ctx, "send", offer{f.perSecond, d}, &sent); err != nil {
		return trial.Slice{}, err
	}
	if err := f.link.Set(ctx, loaded); err != nil { // when all has crossed
		return trial.Slice{}, err
	}
	after, arrived, err := f.mark(ctx)
	if err != nil {
		return trial.Slice{}, err
	}
	// The sink may be behind what the wire has delivered.
	for earlier := int64(-1); arrived != earlier && arrived-already < sent.Sent; {
		time.Sleep(5 * time.Millisecond)
		earlier = arrived
		if err := f.sink.Call(ctx, "count", nil, &arrived); err != nil {
			return trial.Slice{}, err
		}
	}
	late, err := f.link.Lateness(ctx)
	return trial.Slice{
		Ops: int(sent.Sent), Elapsed: sent.Elapsed, Involuntary: sent.Involuntary + after.Involuntary - before.Involuntary, Moments: map[string][]time.Duration{"late": late},
		Quantities: append(after.Since(before),
			trial.Quantity{Unit: "offered-packets/s", Sum: float64(sent.Sent), Per: sent.Elapsed.Seconds()},
			trial.Quantity{Unit: "delivered-ratio", Sum: float64(arrived - already), Per: float64(sent.Sent)}),
	}, err
}
