//go:build !linux

package env

func perfCounters(system) string { return "" }
