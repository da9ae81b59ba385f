// Package authserver is the OAuth 2.1 authorization server for this server's own MCP endpoint, as MCP specifies it.
//
//	client ─Resource: metadata (RFC 9728)→ issuer, scopes
//	client ─authorize→ Asking ─person consents in the console→ code ─token, PKCE→ access and refresh token
//
// A person who is signed in to the console sees which client asks for which scopes, and consents. Consent is required
// each time and never remembered. The access token acts for that person, with at most the rights that the person may
// lend. It ends with the person's own rights.
//
// Codes require PKCE and are valid once. Refresh tokens rotate, and using an old one again ends the grant. All checks
// are made before a code or token is used up. Clients are public, so they have no secret. A client's identifier
// contains its registration. identity.Tokens stores the grants and tickets, so this package stores nothing.
//
// A Resource serves the metadata with which a refused client finds the issuer and its scopes. The issuer may also be
// another server, whose tokens package oidc verifies. Metadata requires no authentication.
package authserver

import (
	"cmp"
	"context"
	"encoding/json"
	"log/slog"
	"net/http"
	"net/netip"
	"time"

	"github.com/bailiwick-dev/bailiwick/identity"
	"github.com/bailiwick-dev/bailiwick/internal/edge"
)

// These are the default durations.
const (
	Access  = time.Hour           // lifetime of an access token
	Idle    = 30 * 24 * time.Hour // lifetime of a refresh token
	Life    = 90 * 24 * time.Hour // lifetime of a grant
	codeAge = time.Minute
)

// Options configure a Server. All fields except the durations, Client and Log are required.
type Options struct {
	Tokens Tokens
	// Base returns the URL of this host as the sender of r knows it, such as "https://gate.example".
	Base func(r *http.Request) string
	// Allow refuses the Host headers that /mcp refuses.
	Allow func(*http.Request) error
	// Admit records that a client got tokens, and limits the rate. An error refuses the tokens.
	Admit func(ctx context.Context, agent identity.Principal, tool string) error
	// Authorize is the path of the consent page.
	Authorize string
	// Client fetches the metadata documents of clients. It must connect only to public addresses and follow no
	// redirects. Nil means a default client with these properties.
	Client *http.Client

	Access, Idle, Life time.Duration // 0 means the constant with the same name
	Log                *slog.Logger  // nil means slog.Default
	Now                func() time.Time
}

// Tokens is the store of grants and tickets. *identity.Tokens implements it.
type Tokens interface {
	Grant(ctx context.Context, by identity.Principal, g identity.Granting) (identity.Principal, error)
	EndGrant(ctx context.Context, by identity.Principal, id string) error
	Issue(ctx context.Context, p identity.Principal, want identity.Ticket) (identity.Ticket, string, error)
	Present(ctx context.Context, use identity.TicketUse, secret string, remote netip.Addr) (identity.Principal, identity.Ticket, error)
	Offer(ctx context.Context, use identity.TicketUse, secret string, remote netip.Addr) (identity.Offer, error)
	Exchange(ctx context.Context, o identity.Offer, want []identity.Ticket, answer func([]identity.Issued) ([]byte, error)) (sent []byte, first bool, err error)
}

// A Server is an authorization server. It is safe for concurrent use.
type Server struct {
	Options
}

// New returns a Server.
func New(o Options) *Server {
	o.Access, o.Idle, o.Life = cmp.Or(o.Access, Access), cmp.Or(o.Idle, Idle), cmp.Or(o.Life, Life)
	o.Log = cmp.Or(o.Log, slog.Default())
	if o.Client == nil {
		o.Client = edge.GuardedClient(5 * time.Second)
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	return &Server{o}
}

// scopes returns the scopes that an agent can have.
func scopes() []identity.Scope {
	return []identity.Scope{identity.Read, identity.Write, identity.Delete, identity.Schema, identity.Explain}
}

// offline is a scope with which clients request a refresh token. This server gives one to every client.
const offline = "offline_access"

// Mount serves the metadata and the endpoints of s.
func (s *Server) Mount(mux *http.ServeMux) {
	mux.Handle("/.well-known/oauth-authorization-server", s.guard(http.MethodGet, s.metadata))
	// Clients look here after the path of an issuer.
	mux.Handle("/.well-known/openid-configuration", s.guard(http.MethodGet, s.metadata))
	mux.Handle("/oauth/register", s.guard(http.MethodPost, s.register))
	mux.Handle("/oauth/token", s.guard(http.MethodPost, s.token))
	mux.Handle("/oauth/revoke", s.guard(http.MethodPost, s.revoke))
}

// guard allows one method. Pages of any site may call, because no handler depends on a cookie.
func (s *Server) guard(method string, h http.HandlerFunc) http.Handler {
	return edge.WithDeadlines(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		head := w.Header()
		head.Set("Cache-Control", "no-store")
		head.Set("X-Content-Type-Options", "nosniff")
		head.Set("Access-Control-Allow-Origin", "*")
		switch {
		case s.Allow(r) != nil:
			http.Error(w, http.StatusText(http.StatusForbidden), http.StatusForbidden)
		case r.Method == http.MethodOptions:
			head.Set("Access-Control-Allow-Methods", method)
			head.Set("Access-Control-Allow-Headers", "Content-Type, MCP-Protocol-Version")
			w.WriteHeader(http.StatusNoContent)
		case r.Method != method:
			head.Set("Allow", method)
			http.Error(w, http.StatusText(http.StatusMethodNotAllowed), http.StatusMethodNotAllowed)
		default:
			r.Body = http.MaxBytesReader(w, r.Body, 16<<10)
			h(w, r)
		}
	}), edge.Options{})
}

// metadata serves RFC 8414 metadata.
func (s *Server) metadata(w http.ResponseWriter, r *http.Request) {
	base := s.Base(r)
	answer(w, http.StatusOK, map[string]any{
		"issuer":                                         base,
		"authorization_endpoint":                         base + s.Authorize,
		"token_endpoint":                                 base + "/oauth/token",
		"registration_endpoint":                          base + "/oauth/register",
		"revocation_endpoint":                            base + "/oauth/revoke",
		"scopes_supported":                               scopes(),
		"response_types_supported":                       []string{"code"},
		"response_modes_supported":                       []string{"query"},
		"grant_types_supported":                          []string{"authorization_code", "refresh_token"},
		"token_endpoint_auth_methods_supported":          []string{"none"},
		"revocation_endpoint_auth_methods_supported":     []string{"none"},
		"code_challenge_methods_supported":               []string{"S256"},
		"authorization_response_iss_parameter_supported": true,
		"client_id_metadata_document_supported":          true,
	})
}

func answer(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(v) // an error means that the client has disconnected
}

// A refusal is an OAuth error. Its text is fixed, or comes from the request itself.
type refusal struct {
	Code   string `json:"error"`
	Detail string `json:"error_description,omitempty"`
}

// Error returns the code and the detail.
func (r *refusal) Error() string { return r.Code + ": " + r.Detail }

// refuse answers a request at the token or registration endpoint with an error. The status is defined in RFC 6749,
// 5.2.
func refuse(w http.ResponseWriter, r *refusal) {
	status := http.StatusBadRequest
	switch r.Code {
	case "invalid_client":
		status = http.StatusUnauthorized
	case "temporarily_unavailable":
		status = http.StatusServiceUnavailable
	}
	answer(w, status, r)
}
