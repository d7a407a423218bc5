//go:build unix

package trial

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"cryptocost/data"
	"cryptocost/experiments/internal/host"
)

// The environment of a process that runs the fake experiment as a whole
// program.
const (
	planVariable = "CRYPTOCOST_TEST_PLAN" // see fake; set, if empty, in every such process
	dirVariable  = "CRYPTOCOST_TEST_DIR"  // for what tests watch
	nameVariable = "CRYPTOCOST_TEST_NAME" // of the process in the file "starts"
)

// TestMain lets the test binary be the fake experiment and its roles.
func TestMain(m *testing.M) {
	// Under the race detector processes would wait a second before they end.
	os.Setenv("GORACE", os.Getenv("GORACE")+" atexit_sleep_ms=0")
	// Tests run on machines that are busy with other tests.
	idleProbe, idleMost = time.Millisecond, 0
	if isRole, err := host.Dispatch(fake("").Roles, os.Args[1:], os.Stdin, os.Stdout); isRole {
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	if plan, ok := os.LookupEnv(planVariable); ok {
		Main(fake(plan))
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// fake is a tiny experiment with three cases that can be measured and one
// that can't. The plan says what goes wrong in the case /kind=a: at its n-th
// start in this process, "n:die", "n:hang" and "n:wait" let its first slice
// kill the role, last for ever, or wait for a file.
func fake(plan string) Experiment {
	mishaps := map[int]string{}
	for item := range strings.SplitSeq(plan, ",") {
		if n, mishap, ok := strings.Cut(item, ":"); ok {
			start, err := strconv.Atoi(n)
			if err != nil {
				panic(err)
			}
			mishaps[start] = mishap
		}
	}
	var starts atomic.Int64
	begin := func(name string) func(context.Context, *host.Group) (Measure, error) {
		return func(ctx context.Context, g *host.Group) (Measure, error) {
			mishap := ""
			if name == "/kind=a" {
				mishap = mishaps[int(starts.Add(1))]
				note("starts", os.Getenv(nameVariable))
			}
			p, err := g.Process(ctx, name, host.Spec{Role: "worker"}, nil)
			if err != nil {
				return nil, err
			}
			return func(ctx context.Context, d time.Duration) (Slice, error) {
				var r report
				err := p.Call(ctx, "work", order{d, mishap}, &r)
				return r.slice(), err
			}, nil
		}
	}
	return Experiment{
		Name:         "fake",
		Slice:        time.Millisecond,
		Quota:        Quotas{Quick: 3 * time.Millisecond, Standard: 4 * time.Millisecond, Thorough: 5 * time.Millisecond},
		RawLatencies: 2,
		Exact:        []string{"size-B/op"},
		Tools:        func() map[string]string { return map[string]string{"hammer": "1.0"} },
		Roles:        host.Roles{"worker": newWorker},
		RemoteRoles:  []string{"worker"},
		Cases: func() []Case {
			return []Case{
				{Name: "/kind=a", Start: begin("/kind=a")},
				{Name: "/kind=a/twin=b", Repeats: true, Start: begin("/kind=a/twin=b")},
				{Name: "/kind=gone", Missing: "the hammer is not installed"},
				Check("/check=works", func(context.Context, *host.Group) (bool, error) { return true, nil }),
			}
		},
	}
}

// An order is what a worker is asked to do, a report what it did.
type order struct {
	D      time.Duration
	Mishap string
}

type report struct {
	Ops     int
	Elapsed time.Duration
}

// slice has latencies of 1, 2, ... microseconds.
func (r report) slice() Slice {
	s := Slice{
		Ops: r.Ops, Elapsed: r.Elapsed,
		Quantities: []Quantity{{"work-ns/op", float64(r.Elapsed), float64(r.Ops)}},
		Tallies:    []Tally{{r.Ops, []data.Value{{Value: 7, Unit: "size-B/op"}}}},
	}
	for i := range min(r.Ops, 10) {
		s.Latencies = append(s.Latencies, time.Duration(i+1)*time.Microsecond)
	}
	return s
}

func newWorker() map[string]host.Handler {
	note("pids", strconv.Itoa(os.Getpid()))
	return map[string]host.Handler{"work": host.Handle(func(o order) (report, error) {
		switch o.Mishap {
		case "die":
			fmt.Fprintln(os.Stderr, "tripped over a wire")
			os.Exit(7)
		case "hang":
			note("hanging", "yes")
			select {}
		case "wait":
			note("hanging", "yes")
			for released := false; !released; time.Sleep(time.Millisecond) {
				_, err := os.Stat(filepath.Join(os.Getenv(dirVariable), "release"))
				released = err == nil
			}
		}
		var r report
		for start := time.Now(); r.Elapsed < o.D; r.Elapsed = time.Since(start) {
			r.Ops++
		}
		return r, nil
	})}
}

// note adds a line to a file that a test watches.
func note(name, line string) {
	dir := os.Getenv(dirVariable)
	if dir == "" {
		return
	}
	f, err := os.OpenFile(filepath.Join(dir, name), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o666)
	if err != nil {
		panic(err)
	}
	defer f.Close()
	if _, err := f.WriteString(line + "\n"); err != nil {
		panic(err)
	}
}

// A bench is where a test lets the fake experiment run: its data folder, its
// lock and what it notes.
type bench struct {
	t    *testing.T
	dir  string
	path string // of the finished file
}

func newBench(t *testing.T) bench {
	t.Helper()
	dir := t.TempDir()
	t.Setenv("TMPDIR", dir) // of the lock
	t.Setenv(dirVariable, dir)
	return bench{t, dir, filepath.Join(dir, "data", "test", "fake.txt")}
}

// arguments are those of a run of three rounds, and more.
func (b bench) arguments(more ...string) []string {
	return append([]string{"-data", filepath.Join(b.dir, "data"), "-machine", "test", "-profile", "quick", "-rounds", "3"}, more...)
}

// run runs the experiment in this process.
func (b bench) run(e Experiment, more ...string) (stdout, stderr string, err error) {
	var out, errs bytes.Buffer
	err = Run(b.t.Context(), e, b.arguments(more...), &out, &errs)
	return out.String(), errs.String(), err
}

// read reads a finished file.
func (b bench) read() *data.File {
	b.t.Helper()
	file, err := data.ReadFile(b.path)
	if err != nil {
		b.t.Fatal(err)
	}
	return file
}

// text is the content of a file; empty where there is none.
func (b bench) text(path string) string {
	b.t.Helper()
	text, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		b.t.Fatal(err)
	}
	return string(text)
}

// lines are those that processes have noted under name.
func (b bench) lines(name string) []string {
	b.t.Helper()
	return strings.Fields(b.text(filepath.Join(b.dir, name)))
}

// A program is the experiment as a process of its own.
type program struct {
	t      *testing.T
	cmd    *exec.Cmd
	stderr output
	done   chan struct{} // closed when it has ended
}

// output is a buffer that can be read while it is written.
type output struct {
	mu   sync.Mutex
	text strings.Builder
}

func (o *output) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.text.Write(p)
}

func (o *output) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.text.String()
}

