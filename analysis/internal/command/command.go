// Package command ends programs as all of the study do: silently after
// success or -help, with status 2 after a wrong command line, and with 1
// after any other failure, the error on standard error behind the program's
// name.
package command

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
)

// A UsageError is a wrong command line.
type UsageError struct{ error }

// Usage makes err a usage error.
func Usage(err error) error { return UsageError{err} }

// Usagef formats a usage error.
func Usagef(format string, args ...any) error { return UsageError{fmt.Errorf(format, args...)} }

// Unwrap gives the cause.
func (e UsageError) Unwrap() error { return e.error }

// Main runs a program and ends the process.
func Main(name string, run func(args []string, stdout, stderr io.Writer) error) {
	os.Exit(Status(name, os.Args[1:], os.Stdout, os.Stderr, run))
}

// Status runs a program and gives its exit status.
func Status(name string, args []string, stdout, stderr io.Writer, run func(args []string, stdout, stderr io.Writer) error) int {
	err := run(args, stdout, stderr)
	switch {
	case err == nil || errors.Is(err, flag.ErrHelp):
		return 0
	default:
		fmt.Fprintf(stderr, "%s: %v\n", name, err)
		if errors.As(err, new(UsageError)) {
			return 2
		}
		return 1
	}
}
