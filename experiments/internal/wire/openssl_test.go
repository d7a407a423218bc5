package wire

import (
	"bufio"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"cryptocost/experiments/internal/pki"
)

// A program is an openssl that runs.
type program struct {
	t     *testing.T
	name  string
	stdin io.WriteCloser
	lines chan string // of both outputs
	wait  func() error
}

// openssl starts openssl with files that it reads at /dev/fd/3 and on. It ends
// with the test at the latest.
func openssl(t *testing.T, files [][]byte, args ...string) *program {
	t.Helper()
	path, err := exec.LookPath("openssl")
	if err != nil {
		t.Skip("openssl is not installed")
	}
	if version, err := exec.Command(path, "version").Output(); err != nil || !strings.HasPrefix(string(version), "OpenSSL ") {
		t.Skipf("openssl is another program: %q, %v", version, err) // macOS has LibreSSL there
	}
	command := exec.CommandContext(t.Context(), path, args...)
	p := &program{t: t, name: args[0], lines: make(chan string, 1000), wait: command.Wait}
	out, in, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	command.Stdout, command.Stderr = in, in
	own := []*os.File{in}
	for _, content := range files {
		reader, writer, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		own = append(own, reader)
		_, err = writer.Write(content) // a pipe holds more
		if err := errors.Join(err, writer.Close()); err != nil {
			t.Fatal(err)
		}
	}
	command.ExtraFiles = own[1:]
	if p.stdin, err = command.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	for _, file := range own {
		_ = file.Close() // the program has its own
	}
	go func() {
		defer out.Close()
		defer close(p.lines)
		for scanner := bufio.NewScanner(out); scanner.Scan(); {
			p.lines <- scanner.Text()
		}
	}()
	t.Cleanup(func() {
		_ = command.Process.Kill() // often it has ended
		_ = p.wait()
	})
	return p
}

// expect waits for a line with that text and gives it.
func (p *program) expect(text string) string {
	p.t.Helper()
	var seen []string
	hung := time.After(30 * time.Second)
	for {
		select {
		case line, ok := <-p.lines:
			if seen = append(seen, line); strings.Contains(line, text) {
				return line
			} else if !ok {
				p.t.Fatalf("openssl %s ended without %q:\n%s", p.name, text, strings.Join(seen, "\n"))
			}
		case <-hung:
			p.t.Fatalf("openssl %s does not say %q:\n%s", p.name, text, strings.Join(seen, "\n"))
		}
	}
}

// say writes to its standard input.
func (p *program) say(text string) {
	p.t.Helper()
	if _, err := io.WriteString(p.stdin, text); err != nil {
		p.t.Fatalf("openssl %s: %v", p.name, err)
	}
}

// end waits for its end.
func (p *program) end() {
	p.t.Helper()
	for range p.lines { // to the end
	}
	if err := p.wait(); err != nil {
		p.t.Errorf("openssl %s: %v", p.name, err)
	}
}

// keyUpdates has openssl's client connect to Go's server, which is watched,
// and ask for new keys of both directions. It names the cipher suite.
func keyUpdates(t *testing.T, cert tls.Certificate, suite string) watched {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	client := openssl(t, nil, "s_client", "-connect", listener.Addr().String(), "-ciphersuites", suite, "-groups", "X25519")
	raw, err := listener.Accept()
	if err != nil {
		t.Fatal(err)
	}
	defer raw.Close()
	below := &capture{Conn: raw}
	w := Watch(below, false)
	server := tls.Server(w, &tls.Config{Certificates: []tls.Certificate{cert}, KeyLogWriter: w.KeyLog()})
	answer := func(request string) {
		t.Helper()
		client.say(request)
		got := make([]byte, len(request))
		if _, err := io.ReadFull(server, got); err != nil || string(got) != request {
			t.Fatalf("%s: the server read %q, %v", suite, got, err)
		}
		if _, err := io.WriteString(server, "to "+request); err != nil {
			t.Fatal(err)
		}
		client.expect("to " + strings.TrimSpace(request))
	}
	answer("one\n")
	for _, request := range []string{"two\n", "three\n"} {
		client.say("K\n") // update the keys, and ask the server to
		client.expect("KEYUPDATE")
		answer(request)
	}
	if name := tls.CipherSuiteName(server.ConnectionState().CipherSuite); name != suite {
		t.Fatalf("the cipher suite is %s, want %s", name, suite)
	}
	client.say("Q\n")
	client.end()
	if n, err := server.Read(make([]byte, 1)); err != io.EOF {
		t.Fatalf("%s: read %d bytes, %v behind the end", suite, n, err)
	}
	return newWatched(t, suite, w, below)
}

