package main

import (
	"bytes"
	"errors"
	"io"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"cryptocost/analysis/internal/claim"
	"cryptocost/analysis/internal/command"
	"cryptocost/analysis/internal/samples"
	"cryptocost/analysis/internal/values"
	"cryptocost/data"
)

// root is the top of the repository.
const root = "../.."

// program runs one of the study's programs as make does.
func program(t *testing.T, args ...string) {
	t.Helper()
	cmd := exec.Command("go", append([]string{"run"}, args...)...)
	cmd.Dir = root
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("go run %s: %v\n%s", strings.Join(args, " "), err, out)
	}
}

// TestCommitted renders everything from the committed samples and compares
// it with what is committed.
func TestCommitted(t *testing.T) {
	const mend = "run: make paper"
	figures := t.TempDir()
	for _, name := range sections {
		program(t, "./analysis/"+name, "-committed", "-out", figures)
	}
	made, err := os.ReadDir(figures)
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range made {
		compare(t, filepath.Join(figures, file.Name()), filepath.Join(root, "figures", file.Name()), mend)
	}
	committed, err := os.ReadDir(filepath.Join(root, "figures"))
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range committed {
		if _, err := os.Stat(filepath.Join(figures, file.Name())); err != nil {
			t.Errorf("figures/%s is made by no analysis", file.Name())
		}
	}
	out := t.TempDir()
	program(t, "./analysis/paper", "-committed", "-figures", figures, "-o", filepath.Join(out, "paper.md"))
	compare(t, filepath.Join(out, "paper.md"), filepath.Join(root, "paper.md"), mend)
	reference, err := samples.Reference(filepath.Join(root, "data"))
	if err != nil {
		t.Fatal(err)
	}
	program(t, "./analysis/claims", "-machine", reference, "-values", figures, "-o", filepath.Join(out, "claims.md"))
	compare(t, filepath.Join(out, "claims.md"), filepath.Join(root, "claims.md"), mend)
}

func compare(t *testing.T, made, committed, mend string) {
	t.Helper()
	want, err := os.ReadFile(made)
	if err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile(committed)
	if err != nil {
		t.Errorf("%v (%s)", err, mend)
		return
	}
	if !bytes.Equal(got, want) {
		t.Errorf("%s is not what the committed samples give (%s)", filepath.Base(committed), mend)
	}
}

// TestRenderedTwice renders the committed paper twice in one process.
func TestRenderedTwice(t *testing.T) {
	p, err := load(sources{
		data: filepath.Join(root, "data"), figures: filepath.Join(root, "figures"), templates: filepath.Join(root, "analysis"),
		claims: filepath.Join(root, "analysis/claims/claims.csv"), committed: true,
	})
	if err != nil {
		t.Fatal(err)
	}
	first, err := p.render()
	if err != nil {
		t.Fatal(err)
	}
	second, err := p.render()
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(first, second) {
		t.Error("two renderings differ")
	}
}

// allowedDigits are the digits that may stand in prose: names, and sizes and
// levels that are constants of the method.
var allowedDigits = regexp.MustCompile(`RFC \d+|TLS 1\.[23]|OpenSSL 3|Go 1\.26|` +
	`X25519(MLKEM768|Kyber768)?|SecP(256r1|384r1)MLKEM(768|1024)|P-(256|384|521)|RSA-(2048|3072|4096)|Ed25519|ML-KEM|` +
	`AES(-128|-256)?(-GCM|-CCM|-CBC)?|ChaCha20(-Poly1305)?|Poly1305|SHA-1|HTTP/2|amd64|arm64|` +
	"`GODEBUG=[a-z.]+=[a-z0-9]+`|`tlskyber=0`|" +
	`[01]-RTT|[Pp]art [1246]|95 %|16 KiB|1400 B|type 2[0-3]|030[13]`)

// claimID is the name of a claim.
var claimID = regexp.MustCompile(`^"(?:p[1246]|oa)-[a-z]`)

