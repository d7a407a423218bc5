package data

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"net"
	"os"
	"os/user"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"cryptocost/env"
)

// TestResume cuts a partial file at every byte: the whole rounds stay, and
// what is finished from there is what an undisturbed run writes.
func TestResume(t *testing.T) {
	t.Parallel()
	header, rounds := testHeader("2"), testRounds()
	finished := content(t, header, rounds)
	ends := []int{0} // of the sections
	for _, s := range sections(finished) {
		ends = append(ends, ends[len(ends)-1]+len(s))
	}
	path := filepath.Join(t.TempDir(), "x.txt")
	// A file that was closed but not renamed is partial too.
	for n := range len(finished) + 1 {
		if err := os.WriteFile(path+PartialSuffix, []byte(finished[:n]), 0o666); err != nil {
			t.Fatal(err)
		}
		w, done, err := Resume(path, header)
		if err != nil {
			t.Fatalf("cut after %d bytes: %v", n, err)
		}
		want := 0
		for want < len(rounds) && n >= ends[want+2] {
			want++
		}
		if done != want {
			t.Fatalf("cut after %d bytes: %d rounds stay, want %d", n, done, want)
		}
		if text := readText(t, path+PartialSuffix); text != finished[:ends[want+1]] {
			t.Fatalf("cut after %d bytes: %d bytes stay, want %d", n, len(text), ends[want+1])
		}
		// The same bytes stay, so not all of them need to be finished, which
		// waits for the disk.
		const step = 17
		if n%step != 0 && !slices.Contains(ends, n) {
			if err := w.Close(); err != nil {
				t.Fatal(err)
			}
			continue
		}
		record(t, w, rounds[done:])
		if err := w.Finish(true); err != nil {
			t.Fatalf("cut after %d bytes: %v", n, err)
		}
		if text := readText(t, path); text != finished {
			t.Fatalf("cut after %d bytes: finished as %q", n, text)
		}
	}
	if _, err := ReadFile(path); err != nil {
		t.Error(err)
	}
}

func TestResumeDropsDamage(t *testing.T) {
	header, rounds := testHeader("2"), testRounds()
	s := sections(content(t, header, rounds))
	for _, test := range []struct {
		name, tail string
	}{
		{"zeros", strings.Repeat("\x00", 5000)},
		{"one endless line", strings.Repeat("a", 1<<20)},
		{"a round that was changed", strings.Replace(s[2], "211000", "210000", 1)},
		{"a round that is out of turn", s[1]},
		{"text", "PASS\n"},
	} {
		t.Run(test.name, func(t *testing.T) {
			path := strings.TrimSuffix(put(t, "x.txt"+PartialSuffix, s[0]+s[1]+test.tail), PartialSuffix)
			w, done, err := Resume(path, header)
			if err != nil || done != 1 {
				t.Fatalf("%d rounds, %v", done, err)
			}
			record(t, w, rounds[1:])
			if err := w.Finish(false); err != nil {
				t.Fatal(err)
			}
			if text := readText(t, path); text != strings.Join(s, "") {
				t.Errorf("finished as %q", text)
			}
		})
	}
}

