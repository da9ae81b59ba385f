// Package client sends the requests of package request to one HTTP API, and reads what it answers.
//
// It stands behind policy: it takes a request that was checked and permitted, and puts the asker's credential on it. It
// sends to the scheme, host, port and path prefix of the configuration alone, whatever addresses its name leads to later
// on, and wherever the API redirects. It refuses headers that are the gateway's, paths that climb, answers that are too
// large, too slow or that never end. Credentials that an answer repeats are masked before anybody reads it. What changes nothing is tried again; a write is sent once, over a connection of its
// own, and where nobody knows what became of it, the error says so (ErrUnsure).
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
	"time"

	"github.com/bailiwick-dev/bailiwick/identity"
	"github.com/bailiwick-dev/bailiwick/internal/netguard"
	"github.com/bailiwick-dev/bailiwick/internal/openapi/credential"
	"github.com/bailiwick-dev/bailiwick/internal/openapi/request"
	"github.com/bailiwick-dev/bailiwick/internal/openapi/visible"
	"github.com/bailiwick-dev/bailiwick/internal/trace"
	"github.com/bailiwick-dev/bailiwick/problem"
)

// Options say where an API is and how it is called. Base or Handler is needed.
type Options struct {
	Base       string                // scheme, host and path prefix; with a Handler only its path and host count, and "" is http://localhost
	Handler    http.Handler          // answers in this process, in place of the network
	Credential credential.Credential // put on every request; nil puts none
	Known      *credential.Known     // credentials that no answer holds when it leaves, shared with other APIs; nil knows the own alone
	Timeout    time.Duration         // for one Send with all it repeats; 0 takes 30 s
	MaxBody    int                   // the most bytes of an answer's body; 0 takes 8 MiB
	Attempts   int                   // how often what changes nothing is sent; 0 takes 3

	Roots    *x509.CertPool // whose certificates are believed; nil takes the system's
	Resolver *net.Resolver  // nil takes the system's
}

// A Message is one request to be sent.
type Message struct {
	Request *request.Request
	Repeat  bool               // it changes nothing: it may be sent again
	Key     string             // the header Idempotency-Key; "" for none
	Who     identity.Principal // whose credential is put on it

	// Redirected returns what is sent where a GET or HEAD that changes nothing is redirected: to path and query,
	// percent-encoded, below the base URL. Its error, a problem.Error, says where that is as far as Who may know, and ends
	// the call. Nil follows nothing.
	Redirected func(path, query string) (*request.Request, error)
}

// A Response is what an API answered, whatever its status.
type Response struct {
	Request   *request.Request // that it answers: of the Message, or what Redirected returned
	Status    int
	Header    http.Header // without cookies
	MediaType string      // lower case, without parameters; "" for none
	Body      []byte      // decompressed
}

// Unsure reports whether the status leaves open if a write was carried out: the API broke down on it, or what stands
// before the API lost its answer.
func (r *Response) Unsure() bool {
	return r.Status == http.StatusRequestTimeout || r.Status >= 500 && r.Status != http.StatusNotImplemented && r.Status != http.StatusHTTPVersionNotSupported
}

// ErrUnsure says that a write may have reached the API and that its outcome is not known: it was sent, and then time ran
// out, or the answer was cut, or could not be read. A write that fails in any other way was certainly not carried out.
var ErrUnsure = problem.Said("whether the request was carried out is not known")

// A Sender sends to one API. It is safe for use by several goroutines.
type Sender struct {
	o      Options
	base   *url.URL // scheme and host
	prefix string   // what each path begins with, percent-encoded, without a slash at its end

	reads, writes http.RoundTripper
	close         func()
}

