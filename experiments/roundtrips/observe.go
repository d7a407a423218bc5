package main

import (
	"errors"
	"fmt"
	"io"
	"net"

	"cryptocost/data"
	"cryptocost/experiments/internal/wire"
)

// An observer sees a connection below TLS.
type observer interface {
	// watch wraps the socket.
	watch(*net.TCPConn) net.Conn
	// keys takes its secrets; nil where nobody needs them.
	keys() io.Writer
}

// observe makes one connection and counts its waits: from the order of its
// records, or, where there are none, of its reads and writes. What QUIC sends
// is not looked into.
func (c *client) observe() ([]data.Value, error) {
	switch c.Protocol {
	case "quic":
		_, err := c.connect(nil)
		return nil, err
	case "tcp":
		var t turns
		_, err := c.connect(&t)
		return []data.Value{{Value: float64(1 + t.answers), Unit: "waits/op"}, {Value: 0, Unit: "round-trips/op"}}, err
	}
	r := recorder{wired: c.wired}
	if _, err := c.connect(&r); err != nil {
		return nil, err
	}
	records, err := r.watcher.Records()
	if err != nil {
		return nil, fmt.Errorf("read the records: %w", err)
	}
	wire.InOrderSent(records)
	flight, certificate, err := sizes(records)
	if err != nil {
		return nil, err
	}
	values := []data.Value{
		{Value: float64(wire.Waits(records)), Unit: "waits/op"},
		{Value: float64(wire.RoundTrips(records)), Unit: "round-trips/op"},
		{Value: float64(flight), Unit: "server-flight-B/op"},
	}
	if certificate > 0 {
		values = append(values, data.Value{Value: float64(certificate), Unit: "certificate-B/op"})
	}
	if r.segments > 0 {
		values = append(values, data.Value{Value: float64(r.segments), Unit: "clienthello-segments/op"})
	}
	return values, nil
}

// sizes gives the bytes of the server's flight with its Certificate message,
// record headers included, and those of the message, its own header included.
// A resumed session has no such message; the flight is then that of the
// ServerHello. It is what the client waits for at once, and what TCP's initial
// window may be too small for. Where it has the server's Finished, it ends
// there: tickets may follow in the same flight (Go sends them so in TLS 1.3; RFC
// 8446, 4.6.1), but nobody waits for them, and whether the client reads them
// before it answers is chance.
func sizes(records []wire.Record) (flight, certificate int, err error) {
	var greeting serverFlight
	for i := 0; i < len(records); i++ {
		var f serverFlight
		for ; i < len(records) && !records[i].FromClient; i++ {
			f.add(records[i])
		}
		if f.certificate > 0 {
			return f.bytes, f.certificate, nil
		}
		if f.hello {
			greeting = f
		}
	}
	if !greeting.hello {
		return 0, 0, errors.New("the server's ServerHello is not among the records")
	}
	return greeting.bytes, 0, nil
}

// A serverFlight is a run of records of the server.
type serverFlight struct {
	bytes, certificate int
	hello, finished    bool // it has the ServerHello, the Finished message
}

// add adds a record to the flight, unless that has ended.
func (f *serverFlight) add(r wire.Record) {
	if f.finished {
		return
	}
	f.bytes += wire.RecordHeaderBytes + r.Length
	for _, m := range r.Messages {
		switch m.Name {
		case "certificate":
			f.certificate += m.Bytes
		case "serverhello":
			f.hello = true
		case "finished":
			f.finished = true
		}
	}
}

// turns is an observer that counts how many times the other end answered.
type turns struct {
	net.Conn
	answers int
	waiting bool
}

func (t *turns) watch(conn *net.TCPConn) net.Conn { t.Conn = conn; return t }
func (*turns) keys() io.Writer                    { return nil }

func (t *turns) Write(p []byte) (int, error) {
	t.waiting = true
	return t.Conn.Write(p)
}

func (t *turns) Read(p []byte) (int, error) {
	n, err := t.Conn.Read(p)
	if n > 0 && t.waiting {
		t.answers++
		t.waiting = false
	}
	return n, err
}

// recorder is an observer that cuts records and counts, on a wire, the TCP
// segments of the first flight: those on the loopback are as large as its MTU.
type recorder struct {
	wired    bool
	watcher  *wire.Watcher
	segments int // 0: not known
}

func (r *recorder) watch(conn *net.TCPConn) net.Conn {
	var below net.Conn = conn
	if r.wired {
		below = &firstWrite{TCPConn: conn, segments: &r.segments}
	}
	r.watcher = wire.Watch(below, true)
	return r.watcher
}

func (r *recorder) keys() io.Writer { return r.watcher.KeyLog() }

// firstWrite counts the segments that the first write was sent in.
type firstWrite struct {
	*net.TCPConn
	segments *int
	written  bool
}

func (f *firstWrite) Write(p []byte) (int, error) {
	n, err := f.TCPConn.Write(p)
	if err == nil && !f.written {
		f.written = true
		*f.segments, err = segmentsSent(f.TCPConn)
	}
	return n, err
}
