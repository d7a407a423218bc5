// Package tool finds the outside programs that experiments run and that may be missing from a machine.
package tool

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"regexp"
	"runtime"
	"sync"
	"time"
)

// ErrMissing is wrapped by every error that says that a program is not on this machine, so that an
// experiment can record its cases as not measured instead of failing.
var ErrMissing = errors.New("not installed")

// A Tool is an outside program that was found.
type Tool struct {
	// Name is the name the program was asked for by, such as "openssl".
	Name string
	// Path is the file to run. It belongs to this machine: it is not for recording.
	Path string
	// Version is the version the program states, and nothing else: "3.0.19".
	Version string
}

// program is what has to be known of an outside program before it is run.
type program struct {
	// versionArgs makes the program print its version.
	versionArgs []string
	// version finds the version, its first group, in what versionArgs prints on stdout or stderr.
	version *regexp.Regexp
	// debian and homebrew are the packages that hold the program.
	debian, homebrew string
}

var programs = map[string]program{
	// The pattern refuses LibreSSL, which macOS ships under the same name and which has neither
	// speed -aead nor the capability masks.
	"openssl": {
		versionArgs: []string{"version"},
		version:     regexp.MustCompile(`^OpenSSL (\d+\.\d+\.\d+[0-9A-Za-z.+-]*)`),
		debian:      "openssl",
		homebrew:    "openssl@3",
	},
}

// versionTimeout bounds the run that asks a program for its version.
const versionTimeout = 10 * time.Second

// OpenSSL finds openssl, once in the life of a process.
var OpenSSL = sync.OnceValues(func() (Tool, error) { return Find("openssl") })

// Find looks the named program up in PATH and runs it once to learn its version. An error that wraps
// [ErrMissing] names the command that installs the program and holds no path, so it may be recorded.
func Find(name string) (Tool, error) {
	p, ok := programs[name]
	if !ok {
		return Tool{}, fmt.Errorf("finding program %q: it is not in the table of programs", name)
	}
	path, err := exec.LookPath(name)
	if err != nil {
		return Tool{}, fmt.Errorf("program %q: %w (install it with: %s)", name, ErrMissing, Install(name))
	}
	ctx, cancel := context.WithTimeout(context.Background(), versionTimeout)
	defer cancel()
	out, err := exec.CommandContext(ctx, path, p.versionArgs...).CombinedOutput()
	if err != nil {
		return Tool{}, fmt.Errorf("asking program %q for its version: %w", name, err)
	}
	m := p.version.FindSubmatch(out)
	if m == nil {
		const maxQuoted = 80
		return Tool{}, fmt.Errorf("program %q: %w: another program of that name answers %.*q (install it with: %s)",
			name, ErrMissing, maxQuoted, out, Install(name))
	}
	return Tool{Name: name, Path: path, Version: string(m[1])}, nil
}

// Install returns the command that installs the named program on this operating system, or the empty
// string for a program that is not in the table.
func Install(name string) string {
	p, ok := programs[name]
	switch {
	case !ok:
		return ""
	case runtime.GOOS == "darwin":
		return "brew install " + p.homebrew
	default:
		return "apt-get install " + p.debian
	}
}
