package tool

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// script puts an executable called name, with the given body, into a directory that becomes all of PATH.
func script(t *testing.T, name, body string) string {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("needs shell scripts")
	}
	dir := t.TempDir()
	t.Setenv("PATH", dir)
	path := filepath.Join(dir, name)
	if err := os.WriteFile(path, []byte("#!/bin/sh\n"+body+"\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestFind(t *testing.T) {
	for _, test := range []struct {
		name, body, version string
	}{
		{"release", "echo 'OpenSSL 3.0.19 27 Jan 2026 (Library: OpenSSL 3.0.19 27 Jan 2026)'", "3.0.19"},
		{"letter", "echo 'OpenSSL 1.1.1w  11 Sep 2023'", "1.1.1w"},
		{"beta", "echo 'OpenSSL 4.0.0-beta1 1 Jan 2026'", "4.0.0-beta1"},
		{"stderr", "echo 'OpenSSL 3.5.1 1 Jul 2025' >&2", "3.5.1"},
	} {
		t.Run(test.name, func(t *testing.T) {
			path := script(t, "openssl", test.body)
			got, err := Find("openssl")
			if err != nil {
				t.Fatal(err)
			}
			if want := (Tool{Name: "openssl", Path: path, Version: test.version}); got != want {
				t.Errorf("got %+v, want %+v", got, want)
			}
		})
	}
}

func TestFindErrors(t *testing.T) {
	for _, test := range []struct {
		name, program, body string
		missing             bool
		want                string
	}{
		{"absent", "other", "true", true, Install("openssl")},
		{"LibreSSL", "openssl", "echo 'LibreSSL 3.3.6'", true, `answers "LibreSSL 3.3.6`},
		{"fails", "openssl", "exit 3", false, "exit status 3"},
	} {
		t.Run(test.name, func(t *testing.T) {
			path := script(t, test.program, test.body)
			_, err := Find("openssl")
			if err == nil || errors.Is(err, ErrMissing) != test.missing || !strings.Contains(err.Error(), test.want) {
				t.Fatalf("got error %v, want one with %q that is ErrMissing: %t", err, test.want, test.missing)
			}
			if test.missing && strings.Contains(err.Error(), filepath.Dir(path)) {
				t.Errorf("error holds a path: %v", err)
			}
		})
	}
	if _, err := Find("cat"); err == nil || errors.Is(err, ErrMissing) {
		t.Errorf("a program outside the table: got error %v, want one that is not ErrMissing", err)
	}
}

func TestInstall(t *testing.T) {
	for name := range programs {
		if !strings.Contains(Install(name), name) {
			t.Errorf("Install(%q) = %q, want a command with that name", name, Install(name))
		}
	}
	if got := Install("cat"); got != "" {
		t.Errorf("a program outside the table: got %q, want none", got)
	}
}
