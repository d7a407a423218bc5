package host

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
)

// CheckRemote says whether remote names a machine that roles can be started
// on: "ssh://[user@]host[:port]".
func CheckRemote(remote string) error {
	wrong := fmt.Errorf("server %q: want ssh://[user@]host[:port]", remote)
	u, err := url.Parse(remote)
	if err != nil {
		return wrong
	}
	if _, set := u.User.Password(); set {
		return errors.New("server: want ssh://[user@]host[:port], without a password")
	}
	if u.Scheme != "ssh" || u.Hostname() == "" || strings.Trim(u.Path, "/") != "" || u.RawQuery+u.Fragment != "" {
		return wrong
	}
	return nil
}

// RemoteHost is the name by which a role on the remote machine is reached.
func RemoteHost(remote string) string {
	u, err := url.Parse(remote)
	if err != nil {
		return ""
	}
	return u.Hostname()
}

// sshArguments are the arguments of ssh that select the machine. Passwords
// are never asked for: a run has nobody to type them.
func sshArguments(remote string) ([]string, error) {
	if err := CheckRemote(remote); err != nil {
		return nil, err
	}
	u, err := url.Parse(remote)
	if err != nil {
		return nil, err
	}
	args := []string{"-o", "BatchMode=yes"}
	if u.Port() != "" {
		args = append(args, "-p", u.Port())
	}
	target := u.Hostname()
	if u.User != nil {
		target = u.User.Username() + "@" + target
	}
	return append(args, "--", target), nil
}

// A deployment is the experiment's binary on another machine.
type deployment struct {
	once sync.Once
	path string // there
	err  error
}

var (
	deploymentsMu sync.Mutex
	deployments   = map[string]*deployment{}
)

// deploy builds the running program for the remote machine and copies it
// there, once in the life of this process.
func deploy(ctx context.Context, remote string) (string, error) {
	deploymentsMu.Lock()
	d, ok := deployments[remote]
	if !ok {
		d = &deployment{}
		deployments[remote] = d
	}
	deploymentsMu.Unlock()
	d.once.Do(func() { d.path, d.err = copyThere(ctx, remote) })
	return d.path, d.err
}

func copyThere(ctx context.Context, remote string) (string, error) {
	ssh, err := sshArguments(remote)
	if err != nil {
		return "", err
	}
	kernel, err := output(exec.CommandContext(ctx, "ssh", append(ssh, "uname -sm")...))
	if err != nil {
		return "", fmt.Errorf("ask %s for its architecture: %w", remote, err)
	}
	binary, cleanup, err := buildFor(ctx, strings.TrimSpace(string(kernel)))
	if err != nil {
		return "", err
	}
	defer cleanup()
	content, err := os.ReadFile(binary)
	if err != nil {
		return "", err
	}
	digest := sha256.Sum256(content)
	path := "/tmp/cryptocost-" + hex.EncodeToString(digest[:8])
	// The name is the content's, so whatever runs there under it is the same
	// binary; moving a new copy over it does not disturb it.
	put := exec.CommandContext(ctx, "ssh", append(ssh,
		fmt.Sprintf("umask 077 && cat > %[1]s.new && chmod 700 %[1]s.new && mv %[1]s.new %[1]s", path))...)
	put.Stdin = bytes.NewReader(content)
	if _, err := output(put); err != nil {
		return "", fmt.Errorf("copy the binary to %s: %w", remote, err)
	}
	return path, nil
}

// architectures maps what uname -sm prints to GOOS and GOARCH.
var architectures = map[string][2]string{
	"Linux x86_64":  {"linux", "amd64"},
	"Linux aarch64": {"linux", "arm64"},
	"Darwin x86_64": {"darwin", "amd64"},
	"Darwin arm64":  {"darwin", "arm64"},
}

// buildFor gives the path of this program built for the machine that uname
// describes. Where it is the architecture of this machine the running binary
// serves.
func buildFor(ctx context.Context, uname string) (path string, cleanup func(), err error) {
	target, ok := architectures[uname]
	if !ok {
		return "", nil, fmt.Errorf("the remote machine is %q: roles run on Linux and macOS, amd64 and arm64", uname)
	}
	if target == [2]string{runtime.GOOS, runtime.GOARCH} {
		path, err = os.Executable()
		return path, func() {}, err
	}
	dir, err := os.MkdirTemp("", "cryptocost-")
	if err != nil {
		return "", nil, err
	}
	cleanup = func() { _ = os.RemoveAll(dir) } // a left-over in the temporary directory is harmless
	self, err := os.Executable()
	if err != nil {
		cleanup()
		return "", nil, err
	}
	path = filepath.Join(dir, filepath.Base(self))
	cmd := exec.CommandContext(ctx, "go", "build", "-o", path, "./experiments/"+filepath.Base(self))
	cmd.Env = append(os.Environ(), "GOOS="+target[0], "GOARCH="+target[1], "CGO_ENABLED=0")
	if _, err := output(cmd); err != nil {
		cleanup()
		return "", nil, fmt.Errorf("build for %s/%s (run it in the project's folder): %w", target[0], target[1], err)
	}
	return path, cleanup, nil
}

// output runs cmd and puts what it wrote to standard error into the error.
func output(cmd *exec.Cmd) ([]byte, error) {
	out, err := cmd.Output()
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		err = fmt.Errorf("%w: %s", err, bytes.TrimSpace(exit.Stderr))
	}
	return out, err
}

// remoteCommand is the command line of a role on another machine. Keys and
// settings go through the role's input, so nothing secret is on it.
func (s Spec) remoteCommand(ctx context.Context) (*exec.Cmd, error) {
	path, err := deploy(ctx, s.Remote)
	if err != nil {
		return nil, err
	}
	ssh, err := sshArguments(s.Remote)
	if err != nil {
		return nil, err
	}
	command := "exec env"
	for _, setting := range s.Env {
		command += " '" + strings.ReplaceAll(setting, "'", `'\''`) + "'"
	}
	command += " " + path + " " + roleArgument + " " + s.Role
	return exec.CommandContext(ctx, "ssh", append(ssh, command)...), nil
}
