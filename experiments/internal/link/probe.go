package link

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"strconv"
	"sync"
	"time"

	"cryptocost/experiments/internal/host"
)

// probes are a process at each end, which measure the wire by connecting.
type probes struct {
	server, client *host.Process
	address        string
}

// probes gives the probes of the group, started when they are asked for first.
func (l *Link) probes(ctx context.Context, g *host.Group) (probes, error) {
	var p probes
	var port int
	var err error
	p.server, err = g.Process(ctx, "link-probe server", host.Spec{Role: probeRole, Place: l.Server()}, nil)
	if err != nil {
		return p, err
	}
	if err := p.server.Call(ctx, "listen", nil, &port); err != nil {
		return p, err
	}
	p.address = net.JoinHostPort(ServerAddress, strconv.Itoa(port))
	p.client, err = g.Process(ctx, "link-probe client", host.Spec{Role: probeRole, Place: l.Client()}, nil)
	return p, err
}

// connect makes n connections, each 2 ms after the one before, which stay open.
func (p probes) connect(ctx context.Context, n int) (connected, error) {
	var c connected
	if err := p.client.Call(ctx, "connect", connectTo{p.address, n}, &c); err != nil {
		return c, err
	}
	return c, p.server.Call(ctx, "congestion", nil, &c.ServerCongestion)
}

// connectTo is a request to connect.
type connectTo struct {
	Address string `json:"address"`
	N       int    `json:"n"`
}

// connected is what connecting showed.
type connected struct {
	Times []time.Duration `json:"times"`
	// Of the client's first connection, after connecting.
	Congestion string `json:"congestion"` // algorithm
	Window     int    `json:"window"`     // congestion window in segments
	MSS        int    `json:"mss"`        // of what it sends
	// Involuntary counts the context switches forced on the client meanwhile.
	Involuntary int64 `json:"involuntary"`
	// SlowStartAfterIdle is the sysctl net.ipv4.tcp_slow_start_after_idle.
	SlowStartAfterIdle string `json:"slow_start_after_idle"`
	// ServerCongestion is the algorithm of the server's last connection.
	ServerCongestion string `json:"server_congestion"`
}

// connectGap is between two connects.
const connectGap = 2 * time.Millisecond

// A prober is the process at an end.
type prober struct {
	mu         sync.Mutex
	listener   *net.TCPListener
	congestion string         // of the last connection that was accepted
	failed     error          // why that could not be read
	open       []*net.TCPConn // those that it made
}

// probe is the role of the probes.
func probe() map[string]host.Handler {
	p := &prober{}
	return map[string]host.Handler{
		"listen":  host.Handle(p.listen),
		"connect": host.Handle(p.connect),
		"close":   host.Handle(p.close),
		"congestion": func(json.RawMessage) (any, error) {
			// A client can be connected before the server has accepted.
			for range 1000 {
				p.mu.Lock()
				congestion, err := p.congestion, p.failed
				p.mu.Unlock()
				if congestion != "" || err != nil {
					return congestion, err
				}
				time.Sleep(time.Millisecond)
			}
			return nil, errors.New("no connection was accepted")
		},
	}
}

// listen accepts connections, holds each until the client has closed it, and
// tells its port. Asked again, it tells the same.
func (p *prober) listen(struct{}) (int, error) {
	if p.listener == nil {
		var err error
		if p.listener, err = net.ListenTCP("tcp4", &net.TCPAddr{IP: net.ParseIP(ServerAddress)}); err != nil {
			return 0, err
		}
		go p.accept()
	}
	return p.listener.Addr().(*net.TCPAddr).Port, nil
}

func (p *prober) accept() {
	for {
		conn, err := p.listener.AcceptTCP()
		if err != nil {
			return
		}
		seen, err := inspect(conn)
		p.mu.Lock()
		p.congestion, p.failed = seen.Congestion, err
		p.mu.Unlock()
		go func() {
			_, _ = io.Copy(io.Discard, conn) // until the client has ended it
			_ = conn.Close()
		}()
	}
}

// connect makes connections, whose times overlap on a slow wire, and leaves
// them open.
func (p *prober) connect(to connectTo) (connected, error) {
	address, err := net.ResolveTCPAddr("tcp4", to.Address)
	if err != nil {
		return connected{}, err
	}
	times := make([]time.Duration, to.N)
	conns := make([]*net.TCPConn, to.N)
	errs := make([]error, to.N)
	var group sync.WaitGroup
	before, start := host.OwnUsage(), time.Now()
	for i := range to.N {
		time.Sleep(time.Until(start.Add(time.Duration(i) * connectGap)))
		group.Go(func() {
			begin := time.Now()
			conns[i], errs[i] = net.DialTCP("tcp4", nil, address)
			times[i] = time.Since(begin)
		})
	}
	group.Wait()
	used := host.OwnUsage().Sub(before)
	for _, conn := range conns {
		if conn != nil {
			p.open = append(p.open, conn)
		}
	}
	for _, err := range errs {
		if err != nil {
			return connected{}, fmt.Errorf("connect over the wire: %w", err)
		}
	}
	c, err := inspect(conns[0])
	c.Times, c.Involuntary = times, used.Involuntary
	return c, err
}

// close resets the connections, so that no port waits and nothing is under way
// behind them.
func (p *prober) close(struct{}) (struct{}, error) {
	var errs []error
	for _, conn := range p.open {
		errs = append(errs, conn.SetLinger(0), conn.Close())
	}
	p.open = nil
	return struct{}{}, errors.Join(errs...)
}
