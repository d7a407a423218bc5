// Package wire watches a connection's bytes below crypto/tls.
package wire

import (
	"net"
	"sync/atomic"
)

// A Counter is a connection that counts the bytes crossing it, TLS record
// headers included, TCP and IP headers not.
type Counter struct {
	net.Conn
	sent, received atomic.Int64
}

// Count wraps conn.
func Count(conn net.Conn) *Counter { return &Counter{Conn: conn} }

// Read counts what it receives.
func (c *Counter) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	c.received.Add(int64(n))
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
