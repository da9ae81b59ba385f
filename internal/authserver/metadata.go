package authserver

import (
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/auth"
	"github.com/modelcontextprotocol/go-sdk/oauthex"

	"github.com/bailiwick-dev/bailiwick/identity"
	"github.com/bailiwick-dev/bailiwick/internal/edge"
)

// A Resource describes this server and its token issuers to clients that have no credential, as RFC 9728 specifies.
type Resource struct {
	URL     string   // URL of /mcp as clients use it: https://agents.example/mcp, or "" for that of each request
	Issuers []string // issuers of its tokens, or nil for this server itself
	// Words maps scopes to the issuers' names for them. Nil means the same names. A scope that is missing can't be
	// requested.
	Words map[identity.Scope]string
}

const wellKnown = "/.well-known/oauth-protected-resource"

// Check returns an error if r is invalid.
func (r *Resource) Check() error {
	if r.URL == "" {
		return nil
	}
	u, err := url.Parse(r.URL)
	if err != nil || u.Host == "" || u.Scheme != "https" && u.Scheme != "http" || u.RawQuery != "" || u.Fragment != "" {
		return errors.New("Resource.URL must be the http(s) URL of /mcp, without query and fragment")
	}
	return nil
}

// Address returns the URL of the metadata: the well-known path goes between host and path.
func (r *Resource) Address() string {
	u, err := url.Parse(r.URL)
	if err != nil || r.URL == "" {
		return "" // Check refuses the first, and For makes an address of the second
	}
	u.Path = wellKnown + strings.TrimSuffix(u.Path, "/")
	return u.String()
}

// Below returns the URL of the metadata of a server that a proxy serves below a path, "" if base has no path. The proxy may send
// nothing outside of the path, so the well-known path follows it. A client finds it in the challenge.
func Below(base string) string {
	u, err := url.Parse(base)
	if err != nil || strings.Trim(u.Path, "/") == "" {
		return ""
	}
	return strings.TrimSuffix(base, "/") + wellKnown + "/mcp"
}

// For returns r as the sender of a request knows it.
func (r *Resource) For(q *http.Request) *Resource {
	if r == nil {
		return nil
	}
	out := *r
	if out.URL == "" {
		out.URL = edge.Base("", q) + "/mcp"
	}
	if out.Issuers == nil {
		out.Issuers = []string{strings.TrimSuffix(out.URL, "/mcp")}
	}
	return &out
}

// word returns the issuers' name of a scope, or "" if it has none.
func (r *Resource) word(s identity.Scope) string {
	if r == nil || r.Words == nil {
		return string(s)
	}
	return r.Words[s]
}

// Ask returns the scope parameter that requests these scopes from an issuer: names separated by spaces, each once.
func (r *Resource) Ask(scopes []identity.Scope) string {
	var words []string
	for _, s := range scopes {
		if w := r.word(s); w != "" && !slices.Contains(words, w) {
			words = append(words, w)
		}
	}
	return strings.Join(words, " ")
}

// Mount serves the metadata at the well-known path, with and without the path of the resource.
func (r *Resource) Mount(mux *http.ServeMux) {
	// Scopes that agents never have are not listed.
	scopes := []identity.Scope{identity.Read, identity.Write, identity.Delete, identity.Schema, identity.Explain}
	h := http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		here := r.For(q)
		auth.ProtectedResourceMetadataHandler(&oauthex.ProtectedResourceMetadata{
			Resource: here.URL, AuthorizationServers: here.Issuers, ScopesSupported: strings.Fields(r.Ask(scopes)), BearerMethodsSupported: []string{"header"},
		}).ServeHTTP(w, q)
	})
	paths := []string{wellKnown, wellKnown + "/mcp"}
	if u, err := url.Parse(r.Address()); err == nil && u.Path != "" && !slices.Contains(paths, u.Path) {
		paths = append(paths, u.Path)
	}
	for _, p := range paths {
		mux.Handle(p, h)
	}
}

// Challenge returns a WWW-Authenticate header: the parameters of RFC 6750, as names and values in turn, and the
// address of the metadata. Empty values are omitted.
func Challenge(address string, parameters ...string) string {
	var out []string
	for i, p := 0, append(parameters, "resource_metadata", address); i+1 < len(p); i += 2 {
		if p[i+1] != "" {
			out = append(out, p[i]+`="`+p[i+1]+`"`)
		}
	}
	return strings.TrimSpace("Bearer " + strings.Join(out, ", "))
}

// StepUp returns the challenge for a credential that lacks scope. For an issuer's credential, it names the existing
// scopes too, because an issuer, which may be this server, grants only the requested scopes. For a token of this server
// beside an issuer, or if r is nil, it names only the missing scope.
func (r *Resource) StepUp(address string, p identity.Principal, scope identity.Scope) string {
	words := string(scope)
	if r != nil && (p.TokenID == "" || r.Issuers == nil) {
		words = r.Ask(append(slices.Clone(p.Scopes), scope))
	}
	return Challenge(address, "error", "insufficient_scope", "scope", words)
}
