package data

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"
)

func nan() float64 { return math.NaN() }
func inf() float64 { return math.Inf(1) }

// seal gives every section of text the mark that fits it, so that what is
// wrong with the rest is reached.
func seal(text string) string {
	var out, section strings.Builder
	mark := ""
	lines, samples, rounds, all := 0, 0, 0, 0
	for line := range strings.Lines(text) {
		switch {
		case strings.HasPrefix(line, "# header "):
			mark = headerMark(lines, sum("", section.String()))
		case strings.HasPrefix(line, "# round="):
			rounds++
			all += samples
			mark = roundMark(rounds, samples, sum(mark, section.String()))
		case strings.HasPrefix(line, "# end "):
			out.WriteString(endMark(rounds, all))
			continue
		default:
			if strings.HasPrefix(line, "Benchmark") {
				samples++
			}
			lines++
			section.WriteString(line)
			out.WriteString(line)
			continue
		}
		out.WriteString(mark)
		section.Reset()
		lines, samples = 0, 0
	}
	return out.String()
}

func TestSeal(t *testing.T) {
	text := content(t, testHeader("2"), testRounds())
	damaged := strings.ReplaceAll(strings.ReplaceAll(text, "sha256=", "sha256=0"), "samples=", "samples=9")
	if got := seal(damaged); got != text {
		t.Errorf("got\n%s\nwant\n%s", got, text)
	}
}

// refused reads text and checks that it is refused at the given line; 0: any
// line of it or the one after. The error is returned.
func refused(t *testing.T, what, text string, line int) error {
	t.Helper()
	_, err := Read(strings.NewReader(text), "a/x.txt")
	var e *Error
	if !errors.As(err, &e) {
		t.Errorf("%s: error %v, want an *Error", what, err)
		return err
	}
	if last := strings.Count(text, "\n") + 1; e.File != "a/x.txt" || e.Line < 1 || e.Line > last || line != 0 && e.Line != line {
		t.Errorf("%s: error at %s:%d, want line %d of %d: %v", what, e.File, e.Line, line, last, err)
	}
	if want := fmt.Sprintf("%s:%d: ", e.File, e.Line); !strings.HasPrefix(err.Error(), want) {
		t.Errorf("%s: %q does not begin with %q", what, err, want)
	}
	return err
}

func TestTruncated(t *testing.T) {
	t.Parallel()
	text := content(t, testHeader("2"), testRounds())
	for n := range text {
		err := refused(t, fmt.Sprintf("%d of %d bytes", n, len(text)), text[:n], strings.Count(text[:n], "\n")+1)
		if !errors.Is(err, ErrUnfinished) {
			t.Errorf("%d of %d bytes: %v", n, len(text), err)
		}
	}
}

func TestBitFlipped(t *testing.T) {
	t.Parallel()
	whole := content(t, testHeader("2"), testRounds())
	for bit := range 8 {
		t.Run(strconv.Itoa(bit), func(t *testing.T) {
			t.Parallel()
			text := []byte(whole)
			for i := range text {
				text[i] ^= 1 << bit
				if _, err := Read(bytes.NewReader(text), "x"); err == nil {
					t.Errorf("bit %d of byte %d flipped: no error", bit, i)
				}
				text[i] ^= 1 << bit
			}
		})
	}
}

func TestLines(t *testing.T) {
	lines := slices.Collect(strings.Lines(content(t, testHeader("2"), testRounds())))
	for i, line := range lines {
		what := fmt.Sprintf("line %d, %q, ", i+1, line)
		refused(t, what+"dropped", strings.Join(slices.Delete(slices.Clone(lines), i, i+1), ""), 0)
		refused(t, what+"repeated", strings.Join(slices.Insert(slices.Clone(lines), i, line), ""), 0)
		refused(t, what+"repeated at the end", strings.Join(lines, "")+line, len(lines)+1)
		if i > 0 && lines[i-1] != line {
			swapped := slices.Clone(lines)
			swapped[i-1], swapped[i] = swapped[i], swapped[i-1]
			refused(t, what+"moved up", strings.Join(swapped, ""), 0)
		}
	}
}

// sections cuts a file into its header, its rounds and its end line.
func sections(text string) []string {
	var all []string
	var section strings.Builder
	for line := range strings.Lines(text) {
		section.WriteString(line)
		if strings.HasPrefix(line, "# header ") || strings.HasPrefix(line, "# round=") || strings.HasPrefix(line, "# end ") {
			all = append(all, section.String())
			section.Reset()
		}
	}
	return all
}

