package edge

import (
	"cmp"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"
)

// ErrHost means that the address to dial differs from the configured host or port.
var ErrHost = errors.New("the address is not the one that was configured")

// GuardOptions configure the connections to a host.
type GuardOptions struct {
	Roots    *x509.CertPool // trusted certificate authorities. Nil means the authorities of the system
	Resolver *net.Resolver  // nil means the resolver of the system

	Strict bool // allows only addresses of the kind internetAddress, whatever the host resolves to

	// Identity returns the certificate to send, or nil, and the authorities to trust instead of Roots, or nil for
	// Roots. It is called for each connection. Identity may be nil.
	Identity func() (*tls.Certificate, *x509.CertPool)
}

// ParseURL parses the URL of a host. The URL consists of http or https, a host, and optionally a port and a path.
// ParseURL fails for any other part. Errors don't contain the text, because the text may contain a password.
func ParseURL(text string) (*url.URL, error) {
	u, err := url.Parse(text)
	switch {
	case err != nil:
		return nil, errors.New("is not a URL")
	case u.Scheme != "http" && u.Scheme != "https":
		return nil, errors.New("must begin with https:// or http://")
	case u.Opaque != "" || u.Hostname() == "":
		return nil, errors.New("has no host")
	case strings.ContainsFunc(u.Host, func(r rune) bool { return r <= ' ' || r > '~' }):
		return nil, errors.New("has a host that is not written in ASCII. Write its xn-- form")
	case u.User != nil:
		return nil, errors.New("holds a name or a password. Give these as a credential")
	case u.RawQuery != "" || u.ForceQuery:
		return nil, errors.New("has a query. Give a key that belongs there as a credential")
	case u.Fragment != "" || strings.Contains(text, "#"):
		return nil, errors.New("has a fragment")
	}
	return u, nil
}

// GuardedTransport returns a transport that only connects to the scheme, host and port of to. It uses HTTP/1.1 and no
// proxy. It only dials addresses of the kind internetAddress, and of the kinds of network that the host resolves to
// now. So operators can configure an internal API, but an external host can't later resolve to an internal address.
// GuardedTransport resolves the host for at most two seconds. If this fails, the first dial resolves it.
func GuardedTransport(to *url.URL, o GuardOptions) *http.Transport {
	h := &host{address: address(to), resolver: cmp.Or(o.Resolver, net.DefaultResolver)}
	if o.Strict {
		h.allowed = []AddressNetwork{internetAddress}
	}
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Second)
	defer cancel()
	_, _ = h.networks(ctx) // dial reports the error
	protocols := &http.Protocols{}
	protocols.SetHTTP1(true)
	t := &http.Transport{DialContext: h.dial, Protocols: protocols, TLSClientConfig: &tls.Config{RootCAs: o.Roots, MinVersion: tls.VersionTLS12},
		TLSHandshakeTimeout: handshake, MaxResponseHeaderBytes: 64 << 10, MaxIdleConnsPerHost: 16, IdleConnTimeout: time.Minute}
	if o.Identity != nil {
		t.DialTLSContext = func(ctx context.Context, network, address string) (net.Conn, error) {
			return dialWithIdentity(ctx, t, o, network, address)
		}
	}
	return t
}

// handshake is the maximum time for a TLS handshake.
const handshake = 10 * time.Second

// dialWithIdentity connects with TLS, using the current identity, over a connection of t.
func dialWithIdentity(ctx context.Context, t *http.Transport, o GuardOptions, network, address string) (net.Conn, error) {
	plain, err := t.DialContext(ctx, network, address)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, handshake)
	defer cancel()
	own, roots := o.Identity()
	name, _, _ := net.SplitHostPort(address)
	settings := &tls.Config{RootCAs: cmp.Or(roots, o.Roots), MinVersion: tls.VersionTLS12, ServerName: name}
	if own != nil {
		settings.Certificates = []tls.Certificate{*own}
	}
	over := tls.Client(plain, settings)
	if err := over.HandshakeContext(ctx); err != nil {
		return nil, errors.Join(err, plain.Close())
	}
	return over, nil
}

func address(u *url.URL) string {
	return net.JoinHostPort(u.Hostname(), cmp.Or(u.Port(), map[string]string{"http": "80", "https": "443"}[u.Scheme]))
}

// A host is the only host that a transport may dial.
type host struct {
	address  string // host:port
	resolver *net.Resolver

	mu      sync.Mutex
	allowed []AddressNetwork // nil until the host is resolved
}

// dial connects to the only allowed address. It accepts addresses of the kind internetAddress, and of the kinds of
// network that the name resolved to first. So a later DNS answer can't redirect it to another kind of network.
func (h *host) dial(ctx context.Context, network, address string) (net.Conn, error) {
	if !strings.EqualFold(address, h.address) {
		return nil, ErrHost
	}
	allowed, err := h.networks(ctx)
	if err != nil {
		return nil, err
	}
	d := dialerTo(allowed...)
	d.Resolver = h.resolver
	return d.DialContext(ctx, network, address)
}

// networks returns internetAddress and the kinds of network that the host resolved to the first time.
func (h *host) networks(ctx context.Context) ([]AddressNetwork, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.allowed != nil {
		return h.allowed, nil
	}
	name, _, err := net.SplitHostPort(h.address)
	if err != nil {
		return nil, fmt.Errorf("read the address: %w", err)
	}
	found := []netip.Addr{}
	if a, err := netip.ParseAddr(name); err == nil {
		found = append(found, a)
	} else if found, err = h.resolver.LookupNetIP(ctx, "ip", name); err != nil {
		return nil, err
	}
	allowed := []AddressNetwork{internetAddress}
	for _, a := range found {
		if n := networkOfAddress(a); !slices.Contains(allowed, n) {
			allowed = append(allowed, n)
		}
	}
	h.allowed = allowed
	return allowed, nil
}
