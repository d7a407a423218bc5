package main

import (
	"bytes"
	"context"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"time"

	"cryptocost/experiments/internal/host"
	"cryptocost/experiments/internal/link"
	"cryptocost/experiments/internal/pki"
	"cryptocost/experiments/internal/tool"
)

// connectionTime bounds one connection, which takes less than a second.
const connectionTime = 15 * time.Second

// said are the lines of a program's output that tell what a connection is.
// Nothing else of it is kept: s_server and s_client print secrets.
type said []string

// What s_client and s_server say (apps/s_client.c and apps/s_server.c of
// OpenSSL 3.0), by the beginnings of their lines.
const (
	saysNew           = "New, TLSv1.3,"
	saysReused        = "Reused, TLSv1.3,"
	saysVerified      = "Verification: OK"
	saysEarlyAccepted = "Early data was accepted"
	saysEarlyRejected = "Early data was rejected"
	saysEarlyNotSent  = "Early data was not sent"
	saysEarlyReceived = "Early data received:"
	saysNoEarly       = "No early data received"
	saysServerReused  = "Reused session-id"
)

var telling = []string{
	saysNew, saysReused, "New, ", "Reused, ", saysVerified, "Verification error",
	saysEarlyAccepted, saysEarlyRejected, saysEarlyNotSent, saysEarlyReceived, saysNoEarly, saysServerReused,
}

// tells says whether the line is one to keep.
func tells(line string) bool {
	return strings.Contains(line, ":error:") ||
		slices.ContainsFunc(telling, func(beginning string) bool { return strings.HasPrefix(line, beginning) })
}

// says whether a line begins so.
func (s said) says(beginning string) bool {
	return slices.ContainsFunc(s, func(line string) bool { return strings.HasPrefix(line, beginning) })
}

// pipe gives the reading end of a pipe that holds content, which is smaller
// than a pipe. A program opens it as /dev/fd/N: an input file on no disk.
func pipe(content []byte) (*os.File, error) {
	r, w, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	if _, err := w.Write(content); err != nil {
		return nil, errors.Join(err, w.Close(), r.Close())
	}
	return r, w.Close()
}

// An invocation is a command line of openssl with files for it. The files are
// closed here once it has started, or with close.
type invocation struct {
	args []string
	own  []*os.File // of the new process, from descriptor 3 on
	err  error      // the first
}

// descriptor adds an option whose value is the file.
func (i *invocation) descriptor(option string, f *os.File, err error) {
	if err != nil {
		i.err = errors.Join(i.err, fmt.Errorf("openssl %s: %w", option, err))
		return
	}
	const first = 3 // os/exec, Cmd.ExtraFiles
	i.args = append(i.args, option, fmt.Sprintf("/dev/fd/%d", first+len(i.own)))
	i.own = append(i.own, f)
}

// content adds an option whose value is a file with that content.
func (i *invocation) content(option string, content []byte) {
	f, err := pipe(content)
	i.descriptor(option, f, err)
}

func (i *invocation) close() {
	for _, f := range i.own {
		_ = f.Close() // the process has its own
	}
}

