package speed

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"cryptocost/experiments/internal/tool"
)

// transcripts are outputs of OpenSSL 3.0.19 for each benchmark's Args, stderr before stdout.
var transcripts = []struct {
	file      string
	benchmark Benchmark
	want      Result
}{
	{"gcm.txt", Benchmark{Cipher: "aes-128-gcm", SizeBytes: 16384, Seconds: 1, AEAD: true},
		Result{214134, 0.91, 3855353248.35}},
	{"gcm-decrypt.txt", Benchmark{Cipher: "aes-256-gcm", SizeBytes: 1400, Seconds: 1, AEAD: true, Decrypt: true},
		Result{949285, 0.97, 1370102061.86}},
	{"gcm-no-data.txt", Benchmark{Cipher: "aes-128-gcm", SizeBytes: 64, Seconds: 1},
		Result{2250651, 0.99, 145496630.30}},
	{"chacha20.txt", Benchmark{Cipher: "chacha20-poly1305", SizeBytes: 8192, Seconds: 1, AEAD: true},
		Result{260447, 0.98, 2177124310.20}},
	{"chacha20-decrypt.txt", Benchmark{Cipher: "chacha20-poly1305", SizeBytes: 64, Seconds: 1, AEAD: true, Decrypt: true},
		Result{7428221, 0.97, 490109426.80}},
	{"ccm.txt", Benchmark{Cipher: "aes-128-ccm", SizeBytes: 256, Seconds: 1, AEAD: true},
		Result{1691012, 0.99, 437271789.90}},
	{"ccm-decrypt.txt", Benchmark{Cipher: "aes-128-ccm", SizeBytes: 256, Seconds: 1, AEAD: true, Decrypt: true},
		Result{1266907, 0.97, 334358960.82}},
	{"elapsed.txt", Benchmark{Cipher: "aes-128-gcm", SizeBytes: 256, Seconds: 1, AEAD: true, Elapsed: true},
		Result{1865115, 1, 477469440}},
}

func read(t testing.TB, file string) string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("testdata", file))
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func TestParse(t *testing.T) {
	for _, test := range transcripts {
		t.Run(test.file, func(t *testing.T) {
			got, err := test.benchmark.parse(read(t, test.file))
			if err != nil || got != test.want {
				t.Errorf("got %+v, %v, want %+v", got, err, test.want)
			}
		})
	}
}

func TestArgs(t *testing.T) {
	for _, test := range []struct {
		benchmark Benchmark
		want      string
	}{
		{Benchmark{Cipher: "aes-128-gcm", SizeBytes: 64, Seconds: 3}, "speed -mr -evp aes-128-gcm -bytes 64 -seconds 3"},
		{Benchmark{Cipher: "aes-128-ccm", SizeBytes: 256, Seconds: 1, AEAD: true, Decrypt: true, Elapsed: true},
			"speed -mr -aead -decrypt -elapsed -evp aes-128-ccm -bytes 256 -seconds 1"},
	} {
		if got := strings.Join(test.benchmark.Args(), " "); got != test.want {
			t.Errorf("got %q, want %q", got, test.want)
		}
	}
}

// TestParseRefuses damages a transcript in every way a reader should notice.
func TestParseRefuses(t *testing.T) {
	gcm := transcripts[0]
	whole := read(t, gcm.file)
	replace := func(old, new string) string {
		damaged := strings.Replace(whole, old, new, 1)
		if damaged == whole {
			t.Fatalf("no %q in the transcript", old)
		}
		return damaged
	}
	damaged := map[string]string{
		"empty":             "",
		"end cut off":       whole[:len(whole)-2],
		"other cipher":      replace("+R:214134:AES-128-GCM", "+R:214134:AES-128-CCM"),
		"other size":        replace("+H:16384", "+H:1024"),
		"planned size":      replace(":1:16384", ":1:64"),
		"other duration":    replace("AES-128-GCM:1:", "AES-128-GCM:3:"),
		"other count":       replace("214134", "214135"),
		"other seconds":     replace("0.910000", "0.920000"),
		"other rate":        replace("3855353248.35", "3855353.24"),
		"no seconds":        replace("0.910000", "0.000000"),
		"no operations":     replace("214134", "0"),
		"too many":          replace("214134", "99999999999999999999"),
		"negative":          replace("214134", "-1"),
		"not a number":      replace("3855353248.35", "nan"),
		"for humans":        replace("3855353248.35", "3855353.25k"),
		"two sizes":         replace("+H:16384", "+H:16384:8192"),
		"a message":         "Error finalizing cipher loop\n" + whole,
		"one more at end":   whole + "\n",
		"carriage returns":  strings.ReplaceAll(whole, "\n", "\r\n"),
		"stdout before":     strings.Join(append(strings.SplitAfter(whole, "\n")[2:4], strings.SplitAfter(whole, "\n")[:2]...), ""),
		"another benchmark": read(t, "ccm.txt"),
	}
	lines := strings.SplitAfter(whole, "\n")
	for i := range lines[:len(lines)-1] {
		damaged[fmt.Sprintf("line %d dropped", i+1)] = strings.Join(slices.Delete(slices.Clone(lines), i, i+1), "")
		damaged[fmt.Sprintf("line %d repeated", i+1)] = strings.Join(slices.Insert(slices.Clone(lines), i, lines[i]), "")
	}
	for name, output := range damaged {
		if got, err := gcm.benchmark.parse(output); err == nil {
			t.Errorf("%s: got %+v, want an error", name, got)
		}
	}
}