// TestNoTypedNumbers looks for digits outside of functions in all templates.
func TestNoTypedNumbers(t *testing.T) {
	templates, err := filepath.Glob(filepath.Join(root, "analysis", "*", "*.md.tmpl"))
	if err != nil || len(templates) < len(sections)+3 {
		t.Fatalf("found templates %q, %v", templates, err)
	}
	action := regexp.MustCompile(`(?s)\{\{.*?\}\}`)
	digits := regexp.MustCompile(`.{0,30}[0-9].{0,30}`)
	for _, path := range templates {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		prose := allowedDigits.ReplaceAllString(action.ReplaceAllString(string(text), ""), "")
		for _, found := range digits.FindAllString(prose, -1) {
			t.Errorf("%s: a number is typed by hand: %q", path, found)
		}
		// Text inside an action is prose as well, unless it is a key: a case,
		// a unit, a claim.
		for _, a := range action.FindAllString(string(text), -1) {
			for _, literal := range regexp.MustCompile(`"[^"]*"`).FindAllString(a, -1) {
				key := strings.HasPrefix(literal, `"/`) || strings.HasPrefix(literal, `"%s/`) || claimID.MatchString(literal) || strings.Contains(literal, "-sec/op")
				if prose := allowedDigits.ReplaceAllString(literal, ""); !key && digits.MatchString(prose) {
					t.Errorf("%s: a number is typed by hand: %s", path, literal)
				}
			}
			if regexp.MustCompile(`\{\{-? *[0-9.]+ *-?\}\}`).MatchString(a) {
				t.Errorf("%s: a number is typed by hand: %s", path, a)
			}
		}
	}
}

// fixture is a paper about made-up values of one experiment.
func fixture(t *testing.T) *paper {
	t.Helper()
	table := &values.Table{}
	for _, v := range []values.Value{
		{Key: "cpu-sec/op /kex=a", Value: 100e-6, Unit: "cpu-sec/op", Low: 98e-6, High: 103e-6},
		{Key: "cpu-sec/op /kex=b over /kex=a", Value: 2.5, Low: 2.4, High: 2.6},
		{Key: "cpu-sec/op /kex=c over /kex=a", Value: 1.01, Low: 0.99, High: 1.03},
		{Key: "cpu-sec/op /kex=d over /kex=a", Value: 1.2, Low: 0.5, High: 2.9},
		{Key: "cpu-sec/op /kex=e over /kex=a", Value: 0.5, Low: 0.4, High: 0.6},
		{Key: "cpu-sec/op /kex=b minus /kex=a", Value: 150e-6, Unit: "cpu-sec/op", Low: 140e-6, High: 160e-6},
		{Key: "sent-B/op /kex=b minus /kex=a", Value: 1232, Unit: "sent-B/op", Low: 1232, High: 1232},
		{Key: "sent-B/op /kex=b over /kex=a", Value: 5, Low: 5, High: 5},
		{Key: "floor cpu-sec/op", Value: 1.02, Low: math.NaN(), High: math.NaN()},
		{Key: "yes /check=x", Value: 1, Low: 0, High: 1},
		{Key: "yes /check=y", Value: 1, Low: 1, High: 1},
		{Key: "yes /check=n", Value: 0, Low: 0, High: 0},
		{Key: values.NotMeasured("/kex=z"), Value: 1, Low: math.NaN(), High: math.NaN()},
		{Key: "headlines", Value: 3, Low: math.NaN(), High: math.NaN()},
		{Key: "narrow-headlines", Value: 3, Low: math.NaN(), High: math.NaN()},
	} {
		v.N, v.Machine = 12, "one"
		if err := table.Add(v); err != nil {
			t.Fatal(err)
		}
	}
	e := &experiment{name: "keyexchange", values: table, main: samples.New(&data.File{Header: data.Header{Config: map[string]string{"machine": "one", "slice": "15ms"}}})}
	return &paper{experiments: map[string]*experiment{"keyexchange": e}, current: e}
}