func TestSections(t *testing.T) {
	rounds := testRounds()
	s := sections(content(t, testHeader("2"), rounds))
	header, one, two, end := s[0], s[1], s[2], s[3]
	rounds[0].Samples[0].Values[0].Value = 1
	again := sections(content(t, testHeader("2"), rounds))
	there := testHeader("2")
	there.Config["machine"] = "other"
	other := sections(content(t, there, testRounds()))
	for _, test := range []struct {
		name  string
		parts []string
	}{
		{"no header", []string{one, two, end}},
		{"no rounds", []string{header, end}},
		{"no first round", []string{header, two, end}},
		{"no last round", []string{header, one, end}},
		{"no end", []string{header, one, two}},
		{"first round repeated", []string{header, one, one, end}},
		{"last round repeated", []string{header, one, two, two, end}},
		{"rounds in another order", []string{header, two, one, end}},
		{"header repeated", []string{header, header, one, two, end}},
		{"header in mid-file", []string{header, one, header, two, end}},
		{"end repeated", []string{header, one, two, end, end}},
		{"two files in one", append(slices.Clone(s), other...)},
		{"header of another machine", append([]string{other[0]}, s[1:]...)},
		{"a round of another machine", []string{header, one, other[2], end}},
		{"first round of another run", []string{header, again[1], two, end}},
		{"last round of another run", []string{header, one, again[2], end}},
		{"both rounds of another machine", []string{header, other[1], other[2], end}},
	} {
		refused(t, test.name, strings.Join(test.parts, ""), 0)
	}
	if _, err := Read(strings.NewReader(header+again[1]+again[2]+end), "x"); err != nil {
		t.Errorf("a file put together again: %v", err)
	}
}

func TestDamaged(t *testing.T) {
	text := content(t, testHeader("2"), testRounds())
	replace := func(old, new string) string {
		if !strings.Contains(text, old) {
			t.Fatalf("no %q in the file", old)
		}
		return seal(strings.Replace(text, old, new, 1))
	}
	const firstSample = "BenchmarkKeyexchange/kex=p521/cert=ecdsa-p256/tls=1.3 840 1058210 server-cpu-ns/op"
	lineOf := func(prefix string) int {
		before, _, ok := strings.Cut(text, "\n"+prefix)
		if !ok {
			t.Fatalf("no line %q in the file", prefix)
		}
		return strings.Count(before, "\n") + 2
	}
	header, first := lineOf("# header "), lineOf(firstSample)
	secondMark := lineOf("# round=2 ")
	for _, test := range []struct {
		name, text string
		line       int
		want       string // in the error
	}{
		{"0 bytes", "", 1, "empty"},
		{"one newline", "\n", 1, "cryptocost/1"},
		{"zeros", strings.Repeat("\x00", 100), 1, "cut off"},
		{"other benchmark", "goos: linux\ngoarch: amd64\nBenchmarkSeal-2 \t 100 \t 1.5 ns/op\nPASS\n", 1, "goos: linux"},
		{"some text", "# A file\n", 1, "# A file"},
		{"byte order mark", "\ufeff" + text, 1, "schema"},
		{"carriage returns", strings.ReplaceAll(text, "\n", "\r\n"), 1, "schema"},
		{"newer schema", replace("schema: cryptocost/1", "schema: cryptocost/2"), 1, "cryptocost/2"},
		{"schema not first", replace("schema: cryptocost/1\nexperiment: keyexchange", "experiment: keyexchange\nschema: cryptocost/1"), 1, "schema"},
		{"header keys in another order", replace("experiment: keyexchange\nmachine: test-2cpu", "machine: test-2cpu\nexperiment: keyexchange"), header, "order"},
		{"header key twice", replace("passes: 2\n", "passes: 2\npasses: 3\n"), lineOf("passes: ") + 1, `"passes" comes twice`},
		{"header key missing", replace("passes: 2\n", ""), header - 1, `"passes" is missing`},
		{"header key unknown to the writer", replace("passes: 2\n", "passes: 2\n Passes: 2\n"), lineOf("passes: ") + 1, "not a header line"},
		{"header value missing", replace("passes: 2\n", "passes: \n"), lineOf("passes: "), "not a header line"},
		{"empty line in the header", replace("passes: 2\n", "passes: 2\n\n"), lineOf("passes: ") + 1, "not a header line"},
		{"comment in the header", replace("passes: 2\n", "# twice\npasses: 2\n"), lineOf("passes: "), "not a header line"},
		{"unit assumed otherwise", replace("assume=exact", "assume=nothing"), lineOf("Unit "), "assume=exact"},
		{"case not measured, no reason", replace(" openssl is not installed", ""), lineOf("# not-measured"), "REASON"},
		{"more rounds promised", replace("rounds: 2\n", "rounds: 3\n"), lineOf("# end"), "promises 3 rounds"},
		{"header key among the samples", replace(firstSample, "machine: other\n"+firstSample), first, "machine: other"},
		{"empty line among the samples", replace(firstSample, "\n"+firstSample), first, `"": want`},
		{"comment among the samples", replace(firstSample, "# first\n"+firstSample), first, "# first"},
		{"benchmark of another experiment", replace(firstSample, strings.Replace(firstSample, "Keyexchange", "Throughput", 1)), first, "BenchmarkKeyexchange"},
		{"number of processors", replace("BenchmarkKeyexchange/check=hrr 1 1 yes", "BenchmarkKeyexchange/check=hrr-2 1 1 yes"), lineOf("BenchmarkKeyexchange/check"), "processors"},
		{"two spaces", replace(firstSample, strings.Replace(firstSample, " ", "  ", 1)), first, "want a line"},
		{"tab", replace(firstSample, strings.Replace(firstSample, " ", "\t", 1)), first, "want a line"},
		{"value without a unit", replace(firstSample, firstSample+" 5"), first, "pairs"},
		{"not a count", replace(firstSample, strings.Replace(firstSample, "840", "1e3", 1)), first, `"1e3" is not a whole number`},
		{"count with a sign", replace(firstSample, strings.Replace(firstSample, "840", "+840", 1)), first, "a writer would have put"},
		{"not a value", replace(firstSample, strings.Replace(firstSample, "1058210", "fast", 1)), first, `"fast" is not a number`},
		{"value in another notation", replace(firstSample, strings.Replace(firstSample, "1058210", "1.05821e6", 1)), first, "a writer would have put"},
		{"value with too many digits", replace(firstSample, strings.Replace(firstSample, "1058210", "1058210.25", 1)), first, "a writer would have put"},
		{"negative value", replace(firstSample, strings.Replace(firstSample, "1058210", "-1058210", 1)), first, "not a measured quantity"},
		{"value that is no number", replace(firstSample, strings.Replace(firstSample, "1058210", "NaN", 1)), first, "not a measured quantity"},
		{"case that comes back", replace("# round=2 ", "BenchmarkKeyexchange/check=hrr 1 0 yes\n# round=2 "), secondMark + 1, "twice in one round"},
		{"text after the end", text + "PASS\n", lineOf("# end") + 1, "follows the end line"},
		{"empty line after the end", text + "\n", lineOf("# end") + 1, "follows the end line"},
		{"bytes after the end", text + "\x00", lineOf("# end") + 1, "follows the end line"},
		{"end line of another count", strings.Replace(text, "# end rounds=2 samples=12", "# end rounds=2 samples=13", 1), lineOf("# end"), "missing or repeated"},
	} {
		t.Run(test.name, func(t *testing.T) {
			err := refused(t, test.name, test.text, test.line)
			if err != nil && !strings.Contains(err.Error(), test.want) {
				t.Errorf("error %q, want one with %q", err, test.want)
			}
		})
	}
}

