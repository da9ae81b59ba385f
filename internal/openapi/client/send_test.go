package client

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/bailiwick-dev/bailiwick/identity"
	"github.com/bailiwick-dev/bailiwick/internal/openapi/calls"
	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/value"
)

// An api is a test server that records the bytes of each request and sends scripted responses.
type api struct {
	url    string
	mu     sync.Mutex
	got    []string // whole requests
	answer func(n int, c net.Conn)
}

func listen(t testing.TB, answer func(n int, c net.Conn)) *api {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	a := &api{url: "http://" + l.Addr().String(), answer: answer}
	var open sync.WaitGroup
	t.Cleanup(func() { l.Close(); open.Wait() })
	open.Go(func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			open.Go(func() { a.serve(c) })
		}
	})
	return a
}

func (a *api) serve(c net.Conn) {
	defer c.Close()
	_ = c.SetDeadline(time.Now().Add(5 * time.Second))
	var raw strings.Builder
	in := bufio.NewReader(io.TeeReader(c, &raw))
	for {
		r, err := http.ReadRequest(in)
		if err != nil {
			return
		}
		_, _ = io.Copy(io.Discard, r.Body)
		a.mu.Lock()
		a.got = append(a.got, raw.String())
		n := len(a.got)
		a.mu.Unlock()
		raw.Reset()
		a.answer(n, c)
		if r.Close {
			return
		}
	}
}

func (a *api) requests() []string {
	a.mu.Lock()
	defer a.mu.Unlock()
	return append([]string{}, a.got...)
}

// says always sends the same response.
func says(text string) func(int, net.Conn) {
	return func(_ int, c net.Conn) { _, _ = io.WriteString(c, text) }
}

const fine = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n{}"

func sender(t testing.TB, o Options) *Sender {
	t.Helper()
	s, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	return s
}

func get(path string) Message {
	return Message{Repeat: true, Request: &calls.HTTPRequest{Method: "GET", Path: path, Header: http.Header{"Accept": {"application/json"}}}}
}

func post(path, body string) Message {
	m := Message{Request: &calls.HTTPRequest{Method: "POST", Path: path, Header: http.Header{"Accept": {"application/json"}, "Content-Type": {"application/json"}}}}
	if body != "" {
		m.Request.Body = []byte(body)
	}
	return m
}

