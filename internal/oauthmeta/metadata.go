// Package oauthmeta tells clients who gives out credentials for a server (RFC 9728).
//
// It stands beside the MCP door, in front of it: a client that was refused reads it to find out whom to ask, and for
// what. It knows no credential and lets nobody in.
package oauthmeta

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

// Check returns what is wrong with r.
func (r *Resource) Check() error {
	u, err := url.Parse(r.URL)
	if err != nil || u.Host == "" || u.Scheme != "https" && u.Scheme != "http" || u.RawQuery != "" || u.Fragment != "" {
		return errors.New("Resource.URL must be the http(s) URL of /mcp, without query and fragment")
	}
	return nil
}

// Address returns the address of the metadata: the well-known part stands between host and path.
func (r *Resource) Address() string {
	u, err := url.Parse(r.URL)
	if err != nil {
		return "" // Check has refused it
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

// Ask returns the words to ask an issuer for these scopes with, apart by spaces, each once.
func (r *Resource) Ask(scopes []identity.Scope) string {
	var words []string
	for _, s := range scopes {
		if w := r.word(s); w != "" && !slices.Contains(words, w) {
			words = append(words, w)
		}
	}
	return strings.Join(words, " ")
}

// Mount answers at the well-known address, with and without the path of the resource.
func (r *Resource) Mount(mux *http.ServeMux) {
	// Scopes that agents never have are not offered.
	scopes := []identity.Scope{identity.Read, identity.Write, identity.Delete, identity.Schema, identity.Explain}
	h := auth.ProtectedResourceMetadataHandler(&oauthex.ProtectedResourceMetadata{
		Resource: r.URL, AuthorizationServers: r.Issuers, ScopesSupported: strings.Fields(r.Ask(scopes)), BearerMethodsSupported: []string{"header"},
	})
	paths := []string{wellKnown, wellKnown + "/mcp"}
	if u, err := url.Parse(r.Address()); err == nil && !slices.Contains(paths, u.Path) {
		paths = append(paths, u.Path)
	}
	for _, p := range paths {
		mux.Handle(p, h)
	}
}

// Challenge is the WWW-Authenticate of a refusal: parameters that RFC 6750 knows, name and value in turn, and where the
// metadata is. A value of "" is left out.
func Challenge(address string, parameters ...string) string {
	var out []string
	for i, p := 0, append(parameters, "resource_metadata", address); i+1 < len(p); i += 2 {
		if p[i+1] != "" {
			out = append(out, p[i]+`="`+p[i+1]+`"`)
		}
	}
	return strings.TrimSpace("Bearer " + strings.Join(out, ", "))
}

// StepUp is the challenge to a credential without a scope. For one of an issuer it names all that the next one should
// hold, as who asks for less gets less; a token of ours, or any where r is nil, is told the scope alone.
func (r *Resource) StepUp(address string, p identity.Principal, scope identity.Scope) string {
	words := string(scope)
	if p.TokenID == "" && r != nil {
		words = r.Ask(append(slices.Clone(p.Scopes), scope))
	}
	return Challenge(address, "error", "insufficient_scope", "scope", words)
}
