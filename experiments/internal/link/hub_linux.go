package link

import (
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"syscall"

	"github.com/safchain/ethtool"
	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"

	"cryptocost/experiments/internal/host"
)

// A hubState is the process between the ends.
type hubState struct {
	ends    [ends]*namespace
	forward *forwarder
}

// hub is the role of the hub.
func hub() map[string]host.Handler {
	h := &hubState{}
	return map[string]host.Handler{
		"open":     host.Handle(h.open),
		"set":      host.Handle(h.set),
		"traffic":  host.Handle(h.traffic),
		"lateness": host.Handle(h.lateness),
	}
}

func (h *hubState) set(w Wire) (struct{}, error)       { return struct{}{}, h.forward.set(w) }
func (h *hubState) traffic(struct{}) (Traffic, error)  { return h.forward.traffic() }
func (h *hubState) lateness(struct{}) ([]int64, error) { return h.forward.lateness(), nil }

// addresses and hardware addresses of the ends. The latter are known
// beforehand, so that no end has to ask for the other's (ARP) in mid-sample.
var (
	addresses = [ends]string{ClientAddress, ServerAddress}
	hardware  = [ends]net.HardwareAddr{{2, 0, 0, 0, 0, 1}, {2, 0, 0, 0, 0, 2}}
)

// open makes the ends and the wire between them, without delay. What the kernel
// says against that is not an error here, since only the caller can tell a
// refusal from a fault.
func (h *hubState) open(struct{}) (failure, error) {
	err := h.make()
	var errno syscall.Errno
	if errors.As(err, &errno) {
		return failure{err.Error(), errno}, nil
	}
	return failure{}, err
}

func (h *hubState) make() error {
	var sockets [ends]int
	for side := range h.ends {
		n, err := newNamespace()
		if err != nil {
			return err
		}
		h.ends[side] = n
		if sockets[side], err = n.join(side); err != nil {
			return err
		}
	}
	h.forward = newForwarder(sockets)
	go h.forward.run()
	go h.commands(os.NewFile(commandFD, "commands"))
	return nil
}

// A namespace is a network namespace, which one thread of the hub is in. What
// that thread starts is in it too.
type namespace struct {
	work chan func()
	fd   int
}

// newNamespace makes a network namespace. It lasts as long as the process.
func newNamespace() (*namespace, error) {
	n := &namespace{work: make(chan func())}
	made := make(chan error)
	go func() {
		runtime.LockOSThread() // for ever: the thread is of no other use
		err := unix.Unshare(unix.CLONE_NEWNET)
		if err == nil {
			n.fd, err = unix.Open("/proc/thread-self/ns/net", unix.O_RDONLY|unix.O_CLOEXEC, 0)
		}
		made <- err
		for f := range n.work {
			f()
		}
	}()
	if err := <-made; err != nil {
		return nil, fmt.Errorf("make a network namespace: %w", err)
	}
	return n, nil
}

// do calls f on the thread of the namespace.
func (n *namespace) do(f func() error) error {
	done := make(chan error)
	n.work <- func() { done <- f() }
	return <-done
}

// device is the name of the device at each end.
const device = "eth0"

// join makes the pair of devices that joins the namespace to the hub, and
// gives the packet socket of the hub's side.
func (n *namespace) join(side int) (socket int, err error) {
	if err := quiet(); err != nil {
		return -1, err
	}
	name := fmt.Sprintf("end%d", side)
	veth := &netlink.Veth{
		LinkAttrs: netlink.LinkAttrs{Name: name, MTU: MTU}, PeerMTU: MTU,
		PeerName: device, PeerHardwareAddr: hardware[side], PeerNamespace: netlink.NsFd(n.fd),
	}
	if err := netlink.LinkAdd(veth); err != nil {
		return -1, fmt.Errorf("make a pair of virtual Ethernet devices: %w", err)
	}
	ours, err := netlink.LinkByName(name)
	if err != nil {
		return -1, fmt.Errorf("find the virtual Ethernet device: %w", err)
	}
	if err := n.do(func() error { return configure(side) }); err != nil {
		return -1, err
	}
	if err := netlink.LinkSetUp(ours); err != nil {
		return -1, fmt.Errorf("switch the virtual Ethernet device on: %w", err)
	}
	return packetSocket(ours.Attrs().Index)
}

// sysctl sets a setting of the calling thread's network namespace, if the
// kernel has it.
func sysctl(name, value string) error {
	err := os.WriteFile("/proc/sys/net/"+strings.ReplaceAll(name, ".", "/"), []byte(value), 0)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("set net.%s: %w", name, err)
	}
	return nil
}

// quiet keeps IPv6 of the calling thread's namespace from sending packets of
// its own.
func quiet() error { return sysctl("ipv6.conf.default.disable_ipv6", "1") }

// offloads are what a device would do with more than one packet at a time:
// packets as on a wire have one segment and a checksum.
var offloads = []string{
	"tx-tcp-segmentation", "tx-tcp-ecn-segmentation", "tx-tcp-mangleid-segmentation", "tx-tcp6-segmentation",
	"tx-generic-segmentation", "tx-udp-segmentation", "tx-checksum-ip-generic", "rx-gro",
}

