// Package wire reads the names that cases give to wires with a delay:
// "0+50ms" is one that takes nothing from client to server and 50 ms back.
package wire

import (
	"strconv"
	"strings"
)

// None names the loopback, outside any wire.
const None = "none"

// A Wire is the delay of each direction.
type Wire struct {
	Up   float64 // seconds from client to server
	Down float64 // seconds from server to client
}

// RoundTrip is the sum of both delays in seconds.
func (w Wire) RoundTrip() float64 { return w.Up + w.Down }

// Parse reads a name; false if it is not that of a wire, as [None] is not.
func Parse(name string) (Wire, bool) {
	delays, ok := strings.CutSuffix(name, "ms")
	if !ok {
		return Wire{}, false
	}
	up, down, ok := strings.Cut(delays, "+")
	if !ok {
		return Wire{}, false
	}
	u, ok1 := seconds(up)
	d, ok2 := seconds(down)
	return Wire{u, d}, ok1 && ok2
}

// seconds reads a number of milliseconds without sign or exponent.
func seconds(millis string) (float64, bool) {
	if millis == "" || strings.Trim(millis, "0123456789.") != "" {
		return 0, false // ParseFloat would take "+5", "inf" and "1e3" too
	}
	// The exponent instead of a division gives the number nearest to the
	// decimal one.
	v, err := strconv.ParseFloat(millis+"e-3", 64)
	return v, err == nil
}
