package data

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"cryptocost/env"
)

// PartialSuffix is appended to a file's name until its last round is in.
const PartialSuffix = ".partial"

// A Writer records a run round by round. What it has written survives the
// end of the process at any moment, except the round under way.
type Writer struct {
	path     string // of the finished file
	f        *os.File
	bench    string
	promised string // rounds, by the header
	mark     string // of the section written last
	rounds   int
	samples  int
}

// Create starts a file that will be at path once finished. Until then it is
// at path plus [PartialSuffix]; if that exists, the error is fs.ErrExist.
func Create(path string, h Header) (*Writer, error) {
	if err := h.check(); err != nil {
		return nil, fmt.Errorf("start %s: %w", path, err)
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		return nil, err
	}
	f, err := os.OpenFile(path+PartialSuffix, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o666)
	if err != nil {
		return nil, err
	}
	w := newWriter(path, f, h)
	if err := w.header(h); err != nil {
		return nil, errors.Join(err, f.Close(), os.Remove(f.Name()))
	}
	return w, nil
}

func newWriter(path string, f *os.File, h Header) *Writer {
	return &Writer{path: path, f: f, bench: benchmark(h.Experiment()), promised: h.Config["rounds"]}
}

// exact gives the exact units as a file lists them.
func (h Header) exact() []string { return slices.Compact(slices.Sorted(slices.Values(h.Exact))) }

// line writes m as a header line, its reason on one line.
func (m Missing) line() string {
	return missingPrefix + m.Case + " " + strings.Join(strings.Fields(m.Reason), " ")
}

// headerText writes the header and its mark.
func headerText(h Header) string {
	var lines []string
	for _, k := range keys(h.Config) {
		lines = append(lines, k+": "+h.Config[k])
	}
	for _, unit := range h.exact() {
		lines = append(lines, "Unit "+unit+" assume="+ExactAssumption)
	}
	for _, m := range h.Missing {
		lines = append(lines, m.line())
	}
	section := strings.Join(lines, "\n") + "\n"
	return section + headerMark(len(lines), sum("", section))
}

// A MismatchError says that an interrupted run cannot be continued, since
// what is asked for now differs from what it recorded.
type MismatchError struct {
	Path  string
	Lines []string // "key: was A, is B", one for each difference
}

func (e *MismatchError) Error() string {
	return fmt.Sprintf("%s was recorded with other settings, on another machine or build: %s", e.Path, strings.Join(e.Lines, "; "))
}

// Resume continues the interrupted file of path. Its whole rounds stay, what
// follows them is dropped; where the header itself was cut off, h takes its
// place. It fails with a [*MismatchError] where h differs from the file's
// header in anything but volatile keys, and with fs.ErrNotExist where nothing
// was interrupted.
func Resume(path string, h Header) (w *Writer, rounds int, err error) {
	f, err := os.OpenFile(path+PartialSuffix, os.O_RDWR, 0)
	if err != nil {
		return nil, 0, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, f.Close())
		}
	}()
	p := newParser(f)
	old, err := p.header()
	if errors.Is(err, ErrUnfinished) {
		w, err := restart(path, f, h)
		return w, 0, err
	}
	if err != nil {
		return nil, 0, &Error{f.Name(), p.line, err}
	}
	if lines := differences(*old, h); len(lines) > 0 {
		return nil, 0, &MismatchError{f.Name(), lines}
	}
	w = newWriter(path, f, *old)
	for {
		round, err := p.round(w.rounds + 1)
		if _, ok := errors.AsType[*fs.PathError](err); ok {
			return nil, 0, err // the disk's fault: nothing may be dropped
		}
		if err != nil {
			break // the round under way when the run ended, or the end line
		}
		w.rounds++
		w.samples += len(round.Samples)
	}
	w.mark = p.mark
	if err := f.Truncate(p.whole); err != nil {
		return nil, 0, err
	}
	if _, err := f.Seek(p.whole, io.SeekStart); err != nil {
		return nil, 0, err
	}
	return w, w.rounds, nil
}

