package data

import (
	"errors"
	"flag"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"cryptocost/env"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// testHeader is that of a small file of n rounds.
func testHeader(rounds string) Header {
	config := map[string]string{
		"schema": Schema, "experiment": "keyexchange", "machine": "test-2cpu",
		"profile": "quick", "rounds": rounds, "seed": "1", "cases": "all", "passes": "2", "slice": "15ms", "quota": "30ms",
		"tool-openssl": "OpenSSL 3.0.18",
	}
	for _, k := range env.Keys() {
		config[k.Name] = env.Unknown
	}
	config["goos"] = "linux"
	return Header{
		Config:  config,
		Exact:   []string{"sent-B/op", "yes"},
		Missing: []Missing{{"/check=hrr-in-openssl-msg", "openssl is not installed"}},
	}
}

// testRounds are two rounds of three cases.
func testRounds() []Round {
	const p521, x25519, check = "/kex=p521/cert=ecdsa-p256/tls=1.3", "/kex=x25519/cert=ecdsa-p256/tls=1.3", "/check=hrr"
	latency := func(name string, ns float64) Sample {
		return Sample{name, 1, []Value{{ns, "latency-ns/op"}}}
	}
	return []Round{
		{1, []Sample{
			{p521, 840, []Value{{1058210, "server-cpu-ns/op"}, {1161920, "client-cpu-ns/op"}, {0.0123457, "stolen-ratio"}}},
			{p521, 840, []Value{{429, "sent-B/op"}, {1321, "received-B/op"}}},
			latency(p521, 1910332),
			latency(p521, 1890001),
			{x25519, 2100, []Value{{210000, "server-cpu-ns/op"}, {230001, "client-cpu-ns/op"}, {0, "stolen-ratio"}}},
			latency(x25519, 401002),
			{check, 1, []Value{{1, YesUnit}}},
		}},
		{2, []Sample{
			{check, 1, []Value{{0, YesUnit}}},
			{x25519, 2098, []Value{{211000, "server-cpu-ns/op"}, {229000, "client-cpu-ns/op"}, {0.5, "stolen-ratio"}}},
			latency(x25519, 398017),
			{p521, 839, []Value{{1060000, "server-cpu-ns/op"}, {1159000, "client-cpu-ns/op"}, {1e-9, "stolen-ratio"}}},
			{p521, 839, []Value{{429, "sent-B/op"}, {1321, "received-B/op"}}},
		}},
	}
}

// write records a file in a new folder and gives its path.
func write(t testing.TB, h Header, rounds []Round) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "test-2cpu", "keyexchange.txt")
	w, err := Create(path, h)
	if err != nil {
		t.Fatal(err)
	}
	record(t, w, rounds)
	if err := w.Finish(false); err != nil {
		t.Fatal(err)
	}
	return path
}

func record(t testing.TB, w *Writer, rounds []Round) {
	t.Helper()
	for _, r := range rounds {
		if err := w.Round(r.Samples); err != nil {
			t.Fatal(err)
		}
	}
}

// content is the text of a small finished file.
func content(t testing.TB, h Header, rounds []Round) string {
	t.Helper()
	return readText(t, write(t, h, rounds))
}

