//go:build unix

package trial

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"cryptocost/data"
	"cryptocost/env"
	"cryptocost/experiments/internal/host"
)

func TestRun(t *testing.T) {
	b := newBench(t)
	_, stderr, err := b.run(fake(""))
	if err != nil {
		t.Fatal(err)
	}
	file := b.read()
	for key, want := range map[string]string{
		"experiment": "fake", "machine": "test", "profile": "quick", "rounds": "3", "seed": "1", "cases": "all",
		"passes": "3", "slice": "1ms", "quota": "3ms", "tool-hammer": "1.0",
	} {
		if got := file.Config[key]; got != want {
			t.Errorf("the header has %s: %s, want %s", key, got, want)
		}
	}
	for key, want := range env.Read() {
		if got := file.Config[key]; got != want && !volatile(key) {
			t.Errorf("the header has %s: %s, want %s", key, got, want)
		}
	}
	if want := []data.Missing{{Case: "/kind=gone", Reason: "the hammer is not installed"}}; !reflect.DeepEqual(file.Missing, want) {
		t.Errorf("not measured: %+v, want %+v", file.Missing, want)
	}
	if want := []string{"size-B/op", data.YesUnit}; !reflect.DeepEqual(file.Exact, want) {
		t.Errorf("exact units %q, want %q", file.Exact, want)
	}
	if len(file.Rounds) != 3 {
		t.Errorf("%d rounds", len(file.Rounds))
	}
	for _, r := range file.Rounds {
		checkRound(t, r)
	}
	for _, text := range b.lines("pids") {
		if pid, err := strconv.Atoi(text); err != nil || alive(pid) {
			t.Errorf("role %s outlives the run (%v)", text, err)
		}
	}
	if pids := b.lines("pids"); len(pids) != 6 || len(slices.Compact(slices.Sorted(slices.Values(pids)))) != 6 {
		t.Errorf("the processes %q, want a new one for each of two cases in each of three rounds", pids)
	}
	pattern := regexp.MustCompile(`^fake: not measured: /kind=gone: the hammer is not installed
(the machine is still [0-9]+ % busy .*
)?fake: measuring 3 cases in 3 rounds \(profile quick\) for machine test
fake: round 1 of 3 in [0-9.]+ s, [0-9]+ % of it measured, [0-9msh]+ left
fake: round 2 of 3 in [0-9.]+ s, [0-9]+ % of it measured, [0-9msh]+ left
fake: round 3 of 3 in [0-9.]+ s, [0-9]+ % of it measured, 0s left
fake: wrote (.*): 3 rounds of 3 cases, ([0-9]+) samples; measured windows were [0-9]+ % of [0-9msh]+
$`)
	match := pattern.FindStringSubmatch(stderr)
	if match == nil {
		t.Fatalf("it says\n%s", stderr)
	}
	samples := 0
	for _, r := range file.Rounds {
		samples += len(r.Samples)
	}
	if match[2] != b.path || match[3] != strconv.Itoa(samples) {
		t.Errorf("it says that it wrote %s samples to %s; %d are in %s", match[3], match[2], samples, b.path)
	}
}

func volatile(key string) bool {
	return slices.ContainsFunc(env.Keys(), func(k env.Key) bool { return k.Name == key && k.Volatile })
}

