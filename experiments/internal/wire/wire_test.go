package wire

import (
	"crypto/tls"
	"io"
	"net"
	"slices"
	"testing"

	"cryptocost/experiments/internal/pki"
)

// TestCounter sends two records and the header of an empty one in a single
// segment and in single bytes, and expects reads that end where records do.
func TestCounter(t *testing.T) {
	stream := []byte{22, 3, 3, 0, 2, 'a', 'b', 23, 3, 3, 0, 3, 'c', 'd', 'e', 20, 3, 3, 0, 0}
	for _, segment := range []int{len(stream), 1} {
		a, b := net.Pipe()
		c := Count(a)
		go func() {
			_, _ = io.CopyN(io.Discard, b, 7)
			for rest := stream; len(rest) > 0; rest = rest[segment:] {
				_, _ = b.Write(rest[:segment])
			}
			_ = b.Close()
		}()
		if _, err := c.Write([]byte("request")); err != nil {
			t.Fatal(err)
		}
		var ends []int64
		buf := make([]byte, 100)
		for {
			n, err := c.Read(buf)
			if err == io.EOF {
				break
			}
			if err != nil || n == 0 {
				t.Fatalf("read %d bytes, %v", n, err)
			}
			_, received := c.Bytes()
			ends = append(ends, received)
		}
		if sent, received := c.Bytes(); sent != 7 || received != int64(len(stream)) {
			t.Errorf("segments of %d: counted %d sent, %d received, want 7 and %d", segment, sent, received, len(stream))
		}
		for _, end := range []int64{5, 7, 12, 15, 20} {
			if !slices.Contains(ends, end) {
				t.Errorf("segments of %d: no read ends at %d, but at %v", segment, end, ends)
			}
		}
	}
}

// TestCounterUnderTLS counts a handshake whose server sends a session ticket
// in the flight of its Finished message: the ticket is not part of it.
func TestCounterUnderTLS(t *testing.T) {
	var store pki.Store
	bundle, err := store.Leaf("ecdsa-p256")
	if err != nil {
		t.Fatal(err)
	}
	cert, err := bundle.Certificate()
	if err != nil {
		t.Fatal(err)
	}
	roots, err := bundle.Roots()
	if err != nil {
		t.Fatal(err)
	}
	afterHandshake := func(cache tls.ClientSessionCache) int64 {
		listener, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		defer listener.Close()
		go func() {
			conn, err := listener.Accept()
			if err != nil {
				t.Error(err)
				return
			}
			server := tls.Server(conn, &tls.Config{Certificates: []tls.Certificate{cert}})
			_, _ = server.Read(make([]byte, 1)) // ends with the client
			_ = server.Close()
		}()
		raw, err := net.Dial("tcp", listener.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		defer raw.Close()
		counter := Count(raw)
		client := tls.Client(counter, &tls.Config{RootCAs: roots, ServerName: pki.ServerName, ClientSessionCache: cache})
		if err := client.Handshake(); err != nil {
			t.Fatal(err)
		}
		_, handshake := counter.Bytes()
		_ = client.CloseWrite()
		_, _ = io.Copy(io.Discard, client)
		_, all := counter.Bytes()
		return all - handshake
	}
	const alert = 24 // a close_notify in a record of TLS 1.3 (RFC 8446, 5.2): 5 + 2 + 1 + 16
	if got := afterHandshake(nil); got != alert {
		t.Errorf("without tickets %d bytes follow the handshake, want %d", got, alert)
	}
	if got := afterHandshake(tls.NewLRUClientSessionCache(1)); got <= alert {
		t.Errorf("with a ticket %d bytes follow the handshake, want more than %d", got, alert)
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
	if !slices.Equal(hello.KeyShares, []KeyShare{{tls.X25519, 32}}) {
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
