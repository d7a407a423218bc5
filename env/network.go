package env

import (
	"net"
	"strconv"
)

const ipv4 = "proc/sys/net/ipv4/"

// network is the settings of TCP and of the loopback device, in the network
// namespace of this process.
var network = []entry{
	{
		Key: Key{Name: "port-range", Source: "/proc/sys/net/ipv4/ip_local_port_range; sysctl net.inet.ip.portrange",
			Doc: "First and last port that the kernel gives to outgoing connections."},
		linux: file(ipv4 + "ip_local_port_range"),
		darwin: func(s system) string {
			return sysctlNumber("net.inet.ip.portrange.first")(s) + " " + sysctlNumber("net.inet.ip.portrange.last")(s)
		},
	},
	linuxFile("tcp-tw-reuse", "", ipv4+"tcp_tw_reuse",
		"Reuse of ports in TIME_WAIT for outgoing connections: 0 never, 1 always, 2 on loopback."),
	linuxFile("tcp-max-tw-buckets", "count", ipv4+"tcp_max_tw_buckets",
		"Most connections kept in TIME_WAIT."),
	linuxFile("tcp-fin-timeout", "s", ipv4+"tcp_fin_timeout",
		"Time that an orphaned connection stays in FIN_WAIT_2."),
	{
		Key: Key{Name: "tcp-congestion-control", Source: "/proc/sys/net/ipv4/tcp_congestion_control",
			Doc: "Congestion control of new connections; bbr paces, which blurs the initial window."},
		linux: file(ipv4 + "tcp_congestion_control"),
	},
	linuxFile("tcp-slow-start-after-idle", "", ipv4+"tcp_slow_start_after_idle",
		"Whether a connection that was idle starts slowly again: 1 or 0."),
	linuxFile("tcp-rmem", "B", ipv4+"tcp_rmem",
		"Smallest, initial and largest receive buffer of a connection."),
	linuxFile("tcp-wmem", "B", ipv4+"tcp_wmem",
		"Smallest, initial and largest send buffer of a connection."),
	{
		Key: Key{Name: "somaxconn", Unit: "count", Source: "/proc/sys/net/core/somaxconn; sysctl kern.ipc.somaxconn",
			Doc: "Most connections that wait to be accepted by one listener."},
		linux:  file("proc/sys/net/core/somaxconn"),
		darwin: sysctlNumber("kern.ipc.somaxconn"),
	},
	{
		Key: Key{Name: "loopback-mtu", Unit: "B", Source: "net.Interfaces",
			Doc: "Largest packet on the loopback device."},
		any: loopbackMTU,
	},
	{
		Key: Key{Name: "time-wait-sockets", Unit: "count", Source: "/proc/net/sockstat", Volatile: true,
			Doc: "Connections in TIME_WAIT at the time of reading."},
		linux: timeWaitSockets,
	},
}

func loopbackMTU(system) string {
	interfaces, err := net.Interfaces()
	if err != nil {
		return ""
	}
	for _, i := range interfaces {
		if i.Flags&net.FlagLoopback != 0 {
			return positive(i.MTU)
		}
	}
	return ""
}

func timeWaitSockets(s system) string {
	proc, err := s.proc()
	if err != nil {
		return ""
	}
	stat, err := proc.NetSockstat()
	if err != nil {
		return ""
	}
	for _, p := range stat.Protocols {
		if p.Protocol == "TCP" && p.TW != nil {
			return strconv.Itoa(*p.TW)
		}
	}
	return ""
}
