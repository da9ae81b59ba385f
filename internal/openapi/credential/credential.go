// Package credential puts on requests to an HTTP API what shows the API who asks.
//
// It stands behind policy, below what sends: a credential is one of the configuration, or one that an embedding program
// gets for a principal. It is never the one that an agent came with, which ends at the gateway's door and which a
// Principal doesn't hold. A principal that has none is refused before anything is sent.
package credential

import (
	"context"
	"encoding/base64"
	"errors"
	"net/http"
	"net/url"
	"strings"

	"github.com/bailiwick-dev/bailiwick/identity"
	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/value"
)

// A Credential puts on r what shows an API that who asks. It changes headers or the query and nothing else. It is safe
// for use by several goroutines. Its errors are problem.PermissionDenied, where who has none, or problem.Upstream, where
// it can't be had for now.
type Credential interface {
	Apply(ctx context.Context, who identity.Principal, r *http.Request) error
}

// A Renewer is a Credential that can be got anew. Renew is told that the API did not accept what Apply put on r (status
// 401), and reports whether the next Apply puts something else.
type Renewer interface {
	Renew(who identity.Principal, r *http.Request) bool
}

// A Header is a credential in a header, as X-API-Key.
type Header struct{ Name, Value string }

// Bearer returns a token as the header Authorization has it.
func Bearer(token string) Header { return Header{"Authorization", "Bearer " + token} }

// Apply implements Credential.
func (h Header) Apply(_ context.Context, _ identity.Principal, r *http.Request) error {
	if h.Name == "" || h.Value == "" {
		return missing()
	}
	r.Header.Set(h.Name, h.Value)
	return nil
}

// Secrets implements Holder.
func (h Header) Secrets() []string { return []string{secretOf(h.Value)} }

// Basic is a name and a password in the header Authorization (RFC 7617).
type Basic struct{ User, Password string }

// Apply implements Credential.
func (b Basic) Apply(_ context.Context, _ identity.Principal, r *http.Request) error {
	if b == (Basic{}) {
		return missing()
	}
	r.SetBasicAuth(b.User, b.Password)
	return nil
}

// Secrets implements Holder. A name without a password is the secret.
func (b Basic) Secrets() []string {
	all := []string{b.Password, base64.StdEncoding.EncodeToString([]byte(b.User + ":" + b.Password))}
	if b.Password == "" {
		all = append(all, b.User)
	}
	return all
}

// Query is a key in the query of the URL. It takes the place of what the query has by that name.
type Query struct{ Name, Value string }

// Apply implements Credential.
func (q Query) Apply(_ context.Context, _ identity.Principal, r *http.Request) error {
	if q.Name == "" || q.Value == "" {
		return missing()
	}
	var pairs []string
	for pair := range strings.SplitSeq(r.URL.RawQuery, "&") {
		name, _, _ := strings.Cut(pair, "=")
		if plain, err := url.QueryUnescape(name); pair != "" && (err != nil || plain != q.Name) {
			pairs = append(pairs, pair)
		}
	}
	r.URL.RawQuery = strings.Join(append(pairs, url.QueryEscape(q.Name)+"="+url.QueryEscape(q.Value)), "&")
	return nil
}

// Secrets implements Holder.
func (q Query) Secrets() []string { return []string{q.Value} }

// By is what of a principal names its credential.
type By string

// What can name a credential.
const (
	ByToken By = "token" // the id of the token of ours that it came with
	ByOwner By = "owner" // the human on whose behalf it acts
	ByClaim By = "claim" // one of its claims, a text or an integer
)

// PerPrincipal gives each principal its own credential. One that has none is refused.
type PerPrincipal struct {
	By    By
	Claim string                // the name of the claim, for ByClaim
	Of    map[string]Credential // by the text that By names
}

// Apply implements Credential.
func (p PerPrincipal) Apply(ctx context.Context, principal identity.Principal, r *http.Request) error {
	own := p.own(principal)
	if own == nil {
		return &problem.Error{Code: problem.PermissionDenied, Detail: "you have no credential for this API", Kind: "no_credential",
			Suggestion: "Ask the owner of the gateway for one"}
	}
	return own.Apply(ctx, principal, r)
}

// Renew implements Renewer.
func (p PerPrincipal) Renew(principal identity.Principal, r *http.Request) bool {
	own, ok := p.own(principal).(Renewer)
	return ok && own.Renew(principal, r)
}

// Secrets implements Holder.
func (p PerPrincipal) Secrets() []string {
	var all []string
	for _, of := range p.Of {
		if h, ok := of.(Holder); ok {
			all = append(all, h.Secrets()...)
		}
	}
	return all
}

func (p PerPrincipal) own(principal identity.Principal) Credential {
	var name string
	switch p.By {
	case ByToken:
		name = principal.TokenID
	case ByOwner:
		name = principal.Owner
	case ByClaim:
		if c, _ := principal.Claims.Get(p.Claim); c.Kind() == value.String || c.Kind() == value.Int {
			name = c.String()
		}
	}
	if name == "" {
		return nil
	}
	return p.Of[name]
}

// Exchange is how an embedding program gets a principal's token for the API, as by RFC 8693. It is asked at every
// request, so it keeps tokens itself. An error that is no problem.Error is shown to nobody.
type Exchange func(ctx context.Context, who identity.Principal) (token string, err error)

// Apply implements Credential.
func (e Exchange) Apply(ctx context.Context, principal identity.Principal, r *http.Request) error {
	if e == nil {
		return missing()
	}
	token, err := e(ctx, principal)
	if err != nil {
		if p, ok := errors.AsType[*problem.Error](err); ok {
			return p
		}
		return unavailable("exchange", err)
	}
	if token == "" {
		return missing()
	}
	return Bearer(token).Apply(ctx, principal, r)
}

// missing refuses a credential that is empty: without one, an API may answer as to anybody.
func missing() error {
	return &problem.Error{Code: problem.Internal, Detail: "Internal error", Kind: "empty_credential"}
}

func unavailable(kind string, err error) error {
	return &problem.Error{Code: problem.Upstream, Detail: "the gateway can't sign in to the API for now", Kind: kind, Err: err,
		Suggestion: "Try again later; if it stays, tell the owner of the gateway"}
}
