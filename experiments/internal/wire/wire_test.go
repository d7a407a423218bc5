package wire

import (
	"crypto/tls"
	"io"
	"net"
	"slices"
	"testing"
)

func TestCounter(t *testing.T) {
	a, b := net.Pipe()
	c := Count(a)
	go func() {
		_, _ = io.CopyN(io.Discard, b, 7)
		_, _ = b.Write([]byte("0123456789"))
		_ = b.Close()
	}()
	if _, err := c.Write([]byte("request")); err != nil {
		t.Fatal(err)
	}
	if _, err := io.ReadAll(c); err != nil {
		t.Fatal(err)
	}
	if sent, received := c.Bytes(); sent != 7 || received != 10 {
		t.Errorf("counted %d sent, %d received, want 7 and 10", sent, received)
	}
}

// firstRecord is what a client with config writes first.
func firstRecord(t testing.TB, config *tls.Config) []byte {
	client, server := net.Pipe()
	go func() {
		_ = tls.Client(client, config).Handshake() // ends when the pipe closes
	}()
	buf := make([]byte, 4096)
	n, err := server.Read(buf)
	if err != nil {
		t.Fatal(err)
	}
	_ = server.Close()
	return buf[:n]
}

func TestParseClientHello(t *testing.T) {
	record := firstRecord(t, &tls.Config{ServerName: "localhost", CurvePreferences: []tls.CurveID{tls.X25519, tls.CurveP256}})
	hello, err := ParseClientHello(record)
	if err != nil {
		t.Fatal(err)
	}
	if hello.RecordBytes != len(record) {
		t.Errorf("the record has %d bytes, want %d", hello.RecordBytes, len(record))
	}
	if want := []tls.CurveID{tls.X25519, tls.CurveP256}; !slices.Equal(hello.Groups, want) {
		t.Errorf("groups %v, want %v", hello.Groups, want)
	}
	if hello.Share(tls.X25519) != 32 || hello.Share(tls.CurveP256) != 0 {
		t.Errorf("key shares %v, want 32 bytes of X25519 alone", hello.KeyShares)
	}
	for cut := range len(record) {
		if _, err := ParseClientHello(record[:cut]); err == nil {
			t.Fatalf("no error for the first %d of %d bytes", cut, len(record))
		}
	}
}

func FuzzParseClientHello(f *testing.F) {
	f.Add(firstRecord(f, &tls.Config{ServerName: "localhost"}))
	f.Add([]byte{22, 3, 1, 0, 4, 1, 0, 0, 0})
	f.Fuzz(func(t *testing.T, record []byte) {
		hello, err := ParseClientHello(record)
		if err == nil && hello.RecordBytes > len(record) {
			t.Errorf("a record of %d bytes in %d", hello.RecordBytes, len(record))
		}
	})
}
