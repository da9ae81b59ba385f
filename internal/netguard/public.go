// Package netguard tells the addresses of the Internet from those of networks behind it, and dials the former alone.
//
// It stands below what sends to addresses that a configuration names: webhooks, HTTP APIs and those who give out tokens
// for them. It looks at the address that is dialled, after the name was resolved: so a name that leads inside later on is
// refused as well.
package netguard

import (
	"errors"
	"net"
	"net/netip"
	"slices"
	"syscall"
	"time"
)

// ErrPrivate says that an address is not one of the Internet.
var ErrPrivate = errors.New("the address is one of a private network")

// A Network is the kind of network that an address belongs to.
type Network uint8

// The kinds of network.
const (
	Internet  Network = iota
	Private           // of an organisation: RFC 1918, RFC 4193, and the shared addresses of RFC 6598
	Loopback          // of this machine
	LinkLocal         // of this wire
	Metadata          // where a cloud tells a machine who it is, credentials included
	Reserved          // all others: documentation, multicast, and those that carry an IPv4 address inside, as NAT64
)

// metadata are the addresses at which clouds answer their machines.
var metadata = []string{"169.254.169.254/32", "168.63.129.16/32", "100.100.100.200/32", "192.0.0.192/32", "fd00:ec2::254/128", "fd20:ce::254/128"}

// special are networks that look like the Internet's and lead elsewhere: documentation, benchmarks, and those that carry
// an IPv4 address inside.
var special = []string{"0.0.0.0/8", "192.0.0.0/24", "192.0.2.0/24", "192.88.99.0/24", "198.18.0.0/15", "198.51.100.0/24", "203.0.113.0/24",
	"240.0.0.0/4", "2001::/23", "2001:db8::/32", "2002::/16", "3fff::/20"}

// Of returns the kind of network that a belongs to.
func Of(a netip.Addr) Network {
	a = a.Unmap()
	switch {
	case within(metadata, a):
		return Metadata
	case a.IsLoopback():
		return Loopback
	case a.IsLinkLocalUnicast():
		return LinkLocal
	case a.Zone() != "" || !a.IsGlobalUnicast() || within(special, a):
		return Reserved
	case a.IsPrivate() || within([]string{"100.64.0.0/10"}, a):
		return Private
	case a.Is6() && !within([]string{"2000::/3"}, a):
		return Reserved
	}
	return Internet
}

func within(networks []string, a netip.Addr) bool {
	a = a.WithZone("")
	return slices.ContainsFunc(networks, func(s string) bool { return netip.MustParsePrefix(s).Contains(a) })
}

// Is reports whether a is an address of the Internet.
func Is(a netip.Addr) bool { return Of(a) == Internet }

// Dialer returns what dials addresses of the Internet, or any where private is true.
func Dialer(private bool) *net.Dialer {
	if private {
		return &net.Dialer{Timeout: dialTimeout}
	}
	return dialerTo(Internet)
}

const dialTimeout = 5 * time.Second

// dialerTo returns what dials addresses of these networks alone.
func dialerTo(networks ...Network) *net.Dialer {
	return &net.Dialer{Timeout: dialTimeout, Control: func(_, address string, _ syscall.RawConn) error {
		if a, err := netip.ParseAddrPort(address); err != nil || !slices.Contains(networks, Of(a.Addr())) {
			return ErrPrivate
		}
		return nil
	}}
}
