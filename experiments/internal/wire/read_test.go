package wire

import (
	"bytes"
	"crypto/tls"
	"encoding/binary"
	"fmt"
	"slices"
	"strings"
	"testing"
)

// A script makes the records of a connection by hand.
type script struct {
	t              testing.TB
	cut            []fragment
	log            []byte
	server, client *opener
}

// testRandom is in every ClientHello of a script.
var testRandom = bytes.Repeat([]byte{7}, randomBytes)

// newScript has a key log with a secret of each label.
func newScript(t testing.TB, code uint16) *script {
	s := &script{t: t}
	for i, label := range []string{
		"CLIENT" + earlySecret, "CLIENT" + handshakeSecret, "CLIENT" + applicationSecret,
		"SERVER" + handshakeSecret, "SERVER" + applicationSecret,
	} {
		s.log = fmt.Appendf(s.log, "%s %x %x\n", label, testRandom, s.secret(code, byte(i)))
	}
	return s
}

func (s *script) secret(code uint16, i byte) []byte {
	return bytes.Repeat([]byte{1 + i}, suites[code].hash().Size())
}

// keys has a side go on to the secret with that number in newScript.
func (s *script) keys(code uint16, i byte) *opener {
	s.t.Helper()
	o, err := newOpener(code, s.secret(code, i))
	if err != nil {
		s.t.Fatal(err)
	}
	return o
}

// record adds a record.
func (s *script) record(fromClient bool, kind uint8, payload []byte) {
	f := fragment{fromClient: fromClient, payload: slices.Concat([]byte{}, payload)}
	f.header = [RecordHeaderBytes]byte{kind, 3, 3}
	binary.BigEndian.PutUint16(f.header[3:], uint16(len(payload)))
	s.cut = append(s.cut, f)
}

// seal adds a protected record with some padding (RFC 8446, 5.2).
func (s *script) seal(fromClient bool, kind uint8, content []byte) {
	o := s.server
	if fromClient {
		o = s.client
	}
	inner := append(append(slices.Clone(content), kind), 0, 0, 0)
	header := []byte{recordApplicationData, 3, 3, 0, 0}
	binary.BigEndian.PutUint16(header[3:], uint16(len(inner)+o.aead.Overhead()))
	nonce := slices.Clone(o.iv)
	for i := range 8 {
		nonce[len(nonce)-8+i] ^= byte(o.sequence >> (56 - 8*i))
	}
	o.sequence++
	s.record(fromClient, recordApplicationData, o.aead.Seal(nil, nonce, inner, header))
}

// message makes a handshake message.
func message(kind uint8, body []byte) []byte {
	n := len(body)
	return append([]byte{kind, byte(n >> 16), byte(n >> 8), byte(n)}, body...)
}

func clientHello() []byte {
	return message(handshakeClientHello, append([]byte{3, 3}, testRandom...))
}

// serverHello makes a ServerHello, of TLS 1.2 if code is none of TLS 1.3.
func serverHello(code uint16, random []byte) []byte {
	body := append(append([]byte{3, 3}, random...), 0, byte(code>>8), byte(code), 0)
	if _, ok := suites[code]; ok {
		body = append(body, 0, 6, 0, extensionSupportedVersions, 0, 2, 3, 4)
	}
	return message(handshakeServerHello, body)
}

// begun is a script with both hellos of TLS 1.3 and the keys behind them.
func begun(t testing.TB, code uint16) *script {
	s := newScript(t, code)
	s.record(true, recordHandshake, clientHello())
	s.record(false, recordHandshake, serverHello(code, testRandom))
	s.server, s.client = s.keys(code, 3), s.keys(code, 1)
	return s
}

// ended is a script with a whole handshake.
func ended(t testing.TB, code uint16) *script {
	s := begun(t, code)
	s.seal(false, recordHandshake, slices.Concat(message(8, nil), message(11, make([]byte, 500)), message(15, make([]byte, 70)), message(20, make([]byte, 32))))
	s.server = s.keys(code, 4)
	s.record(true, recordChangeCipherSpec, []byte{1})
	s.record(true, recordAlert, []byte{1, 90})
	// The log has a secret for early data, but the client has not used it.
	s.seal(true, recordHandshake, message(20, make([]byte, 32)))
	s.client = s.keys(code, 2)
	return s
}

const (
	aes128 = tls.TLS_AES_128_GCM_SHA256
	old    = tls.TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256
)

