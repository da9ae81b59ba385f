// Package connect stores the connections of people with HTTP APIs. A connection consists of OAuth 2.0 tokens that a
// person obtained once, with an authorization code. Agents that act for that person use them.
//
// A connection belongs to one source and one person of one tenant. Its tokens are sealed in the store with a key from
// the configuration. They are bound to the source, person and provider, so a row copied to another place can't be
// opened. One process at a time refreshes tokens, because many providers revoke a connection whose refresh token is
// used twice.
package connect

import (
	"cmp"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"net"
	"net/http"
	"net/url"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/oauth2"

	"github.com/bailiwick-dev/bailiwick/identity"
	"github.com/bailiwick-dev/bailiwick/internal/edge"
	"github.com/bailiwick-dev/bailiwick/internal/once"
	"github.com/bailiwick-dev/bailiwick/problem"
)

// A Key names a connection. Person is in canonical form (identity.Person) and not empty.
type Key struct{ Source, Tenant, Person string }

// A Row is a connection as a store contains it.
type Row struct {
	Key
	Version int64 // differs for every content. 0 means that the row doesn't exist
	Busy    bool  // a process is refreshing the tokens
	Ended   bool  // the person is disconnected, but the tokens must still be revoked at the provider
	Changed time.Time
	Sealed  []byte
}

// A Store contains connections, for all processes that share it. It is safe for use by several goroutines.
type Store interface {
	// Connection returns a connection. If there is none, Version is 0.
	Connection(context.Context, Key) (Row, error)
	// Connections returns all connections, in any order.
	Connections(context.Context) ([]Row, error)
	// SwapConnection replaces the version was with r. If was is 0, it adds the connection. It returns false if was is
	// not the current version. If r.Sealed is nil, it removes the connection. It sets Changed.
	SwapConnection(ctx context.Context, was int64, r Row) (bool, error)
}

// A Provider is the OAuth 2.0 authorization server of one source, with the gateway's client at that server.
type Provider struct {
	AuthorizeURL, TokenURL string
	RevokeURL              string // RFC 7009, or ""
	Issuer                 string // the required value of "iss" in answers (RFC 9207), or "" if the provider sends none
	ID, Secret             string // an empty Secret means a public client
	InBody                 bool   // the client authenticates in the body of requests instead of a header
	Scopes                 []string
	Params                 map[string]string // additional parameters of the authorization request

	Roots    *x509.CertPool                            // trusted certificates. Nil means the system's
	Identity func() (*tls.Certificate, *x509.CertPool) // the same as in edge.GuardOptions, or nil to use Roots
	Resolver *net.Resolver                             // nil means the system's resolver
}

// Options configure Connections. All fields except Previous, Patience and Now are required.
type Options struct {
	Store    Store
	Used     once.Store
	Key      []byte        // 32 bytes, the same in all processes that share the store
	Previous []byte        // the previous Key, which still opens tokens sealed with it, or nil
	Page     func() string // returns the URL at which people connect
	Patience time.Duration // maximum time for a process to refresh tokens before another process does. 0 means 20 s
	Now      func() time.Time
}

// Connections contains the connections of all sources of one gateway. It is safe for concurrent use.
type Connections struct {
	o        Options
	boxes    []box // the first box seals
	accounts map[string]*Account
	log      atomic.Pointer[slog.Logger]
}

// New returns Connections without any source.
func New(o Options) (*Connections, error) {
	if o.Store == nil || o.Used == nil || o.Page == nil {
		return nil, errors.New("connect: Store, Used and Page must be set")
	}
	o.Patience = cmp.Or(o.Patience, patience)
	if o.Now == nil {
		o.Now = time.Now
	}
	c := &Connections{o: o, accounts: map[string]*Account{}}
	c.log.Store(slog.Default())
	for _, key := range [][]byte{o.Key, o.Previous} {
		if key == nil && c.boxes != nil {
			continue
		}
		b, err := newBox(key)
		if err != nil {
			return nil, err
		}
		c.boxes = append(c.boxes, b)
	}
	return c, nil
}

// An Account is the credential of a source to which each person connects an account. Requests carry the tokens of the
// person that a principal acts for. It implements client.Credential, client.Renewer and client.CredentialHolder.
type Account struct {
	source   string
	provider Provider
	http     *http.Client
	all      *Connections

	mu      sync.Mutex
	refused map[Key]string // the access token that the API refused, by connection
}

