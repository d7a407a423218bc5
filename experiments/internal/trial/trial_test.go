package trial

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"cryptocost/data"
	"cryptocost/experiments/internal/host"
)

// wantText checks that text has all the given parts.
func wantText(t *testing.T, text string, parts ...string) {
	t.Helper()
	for _, part := range parts {
		if !strings.Contains(text, part) {
			t.Errorf("no %q in %q", part, text)
		}
	}
}

// wantError checks that err has all the given parts.
func wantError(t *testing.T, err error, parts ...string) {
	t.Helper()
	if err == nil {
		t.Errorf("no error, want one with %q", parts)
		return
	}
	wantText(t, err.Error(), parts...)
}

func TestCheck(t *testing.T) {
	for _, test := range []struct {
		yes  bool
		err  error
		want float64
	}{
		{true, nil, 1},
		{false, nil, 0},
		{true, errors.New("no route"), 0},
	} {
		c := Check("/check=a", func(context.Context, *host.Group) (bool, error) { return test.yes, test.err })
		if c.Name != "/check=a" || !c.Whole {
			t.Errorf("case %+v", c)
		}
		measure, err := c.Start(t.Context(), nil)
		if err != nil {
			t.Fatal(err)
		}
		s, err := measure(t.Context(), time.Hour)
		if test.err != nil {
			if !errors.Is(err, test.err) || !strings.Contains(err.Error(), "/check=a") {
				t.Errorf("error %v, want one of /check=a about %v", err, test.err)
			}
			continue
		}
		if want := (data.Value{Value: test.want, Unit: data.YesUnit}); err != nil || s.Ops != 1 || len(s.Tallies) != 1 || s.Tallies[0].Ops != 1 || s.Tallies[0].Values[0] != want {
			t.Errorf("%v gives %+v, %v", test.yes, s, err)
		}
	}
}

func TestQuotas(t *testing.T) {
	q := Quotas{Quick: 1, Standard: 2, Thorough: 3}
	for profile, want := range map[Profile]time.Duration{Quick: 1, Standard: 2, Thorough: 3} {
		if got := q.of(profile); got != want {
			t.Errorf("%s has the quota %v, want %v", profile, got, want)
		}
		if profileRounds[profile] < 6 {
			t.Errorf("%s has %d rounds, too few for intervals", profile, profileRounds[profile])
		}
	}
}
