package link

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"runtime"
	"sync"
	"sync/atomic"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"cryptocost/experiments/internal/host"
)

// packetSocket opens a socket that gets and sends whole Ethernet frames of a
// device.
func packetSocket(index int) (int, error) {
	network := binary.NativeEndian.Uint16(binary.BigEndian.AppendUint16(nil, unix.ETH_P_ALL))
	fd, err := unix.Socket(unix.AF_PACKET, unix.SOCK_RAW|unix.SOCK_CLOEXEC, int(network))
	if err != nil {
		return -1, fmt.Errorf("open a packet socket: %w", err)
	}
	err = errors.Join(
		unix.Bind(fd, &unix.SockaddrLinklayer{Protocol: network, Ifindex: index}),
		unix.SetsockoptInt(fd, unix.SOL_PACKET, unix.PACKET_IGNORE_OUTGOING, 1),
		// The kernel's time of arrival: that the hub wakes up late is then
		// not added to the delay.
		unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_TIMESTAMPNS, 1),
		unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_RCVBUF, 8<<20)) // the kernel takes what it allows
	if err != nil {
		return -1, fmt.Errorf("set a packet socket up: %w", err)
	}
	return fd, nil
}

// frameBytes is the longest frame: MTU and an Ethernet header.
const frameBytes = MTU + 14

// timespecBytes is the size of the kernel's time of arrival.
const timespecBytes = int(unsafe.Sizeof(unix.Timespec{}))

// A frame is under way.
type frame struct {
	due   int64 // CLOCK_MONOTONIC, nanoseconds
	bytes []byte
}

// A direction is one way over the wire.
type direction struct {
	from, to int          // packet sockets
	delay    atomic.Int64 // nanoseconds
	queue    []frame      // by due, as frames come
	head     int          // of the queue
}

// A forwarder hands frames from end to end on a thread of its own, which
// sleeps until shortly before one is due and then spins: a sleeping thread
// wakes up some 50 to 150 microseconds late.
type forwarder struct {
	directions [ends]direction // by the end that sends
	free       [][]byte        // frames to fill again
	control    []byte          // control messages of one frame

	pending                        atomic.Int64 // frames in queues
	packets, late, behind, lastSYN atomic.Int64
	dropped                        atomic.Int64
	tooLong                        atomic.Int64 // frames longer than the MTU

	mu        sync.Mutex
	reservoir []int64 // lateness, a uniform sample of those since it was read
	sampled   int64   // how many it is of
}

// reservoirSize bounds the lateness values that are kept.
const reservoirSize = 8192

func newForwarder(sockets [ends]int) *forwarder {
	f := &forwarder{control: make([]byte, unix.CmsgSpace(timespecBytes)), reservoir: make([]int64, 0, reservoirSize)}
	for side := range f.directions {
		f.directions[side].from, f.directions[side].to = sockets[side], sockets[1-side]
	}
	return f
}

// set waits until no frame has been under way for a while and sets the delays.
func (f *forwarder) set(w Wire) error {
	const quiet, patience = 2 * time.Millisecond, 5 * time.Second
	deadline, still := time.Now().Add(patience), time.Now()
	for packets := f.packets.Load(); time.Since(still) < quiet; time.Sleep(quiet / 4) {
		if now := f.packets.Load(); now != packets || f.pending.Load() > 0 {
			packets, still = now, time.Now()
		}
		if time.Now().After(deadline) {
			return fmt.Errorf("the wire is not empty after %v", patience)
		}
	}
	f.directions[clientEnd].delay.Store(int64(w.Up))
	f.directions[serverEnd].delay.Store(int64(w.Down))
	return nil
}

func (f *forwarder) traffic() (Traffic, error) {
	if n := f.tooLong.Load(); n > 0 {
		return Traffic{}, fmt.Errorf("%d frames were longer than the MTU of %d bytes: an offload of the devices is on", n, MTU)
	}
	for side := range f.directions {
		// The kernel's counter begins anew when it is read.
		if stats, err := unix.GetsockoptTpacketStats(f.directions[side].from, unix.SOL_PACKET, unix.PACKET_STATISTICS); err == nil {
			f.dropped.Add(int64(stats.Drops))
		}
	}
	return Traffic{
		Packets: f.packets.Load(), Late: time.Duration(f.late.Load()), Behind: f.behind.Load(), Dropped: f.dropped.Load(),
		LastSYN: time.Duration(f.lastSYN.Load()), Involuntary: host.OwnUsage().Involuntary,
	}, nil
}

func (f *forwarder) lateness() []int64 {
	f.mu.Lock()
	defer f.mu.Unlock()
	kept := f.reservoir
	f.reservoir, f.sampled = make([]int64, 0, reservoirSize), 0
	return kept
}

