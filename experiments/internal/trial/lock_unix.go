//go:build unix

package trial

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"golang.org/x/sys/unix"
)

// lockMost bounds the wait for another run of the study on this machine.
const lockMost = time.Hour

// lock waits until no other run measures on this machine and keeps others
// from measuring until unlock. The kernel drops the lock with the process.
func lock(ctx context.Context, progress io.Writer) (unlock func(), err error) {
	path := filepath.Join(os.TempDir(), "cryptocost.lock")
	// Opening without O_CREATE first: in a sticky folder Linux refuses to
	// "create" a file that another user owns (fs.protected_regular).
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		f, err = os.OpenFile(path, os.O_CREATE|os.O_RDONLY, 0o644)
	}
	if err != nil {
		return nil, fmt.Errorf("open the lock that keeps runs apart: %w", err)
	}
	start, said := time.Now(), false
	for {
		err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB)
		if err == nil {
			return func() { _ = f.Close() }, nil // closing releases; nothing was written
		}
		if !errors.Is(err, unix.EWOULDBLOCK) {
			return nil, errors.Join(fmt.Errorf("lock %q: %w", path, err), f.Close())
		}
		if time.Since(start) > lockMost {
			return nil, errors.Join(fmt.Errorf("another experiment has been measuring on this machine for %v", lockMost), f.Close())
		}
		if !said {
			fmt.Fprintln(progress, "another experiment is measuring on this machine; waiting for it to end")
			said = true
		}
		select {
		case <-time.After(200 * time.Millisecond):
		case <-ctx.Done():
			return nil, errors.Join(fmt.Errorf("interrupted while waiting for another experiment to end: %w", ctx.Err()), f.Close())
		}
	}
}
