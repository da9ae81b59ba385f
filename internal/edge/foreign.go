package edge

import (
	"net/http"
	"net/url"
	"strings"
)

// Foreign reports whether r comes from a browser page of another site. own is the public URL of this server, or "".
//
// Foreign first checks Sec-Fetch-Site, because browsers set this header themselves. A proxy in front may change Host,
// and forms of a page without a referrer have the origin null. If Sec-Fetch-Site is absent, an Origin must match this
// host or own. A request with neither header does not come from a page. A person may follow a link from another site
// to a page here, with GET.
func Foreign(r *http.Request, own string) bool {
	origins := r.Header.Values("Origin")
	switch r.Header.Get("Sec-Fetch-Site") {
	case "same-origin", "none":
		return false
	case "":
		return len(origins) > 1 || len(origins) == 1 && !sameHost(origins[0], r.Host, own)
	}
	dest := r.Header.Get("Sec-Fetch-Dest")
	opened := r.Header.Get("Sec-Fetch-Mode") == "navigate" && (dest == "document" || dest == "")
	return !opened || r.Method != http.MethodGet && r.Method != http.MethodHead || len(origins) > 0
}

// sameHost reports whether the Origin header origin matches host, or the host of own.
func sameHost(origin, host, own string) bool {
	_, name, ok := strings.Cut(origin, "://")
	if ok && strings.EqualFold(name, host) {
		return true
	}
	u, err := url.Parse(own)
	return err == nil && u.Host != "" && strings.EqualFold(origin, u.Scheme+"://"+u.Host)
}