// configure sets up the device of an end, on the thread of its namespace.
func configure(side int) error {
	if err := quiet(); err != nil {
		return err
	}
	// What TCP learns of the path must not carry over to later connections.
	if err := sysctl("ipv4.tcp_no_metrics_save", "1"); err != nil {
		return err
	}
	if err := switchOff(offloads); err != nil {
		return err
	}
	for _, name := range []string{"lo", device} {
		l, err := netlink.LinkByName(name)
		if err == nil {
			err = netlink.LinkSetUp(l)
		}
		if err != nil {
			return fmt.Errorf("switch device %s of an end on: %w", name, err)
		}
	}
	own, err := netlink.LinkByName(device)
	if err != nil {
		return err
	}
	other := 1 - side
	address, err := netlink.ParseAddr(addresses[side] + "/32")
	if err != nil {
		return err
	}
	if err := netlink.AddrAdd(own, address); err != nil {
		return fmt.Errorf("set the address of an end: %w", err)
	}
	peer, err := netlink.ParseIPNet(addresses[other] + "/32")
	if err != nil {
		return err
	}
	// The system's default may be an algorithm that paces (BBR), and only
	// the route can choose another one without privileges.
	route := &netlink.Route{LinkIndex: own.Attrs().Index, Dst: peer, Scope: netlink.SCOPE_LINK, Congctl: "cubic"}
	if err := netlink.RouteAdd(route); err != nil {
		return fmt.Errorf("set the route to the other end, with congestion control cubic: %w", err)
	}
	neighbour := &netlink.Neigh{LinkIndex: own.Attrs().Index, State: netlink.NUD_PERMANENT, IP: peer.IP, HardwareAddr: hardware[other]}
	if err := netlink.NeighAdd(neighbour); err != nil {
		return fmt.Errorf("set the hardware address of the other end: %w", err)
	}
	return nil
}

// switchOff turns features of an end's device off, those that it has.
func switchOff(features []string) error {
	tool, err := ethtool.NewEthtool()
	if err != nil {
		return fmt.Errorf("ask for the offloads of a device: %w", err)
	}
	defer tool.Close()
	have, err := tool.FeatureNames(device)
	if err != nil {
		return fmt.Errorf("ask for the offloads of a device: %w", err)
	}
	off := map[string]bool{}
	for _, name := range features {
		if _, ok := have[name]; ok {
			off[name] = false
		}
	}
	if err := tool.Change(device, off); err != nil {
		return fmt.Errorf("switch the offloads of a device off: %w", err)
	}
	return nil
}

// commands starts processes at the ends until the experiment has gone.
func (h *hubState) commands(socket *os.File) {
	defer socket.Close()
	raw := make([]byte, commandBytes)
	control := make([]byte, unix.CmsgSpace(4*4))
	for {
		n, controls, _, _, err := unix.Recvmsg(int(socket.Fd()), raw, control, unix.MSG_CMSG_CLOEXEC)
		if err == unix.EINTR {
			continue
		}
		if err != nil || n == 0 {
			return
		}
		files, err := received(control[:controls])
		if err != nil {
			fmt.Fprintln(os.Stderr, "a command without its files:", err)
			return
		}
		var c command
		err = json.Unmarshal(raw[:n], &c)
		go h.start(c, err, files)
	}
}

// received are the three streams and the socket of a command.
func received(control []byte) (files [4]*os.File, err error) {
	messages, err := unix.ParseSocketControlMessage(control)
	if err != nil {
		return files, err
	}
	if len(messages) != 1 {
		return files, fmt.Errorf("%d control messages", len(messages))
	}
	fds, err := unix.ParseUnixRights(&messages[0])
	if err != nil {
		return files, err
	}
	if len(fds) != len(files) {
		return files, fmt.Errorf("%d files", len(fds))
	}
	for i, fd := range fds {
		files[i] = os.NewFile(uintptr(fd), "stream")
	}
	return files, nil
}

// start starts a process at an end and reports on it.
func (h *hubState) start(c command, err error, files [4]*os.File) {
	socket := files[3]
	defer socket.Close()
	reports := json.NewEncoder(socket)
	say := func(err error) {
		r := report{}
		if err != nil {
			r.Error = err.Error()
		}
		_ = reports.Encode(r) // fails only when nobody listens
	}
	cmd := &exec.Cmd{Path: c.Path, Args: c.Args, Env: c.Env, Dir: c.Dir, Stdin: files[0], Stdout: files[1], Stderr: files[2]}
	if err == nil {
		err = h.ends[c.End].do(cmd.Start)
	}
	for _, f := range files[:3] {
		_ = f.Close()
	}
	say(err)
	if err != nil {
		return
	}
	go func() {
		_, _ = socket.Read(make([]byte, 1)) // until the caller wants no more
		_ = cmd.Process.Kill()              // already ended: nothing to do
	}()
	say(cmd.Wait())
}
