package wire

import (
	"bytes"
	"crypto/tls"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"
)

// A reading goes over the records of one connection.
type reading struct {
	hellos         serverHellos
	secrets        map[string][]byte // by label of the key log
	server, client side
}

// A side is what one end sends.
type side struct {
	name      string // in labels of the key log
	messages  messageCutter
	opener    *opener
	secret    string // label of what opener began with
	announced bool   // its ChangeCipherSpec has been sent
	finished  bool   // and, in TLS 1.2, its Finished
}

// Labels of the key log behind the name of the side
// (https://www.ietf.org/archive/id/draft-ietf-tls-keylogfile-05.html, 2.1).
const (
	earlySecret       = "_EARLY_TRAFFIC_SECRET"
	handshakeSecret   = "_HANDSHAKE_TRAFFIC_SECRET"
	applicationSecret = "_TRAFFIC_SECRET_0"
)

// read names what is inside the records, as far as it can.
func read(cut []fragment, log []byte) ([]Record, error) {
	hellos := findServerHellos(cut)
	r := reading{
		// Early data is read with the cipher suite of the ServerHello that
		// comes behind it: the server that accepts them keeps the suite (RFC
		// 8446, 4.2.10).
		hellos:  hellos,
		secrets: secretsOf(log, clientRandom(cut)),
		server:  side{name: "SERVER", messages: messageCutter{retry: hellos.retry}},
		client:  side{name: "CLIENT"},
	}
	var records []Record
	for i, f := range cut {
		s := &r.server
		if f.fromClient {
			s = &r.client
		}
		record, err := r.record(s, f)
		if err != nil {
			sender := strings.ToLower(s.name)
			return records, fmt.Errorf("read record %d, of type %d with %d bytes from the %s: %w", i+1, f.kind(), f.length(), sender, err)
		}
		records = append(records, record)
	}
	return records, nil
}

// secretsOf gives the secrets of the connection with that random value of its
// ClientHello in a key log, which may have those of others. What is no such line
// is passed over, as in the draft.
func secretsOf(log, random []byte) map[string][]byte {
	secrets := map[string][]byte{}
	for line := range strings.Lines(string(log)) {
		fields := strings.Fields(line)
		if len(fields) != 3 || !strings.EqualFold(fields[1], hex.EncodeToString(random)) {
			continue
		}
		if secret, err := hex.DecodeString(fields[2]); err == nil {
			secrets[fields[0]] = secret
		}
	}
	return secrets
}

// Limits of the length of a record's content, and of what encryption may add
// (RFC 8446, 5.1 and 5.2; RFC 5246, 6.2.3).
const (
	maxContentBytes = 1 << 14
	maxAdded13Bytes = 256
	maxAdded12Bytes = 2048
)

// checkHeader says why the header can't be that of a record of TLS.
func (r *reading) checkHeader(f fragment, encrypted bool) error {
	limit := maxContentBytes
	if encrypted && r.hellos.version == tls.VersionTLS12 {
		limit += maxAdded12Bytes
	} else if encrypted {
		limit += maxAdded13Bytes
	}
	switch {
	case f.kind() < recordChangeCipherSpec || f.kind() > recordApplicationData:
		return errors.New("there is no such type")
	case f.header[1] != 3:
		return fmt.Errorf("version %#04x is none of TLS", f.version())
	case f.length() > limit:
		return fmt.Errorf("more than %d bytes", limit)
	case f.kind() == recordChangeCipherSpec && f.length() != 1:
		return errors.New("a ChangeCipherSpec has 1 byte")
	}
	return nil
}

// record reads the next record of a side.
func (r *reading) record(s *side, f fragment) (Record, error) {
	record := Record{
		FromClient: f.fromClient, Type: f.kind(), Version: f.version(), Length: f.length(), Time: f.at,
		Inner: f.kind(), Content: f.length(),
	}
	tls13 := r.hellos.version == tls.VersionTLS13
	record.Encrypted = f.kind() == recordApplicationData || !tls13 && s.announced && f.kind() != recordChangeCipherSpec
	if err := r.checkHeader(f, record.Encrypted); err != nil {
		return record, err
	}
	switch {
	case record.Encrypted && tls13:
		return record, r.protected13(&record, s, f)
	case record.Encrypted:
		return record, r.protected12(&record, s)
	case f.payload == nil:
		return record, fmt.Errorf("a handshake of more than %d bytes is not kept", keptBytes)
	}
	if f.kind() == recordChangeCipherSpec {
		// In TLS 1.3 it is there only for middleboxes (RFC 8446, D.4).
		s.announced = true
	}
	var err error
	record.Messages, err = s.content(f.kind(), f.payload)
	return record, err
}

