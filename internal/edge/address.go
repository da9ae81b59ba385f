package edge

import (
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
)

// Base returns the URL of this host as the sender of r knows it: own unless that is "", else that of the Host header. It is
// plain http on this machine itself, and elsewhere https, which a proxy in front provides. The caller has checked the header.
func Base(own string, r *http.Request) string {
	switch {
	case own != "":
		return own
	case Plainly(r):
		return "http://" + r.Host
	}
	return "https://" + r.Host
}

// Plainly reports whether a client connects to this machine itself, without TLS.
func Plainly(r *http.Request) bool { return r.TLS == nil && loopback(r.Host) }

func loopback(host string) bool {
	if h, _, err := net.SplitHostPort(host); err == nil {
		host = h
	}
	host = strings.Trim(host, "[]")
	ip, err := netip.ParseAddr(host)
	return strings.EqualFold(host, "localhost") || err == nil && ip.IsLoopback()
}

// Within returns next if it is an address of this host below path, else the first one of those.
func Within(path, next string) string {
	u, err := url.Parse(next)
	if err != nil || u.Scheme != "" || u.Host != "" || u.User != nil || !strings.HasPrefix(u.Path, path+"/") ||
		strings.Contains(next, `\`) || strings.Contains(u.Path, "..") {
		return path + "/"
	}
	return u.RequestURI()
}
