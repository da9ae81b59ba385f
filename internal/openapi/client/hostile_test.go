package client

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/bailiwick-dev/bailiwick/internal/edge"
	"github.com/bailiwick-dev/bailiwick/internal/openapi/calls"
	"github.com/bailiwick-dev/bailiwick/problem"
)

func discard() *log.Logger { return log.New(io.Discard, "", 0) }

// secret is part of the credential of each message. It must not appear in any answer or log.
const secret = "swordfish"

// answers are responses of a hostile API with the expected errors. Only a write can be unsure. If the status of a
// write was read, it has a response.
var answers = map[string]struct {
	answer func(n int, c net.Conn)
	want   string // the error an agent sees for a read
	write  string // the error for a write, or "" if it is the same
	sure   bool   // the outcome of the write is known
	unread string // the reason why the body of the write's response is omitted, or "" if the write has an error
}{
	"closes":             {says(""), "upstream_error: the API broke off, or answered what can't be read", "", false, ""},
	"no HTTP":            {says("220 mail.internal ESMTP " + secret + "\r\n"), "upstream_error: the API broke off, or answered what can't be read", "", false, ""},
	"bad header":         {says("HTTP/1.1 200 OK\r\nno colon " + secret + "\r\n\r\n"), "upstream_error: the API broke off, or answered what can't be read", "", false, ""},
	"cut body":           {says("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n{}"), "upstream_error: the API broke off, or answered what can't be read", "", false, ""},
	"cut chunks":         {says("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n"), "upstream_error: the API broke off, or answered what can't be read", "", false, ""},
	"bad gzip":           {says("HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 2\r\n\r\n{}"), "upstream_error: the API broke off, or answered what can't be read", "", false, ""},
	"unknown encoding":   {says("HTTP/1.1 200 OK\r\nContent-Encoding: br\r\nContent-Length: 2\r\n\r\n{}"), "upstream_error: the API broke off, or answered what can't be read", "", true, "it is in a content encoding that was not asked for"},
	"another protocol":   {says("HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n"), "upstream_error: the API broke off, or answered what can't be read", "", false, ""},
	"two lengths":        {says("HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\n{} "), "upstream_error: the API broke off, or answered what can't be read", "", false, ""},
	"large":              {says("HTTP/1.1 200 OK\r\nContent-Length: 100001\r\n\r\n" + strings.Repeat("a", 100001)), "upstream_error: what the API answered is too large", "", true, "it is larger than 100000 bytes"},
	"bomb":               {says(bomb()), "upstream_error: what the API answered is too large", "", true, "it is larger than 100000 bytes"},
	"endless":            {endless("HTTP/1.1 200 OK\r\n\r\n", strings.Repeat("a", 1000), 0), "upstream_error: what the API answered is too large", "", true, "it is larger than 100000 bytes"},
	"endless headers":    {endless("HTTP/1.1 200 OK\r\n", "X-A: "+strings.Repeat("a", 1000)+"\r\n", 0), "upstream_error: the API broke off, or answered what can't be read", "", false, ""},
	"endless 103":        {endless("", "HTTP/1.1 103 Early Hints\r\nX-A: "+strings.Repeat("a", 1000)+"\r\n\r\n", 0), "upstream_error: the API broke off, or answered what can't be read", "", false, ""},
	"drips":              {endless("HTTP/1.1 200 OK\r\n\r\n", "a", 20*time.Millisecond), "timeout: the API did not answer in time", "", false, ""},
	"drips headers":      {endless("HTTP/1.1 200 OK\r\n", "X: y\r\n", 20*time.Millisecond), "timeout: the API did not answer in time", "", false, ""},
	"silent":             {func(_ int, c net.Conn) { _, _ = c.Read(make([]byte, 1)) }, "timeout: the API did not answer in time", "", false, ""},
	"events":             {endless("HTTP/1.1 200 OK\r\nContent-Type: Text/Event-Stream; charset=utf-8\r\n\r\n", "data: x\n\n", 20*time.Millisecond), "unsupported_by_source: the API answers with a stream of events (text/event-stream), which can't be read here", "", false, ""},
	"redirects 301":      {redirect(301, "http://127.0.0.1:1/x"), "upstream_error: the API redirects (status 301) elsewhere", "", false, ""},
	"redirects 307":      {redirect(307, "http://127.0.0.1:1/x"), "upstream_error: the API redirects (status 307) elsewhere", "", true, ""},
	"redirects no URL":   {redirect(308, "http://["), "upstream_error: the API redirects (status 308) elsewhere", "", true, ""},
	"redirects nowhere":  {says("HTTP/1.1 302 Found\r\nContent-Length: 0\r\n\r\n"), "upstream_error: the API redirects (status 302) elsewhere", "", false, ""},
	"redirects in place": {func(n int, c net.Conn) { redirect(307, "/api/"+fmt.Sprint(n))(n, c) }, "upstream_error: the API redirects (status 307) elsewhere", "", true, ""},
}

