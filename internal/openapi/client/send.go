// Package client sends requests to one HTTP API and reads its responses.
//
//	calls.HTTPRequest ─Credential of the principal→ Sender ─configured host→ calls.HTTPResponse
//
// It runs after policy. Package calls makes only checked and permitted requests. The client sends only to the
// configured scheme, host, port and path prefix, even if the host's addresses change later or the API redirects. It
// refuses headers reserved for the gateway, paths with "..", and responses that are too large, too slow or endless.
//
// A request that changes nothing is retried. A write is sent once, over its own connection. If the outcome of a write
// is unknown, its error is marked with ErrUnsure.
//
// A Credential comes from the configuration, or from an embedding program for each principal. It is never the
// credential that the agent presented to the gateway. It is applied just before sending. A principal without a
// credential is refused, and nothing is sent. Credentials repeated in a response are masked before it is returned.
package client

import (
	"cmp"
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strings"
	"sync/atomic"
	"time"

	"github.com/bailiwick-dev/bailiwick/identity"
	"github.com/bailiwick-dev/bailiwick/internal/edge"
	"github.com/bailiwick-dev/bailiwick/internal/fair"
	"github.com/bailiwick-dev/bailiwick/internal/openapi/calls"
	"github.com/bailiwick-dev/bailiwick/internal/openapi/spec"
	"github.com/bailiwick-dev/bailiwick/internal/trace"
	"github.com/bailiwick-dev/bailiwick/problem"
)

// Options configure a Sender. Base or Handler is required.
type Options struct {
	// Scheme, host and path prefix. With a Handler, only path and host are used, and "" means http://localhost.
	Base    string
	Handler http.Handler // responds in this process instead of the network
	// Added to every request. A CredentialSet adds the members that the request names. Nil adds none.
	Credential Credential
	// Hosts, or *.host for hosts below one, to which reads may be redirected without the credential.
	Downloads []string
	Headers   http.Header   // added to every request. They are not secrets
	Identity  *Certificate  // the certificate and the authorities of TLS connections, or nil to use only Roots
	Known     *KnownSecrets // credentials to mask in responses, shared with other APIs. Nil masks only the Sender's own
	Timeout   time.Duration // for one Send including its retries. 0 means 30 s
	MaxBody   int           // maximum bytes of a response body. 0 means 8 MiB
	Attempts  int           // maximum attempts of a request that changes nothing. 0 means 3
	Answers   *fair.Answers // the memory for responses, shared with other APIs. Nil means memory of the Sender's own

	Roots    *x509.CertPool // trusted certificates. Nil means the system's
	Trusted  *Certificate   // the authorities for Downloads, or nil to use Roots
	Resolver *net.Resolver  // nil means the system's resolver
}

// A Message is one request to send.
type Message struct {
	Request *calls.HTTPRequest
	Repeat  bool               // the request changes nothing and may be sent again
	Key     string             // the value of the header Idempotency-Key, or ""
	Who     identity.Principal // the principal whose credential is added

	// Redirected returns the request to send when a GET or HEAD that changes nothing is redirected. path and query
	// are percent-encoded and below the base URL. Its error, a problem.Error, ends the call. The error describes the
	// target as far as the principal may know it. If Redirected is nil, no redirect is followed.
	Redirected func(path, query string) (*calls.HTTPRequest, error)

	room *fair.Answer // the memory for the response
}

// ErrUnsure marks a write whose outcome is unknown. The write may have reached the API before time ran out, or the
// response was cut or unreadable. A write that fails with any other error was not carried out.
var ErrUnsure = problem.LoggableError("whether the request was carried out is not known")

// A Sender sends requests to one API. It is safe for concurrent use.
type Sender struct {
	o      Options
	base   *url.URL // scheme and host
	prefix string   // start of every path, percent-encoded, without a trailing slash

	signs atomic.Pointer[signer]

	reads, writes http.RoundTripper
	close         func()
}

