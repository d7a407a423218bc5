package link

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"cryptocost/experiments/internal/host"
)

// The test binary is also a parent to be killed, and one on a machine that
// allows no namespaces.
const (
	modeVariable = "CRYPTOCOST_TEST_LINK"
	parentMode   = "parent"
	refusedMode  = "refused"
)

func TestMain(m *testing.M) {
	switch os.Getenv(modeVariable) {
	case parentMode:
		if len(os.Args) == 1 {
			keepLink()
		}
	case refusedMode:
		if len(os.Args) == 1 {
			fmt.Println(Missing())
			return
		}
	}
	os.Exit(host.RunTests(m, Roles(host.Roles{oneWayRole: oneWay})))
}

// keepLink opens a link, uses it, and does not end.
func keepLink() {
	g := &host.Group{}
	for {
		measure, err := Wire{}.Connecting(false)(context.Background(), g)
		if err == nil {
			_, err = measure(context.Background(), 0)
		}
		if err != nil {
			fmt.Println(err)
			os.Exit(1)
		}
		fmt.Println("ready")
	}
}

// self starts the test binary again in a mode.
func self(t *testing.T, mode string) *exec.Cmd {
	t.Helper()
	binary, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(binary)
	cmd.Env = append(os.Environ(), modeVariable+"="+mode)
	return cmd
}

// others are the processes of the test binary but the test itself.
func others(t *testing.T) (pids []string) {
	t.Helper()
	binary, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	links, err := filepath.Glob("/proc/[0-9]*/exe")
	if err != nil {
		t.Fatal(err)
	}
	for _, link := range links {
		pid := filepath.Base(filepath.Dir(link))
		if target, err := os.Readlink(link); err == nil && target == binary && pid != fmt.Sprint(os.Getpid()) {
			pids = append(pids, pid)
		}
	}
	return pids
}

// namespacesOf are those that the files match and that the test itself is not
// in.
func namespacesOf(files ...string) []string {
	read := func(pattern string) (names []string) {
		links, _ := filepath.Glob(pattern) // none if the process has ended
		for _, link := range links {
			if target, err := os.Readlink(link); err == nil {
				names = append(names, target)
			}
		}
		return names
	}
	own := read("/proc/self/ns/*")
	var found []string
	for _, pattern := range files {
		for _, name := range read(pattern) {
			if !slices.Contains(own, name) {
				found = append(found, name)
			}
		}
	}
	return found
}

// leftOf are processes of the test binary, and those of the given namespaces
// that any process is in.
func leftOf(t *testing.T, made []string) []string {
	t.Helper()
	left := others(t)
	running, err := filepath.Glob("/proc/[0-9]*/exe")
	if err != nil {
		t.Fatal(err)
	}
	for _, link := range running {
		// One that has ended, and only waits for its parent to notice, has none.
		if _, err := os.Readlink(link); err != nil {
			continue
		}
		for _, name := range namespacesOf(filepath.Dir(link) + "/ns/*") {
			if slices.Contains(made, name) {
				left = append(left, name)
			}
		}
	}
	return left
}

// TestKilledParent kills the parent of a link at random moments.
func TestKilledParent(t *testing.T) {
	if Missing() != "" {
		t.Skip(Missing())
	}
	rng := rand.New(rand.NewPCG(1, 1))
	seen := 0
	for range 20 {
		parent := self(t, parentMode)
		if err := parent.Start(); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Duration(rng.Int64N(int64(400 * time.Millisecond))))
		var made []string
		for _, pid := range others(t) {
			made = append(made, namespacesOf("/proc/"+pid+"/task/*/ns/*")...)
		}
		seen += len(made)
		if err := parent.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		_ = parent.Wait() // it was killed
		// Processes that are ending hold their namespaces for a moment.
		var left []string
		for deadline := time.Now().Add(10 * time.Second); time.Now().Before(deadline); time.Sleep(5 * time.Millisecond) {
			if left = leftOf(t, made); len(left) == 0 {
				break
			}
		}
		if len(left) > 0 {
			t.Fatalf("%v outlive their parent", left)
		}
	}
	if seen == 0 {
		t.Error("no link was ever there when its parent was killed")
	}
	devices, err := net.Interfaces()
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range devices {
		if strings.HasPrefix(d.Name, "end") {
			t.Errorf("the device %s outlives its link", d.Name)
		}
	}
}