// restart begins the file anew in f.
func restart(path string, f *os.File, h Header) (*Writer, error) {
	if err := h.check(); err != nil {
		return nil, fmt.Errorf("start %s: %w", path, err)
	}
	if err := f.Truncate(0); err != nil {
		return nil, err
	}
	if _, err := f.Seek(0, io.SeekStart); err != nil {
		return nil, err
	}
	w := newWriter(path, f, h)
	return w, w.header(h)
}

// differences compares what two headers say about settings, machine and
// build.
func differences(old, new Header) []string {
	volatile := map[string]bool{}
	for _, k := range env.Keys() {
		volatile[k.Name] = k.Volatile
		volatile[ServerPrefix+k.Name] = k.Volatile
	}
	var lines []string
	for _, k := range keys(new.Config) {
		if !volatile[k] && old.Config[k] != new.Config[k] {
			lines = append(lines, fmt.Sprintf("%s: was %q, is %q", k, old.Config[k], new.Config[k]))
		}
	}
	for _, k := range keys(old.Config) {
		if _, ok := new.Config[k]; !ok {
			lines = append(lines, fmt.Sprintf("%s: was %q, is not set", k, old.Config[k]))
		}
	}
	if !slices.Equal(old.exact(), new.exact()) {
		lines = append(lines, "the exact units differ")
	}
	if !slices.EqualFunc(old.Missing, new.Missing, func(a, b Missing) bool { return a.line() == b.line() }) {
		lines = append(lines, "the cases that can't be measured differ")
	}
	return lines
}

// header writes the header.
func (w *Writer) header(h Header) error {
	text := headerText(h)
	w.mark = lastLine(text)
	return w.append(text)
}

// lastLine is that of text, which ends with a newline.
func lastLine(text string) string {
	return text[strings.LastIndexByte(text[:len(text)-1], '\n')+1:]
}

// Round appends one round and waits until it is on disk.
func (w *Writer) Round(samples []Sample) error {
	text, err := roundText(w.bench, w.rounds+1, samples, w.mark)
	if err == nil {
		err = w.append(text)
	}
	if err != nil {
		return fmt.Errorf("record round %d: %w", w.rounds+1, err)
	}
	w.mark = lastLine(text)
	w.rounds++
	w.samples += len(samples)
	return nil
}

// roundText writes a round and its mark, which follow the mark before.
func roundText(bench string, number int, samples []Sample, before string) (string, error) {
	var b strings.Builder
	fmt.Fprintf(&b, "round: %d\n", number)
	for _, s := range samples {
		if err := s.check(); err != nil {
			return "", err
		}
		b.WriteString(s.line(bench))
		b.WriteByte('\n')
	}
	if err := checkOrder(samples); err != nil {
		return "", err
	}
	return b.String() + roundMark(number, len(samples), sum(before, b.String())), nil
}

// append writes text at the end and syncs. What could be written only in
// part (a full disk) is taken back.
func (w *Writer) append(text string) error {
	at, err := w.f.Seek(0, io.SeekCurrent)
	if err != nil {
		return err
	}
	if _, err := w.f.WriteString(text); err != nil {
		_, seekErr := w.f.Seek(at, io.SeekStart)
		return errors.Join(err, w.f.Truncate(at), seekErr)
	}
	return w.f.Sync()
}

// Partial is the name of the file while it is being written.
func (w *Writer) Partial() string { return w.f.Name() }

// Samples is the number of samples recorded so far.
func (w *Writer) Samples() int { return w.samples }

// Finish closes the file with its end line and gives it its name. Without
// overwrite it fails with fs.ErrExist where a finished file is there; then,
// and where rounds are missing, the file is left for [Resume].
func (w *Writer) Finish(overwrite bool) error {
	if err := errors.Join(w.end(overwrite), w.f.Close()); err != nil {
		return fmt.Errorf("finish %s: %w", w.path, err)
	}
	return os.Rename(w.f.Name(), w.path)
}

// end writes the end line if the file can be finished.
func (w *Writer) end(overwrite bool) error {
	if have := strconv.Itoa(w.rounds); have != w.promised {
		return fmt.Errorf("%s rounds of the %s that the header promises", have, w.promised)
	}
	if _, err := os.Stat(w.path); err == nil && !overwrite {
		return fs.ErrExist
	}
	return w.append(endMark(w.rounds, w.samples))
}

// Close leaves an unfinished file for [Resume].
func (w *Writer) Close() error { return w.f.Close() }
