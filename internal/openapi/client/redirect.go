package client

import (
	"context"
	"net/http"
	"net/url"
	"strings"
)

// hops is how many redirects are followed.
const hops = 5

// follow sends m to at, and a GET or HEAD that changes nothing to where the API redirects it: only to the same scheme,
// host and port, and below the prefix.
func (s *Sender) follow(ctx context.Context, m Message, at *url.URL) (*Response, *failure) {
	for hop := 0; ; hop++ {
		res, f := s.exchange(ctx, m, at)
		if f != nil || !redirects(res.Status) {
			return res, f
		}
		if !m.Repeat || m.Request.Method != http.MethodGet && m.Request.Method != http.MethodHead {
			return nil, redirected(res.Status, "it is followed for reads by GET alone")
		}
		if hop == hops {
			return nil, redirected(res.Status, "it redirects without end")
		}
		if at, f = s.next(at, res); f != nil {
			return nil, f
		}
	}
}

func redirects(status int) bool {
	switch status {
	case http.StatusMovedPermanently, http.StatusFound, http.StatusSeeOther, http.StatusTemporaryRedirect, http.StatusPermanentRedirect:
		return true
	}
	return false
}

// next returns where res redirects a request to at.
func (s *Sender) next(at *url.URL, res *Response) (*url.URL, *failure) {
	text := res.Header.Get("Location")
	if text == "" || strings.ContainsFunc(text, func(r rune) bool { return r <= ' ' || r > '~' || r == '\\' }) {
		return nil, redirected(res.Status, "to what is no URL")
	}
	to, err := at.Parse(text)
	if err != nil {
		return nil, redirected(res.Status, "to what is no URL")
	}
	if to.Scheme != s.base.Scheme || to.Opaque != "" || to.User != nil || !strings.EqualFold(to.Hostname(), s.base.Hostname()) || port(to) != port(s.base) {
		return nil, redirected(res.Status, "to another host, scheme or port")
	}
	next, ok := s.under(to.EscapedPath())
	if !ok {
		return nil, redirected(res.Status, "out of the path of the base URL")
	}
	next.RawQuery = to.RawQuery
	return next, nil
}

func port(u *url.URL) string {
	if p := u.Port(); p != "" {
		return p
	}
	return u.Scheme
}
