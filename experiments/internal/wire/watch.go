package wire

import (
	"bytes"
	"encoding/binary"
	"io"
	"net"
	"sync"
	"time"
)

// keptBytes is how much of each direction a Watcher keeps to be read later;
// of records of application data behind that only the headers.
const keptBytes = 64 << 10

// A Watcher is a connection that cuts what crosses it into TLS records (RFC
// 8446, 5.1): received bytes before crypto/tls sees them, sent ones as they
// leave. It never changes a byte, whatever they are. It reads all that has
// arrived, where crypto/tls would leave what it does not need yet in the socket:
// the order of records is so that of their arrival.
type Watcher struct {
	net.Conn
	fromClient bool // what is written
	start      time.Time

	reading sync.Mutex
	ahead   []byte // what was read and not asked for yet
	buffer  [readBytes]byte

	mu            sync.Mutex // of what follows: a read and a write may be at once
	sent, arrived cutter
	cut           []fragment // of both directions, in the order of their ends
	keys          bytes.Buffer
}

// A fragment is a record as it is on the wire.
type fragment struct {
	fromClient bool
	header     [RecordHeaderBytes]byte
	payload    []byte        // nil where it is not kept
	at         time.Duration // of its last byte
}

func (f fragment) kind() uint8     { return f.header[0] }
func (f fragment) version() uint16 { return binary.BigEndian.Uint16(f.header[1:]) }
func (f fragment) length() int     { return int(binary.BigEndian.Uint16(f.header[3:])) }

// Watch wraps an end of a connection that has just been made: times count
// from here. fromClient says that it is the client's end.
func Watch(conn net.Conn, fromClient bool) *Watcher {
	return &Watcher{Conn: conn, fromClient: fromClient, start: time.Now()}
}

// readBytes is how much is read at once: two of the longest records.
const readBytes = 36 << 10

// Read reads from the connection.
func (w *Watcher) Read(p []byte) (int, error) {
	w.reading.Lock()
	defer w.reading.Unlock()
	if len(w.ahead) == 0 {
		n, err := w.Conn.Read(w.buffer[:])
		w.mu.Lock()
		w.note(&w.arrived, !w.fromClient, w.buffer[:n])
		w.mu.Unlock()
		if w.ahead = w.buffer[:n]; err != nil {
			return w.handOut(p), err
		}
	}
	return w.handOut(p), nil
}

func (w *Watcher) handOut(p []byte) int {
	n := copy(p, w.ahead)
	w.ahead = w.ahead[n:]
	return n
}

// Write writes to the connection. What it sends is noted before it leaves, so
// that no answer to it can be noted first; where less than all is sent, which
// ends a connection, the rest is noted too.
func (w *Watcher) Write(p []byte) (int, error) {
	w.mu.Lock()
	w.note(&w.sent, w.fromClient, p)
	w.mu.Unlock()
	return w.Conn.Write(p)
}

func (w *Watcher) note(c *cutter, fromClient bool, p []byte) {
	at := time.Since(w.start)
	c.cut(p, func(f fragment) {
		f.fromClient, f.at = fromClient, at
		w.cut = append(w.cut, f)
	})
}

// KeyLog takes the secrets of the connection, as [tls.Config.KeyLogWriter].
func (w *Watcher) KeyLog() io.Writer { return keyLog{w} }

type keyLog struct{ *Watcher }

func (k keyLog) Write(p []byte) (int, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.keys.Write(p)
}

// Bytes gives the bytes of all whole records so far, headers included.
func (w *Watcher) Bytes() (sent, received int64) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, f := range w.cut {
		if n := int64(RecordHeaderBytes + f.length()); f.fromClient == w.fromClient {
			sent += n
		} else {
			received += n
		}
	}
	return sent, received
}

// A cutter cuts a stream of bytes into records.
type cutter struct {
	current fragment
	header  int // bytes of its header so far
	left    int // bytes of its payload to come
	keep    bool
	kept    int // bytes of payloads kept so far
}

// cut takes the next bytes and yields the records that they complete.
func (c *cutter) cut(p []byte, yield func(fragment)) {
	for len(p) > 0 {
		if c.header < RecordHeaderBytes {
			n := copy(c.current.header[c.header:], p)
			c.header += n
			p = p[n:]
			if c.header < RecordHeaderBytes {
				return
			}
			c.left = c.current.length()
			if c.keep = c.current.kind() != recordApplicationData || c.kept+c.left <= keptBytes; c.kept+c.left > 2*keptBytes {
				c.keep = false // no TLS handshake, or none of a server one should talk to
			}
			if c.keep {
				c.current.payload = make([]byte, 0, c.left)
			}
		}
		n := min(c.left, len(p))
		if c.keep {
			c.current.payload = append(c.current.payload, p[:n]...)
			c.kept += n
		}
		c.left -= n
		p = p[n:]
		if c.left == 0 {
			yield(c.current)
			c.current, c.header = fragment{}, 0
		}
	}
}
