//go:build !linux

package edge

import "net"

// ignoreNew reports that this system can't ignore new connections to l.
func ignoreNew(net.Listener) bool { return false }

// waiting returns 0: nothing is known of connections that wait.
func waiting(net.Listener) int { return 0 }
