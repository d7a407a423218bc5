package wire

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"math/big"
	"net"
	"slices"
	"testing"
	"time"
)

// selfSigned makes a certificate for tests.
func selfSigned(t *testing.T) (tls.Certificate, *x509.CertPool) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(1), DNSNames: []string{"localhost"}, NotAfter: time.Now().Add(time.Hour), IsCA: true, BasicConstraintsValid: true}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	leaf, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	pool := x509.NewCertPool()
	pool.AddCert(leaf)
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key, Leaf: leaf}, pool
}

// exchange makes one connection with a request and a response, watched at the
// client, and gives its records.
func exchange(t *testing.T, server, client *tls.Config) []Record {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	served := make(chan error, 1)
	go func() {
		conn, err := listener.Accept()
		if err != nil {
			served <- err
			return
		}
		tc := tls.Server(conn, server)
		if _, err = tc.Read(make([]byte, 100)); err == nil {
			_, err = tc.Write(make([]byte, 57))
		}
		served <- err
	}()
	conn, err := net.Dial("tcp", listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	socket := &socketBytes{Conn: conn}
	w := Watch(socket, true)
	client = client.Clone()
	client.KeyLogWriter = w.KeyLog()
	tc := tls.Client(w, client)
	if _, err := tc.Write(make([]byte, 18)); err != nil {
		t.Fatal(err)
	}
	if _, err := tc.Read(make([]byte, 100)); err != nil {
		t.Fatal(err)
	}
	if err := <-served; err != nil {
		t.Fatal(err)
	}
	records, err := w.Records()
	if err != nil {
		t.Fatal(err)
	}
	NameExchange(records)
	var sent, received int64
	for _, r := range records {
		if r.FromClient {
			sent += int64(r.Length + RecordHeaderBytes)
		} else {
			received += int64(r.Length + RecordHeaderBytes)
		}
	}
	if socket.sent != sent || socket.received != received {
		t.Errorf("records have %d and %d bytes, the socket had %d and %d", sent, received, socket.sent, socket.received)
	}
	if s, r := w.Bytes(); s != sent || r != received {
		t.Errorf("records have %d and %d bytes, the watcher says %d and %d", sent, received, s, r)
	}
	return records
}

// socketBytes counts what crosses a connection, however it is cut.
type socketBytes struct {
	net.Conn
	sent, received int64
}

func (s *socketBytes) Read(p []byte) (int, error) {
	n, err := s.Conn.Read(p)
	s.received += int64(n)
	return n, err
}

func (s *socketBytes) Write(p []byte) (int, error) {
	n, err := s.Conn.Write(p)
	s.sent += int64(n)
	return n, err
}

func names(records []Record) []string {
	var list []string
	for _, r := range records {
		from := "s "
		if r.FromClient {
			from = "c "
		}
		list = append(list, from+r.Name())
	}
	return list
}

func TestExchange(t *testing.T) {
	cert, pool := selfSigned(t)
	server := &tls.Config{Certificates: []tls.Certificate{cert}}
	config := func(version uint16, c *tls.Config) *tls.Config {
		c.RootCAs, c.ServerName, c.MaxVersion, c.ClientSessionCache = pool, "localhost", version, tls.NewLRUClientSessionCache(1)
		return c
	}
	tls13, tls12 := config(tls.VersionTLS13, &tls.Config{}), config(tls.VersionTLS12, &tls.Config{})
	retry := server.Clone()
	retry.CurvePreferences = []tls.CurveID{tls.CurveP256}
	for _, test := range []struct {
		name           string
		server, client *tls.Config
		want           []string
		roundTrips     int
	}{
		{"1.3", server, tls13, []string{"c clienthello", "s serverhello", "s changecipherspec", "s encryptedextensions", "s certificate",
			"s certificateverify", "s finished", "s newsessionticket", "c changecipherspec", "c finished", "c request", "s response"}, 1},
		{"1.3 ticket", server, tls13, []string{"c clienthello", "s serverhello", "s changecipherspec", "s encryptedextensions",
			"s finished", "s newsessionticket", "c changecipherspec", "c finished", "c request", "s response"}, 1},
		{"1.2", server, tls12, []string{"c clienthello", "s serverhello", "s certificate", "s serverkeyexchange", "s serverhellodone",
			"c clientkeyexchange", "c changecipherspec", "c finished", "s newsessionticket", "s changecipherspec", "s finished", "c request", "s response"}, 2},
		{"1.2 ticket", server, tls12, []string{"c clienthello", "s serverhello", "s newsessionticket", "s changecipherspec", "s finished",
			"c changecipherspec", "c finished", "c request", "s response"}, 1},
		{"1.3 retry", retry, config(tls.VersionTLS13, &tls.Config{}),
			[]string{"c clienthello", "s helloretryrequest", "s changecipherspec", "c changecipherspec", "c clienthello", "s serverhello", "s encryptedextensions", "s certificate",
				"s certificateverify", "s finished", "s newsessionticket", "c finished", "c request", "s response"}, 2},
	} {
		records := exchange(t, test.server, test.client)
		if got := names(records); !slices.Equal(got, test.want) {
			t.Errorf("%s:\n%q\n%q", test.name, got, test.want)
		}
		if got := RoundTrips(records); got != test.roundTrips || Waits(records) != got+2 {
			t.Errorf("%s: %d round trips, %d waits", test.name, got, Waits(records))
		}
	}
}