func TestReaderRefusesWhatTheWriterDoes(t *testing.T) {
	for _, test := range badHeaders {
		h := testHeader("2")
		test.change(&h)
		rest := sections(content(t, testHeader("2"), testRounds()))[1:]
		refused(t, test.name, seal(headerText(h)+strings.Join(rest, "")), 0)
	}
	for _, test := range badSamples {
		s := sections(content(t, testHeader("2"), testRounds()))
		s[1] = "round: 1\n" + test.sample.line("BenchmarkKeyexchange") + "\n# round=1 \n"
		refused(t, test.name, seal(strings.Join(s, "")), 0)
	}
}

func TestReadFileErrors(t *testing.T) {
	dir := t.TempDir()
	if _, err := ReadFile(dir + "/none.txt"); err == nil || !strings.Contains(err.Error(), "none.txt") {
		t.Errorf("no file: %v", err)
	}
	var e *Error
	if _, err := ReadFile(dir); !errors.As(err, &e) || e.File != dir {
		t.Errorf("a folder: %v", err)
	}
	path := put(t, "x.txt", "schema: cryptocost/1\nabc\n")
	if _, err := ReadFile(path); err == nil || !strings.HasPrefix(err.Error(), path+":2: ") {
		t.Errorf("second line wrong: %v", err)
	}
}

// An endless reader gives the same text for ever.
type endless struct {
	text  string
	at    int
	given int64
}

func (e *endless) Read(p []byte) (int, error) {
	n := copy(p, e.text[e.at:])
	e.at = (e.at + n) % len(e.text)
	e.given += int64(n)
	return n, nil
}

