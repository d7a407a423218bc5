package aead

import (
	"os"
	"os/exec"
	"runtime"
	"strings"
	"testing"

	"github.com/klauspost/cpuid/v2"

	"cryptocost/experiments/internal/aes"
)

// maskedVariable marks the process that TestMasked starts.
const maskedVariable = "AEAD_TEST_MASKED"

// TestUsesAES compares what Go and libcrypto say with the processor's own word, or, in TestMasked's process, with no.
func TestUsesAES(t *testing.T) {
	want := cpuid.CPU.Supports(cpuid.AESNI) || cpuid.CPU.Supports(cpuid.AESARM)
	if os.Getenv(maskedVariable) != "" {
		want = false
	} else if os.Getenv("GODEBUG")+os.Getenv("OPENSSL_ia32cap")+os.Getenv("OPENSSL_armcap") != "" {
		t.Skip("processor features may be masked by the environment")
	}
	if got, err := aes.UsedByGo(); err != nil || got != want {
		t.Errorf("Go: got %t, %v, want %t", got, err, want)
	}
	lib := library(t)
	if got, err := lib.UsesAES(); err != nil || got != want {
		t.Errorf("libcrypto: got %t, %v, want %t", got, err, want)
	}
}

// TestMasked runs this package's tests of results again in a process without AES instructions.
func TestMasked(t *testing.T) {
	library(t)
	environ, err := aes.Without(runtime.GOARCH)
	if err != nil {
		t.Skip(err)
	}
	tests := []string{"TestUsesAES", "TestKnownAnswers", "TestImplementationsAgree", "TestTampering"}
	cmd := exec.Command(os.Args[0], "-test.v", "-test.run=^("+strings.Join(tests, "|")+")$")
	cmd.Env = append(append(os.Environ(), environ...), maskedVariable+"=1")
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for _, test := range tests {
		if !strings.Contains(string(out), "--- PASS: "+test+" ") {
			t.Errorf("%s did not pass:\n%s", test, out)
		}
	}
}