// start starts the experiment in a process group of its own, as a shell does.
func (b bench) start(plan string, args ...string) *program {
	b.t.Helper()
	p := &program{t: b.t, cmd: exec.Command(os.Args[0], args...), done: make(chan struct{})}
	p.cmd.Env = append(os.Environ(), planVariable+"="+plan)
	p.cmd.Stderr = &p.stderr
	p.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := p.cmd.Start(); err != nil {
		b.t.Fatal(err)
	}
	go func() {
		_ = p.cmd.Wait() // the state tells
		close(p.done)
	}()
	b.t.Cleanup(func() {
		p.signal(syscall.SIGKILL)
		<-p.done
	})
	return p
}

// signal sends a signal to all processes of the group, as a terminal does.
func (p *program) signal(s syscall.Signal) { _ = syscall.Kill(-p.cmd.Process.Pid, s) }

// wait waits for the end and gives the exit status; -1 after a signal.
func (p *program) wait() int {
	p.t.Helper()
	select {
	case <-p.done:
	case <-time.After(patience):
		p.t.Fatalf("the experiment does not end; it says\n%s", p.stderr.String())
	}
	return p.cmd.ProcessState.ExitCode()
}

// says waits until the program has written text.
func (p *program) says(text string) {
	p.t.Helper()
	eventually(p.t, fmt.Sprintf("the experiment says %q; it says\n%s", text, p.stderr.String()), func() bool {
		return strings.Contains(p.stderr.String(), text)
	})
}

// patience bounds what must happen soon, on a machine however slow.
const patience = 30 * time.Second

// eventually waits until f holds.
func eventually(t *testing.T, what string, f func() bool) {
	t.Helper()
	for end := time.Now().Add(patience); !f(); time.Sleep(2 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("not within %v: %s", patience, what)
		}
	}
}

// nothingLeft waits until all workers so far have ended.
func (b bench) nothingLeft() {
	b.t.Helper()
	for _, text := range b.lines("pids") {
		pid, err := strconv.Atoi(text)
		if err != nil {
			b.t.Fatal(err)
		}
		eventually(b.t, fmt.Sprintf("role %d ends", pid), func() bool { return !alive(pid) })
	}
	// The numbers may be given to other processes from now on.
	if err := os.Remove(filepath.Join(b.dir, "pids")); err != nil && !errors.Is(err, fs.ErrNotExist) {
		b.t.Fatal(err)
	}
}

// alive says whether a process runs. A dead one that its new parent has not
// taken note of yet does not.
func alive(pid int) bool {
	if errors.Is(syscall.Kill(pid, 0), syscall.ESRCH) {
		return false
	}
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return runtime.GOOS != "linux"
	}
	// The state follows the name in parentheses, which may hold any (proc(5)).
	_, state, _ := bytes.Cut(stat[bytes.LastIndexByte(stat, ')'):], []byte(" "))
	return !bytes.HasPrefix(state, []byte("Z"))
}