func TestEndless(t *testing.T) {
	s := sections(content(t, testHeader("2"), testRounds()))
	const schema = "schema: " + Schema + "\n"
	long := missingPrefix + "/a=b " + strings.Repeat("c", 60<<10) + "\n" // few long lines are read faster
	for _, test := range []struct {
		name, begin, repeat string
		line                int
		most                int64
		want                string
	}{
		{"one line", "", "a", 1, 1 << 20, "longer than"},
		{"one line after the header", s[0] + "round: 1\n", "a", strings.Count(s[0], "\n") + 2, 1 << 20, "longer than"},
		{"zeros", "", "\x00", 1, 1 << 20, "longer than"},
		{"empty lines", "", "\n", 1, 1 << 20, "cryptocost/1"},
		{"empty lines after the header", s[0], "\n", strings.Count(s[0], "\n") + 1, 1 << 20, `"round: 1"`},
		{"header keys", schema, "a: b\n", 3, 1 << 20, "twice"},
		{"foreign lines after the header", s[0] + "round: 1\n", "BenchmarkSeal 1 1 ns/op\n", strings.Count(s[0], "\n") + 2, 1 << 20, "want a line of"},
		{"cases not measured", schema, long, 2 + (maxBytes-len(schema))/len(long), maxBytes + 1<<20, "larger than"},
	} {
		t.Run(test.name, func(t *testing.T) {
			rest := &endless{text: strings.Repeat(test.repeat, 1+4096/len(test.repeat))}
			_, err := Read(io.MultiReader(strings.NewReader(test.begin), rest), "x")
			var e *Error
			if !errors.As(err, &e) || e.Line != test.line || !strings.Contains(e.Error(), test.want) {
				t.Errorf("error %v, want one at line %d with %q", err, test.line, test.want)
			}
			if rest.given > test.most {
				t.Errorf("%d bytes were read", rest.given)
			}
		})
	}
}

// rewrite writes a file again.
func rewrite(f *File) (string, error) {
	text, samples := headerText(f.Header), 0
	for i, r := range f.Rounds {
		round, err := roundText(benchmark(f.Experiment()), i+1, r.Samples, lastLine(text))
		if err != nil {
			return "", err
		}
		text += round
		samples += len(r.Samples)
	}
	return text + endMark(len(f.Rounds), samples), nil
}

// FuzzRead reads any text, alone or after the lines of a header, as it is
// and with marks that fit it. What is accepted must be what a writer writes,
// and benchfmt must see the same.
func FuzzRead(f *testing.F) {
	h := testHeader("1")
	h.Exact, h.Missing = nil, nil
	lines, _, _ := strings.Cut(headerText(h), "# header ")
	rest := strings.TrimPrefix(content(f, h, testRounds()[:1]), lines)
	if file, err := Read(strings.NewReader(lines+rest), "x"); err != nil || len(file.Rounds) != 1 {
		f.Fatal(err)
	}
	for _, seed := range []string{
		rest,
		"# header \nround: 1\n# round=1 \n# end \n",
		"# header \nround: 1\nBenchmarkKeyexchange/a=b 1 0.1 ns/op 2 B/op\n# round=1 \n# end \n",
		"Unit yes assume=exact\n# not-measured /a=b c d\n# header \nround: 1\n# round=1 \n# end \n",
		"x: y\n# header \nround: 1\n# round=1 \n# end \n",
		"goos: linux\nBenchmarkSeal-2 \t 100 \t 1.5 ns/op\nPASS\n",
		"schema: cryptocost/1\nmachine: a\n# header \n",
		"",
	} {
		f.Add(true, seed)
		f.Add(false, seed)
	}
	f.Fuzz(func(t *testing.T, append bool, text string) {
		if append {
			text = lines + text
		}
		for _, text := range []string{text, seal(text)} {
			file, err := Read(strings.NewReader(text), "x")
			if err != nil {
				if e, ok := errors.AsType[*Error](err); !ok || e.Line < 1 || e.Line > strings.Count(text, "\n")+1 {
					t.Errorf("error %v", err)
				}
				continue
			}
			if again, err := rewrite(file); err != nil || again != text {
				t.Errorf("accepted %q, but writes %q (%v)", text, again, err)
			}
			sameInBenchfmt(t, file, text)
		}
	})
}

func TestQuote(t *testing.T) {
	for text, want := range map[string]string{
		"":                       `""`,
		"a\tb":                   `"a\tb"`,
		strings.Repeat("é", 100): strconv.Quote(strings.Repeat("é", 40)) + "...",
	} {
		if got := quote(text); got != want {
			t.Errorf("quote(%q) = %s, want %s", text, got, want)
		}
	}
}
