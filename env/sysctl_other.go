//go:build !darwin

package env

// sysctlText reads nothing: sysctl by name is of macOS.
func sysctlText(string) reader { return func(system) string { return "" } }

// sysctlNumber reads nothing: sysctl by name is of macOS.
func sysctlNumber(string) reader { return func(system) string { return "" } }
