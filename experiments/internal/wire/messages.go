package wire

import (
	"bytes"
	"errors"
	"fmt"

	"golang.org/x/crypto/cryptobyte"
)

// messageHeaderBytes is the size of a handshake message's type and length (RFC
// 8446, 4).
const messageHeaderBytes = 4

// A messageCutter cuts the handshake of one direction into messages, which
// begin and end anywhere in records (RFC 8446, 5.1).
type messageCutter struct {
	retry  bool // its next ServerHello is a HelloRetryRequest
	name   string
	header []byte // of the message under way, as far as it has been seen; none is under way without
	left   int    // bytes of it behind the header
}

func (c *messageCutter) underWay() bool { return len(c.header) > 0 }

// cut takes the content of the next record.
func (c *messageCutter) cut(content []byte) ([]Message, error) {
	if len(content) == 0 {
		return nil, errors.New("an empty handshake record") // RFC 8446, 5.1
	}
	var messages []Message
	for len(content) > 0 {
		continued := c.underWay()
		if !continued {
			if err := c.begin(content[0]); err != nil {
				return messages, err
			}
		}
		n := 0
		if missing := messageHeaderBytes - len(c.header); missing > 0 {
			n = min(missing, len(content))
			if c.header = append(c.header, content[:n]...); n == missing {
				c.left = int(c.header[1])<<16 | int(c.header[2])<<8 | int(c.header[3])
			}
		}
		if len(c.header) == messageHeaderBytes {
			body := min(c.left, len(content)-n)
			n += body
			if c.left -= body; c.left == 0 {
				c.header = nil
			}
		}
		messages = append(messages, Message{Name: c.name, Bytes: n, Continued: continued})
		content = content[n:]
	}
	return messages, nil
}

// begin names the message that begins with that type.
func (c *messageCutter) begin(kind uint8) error {
	name, ok := messageNames[kind]
	if !ok {
		return fmt.Errorf("a handshake message of type %d", kind)
	}
	if kind == handshakeServerHello && c.retry {
		// It has the type of a ServerHello (RFC 8446, 4.1.4).
		name, c.retry = retryName, false
	}
	c.name = name
	return nil
}

// beginning is what a direction sends of its handshake without encryption.
func beginning(cut []fragment, fromClient bool) cryptobyte.String {
	var handshake []byte
	for _, f := range cut {
		if f.fromClient == fromClient && f.kind() == recordHandshake {
			handshake = append(handshake, f.payload...)
		}
	}
	return handshake
}

// nextMessage reads a whole handshake message (RFC 8446, 4).
func nextMessage(s *cryptobyte.String) (kind uint8, body cryptobyte.String, ok bool) {
	ok = s.ReadUint8(&kind) && s.ReadUint24LengthPrefixed(&body)
	return kind, body, ok
}

// randomBytes is the size of the random values of both hellos.
const randomBytes = 32

// clientRandom is the random value of the ClientHello, which names the
// connection in a key log; nil if there is none. After a HelloRetryRequest it is
// the same (RFC 8446, 4.1.2).
func clientRandom(cut []fragment) []byte {
	handshake := beginning(cut, true)
	kind, body, ok := nextMessage(&handshake)
	var random []byte
	if !ok || kind != handshakeClientHello || !body.Skip(2) || !body.ReadBytes(&random, randomBytes) {
		return nil
	}
	return random
}

// serverHellos is what the server decides: nothing of it without a ServerHello
// that can be read.
type serverHellos struct {
	retry          bool // there is a HelloRetryRequest first
	version, suite uint16
}

// findServerHellos reads the ServerHello, and a HelloRetryRequest before it.
func findServerHellos(cut []fragment) serverHellos {
	var found serverHellos
	handshake := beginning(cut, false)
	for {
		kind, body, ok := nextMessage(&handshake)
		if !ok || kind != handshakeServerHello {
			return found
		}
		hello, ok := parseServerHello(body)
		switch {
		case !ok, hello.retry && found.retry:
			return found
		case hello.retry:
			found.retry = true
		default:
			found.version, found.suite = hello.version, hello.suite
			return found
		}
	}
}

// retryRandom is the random value of a HelloRetryRequest (RFC 8446, 4.1.3).
var retryRandom = []byte{
	0xcf, 0x21, 0xad, 0x74, 0xe5, 0x9a, 0x61, 0x11, 0xbe, 0x1d, 0x8c, 0x02, 0x1e, 0x65, 0xb8, 0x91,
	0xc2, 0xa2, 0x11, 0x16, 0x7a, 0xbb, 0x8c, 0x5e, 0x07, 0x9e, 0x09, 0xe2, 0xc8, 0xa8, 0x33, 0x9c,
}

// extensionSupportedVersions is where TLS 1.3 has its version (RFC 8446,
// 4.2.1).
const extensionSupportedVersions = 43

// parseServerHello reads the body of a ServerHello (RFC 8446, 4.1.3).
func parseServerHello(body cryptobyte.String) (hello serverHellos, ok bool) {
	var random []byte
	var sessionID, extensions cryptobyte.String
	if !body.ReadUint16(&hello.version) || !body.ReadBytes(&random, randomBytes) ||
		!body.ReadUint8LengthPrefixed(&sessionID) || !body.ReadUint16(&hello.suite) || !body.Skip(1) {
		return hello, false
	}
	hello.retry = bytes.Equal(random, retryRandom)
	if body.Empty() {
		return hello, true // TLS 1.2 without extensions (RFC 5246, 7.4.1.3)
	}
	if !body.ReadUint16LengthPrefixed(&extensions) {
		return hello, false
	}
	for !extensions.Empty() {
		var extension uint16
		var content cryptobyte.String
		if !extensions.ReadUint16(&extension) || !extensions.ReadUint16LengthPrefixed(&content) ||
			extension == extensionSupportedVersions && !content.ReadUint16(&hello.version) {
			return hello, false
		}
	}
	return hello, true
}
