package main

import (
	"fmt"
	"net"

	"golang.org/x/sys/unix"
)

// segmentsSent is how many segments with data a connection has sent
// (tcpi_data_segs_out of TCP_INFO, include/uapi/linux/tcp.h).
func segmentsSent(conn *net.TCPConn) (int, error) {
	raw, err := conn.SyscallConn()
	if err != nil {
		return 0, err
	}
	var info *unix.TCPInfo
	var inner error
	if err := raw.Control(func(fd uintptr) { info, inner = unix.GetsockoptTCPInfo(int(fd), unix.IPPROTO_TCP, unix.TCP_INFO) }); err != nil {
		return 0, err
	}
	if inner != nil {
		return 0, fmt.Errorf("read the state of a TCP connection: %w", inner)
	}
	return int(info.Data_segs_out), nil
}
