// Package netguard guards against requests to private networks (SSRF): it distinguishes addresses of the Internet from those of private
// and special networks, and dials only allowed ones.
//
// It is used by everything that sends to configured addresses: webhooks, HTTP APIs and their token endpoints. It
// checks the address being dialled, after name resolution, so a name that later resolves to a private network is
// refused as well.
package netguard

import (
	"errors"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"syscall"
	"time"
)

// ErrPrivate is the error of dialling an address that isn't allowed, such as one of a private network.
var ErrPrivate = errors.New("the address is one of a private network")

// A Network is the kind of network that an address belongs to.
type Network uint8

// The kinds of network.
const (
	Internet  Network = iota
	Private           // of an organisation: RFC 1918, RFC 4193, and the shared addresses of RFC 6598
	Loopback          // of this machine
	LinkLocal         // of the local link
	Metadata          // the metadata services of clouds, which give machines their identity and credentials
	Reserved          // all others: documentation, multicast, and those that embed an IPv4 address, such as NAT64
)

// metadata are the addresses of the metadata services of clouds.
var metadata = []string{"169.254.169.254/32", "168.63.129.16/32", "100.100.100.200/32", "192.0.0.192/32", "fd00:ec2::254/128", "fd20:ce::254/128"}

// special are networks that look global but aren't: documentation, benchmarks, and those that embed an IPv4 address.
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

// Dialer returns a dialer for addresses of the Internet, or for any address if private is true.
func Dialer(private bool) *net.Dialer {
	if private {
		return &net.Dialer{Timeout: dialTimeout}
	}
	return dialerTo(Internet)
}

// Client returns a client for addresses of the Internet, which follows no redirects and waits for patience at most.
func Client(patience time.Duration) *http.Client {
	return &http.Client{Timeout: patience, Transport: &http.Transport{DialContext: Dialer(false).DialContext, DisableKeepAlives: true},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
}

const dialTimeout = 5 * time.Second

// dialerTo returns a dialer for addresses of these networks only.
func dialerTo(networks ...Network) *net.Dialer {
	return &net.Dialer{Timeout: dialTimeout, Control: func(_, address string, _ syscall.RawConn) error {
		if a, err := netip.ParseAddrPort(address); err != nil || !slices.Contains(networks, Of(a.Addr())) {
			return ErrPrivate
		}
		return nil
	}}
}
