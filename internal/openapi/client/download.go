package client

import (
	"context"
	"net/http"
	"net/url"
	"strings"

	"github.com/bailiwick-dev/bailiwick/internal/edge"
	"github.com/bailiwick-dev/bailiwick/internal/openapi/calls"
)

// otherHost is the reason why a redirect away from the address of the API isn't followed.
const otherHost = "to another host, scheme or port"

// download returns the target of a redirect that leaves the API, if its host is one of Options.Downloads. The target
// must use https. It may use http if the API itself uses http on this machine. A listed host may be in a private
// network. A host that matches *.host may not.
func (s *Sender) download(at *url.URL, res *calls.HTTPResponse) (to *url.URL, private, ok bool) {
	to, err := at.Parse(res.Header.Get("Location"))
	if err != nil || to.User != nil || to.Opaque != "" || to.Scheme != "https" && (to.Scheme != "http" || s.base.Scheme != "http") {
		return nil, false, false
	}
	for _, host := range s.o.Downloads {
		if strings.EqualFold(to.Hostname(), host) || strings.EqualFold(to.Host, host) {
			return to, true, true
		}
		if below, wild := strings.CutPrefix(strings.ToLower(host), "*."); wild && strings.HasSuffix(strings.ToLower(to.Hostname()), "."+below) {
			ok = true
		}
	}
	return to, false, ok
}

// fetch reads the body at a signed URL without the API's credential, headers and cookies. It doesn't follow further
// redirects.
func (s *Sender) fetch(ctx context.Context, m Message, to *url.URL, private bool) (*calls.HTTPResponse, *failure) {
	to = &url.URL{Scheme: to.Scheme, Host: to.Host, Path: to.Path, RawPath: to.RawPath, RawQuery: to.RawQuery}
	r, err := http.NewRequestWithContext(ctx, m.Request.Method, to.String(), nil)
	if err != nil {
		return nil, redirectFailure(http.StatusFound, "to what is no URL")
	}
	r.Header.Set("User-Agent", "bailiwick")
	if accept := m.Request.Header.Get("Accept"); accept != "" {
		r.Header.Set("Accept", accept)
	}
	guard := edge.GuardOptions{Roots: s.o.Roots, Resolver: s.o.Resolver, Strict: !private}
	if s.o.Trusted != nil {
		guard.Identity = s.o.Trusted.Current
	}
	transport := edge.GuardedTransport(&url.URL{Scheme: to.Scheme, Host: to.Host}, guard)
	defer transport.CloseIdleConnections()
	res, err := transport.RoundTrip(r)
	if err != nil {
		return nil, newFailure(ctx, err, true)
	}
	defer res.Body.Close()
	answer, err := s.read(ctx, m, res)
	if err != nil {
		return nil, newFailure(ctx, err, true)
	}
	s.veil(answer, nil)
	if redirects(answer.Status) {
		return nil, redirectFailure(answer.Status, otherHost)
	}
	return answer, nil
}