// protected12 names a record of TLS 1.2 behind ChangeCipherSpec by its type.
func (r *reading) protected12(record *Record, s *side) error {
	name := dataName
	switch {
	case r.hellos.version != tls.VersionTLS12:
		return errors.New("it is encrypted, and there is no ServerHello of TLS 1.2 or 1.3")
	case !s.announced:
		return errors.New("application data before ChangeCipherSpec")
	case record.Type == recordHandshake && s.finished:
		return errors.New("an encrypted handshake message behind Finished: renegotiation")
	case record.Type == recordHandshake:
		// The first message with the new keys (RFC 5246, 7.4.9).
		name, s.finished = finishedName, true
	case record.Type == recordAlert:
		name = alertName
	}
	record.Content = -1
	record.Messages = []Message{{Name: name, Bytes: record.Length}}
	return nil
}

// protected13 reads a protected record of TLS 1.3 (RFC 8446, 5.2).
func (r *reading) protected13(record *Record, s *side, f fragment) error {
	if f.payload == nil {
		if s.secret != applicationSecret {
			return fmt.Errorf("a handshake of more than %d bytes is not kept", keptDataBytes)
		}
		s.opener.skip()
		record.Inner, record.Content = recordApplicationData, -1
		record.Messages = []Message{{Name: dataName, Bytes: f.length()}}
		return nil
	}
	plain, err := r.open(s, f)
	if err != nil {
		return err
	}
	plain = bytes.TrimRight(plain, "\x00") // padding (RFC 8446, 5.4)
	if len(plain) == 0 {
		return errors.New("it has no content type")
	}
	record.Inner, plain = plain[len(plain)-1], plain[:len(plain)-1]
	if record.Content = len(plain); record.Content > maxContentBytes {
		return fmt.Errorf("its content has more than %d bytes", maxContentBytes)
	}
	if record.Inner == recordChangeCipherSpec {
		return errors.New("an encrypted ChangeCipherSpec") // RFC 8446, 5
	}
	if record.Messages, err = s.content(record.Inner, plain); err != nil {
		return err
	}
	return r.after(s, record.Messages)
}

// open decrypts a record with the secrets of its side.
func (r *reading) open(s *side, f fragment) ([]byte, error) {
	if s.opener == nil {
		label := handshakeSecret
		if f.fromClient && r.secrets[s.name+earlySecret] != nil {
			label = earlySecret
		}
		if err := r.rekey(s, label); err != nil {
			return nil, err
		}
	}
	plain, err := s.opener.open(f.header[:], f.payload)
	if err != nil && s.secret == earlySecret {
		// The server has not accepted early data, and the client goes on
		// without EndOfEarlyData (RFC 8446, 4.2.10).
		if err := r.rekey(s, handshakeSecret); err != nil {
			return nil, err
		}
		plain, err = s.opener.open(f.header[:], f.payload)
	}
	return plain, err
}

// rekey goes on to a secret of the key log.
func (r *reading) rekey(s *side, label string) error {
	secret := r.secrets[s.name+label]
	if secret == nil {
		return fmt.Errorf("the key log has no %s of this connection", s.name+label)
	}
	var err error
	s.secret = label
	s.opener, err = newOpener(r.hellos.suite, secret)
	return err
}

// after changes the keys of a side behind the messages that end their use,
// which must end a record (RFC 8446, 5.1).
func (r *reading) after(s *side, messages []Message) error {
	for i, m := range messages {
		var change func() error
		switch {
		case m.Name == endOfEarlyDataName:
			change = func() error { return r.rekey(s, handshakeSecret) }
		case m.Name == finishedName && s.secret != applicationSecret:
			change = func() error { return r.rekey(s, applicationSecret) }
		case m.Name == keyUpdateName:
			change = s.opener.update
		default:
			continue
		}
		if i < len(messages)-1 {
			return fmt.Errorf("%s is not the last message in it", m.Name)
		}
		if !s.messages.underWay() {
			return change()
		}
	}
	return nil
}

// content names the content of a record.
func (s *side) content(kind uint8, content []byte) ([]Message, error) {
	if kind == recordHandshake {
		return s.messages.cut(content)
	}
	if s.messages.underWay() {
		return nil, fmt.Errorf("content of type %d inside a handshake message", kind) // RFC 8446, 5.1
	}
	message := Message{Bytes: len(content)}
	switch kind {
	case recordChangeCipherSpec:
		message.Name = changeCipherSpecName
	case recordAlert:
		if message.Name = alertName; len(content) != 2 {
			return nil, fmt.Errorf("an alert of %d bytes", len(content)) // RFC 8446, 5.1 and 6
		}
	case recordApplicationData:
		switch s.secret {
		case earlySecret:
			message.Name = earlyDataName
		case applicationSecret:
			message.Name = dataName
		default:
			return nil, errors.New("application data before Finished")
		}
	default:
		return nil, fmt.Errorf("content of type %d", kind)
	}
	return []Message{message}, nil
}
