package wire

import (
	"bytes"
	"encoding/binary"
	"io"
	"net"
	"sync"
	"time"
)

// How much a Watcher keeps. A handshake fits with room to spare, chains of 32
// KB included; a bulk transfer stops growing at 64 KiB of application data for
// each direction and some 300 KB of headers.
const (
	// keptDataBytes is how many bytes of records of application data are kept
	// of each direction: in TLS 1.3 they carry most of the handshake. Of those
	// behind, only headers are.
	keptDataBytes = 64 << 10
	// keptBytes is the same for records of any type, so that garbage that
	// looks like a handshake ends, too.
	keptBytes = 2 * keptDataBytes
	// keptRecords is how many records of both directions are kept; those
	// behind are only counted.
	keptRecords = 4096
)

// A Watcher is a connection that cuts what crosses it into TLS records (RFC
// 8446, 5.1): received bytes before crypto/tls sees them, sent ones as they
// leave. It never changes a byte, whatever they are; what it can't read is an
// error of Records. It reads all that has arrived, where crypto/tls would leave
// what it does not need yet in the socket: the order of records is so that of
// their arrival. Its methods may be called at the same time.
type Watcher struct {
	net.Conn
	fromClient bool // what is written
	start      time.Time

	reading  sync.Mutex
	buffer   [ReadBytes]byte
	ahead    []byte // part of buffer that was not asked for yet
	aheadErr error  // of the read that filled it

	writing sync.Mutex // so that writes leave in the order they are noted

	mu            sync.Mutex // of what follows: a read and a write may be at once
	sent, arrived cutter
	cut           []fragment // of both directions, in the order of their ends
	more          bool       // there were more than keptRecords
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

// ReadBytes is how much a Watcher reads at once: two of the longest records.
const ReadBytes = 36 << 10

// Read reads from the connection.
func (w *Watcher) Read(p []byte) (int, error) {
	w.reading.Lock()
	defer w.reading.Unlock()
	if len(w.ahead) == 0 && w.aheadErr == nil && len(p) > 0 {
		var n int
		n, w.aheadErr = w.Conn.Read(w.buffer[:])
		w.ahead = w.buffer[:n]
		w.note(&w.arrived, !w.fromClient, w.ahead)
	}
	n := copy(p, w.ahead)
	w.ahead = w.ahead[n:]
	if len(w.ahead) > 0 {
		return n, nil
	}
	// The next read asks the connection again: a timeout does not last.
	err := w.aheadErr
	w.aheadErr = nil
	return n, err
}

// Write writes to the connection. What it sends is noted before it leaves, so
// that no answer to it can be noted first; where less than all is sent, which
// ends a connection, the rest is noted too.
func (w *Watcher) Write(p []byte) (int, error) {
	w.writing.Lock()
	defer w.writing.Unlock()
	w.note(&w.sent, w.fromClient, p)
	return w.Conn.Write(p)
}

// note cuts the next bytes of one direction.
func (w *Watcher) note(c *cutter, fromClient bool, p []byte) {
	w.mu.Lock()
	defer w.mu.Unlock()
	at := time.Since(w.start)
	c.cut(p, func(f fragment) {
		if len(w.cut) == keptRecords {
			w.more = true
			return
		}
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
	return w.sent.whole, w.arrived.whole
}

// A cutter cuts a stream of bytes into records. Any stream has some: the
// length alone says where the next one begins.
type cutter struct {
	current fragment
	header  int   // bytes of its header so far
	left    int   // bytes of its payload to come
	kept    int   // bytes of payloads kept so far
	whole   int64 // bytes of the whole records so far, headers included
}

// cut takes the next bytes and yields the records that they complete.
func (c *cutter) cut(p []byte, yield func(fragment)) {
	for len(p) > 0 {
		if c.header < RecordHeaderBytes {
			n := copy(c.current.header[c.header:], p)
			p = p[n:]
			if c.header += n; c.header < RecordHeaderBytes {
				return
			}
			c.left = c.current.length()
			limit := keptBytes
			if c.current.kind() == recordApplicationData {
				limit = keptDataBytes
			}
			if c.kept+c.left <= limit {
				c.current.payload = make([]byte, 0, c.left)
				c.kept += c.left
			}
		}
		n := min(c.left, len(p))
		if c.current.payload != nil {
			c.current.payload = append(c.current.payload, p[:n]...)
		}
		p = p[n:]
		if c.left -= n; c.left == 0 {
			c.whole += int64(RecordHeaderBytes + c.current.length())
			yield(c.current)
			c.current, c.header = fragment{}, 0
		}
	}
}
