//go:build !linux

package link

import (
	"os"
	"testing"

	"cryptocost/experiments/internal/host"
)

func TestMain(m *testing.M) { os.Exit(host.RunTests(m, Roles(nil))) }
