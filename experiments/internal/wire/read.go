package wire

import (
	"bytes"
	"crypto/tls"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"

	"golang.org/x/crypto/cryptobyte"
)

// A reading goes over the records of one connection.
type reading struct {
	hello   helloOfServer
	secrets map[string][]byte // by label of the key log
	sides   [2]side           // server and client
}

// A side is what one end sends.
type side struct {
	name      string // in labels of the key log
	opener    *opener
	message   string // handshake message under way
	missing   int    // bytes of it to come
	header    []byte // of a message whose header is not whole
	early     bool   // keys are those of early data
	announced bool   // ChangeCipherSpec
}

// read names what is inside the records.
func read(cut []fragment, log []byte) ([]Record, error) {
	r := reading{secrets: secretsOf(log)}
	r.sides[0] = side{name: "SERVER"}
	r.sides[1] = side{name: "CLIENT"}
	for _, f := range cut {
		// The suite is needed for early data, which comes before it.
		if !f.fromClient && f.kind() == recordHandshake {
			hello, ok := parseServerHello(f.payload)
			if ok && !hello.retry {
				r.hello = hello
				break
			}
		}
	}
	var records []Record
	for i, f := range cut {
		record, err := r.record(f)
		if err != nil {
			return records, fmt.Errorf("record %d of type %d and %d bytes: %w", i+1, f.kind(), f.length(), err)
		}
		records = append(records, record)
	}
	return records, nil
}

// secretsOf reads a key log of one connection (draft-ietf-tls-keylogfile).
func secretsOf(log []byte) map[string][]byte {
	secrets := map[string][]byte{}
	for line := range strings.Lines(string(log)) {
		fields := strings.Fields(line)
		if len(fields) != 3 {
			continue
		}
		if secret, err := hex.DecodeString(fields[2]); err == nil {
			secrets[fields[0]] = secret
		}
	}
	return secrets
}

// Labels of the key log, after the name of the side.
const (
	earlySecret       = "_EARLY_TRAFFIC_SECRET"
	handshakeSecret   = "_HANDSHAKE_TRAFFIC_SECRET"
	applicationSecret = "_TRAFFIC_SECRET_0"
)

func (r *reading) record(f fragment) (Record, error) {
	s := &r.sides[0]
	if f.fromClient {
		s = &r.sides[1]
	}
	record := Record{FromClient: f.fromClient, Type: f.kind(), Version: f.version(), Length: f.length(), Time: f.at, Inner: f.kind(), Content: f.length()}
	tls13 := r.hello.version == tls.VersionTLS13
	switch {
	case f.kind() == recordChangeCipherSpec:
		// In TLS 1.3 only for middleboxes (RFC 8446, D.4).
		s.announced = true
		record.Messages = []Message{{Name: "changecipherspec", Bytes: f.length()}}
		return record, nil
	case tls13 && f.kind() == recordApplicationData:
		record.Encrypted = true
		return record, r.decrypted(&record, s, f)
	case !tls13 && s.announced:
		record.Encrypted, record.Content = true, -1
		record.Messages = []Message{{Name: behindChangeCipherSpec(f.kind()), Bytes: f.length()}}
		return record, nil
	default:
		messages, err := s.messages(f.kind(), f.payload)
		record.Messages = messages
		return record, err
	}
}

// behindChangeCipherSpec names a record of TLS 1.2 by its type: the only
// handshake message there is Finished (RFC 5246, 7.4.9), renegotiation aside.
func behindChangeCipherSpec(kind uint8) string {
	switch kind {
	case recordHandshake:
		return "finished"
	case recordAlert:
		return "alert"
	default:
		return "data"
	}
}

// decrypted reads a protected record of TLS 1.3 (RFC 8446, 5.2).
func (r *reading) decrypted(record *Record, s *side, f fragment) error {
	if f.payload == nil {
		if s.opener != nil {
			s.opener.skip()
		}
		record.Content = -1
		record.Messages = []Message{{Name: "data", Bytes: f.length()}}
		return nil
	}
	if s.opener == nil {
		s.early = s.name == "CLIENT" && r.secrets[s.name+earlySecret] != nil
		label := handshakeSecret
		if s.early {
			label = earlySecret
		}
		if err := r.rekey(s, label); err != nil {
			return err
		}
	}
	plain, err := s.opener.open(f.header[:], f.payload)
	if err != nil && s.early {
		// Early data was rejected, and the handshake goes on.
		s.early = false
		if err := r.rekey(s, handshakeSecret); err != nil {
			return err
		}
		plain, err = s.opener.open(f.header[:], f.payload)
	}
	if err != nil {
		return err
	}
	plain = bytes.TrimRight(plain, "\x00") // padding
	if len(plain) == 0 {
		return errors.New("a protected record has no content type")
	}
	record.Inner, record.Content = plain[len(plain)-1], len(plain)-1
	if record.Messages, err = s.messages(record.Inner, plain[:len(plain)-1]); err != nil {
		return err
	}
	for i := range record.Messages {
		if s.early && record.Messages[i].Name == "data" {
			record.Messages[i].Name = "earlydata"
		}
	}
	return r.after(s, record.Messages)
}

