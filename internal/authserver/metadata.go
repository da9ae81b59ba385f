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

// A Resource describes this server and its token issuers to clients without a credential, as RFC 9728 specifies.
type Resource struct {
	URL     string   // the public URL of /mcp: https://agents.example/mcp. "" means the URL of each request
	Issuers []string // issuers of its tokens, or nil for this server itself
	// Words maps scopes to the issuers' names for them. Nil means that the names are the same. A missing scope can't
	// be requested.
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

// Address returns the URL of the metadata. The well-known path is inserted between host and path.
func (r *Resource) Address() string {
	u, err := url.Parse(r.URL)
	if err != nil || r.URL == "" {
		return "" // Check refuses an invalid URL, and For sets an empty one
	}
	u.Path = wellKnown + strings.TrimSuffix(u.Path, "/")
	return u.String()
}

// Below returns the URL of the metadata of a server that a proxy serves below a path. It returns "" if base has no
// path. The proxy may not forward requests outside this path, so the well-known path is appended to it. A client
// finds the URL in the challenge.
func Below(base string) string {
	u, err := url.Parse(base)
	if err != nil || strings.Trim(u.Path, "/") == "" {
		return ""
	}
	return strings.TrimSuffix(base, "/") + wellKnown + "/mcp"
}

// For returns r with the URL that the sender of a request knows.
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

// word returns the issuers' name of a scope, or "" if the scope has none.
func (r *Resource) word(s identity.Scope) string {
	if r == nil || r.Words == nil {
		return string(s)
	}
	return r.Words[s]
}

// Ask returns the scope parameter that requests the given scopes from an issuer. It contains names without
// duplicates, separated by spaces.
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
	// Scopes that agents never have are omitted.
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

// Challenge returns a WWW-Authenticate header. It contains the parameters of RFC 6750, given as alternating names and
// values, and the address of the metadata. It omits empty values.
func Challenge(address string, parameters ...string) string {
	var out []string
	for i, p := 0, append(parameters, "resource_metadata", address); i+1 < len(p); i += 2 {
		if p[i+1] != "" {
			out = append(out, p[i]+`="`+p[i+1]+`"`)
		}
	}
	return strings.TrimSpace("Bearer " + strings.Join(out, ", "))
}

// StepUp returns the challenge for a credential that lacks scope. For an issuer's credential, it also names the
// existing scopes, because an issuer grants only the requested scopes. The issuer may be this server. It names only
// the missing scope for a token of this server if there is another issuer, and if r is nil.
func (r *Resource) StepUp(address string, p identity.Principal, scope identity.Scope) string {
	words := string(scope)
	if r != nil && (p.TokenID == "" || r.Issuers == nil) {
		words = r.Ask(append(slices.Clone(p.Scopes), scope))
	}
	return Challenge(address, "error", "insufficient_scope", "scope", words)
}