// TestRequests checks the bytes of whole requests as they reach the API.
func TestRequests(t *testing.T) {
	claims := value.OfObject([]value.Member{{Name: "sub", Value: value.OfString("ana-subject")}})
	principal := identity.Principal{ID: "token:7", TokenID: "7", Owner: "ana", Claims: claims}
	own := PerPrincipal{By: ByOwner, Of: map[string]Credential{"ana": BearerHeader("for-ana")}}
	for _, tt := range []struct {
		name  string
		base  string
		with  Credential
		alter func(*Message)
		want  string
	}{
		{"read", "", nil, func(m *Message) { *m = get("/a") }, "GET /a HTTP/1.1|Host: HOST|User-Agent: bailiwick|Accept: application/json|Accept-Encoding: gzip||"},
		{"encoded bytes stay", "/api/v1%2Fx/", nil, func(m *Message) {
			*m = get("/a%2Fb/c%2e%2ed/%7Ex;y=1/(z)/[q]/%e4")
			m.Request.Query = "q=%2E&b[]=1+2&c"
		},
			"GET /api/v1%2Fx/a%2Fb/c%2e%2ed/%7Ex;y=1/(z)/[q]/%e4?q=%2E&b[]=1+2&c HTTP/1.1|Host: HOST|User-Agent: bailiwick|Accept: application/json|Accept-Encoding: gzip||"},
		{"write", "", nil, func(m *Message) { m.Key = "k1" },
			"POST /a HTTP/1.1|Host: HOST|User-Agent: bailiwick|Content-Length: 7|Accept: application/json|Content-Type: application/json|Idempotency-Key: k1|Accept-Encoding: gzip|Connection: close||{\"a\":1}"},
		{"no body, no type", "", nil, func(m *Message) { m.Request.Body = nil }, "POST /a HTTP/1.1|Host: HOST|User-Agent: bailiwick|Content-Length: 0|Accept: application/json|Accept-Encoding: gzip|Connection: close||"},
		{"delete", "", nil, func(m *Message) { m.Request.Body, m.Request.Method = nil, "DELETE" }, "DELETE /a HTTP/1.1|Host: HOST|User-Agent: bailiwick|Accept: application/json|Accept-Encoding: gzip|Connection: close||"},
		{"agent named by the API", "", nil, func(m *Message) { *m = get("/a"); m.Request.Header.Set("User-Agent", "x") }, "GET /a HTTP/1.1|Host: HOST|User-Agent: x|Accept: application/json|Accept-Encoding: gzip||"},
		{"header key", "", HeaderCredential{Name: "X-API-Key", Value: "s"}, func(m *Message) { *m = get("/a"); m.Request.Header.Set("X-Api-Key", "of the agent") },
			"GET /a HTTP/1.1|Host: HOST|User-Agent: bailiwick|Accept: application/json|X-Api-Key: s|Accept-Encoding: gzip||"},
		{"basic", "", BasicCredential{User: "u", Password: "p"}, func(m *Message) { *m = get("/a") }, "GET /a HTTP/1.1|Host: HOST|User-Agent: bailiwick|Accept: application/json|Authorization: Basic dTpw|Accept-Encoding: gzip||"},
		{"query key", "", QueryCredential{Name: "key", Value: "s&t"}, func(m *Message) { *m = get("/a"); m.Request.Query = "%6Bey=mine&b=%2F" },
			"GET /a?b=%2F&key=s%26t HTTP/1.1|Host: HOST|User-Agent: bailiwick|Accept: application/json|Accept-Encoding: gzip||"},
		// This is a Principal with all fields set. None of them is sent to the API. The agent's own credential isn't
		// part of it.
		{"of the principal", "", own, func(m *Message) { *m = get("/a"); m.Who = principal }, "GET /a HTTP/1.1|Host: HOST|User-Agent: bailiwick|Accept: application/json|Authorization: Bearer for-ana|Accept-Encoding: gzip||"},
		{"exchanged", "", ExchangeFunc(func(_ context.Context, p identity.Principal) (string, error) { return "x-" + p.ID, nil }), func(m *Message) { *m = get("/a"); m.Who = principal },
			"GET /a HTTP/1.1|Host: HOST|User-Agent: bailiwick|Accept: application/json|Authorization: Bearer x-token:7|Accept-Encoding: gzip||"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			a := listen(t, says(fine))
			m := post("/a", `{"a":1}`)
			tt.alter(&m)
			s := sender(t, Options{Base: a.url + tt.base, Credential: tt.with})
			res, err := s.Send(t.Context(), m)
			if err != nil {
				t.Fatal(err)
			}
			want := strings.Replace(tt.want, "HOST", strings.TrimPrefix(a.url, "http://"), 1)
			if d := cmp.Diff([]string{want}, []string{strings.ReplaceAll(strings.Join(a.requests(), "\n"), "\r\n", "|")}); d != "" {
				t.Error(d)
			}
			res.Free = nil
			if d := cmp.Diff(&calls.HTTPResponse{Request: m.Request, Status: 200, Header: http.Header{"Content-Type": {"application/json"}, "Content-Length": {"2"}}, MediaType: "application/json", Body: []byte("{}")}, res); d != "" {
				t.Error(d)
			}
		})
	}
}