// interrupted leaves a partial file with one of two rounds.
func interrupted(t *testing.T, h Header) (path string) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "x.txt")
	w, err := Create(path, h)
	if err != nil {
		t.Fatal(err)
	}
	record(t, w, testRounds()[:1])
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestResumeOfOthers(t *testing.T) {
	volatile := ""
	for _, k := range env.Keys() {
		if k.Volatile {
			volatile = k.Name
		}
	}
	for _, test := range []struct {
		name   string
		before func(*Header)
		now    func(*Header)
		want   []string // what the lines of the error begin with
	}{
		{"the same", nil, nil, nil},
		{"another seed", nil, func(h *Header) { h.Config["seed"] = "2" }, []string{`seed: was "1", is "2"`}},
		{"another machine and build", nil, func(h *Header) {
			h.Config["cpu-brand"], h.Config["revision"] = "b", "c"
		}, []string{`cpu-brand: was "unknown", is "b"`, `revision: was "unknown", is "c"`}},
		{"a tool more", nil, func(h *Header) { h.Config["tool-nginx"] = "1.22" }, []string{`tool-nginx: was "", is "1.22"`}},
		{"a tool less", nil, func(h *Header) { delete(h.Config, "tool-openssl") }, []string{`tool-openssl: was "OpenSSL 3.0.18", is not set`}},
		{"other exact units", nil, func(h *Header) { h.Exact = h.Exact[:1] }, []string{"the exact units"}},
		{"units in another order", nil, func(h *Header) { slices.Reverse(h.Exact) }, nil},
		{"nothing missing", nil, func(h *Header) { h.Missing = nil }, []string{"the cases that can't be measured"}},
		{"another reason", nil, func(h *Header) { h.Missing[0].Reason = "no" }, []string{"the cases that can't be measured"}},
		{"a reason with line breaks", func(h *Header) { h.Missing[0].Reason = "a\nb " }, func(h *Header) { h.Missing[0].Reason = "a\nb " }, nil},
		{"a volatile key", nil, func(h *Header) { h.Config[volatile] = "1" }, nil},
		{"a volatile key of the server's machine",
			func(h *Header) { h.Config[ServerPrefix+volatile] = "1" },
			func(h *Header) { h.Config[ServerPrefix+volatile] = "2" }, nil},
		{"another server's machine",
			func(h *Header) { h.Config[ServerPrefix+"goos"] = "linux" },
			func(h *Header) { h.Config[ServerPrefix+"goos"] = "darwin" }, []string{"server-goos"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			before, now := testHeader("2"), testHeader("2")
			if test.before != nil {
				test.before(&before)
			}
			if test.now != nil {
				test.now(&now)
			}
			path := interrupted(t, before)
			text := readText(t, path+PartialSuffix)
			w, done, err := Resume(path, now)
			if len(test.want) == 0 {
				if err != nil || done != 1 {
					t.Fatalf("%d rounds, %v", done, err)
				}
				if err := w.Close(); err != nil {
					t.Fatal(err)
				}
			} else {
				var e *MismatchError
				if !errors.As(err, &e) || len(e.Lines) != len(test.want) {
					t.Fatalf("error %v, want a MismatchError with %q", err, test.want)
				}
				for i, want := range test.want {
					if !strings.HasPrefix(e.Lines[i], want) || !strings.Contains(err.Error(), want) {
						t.Errorf("line %q of %q, want %q", e.Lines[i], err, want)
					}
				}
			}
			if readText(t, path+PartialSuffix) != text {
				t.Error("the partial file was changed")
			}
		})
	}
}

func TestResumeOfForeignFile(t *testing.T) {
	text := content(t, testHeader("2"), testRounds())
	for _, test := range []struct {
		name, text, at string
	}{
		{"text", "PASS\nok\n", ":1: "},
		{"newer schema", strings.Replace(text, "cryptocost/1", "cryptocost/2", 1), ":1: "},
		{"damaged header", strings.Replace(text, "seed: 1", "seed: 2", 1), ":"},
	} {
		path := put(t, "x.txt"+PartialSuffix, test.text)
		_, _, err := Resume(strings.TrimSuffix(path, PartialSuffix), testHeader("2"))
		var e *Error
		if !errors.As(err, &e) || !strings.HasPrefix(err.Error(), path+test.at) {
			t.Errorf("%s: %v", test.name, err)
		}
		if readText(t, path) != test.text {
			t.Errorf("%s: the file was changed", test.name)
		}
	}
	if _, _, err := Resume(filepath.Join(t.TempDir(), "x.txt"), testHeader("2")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("nothing to resume: %v", err)
	}
}

