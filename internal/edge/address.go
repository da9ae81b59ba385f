package edge

import (
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
)

// Base returns the URL of this host from the view of the client that sent r. This is own unless own is "", and otherwise
// a URL with the Host header. For a host that is this machine itself, the URL begins with http if r came without TLS.
// Otherwise it begins with https, because a proxy in front adds TLS. The caller has checked the Host header.
func Base(own string, r *http.Request) string {
	switch {
	case own != "":
		return own
	case Plainly(r):
		return "http://" + r.Host
	}
	return "https://" + r.Host
}

// Plainly reports whether the client connects without TLS to a loopback address of this machine.
func Plainly(r *http.Request) bool { return r.TLS == nil && loopback(r.Host) }

func loopback(host string) bool {
	if h, _, err := net.SplitHostPort(host); err == nil {
		host = h
	}
	host = strings.Trim(host, "[]")
	ip, err := netip.ParseAddr(host)
	return strings.EqualFold(host, "localhost") || err == nil && ip.IsLoopback()
}

// Within returns next if it is an address of this host below path. Otherwise it returns path and a slash.
func Within(path, next string) string {
	u, err := url.Parse(next)
	if err != nil || u.Scheme != "" || u.Host != "" || u.User != nil || !strings.HasPrefix(u.Path, path+"/") ||
		strings.Contains(next, `\`) || strings.Contains(u.Path, "..") {
		return path + "/"
	}
	return u.RequestURI()
}