// TestRefused checks messages that are never sent.
func TestRefused(t *testing.T) {
	a := listen(t, says(fine))
	with := func(name, text string) func(*Message) {
		return func(m *Message) { m.Request.Header = http.Header{name: {text}} }
	}
	path := func(p string) func(*Message) { return func(m *Message) { m.Request.Path = p } }
	for name, tt := range map[string]struct {
		alter func(*Message)
		want  string
	}{
		"no path":              {path(""), "invalid_argument: the path can't be sent"},
		"a host as path":       {path("@example.com/"), "invalid_argument: the path can't be sent"},
		"climbs":               {path("/../b"), "invalid_argument: the path can't be sent"},
		"climbs, encoded":      {path("/%2e%2e/b"), "invalid_argument: the path can't be sent"},
		"climbs, slash within": {path("/a%2f..%2fb"), "invalid_argument: the path can't be sent"},
		"climbs, twice":        {path("/%252e%252e/b"), "invalid_argument: the path can't be sent"},
		"query in path":        {path("/a?b"), "invalid_argument: the path can't be sent"},
		"space in path":        {path("/a b"), "invalid_argument: the path can't be sent"},
		"line in path":         {path("/a\r\nX: y"), "invalid_argument: the path can't be sent"},
		"encoded wrongly":      {path("/%zz"), "invalid_argument: the path can't be sent"},
		"line in query":        {func(m *Message) { m.Request.Query = "a\r\nX: y" }, "invalid_argument: the query can't be sent"},
		"space in query":       {func(m *Message) { m.Request.Query = "a HTTP/1.1" }, "invalid_argument: the query can't be sent"},
		"line in header":       {with("X-A", "a\r\nX: y"), "invalid_argument: the header X-A is a text of one line"},
		"line in name":         {with("X-A\r\nB", "a"), `invalid_argument: the header "X-A\r\nB" can't be set`},
		"line in key":          {func(m *Message) { m.Key = "a\nb" }, "invalid_argument: an idempotency key is a text of one line"},
		"trace":                {func(m *Message) { m.Request.Method = "TRACE" }, `invalid_argument: the method "TRACE" can't be sent`},
		"connect":              {func(m *Message) { m.Request.Method = "CONNECT" }, `invalid_argument: the method "CONNECT" can't be sent`},
		"nothing":              {func(m *Message) { m.Request = nil }, "internal_error: Internal error"},
		"nobody":               {func(m *Message) { m.Who.Owner = "eve" }, "permission_denied: you have no credential for this API"},
		"without owner":        {func(m *Message) { m.Who.Owner = "" }, "permission_denied: you have no credential for this API"},
	} {
		s := sender(t, Options{Base: a.url + "/api", Credential: PerPrincipal{By: ByOwner, Of: map[string]Credential{"ana": BearerHeader("x"), "": BearerHeader("y")}}})
		m := get("/a")
		m.Who.Owner = "ana"
		tt.alter(&m)
		if _, err := s.Send(t.Context(), m); fmt.Sprint(err) != tt.want || errors.Is(err, ErrUnsure) {
			t.Errorf("%s: %v", name, err)
		}
	}
	for _, header := range []string{"Authorization", "authorization", "Set-Cookie", "Host", "X-Forwarded-For", "X-Forwarded-Host", "Forwarded", "Proxy-Authorization", "Connection",
		"Transfer-Encoding", "Content-Length", "Accept-Encoding", "Expect", "Upgrade", "Te"} {
		m := get("/a")
		with(header, "x")(&m)
		if _, err := sender(t, Options{Base: a.url}).Send(t.Context(), m); problem.CodeOf(err) != problem.InvalidArgument {
			t.Errorf("%s: %v", header, err)
		}
	}
	if _, err := sender(t, Options{Base: a.url}).Send(t.Context(), get("//example.com/a")); fmt.Sprint(err) != "invalid_argument: the path can't be sent" {
		t.Error(err)
	}
	if got := a.requests(); len(got) > 0 {
		t.Error(got)
	}
}