// TestRefused: in a user namespace that allows none below it, as a system may
// be set up, the link is missing and says how to allow it.
func TestRefused(t *testing.T) {
	if Missing() != "" {
		t.Skip(Missing())
	}
	// The shell is root in its namespace, where it may set the limit.
	binary := self(t, refusedMode)
	cmd := exec.Command("/bin/sh", "-c", `echo 0 >/proc/sys/user/max_user_namespaces && exec "$0"`, binary.Path)
	cmd.Env = binary.Env
	cmd.SysProcAttr = &syscall.SysProcAttr{
		Cloneflags:  unix.CLONE_NEWUSER,
		UidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getuid(), Size: 1}},
		GidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getgid(), Size: 1}},
	}
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	for _, part := range []string{"no link of network namespaces", "the limit of namespaces is reached", "sysctl -w user.max_user_namespaces=10000"} {
		if !strings.Contains(string(out), part) {
			t.Errorf("no %q in %q", part, out)
		}
	}
	if strings.Contains(string(out), filepath.Dir(binary.Path)) {
		t.Errorf("a path of this machine in %q", out)
	}
}

// TestPrograms starts outside programs at both ends.
func TestPrograms(t *testing.T) {
	if Missing() != "" {
		t.Skip(Missing())
	}
	g := &host.Group{}
	defer g.Close()
	l, err := Open(t.Context(), g)
	if err != nil {
		t.Fatal(err)
	}
	run := func(p host.Place, in, script string) (stdout, stderr string, err error) {
		cmd := exec.Command("/bin/sh", "-c", script)
		var out, complaint bytes.Buffer
		cmd.Stdout, cmd.Stderr = &out, &complaint
		stdin, err := cmd.StdinPipe()
		if err != nil {
			t.Fatal(err)
		}
		wait, _, err := p.Start(cmd)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := io.WriteString(stdin, in); err != nil {
			t.Fatal(err)
		}
		if err := stdin.Close(); err != nil {
			t.Fatal(err)
		}
		err = wait()
		return out.String(), complaint.String(), err
	}
	for _, test := range []struct {
		place host.Place
		want  string
	}{{l.Client(), ClientAddress}, {l.Server(), ServerAddress}} {
		// The fourth column has the local addresses, in hexadecimal.
		out, complaint, err := run(test.place, "hello", `cat; echo >&2 oh; grep -c : /proc/self/net/dev; exit 3`)
		if out != "hello2\n" || complaint != "oh\n" || err == nil || err.Error() != "exit status 3" {
			t.Errorf("at %s: %q, %q, %v", test.want, out, complaint, err)
		}
		if out, _, err := run(test.place, "", `cat /proc/self/net/fib_trie`); err != nil || !strings.Contains(out, test.want) {
			t.Errorf("at %s: %v, addresses %s", test.want, err, out)
		}
	}
	if _, _, err := l.Client().Start(exec.Command("/nowhere")); err == nil || !strings.Contains(err.Error(), "no such file") {
		t.Errorf("a program that is not there: %v", err)
	}
	if _, _, err := l.Client().Start(exec.Command("/bin/true", strings.Repeat("x", commandBytes))); err == nil || !strings.Contains(err.Error(), "too long") {
		t.Errorf("a long command line: %v", err)
	}
	bad := exec.Command("/bin/true")
	bad.Stdin = strings.NewReader("")
	if _, _, err := l.Client().Start(bad); err == nil {
		t.Error("input that is no file is taken")
	}
	wait, kill, err := l.Server().Start(exec.Command("/bin/sleep", "1000"))
	if err != nil {
		t.Fatal(err)
	}
	kill()
	if err := wait(); err == nil || err.Error() != "signal: killed" {
		t.Errorf("killed: %v", err)
	}
}

