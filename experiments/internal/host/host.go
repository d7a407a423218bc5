// Package host runs the roles of an experiment (server, client, pair, ...) as
// processes of their own.
//
// A role is the experiment's own binary started again with the arguments
// "role NAME". The parent and the role speak JSON lines over the role's
// standard input and output: one request, one answer, in order. There is no
// control port, so nothing listens that an experiment does not measure, and
// the same lines work through ssh. A role ends when its input closes, so
// nothing is left behind when the parent is killed.
package host

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"slices"
	"strings"
	"sync"
	"time"

	"cryptocost/env"
)

// roleArgument tells the binary that it is started as a role.
const roleArgument = "role"

// request and answer are the two kinds of lines.
type request struct {
	Do   string          `json:"do"`
	Args json.RawMessage `json:"args,omitempty"`
}

type answer struct {
	Error string          `json:"error,omitempty"`
	Value json.RawMessage `json:"value,omitempty"`
}

// A Usage is what a process has used since it started.
type Usage struct {
	CPU         time.Duration `json:"cpu"`         // user and system, from the process's own clock
	Involuntary int64         `json:"involuntary"` // context switches forced on it
}

// Sub gives what was used since earlier.
func (u Usage) Sub(earlier Usage) Usage {
	return Usage{u.CPU - earlier.CPU, u.Involuntary - earlier.Involuntary}
}

// ownUsage reads the usage of the calling process.
func ownUsage() (Usage, error) { return usage(processCPU) }

func usage(cpu func() (time.Duration, error)) (Usage, error) {
	used, err := cpu()
	if err != nil {
		return Usage{}, fmt.Errorf("read the CPU clock: %w", err)
	}
	switches, err := involuntarySwitches()
	if err != nil {
		return Usage{}, fmt.Errorf("read the process's context switches: %w", err)
	}
	return Usage{used, switches}, nil
}

// OwnUsage reads the usage of the calling process, for roles whose windows
// begin and end inside one request. It panics where the system has no such
// clock, which is not the case on any system that Go's net package supports.
func OwnUsage() Usage { return must(ownUsage()) }

// ThreadUsage is OwnUsage with the CPU clock of the calling thread, for work
// on one core: the process's clock also has the Go runtime's own threads,
// some per cent of a core. The caller has locked the thread
// (runtime.LockOSThread). Elsewhere than on Linux it is OwnUsage.
func ThreadUsage() Usage { return must(usage(threadCPU)) }

func must(u Usage, err error) Usage {
	if err != nil {
		panic(err)
	}
	return u
}

// A Spec says how to start a role.
type Spec struct {
	Role string   // its name in the Roles of the experiment
	Env  []string // KEY=value, added to the parent's environment
	// Remote is where to run it ("ssh://[user@]host[:port]"); empty: here.
	Remote string
	// Place is where on this machine to run it; nil: beside the caller.
	Place Place
}

// A Place is where on this machine processes run, such as an end of a link.
type Place interface {
	// Start starts cmd, whose standard streams are files or pipes of cmd.
	// wait returns when the process has ended and its output is copied; kill
	// ends it at once.
	Start(cmd *exec.Cmd) (wait func() error, kill func(), err error)
}

// Here is the place of the caller itself. The kernel kills what runs there
// when the caller ends (Linux).
type Here struct{}

// Start implements [Place].
func (Here) Start(cmd *exec.Cmd) (wait func() error, kill func(), err error) {
	wait, err = start(cmd)
	return wait, func() { _ = cmd.Process.Kill() }, err // already ended: nothing to kill
}

// A Process is a running role.
type Process struct {
	spec   Spec
	stdin  io.WriteCloser
	mu     sync.Mutex // one request at a time
	lines  chan []byte
	silent chan struct{} // closed when no more lines come
	done   chan struct{} // closed when the process has ended
	err    error         // why it ended; valid after done
	stderr *tail
	kill   func()
}

// callTimeout bounds the answer to a request: no slice or window of the
// study is longer than a few seconds. Tests shorten it.
var callTimeout = 60 * time.Second

