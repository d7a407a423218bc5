//go:build !linux

package host

import "os/exec"

// start starts cmd. Roles end with their input; other systems have no signal
// for the death of a parent.
func start(cmd *exec.Cmd) (wait func() error, err error) {
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	return cmd.Wait, nil
}