func TestCreateOverPartial(t *testing.T) {
	path := interrupted(t, testHeader("2"))
	text := readText(t, path+PartialSuffix)
	if _, err := Create(path, testHeader("2")); !errors.Is(err, fs.ErrExist) {
		t.Errorf("error %v, want fs.ErrExist", err)
	}
	if readText(t, path+PartialSuffix) != text {
		t.Error("the partial file was changed")
	}
}

func TestFinish(t *testing.T) {
	resume := func(path string, missing []Round) *Writer {
		w, _, err := Resume(path, testHeader("2"))
		if err != nil {
			t.Fatal(err)
		}
		record(t, w, missing)
		return w
	}
	rounds := testRounds()
	path := interrupted(t, testHeader("2"))
	if err := resume(path, nil).Finish(false); err == nil || !strings.Contains(err.Error(), "1 rounds of the 2") {
		t.Errorf("a round is missing: %v", err)
	}
	if err := os.WriteFile(path, []byte("precious"), 0o666); err != nil {
		t.Fatal(err)
	}
	if err := resume(path, rounds[1:]).Finish(false); !errors.Is(err, fs.ErrExist) || !strings.Contains(err.Error(), path) {
		t.Errorf("a finished file is there: %v", err)
	}
	if readText(t, path) != "precious" {
		t.Error("the finished file was overwritten")
	}
	w := resume(path, nil)
	if w.Samples() != len(rounds[0].Samples)+len(rounds[1].Samples) || w.Partial() != path+PartialSuffix {
		t.Errorf("%d samples in %s", w.Samples(), w.Partial())
	}
	if err := w.Finish(true); err != nil {
		t.Fatal(err)
	}
	if _, err := ReadFile(path); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(path + PartialSuffix); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the partial file is still there: %v", err)
	}
}

func TestReadOnlyFolder(t *testing.T) {
	if os.Geteuid() == 0 {
		t.Skip("root may write everywhere")
	}
	dir := t.TempDir()
	if err := os.Chmod(dir, 0o555); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"x.txt", "machine/x.txt"} {
		if _, err := Create(filepath.Join(dir, name), testHeader("2")); !errors.Is(err, fs.ErrPermission) || !strings.Contains(err.Error(), dir) {
			t.Errorf("%s: error %v, want fs.ErrPermission that names the folder", name, err)
		}
	}
}

// TestHeaderIdentifiesNobody looks for this host and this user in a header
// that describes this machine.
func TestHeaderIdentifiesNobody(t *testing.T) {
	h := testHeader("2")
	maps.Copy(h.Config, env.Read())
	text := content(t, h, testRounds())
	secrets := map[string]string{}
	if name, err := os.Hostname(); err == nil {
		secrets["host name"] = name
	}
	if u, err := user.Current(); err == nil {
		secrets["user name"], secrets["user's full name"], secrets["home folder"] = u.Username, u.Name, u.HomeDir
	}
	if dir, err := os.Getwd(); err == nil {
		secrets["working folder"] = dir
	}
	if self, err := os.Executable(); err == nil {
		secrets["folder of the binary"] = filepath.Dir(self)
	}
	secrets["temporary folder"] = os.TempDir()
	addresses, err := net.InterfaceAddrs()
	if err != nil {
		t.Fatal(err)
	}
	for i, a := range addresses {
		if ip, _, err := net.ParseCIDR(a.String()); err == nil {
			secrets[fmt.Sprint("address ", i)] = ip.String()
		}
	}
	interfaces, err := net.Interfaces()
	if err != nil {
		t.Fatal(err)
	}
	for _, i := range interfaces {
		secrets["hardware address of "+i.Name] = i.HardwareAddr.String()
	}
	for what, secret := range secrets {
		if secret == "" {
			continue
		}
		word := regexp.MustCompile(`(?i)(^|[^a-z0-9])` + regexp.QuoteMeta(secret) + `($|[^a-z0-9])`)
		for line := range strings.Lines(text) {
			if word.MatchString(line) {
				t.Errorf("the %s, %q, is in %q", what, secret, line)
			}
		}
	}
}