// checkRound looks at a round of the fake experiment.
func checkRound(t *testing.T, r data.Round) {
	t.Helper()
	units := map[string][]string{} // by case, one string for each sample
	measured := map[string]float64{}
	for _, s := range r.Samples {
		var line []string
		for _, v := range s.Values {
			line = append(line, v.Unit)
			measured[v.Unit] += v.Value
		}
		units[s.Case] = append(units[s.Case], strings.Join(line, " "))
	}
	const window = "work-ns/op p50-latency-ns/op p90-latency-ns/op p99-latency-ns/op max-latency-ns/op window-ns involuntary-switches"
	for name, want := range map[string][]string{
		"/kind=a":        {"size-B/op", "latency-ns/op", "latency-ns/op"},
		"/kind=a/twin=b": {"size-B/op"},
	} {
		lines := units[name]
		if len(lines) == 0 || !strings.HasPrefix(lines[0], window) || !slices.Equal(lines[1:], want) {
			t.Errorf("round %d, %s has the samples %q", r.Number, name, lines)
		}
	}
	if got := units["/check=works"]; !slices.Equal(got, []string{data.YesUnit}) || measured[data.YesUnit] != 1 {
		t.Errorf("round %d, the check has the samples %q", r.Number, got)
	}
	if got := units[data.RoundCase]; !slices.Equal(got, []string{"round-ns measured-ns idle-wait-ns busy-ratio failed-attempts"}) {
		t.Errorf("round %d tells of itself %q", r.Number, got)
	}
	if len(units) != 4 {
		t.Errorf("round %d has the cases %v", r.Number, units)
	}
	// Three slices of at least 1 ms for each of two cases.
	if sum := measured["measured-ns"]; sum < 6e6 || sum != measured["window-ns"] || sum > measured["round-ns"] {
		t.Errorf("round %d: %v ns measured of %v, windows of %v", r.Number, sum, measured["round-ns"], measured["window-ns"])
	}
}

// failed gives the failed attempts before each round.
func failed(file *data.File) (attempts []float64) {
	for _, r := range file.Rounds {
		for _, s := range r.Samples {
			for _, v := range s.Values {
				if v.Unit == "failed-attempts" {
					attempts = append(attempts, v.Value)
				}
			}
		}
	}
	return attempts
}

func TestUsage(t *testing.T) {
	b := newBench(t)
	noServer := fake("")
	noServer.RemoteRoles = nil
	for _, test := range []struct {
		e    Experiment
		args []string
		want []string
	}{
		{fake(""), []string{"-bogus"}, []string{"-bogus"}},
		{fake(""), []string{"-rounds", "many"}, []string{"many", "-rounds"}},
		{fake(""), []string{"-rounds", "-1"}, []string{"-1 rounds"}},
		{fake(""), []string{"-seed", "-1"}, []string{"-seed"}},
		{fake(""), []string{"kex=p521"}, []string{`"kex=p521"`, "-help"}},
		{fake(""), []string{"-profile", "slow"}, []string{`"slow"`, "quick, standard or thorough"}},
		{fake(""), []string{"-machine", "My Laptop"}, []string{`"My Laptop"`, "xeon-2cpu"}},
		{fake(""), []string{"-machine", "../test"}, []string{`"../test"`}},
		{fake(""), []string{"-cases", "("}, []string{`"("`}},
		{fake(""), []string{"-cases", "p521"}, []string{`"p521"`, "\n  /kind=a\n  /kind=a/twin=b\n  /kind=gone\n  /check=works"}},
		{fake(""), []string{"-server", "laptop"}, []string{`"laptop"`, "ssh://[user@]host[:port]"}},
		{noServer, []string{"-server", "ssh://laptop"}, []string{"fake has no server"}},
	} {
		_, _, err := b.run(test.e, test.args...)
		var usage *UsageError
		if !errors.As(err, &usage) {
			t.Errorf("%q: error %v, want a *UsageError", test.args, err)
			continue
		}
		wantText(t, err.Error(), test.want...)
	}
	if _, stderr, err := b.run(fake(""), "-help"); !errors.Is(err, flag.ErrHelp) {
		t.Errorf("-help: %v", err)
	} else {
		wantText(t, stderr, "-machine", "-profile", "-rounds", "-cases", "-seed", "-list", "-fresh", "-server", "data/NAME/fake.txt")
	}
	if left, err := filepath.Glob(filepath.Join(b.dir, "*")); err != nil || len(left) > 0 {
		t.Errorf("wrong command lines left %q, %v", left, err)
	}
}

func TestDefaults(t *testing.T) {
	for _, test := range []struct {
		args   []string
		rounds int
		quota  time.Duration
	}{
		{nil, 12, 4 * time.Millisecond},
		{[]string{"-profile", "quick"}, 6, 3 * time.Millisecond},
		{[]string{"-profile", "thorough"}, 40, 5 * time.Millisecond},
		{[]string{"-profile", "thorough", "-rounds", "7"}, 7, 5 * time.Millisecond},
		{[]string{"-rounds", "0"}, 12, 4 * time.Millisecond},
	} {
		e := fake("")
		s, err := parse(e, test.args, &bytes.Buffer{})
		if err != nil || s.rounds != test.rounds || e.Quota.of(s.profile) != test.quota || s.path(e) != filepath.Join("data", "local", "fake.txt") {
			t.Errorf("%q: %d rounds of %v in %s, %v", test.args, s.rounds, e.Quota.of(s.profile), s.path(e), err)
		}
	}
}

