package client

import (
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"net/http"
	"net/url"
	"slices"
	"sync"

	"golang.org/x/oauth2/clientcredentials"

	"github.com/bailiwick-dev/bailiwick/identity"
	"github.com/bailiwick-dev/bailiwick/problem"
)

// ExchangeFunc returns a principal's token for the API, for example by RFC 8693. An embedding program provides it. It
// is called for every request, so it should cache tokens. An error that is not a problem.Error is logged and not
// shown.
type ExchangeFunc func(ctx context.Context, who identity.Principal) (token string, err error)

// Apply implements Credential.
func (e ExchangeFunc) Apply(ctx context.Context, principal identity.Principal, r *http.Request) error {
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
	return BearerHeader(token).Apply(ctx, principal, r)
}

// Whose implements named.
func (e ExchangeFunc) Whose(who identity.Principal) string { return "program for " + who.Account() }

// HeaderFunc returns the headers that authenticate a principal's requests. For example, an embedding program returns
// the headers that it uses for the same person. HeaderFunc is called for every request. An error that is not a
// problem.Error is logged and not shown.
type HeaderFunc func(ctx context.Context, who identity.Principal) (http.Header, error)

// Apply implements Credential. It refuses headers that frame a message and headers that the gateway sets.
func (h HeaderFunc) Apply(ctx context.Context, who identity.Principal, r *http.Request) error {
	if h == nil {
		return missing()
	}
	given, err := h(ctx, who)
	if err != nil {
		if p, ok := errors.AsType[*problem.Error](err); ok {
			return p
		}
		return unavailable("headers", err)
	}
	if len(given) == 0 {
		return missing()
	}
	reserved := []string{"Host", "Connection", "Content-Length", "Content-Type", "Content-Encoding", "Transfer-Encoding", "Upgrade", "Te", "Trailer", "Idempotency-Key"}
	for name, values := range given {
		name = http.CanonicalHeaderKey(name)
		if slices.Contains(reserved, name) {
			return unavailable("headers", problem.LoggableError("the header "+name+" can't be a credential"))
		}
		r.Header[name] = slices.Clone(values)
	}
	return nil
}

// Whose implements named.
func (h HeaderFunc) Whose(who identity.Principal) string { return "program for " + who.Account() }

// A SubjectToken returns a token of the person on whose behalf a principal acts. It also returns the token's type as
// RFC 8693 names it. "" means urn:ietf:params:oauth:token-type:access_token. Its errors are those of
// Credential.Apply.
type SubjectToken func(ctx context.Context, who identity.Principal) (token, kind string, err error)

// A TokenExchange is a credential that exchanges the subject token of a principal for a token of the API (RFC 8693).
// It caches tokens in memory by subject token, so no principal gets another principal's token.
type TokenExchange struct {
	options OAuthClientOptions
	subject SubjectToken
	http    *http.Client

	mu   sync.Mutex
	kept map[[sha256.Size]byte]*OAuthClient // by subject token
}

// maxExchangeTokens is the maximum number of exchanged tokens in the cache.
const maxExchangeTokens = 10_000

// NewTokenExchange returns a TokenExchange at o.TokenURL for the tokens that subject returns. o.ID and o.Secret
// identify the client. o.Params contains audience and resource.
func NewTokenExchange(o OAuthClientOptions, subject SubjectToken) (*TokenExchange, error) {
	if subject == nil {
		return nil, errors.New("a token exchange needs a subject")
	}
	one, err := NewOAuthClient(o)
	if err != nil {
		return nil, err
	}
	return &TokenExchange{options: o, subject: subject, http: one.http, kept: map[[sha256.Size]byte]*OAuthClient{}}, nil
}

// client returns the OAuthClient for the subject token of a principal.
func (e *TokenExchange) client(ctx context.Context, who identity.Principal) (*OAuthClient, error) {
	token, kind, err := e.subject(ctx, who)
	if err != nil {
		if p, ok := errors.AsType[*problem.Error](err); ok {
			return nil, p
		}
		return nil, unavailable("exchange", err)
	}
	if token == "" {
		return nil, missing()
	}
	kind = cmp.Or(kind, "urn:ietf:params:oauth:token-type:access_token")
	sum := sha256.Sum256([]byte(kind + " " + token))
	e.mu.Lock()
	defer e.mu.Unlock()
	c := e.kept[sum]
	if c == nil {
		if len(e.kept) >= maxExchangeTokens {
			clear(e.kept)
		}
		params := url.Values{"grant_type": {"urn:ietf:params:oauth:grant-type:token-exchange"}, "subject_token": {token}, "subject_token_type": {kind}}
		for name, values := range e.options.Params {
			params[name] = values
		}
		c = &OAuthClient{http: e.http, asking: make(chan struct{}, 1), config: clientcredentials.Config{ClientID: e.options.ID, ClientSecret: e.options.Secret,
			TokenURL: e.options.TokenURL, Scopes: e.options.Scopes, EndpointParams: params}}
		e.kept[sum] = c
	}
	return c, nil
}

// Apply implements Credential.
func (e *TokenExchange) Apply(ctx context.Context, who identity.Principal, r *http.Request) error {
	c, err := e.client(ctx, who)
	if err != nil {
		return err
	}
	return c.Apply(ctx, who, r)
}

// Renew implements Renewer. It drops the token that r carries.
func (e *TokenExchange) Renew(who identity.Principal, r *http.Request) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, c := range e.kept {
		c.Renew(who, r)
	}
	return true
}

// Whose implements named.
func (e *TokenExchange) Whose(who identity.Principal) string { return "exchanged for " + who.Account() }

// Secrets implements CredentialHolder.
func (e *TokenExchange) Secrets() []string { return []string{e.options.Secret} }

// Close closes idle connections.
func (e *TokenExchange) Close() { e.http.CloseIdleConnections() }
