package wire

import "slices"

// Flights is the number of flights: runs of records in one direction.
func Flights(records []Record) int {
	flights := 0
	for i, r := range records {
		if i == 0 || r.FromClient != records[i-1].FromClient {
			flights++
		}
	}
	return flights
}

// RoundTrips is how many flights of the server the client waited for before
// it sent its first application data, early data included: 1 in TLS 1.3 (RFC
// 8446, 2), 2 in a full handshake of TLS 1.2 (RFC 5246, 7.3), 0 with early
// data (RFC 8446, 2.3). Without application data of the client, it is how many
// flights the server sent.
func RoundTrips(records []Record) int {
	for i, r := range records {
		if r.FromClient && r.has(dataName, earlyDataName, RequestName) {
			return serverFlights(records[:i])
		}
	}
	return serverFlights(records)
}

// Waits is how many times a client waits for the server from connecting to
// the first byte of its answer: for TCP's SYN-ACK (RFC 9293, 3.5), and for each
// flight of the server until the first with application data.
func Waits(records []Record) int {
	for i, r := range records {
		if !r.FromClient && r.has(dataName, ResponseName) {
			return 1 + serverFlights(records[:i+1])
		}
	}
	return 1 + serverFlights(records)
}

func serverFlights(records []Record) int {
	flights := 0
	for i, r := range records {
		if !r.FromClient && (i == 0 || records[i-1].FromClient) {
			flights++
		}
	}
	return flights
}

// has says whether something in the record has one of the names.
func (r Record) has(names ...string) bool {
	return slices.ContainsFunc(r.Messages, func(m Message) bool { return slices.Contains(names, m.Name) })
}

// NameExchange calls the client's application data "request" and the
// server's "response", which holds for connections with one of each.
func NameExchange(records []Record) {
	for _, r := range records {
		for i, m := range r.Messages {
			if m.Name == dataName && r.FromClient {
				r.Messages[i].Name = RequestName
			} else if m.Name == dataName {
				r.Messages[i].Name = ResponseName
			}
		}
	}
}

// InOrderSent moves the server's ChangeCipherSpec of TLS 1.3 behind the
// server's first message, where it sends it (RFC 8446, D.4). Go sends a
// HelloRetryRequest and the ChangeCipherSpec behind it in two segments, and the
// client may answer the first before the second arrives; that would look like
// one more flight, and differently from one connection to the next.
func InOrderSent(list []Record) {
	first := slices.IndexFunc(list, func(r Record) bool { return !r.FromClient })
	at := slices.IndexFunc(list, func(r Record) bool { return !r.FromClient && r.Name() == "changecipherspec" })
	if first < 0 || at < 0 || list[first].Name() != "helloretryrequest" {
		return
	}
	moved := list[at]
	copy(list[first+2:at+1], list[first+1:at])
	list[first+1] = moved
}