func TestList(t *testing.T) {
	b := newBench(t)
	for _, test := range []struct {
		args []string
		want string
	}{
		{nil, "/kind=a\n/kind=a/twin=b\n/kind=gone  (not measured here: the hammer is not installed)\n/check=works\n"},
		{[]string{"-cases", "twin|check"}, "/kind=a/twin=b\n/check=works\n"},
	} {
		stdout, stderr, err := b.run(fake(""), append(test.args, "-list")...)
		if err != nil || stdout != test.want || stderr != "" {
			t.Errorf("%q: %q, %q, %v", test.args, stdout, stderr, err)
		}
	}
	if left, err := filepath.Glob(filepath.Join(b.dir, "*")); err != nil || len(left) > 0 {
		t.Errorf("listing left %q, %v", left, err)
	}
}

func TestCasesByPattern(t *testing.T) {
	b := newBench(t)
	if _, _, err := b.run(fake(""), "-cases", "a$|gone"); err != nil {
		t.Fatal(err)
	}
	file := b.read()
	if file.Config["cases"] != "a$|gone" || len(file.Missing) != 1 {
		t.Errorf("cases %q, missing %v", file.Config["cases"], file.Missing)
	}
	for _, s := range file.Rounds[0].Samples {
		if s.Case != "/kind=a" && s.Case != data.RoundCase {
			t.Errorf("a sample of %s", s.Case)
		}
	}
}

// TestExitStatus runs the experiment as the whole program.
func TestExitStatus(t *testing.T) {
	b := newBench(t)
	for _, test := range []struct {
		args   []string
		status int
		want   string
	}{
		{b.arguments("-list"), 0, ""},
		{b.arguments("-help"), 0, "-profile"},
		{b.arguments("-bogus"), 2, "fake: flag provided but not defined: -bogus\n"},
		{b.arguments("-cases", "p521"), 2, "fake: no case matches \"p521\""},
		{b.arguments("-machine", "A"), 2, "fake: machine name \"A\""},
		{b.arguments("more"), 2, "fake: unexpected argument \"more\""},
		{[]string{"role", "dancer"}, 1, "no role \"dancer\""},
		{b.arguments(), 0, "fake: wrote " + b.path},
		{b.arguments(), 1, "fake: " + b.path + " is there already; -fresh"},
	} {
		p := b.start("", test.args...)
		if status := p.wait(); status != test.status {
			t.Errorf("%q: status %d, want %d", test.args, status, test.status)
		}
		wantText(t, p.stderr.String(), test.want)
	}
}

func TestFresh(t *testing.T) {
	b := newBench(t)
	if _, _, err := b.run(fake("")); err != nil {
		t.Fatal(err)
	}
	first := b.text(b.path)
	_, _, err := b.run(fake(""), "-seed", "2")
	wantError(t, err, b.path, "is there already", "-fresh")
	if b.text(b.path) != first {
		t.Fatal("a finished file was overwritten without -fresh")
	}
	// A new run that ends early leaves the file that is there.
	_, _, err = b.run(fake("2:die,3:die,4:die,5:die"), "-seed", "2", "-fresh")
	wantError(t, err, "1 of 3 rounds are kept in "+b.path+data.PartialSuffix+"; the same command without -fresh goes on from there")
	if b.text(b.path) != first {
		t.Fatal("a finished file was overwritten by a part of another")
	}
	// It does go on, and the old file is replaced at the end, as was asked for.
	_, stderr, err := b.run(fake(""), "-seed", "2")
	if err != nil {
		t.Fatal(err)
	}
	wantText(t, stderr, "going on after round 1,")
	if seed := b.read().Config["seed"]; seed != "2" {
		t.Errorf("the file has seed %s", seed)
	}
	second := b.text(b.path)
	_, stderr, err = b.run(fake(""), "-seed", "2", "-fresh")
	if err != nil {
		t.Fatal(err)
	}
	wantText(t, stderr, "measuring 3 cases in 3 rounds")
	if b.read(); b.text(b.path) == second {
		t.Error("-fresh kept the old file")
	}
}