// endTime is what a process gets to end by itself, and its output to close.
const endTime = time.Second

// Start starts a role and returns once its process runs.
func Start(ctx context.Context, spec Spec) (*Process, error) {
	cmd, err := spec.command(ctx)
	if err != nil {
		return nil, err
	}
	stdin, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	p := &Process{
		spec: spec, stdin: stdin, stderr: &tail{},
		lines: make(chan []byte), silent: make(chan struct{}), done: make(chan struct{}),
	}
	cmd.Stderr = p.stderr
	cmd.WaitDelay = endTime
	place := spec.Place
	if place == nil {
		place = Here{}
	}
	wait, kill, err := place.Start(cmd)
	if err != nil {
		return nil, fmt.Errorf("start role %q: %w", spec.Role, err)
	}
	killed := make(chan struct{})
	p.kill = sync.OnceFunc(func() {
		close(killed)
		kill()
	})
	go func() {
		defer close(p.silent)
		r := bufio.NewReader(stdout)
		for {
			line, err := r.ReadBytes('\n')
			if err != nil {
				return
			}
			select {
			case p.lines <- line:
			case <-killed: // nobody waits for the line
				return
			case <-ctx.Done():
				return
			}
		}
	}()
	go func() {
		<-p.silent // Wait closes the pipe
		p.err = wait()
		close(p.done)
	}()
	return p, nil
}

// command is the command line of the role.
func (s Spec) command(ctx context.Context) (*exec.Cmd, error) {
	if s.Remote != "" {
		return s.remoteCommand(ctx)
	}
	self, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("find the running binary: %w", err)
	}
	cmd := exec.CommandContext(ctx, self, roleArgument, s.Role)
	cmd.Env = append(os.Environ(), s.environ()...)
	return cmd, nil
}

// environ is the role's own environment. Its GODEBUG is added to that of the
// parent, which a setting of the same name would otherwise replace.
func (s Spec) environ() []string {
	env := slices.Clone(s.Env)
	for i, setting := range env {
		if value, ok := strings.CutPrefix(setting, "GODEBUG="); ok && os.Getenv("GODEBUG") != "" {
			env[i] = "GODEBUG=" + os.Getenv("GODEBUG") + "," + value
		}
	}
	return env
}

// Call sends a request and decodes the answer's value into reply, which may
// be nil. It fails when the role reports an error, ends, closes its output,
// or stays silent for a minute. A role whose answer was given up is killed,
// since a later request would get it.
func (p *Process) Call(ctx context.Context, do string, args, reply any) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	req := request{Do: do}
	if args != nil {
		raw, err := json.Marshal(args)
		if err != nil {
			return fmt.Errorf("role %q, %s: %w", p.spec.Role, do, err)
		}
		req.Args = raw
	}
	line, err := json.Marshal(req)
	if err != nil {
		return fmt.Errorf("role %q, %s: %w", p.spec.Role, do, err)
	}
	if _, err := p.stdin.Write(append(line, '\n')); err != nil {
		return p.died(do)
	}
	timeout := time.NewTimer(callTimeout)
	defer timeout.Stop()
	select {
	case line := <-p.lines:
		return decode(line, p.spec.Role, do, reply)
	case <-p.silent:
		return p.died(do)
	case <-timeout.C:
		p.kill()
		return fmt.Errorf("role %q has not answered %q for %v; its last words: %s", p.spec.Role, do, callTimeout, p.stderr)
	case <-ctx.Done():
		p.kill()
		return ctx.Err()
	}
}

func decode(line []byte, role, do string, reply any) error {
	var a answer
	if err := json.Unmarshal(line, &a); err != nil {
		return fmt.Errorf("role %q answers %q with %q: %w", role, do, line, err)
	}
	if a.Error != "" {
		return fmt.Errorf("role %q, %s: %s", role, do, a.Error)
	}
	if reply == nil {
		return nil
	}
	if err := json.Unmarshal(a.Value, reply); err != nil {
		return fmt.Errorf("role %q answers %q: %w", role, do, err)
	}
	return nil
}

