package edge

import (
	"errors"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"syscall"
	"time"
)

// ErrPrivate means that a dialer refused an address, such as an address in a private network.
var ErrPrivate = errors.New("the address is one of a private network")

// An AddressNetwork is the kind of network that an address belongs to.
type AddressNetwork uint8

// The kinds of network.
const (
	internetAddress  AddressNetwork = iota
	privateAddress                  // in an organisation: RFC 1918, RFC 4193, and the shared addresses of RFC 6598
	loopbackAddress                 // this machine
	linkLocalAddress                // the local link
	metadataAddress                 // metadata services of clouds, which give machines their credentials
	reservedAddress                 // all others, such as multicast and networks that embed an IPv4 address (NAT64)
)

// metadata contains the addresses of the metadata services of clouds.
var metadata = []string{"169.254.169.254/32", "168.63.129.16/32", "100.100.100.200/32", "192.0.0.192/32", "fd00:ec2::254/128", "fd20:ce::254/128"}

// special contains networks that look global but aren't. They are for documentation or benchmarks, or embed an IPv4
// address.
var special = []string{"0.0.0.0/8", "192.0.0.0/24", "192.0.2.0/24", "192.88.99.0/24", "198.18.0.0/15", "198.51.100.0/24", "203.0.113.0/24",
	"240.0.0.0/4", "2001::/23", "2001:db8::/32", "2002::/16", "3fff::/20"}

// networkOfAddress returns the kind of network that a belongs to.
func networkOfAddress(a netip.Addr) AddressNetwork {
	a = a.Unmap()
	switch {
	case within(metadata, a):
		return metadataAddress
	case a.IsLoopback():
		return loopbackAddress
	case a.IsLinkLocalUnicast():
		return linkLocalAddress
	case a.Zone() != "" || !a.IsGlobalUnicast() || within(special, a):
		return reservedAddress
	case a.IsPrivate() || within([]string{"100.64.0.0/10"}, a):
		return privateAddress
	case a.Is6() && !within([]string{"2000::/3"}, a):
		return reservedAddress
	}
	return internetAddress
}

func within(networks []string, a netip.Addr) bool {
	a = a.WithZone("")
	return slices.ContainsFunc(networks, func(s string) bool { return netip.MustParsePrefix(s).Contains(a) })
}

// GuardedDialer returns a dialer that only accepts addresses of the kind internetAddress. If private is true, it
// accepts any address.
func GuardedDialer(private bool) *net.Dialer {
	if private {
		return &net.Dialer{Timeout: dialTimeout}
	}
	return dialerTo(internetAddress)
}

// GuardedClient returns a client that only connects to addresses of the kind internetAddress. It follows no
// redirects, and waits for at most patience.
func GuardedClient(patience time.Duration) *http.Client {
	return &http.Client{Timeout: patience, Transport: &http.Transport{DialContext: GuardedDialer(false).DialContext, DisableKeepAlives: true},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
}

const dialTimeout = 5 * time.Second

// dialerTo returns a dialer that only accepts addresses of the given kinds.
func dialerTo(networks ...AddressNetwork) *net.Dialer {
	return &net.Dialer{Timeout: dialTimeout, Control: func(_, address string, _ syscall.RawConn) error {
		if a, err := netip.ParseAddrPort(address); err != nil || !slices.Contains(networks, networkOfAddress(a.Addr())) {
			return ErrPrivate
		}
		return nil
	}}
}