func TestFreshDropsPartial(t *testing.T) {
	b := newBench(t)
	_, _, err := b.run(fake("2:die,3:die,4:die,5:die"))
	wantError(t, err, "1 of 3 rounds are kept")
	partial := b.path + data.PartialSuffix
	kept := b.text(partial)
	_, _, err = b.run(fake(""), "-seed", "2")
	var mismatch *data.MismatchError
	if !errors.As(err, &mismatch) || !slices.Equal(mismatch.Lines, []string{`seed: was "1", is "2"`}) {
		t.Errorf("error %v, want a mismatch of the seed", err)
	}
	wantError(t, err, partial, "-fresh drops it and starts anew")
	if b.text(partial) != kept {
		t.Fatal("the rounds were not kept")
	}
	if _, _, err := b.run(fake(""), "-seed", "2", "-fresh"); err != nil {
		t.Fatal(err)
	}
	if file := b.read(); file.Config["seed"] != "2" || b.text(partial) != "" {
		t.Errorf("seed %s; partial file %q", file.Config["seed"], b.text(partial))
	}
}

func TestDamagedPartial(t *testing.T) {
	b := newBench(t)
	if err := os.MkdirAll(filepath.Dir(b.path), 0o777); err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{"", "schema: crypto"} { // killed in its first moment
		if err := os.WriteFile(b.path+data.PartialSuffix, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
		if _, _, err := b.run(fake("")); err != nil {
			t.Errorf("after %q: %v", text, err)
		}
		if err := os.Remove(b.path); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(b.path+data.PartialSuffix, []byte("precious\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	_, _, err := b.run(fake(""))
	wantError(t, err, b.path+data.PartialSuffix+":1: ", "-fresh drops it and starts anew")
	if b.text(b.path+data.PartialSuffix) != "precious\n" {
		t.Error("a foreign file was changed")
	}
}

func TestRoleDies(t *testing.T) {
	b := newBench(t)
	_, stderr, err := b.run(fake("2:die,3:die,5:die"))
	if err != nil {
		t.Fatal(err)
	}
	wantText(t, stderr, `fake: round 2 failed and is tried again: case /kind=a: role "worker" died (exit status 7) when asked to "work"; its last words: tripped over a wire`)
	if n := strings.Count(stderr, "is tried again"); n != 3 {
		t.Errorf("tried again %d times:\n%s", n, stderr)
	}
	if got := failed(b.read()); !slices.Equal(got, []float64{0, 2, 1}) {
		t.Errorf("failed attempts before the rounds %v, want 0, 2 and 1", got)
	}
	b.nothingLeft()
}

func TestRoleKeepsDying(t *testing.T) {
	b := newBench(t)
	p := b.start("3:die,4:die,5:die,6:die", b.arguments()...)
	if status := p.wait(); status != 1 {
		t.Errorf("status %d", status)
	}
	wantText(t, p.stderr.String(), "fake: round 3 failed 4 times, at last: case /kind=a: role \"worker\" died (exit status 7)", "tripped over a wire",
		"\n2 of 3 rounds are kept in "+b.path+data.PartialSuffix+"; the same command goes on from there\n")
	if n := strings.Count(p.stderr.String(), "is tried again"); n != 3 {
		t.Errorf("tried again %d times", n)
	}
	b.nothingLeft()
	if _, stderr, err := b.run(fake("")); err != nil {
		t.Error(err)
	} else {
		wantText(t, stderr, "going on after round 2,")
	}
	if n := len(b.read().Rounds); n != 3 {
		t.Errorf("%d rounds", n)
	}
}

func TestStartFails(t *testing.T) {
	b := newBench(t)
	e := fake("")
	whole := e.Cases
	e.Cases = func() []Case {
		return append(whole(), Case{Name: "/kind=broken", Start: func(context.Context, *host.Group) (Measure, error) {
			return nil, errors.New("no free port")
		}})
	}
	_, _, err := b.run(e)
	wantError(t, err, "round 1 failed 4 times", "case /kind=broken: no free port", "0 of 3 rounds are kept")
	b.nothingLeft()
}

func TestCaseWithoutOperations(t *testing.T) {
	b := newBench(t)
	e := fake("")
	e.Cases = func() []Case {
		return []Case{{Name: "/kind=lazy", Start: func(context.Context, *host.Group) (Measure, error) {
			return func(context.Context, time.Duration) (Slice, error) { return Slice{}, nil }, nil
		}}}
	}
	_, _, err := b.run(e)
	wantError(t, err, "case /kind=lazy: no operation fits its slices")
}

// partialRounds is the number of whole rounds in a partial file.
func (b bench) partialRounds() int {
	return strings.Count(b.text(b.path+data.PartialSuffix), "\n# round=")
}

func TestInterrupt(t *testing.T) {
	for _, test := range []struct {
		name   string
		signal syscall.Signal
	}{{"Ctrl-C", syscall.SIGINT}, {"terminate", syscall.SIGTERM}} {
		t.Run(test.name, func(t *testing.T) {
			b := newBench(t)
			p := b.start("3:hang", b.arguments()...)
			eventually(t, "the third round begins", func() bool { return len(b.lines("hanging")) > 0 })
			if test.signal == syscall.SIGTERM {
				_ = syscall.Kill(p.cmd.Process.Pid, test.signal) // not sent by a terminal
			} else {
				p.signal(test.signal)
			}
			if status := p.wait(); status != 1 {
				t.Errorf("status %d", status)
			}
			partial := b.path + data.PartialSuffix
			if want := "fake: interrupted; 2 of 3 rounds are kept in " + partial + "; the same command goes on from there\n"; !strings.HasSuffix(p.stderr.String(), want) {
				t.Errorf("it says\n%s\nwant %s", p.stderr.String(), want)
			}
			if strings.Contains(p.stderr.String(), "tried again") {
				t.Errorf("an interrupted round counts as failed:\n%s", p.stderr.String())
			}
			b.nothingLeft()
			kept := b.text(partial)
			if b.partialRounds() != 2 {
				t.Fatalf("%d rounds are kept", b.partialRounds())
			}
			again := b.start("", b.arguments()...)
			if status := again.wait(); status != 0 {
				t.Fatalf("status %d: %s", status, again.stderr.String())
			}
			wantText(t, again.stderr.String(), "fake: going on after round 2, 3 cases in 3 rounds", "round 3 of 3")
			if n := strings.Count(again.stderr.String(), ": round "); n != 1 {
				t.Errorf("%d rounds were measured again:\n%s", n, again.stderr.String())
			}
			b.read()
			if !strings.HasPrefix(b.text(b.path), kept) {
				t.Error("the rounds of before were changed")
			}
		})
	}
}

// TestKilledAfterLastRound: nothing is left to measure.
func TestKilledAfterLastRound(t *testing.T) {
	for _, end := range []bool{false, true} {
		b := newBench(t)
		if _, _, err := b.run(fake("")); err != nil {
			t.Fatal(err)
		}
		whole := b.text(b.path)
		text := whole
		if !end {
			text = whole[:strings.Index(whole, "# end ")]
		}
		if err := os.WriteFile(b.path+data.PartialSuffix, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
		if err := os.Remove(b.path); err != nil {
			t.Fatal(err)
		}
		_, stderr, err := b.run(fake(""))
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(stderr, ": round ") || strings.Contains(stderr, "NaN") {
			t.Errorf("it says\n%s", stderr)
		}
		if b.text(b.path) != whole {
			t.Error("the file is another")
		}
	}
}

// TestKilled kills the experiment with signal 9 at random moments, starts it
// again, and looks at what is left each time.
func TestKilled(t *testing.T) {
	b := newBench(t)
	args := b.arguments("-rounds", "10")
	start := time.Now()
	if status := b.start("", args...).wait(); status != 0 {
		t.Fatalf("status %d", status)
	}
	took := time.Since(start)
	if err := os.Remove(b.path); err != nil {
		t.Fatal(err)
	}
	rng := rand.New(rand.NewPCG(1, 2))
	kept := ""
	for i := range 8 {
		p := b.start("", args...)
		// Also a fast machine needs several starts, and a slow one gets far.
		time.Sleep(time.Duration(rng.Int64N(int64(took) / 2)))
		_ = syscall.Kill(p.cmd.Process.Pid, syscall.SIGKILL)
		p.wait()
		b.nothingLeft()
		if rounds := strings.Count(kept, "\n# round="); rounds > 0 && strings.Contains(p.stderr.String(), "rounds (profile") {
			wantText(t, p.stderr.String(), fmt.Sprintf("going on after round %d,", rounds))
		}
		if b.text(b.path) != "" { // it was faster
			checkKept(t, i, kept, b.text(b.path))
			b.read()
			if err := os.Remove(b.path); err != nil {
				t.Fatal(err)
			}
			kept = ""
			continue
		}
		now := b.text(b.path + data.PartialSuffix)
		checkKept(t, i, kept, now)
		kept = wholeRounds(now)
	}
	if status := b.start("", args...).wait(); status != 0 {
		t.Fatalf("status %d", status)
	}
	b.nothingLeft()
	checkKept(t, 8, kept, b.text(b.path))
	if n := len(b.read().Rounds); n != 10 {
		t.Errorf("%d rounds", n)
	}
}

// wholeRounds is the part of a partial file up to the mark of its last whole
// round; empty where there is none.
func wholeRounds(text string) string {
	last := strings.LastIndex(text, "\n# round=")
	if last < 0 {
		return ""
	}
	end := strings.IndexByte(text[last+1:], '\n')
	if end < 0 {
		return wholeRounds(text[:last])
	}
	return text[:last+1+end+1]
}

func checkKept(t *testing.T, start int, before, after string) {
	t.Helper()
	if !strings.HasPrefix(after, before) {
		t.Errorf("start %d: %d bytes of whole rounds were not kept", start, len(before))
	}
}

// TestLock starts a run while another is held in its second round.
func TestLock(t *testing.T) {
	b := newBench(t)
	t.Setenv(nameVariable, "first")
	first := b.start("2:wait", b.arguments()...)
	eventually(t, "the second round begins", func() bool { return len(b.lines("hanging")) > 0 })
	t.Setenv(nameVariable, "second")
	const waits = "another experiment is measuring on this machine; waiting for it to end\n"
	second := b.start("", b.arguments("-machine", "other")...)
	same := b.start("", b.arguments()...)
	second.says(waits)
	same.says(waits)

	ctx, cancel := context.WithCancel(t.Context())
	var said output
	done := make(chan error)
	go func() { done <- Run(ctx, fake(""), b.arguments("-machine", "third"), &bytes.Buffer{}, &said) }()
	eventually(t, "the third run waits", func() bool { return strings.Contains(said.String(), waits) })
	cancel()
	err := <-done
	if !errors.Is(err, context.Canceled) {
		t.Errorf("error %v, want context.Canceled", err)
	}
	wantError(t, err, "interrupted while waiting for another experiment")

	if got := b.lines("starts"); !slices.Equal(got, []string{"first", "first"}) {
		t.Errorf("rounds before the first run ended: %q", got)
	}
	note("release", "yes")
	for name, p := range map[string]*program{"first": first, "second": second} {
		if status := p.wait(); status != 0 {
			t.Errorf("the %s run ends with status %d: %s", name, status, p.stderr.String())
		}
	}
	// What it waited for was a run of the same file.
	if status := same.wait(); status != 1 {
		t.Errorf("the run of the same file ends with status %d", status)
	}
	wantText(t, same.stderr.String(), b.path+" is there already")
	if got := b.lines("starts"); !slices.Equal(got, []string{"first", "first", "first", "second", "second", "second"}) {
		t.Errorf("rounds begin in the order %q", got)
	}
	b.read()
}

// TestLockOfFinishedFile: who can't measure need not wait.
func TestLockOfFinishedFile(t *testing.T) {
	b := newBench(t)
	if _, _, err := b.run(fake("")); err != nil {
		t.Fatal(err)
	}
	unlock, err := lock(t.Context(), &bytes.Buffer{})
	if err != nil {
		t.Fatal(err)
	}
	defer unlock()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	wantError(t, Run(ctx, fake(""), b.arguments(), &bytes.Buffer{}, &bytes.Buffer{}), "is there already")
	wantError(t, Run(ctx, fake(""), b.arguments("-fresh"), &bytes.Buffer{}, &bytes.Buffer{}), "interrupted while waiting")
}

func TestSeed(t *testing.T) {
	orders := map[string]string{}
	for _, seed := range []string{"1", "2", "1"} {
		b := newBench(t)
		e := fake("")
		var order strings.Builder
		e.Cases = func() []Case {
			var cases []Case
			for _, name := range []string{"a", "b", "c", "d", "e"} {
				cases = append(cases, Case{Name: "/kind=" + name, Start: func(context.Context, *host.Group) (Measure, error) {
					return func(_ context.Context, d time.Duration) (Slice, error) {
						order.WriteString(name)
						return Slice{Ops: 1, Elapsed: d, Quantities: []Quantity{{"work-ns/op", 1, 1}}}, nil
					}, nil
				}})
			}
			return cases
		}
		if _, _, err := b.run(e, "-seed", seed); err != nil {
			t.Fatal(err)
		}
		if before, ok := orders[seed]; ok && before != order.String() {
			t.Errorf("seed %s gives the orders %s and %s", seed, before, order.String())
		}
		orders[seed] = order.String()
	}
	if orders["1"] == orders["2"] {
		t.Errorf("two seeds give the order %s", orders["1"])
	}
}

// serverTests counts the runs of TestServer.
var serverTests atomic.Int64

// TestServer lets the role run on another machine, as far as this process
// can tell: the ssh program that it finds runs the command here.
func TestServer(t *testing.T) {
	b := newBench(t)
	bin := t.TempDir()
	if err := os.WriteFile(filepath.Join(bin, "ssh"), []byte("#!/bin/sh\nfor last; do :; done\nexport CRYPTOCOST_TEST_THERE=yes\nexec sh -c \"$last\"\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", bin+string(os.PathListSeparator)+os.Getenv("PATH"))
	self, err := os.ReadFile(os.Args[0])
	if err != nil {
		t.Fatal(err)
	}
	digest := sha256.Sum256(self)
	t.Cleanup(func() { _ = os.Remove("/tmp/cryptocost-" + hex.EncodeToString(digest[:8])) })

	// A process copies its binary to a machine once, and the test may run twice.
	remote := fmt.Sprintf("ssh://me@there-%d", serverTests.Add(1))
	_, _, err = b.run(fake("2:die,3:die,4:die,5:die"), "-server", remote)
	wantError(t, err, "1 of 3 rounds are kept")
	// The counters of the machine there have gone on; that is no other machine.
	_, stderr, err := b.run(fake(""), "-server", remote)
	if err != nil {
		t.Fatal(err)
	}
	wantText(t, stderr, "going on after round 1,")
	file := b.read()
	for _, k := range env.Keys() {
		there, here := file.Config[data.ServerPrefix+k.Name], file.Config[k.Name]
		if there == "" || there != here && !k.Volatile {
			t.Errorf("the machine there has %s %q, this one %q", k.Name, there, here)
		}
	}
	if text := b.text(b.path); strings.Contains(text, "me@") || strings.Contains(text, "there-") {
		t.Error("the file names the machine there")
	}
}

func TestServerUnreachable(t *testing.T) {
	b := newBench(t)
	t.Setenv("PATH", t.TempDir())
	_, _, err := b.run(fake(""), "-server", "ssh://there")
	wantError(t, err, "ssh://there")
	if left := b.text(b.path + data.PartialSuffix); left != "" {
		t.Errorf("left %q", left)
	}
}

func TestReadOnlyFolder(t *testing.T) {
	if os.Geteuid() == 0 {
		t.Skip("root may write everywhere")
	}
	b := newBench(t)
	if err := os.Mkdir(filepath.Join(b.dir, "data"), 0o555); err != nil {
		t.Fatal(err)
	}
	_, _, err := b.run(fake(""))
	wantError(t, err, filepath.Join(b.dir, "data"), "permission denied")
}