// earlyData has openssl's client connect to openssl's server to get a session,
// and then twice with early data of it through a watched connection. The server
// takes a session once (RFC 8446, 8.1): early data is accepted, then rejected.
func earlyData(t *testing.T, bundle pki.Bundle) (accepted, rejected watched) {
	t.Helper()
	cert, err := bundle.Certificate()
	if err != nil {
		t.Fatal(err)
	}
	key, err := x509.MarshalPKCS8PrivateKey(cert.PrivateKey)
	if err != nil {
		t.Fatal(err)
	}
	server := openssl(t, [][]byte{
		pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: cert.Certificate[0]}),
		pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: key}),
	}, "s_server", "-accept", "127.0.0.1:0", "-cert", "/dev/fd/3", "-key", "/dev/fd/4", "-early_data", "-naccept", "3")
	address := strings.TrimPrefix(server.expect("ACCEPT 127"), "ACCEPT ")
	session := filepath.Join(t.TempDir(), "session")
	first := openssl(t, nil, "s_client", "-connect", address, "-sess_out", session)
	server.say("hello\n")
	first.expect("hello") // behind the tickets
	first.say("Q\n")
	first.end()
	accepted = sendEarly(t, server, address, session, "accepted")
	rejected = sendEarly(t, server, address, session, "rejected")
	server.end()
	return accepted, rejected
}

// sendEarly sends early data and expects the server's verdict.
func sendEarly(t *testing.T, server *program, address, session, verdict string) watched {
	t.Helper()
	relay, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer relay.Close()
	keys := filepath.Join(t.TempDir(), "keys")
	client := openssl(t, [][]byte{[]byte("early request\n")}, "s_client", "-connect", relay.Addr().String(),
		"-sess_in", session, "-early_data", "/dev/fd/3", "-keylogfile", keys)
	front, err := relay.Accept()
	if err != nil {
		t.Fatal(err)
	}
	defer front.Close()
	back, err := net.Dial("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	defer back.Close()
	below := &capture{Conn: back, fromClient: true}
	w := Watch(below, true)
	copied := make(chan error, 2)
	copyAll := func(to, from net.Conn) {
		_, err := io.Copy(to, from)
		copied <- err
	}
	go copyAll(front, w)
	go copyAll(w, front)
	client.expect("Early data was " + verdict)
	client.say("late request\n")
	server.expect("late request")
	client.say("Q\n")
	client.end()
	if err := errors.Join(<-copied, <-copied); err != nil {
		t.Fatal(err)
	}
	log, err := os.ReadFile(keys)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.KeyLog().Write(log); err != nil {
		t.Fatal(err)
	}
	return newWatched(t, verdict, w, below)
}

// TestOpenSSL reads what Go's client and server never do: all cipher suites,
// new keys, early data, each also with tshark.
func TestOpenSSL(t *testing.T) {
	var store pki.Store
	bundle, err := store.SelfSigned("ecdsa-p256")
	if err != nil {
		t.Fatal(err)
	}
	cert, err := bundle.Certificate()
	if err != nil {
		t.Fatal(err)
	}
	var list []watched
	for _, suite := range []string{"TLS_AES_128_GCM_SHA256", "TLS_AES_256_GCM_SHA384", "TLS_CHACHA20_POLY1305_SHA256"} {
		got := keyUpdates(t, cert, suite)
		if names, want := got.names(true), "clienthello changecipherspec finished data keyupdate data keyupdate data alert"; names != want {
			t.Errorf("%s: the client sends %s\nwant %s", suite, names, want)
		}
		if names, want := got.names(false), "serverhello changecipherspec encryptedextensions certificate certificateverify finished newsessionticket "+
			"data keyupdate data keyupdate data"; names != want {
			t.Errorf("%s: the server sends %s\nwant %s", suite, names, want)
		}
		list = append(list, got)
	}
	accepted, rejected := earlyData(t, bundle)
	if names, want := accepted.names(true), "clienthello changecipherspec earlydata endofearlydata finished data alert"; names != want {
		t.Errorf("with early data the client sends %s\nwant %s", names, want)
	}
	if names, want := rejected.names(true), "clienthello changecipherspec earlydata finished data alert"; names != want {
		t.Errorf("with rejected early data the client sends %s\nwant %s", names, want)
	}
	if n := RoundTrips(accepted.records); n != 0 {
		t.Errorf("early data waits for %d flights", n)
	}
	list = append(list, accepted, rejected)
	t.Run("tshark", func(t *testing.T) { compare(t, list) })
}