// died describes the end of a role that was still needed.
func (p *Process) died(do string) error {
	state := "ended"
	if !p.ended() {
		state = "closed its output"
	} else if p.err != nil {
		state = p.err.Error()
	}
	return fmt.Errorf("role %q died (%s) when asked to %q; its last words: %s", p.spec.Role, state, do, p.stderr)
}

// ended waits until the process has ended, and says whether it did so by
// itself.
func (p *Process) ended() bool {
	select {
	case <-p.done:
		return true
	case <-time.After(endTime):
		p.kill()
		<-p.done
		return false
	}
}

// Mark reads the role's CPU clock; the role itself does so.
func (p *Process) Mark(ctx context.Context) (Usage, error) {
	var u Usage
	err := p.Call(ctx, "mark", nil, &u)
	return u, err
}

// Describe starts a role where spec says and gives the description of that
// machine (package env).
func Describe(ctx context.Context, spec Spec) (map[string]string, error) {
	p, err := Start(ctx, spec)
	if err != nil {
		return nil, err
	}
	defer p.Close()
	var description map[string]string
	err = p.Call(ctx, "describe", nil, &description)
	return description, err
}

// Close ends the role by closing its input, and kills it if that does not
// end it within a second.
func (p *Process) Close() {
	_ = p.stdin.Close() // fails only when the process is gone
	p.ended()
}

// tail keeps the last bytes of a role's standard error.
type tail struct {
	mu  sync.Mutex
	buf []byte
}

const tailBytes = 2000

func (t *tail) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.buf = append(t.buf, p...)
	if extra := len(t.buf) - tailBytes; extra > 0 {
		t.buf = slices.Delete(t.buf, 0, extra)
	}
	return len(p), nil
}

func (t *tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	if text := bytes.TrimSpace(t.buf); len(text) > 0 {
		return string(text)
	}
	return "(none)"
}

// A Handler answers one kind of request. Its value is encoded as JSON.
type Handler func(args json.RawMessage) (any, error)

// Handle makes a handler of a function with typed arguments.
func Handle[A, R any](f func(A) (R, error)) Handler {
	return func(raw json.RawMessage) (any, error) {
		var args A
		if len(raw) > 0 {
			if err := json.Unmarshal(raw, &args); err != nil {
				return nil, fmt.Errorf("arguments: %w", err)
			}
		}
		return f(args)
	}
}

// Roles are the roles of an experiment: each makes the handlers of a new
// process, by request. The requests "mark" and "describe" are answered for all.
type Roles map[string]func() map[string]Handler

// Dispatch runs the role that the process was started as and reports true;
// it reports false in a process that is no role.
func Dispatch(roles Roles, args []string, stdin io.Reader, stdout io.Writer) (bool, error) {
	if len(args) != 2 || args[0] != roleArgument {
		return false, nil
	}
	// Ctrl-C reaches all processes of a terminal; the parent decides.
	signal.Ignore(os.Interrupt)
	role, ok := roles[args[1]]
	if !ok {
		return true, fmt.Errorf("no role %q", args[1])
	}
	return true, serve(role(), stdin, stdout)
}

// serve answers requests until the input ends. Lines are read beside the
// work, so that the process ends with its parent even in mid-window.
func serve(handlers map[string]Handler, stdin io.Reader, stdout io.Writer) error {
	requests := make(chan []byte)
	go func() {
		r := bufio.NewReader(stdin)
		for {
			line, err := r.ReadBytes('\n')
			if err != nil {
				os.Exit(0)
			}
			requests <- line
		}
	}()
	for line := range requests {
		reply, err := json.Marshal(respond(handlers, line))
		if err != nil {
			return fmt.Errorf("encode an answer: %w", err)
		}
		if _, err := stdout.Write(append(reply, '\n')); err != nil {
			return fmt.Errorf("write an answer: %w", err)
		}
	}
	return nil
}

