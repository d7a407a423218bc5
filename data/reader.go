package data

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"hash"
	"io"
	"os"
	"strconv"
	"strings"
)

const (
	maxBytes     = 64 << 20 // the largest run of the study writes a few MB
	maxLineBytes = 64 << 10
)

// ReadFile reads and checks the finished file at path. Errors about its
// content are of type [*Error].
func ReadFile(path string) (*File, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return Read(f, path)
}

// Read reads and checks a finished file; name is used in errors.
func Read(r io.Reader, name string) (*File, error) {
	p := newParser(r)
	file, err := p.file()
	if err != nil {
		return nil, &Error{name, p.line, err}
	}
	return file, nil
}

// A parser reads sections line by line.
type parser struct {
	lines   *bufio.Scanner
	line    int // number of the line that text holds
	text    string
	bytes   int64  // read so far, newlines included
	whole   int64  // offset behind the last whole section
	mark    string // that closes it
	section hash.Hash
	bench   string // "BenchmarkX"
}

func newParser(r io.Reader) *parser {
	s := bufio.NewScanner(r)
	s.Buffer(make([]byte, 0, 4096), maxLineBytes)
	p := &parser{lines: s, section: newSection("")}
	// bufio.ScanLines would hide a missing last newline and carriage returns.
	s.Split(func(data []byte, atEOF bool) (int, []byte, error) {
		if i := bytes.IndexByte(data, '\n'); i >= 0 {
			return i + 1, data[:i], nil
		}
		if atEOF && len(data) > 0 {
			return len(data), data, errNoNewline
		}
		return 0, nil, nil
	})
	return p
}

var errNoNewline = fmt.Errorf("the line is cut off; %w", ErrUnfinished)

// next reads a line. At the end of the input it gives io.EOF.
func (p *parser) next() error {
	p.line++
	if !p.lines.Scan() {
		switch err := p.lines.Err(); {
		case errors.Is(err, bufio.ErrTooLong):
			return fmt.Errorf("a line longer than %d bytes", maxLineBytes)
		case err != nil:
			return err
		}
		return io.EOF
	}
	p.text = p.lines.Text()
	p.bytes += int64(len(p.text)) + 1
	if p.bytes > maxBytes {
		return ErrTooLarge
	}
	return nil
}

// keep adds the current line to the section that a mark will close.
func (p *parser) keep() {
	io.WriteString(p.section, p.text+"\n")
}

// close ends the section with the current line, its mark.
func (p *parser) close() {
	p.whole, p.mark = p.bytes, p.text+"\n"
	p.section = newSection(p.mark)
}

func (p *parser) file() (*File, error) {
	header, err := p.header()
	if err != nil {
		return nil, err
	}
	file := &File{Header: *header}
	samples := 0
	for {
		round, err := p.round(len(file.Rounds) + 1)
		if err == errEnd {
			break
		}
		if err != nil {
			return nil, err
		}
		file.Rounds = append(file.Rounds, *round)
		samples += len(round.Samples)
	}
	if want := endMark(len(file.Rounds), samples); p.text+"\n" != want {
		return nil, fmt.Errorf("%s does not match what was read, %q: rounds are missing or repeated", quote(p.text), strings.TrimSpace(want))
	}
	if want := header.Config["rounds"]; want != strconv.Itoa(len(file.Rounds)) {
		return nil, fmt.Errorf("the header promises %s rounds, the file has %d", want, len(file.Rounds))
	}
	if err := p.next(); err != io.EOF {
		return nil, errors.New("something follows the end line: two files in one, or a damaged one")
	}
	return file, nil
}

// header reads up to and including the header's mark.
func (p *parser) header() (*Header, error) {
	h := &Header{Config: map[string]string{}}
	count := 0
	for {
		err := p.next()
		if err == io.EOF && count == 0 {
			return nil, fmt.Errorf("the file is empty; %w", ErrUnfinished)
		}
		if err == io.EOF {
			return nil, ErrUnfinished
		}
		if err != nil {
			return nil, err
		}
		if want := "schema: " + Schema; count == 0 && p.text != want {
			return nil, fmt.Errorf("%s: this program reads files that begin with %q", quote(p.text), want)
		}
		if strings.HasPrefix(p.text, "# header ") {
			break
		}
		if err := h.parseLine(p.text); err != nil {
			return nil, err
		}
		count++
		p.keep()
	}
	if want := headerMark(count, checksum(p.section)); p.text+"\n" != want {
		return nil, errors.New("the header does not match its checksum: a line was changed, lost or repeated")
	}
	if err := h.check(); err != nil {
		return nil, err
	}
	if lastLine(headerText(*h)) != p.text+"\n" {
		return nil, errors.New("a writer would have put the lines of the header in another order")
	}
	p.bench = benchmark(h.Experiment())
	p.close()
	return h, nil
}

