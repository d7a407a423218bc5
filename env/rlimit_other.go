//go:build !linux && !darwin

package env

func filesSoft(system) string     { return "" }
func filesHard(system) string     { return "" }
func processesSoft(system) string { return "" }
