package link

import (
	"fmt"
	"net"
	"os"
	"strings"

	"golang.org/x/sys/unix"
)

// inspect reads what TCP says of a connection.
func inspect(conn *net.TCPConn) (connected, error) {
	var c connected
	raw, err := conn.SyscallConn()
	if err != nil {
		return c, err
	}
	var info *unix.TCPInfo
	var inner error
	err = raw.Control(func(fd uintptr) {
		if info, inner = unix.GetsockoptTCPInfo(int(fd), unix.IPPROTO_TCP, unix.TCP_INFO); inner != nil {
			return
		}
		c.Congestion, inner = unix.GetsockoptString(int(fd), unix.IPPROTO_TCP, unix.TCP_CONGESTION)
	})
	if err == nil {
		err = inner
	}
	if err != nil {
		return c, fmt.Errorf("read the state of a TCP connection: %w", err)
	}
	c.Window, c.MSS = int(info.Snd_cwnd), int(info.Snd_mss)
	idle, err := os.ReadFile("/proc/sys/net/ipv4/tcp_slow_start_after_idle")
	if err != nil {
		return c, err
	}
	c.SlowStartAfterIdle = strings.TrimSpace(string(idle))
	return c, nil
}
