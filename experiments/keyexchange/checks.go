package main

import (
	"bytes"
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"slices"
	"strings"

	"cryptocost/experiments/internal/aes"
	"cryptocost/experiments/internal/host"
	"cryptocost/experiments/internal/tool"
	"cryptocost/experiments/internal/trial"
)

// tools are the versions of what the checks use.
func tools() map[string]string {
	found, err := tool.OpenSSL()
	if err != nil {
		return map[string]string{"openssl": "none"}
	}
	return map[string]string{"openssl": found.Version}
}

// checks are the behaviours, observed once in every round.
func checks() []trial.Case {
	rsaOnly := config{Version: tls.VersionTLS12, Kex: "rsa", Cert: "rsa-2048"}
	retried := config{Version: tls.VersionTLS13, Kex: "p256", Cert: baselineCert,
		Offered: []tls.CurveID{tls.X25519, tls.CurveP256}, Accepted: only("p256")}
	control := retried
	control.Accepted, control.Kex = only("x25519"), "x25519"
	byOrder := config{Version: tls.VersionTLS13, Kex: "x25519", Cert: baselineCert,
		Offered: []tls.CurveID{tls.CurveP256, tls.X25519}, Accepted: only("x25519")}
	list := []trial.Case{
		check("rsa-kex-refused-by-default", func(ctx context.Context, g *host.Group, name string) (bool, error) {
			r, err := rsaOnly.tryServer(ctx, g, name, debug{}, rsaKexSuites)
			return r.Error == "remote error: tls: handshake failure", err
		}),
		check("rsa-kex-accepted-with-godebug", func(ctx context.Context, g *host.Group, name string) (bool, error) {
			r, err := rsaOnly.tryServer(ctx, g, name, debug{"tlsrsakex=1", "tlsrsakex=1"}, rsaKexSuites)
			return r.Error == "", err
		}),
		check("hrr-in-connection-state", func(ctx context.Context, g *host.Group, name string) (bool, error) {
			with, without, err := tryBoth(ctx, g, name, retried, control)
			return with.HRR && !without.HRR, err
		}),
		check("hrr-in-bytes", func(ctx context.Context, g *host.Group, name string) (bool, error) {
			with, without, err := tryBoth(ctx, g, name, retried, control)
			return with.Sent > without.Sent, err
		}),
		// The recipe of the article: the order of CurvePreferences alone.
		check("hrr-by-order-of-preferences", func(ctx context.Context, g *host.Group, name string) (bool, error) {
			r, err := byOrder.tryServer(ctx, g, name, debug{}, nil)
			return r.HRR, err
		}),
		check("default-offers-classical-groups-in-order", func(ctx context.Context, g *host.Group, name string) (bool, error) {
			hello, err := defaultHello(ctx, g, name)
			classical := slices.DeleteFunc(hello.Groups, func(id tls.CurveID) bool {
				return id != tls.X25519 && id != tls.CurveP256 && id != tls.CurveP384 && id != tls.CurveP521
			})
			return slices.Equal(classical, []tls.CurveID{tls.X25519, tls.CurveP256, tls.CurveP384, tls.CurveP521}), err
		}),
		check("default-offers-hybrid-first", func(ctx context.Context, g *host.Group, name string) (bool, error) {
			hello, err := defaultHello(ctx, g, name)
			return len(hello.Groups) > 0 && hello.Groups[0] == tls.X25519MLKEM768, err
		}),
	}
	for _, version := range []struct {
		name   string
		code   uint16
		chacha uint16
	}{
		{"tls1.3", tls.VersionTLS13, tls.TLS_CHACHA20_POLY1305_SHA256},
		{"tls1.2", tls.VersionTLS12, tls.TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256},
	} {
		mixed := config{Version: version.code, Kex: baselineKex, Cert: baselineCert, Offered: only(baselineKex), Accepted: only(baselineKex)}
		for _, d := range []struct {
			name  string
			debug debug
		}{
			{"client-without-aes-gets-chacha20-from-server-with", debug{client: aes.GODEBUG}},
			{"server-without-aes-gives-chacha20-to-client-with", debug{server: aes.GODEBUG}},
		} {
			observed := check(version.name+"-"+d.name, func(ctx context.Context, g *host.Group, name string) (bool, error) {
				r, err := mixed.tryServer(ctx, g, name, d.debug, nil)
				return r.Suite == version.chacha, err
			})
			observed.Missing = cmp.Or(aes.Missing(aes.On), aes.Missing(aes.Off))
			list = append(list, observed)
		}
	}
	visible := check("hrr-in-openssl-msg", func(ctx context.Context, g *host.Group, name string) (bool, error) {
		return opensslSeesHRR(ctx, g, name, byOrder)
	})
	if _, err := tool.OpenSSL(); err != nil {
		visible.Missing = err.Error()
	}
	return append(list, visible)
}

