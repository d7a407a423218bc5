//go:build (linux || darwin) && (amd64 || arm64)

package aead

import (
	"errors"
	"runtime"
	"strings"

	"github.com/ebitengine/purego"
)

// libcryptoFiles are the names and places to look for libcrypto in, in this order. On macOS the plain
// names find nothing of Homebrew's, and a name without a version must not be tried at all: the system
// kills a process that loads its own unversioned libcrypto.dylib.
var libcryptoFiles = map[string][]string{
	"linux": {"libcrypto.so.3", "libcrypto.so"},
	"darwin": {
		"/opt/homebrew/opt/openssl@3/lib/libcrypto.3.dylib",
		"/usr/local/opt/openssl@3/lib/libcrypto.3.dylib",
		"libcrypto.3.dylib",
	},
}

// openLibrary loads the first of libcryptoFiles that is there. A library is never unloaded:
// OpenSSL leaves handlers behind that run when a thread ends.
func openLibrary() (handle uintptr, err error) {
	var reasons []string
	for _, file := range libcryptoFiles[runtime.GOOS] {
		handle, err := purego.Dlopen(file, purego.RTLD_NOW|purego.RTLD_LOCAL)
		if err == nil {
			return handle, nil
		}
		reasons = append(reasons, err.Error())
	}
	return 0, errors.New(strings.Join(reasons, "; "))
}

// symbol returns the address of the named C function.
func symbol(handle uintptr, name string) (uintptr, error) {
	return purego.Dlsym(handle, name)
}

// stringFunc makes a Go function of a C function that takes an int and returns a string.
func stringFunc(fn uintptr) func(int32) string {
	var f func(int32) string
	purego.RegisterFunc(&f, fn)
	return f
}

// call calls the C function at fn, whose arguments are integers and pointers, and returns its result;
// a C int is in the lower 32 bits. Arguments beyond those that the function takes are harmless, since six
// travel in registers.
//
// Pointers to Go memory are passed safely when they are converted in the argument list itself, as in
// uintptr(unsafe.Pointer(p)): go:uintptrescapes makes the compiler put what they point to on the heap,
// where Go's collector doesn't move it, and keep it alive until the call returns. (Rule 4 of
// unsafe.Pointer; package syscall does the same.) The C function must not keep the pointer.
//
//go:uintptrescapes
func (c *caller) call(fn, a1, a2, a3, a4, a5, a6 uintptr) uintptr {
	c.args = [...]uintptr{a1, a2, a3, a4, a5, a6}
	result, _, _ := purego.SyscallN(fn, c.args[:]...)
	return result
}