// A signer contains the current credential, or nil.
type signer struct{ Credential }

// Use replaces the credential of all further requests with c, as Options.Credential does. The previous credential
// stays masked in responses.
func (s *Sender) Use(c Credential) {
	if h, ok := c.(CredentialHolder); ok {
		s.o.Known.Add(h.Secrets()...)
	}
	if former := s.signs.Swap(&signer{c}); former != nil {
		former.close()
	}
}

// close closes idle connections to the credential's servers.
func (s *signer) close() {
	if c, ok := s.Credential.(interface{ Close() }); ok {
		c.Close()
	}
}

// of returns the credential for one request.
func (s *Sender) of(r *calls.HTTPRequest) Credential {
	return CredentialFor(s.signs.Load().Credential, r.Credentials)
}

// Mask adds secrets to mask in responses.
func (s *Sender) Mask(secrets ...string) { s.o.Known.Add(secrets...) }

// New returns a Sender. It resolves the host of the API (see edge.GuardedTransport) and sends no request.
func New(o Options) (*Sender, error) {
	if o.Handler != nil {
		o.Base = cmp.Or(o.Base, "http://localhost")
	}
	base, err := edge.ParseURL(o.Base)
	if err != nil {
		return nil, fmt.Errorf("the base URL %w", err)
	}
	o.Timeout, o.MaxBody, o.Attempts = cmp.Or(o.Timeout, 30*time.Second), cmp.Or(o.MaxBody, 8<<20), cmp.Or(o.Attempts, 3)
	if o.Known == nil {
		o.Known = &KnownSecrets{}
	}
	if o.Answers == nil {
		o.Answers = fair.NewAnswers(0, 0)
	}
	s := &Sender{o: o, base: &url.URL{Scheme: base.Scheme, Host: base.Host}, prefix: strings.TrimRight(base.EscapedPath(), "/")}
	s.Use(o.Credential)
	if climbs(s.prefix) {
		return nil, errors.New(`the base URL has a path with a segment "." or ".."`)
	}
	if o.Handler != nil {
		s.reads = &inProcess{handler: o.Handler, most: o.MaxBody}
		s.writes, s.close = s.reads, func() {}
		return s, nil
	}
	guard := edge.GuardOptions{Roots: o.Roots, Resolver: o.Resolver}
	if o.Identity != nil {
		guard.Identity = o.Identity.Current
	}
	reads := withWriteCounts(edge.GuardedTransport(base, guard))
	// The server can close an idle connection while a request is written to it. Then it is unknown whether the server
	// read the request. net/http also repeats a request with an Idempotency-Key on a new connection. So each write
	// uses a new connection.
	writes := reads.Clone()
	writes.DisableKeepAlives = true
	s.reads, s.writes, s.close = reads, writes, reads.CloseIdleConnections
	return s, nil
}

// Close closes idle connections, including those to the credential's servers. Requests in progress continue.
func (s *Sender) Close() {
	s.close()
	s.signs.Load().close()
}

// Whose returns the owners of the credentials that a request on behalf of a principal carries.
func (s *Sender) Whose(who identity.Principal, r *calls.HTTPRequest) []string {
	return owners(s.of(r), who)
}