func redirect(status int, to string) func(int, net.Conn) {
	return says(fmt.Sprintf("HTTP/1.1 %d x\r\nLocation: %s\r\nContent-Length: 0\r\n\r\n", status, to))
}

func endless(begin, again string, every time.Duration) func(int, net.Conn) {
	return func(_ int, c net.Conn) {
		_, err := io.WriteString(c, begin)
		for err == nil {
			_, err = io.WriteString(c, again)
			time.Sleep(every)
		}
	}
}

func bomb() string {
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	_, _ = w.Write(make([]byte, 64<<20))
	w.Close()
	return fmt.Sprintf("HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: %d\r\n\r\n%s", b.Len(), b.String())
}

// TestHostile checks that a hostile response gives a clean error, that logs contain no secret, and that a write is
// sent once.
func TestHostile(t *testing.T) {
	for name, tt := range answers {
		for _, m := range []Message{get("/a"), post("/a", "{}")} {
			t.Run(name+" "+m.Request.Method, func(t *testing.T) {
				t.Parallel()
				a := listen(t, func(n int, c net.Conn) { defer c.Close(); tt.answer(n, c) })
				timeout, most := time.Minute, 30*time.Second // on a busy machine
				if strings.HasPrefix(tt.want, "timeout") {
					timeout = 400 * time.Millisecond
				}
				s := sender(t, Options{Base: a.url + "/api", Credential: QueryCredential{Name: "key", Value: secret}, MaxBody: 100000, Timeout: timeout, Attempts: 2})
				begun := time.Now()
				res, err := s.Send(t.Context(), m)
				if tt.unread != "" && !m.Repeat {
					if err != nil || res.Status != 200 || res.Unread != tt.unread || res.Body != nil || len(a.requests()) != 1 {
						t.Errorf("%+v %v, want a response that was not read, since %s", res, err, tt.unread)
					}
					return
				}
				p := problem.Of(err)
				if p == nil {
					t.Fatal("no error")
				}
				if p.Error() != tt.want {
					t.Error(p)
				}
				if told := fmt.Sprint(p.Detail, p.Suggestion, p.Near, p.Err); strings.Contains(told, secret) || strings.Contains(p.Detail+p.Suggestion, "127.0.0.1") {
					t.Error(told)
				}
				if took := time.Since(begun); took > most {
					t.Error(took)
				}
				n := len(a.requests())
				if n == 0 && strings.HasPrefix(tt.want, "timeout") {
					return // on a busy machine, time ran out before the request was read, and maybe before it was sent
				}
				if unsure := errors.Is(err, ErrUnsure); unsure != (!m.Repeat && !tt.sure) {
					t.Error("unsure:", unsure)
				}
				if !m.Repeat && n != 1 || n > 6 {
					t.Error(n, "requests")
				}
			})
		}
	}
}

// anywhere follows every redirect and drops the credential's key, as policy does.
func anywhere(path, query string) (*calls.HTTPRequest, error) {
	m := get(path)
	var pairs []string
	for pair := range strings.SplitSeq(query, "&") {
		if !strings.HasPrefix(pair, "key=") {
			pairs = append(pairs, pair)
		}
	}
	m.Request.Query = strings.Join(pairs, "&")
	return m.Request, nil
}

