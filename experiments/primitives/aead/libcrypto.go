package aead

import (
	"errors"
	"fmt"
	"runtime"
	"sync"

	"cryptocost/experiments/internal/aes"
	"cryptocost/experiments/internal/tool"
)

// ErrNoLibcrypto is wrapped by the error of [Load] on a machine without OpenSSL's libcrypto, version 3
// or later.
var ErrNoLibcrypto = errors.New("no usable libcrypto")

// A Library is OpenSSL's libcrypto, loaded into this process.
type Library struct {
	version     string
	cpuSettings string

	// Addresses of the C functions in symbols.
	cipherFetch, cipherFree                    uintptr
	cipherCtxNew, cipherCtxFree, cipherCtxCtrl uintptr
	cipherInit                                 uintptr
	encryptUpdate, encryptFinal                uintptr
	decryptUpdate, decryptFinal                uintptr
	opensslVersion, opensslInfo, versionMajor  uintptr
}

// symbols lists the functions that a Library needs, and where their addresses go.
func (l *Library) symbols() map[string]*uintptr {
	return map[string]*uintptr{
		"EVP_CIPHER_fetch":      &l.cipherFetch,
		"EVP_CIPHER_free":       &l.cipherFree,
		"EVP_CIPHER_CTX_new":    &l.cipherCtxNew,
		"EVP_CIPHER_CTX_free":   &l.cipherCtxFree,
		"EVP_CIPHER_CTX_ctrl":   &l.cipherCtxCtrl,
		"EVP_CipherInit_ex":     &l.cipherInit,
		"EVP_EncryptUpdate":     &l.encryptUpdate,
		"EVP_EncryptFinal_ex":   &l.encryptFinal,
		"EVP_DecryptUpdate":     &l.decryptUpdate,
		"EVP_DecryptFinal_ex":   &l.decryptFinal,
		"OpenSSL_version":       &l.opensslVersion,
		"OPENSSL_info":          &l.opensslInfo,
		"OPENSSL_version_major": &l.versionMajor,
	}
}

// Load loads libcrypto on its first call and returns the same result on every later one. The error wraps
// [ErrNoLibcrypto] and says what to install.
var Load = sync.OnceValues(load)

func load() (*Library, error) {
	handle, err := openLibrary()
	if err != nil {
		return nil, noLibcrypto(err)
	}
	l := new(Library)
	for name, address := range l.symbols() {
		if *address, err = symbol(handle, name); err != nil {
			return nil, noLibcrypto(fmt.Errorf("it has no function %s, so is not OpenSSL 3", name))
		}
	}
	// Arguments from openssl/crypto.h.
	const opensslVersionString, opensslInfoCPUSettings = 6, 1008
	l.version = stringFunc(l.opensslVersion)(opensslVersionString)
	l.cpuSettings = stringFunc(l.opensslInfo)(opensslInfoCPUSettings)
	return l, nil
}

func noLibcrypto(err error) error {
	return fmt.Errorf("loading libcrypto: %w: %w (install it with: %s)", ErrNoLibcrypto, err, tool.Install("openssl"))
}

// Version returns the version that the library states: "3.0.19".
func (l *Library) Version() string { return l.version }

// UsesAES reports whether the library uses AES instructions in this process.
func (l *Library) UsesAES() (bool, error) { return aes.UsedByOpenSSL(runtime.GOARCH, l.cpuSettings) }

// caller calls C functions, not concurrently. It owns the list of arguments, which the compiler would
// otherwise put on the heap anew for each call.
type caller struct{ args [6]uintptr }
