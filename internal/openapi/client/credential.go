package client

import (
	"context"
	"encoding/base64"
	"net/http"
	"net/url"
	"strings"

	"github.com/bailiwick-dev/bailiwick/identity"
	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/value"
)

// A Credential authenticates request r on behalf of a principal. Apply may change only headers and the query. It is
// safe for concurrent use. Its errors are problem.PermissionDenied if the principal has no credential, and
// problem.Upstream if the credential can't be obtained now.
type Credential interface {
	Apply(ctx context.Context, who identity.Principal, r *http.Request) error
}

// A Renewer is a Credential that can be renewed. Renew is called when the API refuses the credential that Apply added
// to r (status 401). It reports whether the next Apply will use another credential.
type Renewer interface {
	Renew(who identity.Principal, r *http.Request) bool
}

// A named credential returns its owner for each principal, for the audit, such as "person ana@example.com". A
// credential that doesn't implement named belongs to the gateway.
type named interface {
	Whose(who identity.Principal) string
}

// Whose returns the owner of the credential c for a principal, or "" if there is no credential.
func Whose(c Credential, who identity.Principal) string {
	if c == nil {
		return ""
	}
	if n, ok := c.(named); ok {
		return n.Whose(who)
	}
	return "gateway"
}

// A HeaderCredential is a credential in a header, such as X-API-Key.
type HeaderCredential struct{ Name, Value string }

// BearerHeader returns token as an Authorization header.
func BearerHeader(token string) HeaderCredential {
	return HeaderCredential{"Authorization", "Bearer " + token}
}

// Apply implements Credential.
func (h HeaderCredential) Apply(_ context.Context, _ identity.Principal, r *http.Request) error {
	if h.Name == "" || h.Value == "" {
		return missing()
	}
	if strings.EqualFold(h.Name, "Cookie") {
		withCookies(r, h.Value)
		return nil
	}
	r.Header.Set(h.Name, h.Value)
	return nil
}

// Secrets implements CredentialHolder. The secrets of a cookie header are the values of the cookies.
func (h HeaderCredential) Secrets() []string {
	if !strings.EqualFold(h.Name, "Cookie") {
		return []string{secretOf(h.Value)}
	}
	var all []string
	for pair := range strings.SplitSeq(h.Value, ";") {
		if _, v, ok := strings.Cut(pair, "="); ok {
			all = append(all, strings.TrimSpace(v))
		}
	}
	return all
}

// withCookies adds cookies to a request. They replace cookies of the request with the same names.
func withCookies(r *http.Request, cookies string) {
	own := map[string]bool{}
	for pair := range strings.SplitSeq(cookies, ";") {
		name, _, _ := strings.Cut(pair, "=")
		own[strings.TrimSpace(name)] = true
	}
	var all []string
	for pair := range strings.SplitSeq(r.Header.Get("Cookie"), ";") {
		name, _, _ := strings.Cut(pair, "=")
		if pair = strings.TrimSpace(pair); pair != "" && !own[strings.TrimSpace(name)] {
			all = append(all, pair)
		}
	}
	r.Header.Set("Cookie", strings.Join(append(all, strings.TrimSpace(cookies)), "; "))
}

// CookieCredential is a credential in a cookie, such as a session. It replaces a cookie with the same name.
type CookieCredential struct{ Name, Value string }

// Apply implements Credential.
func (c CookieCredential) Apply(_ context.Context, _ identity.Principal, r *http.Request) error {
	if c.Name == "" || c.Value == "" {
		return missing()
	}
	withCookies(r, c.Name+"="+c.Value)
	return nil
}

// Secrets implements CredentialHolder.
func (c CookieCredential) Secrets() []string { return []string{c.Value} }

// BasicCredential is HTTP Basic authentication (RFC 7617).
type BasicCredential struct{ User, Password string }

// Apply implements Credential.
func (b BasicCredential) Apply(_ context.Context, _ identity.Principal, r *http.Request) error {
	if b == (BasicCredential{}) {
		return missing()
	}
	r.SetBasicAuth(b.User, b.Password)
	return nil
}

// Secrets implements CredentialHolder. Without a password, the user name is the secret.
func (b BasicCredential) Secrets() []string {
	all := []string{b.Password, base64.StdEncoding.EncodeToString([]byte(b.User + ":" + b.Password))}
	if b.Password == "" {
		all = append(all, b.User)
	}
	return all
}

// QueryCredential is a key in the query of the URL. It replaces query parameters with the same name.
type QueryCredential struct{ Name, Value string }

// Apply implements Credential.
func (q QueryCredential) Apply(_ context.Context, _ identity.Principal, r *http.Request) error {
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

// Secrets implements CredentialHolder.
func (q QueryCredential) Secrets() []string { return []string{q.Value} }

// PerMember names the property of a principal that selects its credential.
type PerMember string

// These properties can select a credential.
const (
	ByToken PerMember = "token" // the id of the gateway token that the principal presented
	ByOwner PerMember = "owner" // the person on whose behalf the principal acts
	ByClaim PerMember = "claim" // one of the principal's claims, a string or an integer
)

// PerPrincipal uses a separate credential for each principal. A principal without a credential is refused.
type PerPrincipal struct {
	By    PerMember
	Claim string                // the name of the claim, for ByClaim
	Of    map[string]Credential // by the value of the property
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

// Secrets implements CredentialHolder.
func (p PerPrincipal) Secrets() []string {
	var all []string
	for _, of := range p.Of {
		if h, ok := of.(CredentialHolder); ok {
			all = append(all, h.Secrets()...)
		}
	}
	return all
}

// Whose implements named.
func (p PerPrincipal) Whose(principal identity.Principal) string {
	if name := p.name(principal); name != "" {
		return string(p.By) + " " + name
	}
	return ""
}

func (p PerPrincipal) own(principal identity.Principal) Credential {
	name := p.name(principal)
	if name == "" {
		return nil
	}
	return p.Of[name]
}

// name returns the value of the property that selects a principal's credential, or "".
func (p PerPrincipal) name(principal identity.Principal) string {
	switch p.By {
	case ByToken:
		return principal.TokenID
	case ByOwner:
		return principal.Owner
	case ByClaim:
		if c, _ := principal.Claims.Get(p.Claim); c.Kind() == value.String || c.Kind() == value.Int {
			return c.String()
		}
	}
	return ""
}

// missing returns the error for an empty credential. If the request were sent without a credential, the API might
// treat it as anonymous.
func missing() error {
	return &problem.Error{Code: problem.Internal, Detail: "Internal error", Kind: "empty_credential"}
}

func unavailable(kind string, err error) error {
	return &problem.Error{Code: problem.Upstream, Detail: "the gateway can't sign in to the API for now", Kind: kind, Err: err,
		Suggestion: "Try again later. If the error stays, tell the owner of the gateway"}
}
