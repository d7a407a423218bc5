//go:build unix

package data

import (
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

// withFileLimit runs f with files of this process limited to size bytes,
// which is to a writer what a full disk is.
func withFileLimit(t *testing.T, size int, f func()) {
	t.Helper()
	var before unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_FSIZE, &before); err != nil {
		t.Fatal(err)
	}
	limit := before
	limit.Cur = uint64(size)
	if err := unix.Setrlimit(unix.RLIMIT_FSIZE, &limit); err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := unix.Setrlimit(unix.RLIMIT_FSIZE, &before); err != nil {
			t.Fatal(err)
		}
	}()
	f()
}

// fullDisk is set in the process whose files are limited. It is one of its
// own, since "go test" writes files as well.
const fullDisk = "CRYPTOCOST_TEST_FULL_DISK"

// TestFullDisk lets the disk be full at many places: what was recorded
// before stays, and the run goes on when there is room again.
func TestFullDisk(t *testing.T) {
	if os.Getenv(fullDisk) == "" {
		cmd := exec.Command(os.Args[0], "-test.run=^"+t.Name()+"$", "-test.v")
		cmd.Env = append(os.Environ(), fullDisk+"=yes")
		out, err := cmd.CombinedOutput()
		if err != nil || !strings.Contains(string(out), "--- PASS: "+t.Name()) {
			t.Errorf("%v:\n%s", err, out)
		}
		return
	}
	// The signal that comes with the error would end the process (setrlimit(2)).
	signal.Ignore(syscall.SIGXFSZ)
	header, rounds := testHeader("2"), testRounds()
	finished := content(t, header, rounds)
	s := sections(finished)
	const step = 61 // prime, so that lines are cut at all places
	for size := 0; size < len(finished); size += step {
		path := filepath.Join(t.TempDir(), "x.txt")
		var w *Writer
		var err error
		done := 0
		withFileLimit(t, size, func() {
			if w, err = Create(path, header); err != nil {
				return
			}
			for _, r := range rounds {
				if err = w.Round(r.Samples); err != nil {
					return
				}
				done++
			}
			err = w.Finish(false)
		})
		if !errors.Is(err, syscall.EFBIG) {
			t.Fatalf("room for %d bytes: error %v", size, err)
		}
		if w == nil {
			if _, err := os.Stat(path + PartialSuffix); !errors.Is(err, fs.ErrNotExist) {
				t.Errorf("room for %d bytes: a partial file without a header is left: %v", size, err)
			}
			continue
		}
		_ = w.Close() // Finish may have closed it
		want := s[0]
		for _, section := range s[1 : done+1] {
			want += section
		}
		if text := readText(t, path+PartialSuffix); text != want {
			t.Fatalf("room for %d bytes: %d stay, want %d", size, len(text), len(want))
		}
		again, kept, err := Resume(path, header)
		if err != nil || kept != done {
			t.Fatalf("room for %d bytes: %d rounds kept of %d, %v", size, kept, done, err)
		}
		record(t, again, rounds[done:])
		if err := again.Finish(false); err != nil {
			t.Fatal(err)
		}
		if readText(t, path) != finished {
			t.Fatalf("room for %d bytes: finished as another file", size)
		}
	}
}
