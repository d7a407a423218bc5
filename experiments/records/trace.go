package main

import (
	"fmt"
	"slices"
	"time"

	"cryptocost/data"
	"cryptocost/experiments/internal/trial"
	"cryptocost/experiments/internal/wire"
)

// A record is one record of a connection.
type record struct {
	FromClient bool          `json:"from_client"`
	Type       uint8         `json:"type"`    // content type that a listener sees
	Version    uint16        `json:"version"` // of the record layer
	Bytes      int           `json:"bytes"`   // behind the header
	Since      time.Duration `json:"since"`   // connect returned, to its last byte
	Name       string        `json:"name"`    // of the messages in it, joined by "+"
}

// suffix is the part of a case that is the i-th record, from 0.
func (r record) suffix(i int) string {
	sender := "server"
	if r.FromClient {
		sender = "client"
	}
	return fmt.Sprintf("/record=%02d-%s-%s", i+1, sender, r.Name)
}

// A trace is what crossed a connection from its beginning to the response.
type trace struct {
	records                    []record
	flights, roundTrips, waits int
	sent, received             total
}

// A total sums the records of one direction.
type total struct{ records, bytes int64 }

// newTrace reads what a watcher saw. It is an error if that is not what the
// counter below it has counted.
func newTrace(watched *wire.Watcher, counted *counter) (trace, error) {
	list, err := watched.Records()
	if err != nil {
		return trace{}, fmt.Errorf("read the records: %w", err)
	}
	wire.NameExchange(list)
	wire.InOrderSent(list)
	t := trace{flights: wire.Flights(list), roundTrips: wire.RoundTrips(list), waits: wire.Waits(list)}
	for _, r := range list {
		t.records = append(t.records, record{r.FromClient, r.Type, r.Version, r.Length, r.Time, r.Name()})
		direction := &t.received
		if r.FromClient {
			direction = &t.sent
		}
		direction.records++
		direction.bytes += int64(wire.RecordHeaderBytes + r.Length)
	}
	if t.sent.bytes != counted.sent || t.received.bytes != counted.received {
		return t, fmt.Errorf("the records have %d bytes sent and %d received, the connection %d and %d",
			t.sent.bytes, t.received.bytes, counted.sent, counted.received)
	}
	return t, nil
}

// totals are the exact observations of the connection.
func (t trace) totals() []data.Value {
	return []data.Value{
		{Value: float64(t.sent.bytes), Unit: "sent-B/op"},
		{Value: float64(t.received.bytes), Unit: "received-B/op"},
		{Value: float64(t.sent.records), Unit: "sent-records/op"},
		{Value: float64(t.received.records), Unit: "received-records/op"},
		{Value: float64(t.sent.records + t.received.records), Unit: "records/op"},
		{Value: float64(t.flights), Unit: "flights/op"},
		{Value: float64(t.roundTrips), Unit: "round-trips/op"},
		{Value: float64(t.waits), Unit: "waits/op"},
	}
}

// addTo adds each record to the part that it is of its connection; no parts
// are those of no connection. It is an error if the records are others.
func (t trace) addTo(parts []trial.Part) ([]trial.Part, error) {
	if parts == nil {
		for i, r := range t.records {
			parts = append(parts, trial.Part{Suffix: r.suffix(i), Slice: trial.Slice{Moments: map[string][]time.Duration{}}})
		}
	}
	if len(parts) != len(t.records) {
		return parts, fmt.Errorf("a connection has %d records, the first one had %d", len(t.records), len(parts))
	}
	for i, r := range t.records {
		if suffix := r.suffix(i); suffix != parts[i].Suffix {
			return parts, fmt.Errorf("a connection has %s where the first one had %s", suffix, parts[i].Suffix)
		}
		s := &parts[i].Slice
		s.Ops++
		s.Moments[sinceConnect] = append(s.Moments[sinceConnect], r.Since)
		s.Tallies = tally(s.Tallies,
			data.Value{Value: float64(r.Bytes), Unit: "record-B/op"},
			data.Value{Value: float64(r.Type), Unit: "record-type/op"},
			data.Value{Value: float64(r.Version), Unit: "record-version/op"},
		)
	}
	return parts, nil
}

// sinceConnect is the moment of a record.
const sinceConnect = "since-connect"

// tally counts one more operation that gave these values.
func tally(list []trial.Tally, values ...data.Value) []trial.Tally {
	for i, t := range list {
		if slices.Equal(t.Values, values) {
			list[i].Ops++
			return list
		}
	}
	return append(list, trial.Tally{Ops: 1, Values: values})
}
