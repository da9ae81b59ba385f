//go:build !linux

package edge

import "net"

// ignoreNew returns false, because this system can't ignore new connections to l.
func ignoreNew(net.Listener) bool { return false }

// waiting returns 0, because the number of waiting connections is unknown.
func waiting(net.Listener) int { return 0 }
