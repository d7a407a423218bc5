//go:build !linux

package main

import "cryptocost/experiments/internal/host"

// There is no link on this system, and so nobody to ask for these roles.
func sinkRole() map[string]host.Handler   { return nil }
func sourceRole() map[string]host.Handler { return nil }
