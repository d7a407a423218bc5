package host

import (
	"os/exec"
	"runtime"
	"syscall"
)

// start starts cmd so that the kernel kills it when this process ends, which
// also covers programs that do not watch their input. The kernel's signal is
// tied to the thread that started the child (prctl(2), PR_SET_PDEATHSIG), so
// that thread is kept until the child has ended.
func start(cmd *exec.Cmd) (wait func() error, err error) {
	if cmd.SysProcAttr == nil {
		cmd.SysProcAttr = &syscall.SysProcAttr{}
	}
	cmd.SysProcAttr.Pdeathsig = syscall.SIGKILL
	started := make(chan error)
	waitNow := make(chan struct{})
	ended := make(chan error, 1)
	go func() {
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		err := cmd.Start()
		started <- err
		if err != nil {
			return
		}
		<-waitNow
		ended <- cmd.Wait()
	}()
	if err := <-started; err != nil {
		return nil, err
	}
	return func() error {
		close(waitNow)
		return <-ended
	}, nil
}
