package main

import (
	"context"
	"crypto/tls"
	"fmt"
	"slices"
	"time"

	"cryptocost/data"
	"cryptocost/experiments/internal/aes"
	"cryptocost/experiments/internal/host"
	"cryptocost/experiments/internal/pki"
	"cryptocost/experiments/internal/trial"
)

// A config is one case as its process needs it.
type config struct {
	TLS bool `json:"tls"` // false: plain TCP
	// Version is the TLS version of both ends.
	Version uint16 `json:"version"`
	// Suites is CipherSuites of both ends; nil is Go's default. TLS 1.3
	// ignores it.
	Suites []uint16 `json:"suites"`
	// Negotiated are the suites that make the connection what the case says;
	// nil: any.
	Negotiated []uint16 `json:"negotiated"`
	WriteBytes int      `json:"write_bytes"`
}

// suites are the TLS 1.2 suites by the names of the cases.
var suites = []struct {
	name string
	id   uint16
}{
	{"aes-128-gcm", tls.TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256},
	{"aes-256-gcm", tls.TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384},
	{"chacha20-poly1305", tls.TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256},
	{"aes-128-cbc", tls.TLS_ECDHE_ECDSA_WITH_AES_128_CBC_SHA},
}

// suite gives the code of a suite of the list.
func suite(name string) uint16 {
	for _, s := range suites {
		if s.name == name {
			return s.id
		}
	}
	panic("no suite " + name)
}

// fullWrite is the largest content of one record (RFC 8446, 5.1).
const fullWrite = 16384

// fixed is TLS 1.2 with one suite.
func fixed(name string, writeBytes int) config {
	id := suite(name)
	return config{TLS: true, Version: tls.VersionTLS12, Suites: []uint16{id}, Negotiated: []uint16{id}, WriteBytes: writeBytes}
}

// cases multiplies out the axes.
func cases() []trial.Case {
	var list []trial.Case
	missing := map[string]string{aes.On: aes.Missing(aes.On), aes.Off: aes.Missing(aes.Off)}
	add := func(name string, c config, setting string) {
		name = fmt.Sprintf("/%s/write=%d/aes=%s", name, c.WriteBytes, setting)
		list = append(list, trial.Case{Name: name, Missing: missing[setting], Start: c.start(name, setting)})
	}
	automatic := map[string]config{
		aes.On:  {TLS: true, Version: tls.VersionTLS13, Negotiated: []uint16{tls.TLS_AES_128_GCM_SHA256}, WriteBytes: fullWrite},
		aes.Off: {TLS: true, Version: tls.VersionTLS13, Negotiated: []uint16{tls.TLS_CHACHA20_POLY1305_SHA256}, WriteBytes: fullWrite},
	}
	for _, setting := range aes.Settings {
		add("proto=tcp", config{WriteBytes: fullWrite}, setting)
		add("proto=tls1.3/suite=auto", automatic[setting], setting)
		for _, s := range suites {
			add("proto=tls1.2/suite="+s.name, fixed(s.name, fullWrite), setting)
		}
	}
	for _, name := range []string{"aes-128-gcm", "chacha20-poly1305"} {
		for _, writeBytes := range []int{1400, 4096} {
			add("proto=tls1.2/suite="+name, fixed(name, writeBytes), aes.On)
		}
	}
	baseline := fixed("aes-128-gcm", fullWrite)
	twin := fmt.Sprintf("/proto=tls1.2/suite=aes-128-gcm/write=%d/aes=on/twin=b", fullWrite)
	list = append(list, trial.Case{Name: twin, Missing: missing[aes.On], Start: baseline.start(twin, aes.On)})
	return append(list, checks()...)
}

// keys are made once in a run.
var keys pki.Store

// connect starts the process of a case and its connection.
func (c config) connect(ctx context.Context, g *host.Group, name, setting string) (*host.Process, connected, error) {
	var state connected
	env, err := aes.Environ(setting)
	if err != nil {
		return nil, state, err
	}
	bundle, err := keys.Leaf("ecdsa-p256")
	if err != nil {
		return nil, state, err
	}
	p, err := g.Process(ctx, name, host.Spec{Role: "pair", Env: env}, func(p *host.Process) error {
		return p.Call(ctx, "start", pairStart{Config: c, Bundle: bundle, AES: setting == aes.On}, &state)
	})
	return p, state, err
}

