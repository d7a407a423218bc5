//go:build unix

package host

import (
	"debug/buildinfo"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
)

func TestCheckRemote(t *testing.T) {
	for _, test := range []struct {
		remote string
		host   string   // empty: refused
		args   []string // of ssh, before its host
		target string
	}{
		{"ssh://laptop", "laptop", nil, "laptop"},
		{"ssh://laptop/", "laptop", nil, "laptop"},
		{"ssh://me@laptop", "laptop", nil, "me@laptop"},
		{"ssh://me@laptop.example.org:2222", "laptop.example.org", []string{"-p", "2222"}, "me@laptop.example.org"},
		{"ssh://192.0.2.7:22", "192.0.2.7", []string{"-p", "22"}, "192.0.2.7"},
		{"ssh://me@[2001:db8::7]:22", "2001:db8::7", []string{"-p", "22"}, "me@2001:db8::7"},
		// What looks like an option stays a name, behind "--".
		{"ssh://-oProxyCommand=x", "-oProxyCommand=x", nil, "-oProxyCommand=x"},
		{"", "", nil, ""},
		{"laptop", "", nil, ""},
		{"me@laptop", "", nil, ""},
		{"laptop:22", "", nil, ""},
		{"http://laptop", "", nil, ""},
		{"ssh://", "", nil, ""},
		{"ssh:laptop", "", nil, ""},
		{"ssh://:22", "", nil, ""},
		{"ssh://laptop:ssh", "", nil, ""},
		{"ssh://laptop/home", "", nil, ""},
		{"ssh://laptop?port=22", "", nil, ""},
		{"ssh://laptop#1", "", nil, ""},
		{"ssh://me:secret@laptop", "", nil, ""},
		{"ssh://lap top", "", nil, ""},
	} {
		err := CheckRemote(test.remote)
		args, argsErr := sshArguments(test.remote)
		if test.host == "" {
			if err == nil || argsErr == nil || !strings.Contains(err.Error(), "ssh://[user@]host[:port]") {
				t.Errorf("%q: %v, %v", test.remote, err, argsErr)
			}
			if err != nil && strings.Contains(err.Error(), "secret") {
				t.Errorf("%q: the password is in %q", test.remote, err)
			}
			continue
		}
		want := slices.Concat([]string{"-o", "BatchMode=yes"}, test.args, []string{"--", test.target})
		if err != nil || argsErr != nil || !slices.Equal(args, want) {
			t.Errorf("%q: ssh %q, want %q (%v, %v)", test.remote, args, want, err, argsErr)
		}
		if got := RemoteHost(test.remote); got != test.host {
			t.Errorf("%q is reached at %q", test.remote, got)
		}
	}
}

func TestBuildForThisMachine(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	here := ""
	for uname, target := range architectures {
		if target == [2]string{runtime.GOOS, runtime.GOARCH} {
			here = uname
		}
	}
	if here == "" {
		t.Skipf("roles don't run on %s/%s", runtime.GOOS, runtime.GOARCH)
	}
	path, cleanup, err := buildFor(t.Context(), here)
	if err != nil || path != self {
		t.Fatalf("%q, %v; want the running binary, %q", path, err, self)
	}
	cleanup()
	if _, err := os.Stat(self); err != nil {
		t.Errorf("the running binary was removed: %v", err)
	}
	for _, uname := range []string{"", "Linux riscv64", "FreeBSD amd64", "linux x86_64"} {
		_, _, err := buildFor(t.Context(), uname)
		wantError(t, err, strconv.Quote(uname), "Linux and macOS")
	}
}

