// Package wire watches a connection's bytes below crypto/tls.
package wire

import (
	"encoding/binary"
	"net"
	"sync/atomic"
)

// A Counter is a connection that counts the bytes crossing it, TLS record
// headers included, TCP and IP headers not. It reads record by record, which
// crypto/tls by itself does not: what has been received when a handshake ends
// belongs to it, even where more is on the way behind it, such as the session
// tickets that Go's server sends in the flight of its Finished message
// (crypto/tls/handshake_server_tls13.go, sendServerFinished).
type Counter struct {
	net.Conn
	sent, received atomic.Int64

	header []byte // of the record under way, as far as it has been read
	left   int    // bytes of the record behind its header
}

// Count wraps conn.
func Count(conn net.Conn) *Counter { return &Counter{Conn: conn} }

// Read reads at most to the end of the header or record under way.
func (c *Counter) Read(p []byte) (int, error) {
	want := c.left
	if len(c.header) < RecordHeaderBytes {
		want = RecordHeaderBytes - len(c.header)
	}
	n, err := c.Conn.Read(p[:min(len(p), want)])
	c.received.Add(int64(n))
	if len(c.header) == RecordHeaderBytes {
		c.left -= n
	} else if c.header = append(c.header, p[:n]...); len(c.header) == RecordHeaderBytes {
		c.left = int(binary.BigEndian.Uint16(c.header[3:])) // RFC 8446, 5.1
	}
	if c.left == 0 && len(c.header) == RecordHeaderBytes {
		c.header = c.header[:0]
	}
	return n, err
}

// Write counts what it sends.
func (c *Counter) Write(p []byte) (int, error) {
	n, err := c.Conn.Write(p)
	c.sent.Add(int64(n))
	return n, err
}

// Bytes gives the counts so far.
func (c *Counter) Bytes() (sent, received int64) { return c.sent.Load(), c.received.Load() }
