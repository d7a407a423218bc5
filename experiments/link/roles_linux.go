package main

import (
	"errors"
	"fmt"
	"net/netip"
	"runtime"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"

	"cryptocost/experiments/internal/host"
	"cryptocost/experiments/internal/link"
)

// payloadBytes is what a packet carries.
const payloadBytes = 1024

// A sink counts the packets that arrive.
type sink struct{ arrived atomic.Int64 }

func sinkRole() map[string]host.Handler {
	s := &sink{}
	return map[string]host.Handler{
		"listen": host.Handle(s.listen),
		"count":  host.Handle(func(struct{}) (int64, error) { return s.arrived.Load(), nil }),
	}
}

// listen tells the port on which packets are counted.
func (s *sink) listen(struct{}) (int, error) {
	fd, err := datagrams(link.ServerAddress, 0)
	if err != nil {
		return 0, err
	}
	address, err := unix.Getsockname(fd)
	if err != nil {
		return 0, fmt.Errorf("find the port of a socket: %w", err)
	}
	go func() {
		runtime.LockOSThread()
		buffer := make([]byte, payloadBytes)
		for {
			if _, err := unix.Read(fd, buffer); err == nil {
				s.arrived.Add(1)
			}
		}
	}()
	return address.(*unix.SockaddrInet4).Port, nil
}

// datagrams opens a socket for UDP at that address.
func datagrams(address string, port int) (int, error) {
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return -1, fmt.Errorf("open a socket for UDP: %w", err)
	}
	err = errors.Join(
		unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_RCVBUF, 8<<20), // the kernel takes what it allows
		unix.Bind(fd, &unix.SockaddrInet4{Port: port, Addr: netip.MustParseAddr(address).As4()}))
	if err != nil {
		return -1, fmt.Errorf("set a socket for UDP up: %w", err)
	}
	return fd, nil
}

// A source sends packets at a rate.
type source struct{ fd int }

func sourceRole() map[string]host.Handler {
	s := &source{}
	return map[string]host.Handler{"aim": host.Handle(s.aim), "send": host.Handle(s.send)}
}

// aim sets where the packets go.
func (s *source) aim(port int) (struct{}, error) {
	fd, err := datagrams(link.ClientAddress, 0)
	if err != nil {
		return struct{}{}, err
	}
	s.fd = fd
	return struct{}{}, unix.Connect(fd, &unix.SockaddrInet4{Port: port, Addr: netip.MustParseAddr(link.ServerAddress).As4()})
}

// send sends each packet when it is due, or at once where the one before it
// was late: it sleeps until shortly before and then spins.
func (s *source) send(o offer) (offered, error) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	if err := unix.Prctl(unix.PR_SET_TIMERSLACK, 1, 0, 0, 0); err != nil {
		return offered{}, fmt.Errorf("set the timer slack: %w", err)
	}
	payload := make([]byte, payloadBytes)
	gap := time.Second / time.Duration(o.PerSecond)
	before, start := host.OwnUsage(), link.Now()
	var r offered
	for due := start; due < start+o.For; due += gap {
		const spin = 100 * time.Microsecond
		if sleep := due - link.Now() - spin; sleep > 0 {
			t := unix.NsecToTimespec(int64(sleep))
			_ = unix.Nanosleep(&t, nil) // interrupted: it spins longer
		}
		for link.Now() < due {
		}
		if _, err := unix.Write(s.fd, payload); err != nil {
			return r, fmt.Errorf("send a packet: %w", err)
		}
		r.Sent++
	}
	r.Elapsed, r.Involuntary = link.Now()-start, host.OwnUsage().Sub(before).Involuntary
	return r, nil
}