// TestBuildForAnotherMachine builds a program of this binary's name.
func TestBuildForAnotherMachine(t *testing.T) {
	uname, want := "Linux aarch64", [2]string{"linux", "arm64"}
	if runtime.GOARCH == "arm64" {
		uname, want = "Linux x86_64", [2]string{"linux", "amd64"}
	}
	t.Chdir(t.TempDir())
	t.Setenv("TMPDIR", t.TempDir())
	_, _, err := buildFor(t.Context(), uname)
	wantError(t, err, want[1], "project's folder")
	name := filepath.Base(os.Args[0])
	if err := os.MkdirAll(filepath.Join("experiments", name), 0o777); err != nil {
		t.Fatal(err)
	}
	for path, text := range map[string]string{
		"go.mod": "module example.org/test\n",
		filepath.Join("experiments", name, "main.go"): "package main\n\nfunc main() {}\n",
	} {
		if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	path, cleanup, err := buildFor(t.Context(), uname)
	if err != nil {
		t.Fatal(err)
	}
	info, err := buildinfo.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	settings := map[string]string{}
	for _, s := range info.Settings {
		settings[s.Key] = s.Value
	}
	if got := [2]string{settings["GOOS"], settings["GOARCH"]}; got != want || settings["CGO_ENABLED"] != "0" {
		t.Errorf("built for %v, CGO_ENABLED=%s", got, settings["CGO_ENABLED"])
	}
	cleanup()
	left, err := filepath.Glob(filepath.Join(os.TempDir(), "*"))
	if err != nil || len(left) != 0 {
		t.Errorf("left behind: %q, %v", left, err)
	}
}

// sshServer runs sshd on the loopback, with keys made for this test, and
// makes the ssh program that this process finds use them. It gives the server
// as -server takes it.
func sshServer(t *testing.T) (remote string) {
	t.Helper()
	sshd, err := exec.LookPath("sshd")
	if err != nil {
		if sshd, err = exec.LookPath("/usr/sbin/sshd"); err != nil {
			t.Skipf("sshd is not installed (Debian: openssh-server): %v", err)
		}
	}
	ssh, err := exec.LookPath("ssh")
	if err != nil {
		t.Skipf("ssh is not installed (Debian: openssh-client): %v", err)
	}
	dir := t.TempDir()
	file := func(name string) string { return filepath.Join(dir, name) }
	write := func(name string, mode os.FileMode, text string) {
		t.Helper()
		if err := os.WriteFile(file(name), []byte(text), mode); err != nil {
			t.Fatal(err)
		}
	}
	public := map[string]string{}
	for _, name := range []string{"host", "user"} {
		if out, err := exec.Command("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", "test", "-f", file(name)).CombinedOutput(); err != nil {
			t.Fatalf("ssh-keygen: %v: %s", err, out)
		}
		key, err := os.ReadFile(file(name + ".pub"))
		if err != nil {
			t.Fatal(err)
		}
		public[name] = string(key)
	}
	write("authorized_keys", 0o600, public["user"])
	write("sshd_config", 0o600, fmt.Sprintf("HostKey %s\nAuthorizedKeysFile %s\n", file("host"), file("authorized_keys"))+
		"StrictModes no\nUsePAM no\nPasswordAuthentication no\nKbdInteractiveAuthentication no\nPermitRootLogin prohibit-password\nPidFile none\n")
	if out, err := exec.Command(sshd, "-t", "-f", file("sshd_config")).CombinedOutput(); err != nil {
		t.Skipf("sshd can't run here: %v: %s", err, out)
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = listener.Close() })
	go serveSSH(t, listener, sshd, file("sshd_config"))
	port := listener.Addr().(*net.TCPAddr).Port
	write("known_hosts", 0o600, fmt.Sprintf("[127.0.0.1]:%d %s", port, public["host"]))
	write("ssh_config", 0o600, fmt.Sprintf("IdentityFile %s\nUserKnownHostsFile %s\n", file("user"), file("known_hosts"))+
		"IdentitiesOnly yes\nIdentityAgent none\nGlobalKnownHostsFile none\nStrictHostKeyChecking yes\nLogLevel ERROR\n")
	// Users say all this in ~/.ssh/config, which ssh finds by the password
	// database and not by HOME.
	write("ssh", 0o700, fmt.Sprintf("#!/bin/sh\nexec '%s' -F '%s' \"$@\"\n", ssh, file("ssh_config")))
	t.Setenv("PATH", dir+string(os.PathListSeparator)+os.Getenv("PATH"))
	if out, err := exec.Command("ssh", "-p", strconv.Itoa(port), "127.0.0.1", "true").CombinedOutput(); err != nil {
		t.Skipf("sshd does not let this user in: %v: %s", err, out)
	}
	return fmt.Sprintf("ssh://127.0.0.1:%d", port)
}