// start gives the function that brings the case with that name to life.
func (c config) start(name, setting string) func(context.Context, *host.Group) (trial.Measure, error) {
	return func(ctx context.Context, g *host.Group) (trial.Measure, error) {
		p, state, err := c.connect(ctx, g, name, setting)
		if err != nil {
			return nil, err
		}
		negotiated := []trial.Tally{{Ops: 1, Values: []data.Value{{Value: float64(state.Suite), Unit: "cipher-suite"}}}}
		return func(ctx context.Context, d time.Duration) (trial.Slice, error) {
			var r transferReport
			if err := p.Call(ctx, "transfer", d, &r); err != nil {
				return trial.Slice{}, err
			}
			tallies := negotiated
			negotiated = nil // once a round
			return trial.Slice{
				Ops: r.Writes, Elapsed: r.Elapsed, Involuntary: r.Usage.Involuntary, Tallies: tallies,
				Quantities: []trial.Quantity{
					{Unit: "MB/s", Sum: float64(r.Bytes) / 1e6, Per: r.Elapsed.Seconds()},
					{Unit: "cpu-ns/B", Sum: float64(r.Usage.CPU), Per: float64(r.Bytes)},
				},
			}, nil
		}, nil
	}
}

// checks are what Go negotiates by itself, observed once in every round.
func checks() []trial.Case {
	aesAndChaCha := []uint16{suite("aes-128-gcm"), suite("chacha20-poly1305")}
	var list []trial.Case
	for _, c := range []struct {
		name string
		config
		aes  string
		want []uint16
	}{
		{"tls1.3-with-aes-picks-aes-128-gcm", config{TLS: true, Version: tls.VersionTLS13}, aes.On, []uint16{tls.TLS_AES_128_GCM_SHA256}},
		{"tls1.3-without-aes-picks-chacha20", config{TLS: true, Version: tls.VersionTLS13}, aes.Off, []uint16{tls.TLS_CHACHA20_POLY1305_SHA256}},
		// CipherSuites is not for TLS 1.3: whoever asks for AES-256 there, gets Go's choice.
		{"tls1.3-ignores-cipher-suites", config{TLS: true, Version: tls.VersionTLS13, Suites: []uint16{tls.TLS_AES_256_GCM_SHA384}}, aes.On, []uint16{tls.TLS_AES_128_GCM_SHA256}},
		{"tls1.2-aes-only-without-aes-stays-on-aes", config{TLS: true, Version: tls.VersionTLS12, Suites: aesAndChaCha[:1]}, aes.Off, aesAndChaCha[:1]},
		{"tls1.2-aes-and-chacha20-without-aes-picks-chacha20", config{TLS: true, Version: tls.VersionTLS12, Suites: aesAndChaCha}, aes.Off, aesAndChaCha[1:]},
		{"tls1.2-aes-and-chacha20-with-aes-picks-aes", config{TLS: true, Version: tls.VersionTLS12, Suites: aesAndChaCha}, aes.On, aesAndChaCha[:1]},
	} {
		name := "/check=" + c.name
		observed := trial.Check(name, func(ctx context.Context, g *host.Group) (bool, error) {
			c.WriteBytes = fullWrite
			_, state, err := c.connect(ctx, g, name, c.aes)
			return slices.Contains(c.want, state.Suite), err
		})
		observed.Missing = aes.Missing(c.aes)
		list = append(list, observed)
	}
	name := "/check=client-without-aes-offers-chacha20-first"
	first := trial.Check(name, func(ctx context.Context, g *host.Group) (bool, error) {
		_, state, err := config{TLS: true, Version: tls.VersionTLS13, WriteBytes: fullWrite}.connect(ctx, g, name, aes.Off)
		return len(state.Offered) > 0 && state.Offered[0] == tls.TLS_CHACHA20_POLY1305_SHA256, err
	})
	first.Missing = aes.Missing(aes.Off)
	return append(list, first)
}