// render executes a template against the fixture.
func renderText(t *testing.T, p *paper, text string) (string, error) {
	t.Helper()
	p.templates = t.TempDir()
	if err := os.WriteFile(filepath.Join(p.templates, "x.tmpl"), []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	err := p.renderPart(&out, "x.tmpl")
	return strings.TrimSpace(out.String()), err
}

func TestFunctions(t *testing.T) {
	for _, test := range []struct{ text, want string }{
		{`{{val "cpu-sec/op" "/kex=a"}} ({{ci "cpu-sec/op" "/kex=a"}})`, "100 µs (98–103 µs)"},
		{`{{difference "cpu-sec/op" "/kex=b" "/kex=a"}}`, "150 µs (140–160 µs)"},
		{`{{difference "sent-B/op" "/kex=b" "/kex=a"}}`, "1,232 B"},
		{`{{ratio "sent-B/op" "/kex=b" "/kex=a"}} {{ratio "cpu-sec/op" "/kex=b" "/kex=a"}}`, "5.00× 2.50× (2.40–2.60×)"},
		{`{{floor "cpu-sec/op"}}`, "2.0 %"},
		{`{{setting "slice"}}`, "15.0 ms"},
		{`{{claim "B" "costs" "A" "cpu-sec/op" "/kex=b" "/kex=a"}}.`, "B costs 2.50 times what A does (2.40–2.60×)."},
		{`{{claim "E" "costs" "A" "cpu-sec/op" "/kex=e" "/kex=a"}}.`, "E costs 0.500 times what A does (0.400–0.600×)."},
		{`{{claim "C" "costs" "A" "cpu-sec/op" "/kex=c" "/kex=a"}}.`,
			"C costs as much as A as far as this run can tell (0.99–1.03×, with a noise floor of 2.0 %; a difference of more than 3.0 % is ruled out)."},
		{`{{claim "D" "costs" "A" "cpu-sec/op" "/kex=d" "/kex=a"}}.`,
			"D costs an amount that this run can't tell apart from that of A (0.50–2.90×, with a noise floor of 2.0 %)."},
		{`{{val "cpu-sec/op" "/kex=z"}}`, gap},
		{`{{claim "Z" "costs" "A" "cpu-sec/op" "/kex=z" "/kex=a"}}`, "Z costs " + gap + " times what A does"},
		{`{{more "cpu-sec/op" "/kex=b" "/kex=a"}} {{less "cpu-sec/op" "/kex=b" "/kex=a"}} {{more "cpu-sec/op" "/kex=c" "/kex=a"}} {{less "cpu-sec/op" "/kex=e" "/kex=a"}}`, "true false false true"},
		{`{{same "cpu-sec/op" "/kex=b" "/kex=a"}} {{same "cpu-sec/op" "/kex=c" "/kex=a"}} {{same "cpu-sec/op" "/kex=d" "/kex=a"}} {{same "cpu-sec/op" "/kex=z" "/kex=a"}}`, "false true false false"},
		{`{{subject}}`, "one"},
		{`{{wire "/wire=0+50ms/conn=tcp"}} {{wire "/wire=0.25+0.25ms"}}`, "50 ms 500 µs"},
		{`{{seen "/check=x"}} {{seen "/check=y"}} {{never "/check=x"}} {{never "/check=n"}}`, "false true false true"},
	} {
		got, err := renderText(t, fixture(t), test.text)
		if err != nil || got != test.want {
			t.Errorf("%s\n got %q, %v\nwant %q", test.text, got, err, test.want)
		}
	}
}

// TestFailures checks that nothing unknown gets into the paper.
func TestFailures(t *testing.T) {
	for _, text := range []string{
		`{{val "cpu-sec/op" "/kex=unknown"}}`,
		`{{ratio "cpu-sec/op" "/kex=unknown" "/kex=a"}}`,
		`{{claim "B" "costs" "A" "latency-sec/op" "/kex=b" "/kex=a"}}`,
		`{{use "nothing"}}`,
		`{{cited "no-such-claim"}}`,
		`{{published "cpu-sec/op" "/kex=a"}}`,
		`{{table "nothing" "A caption."}}`,
		`{{figure "nothing" "A caption."}}`,
		`{{setting "quota"}}`,
		`{{wire "/wire=none/conn=tcp"}}`,
		`{{wire "/kex=a"}}`,
		`{{verdicts}}`,
		`{{nothing}}`,
	} {
		if got, err := renderText(t, fixture(t), text); err == nil {
			t.Errorf("%s: no error, but %q", text, got)
		}
	}
	p := fixture(t)
	p.current = nil
	if _, err := renderText(t, p, `{{val "cpu-sec/op" "/kex=a"}}`); err == nil {
		t.Error("no error for a value before use")
	}
}

// TestVerdicts counts by article, and takes a claim that is another
// experiment's but about cases of this one.
func TestVerdicts(t *testing.T) {
	p := fixture(t)
	about := func(article, experiment, name, value string) claim.Claim {
		return claim.Claim{ID: article, Article: article, Experiment: experiment, Kind: claim.Absolute, Metric: "cpu-sec/op", Case: name, Value: value, Unit: "us"}
	}
	p.claims = []claim.Claim{
		about("part4", "keyexchange", "/kex=a", "100"),
		about("part4", "keyexchange", "/kex=a", "200"),
		about("part1", "records", "keyexchange: /kex=a", "100"),
		about("part1", "records", "/kex=a", "100"),
		{ID: "design", Article: "part4", Experiment: "throughput", Kind: claim.Design, Evidence: "/check=x; keyexchange: /check=y"},
	}
	const want = "Verdicts on what is published about this: of the one claim of part 1, 1 reproduced; of the 2 claims of part 4, " +
		"1 reproduced, 1 shifted ([all of them](claims.md))."
	if got, err := renderText(t, p, "{{verdicts}}"); err != nil || got != want {
		t.Errorf("got %q, %v; want %q", got, err, want)
	}
}

// everywhere makes the fixture's experiment that of every section.
func everywhere(t *testing.T) *paper {
	t.Helper()
	p := fixture(t)
	for _, v := range []struct {
		key   string
		value float64
	}{{"rounds", 12}, {"samples", 1200}, {"measured-ratio", 0.9}, {"windows", 60}, {"marked-windows", 7}} {
		if err := p.current.values.Add(values.Value{Key: v.key, Value: v.value, Low: math.NaN(), High: math.NaN(), N: 12, Machine: "one"}); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range sections {
		p.experiments[name] = p.current
	}
	return p
}

func TestRuns(t *testing.T) {
	got, err := renderText(t, everywhere(t), "{{runs}}")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range sections {
		if len(floors[name]) == 0 {
			t.Errorf("no noise floor of %s", name)
		}
		if !strings.Contains(got, "| "+name+" | one | 12 | 1,200 | 90.0 % | 60 | 7 | unknown (") {
			t.Errorf("no row of %s in\n%s", name, got)
		}
	}
	if got, err := renderText(t, everywhere(t), "{{wider}}"); err != nil || got != "None is wider." {
		t.Errorf("got %q, %v", got, err)
	}
	p := everywhere(t)
	p.figures = t.TempDir()
	p.current.values = &values.Table{}
	for _, v := range []values.Value{{Key: "headlines", Value: 3}, {Key: "narrow-headlines", Value: 2}} {
		v.Machine, v.Low, v.High = "one", math.NaN(), math.NaN()
		if err := p.current.values.Add(v); err != nil {
			t.Fatal(err)
		}
	}
	// All share the name of the fixture, and so its table.
	if _, err := renderText(t, p, "{{wider}}"); err == nil {
		t.Error("no error though the table wide is missing")
	}
	if err := os.WriteFile(filepath.Join(p.figures, "keyexchange-wide.md"), []byte("<!-- made -->\n| a | b |\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	if got, err := renderText(t, p, "{{wider}}"); err != nil || strings.Count(got, "| a | b |") != len(sections) || !strings.Contains(got, "*"+sections[0]+":*") {
		t.Errorf("got %q, %v", got, err)
	}
}

// TestGapsBelowHeading checks that a section says what was not measured.
func TestGapsBelowHeading(t *testing.T) {
	p := fixture(t)
	section := []byte("## Wires (link)\n\nText.\n")
	if got := p.withGaps(section); !bytes.Equal(got, section) {
		t.Errorf("nothing is missing, but got %q", got)
	}
	p.current.main.File.Missing = []data.Missing{{Case: "/a=1", Reason: "no link"}, {Case: "/a=2", Reason: "no openssl"}, {Case: "/a=3", Reason: "no link"}}
	const want = "## Wires (link)\n\n*(Not measured on one: 2 cases: no link; one case: no openssl.)*\n\nText.\n"
	if got := p.withGaps(section); string(got) != want {
		t.Errorf("got %q, want %q", got, want)
	}
	p.current = nil // the front of the paper
	if got := p.withGaps(section); !bytes.Equal(got, section) {
		t.Errorf("no experiment is in use, but got %q", got)
	}
}

func TestUsage(t *testing.T) {
	for _, args := range [][]string{{"-nothing"}, {"extra"}} {
		err := run(args, io.Discard, io.Discard)
		if !errors.As(err, new(command.UsageError)) {
			t.Errorf("%q: got %v, want a usage error", args, err)
		}
	}
}
