package trial

import (
	"fmt"
	"io"
	"os"
	"time"

	"github.com/vbauerster/mpb/v8"
	"github.com/vbauerster/mpb/v8/decor"
	"golang.org/x/term"
)

// progress tells how far a run is: a bar on a terminal, a line for each
// round elsewhere.
type progress struct {
	w       io.Writer
	name    string
	rounds  int
	done    int // rounds that were there at the start
	started time.Time

	bars  *mpb.Progress // nil: no terminal
	bar   *mpb.Bar
	ended bool
}

// stepsPerRound is the resolution of the bar.
const stepsPerRound = 1000

func newProgress(w io.Writer, r *run, done int) *progress {
	p := &progress{w: w, name: r.Name, rounds: r.rounds, done: done, started: time.Now()}
	verb := "measuring"
	if done > 0 {
		verb = fmt.Sprintf("going on after round %d,", done)
	}
	fmt.Fprintf(w, "%s: %s %d cases in %d rounds (profile %s) for machine %s\n", r.Name, verb, len(r.cases), r.rounds, r.profile, r.machine)
	if f, ok := w.(*os.File); ok && term.IsTerminal(int(f.Fd())) {
		p.bars = mpb.New(mpb.WithOutput(w), mpb.WithWidth(48))
		p.bar = p.bars.AddBar(int64(stepsPerRound*r.rounds),
			mpb.PrependDecorators(decor.Name(r.Name+" "), decor.Percentage()),
			mpb.AppendDecorators(decor.OnComplete(decor.Any(p.barLeft), "done")))
		p.bar.SetRefill(int64(stepsPerRound * done))
		p.bar.SetCurrent(int64(stepsPerRound * done))
	}
	return p
}

// step tells that step of steps of round n are done.
func (p *progress) step(n, step, steps int) {
	if p.bar != nil {
		p.bar.SetCurrent(int64(stepsPerRound*(n-1) + stepsPerRound*step/steps))
	}
}

// round tells that round n is recorded.
func (p *progress) round(n int, took, measured time.Duration) {
	if p.bar != nil {
		return
	}
	fmt.Fprintf(p.w, "%s: round %d of %d in %.1f s, %.0f %% of it measured, %v left\n",
		p.name, n, p.rounds, took.Seconds(), 100*measured.Seconds()/took.Seconds(), p.left(time.Since(p.started), float64(n)))
}

// left is the time that the run still needs when so many rounds are done, if
// it goes on as it did in this process, which has run for some time.
func (p *progress) left(run time.Duration, rounds float64) time.Duration {
	perRound := float64(run) / (rounds - float64(p.done))
	return time.Duration(perRound * (float64(p.rounds) - rounds)).Round(time.Second)
}

// barLeft writes the time left beside the bar. mpb's own estimate would count
// the rounds of earlier runs as done in no time.
func (p *progress) barLeft(s decor.Statistics) string {
	rounds := float64(s.Current) / stepsPerRound
	if rounds <= float64(p.done) {
		return ""
	}
	return p.left(time.Since(p.started), rounds).String() + " left"
}

// note says something in between.
func (p *progress) note(text string) {
	w := p.w
	if p.bars != nil {
		w = p.bars
	}
	fmt.Fprintf(w, "%s: %s\n", p.name, text)
}

// end takes the bar away so that messages can follow.
func (p *progress) end() {
	if p.bar == nil || p.ended {
		return
	}
	p.ended = true
	if !p.bar.Completed() {
		p.bar.Abort(false)
	}
	p.bars.Wait()
}