// TestNew checks which base URLs are refused. The errors don't repeat any part of the URL.
func TestNew(t *testing.T) {
	for base, want := range map[string]string{
		"": "the base URL must begin with https:// or http://", "ftp://a": "the base URL must begin with https:// or http://", "https:///a": "the base URL has no host", "https:a": "the base URL has no host",
		"https://u:secret@a": "the base URL holds a name or a password. Give these as a credential", "https://a?k=secret": "the base URL has a query. Give a key that belongs there as a credential",
		"https://a#": "the base URL has a fragment", "https://a/%2e%2e/b": `the base URL has a path with a segment "." or ".."`, "https://ä": "the base URL has a host that is not written in ASCII. Write its xn-- form",
		"https://a:secret": "the base URL is not a URL",
	} {
		if _, err := New(Options{Base: base}); fmt.Sprint(err) != want {
			t.Errorf("%s: %v", base, err)
		}
	}
}

// TestCredentialStays checks that a request is not sent if the credential changes its target or is not a valid header.
func TestCredentialStays(t *testing.T) {
	a, b := listen(t, says(fine)), listen(t, says(fine))
	to, _ := url.Parse(b.url)
	elsewhere, lines := "the credential changes where the request goes", "the credential can't stand in a header"
	for name, tt := range map[string]struct {
		c    Credential
		want string // the logged error
	}{
		"scheme":      {hostile(func(r *http.Request) { r.URL.Scheme = "https" }), elsewhere},
		"host":        {hostile(func(r *http.Request) { r.URL.Host = to.Host }), elsewhere},
		"host header": {hostile(func(r *http.Request) { r.Host = to.Host }), elsewhere},
		"path":        {hostile(func(r *http.Request) { r.URL.Path = "/x" }), elsewhere},
		"lines":       {BearerHeader("secret\r\nX: y"), lines},
		"name":        {HeaderCredential{Name: "a b", Value: "secret"}, lines},
		"fails":       {failing{}, "anything"},
	} {
		_, err := sender(t, Options{Base: a.url, Credential: tt.c}).Send(t.Context(), post("/a", ""))
		if p := problem.Of(err); p == nil || p.Error() != "upstream_error: the gateway can't sign in to the API for now" || fmt.Sprint(p.Err) != tt.want || errors.Is(err, ErrUnsure) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if n := len(a.requests()) + len(b.requests()); n > 0 {
		t.Error(n, "requests")
	}
}

type hostile func(*http.Request)

func (h hostile) Apply(_ context.Context, _ identity.Principal, r *http.Request) error {
	h(r)
	return nil
}

type failing struct{}

func (failing) Apply(context.Context, identity.Principal, *http.Request) error {
	return errors.New("anything")
}

// TestEnvironment checks that proxies from the environment are not used.
func TestEnvironment(t *testing.T) {
	proxy := listen(t, says(fine))
	for _, name := range []string{"HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy"} {
		t.Setenv(name, proxy.url)
	}
	a := listen(t, says(fine))
	if _, err := sender(t, Options{Base: a.url}).Send(t.Context(), get("/")); err != nil || len(proxy.requests()) > 0 {
		t.Error(err, proxy.requests())
	}
}

// TestTLS checks that untrusted certificates are refused before anything is sent, and that HTTP/2 isn't used.
func TestTLS(t *testing.T) {
	protocols := make(chan string, 8)
	srv := httptest.NewUnstartedServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { protocols <- r.Proto }))
	srv.EnableHTTP2 = true
	srv.Config.ErrorLog = discard()
	srv.StartTLS()
	defer srv.Close()
	roots := srv.Client().Transport.(*http.Transport).TLSClientConfig.RootCAs
	for _, m := range []Message{get("/"), post("/", "{}")} {
		if res, err := sender(t, Options{Base: srv.URL, Roots: roots}).Send(t.Context(), m); err != nil || res.Status != 200 {
			t.Fatal(err)
		}
		if p := <-protocols; p != "HTTP/1.1" {
			t.Error(p)
		}
		_, err := sender(t, Options{Base: srv.URL}).Send(t.Context(), m)
		if p := problem.Of(err); p == nil || p.Detail != "the API can't be reached" || p.Kind != "certificate" || errors.Is(err, ErrUnsure) {
			t.Error(err)
		}
	}
}