func respond(handlers map[string]Handler, line []byte) answer {
	var req request
	if err := json.Unmarshal(line, &req); err != nil {
		return answer{Error: fmt.Sprintf("request %q: %v", strings.TrimSpace(string(line)), err)}
	}
	handler, ok := handlers[req.Do]
	switch req.Do {
	case "mark":
		handler, ok = func(json.RawMessage) (any, error) { return ownUsage() }, true
	case "describe":
		handler, ok = func(json.RawMessage) (any, error) { return env.Read(), nil }, true
	}
	if !ok {
		return answer{Error: fmt.Sprintf("unknown request %q", req.Do)}
	}
	value, err := handler(req.Args)
	if err != nil {
		return answer{Error: err.Error()}
	}
	raw, err := json.Marshal(value)
	if err != nil {
		return answer{Error: err.Error()}
	}
	return answer{Value: raw}
}

// A Group is the processes of one round.
type Group struct {
	// Remote, when set, is where roles named in RemoteRoles run.
	Remote      string
	RemoteRoles []string

	mu    sync.Mutex
	named map[string]*member
}

type member struct {
	once  sync.Once
	value Closer
	err   error
}

// A Closer is what a group ends.
type Closer interface{ Close() }

// Shared gives what the group has under that name; make makes it when it is
// asked for first, and the group closes it.
func Shared[T Closer](g *Group, name string, make func() (T, error)) (T, error) {
	g.mu.Lock()
	if g.named == nil {
		g.named = map[string]*member{}
	}
	m, ok := g.named[name]
	if !ok {
		m = &member{}
		g.named[name] = m
	}
	g.mu.Unlock()
	m.once.Do(func() {
		var value T
		if value, m.err = make(); m.err == nil {
			m.value = value
		}
	})
	value, _ := m.value.(T) // the zero T with an error
	return value, m.err
}

// Process gives the process of the group with that name, started by spec
// when it is asked for first. prepare, which may be nil, is run once on it.
func (g *Group) Process(ctx context.Context, name string, spec Spec, prepare func(*Process) error) (*Process, error) {
	return Shared(g, name, func() (*Process, error) {
		if g.remote(spec.Role) {
			spec.Remote = g.Remote
		}
		p, err := Start(ctx, spec)
		if err == nil && prepare != nil {
			if err = prepare(p); err != nil {
				p.Close()
			}
		}
		return p, err
	})
}

// ListenHost is the address that a server in the given role listens on: the
// loopback, or every interface where -server moves it to another machine.
func (g *Group) ListenHost(role string) string {
	if g.remote(role) {
		return ""
	}
	return "127.0.0.1"
}

// DialHost is the address at which a server in the given role is reached.
func (g *Group) DialHost(role string) string {
	if g.remote(role) {
		return RemoteHost(g.Remote)
	}
	return "127.0.0.1"
}

func (g *Group) remote(role string) bool {
	return g.Remote != "" && slices.Contains(g.RemoteRoles, role)
}

// Close ends all processes of the group.
func (g *Group) Close() {
	g.mu.Lock()
	defer g.mu.Unlock()
	var wait sync.WaitGroup
	for _, m := range g.named {
		if m.value != nil {
			wait.Go(m.value.Close)
		}
	}
	wait.Wait()
	g.named = nil
}

// Run runs an outside program to its end and returns what it wrote to
// standard output and error together. The program is killed when ctx ends,
// after a minute, or, on Linux, when this process ends.
func Run(ctx context.Context, stdin io.Reader, env []string, name string, args ...string) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Env = append(os.Environ(), env...)
	var out bytes.Buffer
	cmd.Stdin, cmd.Stdout, cmd.Stderr = stdin, &out, &out
	cmd.WaitDelay = endTime // a child of the program may hold its output open
	wait, err := start(cmd)
	if err != nil {
		return nil, fmt.Errorf("start %q: %w", name, err)
	}
	if err := wait(); err != nil {
		return out.Bytes(), errors.Join(err, ctx.Err())
	}
	return out.Bytes(), nil
}