// run forwards for ever.
func (f *forwarder) run() {
	runtime.LockOSThread()
	// Timers of this thread end when they should, not 50 us later.
	if err := unix.Prctl(unix.PR_SET_TIMERSLACK, 1, 0, 0, 0); err != nil {
		fmt.Fprintln(os.Stderr, "set the timer slack:", err)
		os.Exit(1)
	}
	for {
		for side := range f.directions {
			f.receive(side)
		}
		for side := range f.directions {
			f.deliver(&f.directions[side])
		}
		f.wait()
	}
}

// batch bounds the frames that are read before others are sent.
const batch = 32

// receive queues the frames that an end has sent.
func (f *forwarder) receive(side int) {
	d := &f.directions[side]
	for range batch {
		var buffer []byte
		if last := len(f.free) - 1; last >= 0 {
			buffer, f.free = f.free[last], f.free[:last]
		} else {
			buffer = make([]byte, frameBytes)
		}
		n, controls, flags, _, err := unix.Recvmsg(d.from, buffer, f.control, unix.MSG_DONTWAIT)
		if err != nil { // mostly EAGAIN: there is none
			f.free = append(f.free, buffer)
			return
		}
		if flags&unix.MSG_TRUNC != 0 {
			f.tooLong.Add(1)
		}
		arrived := arrival(f.control[:controls])
		if side == clientEnd && firstOfConnection(buffer[:n]) {
			f.lastSYN.Store(arrived)
		}
		f.pending.Add(1)
		d.queue = append(d.queue, frame{arrived + d.delay.Load(), buffer[:n]})
	}
}

// arrival is when a frame came, on CLOCK_MONOTONIC, from the control message
// with its CLOCK_REALTIME.
func arrival(control []byte) int64 {
	now := int64(Now())
	if len(control) < unix.CmsgSpace(timespecBytes) {
		return now
	}
	stamp := control[unix.CmsgLen(0):]
	seconds, nanos := binary.NativeEndian.Uint64(stamp), binary.NativeEndian.Uint64(stamp[8:])
	age := int64(clock(unix.CLOCK_REALTIME)) - int64(seconds)*int64(time.Second) - int64(nanos)
	const longest = int64(time.Second) // more: somebody has set the clock
	if age < 0 || age > longest {
		return now
	}
	return now - age
}

// firstOfConnection says whether a frame is the first of a TCP connection (RFC 9293, 3.1).
func firstOfConnection(frame []byte) bool {
	const header, protocol, flags, syn, ack = 14, 14 + 9, 13, 2, 16
	if len(frame) < header+20 || binary.BigEndian.Uint16(frame[12:]) != unix.ETH_P_IP || frame[protocol] != unix.IPPROTO_TCP {
		return false
	}
	at := header + int(frame[header]&15)*4 + flags
	return at < len(frame) && frame[at]&(syn|ack) == syn
}

// deliver sends the frames that are due.
func (f *forwarder) deliver(d *direction) {
	for d.head < len(d.queue) {
		next := d.queue[d.head]
		now := int64(Now())
		if now < next.due {
			return
		}
		if err := unix.Sendto(d.to, next.bytes, 0, nil); err != nil {
			f.dropped.Add(1)
		} else {
			f.note(now - next.due)
		}
		f.free = append(f.free, next.bytes[:frameBytes])
		d.head++
		if d.head > len(d.queue)/2 { // so that a queue that is never empty does not grow for ever
			d.queue, d.head = append(d.queue[:0], d.queue[d.head:]...), 0
		}
		f.pending.Add(-1)
	}
}

// note counts a frame that was handed on so many nanoseconds late.
func (f *forwarder) note(late int64) {
	f.packets.Add(1)
	f.late.Add(late)
	if late > int64(lateLimit) {
		f.behind.Add(1)
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.sampled++
	if len(f.reservoir) < reservoirSize {
		f.reservoir = append(f.reservoir, late)
	} else if i := rand.Int64N(f.sampled); i < reservoirSize {
		f.reservoir[i] = late // Vitter's algorithm R
	}
}

// wait waits for a frame to come, or until one is soon due.
func (f *forwarder) wait() {
	poll := []unix.PollFd{{Fd: int32(f.directions[clientEnd].from), Events: unix.POLLIN}, {Fd: int32(f.directions[serverEnd].from), Events: unix.POLLIN}}
	var timeout *unix.Timespec
	for side := range f.directions {
		d := &f.directions[side]
		if d.head == len(d.queue) {
			continue
		}
		sleep := d.queue[d.head].due - int64(Now()) - spin(d.delay.Load())
		if sleep <= 0 {
			return
		}
		t := unix.NsecToTimespec(sleep)
		if timeout == nil || t.Nano() < timeout.Nano() {
			timeout = &t
		}
	}
	_, _ = unix.Ppoll(poll, timeout, nil) // interrupted: the same again
}

// spin is how long before a frame is due the thread stays awake: the longer
// it has slept, the deeper the processor does.
func spin(delay int64) int64 {
	const least, most = 150 * int64(time.Microsecond), 400 * int64(time.Microsecond)
	return min(least+delay/100, most)
}