// Send sends m and returns the API's response after reading it completely, with any status except 429. It retries a
// request that changes nothing if the connection failed or the status is 429, 502, 503 or 504. Send returns these
// errors:
//
//   - problem.InvalidArgument for a request that can't be sent,
//   - problem.PermissionDenied for a principal without a credential,
//   - problem.RateLimited with the time to wait,
//   - problem.Timeout, problem.Cancelled and problem.Upstream.
//
// Errors of writes with an unknown outcome wrap ErrUnsure. If the status of a write was read, Send returns a
// response. If the body is too large, or if there is no memory for it, the response omits the body and Unread
// contains the reason. The caller must close the response.
func (s *Sender) Send(ctx context.Context, m Message) (*calls.HTTPResponse, error) {
	at, err := s.target(m, m.Request)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, s.o.Timeout)
	defer cancel()
	ctx, step := trace.Start(ctx, "send")
	m.room, err = s.o.Answers.Begin(ctx, fair.Who{Tenant: m.Who.Tenant, Owner: m.Who.Account(), Credential: m.Who.Origin()})
	if err != nil {
		err = newFailure(ctx, err, false).problem
		trace.End(step, err)
		return nil, err
	}
	res, f := s.attempts(ctx, m, at)
	if f == nil {
		res.Free = m.room.Close
		trace.End(step, nil)
		return res, nil
	}
	m.room.Close()
	if f.sent && !m.Repeat {
		f.problem.Err = fmt.Errorf("%w: %w", ErrUnsure, f.problem.Err)
		f.problem.Suggestion = "Nobody knows whether it was carried out: look before it is sent again"
	}
	trace.End(step, f.problem)
	return nil, f.problem
}

// attempts sends m and retries it while retries are allowed and may help.
func (s *Sender) attempts(ctx context.Context, m Message, at *url.URL) (*calls.HTTPResponse, *failure) {
	for n := 1; ; n++ {
		res, f := s.follow(ctx, m, at)
		asked := retryAfter(res, time.Now())
		if !again(res, f) {
			return res, f
		}
		if !m.Repeat || n >= s.o.Attempts {
			return finalOutcome(res, f, asked)
		}
		wait := max(backoff(n), asked)
		if until, ok := ctx.Deadline(); ok && time.Until(until) <= wait {
			return finalOutcome(res, f, asked)
		}
		select {
		case <-time.After(wait):
		case <-ctx.Done():
			return nil, newFailure(ctx, ctx.Err(), false)
		}
	}
}

// target returns the URL of a message. It refuses requests that calls.BuildRequest would never return.
func (s *Sender) target(m Message, r *calls.HTTPRequest) (*url.URL, error) {
	if r == nil {
		return nil, &problem.Error{Code: problem.Internal, Detail: "Internal error", Kind: "no_request"}
	}
	switch r.Method {
	case "GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS":
	default: // TRACE echoes the credential, and CONNECT opens a tunnel
		return nil, refuse("", "the method %q can't be sent", problem.Cut(r.Method))
	}
	at, ok := s.under(s.prefix + r.Path)
	if !ok || !strings.HasPrefix(r.Path, "/") || strings.HasPrefix(s.prefix+r.Path, "//") {
		return nil, refuse("/path", "the path can't be sent")
	}
	if strings.ContainsFunc(r.Query, func(c rune) bool { return c <= ' ' || c > '~' || c == '#' }) {
		return nil, refuse("/query", "the query can't be sent")
	}
	at.RawQuery = r.Query
	for name, values := range r.Header {
		if spec.RefusedHeader(name) && name != "Accept" && name != "Content-Type" && name != "Cookie" || !isToken(name) {
			return nil, refuse("/headers", "the header %q can't be set", problem.Cut(name))
		}
		if !oneLine(values...) {
			return nil, refuse("/headers", "the header %s is a text of one line", problem.Cut(name))
		}
	}
	if !oneLine(m.Key) {
		return nil, refuse("", "an idempotency key is a text of one line")
	}
	return at, nil
}

// under returns the API's URL for path, which is percent-encoded and stays unchanged. It returns false if the path is
// not below the configured prefix, or if a server could read it as a path outside the prefix.
func (s *Sender) under(path string) (*url.URL, bool) {
	plain, err := url.PathUnescape(path)
	at := &url.URL{Scheme: s.base.Scheme, Host: s.base.Host, Path: plain, RawPath: path}
	within := path == s.prefix || strings.HasPrefix(path, s.prefix+"/")
	return at, err == nil && within && at.EscapedPath() == path && !climbs(path)
}

func climbs(path string) bool {
	for segment := range strings.SplitSeq(path, "/") {
		if calls.Climbs(segment) {
			return true
		}
	}
	return false
}
