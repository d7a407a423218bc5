package host

import (
	"fmt"
	"os"
)

// RunTests is the TestMain of an experiment, whose test binary is its own
// roles: it runs the role that the binary was started as, or the tests, and
// gives the exit status. m is the *testing.M.
func RunTests(m interface{ Run() int }, roles Roles) int {
	isRole, err := Dispatch(roles, os.Args[1:], os.Stdin, os.Stdout)
	switch {
	case err != nil:
		fmt.Fprintln(os.Stderr, err)
		return 1
	case isRole:
		return 0
	}
	// Under -race every role would wait a second at its end.
	if err := os.Setenv("GORACE", "atexit_sleep_ms=0"); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return m.Run()
}
