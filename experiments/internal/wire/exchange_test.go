package wire

import (
	"bytes"
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"slices"
	"strings"
	"sync"
	"testing"

	"cryptocost/experiments/internal/pki"
)

// A capture is a connection that keeps what crosses it, however it is cut, in
// its order.
type capture struct {
	net.Conn
	fromClient bool // what is written
	mu         sync.Mutex
	chunks     []chunk
}

type chunk struct {
	fromClient bool
	bytes      []byte
}

func (c *capture) keep(fromClient bool, p []byte) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(p) > 0 {
		c.chunks = append(c.chunks, chunk{fromClient, bytes.Clone(p)})
	}
}

func (c *capture) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	c.keep(!c.fromClient, p[:n])
	return n, err
}

func (c *capture) Write(p []byte) (int, error) {
	c.keep(c.fromClient, p)
	return c.Conn.Write(p)
}

// sums are the bytes captured.
func (c *capture) sums() (sent, received int64) {
	for _, chunk := range c.chunks {
		if chunk.fromClient == c.fromClient {
			sent += int64(len(chunk.bytes))
		} else {
			received += int64(len(chunk.bytes))
		}
	}
	return sent, received
}

// A watched connection is one that has ended.
type watched struct {
	name    string
	records []Record
	chunks  []chunk
	keyLog  string
}

// newWatched reads the records and expects them to have all the bytes of the
// capture below the watcher.
func newWatched(t *testing.T, name string, w *Watcher, below *capture) watched {
	t.Helper()
	records, err := w.Records()
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	var sent, received int64
	for _, r := range records {
		if n := int64(RecordHeaderBytes + r.Length); r.FromClient == w.fromClient {
			sent += n
		} else {
			received += n
		}
		sum := 0
		for _, m := range r.Messages {
			sum += m.Bytes
		}
		if sum != r.Content && (r.Content != -1 || sum != r.Length) {
			t.Errorf("%s: the messages of %+v have %d bytes", name, r, sum)
		}
	}
	if s, r := below.sums(); s != sent || r != received {
		t.Errorf("%s: the records have %d and %d bytes, the socket had %d and %d", name, sent, received, s, r)
	}
	if s, r := w.Bytes(); s != sent || r != received {
		t.Errorf("%s: the records have %d and %d bytes, the watcher says %d and %d", name, sent, received, s, r)
	}
	return watched{name: name, records: records, chunks: below.chunks, keyLog: w.keys.String()}
}

// names are the records' names in one direction.
func (w watched) names(fromClient bool) string {
	var names []string
	for _, r := range w.records {
		if r.FromClient == fromClient {
			names = append(names, r.Name())
		}
	}
	return strings.Join(names, " ")
}

