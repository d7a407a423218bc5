package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"cryptocost/experiments/internal/aes"
	"cryptocost/experiments/internal/host"
	"cryptocost/experiments/internal/tool"
	"cryptocost/experiments/internal/trial"
	"cryptocost/experiments/primitives/aead"
	"cryptocost/experiments/primitives/speed"
)

// The implementations, as the axis lib names them.
const (
	libGo      = "go"
	libOpenSSL = "openssl"
	// libRekeyed is libcrypto with the key set for each message, as openssl
	// speed does.
	libRekeyed = "openssl-rekeyed"
	// libSpeed is the program openssl speed.
	libSpeed = "openssl-speed"
)

// ops are the values of the axis op.
var ops = []string{opSeal, opOpen}

// largest is the size at which openssl speed is asked: a full TLS record.
var largest = slices.Max(aead.SizesBytes)

// tools are the versions of what is measured beside Go.
func tools() map[string]string {
	versions := map[string]string{"openssl": "none", "libcrypto": "none"}
	if found, err := tool.OpenSSL(); err == nil {
		versions["openssl"] = found.Version
	}
	if lib, err := aead.Load(); err == nil {
		versions["libcrypto"] = lib.Version()
	}
	return versions
}

// A worker's work is one case of its process.
type work struct {
	Op        string        `json:"op"`
	SizeBytes int           `json:"size_bytes"`
	For       time.Duration `json:"for"`
}

// An engine is the process that a case needs.
type engine struct {
	lib, aead, aes string
	twin           bool
}

// cases multiplies out the axes.
func cases() []trial.Case {
	var list []trial.Case
	for _, lib := range []string{libGo, libOpenSSL} {
		for _, name := range aead.Names() {
			if _, err := aead.NewGo(name, nil); lib == libGo && errors.Is(err, aead.ErrNotInGo) {
				continue
			}
			for _, op := range ops {
				for _, size := range aead.SizesBytes {
					for _, on := range aes.Settings {
						list = append(list, engine{lib: lib, aead: name, aes: on}.run(op, size))
					}
				}
			}
		}
	}
	for _, name := range aead.Names() {
		for _, on := range aes.Settings {
			list = append(list, engine{lib: libRekeyed, aead: name, aes: on}.run(opSeal, largest))
		}
	}
	list = append(list,
		engine{lib: libOpenSSL, aead: aead.Names()[0], aes: aes.On}.calls(),
		engine{lib: libGo, aead: aead.Names()[0], aes: aes.On, twin: true}.run(opSeal, largest))
	for _, name := range aead.Names() {
		for _, on := range aes.Settings {
			list = append(list, speedCase(name, on))
		}
	}
	return list
}

// missing says why the engine can't run here; empty: it can.
func (e engine) missing() string {
	if e.lib != libGo {
		if _, err := aead.Load(); err != nil {
			return "OpenSSL 3's libcrypto is not installed (" + tool.Install("openssl") + ")"
		}
	}
	return aes.Missing(e.aes)
}

// process starts the engine's process, or finds it in the group.
func (e engine) process(ctx context.Context, g *host.Group) (*host.Process, error) {
	env, err := aes.Environ(e.aes)
	if err != nil {
		return nil, err
	}
	return g.Process(ctx, fmt.Sprintf("%+v", e), host.Spec{Role: "worker", Env: env}, func(p *host.Process) error {
		return p.Call(ctx, "start", workerStart{Lib: e.lib, AEAD: e.aead, AES: e.aes == aes.On}, nil)
	})
}

// run is the case of one operation on messages of one size.
func (e engine) run(op string, sizeBytes int) trial.Case {
	name := fmt.Sprintf("/lib=%s/aead=%s/op=%s/size=%d/aes=%s", e.lib, e.aead, op, sizeBytes, e.aes)
	if e.twin {
		name += "/twin=b"
	}
	return trial.Case{Name: name, Missing: e.missing(), Start: func(ctx context.Context, g *host.Group) (trial.Measure, error) {
		p, err := e.process(ctx, g)
		if err != nil {
			return nil, err
		}
		return func(ctx context.Context, d time.Duration) (trial.Slice, error) {
			var r workReport
			if err := p.Call(ctx, "work", work{op, sizeBytes, d}, &r); err != nil {
				return trial.Slice{}, err
			}
			s := r.slice()
			s.Quantities = append(s.Quantities, trial.Quantity{
				Unit: "MB/s", Sum: float64(r.Ops) * float64(sizeBytes) / 1e6, Per: r.Usage.CPU.Seconds(),
			})
			if e.lib != libGo {
				s.Quantities = append(s.Quantities, trial.Quantity{Unit: "calls/op", Sum: float64(r.Ops * r.Calls), Per: float64(r.Ops)})
			}
			return s, nil
		}, nil
	}}
}

// calls is the case of a call into libcrypto that does nothing.
func (e engine) calls() trial.Case {
	return trial.Case{Name: "/lib=openssl/call=nothing", Missing: e.missing(), Start: func(ctx context.Context, g *host.Group) (trial.Measure, error) {
		p, err := e.process(ctx, g)
		if err != nil {
			return nil, err
		}
		return func(ctx context.Context, d time.Duration) (trial.Slice, error) {
			var r workReport
			err := p.Call(ctx, "work", work{Op: opCall, For: d}, &r)
			return r.slice(), err
		}, nil
	}}
}

// slice is what all work reports.
func (r workReport) slice() trial.Slice {
	return trial.Slice{
		Ops: r.Ops, Elapsed: r.Elapsed, Involuntary: r.Usage.Involuntary,
		Quantities: []trial.Quantity{{Unit: "cpu-ns/op", Sum: float64(r.Usage.CPU), Per: float64(r.Ops)}},
	}
}

// speedCase is a run of openssl speed, a second long.
func speedCase(name, on string) trial.Case {
	c := trial.Case{Name: fmt.Sprintf("/lib=%s/aead=%s/op=%s/size=%d/aes=%s", libSpeed, name, opSeal, largest, on), Whole: true, Missing: aes.Missing(on)}
	found, err := tool.OpenSSL()
	if err != nil {
		c.Missing = err.Error()
	}
	c.Start = func(context.Context, *host.Group) (trial.Measure, error) {
		env, err := aes.Environ(on)
		if err != nil {
			return nil, err
		}
		return func(ctx context.Context, _ time.Duration) (trial.Slice, error) {
			start := time.Now()
			b := speed.Benchmark{Cipher: name, SizeBytes: largest, Seconds: 1, AEAD: true}
			r, err := b.Run(ctx, found.Path, env)
			if err != nil {
				return trial.Slice{}, err
			}
			return trial.Slice{
				Ops: int(r.Operations), Elapsed: time.Since(start),
				Quantities: []trial.Quantity{
					{Unit: "cpu-ns/op", Sum: r.Seconds * 1e9, Per: float64(r.Operations)},
					{Unit: "MB/s", Sum: float64(r.Operations) * float64(largest) / 1e6, Per: r.Seconds},
				},
			}, nil
		}, nil
	}
	return c
}
