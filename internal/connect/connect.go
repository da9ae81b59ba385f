// Package connect keeps the connections of people with HTTP APIs. These are OAuth 2.0 tokens that a person obtained
// once, with an authorization code. Agents that act for that person use them.
//
// A connection belongs to one source and one person of one tenant. Its tokens are sealed in the store with a key of the
// configuration, for that source, person and provider only. So a row that was copied to another place can't be opened.
// One process at a time refreshes tokens, because many providers revoke a connection whose refresh token is used twice.
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

// A Row is a connection as a store keeps it.
type Row struct {
	Key
	Version int64 // differs for every content, or 0 for a row that doesn't exist
	Busy    bool  // a process is refreshing the tokens
	Ended   bool  // the person is disconnected. The tokens are still to be revoked at the provider
	Changed time.Time
	Sealed  []byte
}

// A Store keeps connections, for all processes that share it. It is safe for use by several goroutines.
type Store interface {
	// Connection returns a connection. The zero Version means that there is none.
	Connection(context.Context, Key) (Row, error)
	// Connections returns all connections, in any order.
	Connections(context.Context) ([]Row, error)
	// SwapConnection replaces the version was, or 0 for none, by r. It reports whether was is still the current
	// version. It removes the connection if r.Sealed is nil. It sets Changed.
	SwapConnection(ctx context.Context, was int64, r Row) (bool, error)
}

// A Provider is the OAuth 2.0 authorization server of one source, and the client that the gateway is there.
type Provider struct {
	AuthorizeURL, TokenURL string
	RevokeURL              string // RFC 7009, or ""
	Issuer                 string // what "iss" in answers has to be (RFC 9207), or "" if the provider sends none
	ID, Secret             string // an empty Secret means a public client
	InBody                 bool   // the client authenticates in the body of requests, instead of in a header
	Scopes                 []string
	Params                 map[string]string // further parameters of the authorization request

	Roots    *x509.CertPool                            // trusted certificates. Nil is the system's
	Identity func() (*tls.Certificate, *x509.CertPool) // as in edge.GuardOptions, or nil for Roots
	Resolver *net.Resolver                             // nil is the system's
}

// Options configure Connections. All but Previous, Patience and Now are required.
type Options struct {
	Store    Store
	Used     once.Store
	Key      []byte        // 32 bytes, the same in all processes that share the store
	Previous []byte        // the former Key, which still opens what it sealed, or nil
	Page     func() string // the URL where people connect
	Patience time.Duration // how long a process that refreshes tokens may take before another one does. 0 is 20 s
	Now      func() time.Time
}

// Connections are the connections of all sources of one gateway. It is safe for concurrent use.
type Connections struct {
	o        Options
	boxes    []box // the first seals
	accounts map[string]*Account
	log      atomic.Pointer[slog.Logger]
}

// New returns Connections without sources.
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

// An Account is the credential of a source to which each person connects. Requests carry the tokens of the person that
// a principal acts for. It implements credential.Credential, credential.Renewer and credential.Holder.
type Account struct {
	source   string
	provider Provider
	http     *http.Client
	all      *Connections

	mu      sync.Mutex
	refused map[Key]string // the access token that the API refused
}

// Add adds a source. It must not be called once the Connections are in use. It resolves the host of the token URL, which
// edge.GuardedTransport protects, and sends nothing.
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

// config returns the OAuth 2.0 client, whose answers lead back to the URL back.
func (a *Account) config(back string) *oauth2.Config {
	style := oauth2.AuthStyleInHeader
	if a.provider.InBody || a.provider.Secret == "" {
		style = oauth2.AuthStyleInParams
	}
	return &oauth2.Config{ClientID: a.provider.ID, ClientSecret: a.provider.Secret, RedirectURL: back, Scopes: a.provider.Scopes,
		Endpoint: oauth2.Endpoint{AuthURL: a.provider.AuthorizeURL, TokenURL: a.provider.TokenURL, AuthStyle: style}}
}

// with returns ctx for the functions of oauth2, which send their requests with the Account's client.
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

// A Connection is what a person sees of their account at one source.
type Connection struct {
	Source string
	At     string    // the host where they sign in
	Since  time.Time // zero if they are not connected
	Over   bool      // they were connected, until the only token that the provider gave was at its end
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