func FuzzParse(f *testing.F) {
	for _, test := range transcripts {
		f.Add(read(f, test.file), test.benchmark.Cipher, test.benchmark.SizeBytes, test.benchmark.Seconds)
	}
	f.Fuzz(func(t *testing.T, output, cipher string, size, seconds int) {
		b := Benchmark{Cipher: cipher, SizeBytes: size, Seconds: seconds}
		r, err := b.parse(output)
		if err != nil {
			return
		}
		if r.Operations <= 0 || !(r.Seconds > 0) || !(r.BytesPerSecond >= 0) || strings.Count(output, "\n") > len(outputLines) {
			t.Errorf("accepted %q as %+v", output, r)
		}
	})
}

// fake writes a program that checks how it is called and answers with a transcript.
func fake(t *testing.T, body string) string {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("needs shell scripts")
	}
	path := filepath.Join(t.TempDir(), "openssl")
	if err := os.WriteFile(path, []byte("#!/bin/sh\n"+body+"\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestRunFake(t *testing.T) {
	test := transcripts[0]
	path := fake(t, fmt.Sprintf(`
[ "$*" = %q ] && [ "$OPENSSL_ia32cap" = "~0x2:~0x6" ] || exit 9
echo '+DT:AES-128-GCM:1:16384' >&2
echo '+R:214134:AES-128-GCM:0.910000' >&2
echo '+H:16384'
echo '+F:25:AES-128-GCM:3855353248.35'`, strings.Join(test.benchmark.Args(), " ")))
	got, err := test.benchmark.Run(t.Context(), path, []string{"OPENSSL_ia32cap=~0x2:~0x6"})
	if err != nil || got != test.want {
		t.Errorf("got %+v, %v, want %+v", got, err, test.want)
	}
}

func TestRunErrors(t *testing.T) {
	benchmark := transcripts[0].benchmark
	for _, test := range []struct{ name, body, want string }{
		{"unknown cipher", "echo 'speed: nope is an unknown cipher or digest' >&2; echo detail >&2; exit 1",
			"exit status 1: speed: nope is an unknown cipher or digest"},
		{"silent", "true", "line 1"},
	} {
		_, err := benchmark.Run(t.Context(), fake(t, test.body), nil)
		if err == nil || !strings.Contains(err.Error(), test.want) || strings.Contains(err.Error(), "detail") {
			t.Errorf("%s: got error %v, want one with %q", test.name, err, test.want)
		}
	}
	canceled, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := benchmark.Run(canceled, fake(t, "sleep 60"), nil); !errors.Is(err, context.Canceled) {
		t.Errorf("canceled: got error %v", err)
	}
}

// TestRun runs the real program for its shortest time.
func TestRun(t *testing.T) {
	if testing.Short() {
		t.Skip("takes a second")
	}
	openssl, err := tool.Find("openssl")
	if err != nil {
		t.Skip(err)
	}
	b := Benchmark{Cipher: "chacha20-poly1305", SizeBytes: 64, Seconds: 1, AEAD: true}
	if _, err := b.Run(t.Context(), openssl.Path, nil); err != nil {
		t.Error(err)
	}
}
