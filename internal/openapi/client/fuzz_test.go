package client

import (
	"net/http"
	"net/url"
	"path"
	"strings"
	"testing"
	"time"

	"github.com/bailiwick-dev/bailiwick/internal/openapi/calls"
)

// FuzzRetryAfter checks that the wait is between zero and a day for any Retry-After.
func FuzzRetryAfter(f *testing.F) {
	for _, text := range []string{"", "0", "120", "-1", "1e9", "99999999999999999999", "Sat, 01 Jan 2000 00:00:09 GMT", "Sat, 01 Jan 9999 00:00:09 GMT", "1 , 2", " 7 ", "+5"} {
		f.Add(text)
	}
	now := time.Date(2026, 11, 21, 0, 0, 0, 0, time.UTC)
	f.Fuzz(func(t *testing.T, text string) {
		if d := retryAfter(&calls.HTTPResponse{Header: http.Header{"Retry-After": {text}}}, now); d < 0 || d > longest {
			t.Error(d)
		}
	})
}

// FuzzRedirect checks that a followed redirect stays at the API and below its prefix, even if a proxy decodes and
// cleans paths several times.
func FuzzRedirect(f *testing.F) {
	for _, text := range []string{"", "/api/b", "b", "?q", "#x", "..", "../../b", "//a/b", "http://api.test/api/b", "https://api.test:443/api/b", "https://api.test/api%2fb", "/api/%2e%2e/b", "/api/.%2e;x/b",
		"/api/a%2f..%2f..", "/api/%252e%252e/%252e%252e", `/api/\..\`, "https:b", "https:/api", "HTTPS://API.TEST/api/x", "https://u@api.test/api", "https://api.test\t/api", "/api/%zz", "/api/%5c..%5c.."} {
		f.Add(text)
	}
	s, err := New(Options{Base: "https://api.test/api", Handler: http.NotFoundHandler()})
	if err != nil {
		f.Fatal(err)
	}
	at := &url.URL{Scheme: "https", Host: "api.test", Path: "/api/v1/x", RawQuery: "q=1"}
	f.Fuzz(func(t *testing.T, text string) {
		to, _ := s.next(at, &calls.HTTPResponse{Status: 302, Header: http.Header{"Location": {text}}})
		if to == nil {
			return
		}
		if to.Scheme != "https" || to.Host != "api.test" || to.User != nil || to.Opaque != "" {
			t.Fatal(to)
		}
		if strings.ContainsFunc(to.RequestURI(), func(r rune) bool { return r <= ' ' || r > '~' }) {
			t.Fatalf("%q", to.RequestURI())
		}
		plain := to.EscapedPath()
		for range 10 {
			if clean := path.Clean(strings.ReplaceAll(plain, `\`, "/")); clean != "/api" && !strings.HasPrefix(clean, "/api/") {
				t.Fatalf("%q leads to %q", text, clean)
			}
			next, err := url.PathUnescape(plain)
			if err != nil || next == plain {
				break
			}
			plain = next
		}
	})
}
