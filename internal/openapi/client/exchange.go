package client

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"strings"
	"sync/atomic"

	"github.com/bailiwick-dev/bailiwick/internal/fair"
	"github.com/bailiwick-dev/bailiwick/internal/openapi/calls"
	"github.com/bailiwick-dev/bailiwick/internal/trace"
	"github.com/bailiwick-dev/bailiwick/problem"
)

// exchange sends m to the URL at and reads the response. If the API refuses the credential (401), exchange renews it
// and repeats the request once. A write is not repeated.
func (s *Sender) exchange(ctx context.Context, m Message, at *url.URL) (*calls.HTTPResponse, *failure) {
	for renewed := false; ; renewed = true {
		r, own, f := s.request(ctx, m, at)
		if f != nil {
			return nil, f
		}
		res, f := s.roundTrip(ctx, m, r)
		s.veil(res, own)
		if f != nil || res.Status != http.StatusUnauthorized || renewed {
			return res, f
		}
		renewer, ok := s.of(m.Request).(Renewer)
		if !ok || !renewer.Renew(m.Who, r) || !m.Repeat {
			return res, nil
		}
	}
}

// veil masks credentials in a response: the known credentials, and own, which were sent with this request.
func (s *Sender) veil(res *calls.HTTPResponse, own []string) {
	if res == nil {
		return
	}
	for name, values := range res.Header {
		for i, v := range values {
			values[i] = s.o.Known.Text(v, own...)
		}
		if hidden := s.o.Known.Text(name, own...); hidden != name {
			delete(res.Header, name)
		}
	}
	res.MediaType, res.Body = mediaType(res.Header), s.o.Known.Hide(res.Body, own...)
}

// request builds the HTTP request including the credential. It returns the credential's secrets as own.
func (s *Sender) request(ctx context.Context, m Message, at *url.URL) (r *http.Request, own []string, f *failure) {
	var body io.Reader
	var err error
	if m.Request.Body != nil {
		body = bytes.NewReader(m.Request.Body)
	}
	r, err = http.NewRequestWithContext(ctx, m.Request.Method, "", body)
	if err != nil {
		return nil, nil, &failure{problem: &problem.Error{Code: problem.Internal, Detail: "Internal error", Kind: "no_request", Err: err}, final: true}
	}
	to := *at
	r.URL, r.Host, r.Header = &to, at.Host, maps.Clone(m.Request.Header)
	if r.Header == nil {
		r.Header = http.Header{}
	}
	if m.Request.Body == nil {
		r.Header.Del("Content-Type") // some servers refuse an empty body with a content type
	}
	if r.Header.Get("User-Agent") == "" {
		r.Header.Set("User-Agent", "bailiwick")
	}
	if parent := trace.Parent(ctx); parent != "" && r.Header.Get("Traceparent") == "" {
		r.Header.Set("Traceparent", parent)
	}
	if m.Key != "" {
		r.Header.Set("Idempotency-Key", m.Key)
	}
	maps.Copy(r.Header, s.o.Headers)
	signer := s.of(m.Request)
	if signer == nil {
		return r, nil, nil
	}
	// The difference between the request before and after Apply is the credential. It must be known, so that a
	// response that repeats it can be masked. Apply may change only headers and the query.
	before := r.Clone(ctx)
	if err := signer.Apply(ctx, m.Who, r); err != nil {
		return nil, nil, withoutCredential(ctx, err)
	}
	own = s.o.Known.Learn(before, r)
	if r.URL.Scheme != at.Scheme || r.URL.Host != at.Host || r.Host != at.Host || r.URL.EscapedPath() != at.EscapedPath() {
		return nil, nil, withoutCredential(ctx, problem.LoggableError("the credential changes where the request goes"))
	}
	for name, values := range r.Header {
		if !isToken(name) || !oneLine(values...) {
			return nil, nil, withoutCredential(ctx, problem.LoggableError("the credential can't stand in a header"))
		}
	}
	return r, own, nil
}

// roundTrip sends r once and reads the whole response.
func (s *Sender) roundTrip(ctx context.Context, m Message, r *http.Request) (*calls.HTTPResponse, *failure) {
	transport := s.writes
	if m.Repeat {
		transport = s.reads
	}
	var out atomic.Pointer[line]
	var before atomic.Int64
	r = r.WithContext(httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{GotConn: func(i httptrace.GotConnInfo) {
		l := lineOf(i.Conn)
		before.Store(l.written.Load())
		out.Store(l)
	}}))
	sent := func() bool {
		l := out.Load()
		return s.o.Handler != nil || l != nil && l.written.Load() > before.Load()
	}
	res, err := transport.RoundTrip(r)
	if err != nil {
		return nil, newFailure(ctx, err, sent())
	}
	defer res.Body.Close()
	answer, err := s.read(ctx, m, res)
	if err != nil {
		return nil, newFailure(ctx, err, true)
	}
	return answer, nil
}

