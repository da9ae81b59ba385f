package client

import (
	"context"
	"net/http"
	"net/url"
	"strings"

	"github.com/bailiwick-dev/bailiwick/internal/openapi/calls"
	"github.com/bailiwick-dev/bailiwick/problem"
)

// hops is the maximum number of redirects followed.
const hops = 5

// follow sends m to the URL at. If m is a GET or HEAD that changes nothing, it follows redirects to the same scheme,
// host and port below the prefix. m.Redirected builds the next request. A redirect to a host of Options.Downloads
// ends with the download.
func (s *Sender) follow(ctx context.Context, m Message, at *url.URL) (*calls.HTTPResponse, *failure) {
	for hop := 0; ; hop++ {
		res, f := s.exchange(ctx, m, at)
		if f != nil || !redirects(res.Status) {
			return res, f
		}
		switch {
		case m.Redirected == nil || !m.Repeat || m.Request.Method != http.MethodGet && m.Request.Method != http.MethodHead:
			return nil, redirectFailure(res.Status, "elsewhere")
		case hop == hops:
			return nil, redirectFailure(res.Status, "without end")
		}
		to, why := s.next(at, res)
		if to == nil && why == otherHost {
			if found, private, ok := s.download(at, res); ok {
				return s.fetch(ctx, m, found, private)
			}
		}
		if to == nil {
			return nil, redirectFailure(res.Status, why)
		}
		path := strings.TrimPrefix(to.EscapedPath(), s.prefix)
		if path == "" {
			path = "/"
		}
		next, err := m.Redirected(path, to.RawQuery)
		if err == nil && next.Server != m.Request.Server {
			return nil, redirectFailure(res.Status, "to an operation of another server")
		}
		if err == nil {
			m.Request = next
			at, err = s.target(m, next)
		}
		if err != nil {
			return nil, redirectFailure(res.Status, problem.Of(err).Detail)
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

// next returns the target of a redirect, or nil and the reason why it is not followed.
func (s *Sender) next(at *url.URL, res *calls.HTTPResponse) (to *url.URL, why string) {
	text := res.Header.Get("Location")
	if text == "" || strings.ContainsFunc(text, func(r rune) bool { return r <= ' ' || r > '~' || r == '\\' }) {
		return nil, "to what is no URL"
	}
	to, err := at.Parse(text)
	if err != nil {
		return nil, "to what is no URL"
	}
	if to.Scheme != s.base.Scheme || to.Opaque != "" || to.User != nil || !strings.EqualFold(to.Hostname(), s.base.Hostname()) || port(to) != port(s.base) {
		return nil, otherHost
	}
	next, ok := s.under(to.EscapedPath())
	if !ok {
		return nil, "out of the path of the base URL"
	}
	next.RawQuery = to.RawQuery
	return next, ""
}

func port(u *url.URL) string {
	if p := u.Port(); p != "" {
		return p
	}
	return u.Scheme
}
