package trial

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/signal"
	"strconv"
	"syscall"
	"time"

	"golang.org/x/sync/errgroup"

	"cryptocost/data"
	"cryptocost/env"
	"cryptocost/experiments/internal/host"
)

// Main runs the experiment as the whole program and ends the process: with
// status 2 for a wrong command line, 1 for any other failure.
func Main(e Experiment) {
	isRole, err := host.Dispatch(e.Roles, os.Args[1:], os.Stdin, os.Stdout)
	if !isRole {
		ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
		defer stop()
		err = Run(ctx, e, os.Args[1:], os.Stdout, os.Stderr)
	}
	var usage *UsageError
	switch {
	case err == nil || errors.Is(err, flag.ErrHelp):
		return
	case errors.As(err, &usage):
		fmt.Fprintf(os.Stderr, "%s: %v\n", e.Name, err)
		os.Exit(2)
	default:
		fmt.Fprintf(os.Stderr, "%s: %v\n", e.Name, err)
		os.Exit(1)
	}
}

// Run runs the experiment with the given arguments. Lists go to stdout,
// progress to stderr.
func Run(ctx context.Context, e Experiment, args []string, stdout, stderr io.Writer) error {
	s, err := parse(e, args, stderr)
	if err != nil {
		return err
	}
	cases, err := s.choose(e.Cases())
	if err != nil {
		return err
	}
	if s.list {
		return list(stdout, cases)
	}
	if _, err := s.replaces(e); err != nil {
		return err
	}
	unlock, err := lock(ctx, stderr)
	if err != nil {
		return err
	}
	defer unlock()
	// The run that this one waited for may have been of the same file.
	replace, err := s.replaces(e)
	if err != nil {
		return err
	}
	r := &run{Experiment: e, settings: s, replace: replace}
	for _, c := range cases {
		if c.Missing != "" {
			r.missing = append(r.missing, data.Missing{Case: c.Name, Reason: c.Missing})
			fmt.Fprintf(stderr, "%s: not measured: %s: %s\n", e.Name, c.Name, c.Missing)
			continue
		}
		r.cases = append(r.cases, c)
	}
	return r.all(ctx, stderr)
}

// list prints the cases, and why some can't be measured here.
func list(stdout io.Writer, cases []Case) error {
	for _, c := range cases {
		line := c.Name
		if c.Missing != "" {
			line += "  (not measured here: " + c.Missing + ")"
		}
		if _, err := fmt.Fprintln(stdout, line); err != nil {
			return err
		}
	}
	return nil
}

// A run is an experiment under way.
type run struct {
	Experiment
	settings
	cases   []Case
	missing []data.Missing
	replace bool // the finished file

	idleWait time.Duration // before the first round of this process
	busy     float64       // share of the CPUs in use at the end of the wait
	failed   int           // attempts that failed before the round under way
}

// maxFailures bounds how often one round is tried again.
const maxFailures = 3

// all measures the rounds that are missing and finishes the file.
func (r *run) all(ctx context.Context, stderr io.Writer) error {
	header, err := r.header(ctx)
	if err != nil {
		return err
	}
	writer, done, err := r.open(header)
	if err != nil {
		return err
	}
	share := ""
	if done < r.rounds { // else it was killed after its last round
		if share, err = r.measure(ctx, writer, done, stderr); err != nil {
			return errors.Join(err, writer.Close())
		}
	}
	if err := writer.Finish(r.replace); err != nil {
		return fmt.Errorf("%w\n%s", err, r.kept(r.rounds))
	}
	_, err = fmt.Fprintf(stderr, "%s: wrote %s: %d rounds of %d cases, %d samples%s\n",
		r.Name, r.path(r.Experiment), r.rounds, len(r.cases), writer.Samples(), share)
	return err
}

// measure records the rounds after the first done ones, and tells which share
// of their time was measured.
func (r *run) measure(ctx context.Context, writer *data.Writer, done int, stderr io.Writer) (share string, err error) {
	if r.idleWait, r.busy, err = waitIdle(ctx, stderr, cpuTimes); err != nil {
		return "", r.interrupted(done)
	}
	p := newProgress(stderr, r, done)
	defer p.end()
	var total, measured time.Duration
	for n := done + 1; n <= r.rounds; n++ {
		start := time.Now()
		result, err := r.retry(ctx, n, p)
		switch {
		case err != nil && ctx.Err() != nil:
			return "", r.interrupted(n - 1)
		case err != nil:
			return "", fmt.Errorf("%w\n%s", err, r.kept(n-1))
		}
		took := time.Since(start)
		total += took
		measured += result.measured
		if err := writer.Round(append(result.samples, r.account(took, result.measured))); err != nil {
			return "", fmt.Errorf("%w\n%s", err, r.kept(n-1))
		}
		p.round(n, took, result.measured)
	}
	return fmt.Sprintf("; measured windows were %.0f %% of %v", 100*measured.Seconds()/total.Seconds(), total.Round(time.Second)), nil
}

// interrupted and kept tell the user what is there and how to go on.
func (r *run) interrupted(rounds int) error {
	return fmt.Errorf("interrupted; %s", r.kept(rounds))
}

func (r *run) kept(rounds int) string {
	command := "the same command"
	if r.fresh {
		command += " without -fresh"
	}
	return fmt.Sprintf("%d of %d rounds are kept in %s; %s goes on from there", rounds, r.rounds, r.path(r.Experiment)+data.PartialSuffix, command)
}