// Add adds a source. It must not be called after the Connections are in use. It resolves the host of the token URL,
// uses edge.GuardedTransport for it, and sends no request.
func (c *Connections) Add(source string, p Provider) (*Account, error) {
	u, err := edge.ParseURL(p.TokenURL)
	if err != nil {
		return nil, fmt.Errorf("the token URL %w", err)
	}
	if _, err := edge.ParseURL(p.AuthorizeURL); err != nil {
		return nil, fmt.Errorf("the authorization URL %w", err)
	}
	if p.RevokeURL != "" {
		revoke, err := edge.ParseURL(p.RevokeURL)
		if err != nil {
			return nil, fmt.Errorf("the revocation URL %w", err)
		}
		if revoke.Scheme != u.Scheme || revoke.Host != u.Host {
			return nil, errors.New("the revocation URL is on another host than the token URL")
		}
	}
	if p.ID == "" {
		return nil, errors.New("the client id is missing")
	}
	for _, own := range []string{"state", "redirect_uri", "response_type", "client_id", "scope", "code_challenge", "code_challenge_method"} {
		if _, given := p.Params[own]; given {
			return nil, fmt.Errorf("the parameter %s is set by the gateway", own)
		}
	}
	a := &Account{source: source, provider: p, all: c, refused: map[Key]string{},
		http: &http.Client{Transport: edge.GuardedTransport(u, edge.GuardOptions{Roots: p.Roots, Resolver: p.Resolver, Identity: p.Identity}), Timeout: askTimeout,
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}}
	c.accounts[source] = a
	return a, nil
}

// config returns the OAuth 2.0 client that redirects to the URL back.
func (a *Account) config(back string) *oauth2.Config {
	style := oauth2.AuthStyleInHeader
	if a.provider.InBody || a.provider.Secret == "" {
		style = oauth2.AuthStyleInParams
	}
	return &oauth2.Config{ClientID: a.provider.ID, ClientSecret: a.provider.Secret, RedirectURL: back, Scopes: a.provider.Scopes,
		Endpoint: oauth2.Endpoint{AuthURL: a.provider.AuthorizeURL, TokenURL: a.provider.TokenURL, AuthStyle: style}}
}

// with returns a context for the functions of package oauth2, so that they send requests with the Account's client.
func (a *Account) with(ctx context.Context) context.Context {
	return context.WithValue(ctx, oauth2.HTTPClient, a.http)
}

// key returns the key of the connection that p uses.
func (a *Account) key(p identity.Principal) (Key, error) {
	k := Key{a.source, p.Tenant, p.Person()}
	if k.Person == "" {
		return k, &problem.Error{Code: problem.PermissionDenied, Kind: "no_person", Detail: "you act for no person, and this API is called with the account of one",
			Suggestion: "Ask the owner of the gateway for a token with an owner"}
	}
	return k, nil
}

// A Connection is the part of an account at one source that a person sees.
type Connection struct {
	Source string
	At     string    // the host at which the person signs in
	Since  time.Time // when the person connected, or zero if they are not connected
	Over   bool      // the connection has ended, because its only token has expired and can't be refreshed
}

// List returns the connections of a person, and the sources to which they can connect, ordered by source.
func (c *Connections) List(ctx context.Context, p identity.Principal) ([]Connection, error) {
	var out []Connection
	for _, name := range slices.Sorted(maps.Keys(c.accounts)) {
		a := c.accounts[name]
		one := Connection{Source: name}
		if u, err := url.Parse(a.provider.AuthorizeURL); err == nil {
			one.At = u.Host
		}
		k, err := a.key(p)
		if err != nil {
			return nil, err
		}
		row, err := c.o.Store.Connection(ctx, k)
		if err != nil {
			return nil, storeError(err)
		}
		if t, err := c.open(row); err == nil && !row.Ended {
			if one.Over = t.Refresh == "" && !a.good(k, t); !one.Over {
				one.Since = t.Since
			}
		}
		out = append(out, one)
	}
	return out, nil
}

// Close closes idle connections.
func (c *Connections) Close() {
	for _, a := range c.accounts {
		a.Close()
	}
}

// Close closes the idle connections of a.
func (a *Account) Close() { a.http.CloseIdleConnections() }

func storeError(err error) error {
	return problem.StoreError("connection_store", err)
}
