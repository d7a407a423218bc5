package link

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
	"syscall"
	"time"

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
		if errors.Is(err, unix.EINVAL) { // of a kernel that is built without them (clone(2))
			err = unix.ENOSYS
		}
		return nil, refused("start a process in namespaces of its own", err)
	}
	l := &Link{p, ours}
	var failed failure
	if err := p.Call(ctx, "open", nil, &failed); err != nil {
		l.Close()
		return nil, err
	}
	if failed.Why != "" {
		l.Close()
		return nil, refused(failed.Why, failed.Errno)
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

// A failure is one of the hub with the number that the kernel gave for it. It
// is none without a reason.
type failure struct {
	Why   string        `json:"why"`
	Errno syscall.Errno `json:"errno"`
}

// refusals are the numbers by which a kernel says that something is forbidden,
// or not there.
var refusals = []syscall.Errno{unix.EPERM, unix.EACCES, unix.ENOSPC, unix.ENOSYS, unix.EROFS, unix.EOPNOTSUPP, unix.EAFNOSUPPORT, unix.ENODEV}

// refused is the error of a step that failed: a refusal, if the system refused.
func refused(step string, err error) error {
	var errno syscall.Errno
	if !errors.As(err, &errno) || !slices.Contains(refusals, errno) {
		return fmt.Errorf("%s: %w", step, err)
	}
	why := errno.Error()
	if errno == unix.ENOSPC { // which for namespaces has nothing to do with space (user_namespaces(7))
		why = "the limit of namespaces is reached"
	}
	return &refusal{step + ": " + why, remedy(errno)}
}

// limits are the settings that forbid namespaces, with the value that does and
// the one that allows them, to ordinary users alone or to all.
var limits = []struct {
	sysctl, forbids, allows string
	all                     bool
}{
	{"user.max_user_namespaces", "0", "10000", true},
	{"user.max_net_namespaces", "0", "10000", true},
	{"user.max_pid_namespaces", "0", "10000", true},
	{"kernel.unprivileged_userns_clone", "0", "1", false},
	{"kernel.apparmor_restrict_unprivileged_userns", "1", "0", false},
}

// remedy is the command that would allow a link, as far as can be told.
func remedy(errno syscall.Errno) string {
	for _, l := range limits {
		value, err := os.ReadFile("/proc/sys/" + strings.ReplaceAll(l.sysctl, ".", "/"))
		if err == nil && strings.TrimSpace(string(value)) == l.forbids && (l.all || os.Getuid() != 0) {
			return fmt.Sprintf("allow it as root with: sysctl -w %s=%s", l.sysctl, l.allows)
		}
	}
	switch {
	case errno == unix.ENOSPC:
		return "allow more as root with: sysctl -w user.max_user_namespaces=10000 user.max_net_namespaces=10000 user.max_pid_namespaces=10000"
	case errno == unix.ENODEV, errno == unix.EOPNOTSUPP, errno == unix.ENOSYS:
		return "it needs a kernel with user and network namespaces, virtual Ethernet devices and packet sockets"
	case inContainer():
		return "in a container, allow it with: docker run --privileged"
	default:
		return "run it as root, or on a system that allows user namespaces"
	}
}

// inContainer says whether a container manager has left its mark.
func inContainer() bool {
	for _, name := range []string{"/.dockerenv", "/run/.containerenv"} {
		if _, err := os.Stat(name); err == nil {
			return true
		}
	}
	return false
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
	control, err := ours.SyscallConn() // which knows when ours is closed
	if err != nil {
		_ = ours.Close()
		return nil, nil, err
	}
	kill = func() { // fails only when the process has ended, or the hub has gone and with it the process
		_ = control.Control(func(fd uintptr) { _ = unix.Shutdown(int(fd), unix.SHUT_WR) })
	}
	wait = func() error {
		err := next()
		streams.wait(cmd.WaitDelay)
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
	ours   []*os.File    // the ends that are read here
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
				s.ours = append(s.ours, reader)
				outputs = append(outputs, func() {
					_, _ = io.Copy(stream, reader) // ends with the process, or with the reader
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

// copyTime is what output may take to be copied when its process has ended,
// if the command does not say (exec.Cmd.WaitDelay): a child of it may live on
// and hold the pipe.
const copyTime = 2 * time.Second

// wait waits until the output is copied, or no longer than that.
func (s *streams) wait(delay time.Duration) {
	select {
	case <-s.copied:
	case <-time.After(cmp.Or(delay, copyTime)):
		for _, f := range s.ours {
			_ = f.Close()
		}
		<-s.copied
	}
}

// close closes the files here, the command's own too: those of its pipes, which
// [exec.Cmd.Start] would close, can't be told from others. Nobody passes a file
// that it needs afterwards.
func (s *streams) close() {
	for _, f := range s.files {
		if f != nil {
			_ = f.Close()
		}
	}
}
