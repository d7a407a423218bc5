//go:build !linux

package link

import (
	"context"
	"net"
	"os/exec"
	"time"

	"cryptocost/experiments/internal/host"
)

var errNoLink error = &refusal{why: "it needs the network namespaces of Linux"}

// A Link is a wire and its two ends. There is none on this system.
type Link struct{ hub *host.Process }

// Close implements [host.Closer].
func (*Link) Close() {}

func open(context.Context) (*Link, error) { return nil, errNoLink }

type end struct {
	link *Link
	side int
}

// Start implements [host.Place].
func (end) Start(*exec.Cmd) (func() error, func(), error) { return nil, nil, errNoLink }

func hub() map[string]host.Handler { return nil }

func inspect(*net.TCPConn) (connected, error) { return connected{}, errNoLink }

// Now is not known on this system.
func Now() time.Duration { return 0 }