// connect makes a connection over the loopback with a request and a response,
// watched at the client or at the server.
func connect(t *testing.T, name string, server, client *tls.Config, atClient bool) watched {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	raw, err := net.Dial("tcp", listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer raw.Close()
	accepted, err := listener.Accept()
	if err != nil {
		t.Fatal(err)
	}
	defer accepted.Close()
	client = client.Clone() // the server's would have other keys for its tickets
	var below *capture
	var w *Watcher
	if atClient {
		below = &capture{Conn: raw, fromClient: true}
		w = Watch(below, true)
		raw, client.KeyLogWriter = w, w.KeyLog()
	} else {
		below = &capture{Conn: accepted}
		w = Watch(below, false)
		accepted, server.KeyLogWriter = w, w.KeyLog()
	}
	served := make(chan error, 1)
	go func() {
		conn := tls.Server(accepted, server)
		_, err := io.ReadFull(conn, make([]byte, 18))
		if err == nil {
			_, err = conn.Write(make([]byte, 57))
		}
		served <- err
	}()
	conn := tls.Client(raw, client)
	if _, err := conn.Write(make([]byte, 18)); err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	if _, err := io.ReadFull(conn, make([]byte, 57)); err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	if err := <-served; err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	got := newWatched(t, name, w, below)
	NameExchange(got.records)
	return got
}

// A handshake is a kind of handshake between Go's client and server, and what
// its records hold.
type handshake struct {
	name           string
	version        uint16
	resumed, retry bool
	hybrid, mutual bool
	cert           string
	atServer       bool // watched there
}

func (h handshake) want() (fromClient, fromServer string) {
	switch {
	case h.version == tls.VersionTLS13 && h.resumed:
		return "clienthello changecipherspec finished request",
			"serverhello changecipherspec encryptedextensions finished newsessionticket response"
	case h.version == tls.VersionTLS13:
		fromClient, fromServer = "clienthello changecipherspec finished request",
			"serverhello changecipherspec encryptedextensions certificate certificateverify finished newsessionticket response"
		if h.retry {
			fromClient = "clienthello changecipherspec clienthello finished request"
			fromServer = "helloretryrequest " + strings.Replace(fromServer, "serverhello changecipherspec", "changecipherspec serverhello", 1)
		}
		if h.mutual {
			// The ticket waits for the client's certificate.
			fromClient = strings.Replace(fromClient, "finished", "certificate certificateverify finished", 1)
			fromServer = strings.Replace(fromServer, "encryptedextensions", "encryptedextensions certificaterequest", 1)
		}
	case h.resumed:
		return "clienthello changecipherspec finished request", "serverhello newsessionticket changecipherspec finished response"
	default:
		fromClient, fromServer = "clienthello clientkeyexchange changecipherspec finished request",
			"serverhello certificate serverkeyexchange serverhellodone newsessionticket changecipherspec finished response"
		if h.mutual {
			fromClient = strings.Replace(fromClient, "clientkeyexchange", "certificate clientkeyexchange certificateverify", 1)
			fromServer = strings.Replace(fromServer, "serverhellodone", "certificaterequest serverhellodone", 1)
		}
	}
	if h.cert == longCert {
		fromServer = strings.Replace(fromServer, "certificate ", "certificate certificate-continued ", 1)
	}
	return fromClient, fromServer
}

// longCert makes a Certificate message of more than one record.
const longCert = "long"

// bundle gives the server's certificate.
func (h handshake) bundle(store *pki.Store) (pki.Bundle, error) {
	switch h.cert {
	case "ecdsa-p256-selfsigned":
		return store.SelfSigned("ecdsa-p256")
	case "rsa-2048":
		return store.Leaf("rsa-2048")
	case "rsa-2048-chain":
		return store.Chain("rsa-2048")
	case longCert:
		return store.Padded("ecdsa-p256", 20<<10)
	}
	return pki.Bundle{}, fmt.Errorf("certificate %q", h.cert)
}

// configs gives what makes the handshake, the one before a resumed one not
// yet made.
func (h handshake) configs(t *testing.T, store *pki.Store) (server, client *tls.Config) {
	t.Helper()
	bundle, err := h.bundle(store)
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
	server = &tls.Config{Certificates: []tls.Certificate{cert}, MaxVersion: h.version}
	client = &tls.Config{RootCAs: roots, ServerName: pki.ServerName, ClientSessionCache: tls.NewLRUClientSessionCache(1)}
	if !h.hybrid {
		client.CurvePreferences, client.MaxVersion = []tls.CurveID{tls.X25519, tls.CurveP256}, h.version
	}
	switch {
	case h.retry && h.hybrid:
		server.CurvePreferences = []tls.CurveID{tls.SecP256r1MLKEM768}
	case h.retry:
		server.CurvePreferences = []tls.CurveID{tls.CurveP256}
	}
	if h.mutual {
		client.Certificates = []tls.Certificate{cert}
		server.ClientAuth = tls.RequireAnyClientCert
	}
	return server, client
}

// handshakes are the cases of the experiment records, and more that take other
// ways through the reader.
func handshakes() []handshake {
	var list []handshake
	add := func(h handshake) {
		h.name = strings.ReplaceAll(fmt.Sprintf("%s resumed=%t retry=%t hybrid=%t mutual=%t %s", tls.VersionName(h.version), h.resumed, h.retry, h.hybrid, h.mutual, h.cert), "TLS ", "")
		list = append(list, h)
	}
	for _, cert := range []string{"ecdsa-p256-selfsigned", "rsa-2048", "rsa-2048-chain"} {
		for _, hybrid := range []bool{true, false} {
			for _, version := range []uint16{tls.VersionTLS13, tls.VersionTLS12} {
				add(handshake{version: version, hybrid: hybrid, cert: cert})
				add(handshake{version: version, hybrid: hybrid, cert: cert, resumed: true})
			}
			add(handshake{version: tls.VersionTLS13, hybrid: hybrid, cert: cert, retry: true})
		}
	}
	for _, version := range []uint16{tls.VersionTLS13, tls.VersionTLS12} {
		add(handshake{version: version, cert: "rsa-2048", mutual: true, atServer: true})
		add(handshake{version: version, cert: longCert})
	}
	return list
}

// makeHandshakes makes all of them once.
func makeHandshakes(t *testing.T) []watched {
	t.Helper()
	var store pki.Store
	var list []watched
	for _, h := range handshakes() {
		server, client := h.configs(t, &store)
		if h.resumed {
			connect(t, h.name+", first", server, client, true)
		}
		list = append(list, connect(t, h.name, server, client, !h.atServer))
	}
	return list
}

// TestHandshakes reads every kind of handshake between Go's client and server.
// Names are compared by direction: the client may send before all that is on
// the way to it has arrived.
func TestHandshakes(t *testing.T) {
	for i, got := range makeHandshakes(t) {
		h := handshakes()[i]
		wantClient, wantServer := h.want()
		if names := got.names(true); names != wantClient {
			t.Errorf("%s: the client sends %s\nwant %s", h.name, names, wantClient)
		}
		if names := got.names(false); names != wantServer {
			t.Errorf("%s: the server sends %s\nwant %s", h.name, names, wantServer)
		}
		roundTrips := 1
		if h.retry || h.version == tls.VersionTLS12 && !h.resumed {
			roundTrips = 2
		}
		if !h.atServer {
			if n := RoundTrips(got.records); n != roundTrips {
				t.Errorf("%s: %d round trips, want %d", h.name, n, roundTrips)
			}
			if n := Waits(got.records); n != roundTrips+2 {
				t.Errorf("%s: %d waits, want %d", h.name, n, roundTrips+2)
			}
		}
		for _, r := range got.records {
			// In TLS 1.2 a tag and a nonce or none are around the content (RFC
			// 5288, 3; RFC 7905, 2).
			content, tls12 := r.Content, h.version == tls.VersionTLS12
			want := map[string][]int{RequestName: {18 + 17}, ResponseName: {57 + 17}}
			if tls12 {
				want = map[string][]int{RequestName: {18 + 16, 18 + 24}, ResponseName: {57 + 16, 57 + 24}}
			}
			if lengths, ok := want[r.Name()]; ok && !slices.Contains(lengths, r.Length) {
				t.Errorf("%s: %s has %d bytes, want one of %d", h.name, r.Name(), r.Length, lengths)
			}
			if r.Encrypted && tls12 != (content == -1) {
				t.Errorf("%s: %s has content of %d bytes", h.name, r.Name(), content)
			}
		}
	}
}