// TestRedirects checks which redirects of a GET are followed, and with which request. Another host receives no request.
func TestRedirects(t *testing.T) {
	other := listen(t, says(fine))
	for name, tt := range map[string]struct {
		to   string
		want string // the target of the second request, or ""
	}{
		"path":             {"/api/b", "/api/b?key=" + secret},
		"relative":         {"b", "/api/b?key=" + secret},
		"base itself":      {"/api", "/api/?key=" + secret},
		"whole":            {"BASE/api/b?c=1", "/api/b?c=1&key=" + secret},
		"key sent back":    {"/api/b?key=theirs&c=%2F", "/api/b?c=%2F&key=" + secret},
		"encoded":          {"/api/a%2Fb", "/api/a%2Fb?key=" + secret},
		"another host":     {other.url + "/api/b", ""},
		"no scheme":        {strings.TrimPrefix(other.url, "http:") + "/api/b", ""},
		"user":             {"http://x@HOST/api/b", ""},
		"name of the same": {"http://localhost:PORT/api/b", ""},
		"scheme":           {"https://HOST/api/b", ""},
		"port":             {"http://127.0.0.1/api/b", ""},
		"out of prefix":    {"/apis/b", ""},
		"up":               {"../b", ""},
		"up, encoded":      {"/api/%2e%2e/b", ""},
		"up, slash":        {"/api/x%2f..%2f..%2fb", ""},
		"backslash":        {`/api/..\b`, ""},
		"host behind":      {`\\example.com/api`, ""},
		"file":             {"file:///etc/passwd", ""},
		"opaque":           {"http:/api/b", ""},
	} {
		t.Run(name, func(t *testing.T) {
			var host, base string
			a := listen(t, func(n int, c net.Conn) {
				if n > 1 {
					says(fine)(n, c)
					return
				}
				to := strings.NewReplacer("BASE", base, "HOST", host, "PORT", host[strings.LastIndex(host, ":")+1:]).Replace(tt.to)
				redirect(302, to)(n, c)
			})
			base, host = a.url, strings.TrimPrefix(a.url, "http://")
			s := sender(t, Options{Base: base + "/api", Credential: QueryCredential{Name: "key", Value: secret}, Attempts: 1})
			m := get("/a")
			m.Redirected = anywhere
			res, err := s.Send(t.Context(), m)
			if tt.want == "" {
				if problem.CodeOf(err) != problem.Upstream || len(a.requests()) != 1 {
					t.Error(err, a.requests())
				}
				return
			}
			if err != nil || res.Status != 200 || len(a.requests()) != 2 || !strings.HasPrefix(a.requests()[1], "GET "+tt.want+" HTTP/1.1\r\n") {
				t.Error(err, a.requests())
			}
		})
	}
	if got := other.requests(); len(got) > 0 {
		t.Error(got)
	}
	a := listen(t, redirect(302, "/b"))
	m := get("/a")
	m.Redirected = func(string, string) (*calls.HTTPRequest, error) {
		return nil, problem.New(problem.PermissionDenied, "to what you can't call")
	}
	if _, err := sender(t, Options{Base: a.url}).Send(t.Context(), m); fmt.Sprint(err) != "upstream_error: the API redirects (status 302) to what you can't call" || len(a.requests()) != 1 {
		t.Error(err, a.requests())
	}
	m.Redirected = anywhere
	if _, err := sender(t, Options{Base: a.url}).Send(t.Context(), m); fmt.Sprint(err) != "upstream_error: the API redirects (status 302) without end" || len(a.requests()) != 7 {
		t.Error(err, a.requests())
	}
	a = listen(t, redirect(302, "/b"))
	m.Repeat = false // a GET that changes something
	if _, err := sender(t, Options{Base: a.url}).Send(t.Context(), m); !errors.Is(err, ErrUnsure) || len(a.requests()) != 1 {
		t.Error(err, a.requests())
	}
}

