//go:build !((linux || darwin) && (amd64 || arm64))

package aead

import (
	"errors"
	"runtime"
)

var errForeign = errors.New("calling C functions is not supported on " + runtime.GOOS + "/" + runtime.GOARCH)

func openLibrary() (handle uintptr, err error) { return 0, errForeign }

func symbol(uintptr, string) (uintptr, error) { return 0, errForeign }

func stringFunc(uintptr) func(int32) string { return func(int32) string { return "" } }

// call is out of reach, since no library can be opened.
func (*caller) call(fn, a1, a2, a3, a4, a5, a6 uintptr) uintptr { panic(errForeign) }
