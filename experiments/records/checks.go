package main

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"slices"
	"strconv"
	"strings"
	"time"

	"cryptocost/data"
	"cryptocost/experiments/internal/host"
	"cryptocost/experiments/internal/pki"
	"cryptocost/experiments/internal/tool"
	"cryptocost/experiments/internal/trial"
	"cryptocost/experiments/internal/wire"
)

// tools are the versions of what the cases use.
func tools() map[string]string {
	found, err := tool.OpenSSL()
	if err != nil {
		return map[string]string{"openssl": "none"}
	}
	return map[string]string{"openssl": found.Version}
}

// hybrids are the post-quantum groups (draft-ietf-tls-ecdhe-mlkem).
var hybrids = []tls.CurveID{tls.X25519MLKEM768, tls.SecP256r1MLKEM768, tls.SecP384r1MLKEM1024}

// checks are the behaviours, observed once in every round.
func checks() []trial.Case {
	full13 := newConfig(tls.VersionTLS13, "full", true)
	full12 := newConfig(tls.VersionTLS12, "full", true)
	return []trial.Case{
		check("tlsmlkem-off-drops-hybrid", func(ctx context.Context, g *host.Group, name string) (bool, error) {
			with, without, err := hellosUnder(ctx, g, name, "tlsmlkem=0")
			hybrid := func(id tls.CurveID) bool { return slices.Contains(hybrids, id) }
			return slices.ContainsFunc(with.Groups, hybrid) && !slices.ContainsFunc(without.Groups, hybrid), err
		}),
		// The article's switch.
		check("tlskyber-switch-has-effect", func(ctx context.Context, g *host.Group, name string) (bool, error) {
			with, without, err := hellosUnder(ctx, g, name, "tlskyber=0")
			return !slices.Equal(with.Groups, without.Groups) || !slices.Equal(with.KeyShares, without.KeyShares), err
		}),
		check("ticket-follows-server-finished", func(ctx context.Context, g *host.Group, name string) (bool, error) {
			s, err := full13.lookOnce(ctx, g, name, "")
			i := slices.IndexFunc(s.Records, func(r record) bool { return !r.FromClient && r.Name == "finished" })
			return i >= 0 && i+1 < len(s.Records) && s.Records[i+1].Name == "newsessionticket" && !s.Records[i+1].FromClient, err
		}),
		check("tls12-certificate-in-plaintext", func(ctx context.Context, g *host.Group, name string) (bool, error) {
			old, err := full12.lookOnce(ctx, g, name+" 1.2", "")
			if err != nil {
				return false, err
			}
			current, err := full13.lookOnce(ctx, g, name+" 1.3", "")
			return old.ShowsDER && !current.ShowsDER, err
		}),
		check("no-ticket-without-session-cache", func(ctx context.Context, g *host.Group, name string) (bool, error) {
			c := full13
			c.NoCache = true
			s, err := c.lookOnce(ctx, g, name, "")
			return !slices.ContainsFunc(s.Records, func(r record) bool { return strings.Contains(r.Name, "newsessionticket") }), err
		}),
		check("tls13-records-after-serverhello-are-23-but-changecipherspec", func(ctx context.Context, g *host.Group, name string) (bool, error) {
			s, err := full13.lookOnce(ctx, g, name, "")
			return hiddenBehindServerHello(s.Records), err
		}),
		check("longest-record-holds-16KiB", func(context.Context, *host.Group, string) (bool, error) {
			// Of TLS 1.3: the content, its type, and the tag of AES-GCM or
			// ChaCha20-Poly1305 (RFC 8446, 5.2).
			list, err := sendMuch(tls.VersionTLS13)
			return longest(list) == recordBytes+1+16, err
		}),
		check("closing-alert-is-an-alert-record", func(context.Context, *host.Group, string) (bool, error) {
			list, err := sendMuch(tls.VersionTLS12)
			return len(list) > 0 && list[len(list)-1].Type == 21, err
		}),
	}
}

// sendMuch lets a server of that version send more than a record takes in one
// write and close, and gives the records of the connection.
func sendMuch(version uint16) ([]wire.Record, error) {
	bundle, err := certs[0].make()
	if err != nil {
		return nil, err
	}
	cert, err := bundle.Certificate()
	if err != nil {
		return nil, err
	}
	roots, err := bundle.Roots()
	if err != nil {
		return nil, err
	}
	near, far, err := host.Loopback()
	if err != nil {
		return nil, err
	}
	defer near.Close()
	watcher := wire.Watch(near, true)
	client := tls.Client(watcher, &tls.Config{RootCAs: roots, ServerName: pki.ServerName, KeyLogWriter: watcher.KeyLog()})
	served := make(chan error, 1)
	go func() {
		server := tls.Server(far, &tls.Config{
			Certificates: []tls.Certificate{cert}, MinVersion: version, MaxVersion: version, DynamicRecordSizingDisabled: true,
		})
		_, err := server.Write(make([]byte, recordBytes+1))
		served <- errors.Join(err, server.Close())
	}()
	_, err = io.Copy(io.Discard, client)
	if err = errors.Join(err, <-served); err != nil {
		return nil, err
	}
	return watcher.Records()
}