func readText(t testing.TB, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// put writes text to a file in a new folder and gives its path.
func put(t testing.TB, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestRoundTrip(t *testing.T) {
	header, rounds := testHeader("2"), testRounds()
	file, err := ReadFile(write(t, header, rounds))
	if err != nil {
		t.Fatal(err)
	}
	if want := (&File{header, rounds}); !reflect.DeepEqual(file, want) {
		t.Errorf("read\n%+v\nwrote\n%+v", file, want)
	}
	if file.Experiment() != "keyexchange" || file.Machine() != "test-2cpu" {
		t.Errorf("experiment %q, machine %q", file.Experiment(), file.Machine())
	}
}

func TestGolden(t *testing.T) {
	golden := filepath.Join("testdata", "small.golden")
	got := content(t, testHeader("2"), testRounds())
	if *update {
		if err := os.WriteFile(golden, []byte(got), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	if want := readText(t, golden); got != want {
		t.Errorf("the writer no longer writes %s, so that files recorded earlier may be refused; if that is meant, change Schema and run go test ./data -update", golden)
	}
	if _, err := ReadFile(golden); err != nil {
		t.Error(err)
	}
}

func TestFormat(t *testing.T) {
	for _, test := range []struct {
		value float64
		want  string
	}{
		{0, "0"},
		{1, "1"},
		{123456789012345, "123456789012345"},
		{999999999999999, "999999999999999"},
		{1234567890123456, "1234570000000000"},
		{1.5, "1.5"},
		{1058211.123, "1058210"},
		{1.23456789, "1.23457"},
		{0.000123456789, "0.000123457"},
		{1.0 / 3, "0.333333"},
		{999999.9, "1000000"},
		{1e-9, "0.000000001"},
	} {
		if got := format(test.value); got != test.want {
			t.Errorf("format(%v) = %q, want %q", test.value, got, test.want)
		}
	}
}

func TestHeaderOrder(t *testing.T) {
	h := testHeader("2")
	h.Exact = []string{"yes", "sent-B/op", "yes"}
	h.Missing[0].Reason = "  openssl \n is not\tinstalled "
	got, want := content(t, h, testRounds()), content(t, testHeader("2"), testRounds())
	if got != want {
		t.Error("the header depends on the order of units or on the spaces of a reason")
	}
}

func TestCheckMachine(t *testing.T) {
	for _, test := range []struct {
		name string
		ok   bool
	}{
		{"local", true},
		{"xeon-2cpu", true},
		{"m1.max", true},
		{"2cpu", true},
		{strings.Repeat("a", 40), true},
		{strings.Repeat("a", 41), false},
		{"", false},
		{"..", false},
		{".hidden", false},
		{"-machine", false},
		{"a/b", false},
		{`a\b`, false},
		{"a b", false},
		{"Laptop", false},
		{"büro", false},
		{"a\n", false},
	} {
		if err := CheckMachine(test.name); (err == nil) != test.ok {
			t.Errorf("CheckMachine(%q) = %v, want ok %v", test.name, err, test.ok)
		}
	}
}

// badHeaders are headers that must neither be written nor read.
var badHeaders = []struct {
	name   string
	change func(*Header)
	want   string // in the error
}{
	{"other schema", func(h *Header) { h.Config["schema"] = "cryptocost/2" }, "schema"},
	{"no machine", func(h *Header) { delete(h.Config, "machine") }, `"machine" is missing`},
	{"no key of env", func(h *Header) { delete(h.Config, "goos") }, `"goos" is missing`},
	{"empty key of env", func(h *Header) { h.Config["goos"] = "" }, `goos`},
	{"machine that is a path", func(h *Header) { h.Config["machine"] = "../b" }, "machine name"},
	{"experiment that is no name", func(h *Header) { h.Config["experiment"] = "Key exchange" }, "not a name"},
	{"key with a space", func(h *Header) { h.Config["a b"] = "c" }, "a b: c"},
	{"upper-case key", func(h *Header) { h.Config["Key"] = "c" }, "Key: c"},
	{"value with a line break", func(h *Header) { h.Config["cases"] = "a\nb" }, ""},
	{"value with a carriage return", func(h *Header) { h.Config["cases"] = "a\rb" }, "cases"},
	{"value that ends with a space", func(h *Header) { h.Config["cases"] = "a " }, "cases"},
	{"exact unit", func(h *Header) { h.Exact = []string{"b b"} }, "b b"},
	{"missing case without a reason", func(h *Header) { h.Missing[0].Reason = " " }, "/check=hrr-in-openssl-msg"},
	{"missing case", func(h *Header) { h.Missing[0].Case = "hrr" }, "hrr"},
}

// badSamples are samples that must neither be written nor read.
var badSamples = []struct {
	name   string
	sample Sample
	want   string
}{
	{"no operation", Sample{"/kex=a", 0, []Value{{1, "ns/op"}}}, "0 operations"},
	{"no value", Sample{"/kex=a", 1, nil}, ""},
	{"no case", Sample{"", 1, []Value{{1, "ns/op"}}}, "case"},
	{"case without a value", Sample{"/kex", 1, []Value{{1, "ns/op"}}}, "/kex"},
	{"case with a space", Sample{"/kex=a b", 1, []Value{{1, "ns/op"}}}, ""},
	{"case with a space of Unicode", Sample{"/kex=a\u00a0b", 1, []Value{{1, "ns/op"}}}, "case"},
	{"case that ends like a number of processors", Sample{"/cert=rsa-2048", 1, []Value{{1, "ns/op"}}}, "-2048"},
	{"unit twice", Sample{"/kex=a", 1, []Value{{1, "ns/op"}, {2, "ns/op"}}}, "twice"},
	{"empty unit", Sample{"/kex=a", 1, []Value{{1, ""}}}, "unit"},
	{"negative", Sample{"/kex=a", 1, []Value{{-1, "ns/op"}}}, "-1"},
	{"not a number", Sample{"/kex=a", 1, []Value{{nan(), "ns/op"}}}, "NaN"},
	{"infinite", Sample{"/kex=a", 1, []Value{{inf(), "ns/op"}}}, "Inf"},
}

func TestWriterRefuses(t *testing.T) {
	for _, test := range badHeaders {
		t.Run(test.name, func(t *testing.T) {
			h := testHeader("2")
			test.change(&h)
			path := filepath.Join(t.TempDir(), "x.txt")
			if _, err := Create(path, h); err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("error %v, want one with %q", err, test.want)
			}
			if _, err := os.Stat(path + PartialSuffix); !errors.Is(err, fs.ErrNotExist) {
				t.Errorf("a partial file was left: %v", err)
			}
		})
	}
	w, err := Create(filepath.Join(t.TempDir(), "x.txt"), testHeader("1"))
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	for _, test := range badSamples {
		t.Run(test.name, func(t *testing.T) {
			if err := w.Round([]Sample{test.sample}); err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("error %v, want one with %q", err, test.want)
			}
		})
	}
	again := Sample{"/kex=a", 1, []Value{{1, "ns/op"}}}
	other := Sample{"/kex=b", 1, []Value{{1, "ns/op"}}}
	if err := w.Round([]Sample{again, other, again}); err == nil || !strings.Contains(err.Error(), "twice in one round") {
		t.Errorf("a case that comes back: %v", err)
	}
	if w.Samples() != 0 {
		t.Errorf("%d samples were recorded", w.Samples())
	}
}