// read reads a response and enforces the limits on its size, encoding and kind.
func (s *Sender) read(ctx context.Context, m Message, res *http.Response) (*calls.HTTPResponse, error) {
	if isStream(res.Header) {
		return nil, errStream
	}
	if res.StatusCode < 200 {
		return nil, errMalformed
	}
	res.Header.Del("Set-Cookie")
	answer := &calls.HTTPResponse{Request: m.Request, Status: res.StatusCode, Header: res.Header, MediaType: mediaType(res.Header)}
	body, err := s.body(ctx, m, res)
	if why := s.unread(err); why != "" && !m.Repeat {
		answer.Unread = why // the status already reports how the write ended
		return answer, nil
	}
	answer.Body = body
	return answer, err
}

// body reads the body of a response when memory for it is available.
func (s *Sender) body(ctx context.Context, m Message, res *http.Response) ([]byte, error) {
	length := res.ContentLength
	if m.Request.Method == http.MethodHead && s.o.Handler == nil {
		length = 0 // this is the length of the response to a GET
	}
	body, err := m.room.Read(ctx, res.Body, length, int64(s.o.MaxBody))
	if errors.Is(err, fair.ErrLarge) {
		return nil, errLarge
	}
	if encoding := res.Header.Get("Content-Encoding"); err == nil && len(body) > 0 && encoding != "" && !strings.EqualFold(encoding, "identity") {
		return nil, errEncoded
	}
	return body, err
}

// unread returns the reason why a body was omitted although the connection works. It returns "" for other errors.
func (s *Sender) unread(err error) string {
	switch {
	case err == errLarge && s.o.MaxBody%(1<<20) == 0:
		return fmt.Sprintf("it is larger than %d MiB", s.o.MaxBody>>20)
	case err == errLarge:
		return fmt.Sprintf("it is larger than %d bytes", s.o.MaxBody)
	case err == errEncoded:
		return "it is in a content encoding that was not asked for"
	case isBusy(err):
		return "the memory for answers was in use by other calls"
	}
	return ""
}

// mediaType returns the media type of a response, without parameters.
func mediaType(h http.Header) string {
	kind, _, _ := strings.Cut(h.Get("Content-Type"), ";")
	return strings.ToLower(strings.TrimSpace(kind))
}

// isStream reports whether a response is an endless stream.
func isStream(h http.Header) bool {
	kind := mediaType(h)
	return kind == "text/event-stream" || kind == "multipart/x-mixed-replace"
}

// A line is a connection that counts writes, to determine whether any byte was sent.
type line struct {
	net.Conn
	written atomic.Int64 // writes that were started, minus writes that sent no byte
}

// Write implements net.Conn.
func (l *line) Write(b []byte) (int, error) {
	l.written.Add(1)
	n, err := l.Conn.Write(b)
	if n == 0 && err != nil {
		l.written.Add(-1)
	}
	return n, err
}

// withWriteCounts makes the connections of t count writes, and returns t.
func withWriteCounts(t *http.Transport) *http.Transport {
	dial := t.DialContext
	t.DialContext = func(ctx context.Context, network, address string) (net.Conn, error) {
		c, err := dial(ctx, network, address)
		if err != nil {
			return nil, err
		}
		return &line{Conn: c}, nil
	}
	return t
}

func lineOf(c net.Conn) *line {
	if over, ok := c.(interface{ NetConn() net.Conn }); ok { // TLS
		c = over.NetConn()
	}
	l, _ := c.(*line)
	return l
}

// withoutCredential returns the failure of a request that was not sent because its credential could not be applied.
func withoutCredential(ctx context.Context, err error) *failure {
	if ctx.Err() != nil {
		return newFailure(ctx, err, false)
	}
	p, ok := errors.AsType[*problem.Error](err)
	if !ok {
		p = &problem.Error{Code: problem.Upstream, Detail: "the gateway can't sign in to the API for now", Kind: "credential", Err: err}
	}
	return &failure{problem: p, final: true}
}