// start starts openssl with the given streams.
func (i *invocation) start(ctx context.Context, stdin *os.File, output io.Writer) (wait func() error, kill func(), err error) {
	defer i.close()
	if i.err != nil {
		return nil, nil, i.err
	}
	found, err := tool.OpenSSL()
	if err != nil {
		return nil, nil, err
	}
	cmd := exec.CommandContext(ctx, found.Path, i.args...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr, cmd.ExtraFiles = stdin, output, output, i.own
	return host.Here{}.Start(cmd)
}

// An sServer is a running openssl s_server. It serves one connection at a time.
type sServer struct {
	port  string
	first said     // before it listened; valid if it ended before
	stdin *os.File // s_server ends a connection when it closes
	wait  func() error
	kill  func()

	mu      sync.Mutex
	changed *sync.Cond
	ended   []served // connections that nobody has asked for
	over    bool     // no more output comes
}

// served is what s_server shows of one connection.
type served struct {
	Said said `json:"said"`
	// Requests are the moments at which a request was received, by its line.
	Requests map[string][]time.Duration `json:"requests"`
}

// startSServer starts s_server with a self-signed certificate and early data.
func startSServer(b pki.Bundle, address string, antiReplay bool) (*sServer, error) {
	i := &invocation{args: []string{"s_server", "-accept", address + ":0", "-tls1_3", "-early_data"}}
	if !antiReplay {
		i.args = append(i.args, "-no_anti_replay")
	}
	i.content("-key", pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: b.Key}))
	i.content("-cert", pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: b.Chain[0]}))
	stdin, held, err := os.Pipe()
	if err != nil {
		i.close()
		return nil, err
	}
	// Standard output and error share one pipe, so that they stay in order.
	reader, output, err := os.Pipe()
	if err != nil {
		i.close()
		return nil, errors.Join(err, stdin.Close(), held.Close())
	}
	s := &sServer{stdin: held}
	s.changed = sync.NewCond(&s.mu)
	s.wait, s.kill, err = i.start(context.Background(), stdin, output)
	// The process has its own; the output ends with it.
	_, _ = stdin.Close(), output.Close()
	if err != nil {
		return nil, errors.Join(err, held.Close(), reader.Close())
	}
	ports := make(chan string, 1)
	go s.watch(reader, ports)
	select {
	case port, ok := <-ports:
		if ok {
			s.port = port
			return s, nil
		}
		err = fmt.Errorf("openssl s_server ended before it listened; it says %q", s.first)
	case <-time.After(connectionTime):
		err = errors.New("openssl s_server does not say where it listens")
	}
	s.stop()
	return nil, err
}

// stop ends s_server.
func (s *sServer) stop() {
	s.kill()
	_ = s.wait() // killed
	_ = s.stdin.Close()
}

// watch reads the output until it ends. The port, which s_server tells when
// it was left to choose, is sent on ports.
func (s *sServer) watch(output io.ReadCloser, ports chan<- string) {
	defer output.Close()
	defer close(ports)
	listens := false
	s.split(output, func(line string) {
		address, ok := strings.CutPrefix(line, "ACCEPT ")
		switch {
		case listens:
		case ok:
			listens = true
			ports <- address[strings.LastIndexByte(address, ':')+1:]
		case tells(line):
			s.first = append(s.first, line)
		}
	})
}

// split cuts what s_server writes into connections. Of each it notes when the
// request lines were complete. each gets every line.
//
// s_server writes what it receives with write(2) at once, but what it says
// with stdio, flushed later (raw_write_stdout and bio_s_out in
// apps/s_server.c): "Early data received:" comes behind the data, and the last
// words about a connection with those about the next. They are no words that
// tell what a connection is.
func (s *sServer) split(output io.Reader, each func(line string)) {
	now := newServed()
	var rest []byte
	buffer := make([]byte, 64<<10)
	for {
		n, err := output.Read(buffer)
		at := link.Now()
		rest = append(rest, buffer[:n]...)
		for {
			line, behind, complete := bytes.Cut(rest, []byte("\n"))
			if !complete {
				break
			}
			rest = behind
			if now.add(string(line), at) {
				s.end(now)
				now = newServed()
			}
			each(string(line))
		}
		if err != nil {
			s.mu.Lock()
			s.over = true
			s.mu.Unlock()
			s.changed.Broadcast()
			return
		}
	}
}

func newServed() served { return served{Requests: map[string][]time.Duration{}} }

// add takes a line and says whether it is the end of the connection.
func (s *served) add(line string, at time.Duration) (end bool) {
	switch {
	case strings.HasPrefix(line, requestBeginning):
		s.Requests[line] = append(s.Requests[line], at)
	case tells(line):
		s.Said = append(s.Said, line)
	}
	// Closed by the client's alert; by an error; by one in early data.
	return line == "DONE" || line == "ERROR" || line == "Error reading early data"
}