// old12 is a handshake of TLS 1.2 until Finished.
func old12(t testing.TB) *script {
	s := newScript(t, aes128)
	s.record(true, recordHandshake, clientHello())
	s.record(false, recordHandshake, slices.Concat(serverHello(old, testRandom), message(11, make([]byte, 99)), message(14, nil)))
	s.record(true, recordHandshake, message(16, make([]byte, 33)))
	s.record(true, recordChangeCipherSpec, []byte{1})
	s.record(true, recordHandshake, make([]byte, 40))
	return s
}

const endedNames = "clienthello serverhello encryptedextensions+certificate+certificateverify+finished changecipherspec alert finished "

// scripts have what real connections show too seldom, and their names.
var scripts = []struct {
	name string
	make func(t testing.TB) *script
	want string
}{
	{"new keys with AES-128", func(t testing.TB) *script { return updated(t, aes128) }, endedNames + "data keyupdate data keyupdate alert"},
	{"new keys with AES-256", func(t testing.TB) *script { return updated(t, tls.TLS_AES_256_GCM_SHA384) }, endedNames + "data keyupdate data keyupdate alert"},
	{"new keys with ChaCha20", func(t testing.TB) *script { return updated(t, tls.TLS_CHACHA20_POLY1305_SHA256) }, endedNames + "data keyupdate data keyupdate alert"},
	{"messages in pieces", func(t testing.TB) *script {
		s := begun(t, aes128)
		messages := slices.Concat(message(13, nil), message(11, make([]byte, 100)), message(20, make([]byte, 32)))
		// In the header of the second, in its body, behind it in the next header.
		for i, end := range []int{6, 7, 50, 110, len(messages)} {
			s.seal(false, recordHandshake, messages[[]int{0, 6, 7, 50, 110}[i]:end])
		}
		s.server = s.keys(aes128, 4)
		s.seal(false, recordHandshake, message(4, make([]byte, 9)))
		return s
	}, "clienthello serverhello certificaterequest+certificate certificate-continued certificate-continued certificate-continued+finished finished-continued newsessionticket"},
	{"hellos in pieces", func(t testing.TB) *script {
		s := newScript(t, aes128)
		for i, b := range slices.Concat(clientHello(), serverHello(aes128, retryRandom), clientHello(), serverHello(aes128, testRandom)) {
			lengths := []int{len(clientHello()), len(serverHello(aes128, retryRandom))}
			s.record(i%(lengths[0]+lengths[1]) < lengths[0], recordHandshake, []byte{b})
		}
		return s
	}, strings.Join([]string{
		"clienthello", strings.Repeat("clienthello-continued ", len(clientHello())-2) + "clienthello-continued",
		"helloretryrequest", strings.Repeat("helloretryrequest-continued ", len(serverHello(aes128, retryRandom))-2) + "helloretryrequest-continued",
		"clienthello", strings.Repeat("clienthello-continued ", len(clientHello())-2) + "clienthello-continued",
		"serverhello", strings.Repeat("serverhello-continued ", len(serverHello(aes128, testRandom))-2) + "serverhello-continued",
	}, " ")},
	{"early data", func(t testing.TB) *script {
		s := newScript(t, aes128)
		s.client = s.keys(aes128, 0)
		s.record(true, recordHandshake, clientHello())
		s.seal(true, recordApplicationData, []byte("request"))
		s.record(false, recordHandshake, serverHello(aes128, testRandom))
		s.server = s.keys(aes128, 3)
		s.seal(false, recordHandshake, slices.Concat(message(8, nil), message(20, make([]byte, 32))))
		s.seal(true, recordHandshake, message(5, nil))
		s.client = s.keys(aes128, 1)
		s.seal(true, recordHandshake, message(20, make([]byte, 32)))
		s.client = s.keys(aes128, 2)
		s.seal(true, recordApplicationData, nil)
		return s
	}, "clienthello earlydata serverhello encryptedextensions+finished endofearlydata finished data"},
	{"a long record of TLS 1.2", func(t testing.TB) *script {
		s := old12(t)
		s.record(true, recordApplicationData, make([]byte, 1<<14+2048))
		s.record(true, recordAlert, make([]byte, 26))
		return s
	}, "clienthello serverhello+certificate+serverhellodone clientkeyexchange changecipherspec finished data alert"},
	{"a record that is not kept", func(t testing.TB) *script {
		s := ended(t, aes128)
		s.seal(true, recordApplicationData, []byte("not kept"))
		s.cut[len(s.cut)-1].payload = nil
		s.seal(true, recordHandshake, message(handshakeKeyUpdate, []byte{0}))
		return s
	}, endedNames + "data keyupdate"},
}

