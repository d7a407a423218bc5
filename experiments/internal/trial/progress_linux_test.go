package trial

import (
	"context"
	"fmt"
	"io"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/vbauerster/mpb/v8/decor"
	"golang.org/x/sys/unix"
)

// terminal opens a pseudo-terminal (pty(7)): what is written to tty shows on
// its screen.
func terminal(t *testing.T) (tty *os.File, screen *output) {
	t.Helper()
	master, err := os.OpenFile("/dev/ptmx", os.O_RDWR, 0)
	if err != nil {
		t.Skipf("no pseudo-terminals: %v", err)
	}
	t.Cleanup(func() { _ = master.Close() })
	if err := unix.IoctlSetPointerInt(int(master.Fd()), unix.TIOCSPTLCK, 0); err != nil {
		t.Fatal(err)
	}
	number, err := unix.IoctlGetInt(int(master.Fd()), unix.TIOCGPTN)
	if err != nil {
		t.Fatal(err)
	}
	tty, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", number), os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Skipf("no pseudo-terminals: %v", err)
	}
	if err := unix.IoctlSetWinsize(int(tty.Fd()), unix.TIOCSWINSZ, &unix.Winsize{Row: 24, Col: 120}); err != nil {
		t.Fatal(err)
	}
	screen = &output{}
	go func() { _, _ = io.Copy(screen, master) }() // ends with an error when tty is closed
	return tty, screen
}

// TestBar runs the experiment on a terminal: a bar takes the place of the
// lines, and messages are not lost beside it.
func TestBar(t *testing.T) {
	const secondRound, thirdRound = `fake (3[3-9]|[45][0-9]|6[0-6]) % .* [0-9]+s left`, `fake (6[6-9]|[789][0-9]) % .* [0-9]+s left`
	for _, test := range []struct {
		name, plan string
		canceled   bool
		says       []string // as patterns
		fails      string
	}{
		{"whole run", "", false, []string{"fake: measuring 3 cases", `fake 100 % .* done\r`, "fake: wrote "}, ""},
		{"with a failure", "2:die", false, []string{"fake: round 2 failed and is tried again", `fake 100 % `, "fake: wrote "}, ""},
		{"that fails", "2:die,3:die,4:die,5:die", false, []string{secondRound, "is tried again"}, "1 of 3 rounds are kept"},
		{"interrupted", "3:hang", true, []string{thirdRound}, "interrupted; 2 of 3 rounds are kept"},
	} {
		t.Run(test.name, func(t *testing.T) {
			b := newBench(t)
			tty, screen := terminal(t)
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			done := make(chan error)
			go func() { done <- Run(ctx, fake(test.plan), b.arguments(), io.Discard, tty) }()
			if test.canceled {
				eventually(t, "the third round begins", func() bool { return len(b.lines("hanging")) > 0 })
				eventually(t, "the bar shows the rounds", func() bool { return regexp.MustCompile(thirdRound).MatchString(screen.String()) })
				cancel()
			}
			select {
			case err := <-done:
				if test.fails != "" {
					wantError(t, err, test.fails)
				} else if err != nil {
					t.Error(err)
				}
			case <-time.After(patience):
				t.Fatalf("the run does not end; the screen shows\n%s", screen.String())
			}
			for _, pattern := range test.says {
				eventually(t, fmt.Sprintf("%q shows on the screen", pattern), func() bool { return regexp.MustCompile(pattern).MatchString(screen.String()) })
			}
			if strings.Contains(screen.String(), "fake: round 1 of 3") {
				t.Errorf("lines beside the bar:\n%s", screen.String())
			}
			if err := tty.Close(); err != nil {
				t.Error(err)
			}
		})
	}
}

// TestTimeLeft: what earlier runs have done says nothing of the time.
func TestTimeLeft(t *testing.T) {
	p := &progress{rounds: 12, done: 8, started: time.Now()}
	for rounds, want := range map[float64]time.Duration{8.5: 140 * time.Second, 9: 60 * time.Second, 10: 20 * time.Second, 12: 0} {
		if got := p.left(20*time.Second, rounds); got != want {
			t.Errorf("%v left after round %v, want %v", got, rounds, want)
		}
	}
	for current, want := range map[int64]string{0: "", 8 * stepsPerRound: "", 12 * stepsPerRound: "0s left"} {
		if got := p.barLeft(decor.Statistics{Current: current}); got != want {
			t.Errorf("at step %d the bar shows %q, want %q", current, got, want)
		}
	}
}
