// Package public tells the addresses of the Internet from those of networks behind it, and dials the former alone.
//
// It stands below what sends to addresses that a configuration names. It looks at the address that is dialled, after the
// name was resolved: so a name that leads inside later on is refused as well.
package public

import (
	"errors"
	"net"
	"net/netip"
	"syscall"
	"time"
)

// ErrPrivate says that an address is not one of the Internet.
var ErrPrivate = errors.New("the address is one of a private network")

// special are networks that look like the Internet's and lead elsewhere: shared, documentation, benchmarks, and those that
// carry an IPv4 address inside.
var special = []string{"0.0.0.0/8", "100.64.0.0/10", "192.0.0.0/24", "192.0.2.0/24", "192.88.99.0/24", "198.18.0.0/15", "198.51.100.0/24", "203.0.113.0/24",
	"240.0.0.0/4", "2001::/23", "2001:db8::/32", "2002::/16", "3fff::/20"}

// Is reports whether a is an address of the Internet.
func Is(a netip.Addr) bool {
	a = a.Unmap()
	if !a.IsGlobalUnicast() || a.IsPrivate() || a.Zone() != "" {
		return false
	}
	if a.Is6() && !netip.MustParsePrefix("2000::/3").Contains(a) {
		return false
	}
	for _, s := range special {
		if netip.MustParsePrefix(s).Contains(a) {
			return false
		}
	}
	return true
}

// Dialer returns what dials addresses of the Internet, or any where private is true.
func Dialer(private bool) *net.Dialer {
	d := &net.Dialer{Timeout: 5 * time.Second}
	if !private {
		d.Control = func(_, address string, _ syscall.RawConn) error {
			if a, err := netip.ParseAddrPort(address); err != nil || !Is(a.Addr()) {
				return ErrPrivate
			}
			return nil
		}
	}
	return d
}