func updated(t testing.TB, code uint16) *script {
	s := ended(t, code)
	s.seal(true, recordApplicationData, []byte("request"))
	s.seal(true, recordHandshake, message(handshakeKeyUpdate, []byte{1}))
	if err := s.client.update(); err != nil {
		t.Fatal(err)
	}
	s.seal(true, recordApplicationData, bytes.Repeat([]byte{0}, 9)) // no padding
	s.seal(false, recordHandshake, message(handshakeKeyUpdate, []byte{0}))
	if err := s.server.update(); err != nil {
		t.Fatal(err)
	}
	s.seal(false, recordAlert, []byte{1, 0})
	return s
}

func TestRead(t *testing.T) {
	for _, test := range scripts {
		s := test.make(t)
		records, err := read(s.cut, s.log)
		if err != nil {
			t.Errorf("%s: %v", test.name, err)
		}
		var names []string
		for _, r := range records {
			names = append(names, r.Name())
		}
		if got := strings.Join(names, " "); got != test.want {
			t.Errorf("%s:\n%s\nwant\n%s", test.name, got, test.want)
		}
	}
}

// TestReadErrors changes connections so that their last record can't be read.
func TestReadErrors(t *testing.T) {
	handshake13, handshake12 := func(t testing.TB) *script { return ended(t, aes128) }, old12
	unfinished := func(t testing.TB) *script { return begun(t, aes128) }
	type edit = func(*script)
	record := func(kind uint8, payload int) edit {
		return func(s *script) { s.record(true, kind, make([]byte, payload)) }
	}
	seal := func(kind uint8, content []byte) edit { return func(s *script) { s.seal(true, kind, content) } }
	for _, test := range []struct {
		name string
		make func(t testing.TB) *script
		edit edit
		want string
	}{
		{"type", handshake13, record(24, 9), "no such type"},
		{"version", handshake13, func(s *script) { s.record(true, 23, nil); s.cut[len(s.cut)-1].header[1] = 0x50 }, "0x5003 is none"},
		{"length of TLS 1.3", handshake13, record(recordApplicationData, 1<<14+257), "more than 16640"},
		{"length of TLS 1.2", handshake12, record(recordApplicationData, 1<<14+2049), "more than 18432"},
		{"length without encryption", handshake13, record(recordHandshake, 1<<14+1), "more than 16384"},
		{"length inside", handshake13, seal(recordApplicationData, make([]byte, 1<<14+1)), "more than 16384"},
		{"ChangeCipherSpec", handshake13, record(recordChangeCipherSpec, 2), "has 1 byte"},
		{"encrypted ChangeCipherSpec", handshake13, seal(recordChangeCipherSpec, []byte{1}), "encrypted ChangeCipherSpec"},
		{"alert", handshake13, record(recordAlert, 3), "alert of 3"},
		{"empty handshake", handshake13, seal(recordHandshake, nil), "empty"},
		{"message", handshake13, seal(recordHandshake, message(99, nil)), "message of type 99"},
		{"type inside", handshake13, seal(42, nil), "content of type 42"},
		{"only padding", handshake13, seal(0, nil), "no content type"},
		{"inside a message", handshake13, func(s *script) {
			s.seal(true, recordHandshake, message(11, make([]byte, 9))[:8])
			s.seal(true, recordApplicationData, nil)
		}, "inside a handshake message"},
		{"data before Finished", unfinished, seal(recordApplicationData, nil), "before Finished"},
		{"not last", unfinished, seal(recordHandshake, append(message(20, nil), message(4, nil)...)), "not the last"},
		{"damaged", handshake13, func(s *script) { s.seal(true, 23, nil); s.cut[len(s.cut)-1].payload[0] ^= 1 }, "do not open it"},
		{"short", handshake13, record(recordApplicationData, 3), "do not open it"},
		{"handshake not kept", unfinished, func(s *script) { s.seal(true, 22, message(20, nil)); s.cut[len(s.cut)-1].payload = nil }, "not kept"},
		{"hello not kept", unfinished, func(s *script) { s.record(true, 22, message(20, nil)); s.cut[len(s.cut)-1].payload = nil }, "not kept"},
		{"no key log", unfinished, func(s *script) { s.seal(true, 22, message(20, nil)); s.log = nil }, "no CLIENT_HANDSHAKE"},
		{"another's key log", unfinished, func(s *script) {
			s.seal(true, 22, message(20, nil))
			s.log = bytes.ReplaceAll(s.log, []byte(" 07"), []byte(" 08"))
		}, "no CLIENT_HANDSHAKE"},
		{"damaged key log", unfinished, func(s *script) { s.seal(true, 22, message(20, nil)); s.log = []byte("# no\nx 07 zz\n") }, "no CLIENT_HANDSHAKE"},
		{"no ServerHello", func(t testing.TB) *script { return newScript(t, aes128) }, record(recordApplicationData, 99), "no ServerHello"},
		{"renegotiation", handshake12, record(recordHandshake, 40), "renegotiation"},
		{"data before ChangeCipherSpec", handshake12, func(s *script) { s.record(false, recordApplicationData, make([]byte, 40)) }, "before ChangeCipherSpec"},
	} {
		s := test.make(t)
		test.edit(s)
		records, err := read(s.cut, s.log)
		if err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: %v, want %q", test.name, err, test.want)
		} else if len(records) != len(s.cut)-1 {
			t.Errorf("%s: %d records before the error, want %d", test.name, len(records), len(s.cut)-1)
		}
	}
}

