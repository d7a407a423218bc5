package wire

import (
	"strings"
	"testing"
)

// TestFlights counts in what crosses a connection, from the client (c) or the
// server (s).
func TestFlights(t *testing.T) {
	for _, test := range []struct {
		name                       string
		records                    string
		flights, roundTrips, waits int
	}{
		{"nothing", "", 0, 0, 1},
		{"only a ClientHello", "c:clienthello", 1, 0, 1},
		{"TLS 1.3", "c:clienthello s:serverhello s:finished c:finished c:data s:data", 4, 1, 3},
		{"a ticket behind the request", "c:clienthello s:serverhello c:finished c:data s:newsessionticket s:data", 4, 1, 3},
		{"TLS 1.2", "c:clienthello s:serverhello s:serverhellodone c:finished s:finished c:request s:response", 6, 2, 4},
		{"HelloRetryRequest", "c:clienthello s:helloretryrequest c:clienthello s:finished c:finished c:data s:data", 6, 2, 4},
		{"early data", "c:clienthello c:earlydata s:serverhello s:finished s:data c:endofearlydata c:finished", 3, 0, 2},
		{"several requests", "c:clienthello s:finished c:data s:data c:data s:data", 6, 1, 3},
		{"a rejected handshake", "c:clienthello s:alert", 2, 1, 2},
	} {
		var records []Record
		for _, field := range strings.Fields(test.records) {
			from, name, _ := strings.Cut(field, ":")
			records = append(records, Record{FromClient: from == "c", Messages: []Message{{Name: name}}})
		}
		flights, roundTrips, waits := Flights(records), RoundTrips(records), Waits(records)
		if flights != test.flights || roundTrips != test.roundTrips || waits != test.waits {
			t.Errorf("%s: %d flights, %d round trips, %d waits, want %d, %d and %d", test.name, flights, roundTrips, waits, test.flights, test.roundTrips, test.waits)
		}
	}
}

func TestNames(t *testing.T) {
	records := []Record{
		{FromClient: true, Messages: []Message{{Name: finishedName}}},
		{FromClient: true, Messages: []Message{{Name: earlyDataName}}},
		{FromClient: true, Messages: []Message{{Name: dataName}}},
		{Messages: []Message{{Name: "certificate", Continued: true}, {Name: finishedName}}},
		{Messages: []Message{{Name: dataName}}},
	}
	NameExchange(records)
	for i, want := range []string{"finished", "earlydata", "request", "certificate-continued+finished", "response"} {
		if got := records[i].Name(); got != want {
			t.Errorf("record %d is called %q, want %q", i+1, got, want)
		}
	}
}

// TestInOrderSent has the orders in which the ChangeCipherSpec behind a
// HelloRetryRequest was seen to arrive.
func TestInOrderSent(t *testing.T) {
	const want = "c clienthello, s helloretryrequest, s changecipherspec, c changecipherspec, c clienthello, s serverhello, s finished"
	for _, order := range []string{
		want,
		"c clienthello, s helloretryrequest, c changecipherspec, s changecipherspec, c clienthello, s serverhello, s finished",
		"c clienthello, s helloretryrequest, c changecipherspec, c clienthello, s changecipherspec, s serverhello, s finished",
		"c clienthello, s serverhello, s newsessionticket, s changecipherspec, s finished, c changecipherspec, c finished", // TLS 1.2
		"c clienthello, s alert",
		"c clienthello",
	} {
		var list []Record
		for r := range strings.SplitSeq(order, ", ") {
			list = append(list, Record{FromClient: r[0] == 'c', Messages: []Message{{Name: r[2:]}}})
		}
		InOrderSent(list)
		var got []string
		for _, r := range list {
			got = append(got, map[bool]string{true: "c ", false: "s "}[r.FromClient]+r.Name())
		}
		if text := strings.Join(got, ", "); strings.Contains(order, "retry") && text != want || !strings.Contains(order, "retry") && text != order {
			t.Errorf("%s\nbecomes\n%s", order, text)
		}
	}
}