// parseLine reads one line of a header into h.
func (h *Header) parseLine(text string) error {
	if unit, ok := strings.CutPrefix(text, "Unit "); ok {
		unit, assume, _ := strings.Cut(unit, " ")
		if assume != "assume="+ExactAssumption || !unitPattern.MatchString(unit) {
			return fmt.Errorf("%s: want \"Unit NAME assume=%s\"", quote(text), ExactAssumption)
		}
		h.Exact = append(h.Exact, unit)
		return nil
	}
	if missing, ok := strings.CutPrefix(text, missingPrefix); ok {
		name, reason, _ := strings.Cut(missing, " ")
		if reason == "" {
			return fmt.Errorf("%s: want \"%sCASE REASON\"", quote(text), missingPrefix)
		}
		h.Missing = append(h.Missing, Missing{name, reason})
		return nil
	}
	key, value, ok := strings.Cut(text, ": ")
	if !ok || !keyPattern.MatchString(key) || value == "" {
		return fmt.Errorf("%s: not a header line", quote(text))
	}
	if _, again := h.Config[key]; again {
		return fmt.Errorf("header key %q comes twice", key)
	}
	h.Config[key] = value
	return nil
}

// errEnd is given by round where the end line stands instead.
var errEnd = errors.New("end of samples")

// round reads the round with the given number, up to and including its mark.
func (p *parser) round(number int) (*Round, error) {
	if err := p.next(); err == io.EOF {
		return nil, ErrUnfinished
	} else if err != nil {
		return nil, err
	}
	if strings.HasPrefix(p.text, "# end ") {
		return nil, errEnd
	}
	if want := fmt.Sprintf("round: %d", number); p.text != want {
		return nil, fmt.Errorf("%s: want %q or the end line", quote(p.text), want)
	}
	p.keep()
	first := p.line
	round := &Round{Number: number}
	for {
		if err := p.next(); err == io.EOF {
			return nil, ErrUnfinished
		} else if err != nil {
			return nil, err
		}
		if strings.HasPrefix(p.text, "# round=") {
			break
		}
		sample, err := p.sample()
		if err != nil {
			return nil, err
		}
		round.Samples = append(round.Samples, sample)
		p.keep()
	}
	if want := roundMark(number, len(round.Samples), checksum(p.section)); p.text+"\n" != want {
		return nil, fmt.Errorf("round %d (lines %d to %d) does not match its checksum: a line was changed, lost or repeated, or it is of another run", number, first, p.line-1)
	}
	if err := checkOrder(round.Samples); err != nil {
		return nil, err
	}
	p.close()
	return round, nil
}

// sample parses the current line.
func (p *parser) sample() (Sample, error) {
	var s Sample
	fields := strings.Split(p.text, " ")
	name, ok := strings.CutPrefix(fields[0], p.bench)
	if !ok || len(fields) < 4 || len(fields)%2 != 0 {
		return s, fmt.Errorf("%s: want a line of %s: case, count, and pairs of value and unit", quote(p.text), p.bench)
	}
	s.Case = name
	ops, err := strconv.Atoi(fields[1])
	if err != nil {
		return s, fmt.Errorf("%s: count %q is not a whole number", quote(p.text), fields[1])
	}
	s.Ops = ops
	for i := 2; i < len(fields); i += 2 {
		v, err := strconv.ParseFloat(fields[i], 64)
		if err != nil {
			return s, fmt.Errorf("%s: value %q is not a number", quote(p.text), fields[i])
		}
		s.Values = append(s.Values, Value{v, fields[i+1]})
	}
	if err := s.check(); err != nil {
		return s, err
	}
	if canonical := s.line(p.bench); canonical != p.text {
		return s, fmt.Errorf("%s: a writer would have put %s", quote(p.text), quote(canonical))
	}
	return s, nil
}

// quote shows the beginning of a line in an error.
func quote(text string) string {
	const most = 80
	if len(text) > most {
		return strconv.Quote(text[:most]) + "..."
	}
	return strconv.Quote(text)
}