// header describes the run and the machine.
func (r *run) header(ctx context.Context) (data.Header, error) {
	config := env.Read()
	quota := r.Quota.of(r.profile)
	pattern := r.settings.cases
	if pattern == "" {
		pattern = "all"
	}
	for key, value := range map[string]string{
		"schema": data.Schema, "experiment": r.Name, "machine": r.machine,
		"profile": string(r.profile), "rounds": strconv.Itoa(r.rounds), "seed": strconv.FormatUint(r.seed, 10),
		"cases": pattern, "passes": strconv.Itoa(passes(quota, r.Slice)), "slice": r.Slice.String(), "quota": quota.String(),
	} {
		config[key] = value
	}
	if r.Tools != nil {
		for name, version := range r.Tools() {
			config["tool-"+name] = version
		}
	}
	if r.server != "" {
		there, err := host.Describe(ctx, host.Spec{Role: r.RemoteRoles[0], Remote: r.server})
		if err != nil {
			return data.Header{}, err
		}
		for key, value := range there {
			config[data.ServerPrefix+key] = value
		}
	}
	return data.Header{Config: config, Exact: append([]string{data.YesUnit}, r.Exact...), Missing: r.missing}, nil
}

// open continues an interrupted file or creates one.
func (r *run) open(h data.Header) (w *data.Writer, done int, err error) {
	path := r.path(r.Experiment)
	if r.fresh {
		if err := os.Remove(path + data.PartialSuffix); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, 0, err
		}
	}
	w, done, err = data.Resume(path, h)
	switch {
	case err == nil:
		return w, done, nil
	case errors.Is(err, fs.ErrNotExist):
		w, err = data.Create(path, h)
		return w, 0, err
	default:
		return nil, 0, fmt.Errorf("%w\nthe interrupted run can't be continued; -fresh drops it and starts anew (make: FRESH=1)", err)
	}
}

// A result is one measured round.
type result struct {
	samples  []data.Sample
	measured time.Duration
}

// retry measures round n, again if a role died or hung.
func (r *run) retry(ctx context.Context, n int, p *progress) (result, error) {
	for {
		res, err := r.round(ctx, n, p)
		if err == nil || ctx.Err() != nil {
			return res, err
		}
		r.failed++
		if r.failed > maxFailures {
			return res, fmt.Errorf("round %d failed %d times, at last: %w", n, r.failed, err)
		}
		p.note(fmt.Sprintf("round %d failed and is tried again: %v", n, err))
	}
}

// round starts the processes of all cases and gives each its slices.
func (r *run) round(ctx context.Context, n int, p *progress) (result, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	group := &host.Group{Remote: r.server, RemoteRoles: r.RemoteRoles}
	defer group.Close()
	measures, err := startAll(ctx, group, r.cases)
	if err != nil {
		return result{}, err
	}
	quota := r.Quota.of(r.profile)
	order := schedule(r.cases, passes(quota, r.Slice), r.seed, n)
	windows := make([]window, len(r.cases))
	before := read()
	for step, i := range order {
		duration := r.Slice
		if r.cases[i].Whole {
			duration = quota
		}
		slice, err := measures[i](ctx, duration)
		if err != nil {
			return result{}, fmt.Errorf("case %s: %w", r.cases[i].Name, err)
		}
		after := read()
		windows[i].add(slice, before.until(after))
		before = read()
		p.step(n, step+1, len(order))
	}
	return r.summarize(n, windows)
}

// startAll starts the cases of a round side by side.
func startAll(ctx context.Context, group *host.Group, cases []Case) ([]Measure, error) {
	measures := make([]Measure, len(cases))
	// The context of the errgroup would end the processes with Wait.
	var starts errgroup.Group
	for i, c := range cases {
		starts.Go(func() error {
			measure, err := c.Start(ctx, group)
			if err != nil {
				return fmt.Errorf("case %s: %w", c.Name, err)
			}
			measures[i] = measure
			return nil
		})
	}
	return measures, starts.Wait()
}

// summarize turns the windows of round n into samples.
func (r *run) summarize(n int, windows []window) (result, error) {
	// Another stream than the order's, so that they are independent.
	rng := rand.New(rand.NewPCG(r.seed, 1<<32+uint64(n)))
	var res result
	for i, c := range r.cases {
		raw := r.RawLatencies
		if c.Repeats {
			raw = 0
		}
		samples, err := windows[i].samples(c.Name, raw, rng)
		if err != nil {
			return res, err
		}
		res.samples = append(res.samples, samples...)
		res.measured += windows[i].elapsed
	}
	return res, nil
}

// account is the sample of a round about itself (see [data.RoundCase]).
func (r *run) account(took, measured time.Duration) data.Sample {
	s := data.Sample{Case: data.RoundCase, Ops: 1, Values: []data.Value{
		{Value: float64(took), Unit: "round-ns"},
		{Value: float64(measured), Unit: "measured-ns"},
		{Value: float64(r.idleWait), Unit: "idle-wait-ns"},
		{Value: r.busy, Unit: "busy-ratio"},
		{Value: float64(r.failed), Unit: "failed-attempts"},
	}}
	r.idleWait, r.busy, r.failed = 0, 0, 0
	return s
}