// after changes the keys of a side behind the messages that end their use.
func (r *reading) after(s *side, messages []Message) error {
	if len(messages) == 0 || s.missing > 0 {
		return nil
	}
	switch messages[len(messages)-1].Name {
	case messageNames[handshakeEndOfEarlyData]:
		s.early = false
		return r.rekey(s, handshakeSecret)
	case messageNames[handshakeFinished]:
		return r.rekey(s, applicationSecret)
	case messageNames[handshakeKeyUpdate]:
		return s.opener.update()
	}
	return nil
}

func (r *reading) rekey(s *side, label string) error {
	secret := r.secrets[s.name+label]
	if secret == nil {
		return fmt.Errorf("the key log has no %s", s.name+label)
	}
	var err error
	s.opener, err = newOpener(r.hello.suite, secret)
	return err
}

// messages cuts content into handshake messages; other content is one.
func (s *side) messages(kind uint8, content []byte) ([]Message, error) {
	switch kind {
	case recordHandshake:
	case recordAlert:
		return []Message{{Name: "alert", Bytes: len(content)}}, nil
	case recordApplicationData:
		return []Message{{Name: "data", Bytes: len(content)}}, nil
	default:
		return nil, fmt.Errorf("content of type %d", kind)
	}
	var list []Message
	if s.missing > 0 {
		n := min(s.missing, len(content))
		list = append(list, Message{Name: s.message, Bytes: n, Continued: true})
		s.missing -= n
		content = content[n:]
	}
	for len(content) > 0 {
		const header = 4 // type and length (RFC 8446, 4)
		s.header = append(s.header, content...)
		if len(s.header) < header {
			return list, errors.New("a handshake message's header is split over records")
		}
		content, s.header = s.header, nil
		name, ok := messageNames[content[0]]
		if !ok {
			return list, fmt.Errorf("handshake message of type %d", content[0])
		}
		size := header + int(content[1])<<16 + int(binary.BigEndian.Uint16(content[2:]))
		n := min(size, len(content))
		if content[0] == handshakeServerHello {
			if hello, ok := parseServerHello(content); ok && hello.retry {
				name = "helloretryrequest"
			}
		}
		list = append(list, Message{Name: name, Bytes: n})
		s.message, s.missing = name, size-n
		content = content[n:]
	}
	return list, nil
}

// helloOfServer is what a ServerHello decides.
type helloOfServer struct {
	version, suite uint16
	retry          bool // it is a HelloRetryRequest
}

// retryRandom is the random value of a HelloRetryRequest (RFC 8446, 4.1.3).
var retryRandom = []byte{
	0xcf, 0x21, 0xad, 0x74, 0xe5, 0x9a, 0x61, 0x11, 0xbe, 0x1d, 0x8c, 0x02, 0x1e, 0x65, 0xb8, 0x91,
	0xc2, 0xa2, 0x11, 0x16, 0x7a, 0xbb, 0x8c, 0x5e, 0x07, 0x9e, 0x09, 0xe2, 0xc8, 0xa8, 0x33, 0x9c,
}

const extensionSupportedVersions = 43

// parseServerHello reads a handshake message that is or begins with a whole
// ServerHello (RFC 8446, 4.1.3).
func parseServerHello(message []byte) (helloOfServer, bool) {
	var hello helloOfServer
	s := cryptobyte.String(message)
	var kind uint8
	var body, random, sessionID, extensions cryptobyte.String
	if !s.ReadUint8(&kind) || kind != handshakeServerHello || !s.ReadUint24LengthPrefixed(&body) ||
		!body.ReadUint16(&hello.version) || !body.ReadBytes((*[]byte)(&random), len(retryRandom)) ||
		!body.ReadUint8LengthPrefixed(&sessionID) || !body.ReadUint16(&hello.suite) || !body.Skip(1) {
		return hello, false
	}
	hello.retry = bytes.Equal(random, retryRandom)
	if body.Empty() {
		return hello, true // TLS 1.2 without extensions
	}
	if !body.ReadUint16LengthPrefixed(&extensions) {
		return hello, false
	}
	for !extensions.Empty() {
		var extension uint16
		var content cryptobyte.String
		if !extensions.ReadUint16(&extension) || !extensions.ReadUint16LengthPrefixed(&content) {
			return hello, false
		}
		if extension == extensionSupportedVersions && !content.ReadUint16(&hello.version) {
			return hello, false
		}
	}
	return hello, true
}
