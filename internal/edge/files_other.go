//go:build !unix

package edge

import "math"

// openFiles returns no limit on systems that have none.
func openFiles() int { return math.MaxInt32 }
