//go:build !unix

package edge

import "math"

// openFiles returns the maximum number of open files, which is unlimited on this system.
func openFiles() int { return math.MaxInt32 }