// check names a behaviour; f gets the name for the processes it starts.
func check(behaviour string, f func(ctx context.Context, g *host.Group, name string) (bool, error)) trial.Case {
	name := "/check=" + behaviour
	return trial.Check(name, func(ctx context.Context, g *host.Group) (bool, error) { return f(ctx, g, name) })
}

// tryServer shakes hands once between a server that has the given suites and
// a client with default ones.
func (c config) tryServer(ctx context.Context, g *host.Group, name string, d debug, suites []uint16) (tryReport, error) {
	server := c
	server.Suites = suites
	p, err := server.connect(ctx, g, name, d)
	if err != nil {
		return tryReport{}, err
	}
	bundle, err := keys.Leaf(c.Cert)
	if err != nil {
		return tryReport{}, err
	}
	if err := p.client.Call(ctx, "start", clientStart{Config: c, Bundle: bundle.Public(), Address: p.address}, nil); err != nil {
		return tryReport{}, err
	}
	var r tryReport
	err = p.client.Call(ctx, "try", nil, &r)
	return r, err
}

// tryBoth shakes hands once in each of two configurations.
func tryBoth(ctx context.Context, g *host.Group, name string, a, b config) (ra, rb tryReport, err error) {
	ra, errA := a.tryServer(ctx, g, name+" a", debug{}, nil)
	rb, errB := b.tryServer(ctx, g, name+" b", debug{}, nil)
	return ra, rb, errors.Join(errA, errB)
}

// defaultHello reads the ClientHello of a client in Go's default.
func defaultHello(ctx context.Context, g *host.Group, name string) (helloReport, error) {
	var hello helloReport
	c := config{Version: tls.VersionTLS13, Kex: groups[0].name, Cert: baselineCert}
	p, err := c.connect(ctx, g, name, debug{})
	if err != nil {
		return hello, err
	}
	err = p.client.Call(ctx, "probe", nil, &hello)
	return hello, err
}

// opensslSeesHRR lets openssl s_client shake hands with a Go server that
// takes only X25519, once with a key share for P-256 (the article's case)
// and once with the right one, and looks for the second ClientHello in what
// -msg shows.
func opensslSeesHRR(ctx context.Context, g *host.Group, name string, c config) (bool, error) {
	found, err := tool.OpenSSL()
	if err != nil {
		return false, err
	}
	p, err := c.connect(ctx, g, name, debug{})
	if err != nil {
		return false, err
	}
	hellos := func(groups string) (int, error) {
		out, err := host.Run(ctx, strings.NewReader(""), nil, found.Path, "s_client", "-connect", p.address, "-tls1_3", "-groups", groups, "-msg")
		sent := bytes.Count(out, []byte(", ClientHello\n"))
		if sent > 0 {
			err = nil // s_client may end with 1 since the server closes first
		}
		return sent, err
	}
	with, err := hellos("P-256:X25519")
	if err != nil {
		return false, err
	}
	without, err := hellos("X25519:P-256")
	return with == 2 && without == 1, err
}