// longest is the greatest length of the records.
func longest(list []wire.Record) int {
	length := 0
	for _, r := range list {
		length = max(length, r.Length)
	}
	return length
}

// hiddenBehindServerHello says whether every record behind the ServerHello has
// the type of application data, and only ChangeCipherSpec, which is there for
// middleboxes (RFC 8446, D.4), its own.
func hiddenBehindServerHello(records []record) bool {
	hello := slices.IndexFunc(records, func(r record) bool { return r.Name == "serverhello" })
	if hello < 0 || hello+1 == len(records) {
		return false
	}
	return !slices.ContainsFunc(records[hello+1:], func(r record) bool {
		return r.Type != 23 && (r.Type != 20 || r.Name != "changecipherspec")
	})
}

// check names a behaviour; f gets the name for the cases it starts.
func check(behaviour string, f func(ctx context.Context, g *host.Group, name string) (bool, error)) trial.Case {
	name := "/check=" + behaviour
	return trial.Check(name, func(ctx context.Context, g *host.Group) (bool, error) { return f(ctx, g, name) })
}

// lookOnce makes one connection with the article's certificate and a client
// under GODEBUG.
func (c config) lookOnce(ctx context.Context, g *host.Group, name, godebug string) (sight, error) {
	var s sight
	p, err := c.connect(ctx, g, name, certs[0].make, godebug)
	if err != nil {
		return s, err
	}
	err = p.client.Call(ctx, "look", name, &s)
	return s, err
}

// hellosUnder are the ClientHellos of two default clients, without and with a
// setting of GODEBUG; they may negotiate what they like.
func hellosUnder(ctx context.Context, g *host.Group, name, godebug string) (usual, under wire.ClientHello, err error) {
	c := newConfig(tls.VersionTLS13, "full", true)
	c.Group = 0
	a, err := c.lookOnce(ctx, g, name, "")
	if err != nil {
		return usual, under, err
	}
	b, err := c.lookOnce(ctx, g, name, godebug)
	return a.Hello, b.Hello, err
}

// opensslCase has the size of the ClientHello of openssl with X25519 alone.
func opensslCase() trial.Case {
	name := "/client=openssl/groups=x25519"
	c := trial.Case{Name: name, Whole: true, Start: func(_ context.Context, g *host.Group) (trial.Measure, error) {
		return func(ctx context.Context, _ time.Duration) (trial.Slice, error) {
			hello, err := opensslHello(ctx, g, name)
			if err != nil {
				return trial.Slice{}, err
			}
			return trial.Slice{Ops: 1, Tallies: tally(nil, data.Value{
				Value: float64(hello.RecordBytes - wire.RecordHeaderBytes), Unit: "clienthello-B/op",
			})}, nil
		}, nil
	}}
	if _, err := tool.OpenSSL(); err != nil {
		c.Missing = err.Error()
	}
	return c
}

// opensslHello lets openssl s_client connect to the round's server.
func opensslHello(ctx context.Context, g *host.Group, name string) (wire.ClientHello, error) {
	var hello wire.ClientHello
	found, err := tool.OpenSSL()
	if err != nil {
		return hello, err
	}
	bundle, err := certs[0].make()
	if err != nil {
		return hello, err
	}
	server, err := g.Process(ctx, "server", host.Spec{Role: "server"}, nil)
	if err != nil {
		return hello, err
	}
	var port int
	start := serverStart{Config: config{Version: tls.VersionTLS13}, Bundle: bundle, Host: g.ListenHost("server"), Keep: true}
	if err := server.Call(ctx, "serve", start, &port); err != nil {
		return hello, err
	}
	out, err := host.Run(ctx, strings.NewReader(request), nil, found.Path, "s_client", "-quiet", "-no_ign_eof", "-groups", "X25519",
		"-servername", pki.ServerName, "-connect", net.JoinHostPort(g.DialHost("server"), strconv.Itoa(port)))
	if err != nil {
		return hello, fmt.Errorf("%s: %w: %s", name, err, bytes.TrimSpace(out))
	}
	if err := server.Call(ctx, "caught", nil, &hello); err != nil {
		return hello, err
	}
	if !slices.Equal(hello.Groups, []tls.CurveID{tls.X25519}) {
		return hello, fmt.Errorf("%s offers the groups %v", name, hello.Groups)
	}
	return hello, nil
}
