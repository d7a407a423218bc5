//go:build unix

package host

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
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
)

// TestMain lets the test binary be its own role, and the process in the
// middle of TestParentKilled.
func TestMain(m *testing.M) {
	// Under the race detector processes would wait a second before they end.
	os.Setenv("GORACE", os.Getenv("GORACE")+" atexit_sleep_ms=0")
	if isRole, err := Dispatch(Roles{"worker": newWorker}, os.Args[1:], os.Stdin, os.Stdout); isRole {
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	if len(os.Args) == 3 && os.Args[1] == "parent" {
		parent(os.Args[2])
		return
	}
	os.Exit(m.Run())
}

type pair struct{ A, B int }

// newWorker is a role that can do everything that goes well or wrong.
func newWorker() map[string]Handler {
	none := struct{}{}
	return map[string]Handler{
		"add":    Handle(func(p pair) (int, error) { return p.A + p.B, nil }),
		"fail":   Handle(func(struct{}) (int, error) { return 0, errors.New("out of luck") }),
		"pid":    Handle(func(struct{}) (int, error) { return os.Getpid(), nil }),
		"getenv": Handle(func(key string) (string, error) { return os.Getenv(key), nil }),
		"burn": Handle(func(cpu time.Duration) (struct{}, error) {
			for before := OwnUsage(); OwnUsage().Sub(before).CPU < cpu; {
			}
			return none, nil
		}),
		"die": Handle(func(status int) (struct{}, error) {
			fmt.Fprintln(os.Stderr, strings.Repeat("talk ", tailBytes)+"the end is near")
			os.Exit(status)
			return none, nil
		}),
		"close": Handle(func(struct{}) (struct{}, error) {
			fmt.Fprintln(os.Stderr, "no more words")
			os.Stdout.Close()
			select {}
		}),
		"hang": Handle(func(struct{}) (struct{}, error) {
			fmt.Fprintln(os.Stderr, "deep in thought")
			select {}
		}),
		"babble": Handle(func(line string) (struct{}, error) {
			fmt.Println(line)
			return none, nil
		}),
		"channel": func(json.RawMessage) (any, error) { return make(chan int), nil },
		"sleep":   Handle(func(pidFile string) (struct{}, error) { return none, sleep(pidFile) }),
	}
}

// sleep runs a program that writes its number to a file and does not end.
func sleep(pidFile string) error {
	_, err := Run(context.Background(), nil, nil, "sh", "-c", `echo $$ >"$0.new" && mv "$0.new" "$0" && exec sleep 1000`, pidFile)
	return err
}

func startWorker(t *testing.T) *Process {
	t.Helper()
	p, err := Start(t.Context(), Spec{Role: "worker"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Close)
	return p
}

func pidOf(t *testing.T, p *Process) int {
	t.Helper()
	var pid int
	if err := p.Call(t.Context(), "pid", nil, &pid); err != nil {
		t.Fatal(err)
	}
	return pid
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

// patience bounds what must happen soon, on a machine however slow.
const patience = 30 * time.Second

// eventually waits until f holds.
func eventually(t *testing.T, what string, f func() bool) {
	t.Helper()
	for end := time.Now().Add(patience); !f(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("not within %v: %s", patience, what)
		}
	}
}

func gone(t *testing.T, what string, pid int) {
	t.Helper()
	eventually(t, fmt.Sprintf("%s, process %d, ends", what, pid), func() bool { return !alive(pid) })
}

// readPid waits for the file of [sleep].
func readPid(t *testing.T, path string) (pid int) {
	t.Helper()
	eventually(t, path+" is written", func() bool {
		text, err := os.ReadFile(path)
		if err != nil {
			return false
		}
		pid, err = strconv.Atoi(strings.TrimSpace(string(text)))
		return err == nil
	})
	// What should have ended must not outlive a test that fails.
	t.Cleanup(func() { _ = syscall.Kill(pid, syscall.SIGKILL) })
	return pid
}

func TestCall(t *testing.T) {
	p := startWorker(t)
	for _, test := range []struct {
		do         string
		args       any
		reply      any // pointer; nil: not looked at
		want, fail string
	}{
		{do: "add", args: pair{2, 3}, reply: new(int), want: "5"},
		{do: "add", args: nil, reply: new(int), want: "0"},
		{do: "add", args: pair{2, 3}},
		{do: "add", args: "two", fail: `role "worker", add: arguments: `},
		{do: "add", args: pair{2, 3}, reply: new(string), fail: `role "worker" answers "add": `},
		{do: "add", args: make(chan int), fail: `role "worker", add: `},
		{do: "fail", reply: new(int), fail: `role "worker", fail: out of luck`},
		{do: "dance", fail: `role "worker", dance: unknown request "dance"`},
		{do: "channel", fail: `role "worker", channel: json: `},
		// One request that failed does not harm the next.
		{do: "add", args: pair{4, 5}, reply: new(int), want: "9"},
	} {
		err := p.Call(t.Context(), test.do, test.args, test.reply)
		if test.fail != "" {
			if err == nil || !strings.HasPrefix(err.Error(), test.fail) {
				t.Errorf("%s(%v): error %v, want %q", test.do, test.args, err, test.fail)
			}
			continue
		}
		if err != nil {
			t.Errorf("%s(%v): %v", test.do, test.args, err)
			continue
		}
		if test.reply != nil {
			if got := fmt.Sprint(*test.reply.(*int)); got != test.want {
				t.Errorf("%s(%v) = %s, want %s", test.do, test.args, got, test.want)
			}
		}
	}
}

func TestCallsSideBySide(t *testing.T) {
	p := startWorker(t)
	var wait sync.WaitGroup
	for i := range 20 {
		wait.Go(func() {
			var sum int
			if err := p.Call(t.Context(), "add", pair{i, i}, &sum); err != nil || sum != 2*i {
				t.Errorf("%d and %d are %d, %v", i, i, sum, err)
			}
		})
	}
	wait.Wait()
}

func TestRespondToNonsense(t *testing.T) {
	for _, line := range []string{"", "hello\n", "[]\n", `{"do":5}` + "\n"} {
		if a := respond(newWorker(), []byte(line)); !strings.HasPrefix(a.Error, "request ") {
			t.Errorf("%q is answered by %+v", line, a)
		}
	}
}

func TestMark(t *testing.T) {
	p := startWorker(t)
	mark := func() Usage {
		u, err := p.Mark(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		return u
	}
	const work = 50 * time.Millisecond
	before := mark()
	if err := p.Call(t.Context(), "burn", work, nil); err != nil {
		t.Fatal(err)
	}
	used := mark().Sub(before)
	if used.CPU < work {
		t.Errorf("the clock went on by %v in a loop that lasts %v by the same clock", used.CPU, work)
	}
	if before.CPU <= 0 || used.Involuntary < 0 {
		t.Errorf("used %+v after %+v", used, before)
	}
}

func TestDescribe(t *testing.T) {
	description, err := Describe(t.Context(), Spec{Role: "worker"})
	if err != nil {
		t.Fatal(err)
	}
	if description["goos"] != runtime.GOOS || description["goarch"] != runtime.GOARCH {
		t.Errorf("described as %v", description)
	}
	if _, err := Describe(t.Context(), Spec{Role: "dancer"}); err == nil {
		t.Error("a role that does not exist describes itself")
	}
}

func TestEnvironment(t *testing.T) {
	p, err := Start(t.Context(), Spec{Role: "worker", Env: []string{"CRYPTOCOST_TEST=a 'b' $c"}})
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	for key, want := range map[string]string{"CRYPTOCOST_TEST": "a 'b' $c", "PATH": os.Getenv("PATH")} {
		var got string
		if err := p.Call(t.Context(), "getenv", key, &got); err != nil || got != want {
			t.Errorf("%s=%q, %v; want %q", key, got, err, want)
		}
	}
}

// wantError checks that err has all the given parts.
func wantError(t *testing.T, err error, parts ...string) {
	t.Helper()
	for _, part := range parts {
		if err == nil || !strings.Contains(err.Error(), part) {
			t.Errorf("error %v, want one with %q", err, part)
		}
	}
}

func TestRoleDies(t *testing.T) {
	for _, test := range []struct {
		status int
		state  string
	}{{0, "ended"}, {3, "exit status 3"}} {
		p := startWorker(t)
		err := p.Call(t.Context(), "die", test.status, nil)
		wantError(t, err, `role "worker" died`, test.state, `"die"`, "the end is near")
		if err != nil && len(err.Error()) > 2*tailBytes {
			t.Errorf("last words of %d bytes", len(err.Error()))
		}
		wantError(t, p.Call(t.Context(), "add", pair{1, 2}, nil), "died", test.state, `"add"`)
	}
}

func TestNoSuchRole(t *testing.T) {
	p, err := Start(t.Context(), Spec{Role: "dancer"})
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	wantError(t, p.Call(t.Context(), "add", nil, nil), `role "dancer" died`, `no role "dancer"`)
}

func TestRoleClosesItsOutput(t *testing.T) {
	p := startWorker(t)
	pid := pidOf(t, p)
	wantError(t, p.Call(t.Context(), "close", nil, nil), "closed its output", "no more words")
	gone(t, "the role", pid)
}

func TestRoleHangs(t *testing.T) {
	p := startWorker(t)
	pid := pidOf(t, p)
	before := callTimeout
	defer func() { callTimeout = before }()
	callTimeout = 100 * time.Millisecond
	wantError(t, p.Call(t.Context(), "hang", nil, nil), `"worker" has not answered "hang"`, "deep in thought")
	gone(t, "the role", pid)
	callTimeout = before
	wantError(t, p.Call(t.Context(), "add", nil, nil), "died", "signal: killed")
}

// TestRoleBabbles has roles that write what is no answer: it must neither be
// taken for one nor keep the role from being closed.
func TestRoleBabbles(t *testing.T) {
	p := startWorker(t)
	wantError(t, p.Call(t.Context(), "babble", "hello", nil), `answers "babble" with "hello\n"`)
	p = startWorker(t)
	pid := pidOf(t, p)
	if err := p.Call(t.Context(), "babble", "{}\n{}\n{}", nil); err != nil {
		t.Fatal(err)
	}
	p.Close()
	gone(t, "the role", pid)
}

// TestCallGivenUp: the answer of a request that was given up must not become
// that of the next.
func TestCallGivenUp(t *testing.T) {
	p := startWorker(t)
	pid := pidOf(t, p)
	ctx, cancel := context.WithCancel(t.Context())
	time.AfterFunc(10*time.Millisecond, cancel)
	if err := p.Call(ctx, "hang", nil, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v, want context.Canceled", err)
	}
	gone(t, "the role", pid)
	wantError(t, p.Call(t.Context(), "pid", nil, nil), "died")
}

func TestContextEndsRole(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	p, err := Start(ctx, Spec{Role: "worker"})
	if err != nil {
		t.Fatal(err)
	}
	pid := pidOf(t, p)
	cancel()
	gone(t, "the role", pid)
	p.Close()
	if _, err := Start(ctx, Spec{Role: "worker"}); !errors.Is(err, context.Canceled) {
		t.Errorf("start after the end: %v", err)
	}
}

func TestCloseOfBusyRole(t *testing.T) {
	p := startWorker(t)
	pid := pidOf(t, p)
	done := make(chan error)
	go func() { done <- p.Call(t.Context(), "hang", nil, nil) }()
	eventually(t, "the role is at work", func() bool { return strings.Contains(p.stderr.String(), "thought") })
	p.Close()
	wantError(t, <-done, "died", "deep in thought")
	gone(t, "the role", pid)
	p.Close() // again does no harm
}

func TestGroup(t *testing.T) {
	var g Group
	defer g.Close()
	var prepared atomic.Int32
	get := func(name string) *Process {
		p, err := g.Process(t.Context(), name, Spec{Role: "worker"}, func(p *Process) error {
			prepared.Add(1)
			return p.Call(t.Context(), "add", nil, nil)
		})
		if err != nil {
			t.Error(err)
		}
		return p
	}
	var same [8]*Process
	var wait sync.WaitGroup
	for i := range same {
		wait.Go(func() { same[i] = get("a") })
	}
	wait.Wait()
	for _, p := range same {
		if p != same[0] {
			t.Error("one name has two processes")
		}
	}
	other := get("b")
	if other == same[0] || prepared.Load() != 2 {
		t.Errorf("two names: same process %v, prepared %d times", other == same[0], prepared.Load())
	}
	var unprepared int
	for range 2 {
		_, err := g.Process(t.Context(), "c", Spec{Role: "worker"}, func(p *Process) error {
			unprepared = pidOf(t, p)
			return p.Call(t.Context(), "fail", nil, nil)
		})
		wantError(t, err, "out of luck")
	}
	pids := []int{pidOf(t, same[0]), pidOf(t, other), unprepared}
	g.Close()
	for _, pid := range pids {
		if alive(pid) {
			t.Errorf("process %d outlives its group", pid)
		}
	}
	if p := get("a"); p == same[0] {
		t.Error("a closed group gives the process of before")
	}
}

func TestGroupHosts(t *testing.T) {
	here := Group{RemoteRoles: []string{"server"}}
	there := Group{RemoteRoles: []string{"server"}, Remote: "ssh://me@example.org:22"}
	for _, test := range []struct {
		g                *Group
		role             string
		listen, dial     string
		runsOnTheOtherOn bool
	}{
		{&here, "server", "127.0.0.1", "127.0.0.1", false},
		{&there, "server", "", "example.org", true},
		{&there, "client", "127.0.0.1", "127.0.0.1", false},
	} {
		if l, d := test.g.ListenHost(test.role), test.g.DialHost(test.role); l != test.listen || d != test.dial {
			t.Errorf("%s of %q listens on %q and is reached at %q", test.role, test.g.Remote, l, d)
		}
		if got := test.g.remote(test.role); got != test.runsOnTheOtherOn {
			t.Errorf("%s of %q is elsewhere: %v", test.role, test.g.Remote, got)
		}
	}
}

// TestInputEnds: a role whose parent is gone ends even in the middle of its
// work.
func TestInputEnds(t *testing.T) {
	for _, work := range []string{"", `{"do":"hang"}` + "\n", `{"do":"burn","args":1000000000000000}` + "\n"} {
		cmd := exec.CommandContext(t.Context(), os.Args[0], roleArgument, "worker")
		stdin, err := cmd.StdinPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		if _, err := io.WriteString(stdin, work); err != nil {
			t.Fatal(err)
		}
		if err := stdin.Close(); err != nil {
			t.Fatal(err)
		}
		stop := time.AfterFunc(patience, func() { _ = cmd.Process.Kill() })
		if err := cmd.Wait(); err != nil {
			t.Errorf("after %q: %v", work, err)
		}
		stop.Stop()
	}
}

// parent is the process in the middle of TestParentKilled: it has a role
// that idles, one that runs a program, and a program of its own, and writes
// the numbers of the roles to its output.
func parent(dir string) {
	ctx := context.Background()
	for _, name := range []string{"idle", "busy"} {
		p, err := Start(ctx, Spec{Role: "worker"})
		if err != nil {
			panic(err)
		}
		var pid int
		if err := p.Call(ctx, "pid", nil, &pid); err != nil {
			panic(err)
		}
		fmt.Println(pid)
		if name == "busy" {
			go p.Call(ctx, "sleep", filepath.Join(dir, "of-role"), nil)
		}
	}
	panic(sleep(filepath.Join(dir, "of-parent")))
}

func TestParentKilled(t *testing.T) {
	dir := t.TempDir()
	cmd := exec.CommandContext(t.Context(), os.Args[0], "parent", dir)
	var out, errs tail
	cmd.Stdout, cmd.Stderr = &out, &errs
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	programs := map[string]int{}
	for _, name := range []string{"of-role", "of-parent"} {
		programs["the program "+name] = readPid(t, filepath.Join(dir, name))
	}
	roles := strings.Fields(out.String())
	if len(roles) != 2 {
		t.Fatalf("the parent tells of roles %q; %s", roles, errs.String())
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	for _, text := range roles {
		pid, err := strconv.Atoi(text)
		if err != nil {
			t.Fatal(err)
		}
		gone(t, "a role", pid)
	}
	if runtime.GOOS == "linux" { // elsewhere no signal tells a program of its parent's death
		for name, pid := range programs {
			gone(t, name, pid)
		}
	}
	_ = cmd.Wait() // it was killed
}

func TestRun(t *testing.T) {
	out, err := Run(t.Context(), strings.NewReader("from stdin\n"), []string{"CRYPTOCOST_TEST=from the environment"},
		"sh", "-c", `cat; echo "$CRYPTOCOST_TEST"; echo "$0" >&2; exit 5`, "from an argument")
	if want := "from stdin\nfrom the environment\nfrom an argument\n"; string(out) != want {
		t.Errorf("output %q, want %q", out, want)
	}
	wantError(t, err, "exit status 5")
	if out, err := Run(t.Context(), nil, nil, "sh", "-c", "cat; echo done"); string(out) != "done\n" || err != nil {
		t.Errorf("without input: %q, %v", out, err)
	}
	_, err = Run(t.Context(), nil, nil, "no-such-program")
	wantError(t, err, `"no-such-program"`)
	if !errors.Is(err, exec.ErrNotFound) {
		t.Errorf("error %v, want exec.ErrNotFound", err)
	}
}

func TestRunEndsWithContext(t *testing.T) {
	for name, script := range map[string]string{
		"program": `echo $$ >"$0"; exec sleep 1000`,
		// The program's own child holds its output open.
		"child": `sleep 1000 & echo $! >"$0.child"; echo $$ >"$0"; wait`,
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "pid")
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			done := make(chan error)
			go func() {
				_, err := Run(ctx, nil, nil, "sh", "-c", script, path)
				done <- err
			}()
			pid := readPid(t, path)
			if name == "child" {
				readPid(t, path+".child")
			}
			cancel()
			select {
			case err := <-done:
				if !errors.Is(err, context.Canceled) {
					t.Errorf("error %v, want context.Canceled", err)
				}
			case <-time.After(patience):
				t.Fatal("it waits for a program that was killed")
			}
			gone(t, "the program", pid)
		})
	}
}

func TestDispatch(t *testing.T) {
	roles := Roles{"worker": newWorker}
	for _, args := range [][]string{nil, {"-list"}, {"role"}, {"worker", "role"}, {"role", "worker", "x"}} {
		if isRole, err := Dispatch(roles, args, strings.NewReader(""), io.Discard); isRole || err != nil {
			t.Errorf("%q: a role %v, %v", args, isRole, err)
		}
	}
	isRole, err := Dispatch(roles, []string{"role", "dancer"}, strings.NewReader(""), io.Discard)
	if !isRole {
		t.Error("an unknown role is none")
	}
	wantError(t, err, `no role "dancer"`)
}

func TestTail(t *testing.T) {
	var last tail
	if got := last.String(); got != "(none)" {
		t.Errorf("of nothing: %q", got)
	}
	for i := range 1000 {
		fmt.Fprintf(&last, "line %d\n", i)
	}
	got := last.String()
	if len(got) > tailBytes || !strings.HasSuffix(got, "line 998\nline 999") {
		t.Errorf("%d bytes, %q", len(got), got)
	}
}
