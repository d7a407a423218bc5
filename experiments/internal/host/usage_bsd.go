//go:build unix && !linux

package host

import "time"

// processCPU reads getrusage(2).
func processCPU() (time.Duration, error) { return rusageCPU() }
