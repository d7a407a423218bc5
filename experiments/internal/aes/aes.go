// Package aes is the one place that knows how the AES instructions of a processor are turned off and
// how a process finds out whether they are in use.
package aes

import (
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// GODEBUG turns the instructions off for Go alone, on every architecture of the table.
const GODEBUG = "cpu.aes=off"

// mask is how the AES instructions of one architecture are turned off and how it is seen that they are.
type mask struct {
	// environ is the environment of a new process without AES instructions.
	environ []string
	// setting is how libcrypto names the word of processor features that it goes by, and aesBit the
	// bit that stands for the AES instructions.
	setting string
	aesBit  int
}

// masks is indexed by GOARCH. Go's part (internal/cpu) is read from GODEBUG at the start of a process
// only, and makes AES and GHASH fall back to plain Go.
var masks = map[string]mask{
	// CPUID leaf 1 ECX in the upper half of the first word: AES-NI (bit 25) and PCLMULQDQ (bit 1); leaf 7
	// ECX in the upper half of the second: VAES (bit 9) and VPCLMULQDQ (bit 10). Left out, the second
	// word would be taken for 0 and AVX2 lost with it. OPENSSL_ia32cap(3).
	"amd64": {
		environ: []string{"GODEBUG=" + GODEBUG, "OPENSSL_ia32cap=~0x200000200000000:~0x60000000000"},
		setting: "OPENSSL_ia32cap",
		aesBit:  32 + 25,
	},
	// The value replaces what is detected (crypto/armcap.c); 1 is NEON alone, without which OpenSSL
	// would also lose its vector code for ChaCha20 and for AES without AES instructions. It takes the
	// SHA instructions away too, which no AEAD here uses. crypto/arm_arch.h.
	"arm64": {
		environ: []string{"GODEBUG=" + GODEBUG, "OPENSSL_armcap=1"},
		setting: "OPENSSL_armcap",
		aesBit:  2,
	},
}

// Without returns the variables ("name=value") for the environment of a new process in which neither
// Go nor OpenSSL uses the AES instructions, nor those for GHASH, of the given GOARCH. GODEBUG is one of
// them; a caller that has settings of its own joins them with commas.
func Without(goarch string) ([]string, error) {
	m, ok := masks[goarch]
	if !ok {
		return nil, fmt.Errorf("turning AES instructions off on %q: no mask is known", goarch)
	}
	return slices.Clone(m.environ), nil
}

// UsedByGo reports whether Go's AES-GCM uses AES instructions in this process. It asks package
// crypto/tls, whose ClientHello puts ChaCha20-Poly1305 first when it doesn't (RFC 8446, section 9.1
// leaves the order to the client); golang.org/x/sys/cpu won't do, as it knows nothing of GODEBUG.
func UsedByGo() (bool, error) {
	client, server := net.Pipe()
	defer client.Close()
	defer server.Close()
	go tls.Client(client, &tls.Config{ServerName: "localhost", MinVersion: tls.VersionTLS13}).Handshake()

	seen := errors.New("client hello seen")
	var suites []uint16
	err := tls.Server(server, &tls.Config{
		GetConfigForClient: func(hello *tls.ClientHelloInfo) (*tls.Config, error) {
			suites = slices.Clone(hello.CipherSuites)
			return nil, seen
		},
	}).Handshake()
	if !errors.Is(err, seen) {
		return false, fmt.Errorf("reading this process's own client hello: %w", err)
	}
	aes := slices.Index(suites, tls.TLS_AES_128_GCM_SHA256)
	chacha := slices.Index(suites, tls.TLS_CHACHA20_POLY1305_SHA256)
	if aes < 0 || chacha < 0 {
		return false, fmt.Errorf("client hello offers %x, want both AES-GCM and ChaCha20-Poly1305", suites)
	}
	return aes < chacha, nil
}

// usedHere is UsedByGo in this process, which can't change.
var usedHere = sync.OnceValues(UsedByGo)

// On and Off are whether a process uses AES instructions, as the cases of experiments name it.
const (
	On  = "on"
	Off = "off"
)

// Settings are the values of the axis aes.
var Settings = []string{On, Off}

// Environ is the environment of a new process by its setting.
func Environ(setting string) ([]string, error) {
	if setting == Off {
		return Without(runtime.GOARCH)
	}
	return nil, nil
}

// Missing says why a process can't run with a setting on this machine; empty: it can.
func Missing(setting string) string {
	if setting == Off {
		if _, err := Without(runtime.GOARCH); err != nil {
			return err.Error()
		}
		return ""
	}
	if used, err := usedHere(); err != nil || !used {
		return "this processor has no AES instructions, or they are masked"
	}
	return ""
}

// UsedByOpenSSL reports whether libcrypto uses AES instructions, from what it says of the processor's
// features (OPENSSL_info(3), OPENSSL_INFO_CPU_SETTINGS), which are those of the processor less those
// masked: "OPENSSL_ia32cap=0xfffa3203078bffff:0x40069c219c07ab env:~0x2:~0x6".
func UsedByOpenSSL(goarch, settings string) (bool, error) {
	m, ok := masks[goarch]
	if !ok {
		return false, fmt.Errorf("reading libcrypto's processor features on %q: no layout is known", goarch)
	}
	value, ok := strings.CutPrefix(settings, m.setting+"=0x")
	if !ok {
		return false, fmt.Errorf("libcrypto's processor features are %q, want %s=0x and a number", settings, m.setting)
	}
	digits := strings.IndexFunc(value, func(r rune) bool { return !strings.ContainsRune("0123456789abcdef", r) })
	if digits < 0 {
		digits = len(value)
	}
	word, err := strconv.ParseUint(value[:digits], 16, 64)
	if err != nil {
		return false, fmt.Errorf("libcrypto's processor features %q: %w", settings, err)
	}
	return word>>m.aesBit&1 == 1, nil
}
