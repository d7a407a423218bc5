package command

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"io"
	"testing"
)

func TestStatus(t *testing.T) {
	for _, test := range []struct {
		err    error
		status int
		stderr string
	}{
		{nil, 0, ""},
		{flag.ErrHelp, 0, ""},
		{errors.New("disk full"), 1, "x: disk full\n"},
		{Usagef("no flag %q", "-y"), 2, "x: no flag \"-y\"\n"},
		{fmt.Errorf("parse: %w", Usage(errors.New("bad"))), 2, "x: parse: bad\n"},
	} {
		var stderr bytes.Buffer
		got := Status("x", nil, io.Discard, &stderr, func([]string, io.Writer, io.Writer) error { return test.err })
		if got != test.status || stderr.String() != test.stderr {
			t.Errorf("%v: status %d, %q, want %d, %q", test.err, got, stderr.String(), test.status, test.stderr)
		}
	}
}