// serveSSH starts an sshd for every connection, as inetd does (sshd(8), -i),
// so that the port can be one that is free.
func serveSSH(t *testing.T, listener net.Listener, sshd, config string) {
	for {
		conn, err := listener.Accept()
		if err != nil {
			return
		}
		f, err := conn.(*net.TCPConn).File()
		if err != nil {
			t.Error(err)
			return
		}
		cmd := exec.Command(sshd, "-i", "-f", config)
		cmd.Stdin, cmd.Stdout = f, f
		if err := cmd.Start(); err != nil {
			t.Error(err)
			return
		}
		_, _ = f.Close(), conn.Close() // sshd has its own
		go func() { _ = cmd.Wait() }() // the client tells what went wrong
	}
}

func TestRemoteRole(t *testing.T) {
	remote := sshServer(t)
	t.Cleanup(func() {
		if d := deployments[remote]; d != nil && d.path != "" {
			_ = os.Remove(d.path)
		}
	})
	setting := `a 'b' "$c" \d`
	group := Group{Remote: remote, RemoteRoles: []string{"worker"}}
	defer group.Close()
	p, err := group.Process(t.Context(), "a", Spec{Role: "worker", Env: []string{"CRYPTOCOST_TEST=" + setting}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	var sum int
	if err := p.Call(t.Context(), "add", pair{2, 3}, &sum); err != nil || sum != 5 {
		t.Fatalf("2 and 3 are %d, %v", sum, err)
	}
	var got string
	if err := p.Call(t.Context(), "getenv", "CRYPTOCOST_TEST", &got); err != nil || got != setting {
		t.Errorf("environment %q, %v; want %q", got, err, setting)
	}
	// Only what came through sshd has this.
	if err := p.Call(t.Context(), "getenv", "SSH_CONNECTION", &got); err != nil || got == "" {
		t.Errorf("SSH_CONNECTION=%q, %v", got, err)
	}
	if u, err := p.Mark(t.Context()); err != nil || u.CPU <= 0 {
		t.Errorf("mark %+v, %v", u, err)
	}
	description, err := Describe(t.Context(), Spec{Role: "worker", Remote: remote})
	if err != nil || description["goos"] != runtime.GOOS {
		t.Errorf("described as %v, %v", description, err)
	}
	dying, err := group.Process(t.Context(), "b", Spec{Role: "worker"}, nil)
	if err != nil {
		t.Fatal(err)
	}
	wantError(t, dying.Call(t.Context(), "die", 3, nil), "exit status 3", "the end is near")
	lost, err := group.Process(t.Context(), "c", Spec{Role: "worker"}, nil)
	if err != nil {
		t.Fatal(err)
	}
	closed, cut := pidOf(t, p), pidOf(t, lost)
	lost.kill() // the ssh here, as when this machine goes away
	gone(t, "the role whose connection was cut", cut)
	group.Close()
	gone(t, "the role of a closed group", closed)
}

func TestRemoteFails(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("PATH", dir)
	ssh := func(script string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(dir, "ssh"), []byte("#!/bin/sh\n"+script+"\n"), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	for i, test := range []struct {
		name, script string
		want         []string
	}{
		{"no ssh", "", []string{"architecture", `"ssh"`}},
		{"no such host", "echo >&2 could not resolve; exit 255", []string{"architecture", "could not resolve"}},
		{"other system", "echo Plan9 386", []string{"Plan9 386", "Linux and macOS"}},
	} {
		if test.script != "" {
			ssh(test.script)
		}
		_, err := Start(t.Context(), Spec{Role: "worker", Remote: fmt.Sprintf("ssh://host-%d", i)})
		wantError(t, err, test.want...)
	}
	_, err := Start(t.Context(), Spec{Role: "worker", Remote: "laptop"})
	wantError(t, err, "ssh://[user@]host[:port]")
}
