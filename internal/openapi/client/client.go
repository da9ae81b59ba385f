package client

import (
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"sync"
	"time"

	"golang.org/x/oauth2"
	"golang.org/x/oauth2/clientcredentials"

	"github.com/bailiwick-dev/bailiwick/identity"
	"github.com/bailiwick-dev/bailiwick/internal/edge"
	"github.com/bailiwick-dev/bailiwick/problem"
)

// OAuthClientOptions configure tokens obtained with OAuth 2.0 client credentials (RFC 6749, section 4.4). TokenURL, ID and
// Secret are required.
type OAuthClientOptions struct {
	TokenURL   string
	ID, Secret string
	Scopes     []string
	Params     url.Values     // further request parameters, such as audience
	Roots      *x509.CertPool // trusted certificates for the token URL. Nil means the system's
	Trusted    *Certificate   // replaces Roots, and is read again when its files change, or nil
	Resolver   *net.Resolver  // nil means the system's resolver
}

// OAuthClient is a credential that obtains a token with client credentials. It caches the token until shortly before
// the token expires, and replaces it when the API refuses it.
type OAuthClient struct {
	config clientcredentials.Config
	http   *http.Client
	asking chan struct{} // a semaphore: only one goroutine requests a token at a time

	mu    sync.Mutex
	token string
	until time.Time // when to replace the token. Zero if unknown
}

const (
	askTimeout = 15 * time.Second
	margin     = 30 * time.Second // before a token expires, or a fifth of its lifetime if that is shorter
)

// NewOAuthClient returns an OAuthClient. It doesn't request a token yet. It resolves the host of the token URL, and
// uses edge.GuardedTransport for it.
func NewOAuthClient(o OAuthClientOptions) (*OAuthClient, error) {
	u, err := edge.ParseURL(o.TokenURL)
	if err != nil {
		return nil, fmt.Errorf("the token URL %w", err)
	}
	if o.ID == "" || o.Secret == "" {
		return nil, errors.New("client credentials have an id and a secret")
	}
	guard := edge.GuardOptions{Roots: o.Roots, Resolver: o.Resolver}
	if o.Trusted != nil {
		guard.Identity = o.Trusted.Current
	}
	return &OAuthClient{
		config: clientcredentials.Config{ClientID: o.ID, ClientSecret: o.Secret, TokenURL: u.String(), Scopes: o.Scopes, EndpointParams: o.Params},
		http: &http.Client{Transport: edge.GuardedTransport(u, guard),
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }},
		asking: make(chan struct{}, 1),
	}, nil
}

// Apply implements Credential.
func (c *OAuthClient) Apply(ctx context.Context, _ identity.Principal, r *http.Request) error {
	token := c.cachedToken()
	if token == "" {
		var err error
		if token, err = c.ask(ctx); err != nil {
			return err
		}
	}
	r.Header.Set("Authorization", "Bearer "+token)
	return nil
}

// Renew implements Renewer. It drops the token that r carries, unless the token was already replaced.
func (c *OAuthClient) Renew(_ identity.Principal, r *http.Request) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if r.Header.Get("Authorization") == "Bearer "+c.token {
		c.token = ""
	}
	return true
}

// Secrets implements CredentialHolder.
func (c *OAuthClient) Secrets() []string { return []string{c.config.ClientSecret} }

// Close closes idle connections.
func (c *OAuthClient) Close() { c.http.CloseIdleConnections() }

// cachedToken returns the cached token, or "" if there is none or it expires soon.
func (c *OAuthClient) cachedToken() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.until.IsZero() && !time.Now().Before(c.until) {
		c.token = ""
	}
	return c.token
}

// ask obtains a token. Only one goroutine requests it at a time. The others wait and use the result.
func (c *OAuthClient) ask(ctx context.Context) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, askTimeout)
	defer cancel()
	select {
	case c.asking <- struct{}{}:
		defer func() { <-c.asking }()
	case <-ctx.Done():
		return "", unavailable("token_wait", ctx.Err())
	}
	if token := c.cachedToken(); token != "" {
		return token, nil
	}
	begun := time.Now()
	t, err := c.config.Token(context.WithValue(ctx, oauth2.HTTPClient, c.http))
	if err != nil {
		return "", tokenRequestError(err)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.token, c.until = t.AccessToken, time.Time{}
	if !t.Expiry.IsZero() {
		life := t.Expiry.Sub(begun)
		c.until = t.Expiry.Add(-min(margin, life/5))
	}
	return t.AccessToken, nil
}

// tokenRequestError returns the error for a failed token request. It omits the response, which can repeat the secret.
func tokenRequestError(err error) error {
	if e, ok := errors.AsType[*oauth2.RetrieveError](err); ok {
		return unavailable("token_refused", problem.LoggableError(fmt.Sprintf("the token URL answered %d", e.Response.StatusCode)))
	}
	if e, ok := errors.AsType[*url.Error](err); ok {
		return unavailable("token_unreachable", e.Err)
	}
	return unavailable("token_malformed", problem.LoggableError("the answer of the token URL has no token"))
}