// TestConnections checks that reads share connections, that each write has its own, and that a read survives a closed
// idle connection.
func TestConnections(t *testing.T) {
	var mu sync.Mutex
	conns := map[string]int{}
	a := listen(t, func(n int, c net.Conn) {
		mu.Lock()
		conns[c.RemoteAddr().String()]++
		mu.Unlock()
		says(fine)(n, c)
		if n == 2 {
			c.Close()
		}
	})
	s := sender(t, Options{Base: a.url, Attempts: 1})
	for i, m := range []Message{get("/"), get("/"), get("/"), post("/", "{}"), post("/", "{}")} {
		if _, err := s.Send(t.Context(), m); err != nil {
			t.Fatal(i, err)
		}
		time.Sleep(10 * time.Millisecond)
	}
	if len(conns) != 4 {
		t.Error(conns)
	}
}

// TestUnreachable checks that an unsent request is not unsure.
func TestUnreachable(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	l.Close()
	silent, err := net.Listen("tcp", "127.0.0.1:0") // accepts connections but never speaks TLS
	if err != nil {
		t.Fatal(err)
	}
	defer silent.Close()
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	a := listen(t, says(fine))
	for name, tt := range map[string]struct {
		ctx  context.Context
		base string
		want string
	}{
		"refused":   {t.Context(), "http://" + l.Addr().String(), "upstream_error: the API can't be reached"},
		"no TLS":    {t.Context(), "https://" + silent.Addr().String(), "timeout: the API did not answer in time"},
		"not HTTPS": {t.Context(), strings.Replace(a.url, "http:", "https:", 1), "upstream_error: the API can't be reached"},
		"cancelled": {ended, a.url, "cancelled: the call was cancelled"},
	} {
		_, err := sender(t, Options{Base: tt.base, Timeout: 300 * time.Millisecond}).Send(tt.ctx, post("/", "{}"))
		if fmt.Sprint(err) != tt.want || errors.Is(err, ErrUnsure) {
			t.Errorf("%s: %v %v", name, err, errors.Is(err, ErrUnsure))
		}
	}
	if got := a.requests(); len(got) > 0 {
		t.Error(got)
	}
}

// TestCookies checks that cookies are dropped.
func TestCookies(t *testing.T) {
	a := listen(t, says("HTTP/1.1 200 OK\r\nSet-Cookie: a=b\r\nContent-Length: 0\r\n\r\n"))
	s := sender(t, Options{Base: a.url})
	for range 2 {
		res, err := s.Send(t.Context(), get("/"))
		if err != nil || len(res.Header["Set-Cookie"]) > 0 || strings.Contains(strings.Join(a.requests(), ""), "Cookie") {
			t.Error(err, res, a.requests())
		}
	}
}

// refusing is a connection whose writes fail without sending a byte.
type refusing struct{ net.Conn }

func (refusing) Write([]byte) (int, error) { return 0, errors.New("no") }

// TestNothingLeft checks that a write is not unsure if its connection sent no byte of it.
func TestNothingLeft(t *testing.T) {
	a := listen(t, says(fine))
	s := sender(t, Options{Base: a.url})
	dial := s.writes.(*http.Transport).DialContext
	for _, handshake := range []int{0, 3} {
		s.writes = &http.Transport{DisableKeepAlives: true, DialContext: func(ctx context.Context, network, address string) (net.Conn, error) {
			c, err := dial(ctx, network, address)
			if err != nil {
				return nil, err
			}
			l := c.(*line)
			l.written.Store(int64(handshake)) // the writes of the TLS handshake
			l.Conn = refusing{l.Conn}
			return l, nil
		}}
		_, err := s.Send(t.Context(), post("/", "{}"))
		if err == nil || errors.Is(err, ErrUnsure) {
			t.Error(handshake, err)
		}
	}
}

// TestBroken checks the failures that a retry can't fix.
func TestBroken(t *testing.T) {
	for err, want := range map[error]string{
		&net.OpError{Op: "dial", Err: edge.ErrPrivate}: "private_address true", edge.ErrHost: "private_address true", errLarge: "too_large true", errStream: "stream true",
		&net.OpError{Op: "dial", Err: errors.New("refused")}: "unreachable false",
	} {
		if f := newFailure(t.Context(), err, false); fmt.Sprint(f.problem.Kind, " ", f.final) != want {
			t.Error(err, f.problem.Kind, f.final)
		}
	}
}
