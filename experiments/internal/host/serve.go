package host

import (
	"fmt"
	"net"
	"os"
)

// Accept hands each connection of a listener to serve, in a goroutine of its
// own. It does not return: a role that can't accept ends, with the reason as
// its last words.
func Accept(listener net.Listener, serve func(net.Conn)) {
	for {
		conn, err := listener.Accept()
		if err != nil {
			fmt.Fprintln(os.Stderr, "accept:", err)
			os.Exit(1)
		}
		go serve(conn)
	}
}

// Loopback connects two ends over TCP within a process.
func Loopback() (client, server net.Conn, err error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, nil, err
	}
	defer listener.Close()
	if client, err = net.Dial("tcp", listener.Addr().String()); err != nil {
		return nil, nil, err
	}
	server, err = listener.Accept()
	return client, server, err
}
