package wire

import (
	"bytes"
	"encoding/binary"
	"encoding/xml"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// capturePort is the first of the clients' ports in a capture; the server's is that
// of HTTPS, by which tshark knows TLS.
const capturePort, httpsPort = 10000, 443

// writeCapture writes what crossed the connections as a capture of IPv4
// packets in the format pcap
// (https://www.ietf.org/archive/id/draft-ietf-opsawg-pcap-05.html, 4 and 5).
func writeCapture(path string, list []watched) error {
	const magic, linkTypeRaw, longest = 0xa1b2c3d4, 101, 1 << 18
	var b []byte
	for _, field := range []uint32{magic, 2<<0 | 4<<16, 0, 0, longest, linkTypeRaw} {
		b = binary.LittleEndian.AppendUint32(b, field)
	}
	packets := uint32(0)
	for i, w := range list {
		next := map[bool]uint32{true: 1, false: 1} // sequence numbers by direction
		for _, c := range w.chunks {
			for part := range slices.Chunk(c.bytes, 1460) {
				packet := ipPacket(c.fromClient, uint16(capturePort+i), next[c.fromClient], next[!c.fromClient], part)
				for _, field := range []uint32{packets / 1e6, packets % 1e6, uint32(len(packet)), uint32(len(packet))} {
					b = binary.LittleEndian.AppendUint32(b, field)
				}
				b = append(b, packet...)
				next[c.fromClient] += uint32(len(part))
				packets++
			}
		}
	}
	return os.WriteFile(path, b, 0o600)
}

// ipPacket is a TCP segment (RFC 9293, 3.1) in an IPv4 packet (RFC 791, 3.1)
// without checksums, which tshark does not ask for.
func ipPacket(fromClient bool, port uint16, sequence, acknowledged uint32, payload []byte) []byte {
	client, server := []byte{192, 0, 2, 1}, []byte{192, 0, 2, 2} // RFC 5737
	ports := [2]uint16{port, httpsPort}
	if !fromClient {
		client, server = server, client
		ports[0], ports[1] = ports[1], ports[0]
	}
	const headers, tcp, ttl, ackPush = 40, 6, 64, 0x18
	b := []byte{4<<4 | 5, 0}
	b = binary.BigEndian.AppendUint16(b, uint16(headers+len(payload)))
	b = append(b, 0, 0, 0, 0, ttl, tcp, 0, 0)
	b = append(append(b, client...), server...)
	b = binary.BigEndian.AppendUint16(b, ports[0])
	b = binary.BigEndian.AppendUint16(b, ports[1])
	b = binary.BigEndian.AppendUint32(b, sequence)
	b = binary.BigEndian.AppendUint32(b, acknowledged)
	b = append(b, 5<<4, ackPush, 0xff, 0xff, 0, 0, 0, 0)
	return append(b, payload...)
}

// A field is one of the format PDML, in which tshark writes what it reads.
type field struct {
	Name     string  `xml:"name,attr"`
	Show     string  `xml:"show,attr"`
	ShowName string  `xml:"showname,attr"`
	Fields   []field `xml:"field"`
}

// find gives the value of the field with that name, at any depth.
func (f field) find(name string) (string, bool) {
	if f.Name == name {
		return f.Show, true
	}
	for _, inner := range f.Fields {
		if value, ok := inner.find(name); ok {
			return value, ok
		}
	}
	return "", false
}

// number reads the number of the field with that name.
func (f field) number(name string) (uint64, error) {
	value, ok := f.find(name)
	if !ok {
		return 0, fmt.Errorf("tshark shows no %s", name)
	}
	return strconv.ParseUint(value, 0, 64)
}

// A dissection is what tshark shows of the records of each connection, by the
// client's port.
type dissection struct {
	records map[uint64][]string
	// underWay has the handshake messages whose end has not been shown, by
	// connection and direction.
	underWay map[string]bool
}

// dissect runs tshark.
func dissect(t *testing.T, list []watched) dissection {
	t.Helper()
	tshark, err := exec.LookPath("tshark")
	if err != nil {
		t.Skip("tshark, the independent reader, is not installed (Debian: apt-get install tshark)")
	}
	dir := t.TempDir()
	capture, keys := filepath.Join(dir, "capture.pcap"), filepath.Join(dir, "keys")
	if err := writeCapture(capture, list); err != nil {
		t.Fatal(err)
	}
	var log strings.Builder
	for _, w := range list {
		log.WriteString(w.keyLog)
	}
	if err := os.WriteFile(keys, []byte(log.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	var stderr bytes.Buffer
	command := exec.Command(tshark, "-r", capture, "-o", "tls.keylog_file:"+keys, "-T", "pdml")
	command.Env = append(os.Environ(), "HOME="+dir, "XDG_CONFIG_HOME="+dir) // nobody's preferences
	command.Stderr = &stderr
	out, err := command.Output()
	if err != nil {
		t.Fatalf("tshark: %v\n%s", err, stderr.String())
	}
	var read struct {
		Packets []struct {
			Protocols []field `xml:"proto"`
		} `xml:"packet"`
	}
	if err := xml.Unmarshal(out, &read); err != nil {
		t.Fatalf("read what tshark shows: %v", err)
	}
	d := dissection{records: map[uint64][]string{}, underWay: map[string]bool{}}
	for i, packet := range read.Packets {
		if err := d.packet(packet.Protocols); err != nil {
			t.Fatalf("packet %d: %v", i+1, err)
		}
	}
	return d
}

// packet adds the records that end in a packet.
func (d dissection) packet(protocols []field) error {
	var port uint64
	var from string
	for _, protocol := range protocols {
		if protocol.Name == "tcp" {
			source, err := protocol.number("tcp.srcport")
			destination, err2 := protocol.number("tcp.dstport")
			if err := errors.Join(err, err2); err != nil {
				return err
			}
			if port, from = source, "client"; source == httpsPort {
				port, from = destination, "server"
			}
		}
		if protocol.Name != "tls" {
			continue
		}
		for _, record := range protocol.Fields {
			if record.Name != "tls.record" {
				continue
			}
			shown, err := d.record(record, fmt.Sprint(port, from))
			if err != nil {
				return err
			}
			d.records[port] = append(d.records[port], from+" "+shown)
		}
	}
	return nil
}

// record describes a record as describe does.
func (d dissection) record(record field, direction string) (string, error) {
	version, err := record.number("tls.record.version")
	length, err2 := record.number("tls.record.length")
	inner, err3 := record.number("tls.record.content_type")
	if err := errors.Join(err, err2, err3); err != nil {
		return "", err
	}
	outer, err := record.number("tls.record.opaque_type")
	if err != nil {
		outer = inner // nothing is hidden
	}
	shown := fmt.Sprintf("type %d version %#04x length %d inner %d:", outer, version, length, inner)
	reassembled := false // the next message is the one whose last part came before
	for _, f := range record.Fields {
		switch f.Name {
		case "tls.change_cipher_spec":
			shown += " " + changeCipherSpecName
		case "tls.alert_message":
			shown += " " + alertName
		case "tls.app_data":
			shown += " " + dataName
		case "tls.handshake.fragments":
			reassembled = true
		case "tls.handshake":
			if reassembled {
				reassembled = false
				continue
			}
			shown += " " + d.handshake(f, direction)
		}
	}
	return shown, nil
}

// handshake names a handshake message or its part.
func (d dissection) handshake(f field, direction string) string {
	shown := strings.TrimPrefix(f.ShowName, "Handshake Protocol: ")
	shown, last := strings.CutSuffix(shown, " (last fragment)")
	shown, part := strings.CutSuffix(shown, " (fragment)")
	name := strings.ToLower(strings.ReplaceAll(shown, " ", ""))
	switch length, err := f.number("tls.handshake.length"); {
	case name == "encryptedhandshakemessage": // in TLS 1.2 there is only one
		return finishedName
	case last || part && d.underWay[direction]:
		d.underWay[direction] = part
		return name + "-continued"
	case part:
		d.underWay[direction] = true
		return name
	case err == nil:
		return fmt.Sprintf("%s(%d)", name, messageHeaderBytes+length)
	}
	return name
}

// describe says of a record what tshark shows of it: sizes only of whole
// handshake messages.
func describe(w watched, i int) string {
	r, from := w.records[i], "server"
	if r.FromClient {
		from = "client"
	}
	shown := fmt.Sprintf("%s type %d version %#04x length %d inner %d:", from, r.Type, r.Version, r.Length, r.Inner)
	for j, m := range r.Messages {
		// Whether a message ends with its record is said by the next one.
		next := slices.IndexFunc(w.records[i+1:], func(later Record) bool { return later.FromClient == r.FromClient })
		goesOn := j == len(r.Messages)-1 && next >= 0 && w.records[i+1+next].Messages[0].Continued
		switch {
		case slices.Contains([]string{RequestName, ResponseName, earlyDataName}, m.Name):
			shown += " " + dataName
		case m.Continued:
			shown += " " + m.Name + "-continued"
		case r.Inner != recordHandshake || goesOn:
			shown += " " + m.Name
		default:
			shown += fmt.Sprintf(" %s(%d)", m.Name, m.Bytes)
		}
	}
	return shown
}

// compare expects tshark to show of every record what the watcher read.
func compare(t *testing.T, list []watched) {
	t.Helper()
	d := dissect(t, list)
	for i, w := range list {
		got := d.records[uint64(capturePort+i)]
		if len(got) != len(w.records) {
			t.Errorf("%s: tshark shows %d records, the watcher read %d", w.name, len(got), len(w.records))
		}
		for j := range min(len(got), len(w.records)) {
			want := describe(w, j)
			if w.records[j].Encrypted && w.records[j].Content == -1 && w.records[j].Name() == finishedName {
				// In TLS 1.2 tshark decrypts it at times, the watcher never.
				want, got[j] = strings.Split(want, "(")[0], strings.Split(got[j], "(")[0]
			}
			if got[j] != want {
				t.Errorf("%s: record %d\ntshark: %s\nwe:     %s", w.name, j+1, got[j], want)
			}
		}
	}
}

// TestTshark compares the handshakes that TestHandshakes reads, among them all
// cases of the experiment records, with what tshark reads in a capture of them.
func TestTshark(t *testing.T) { compare(t, makeHandshakes(t)) }