func TestParseServerHello(t *testing.T) {
	for _, test := range []struct {
		message []byte
		want    serverHellos
	}{
		{serverHello(aes128, testRandom), serverHellos{version: tls.VersionTLS13, suite: aes128}},
		{serverHello(aes128, retryRandom), serverHellos{retry: true, version: tls.VersionTLS13, suite: aes128}},
		{serverHello(old, testRandom), serverHellos{version: tls.VersionTLS12, suite: old}},
	} {
		body := test.message[messageHeaderBytes:]
		if got, ok := parseServerHello(body); !ok || got != test.want {
			t.Errorf("%x: %+v, %t, want %+v", body, got, ok, test.want)
		}
		for cut := range body {
			withoutExtensions := 2 + randomBytes + 1 + 2 + 1
			if _, ok := parseServerHello(body[:cut]); ok && cut != withoutExtensions {
				t.Errorf("%x is taken for a ServerHello", body[:cut])
			}
		}
	}
}

// FuzzRead reads anything that can be cut, with and without secrets.
func FuzzRead(f *testing.F) {
	for _, test := range scripts {
		s := test.make(f)
		var fromClient, fromServer []byte
		for _, c := range s.cut {
			if c.fromClient {
				fromClient = append(append(fromClient, c.header[:]...), c.payload...)
			} else {
				fromServer = append(append(fromServer, c.header[:]...), c.payload...)
			}
		}
		f.Add(fromClient, fromServer, s.log)
	}
	f.Fuzz(func(t *testing.T, fromClient, fromServer, log []byte) {
		var cut []fragment
		var client, server cutter
		client.cut(fromClient, func(f fragment) { f.fromClient = true; cut = append(cut, f) })
		server.cut(fromServer, func(f fragment) { cut = append(cut, f) })
		records, err := read(cut, log)
		if err == nil && len(records) != len(cut) {
			t.Errorf("%d records of %d, and no error", len(records), len(cut))
		}
		for i, r := range records {
			if r.Length != cut[i].length() || len(r.Messages) == 0 || r.Name() == "" {
				t.Errorf("record %d of %d bytes: %+v", i+1, cut[i].length(), r)
			}
		}
	})
}

// FuzzMessages cuts a handshake in two ways.
func FuzzMessages(f *testing.F) {
	f.Add(slices.Concat(message(8, nil), message(11, make([]byte, 300)), message(20, make([]byte, 32))), uint(7))
	f.Add(message(99, nil), uint(1))
	f.Fuzz(func(t *testing.T, handshake []byte, size uint) {
		names := func(records [][]byte) (names []string, bytes int, err error) {
			var c messageCutter
			for _, record := range records {
				messages, err := c.cut(record)
				for _, m := range messages {
					if bytes += m.Bytes; !m.Continued {
						names = append(names, m.Name)
					}
				}
				if err != nil {
					return names, bytes, err
				}
			}
			return names, bytes, nil
		}
		if len(handshake) == 0 {
			return
		}
		whole, bytes, err := names([][]byte{handshake})
		if err == nil && bytes != len(handshake) {
			t.Errorf("the messages have %d bytes of %d", bytes, len(handshake))
		}
		pieces, bytesOfPieces, errOfPieces := names(slices.Collect(slices.Chunk(handshake, int(1+size%1000))))
		if !slices.Equal(whole, pieces) || bytes != bytesOfPieces || (err == nil) != (errOfPieces == nil) {
			t.Errorf("whole %q of %d bytes, %v; in pieces %q of %d, %v", whole, bytes, err, pieces, bytesOfPieces, errOfPieces)
		}
	})
}
