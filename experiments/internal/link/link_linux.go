package link

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"

	"cryptocost/experiments/internal/host"
)

// A Link is a wire and its two ends. A round has one, whose delays are set
// for each case.
type Link struct {
	hub    *host.Process
	socket *os.File // on which the hub takes commands to start
}

// Close ends the link and all processes at its ends.
func (l *Link) Close() {
	l.hub.Close()
	_ = l.socket.Close()
}

// open starts the hub and lets it make the ends.
func open(ctx context.Context) (*Link, error) {
	ours, theirs, err := socketPair(unix.SOCK_SEQPACKET)
	if err != nil {
		return nil, err
	}
	defer theirs.Close()
	p, err := host.Start(ctx, host.Spec{Role: hubRole, Place: namespaces{theirs}})
	if err != nil {
		_ = ours.Close()
		return nil, err
	}
	l := &Link{p, ours}
	if err := p.Call(ctx, "open", nil, nil); err != nil {
		l.Close()
		return nil, err
	}
	return l, nil
}

// socketPair makes two files of sockets that are joined.
func socketPair(kind int) (a, b *os.File, err error) {
	fds, err := unix.Socketpair(unix.AF_UNIX, kind|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, nil, fmt.Errorf("make a pair of sockets: %w", err)
	}
	return os.NewFile(uintptr(fds[0]), "socket"), os.NewFile(uintptr(fds[1]), "socket"), nil
}

// namespaces is the place of the hub: user, network and process namespaces of
// its own, in which the caller's user is root. The socket becomes the hub's
// descriptor commandFD.
type namespaces struct{ socket *os.File }

const commandFD = 3

// Start implements [host.Place].
func (n namespaces) Start(cmd *exec.Cmd) (wait func() error, kill func(), err error) {
	cmd.SysProcAttr = &syscall.SysProcAttr{
		Cloneflags:  unix.CLONE_NEWUSER | unix.CLONE_NEWNET | unix.CLONE_NEWPID,
		UidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getuid(), Size: 1}},
		GidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getgid(), Size: 1}},
	}
	cmd.ExtraFiles = []*os.File{n.socket}
	return host.Here{}.Start(cmd)
}

// limits are the settings that forbid namespaces to ordinary users or to all,
// with the value that does, and the one that allows them.
var limits = []struct{ sysctl, forbids, allows string }{
	{"user.max_user_namespaces", "0", "10000"},
	{"user.max_net_namespaces", "0", "10000"},
	{"user.max_pid_namespaces", "0", "10000"},
	{"kernel.unprivileged_userns_clone", "0", "1"},
	{"kernel.apparmor_restrict_unprivileged_userns", "1", "0"},
}

// remedy is the command that would allow a link, as far as can be told.
func remedy() string {
	for _, l := range limits {
		value, err := os.ReadFile("/proc/sys/" + strings.ReplaceAll(l.sysctl, ".", "/"))
		if err == nil && strings.TrimSpace(string(value)) == l.forbids {
			return fmt.Sprintf(" (allow it as root with: sysctl -w %s=%s)", l.sysctl, l.allows)
		}
	}
	return " (in a container, allow it with: docker run --privileged)"
}

// A command is what a process at an end is started by. Its three standard
// streams come with it, and a socket: the hub reports on it how the start
// went and, when the process has ended, how it ended; when the caller closes
// its side for writing, the process is killed.
type command struct {
	End  int      `json:"end"`
	Path string   `json:"path"`
	Args []string `json:"args"`
	Env  []string `json:"env"`
	Dir  string   `json:"dir"`
}

// A report is a line about a process. The error is empty when the process has
// started, or has ended with status 0.
type report struct {
	Error string `json:"error"`
}

// commandBytes bounds a command, which is one packet.
const commandBytes = 128 << 10

// An end is a place.
type end struct {
	link *Link
	side int
}

// Start implements [host.Place].
func (e end) Start(cmd *exec.Cmd) (wait func() error, kill func(), err error) {
	streams, err := openStreams(cmd)
	if err != nil {
		return nil, nil, err
	}
	ours, theirs, err := socketPair(unix.SOCK_STREAM)
	if err != nil {
		streams.close()
		return nil, nil, err
	}
	err = e.link.send(command{e.side, cmd.Path, cmd.Args, cmd.Env, cmd.Dir}, append(streams.files[:], theirs))
	streams.close()
	_ = theirs.Close()
	if err != nil {
		_ = ours.Close()
		return nil, nil, err
	}
	reports := json.NewDecoder(bufio.NewReader(ours))
	next := func() error {
		var r report
		if err := reports.Decode(&r); err != nil {
			return fmt.Errorf("the link has ended: %w", err)
		}
		if r.Error != "" {
			return errors.New(r.Error)
		}
		return nil
	}
	if err := next(); err != nil {
		_ = ours.Close()
		return nil, nil, err
	}
	kill = func() { _ = unix.Shutdown(int(ours.Fd()), unix.SHUT_WR) } // fails only when the hub is gone, and with it the process
	wait = func() error {
		err := next()
		<-streams.copied
		return errors.Join(err, ours.Close())
	}
	return wait, kill, nil
}

// send passes a command and files to the hub.
func (l *Link) send(c command, files []*os.File) error {
	raw, err := json.Marshal(c)
	if err != nil {
		return err
	}
	if len(raw) > commandBytes {
		return fmt.Errorf("start %q at an end of the link: arguments and environment of %d bytes are too long", c.Path, len(raw))
	}
	var fds []int
	for _, f := range files {
		fds = append(fds, int(f.Fd()))
	}
	if err := unix.Sendmsg(int(l.socket.Fd()), raw, unix.UnixRights(fds...), nil, 0); err != nil {
		return fmt.Errorf("start %q at an end of the link: %w", c.Path, err)
	}
	return nil
}

// streams are the standard streams of a command as files for its process, to
// be closed here once they are passed on.
type streams struct {
	files  [3]*os.File
	copied chan struct{} // closed when all output that is no file is copied
}

// openStreams makes files of the streams of cmd as [exec.Cmd] does: files and
// its pipes as they are, a pipe for a writer, and the null device for none.
func openStreams(cmd *exec.Cmd) (*streams, error) {
	s := &streams{copied: make(chan struct{})}
	var outputs []func()
	for i, stream := range []any{cmd.Stdin, cmd.Stdout, cmd.Stderr} {
		var err error
		switch stream := stream.(type) {
		case *os.File:
			s.files[i] = stream
		case nil:
			s.files[i], err = os.OpenFile(os.DevNull, os.O_RDWR, 0)
		case io.Writer:
			var reader *os.File
			if reader, s.files[i], err = os.Pipe(); err == nil {
				outputs = append(outputs, func() {
					_, _ = io.Copy(stream, reader) // ends with the process
					_ = reader.Close()
				})
			}
		default:
			err = fmt.Errorf("standard input is a %T, not a file", stream)
		}
		if err != nil {
			s.close()
			return nil, err
		}
	}
	go func() {
		defer close(s.copied)
		for _, output := range outputs {
			output()
		}
	}()
	return s, nil
}

// close closes the files here.
func (s *streams) close() {
	for _, f := range s.files {
		if f != nil {
			_ = f.Close()
		}
	}
}