// TestSegments: what TCP sends crosses the wire in packets of its MTU, not in
// larger ones that a device would cut.
func TestSegments(t *testing.T) {
	if Missing() != "" {
		t.Skip(Missing())
	}
	g := &host.Group{}
	defer g.Close()
	l, err := Open(t.Context(), g)
	if err != nil {
		t.Fatal(err)
	}
	p, err := l.probes(t.Context(), g)
	if err != nil {
		t.Fatal(err)
	}
	before, err := l.Mark(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	const size, mss = 1 << 20, 1448
	bash, err := exec.LookPath("bash")
	if err != nil {
		t.Skip(err)
	}
	to := strings.Replace(p.address, ":", "/", 1)
	wait, _, err := l.Client().Start(exec.Command(bash, "-c", fmt.Sprintf("head -c %d /dev/zero >/dev/tcp/%s", size, to)))
	if err == nil {
		err = wait()
	}
	if err != nil {
		t.Fatal(err)
	}
	// The shell ends when the kernel has its bytes, which may be before they crossed.
	var after Traffic
	for deadline := time.Now().Add(10 * time.Second); ; time.Sleep(10 * time.Millisecond) {
		if after, err = l.Mark(t.Context()); err != nil {
			t.Fatal(err)
		}
		packets := after.Packets - before.Packets
		if packets >= size/mss {
			break
		}
		if time.Now().After(deadline) {
			t.Fatalf("%d bytes crossed in %d packets", size, packets)
		}
	}
	if after.Dropped != before.Dropped || after.LastSYN <= before.LastSYN || after.LastSYN > Now() {
		t.Errorf("traffic %+v", after)
	}
}

func TestFirstOfConnection(t *testing.T) {
	frame := func(options int, flags byte) []byte {
		f := make([]byte, 14+20+options+20)
		binary.BigEndian.PutUint16(f[12:], 0x0800)
		f[14] = 0x45 + byte(options/4)
		f[14+9] = 6
		f[14+20+options+13] = flags
		return f
	}
	arp, udp := frame(0, 2), frame(0, 2)
	arp[13], udp[14+9] = 6, 17
	for _, test := range []struct {
		name  string
		frame []byte
		want  bool
	}{
		{"SYN", frame(0, 2), true},
		{"SYN behind IP options", frame(8, 2), true},
		{"SYN-ACK", frame(0, 18), false},
		{"ACK", frame(0, 16), false},
		{"no IP", arp, false},
		{"UDP", udp, false},
		{"short", frame(0, 2)[:14+20+13], false},
		{"empty", nil, false},
	} {
		if got := firstOfConnection(test.frame); got != test.want {
			t.Errorf("%s: %v", test.name, got)
		}
	}
}

func FuzzFirstOfConnection(f *testing.F) {
	f.Add(make([]byte, 60))
	f.Fuzz(func(t *testing.T, frame []byte) { firstOfConnection(frame) })
}

const oneWayRole = "one-way"

// oneWay is a role of tests: it takes bytes over UDP, or sends them, and tells
// when.
func oneWay() map[string]host.Handler {
	var conn *net.UDPConn
	return map[string]host.Handler{
		"listen": host.Handle(func(struct{}) (string, error) {
			var err error
			if conn, err = net.ListenUDP("udp4", &net.UDPAddr{IP: net.ParseIP(ServerAddress)}); err != nil {
				return "", err
			}
			return conn.LocalAddr().String(), conn.SetReadDeadline(time.Now().Add(10 * time.Second))
		}),
		"send": host.Handle(func(to string) (time.Duration, error) {
			conn, err := net.Dial("udp4", to)
			if err != nil {
				return 0, err
			}
			defer conn.Close()
			at := Now()
			_, err = conn.Write([]byte{1})
			return at, err
		}),
		"arrived": host.Handle(func(struct{}) (time.Duration, error) {
			_, err := conn.Read(make([]byte, 1))
			return Now(), err
		}),
	}
}

// TestDirection: what the client sends takes the delay up, whatever the delay
// down is.
func TestDirection(t *testing.T) {
	if Missing() != "" {
		t.Skip(Missing())
	}
	g := &host.Group{}
	defer g.Close()
	l, err := Open(t.Context(), g)
	if err != nil {
		t.Fatal(err)
	}
	var ends [2]*host.Process
	for i, place := range []host.Place{l.Client(), l.Server()} {
		if ends[i], err = g.Process(t.Context(), fmt.Sprint("end ", i), host.Spec{Role: oneWayRole, Place: place}, nil); err != nil {
			t.Fatal(err)
		}
	}
	var to string
	if err := ends[1].Call(t.Context(), "listen", nil, &to); err != nil {
		t.Fatal(err)
	}
	for _, w := range []Wire{{}, {0, 20 * time.Millisecond}, {20 * time.Millisecond, 0}, {5 * time.Millisecond, 15 * time.Millisecond}} {
		if err := l.Set(t.Context(), w); err != nil {
			t.Fatal(err)
		}
		shortest := time.Hour // of several, one is not held up even on a busy machine
		for range 20 {
			received := make(chan error, 1)
			var sent, arrived time.Duration
			go func() { received <- ends[1].Call(t.Context(), "arrived", nil, &arrived) }()
			if err := errors.Join(ends[0].Call(t.Context(), "send", to, &sent), <-received); err != nil {
				t.Fatal(err)
			}
			shortest = min(shortest, arrived-sent)
		}
		if shortest < w.Up || shortest > w.Up+4*time.Millisecond {
			t.Errorf("%v: what the client sends takes %v", w, shortest)
		}
	}
}
