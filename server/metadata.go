package server

import (
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/auth"
	"github.com/modelcontextprotocol/go-sdk/oauthex"

	"github.com/bailiwick-dev/bailiwick/identity"
)

// A Resource is what clients are told of who gives out credentials for this server, by RFC 9728. A client that has
// none finds out from it whom to ask, and for what.
type Resource struct {
	URL     string   // of /mcp, as clients know it: https://agents.example/mcp
	Issuers []string // who gives out tokens for it
	// Words are what the issuers call our scopes, by scope; nil for the same names. A scope that has none can't be asked for.
	Words map[identity.Scope]string
}

const wellKnown = "/.well-known/oauth-protected-resource"

// check returns what is wrong with r.
func (r *Resource) check() error {
	u, err := url.Parse(r.URL)
	if err != nil || u.Host == "" || u.Scheme != "https" && u.Scheme != "http" || u.RawQuery != "" || u.Fragment != "" {
		return errors.New("server: Options.Resource.URL must be the http(s) URL of /mcp, without query and fragment")
	}
	return nil
}

// metadata returns the address of the metadata: the well-known part stands between host and path.
func (r *Resource) metadata() string {
	u, err := url.Parse(r.URL)
	if err != nil {
		return "" // New has refused it
	}
	u.Path = wellKnown + strings.TrimSuffix(u.Path, "/")
	return u.String()
}

// word returns what an issuer calls a scope; "" when it has no word for it.
func (r *Resource) word(s identity.Scope) string {
	if r == nil || r.Words == nil {
		return string(s)
	}
	return r.Words[s]
}

// ask returns the words to ask an issuer for these scopes with, apart by spaces, each once.
func (r *Resource) ask(scopes []identity.Scope) string {
	var words []string
	for _, s := range scopes {
		if w := r.word(s); w != "" && !slices.Contains(words, w) {
			words = append(words, w)
		}
	}
	return strings.Join(words, " ")
}

// serveMetadata answers at the well-known address, with and without the path of the resource.
func (s *Server) serveMetadata(mux *http.ServeMux) {
	r := s.options.Resource
	if r == nil {
		return
	}
	// Scopes that agents never have are not offered.
	scopes := []identity.Scope{identity.Read, identity.Write, identity.Delete, identity.Schema, identity.Explain}
	h := auth.ProtectedResourceMetadataHandler(&oauthex.ProtectedResourceMetadata{
		Resource: r.URL, AuthorizationServers: r.Issuers, ScopesSupported: strings.Fields(r.ask(scopes)), BearerMethodsSupported: []string{"header"},
	})
	paths := []string{wellKnown, wellKnown + "/mcp"}
	if u, err := url.Parse(r.metadata()); err == nil && !slices.Contains(paths, u.Path) {
		paths = append(paths, u.Path)
	}
	for _, p := range paths {
		mux.HandleFunc(p, s.guard(h.ServeHTTP))
	}
}

// challenge is the WWW-Authenticate of a refusal, with the parameters that RFC 6750 and RFC 9728 know.
func (s *Server) challenge(parameters ...string) string {
	if s.options.ResourceMetadata != "" {
		parameters = append(parameters, "resource_metadata", s.options.ResourceMetadata)
	}
	var out []string
	for i := 0; i+1 < len(parameters); i += 2 {
		if parameters[i+1] != "" {
			out = append(out, parameters[i]+`="`+parameters[i+1]+`"`)
		}
	}
	return strings.TrimSpace("Bearer " + strings.Join(out, ", "))
}

// stepUp is the challenge to a credential without a scope. A token of ours is what it is; for one of an issuer it names
// all that the next one should hold, as who asks for less gets less.
func (s *Server) stepUp(who identity.Principal, scope identity.Scope) string {
	if who.TokenID != "" || s.options.Resource == nil {
		return s.challenge("error", "insufficient_scope", "scope", string(scope))
	}
	return s.challenge("error", "insufficient_scope", "scope", s.options.Resource.ask(append(slices.Clone(who.Scopes), scope)))
}