// New returns a Sender. It looks up the host of the API (see public.Transport), and sends nothing.
func New(o Options) (*Sender, error) {
	if o.Handler != nil {
		o.Base = cmp.Or(o.Base, "http://localhost")
	}
	base, err := netguard.Parse(o.Base)
	if err != nil {
		return nil, fmt.Errorf("the base URL %w", err)
	}
	o.Timeout, o.MaxBody, o.Attempts = cmp.Or(o.Timeout, 30*time.Second), cmp.Or(o.MaxBody, 8<<20), cmp.Or(o.Attempts, 3)
	if o.Known == nil {
		o.Known = &credential.Known{}
	}
	if h, ok := o.Credential.(credential.Holder); ok {
		o.Known.Add(h.Secrets()...)
	}
	s := &Sender{o: o, base: &url.URL{Scheme: base.Scheme, Host: base.Host}, prefix: strings.TrimRight(base.EscapedPath(), "/")}
	if climbs(s.prefix) {
		return nil, errors.New(`the base URL has a path with a segment "." or ".."`)
	}
	if o.Handler != nil {
		s.reads = &inProcess{handler: o.Handler, most: o.MaxBody}
		s.writes, s.close = s.reads, func() {}
		return s, nil
	}
	reads := counted(netguard.Transport(base, netguard.Options{Roots: o.Roots, Resolver: o.Resolver}))
	// A connection that was kept can be closed while a request is written to it: then nobody knows if it was read. And
	// net/http itself repeats on a new one what has an Idempotency-Key. A write waits for a connection of its own instead.
	writes := reads.Clone()
	writes.DisableKeepAlives = true
	s.reads, s.writes, s.close = reads, writes, reads.CloseIdleConnections
	return s, nil
}

// Close ends the connections that are kept. Requests that are under way go on.
func (s *Sender) Close() { s.close() }

// Send sends m and returns what the API answered, whatever its status but 429, once the answer was read whole. What
// changes nothing is sent again where the connection failed or the status says that it may help (429, 502, 503, 504).
// The errors are problem.InvalidArgument for a request that can't be sent, problem.PermissionDenied for a principal
// without a credential, problem.RateLimited with the time to wait, problem.Timeout, problem.Cancelled and
// problem.Upstream; see ErrUnsure for those of writes.
func (s *Sender) Send(ctx context.Context, m Message) (*Response, error) {
	at, err := s.target(m, m.Request)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, s.o.Timeout)
	defer cancel()
	ctx, step := trace.Start(ctx, "send")
	res, f := s.attempts(ctx, m, at)
	if f == nil {
		trace.End(step, nil)
		return res, nil
	}
	if f.sent && !m.Repeat {
		f.problem.Err = fmt.Errorf("%w: %w", ErrUnsure, f.problem.Err)
		f.problem.Suggestion = "Nobody knows whether it was carried out: look before it is sent again"
	}
	trace.End(step, f.problem)
	return nil, f.problem
}

// attempts sends m as often as it may and need be.
func (s *Sender) attempts(ctx context.Context, m Message, at *url.URL) (*Response, *failure) {
	for n := 1; ; n++ {
		res, f := s.follow(ctx, m, at)
		asked := retryAfter(res, time.Now())
		if !again(res, f) {
			return res, f
		}
		if !m.Repeat || n >= s.o.Attempts {
			return ended(res, f, asked)
		}
		wait := max(backoff(n), asked)
		if until, ok := ctx.Deadline(); ok && time.Until(until) <= wait {
			if asked > 0 {
				return nil, limited(asked)
			}
			return ended(res, f, asked)
		}
		select {
		case <-time.After(wait):
		case <-ctx.Done():
			return nil, broken(ctx, ctx.Err(), false)
		}
	}
}

// target returns the URL of a message, and refuses what Build doesn't build.
func (s *Sender) target(m Message, r *request.Request) (*url.URL, error) {
	if r == nil {
		return nil, &problem.Error{Code: problem.Internal, Detail: "Internal error", Kind: "no_request"}
	}
	switch r.Method {
	case "GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS":
	default: // TRACE shows the credential, CONNECT leads elsewhere
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
		if visible.Refused(name) && name != "Accept" && name != "Content-Type" || !isToken(name) {
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

// under returns the URL of the API with this path, percent-encoded, as it is; false where the path is not under the
// prefix of the configuration, or could be read as one that isn't.
func (s *Sender) under(path string) (*url.URL, bool) {
	plain, err := url.PathUnescape(path)
	at := &url.URL{Scheme: s.base.Scheme, Host: s.base.Host, Path: plain, RawPath: path}
	within := path == s.prefix || strings.HasPrefix(path, s.prefix+"/")
	return at, err == nil && within && at.EscapedPath() == path && !climbs(path)
}

func climbs(path string) bool {
	for segment := range strings.SplitSeq(path, "/") {
		if request.Climbs(segment) {
			return true
		}
	}
	return false
}