func (s *sServer) end(c served) {
	s.mu.Lock()
	s.ended = append(s.ended, c)
	s.mu.Unlock()
	s.changed.Broadcast()
}

// next waits for the end of the next connection.
func (s *sServer) next() (served, error) {
	timeout := time.AfterFunc(connectionTime, func() {
		s.mu.Lock()
		s.over = true
		s.mu.Unlock()
		s.changed.Broadcast()
	})
	defer timeout.Stop()
	s.mu.Lock()
	defer s.mu.Unlock()
	for len(s.ended) == 0 {
		if s.over {
			return served{}, fmt.Errorf("openssl s_server shows no end of a connection, for %v at most", connectionTime)
		}
		s.changed.Wait()
	}
	c := s.ended[0]
	s.ended = s.ended[1:]
	return c, nil
}

// An errand is one run of openssl s_client.
type errand struct {
	Address string `json:"address"`
	Root    []byte `json:"root"`    // DER, trusted
	Request string `json:"request"` // a line, without its end
	Session []byte `json:"session"` // PEM, to resume; nil: none
	Early   bool   `json:"early"`   // send the request as early data
	// Hasty leaves as soon as the request is sent, instead of waiting for a
	// session.
	Hasty bool `json:"hasty"`
}

// done is what a run of s_client did.
type done struct {
	Started time.Duration `json:"started"` // on the clock of link.Now
	Said    said          `json:"said"`
	Session []byte        `json:"session"` // PEM, the first that arrived; nil: none
}

// run runs s_client.
func (e errand) run() (done, error) {
	var d done
	ctx, cancel := context.WithTimeout(context.Background(), connectionTime)
	defer cancel()
	i := &invocation{args: []string{"s_client", "-connect", e.Address, "-tls1_3", "-servername", pki.ServerName,
		"-verify_hostname", pki.ServerName, "-verify_return_error"}}
	i.content("-CAfile", pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: e.Root}))
	sessions, out, err := os.Pipe()
	i.descriptor("-sess_out", out, err)
	if e.Session != nil {
		i.content("-sess_in", e.Session)
	}
	line := []byte(e.Request + "\n")
	if e.Early {
		i.content("-early_data", line)
	}
	defer sessions.Close()
	stdin, keyboard, err := os.Pipe()
	if err == nil && !e.Early {
		_, err = keyboard.Write(line)
	}
	defer keyboard.Close()
	defer stdin.Close()
	i.err = errors.Join(i.err, err)
	if e.Hasty {
		_ = keyboard.Close() // s_client ends at the end of its input
	}
	var output bytes.Buffer
	d.Started = link.Now()
	wait, _, err := i.start(ctx, stdin, &output)
	if err != nil {
		return d, err
	}
	d.Session, err = firstSession(sessions)
	_ = keyboard.Close() // the second time where it is hasty
	err = errors.Join(err, wait())
	for line := range strings.Lines(output.String()) {
		if line = strings.TrimSpace(line); tells(line) {
			d.Said = append(d.Said, line)
		}
	}
	if err != nil {
		return d, fmt.Errorf("openssl s_client, which says %q: %w", d.Said, err)
	}
	return d, nil
}

// firstSession reads the first session that s_client writes; nil if it ends
// without. Later ones fit the pipe.
func firstSession(r io.Reader) ([]byte, error) {
	var all []byte
	buffer := make([]byte, 16<<10)
	for {
		n, err := r.Read(buffer)
		all = append(all, buffer[:n]...)
		if block, _ := pem.Decode(all); block != nil {
			return pem.EncodeToMemory(block), nil
		}
		if err != nil {
			if err == io.EOF && len(all) == 0 {
				return nil, nil
			}
			return nil, fmt.Errorf("read the session that s_client writes (%d bytes): %w", len(all), err)
		}
	}
}
