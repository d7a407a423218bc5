//go:build !unix

package host

import (
	"errors"
	"time"
)

func processCPU() (time.Duration, error) { return 0, errors.ErrUnsupported }

func threadCPU() (time.Duration, error) { return 0, errors.ErrUnsupported }

func involuntarySwitches() (int64, error) { return 0, errors.ErrUnsupported }
