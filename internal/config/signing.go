package config

import (
	"net/http"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/net/http/httpguts"

	"github.com/bailiwick-dev/bailiwick/internal/openapi/calls"
	"github.com/bailiwick-dev/bailiwick/internal/openapi/spec"
	"github.com/bailiwick-dev/bailiwick/internal/secretnames"
	"github.com/bailiwick-dev/bailiwick/internal/yamlconf"
	"github.com/bailiwick-dev/bailiwick/problem"
)

// A SchemeCredential is the credential for one security scheme of the document.
type SchemeCredential struct {
	Scheme     string
	Credential APICredential
}

// A FixedHeader is a header that every request carries. A secret header is masked in answers.
type FixedHeader struct {
	Name, Value string
	Secret      bool
}

// An APITLS contains the paths of PEM files. Certificate and Key, or Authorities, may be "".
type APITLS struct{ Certificate, Key, Authorities string }

// An APIServer is a further address of an API, with its own credentials.
type APIServer struct {
	URL         string
	Credential  *APICredential
	Credentials []SchemeCredential
}

// Person returns the settings for people's accounts at the API, or nil.
func (s *APISource) Person() *PersonAccount {
	if s.Credential != nil && s.Credential.Person != nil {
		return s.Credential.Person
	}
	for _, c := range s.Credentials {
		if c.Credential.Person != nil {
			return c.Credential.Person
		}
	}
	return nil
}

// HasCredential reports whether requests to the API carry any credential.
func (s *APISource) HasCredential() bool { return s.Credential != nil || s.Credentials != nil }

// Sends returns the parameters that credentials and fixed headers set at any address of the API, sorted.
func (s *APISource) Sends() []calls.Place {
	all := s.Credential.Sends()
	for _, c := range s.Credentials {
		all = append(all, c.Credential.Sends()...)
	}
	for _, at := range s.Servers {
		all = append(all, at.Credential.Sends()...)
		for _, c := range at.Credentials {
			all = append(all, c.Credential.Sends()...)
		}
	}
	for _, h := range s.Headers {
		all = append(all, calls.Place{In: "header", Name: h.Name})
	}
	slices.SortFunc(all, func(a, b calls.Place) int { return strings.Compare(a.In+a.Name, b.In+b.Name) })
	return slices.Compact(all)
}

// Signing returns the document's schemes that the source can meet at base_url, and how.
func (s *APISource) Signing(d *spec.Document) calls.Signing {
	return s.signing(d, s.Credential, s.Credentials)
}

// Signings returns the same for each further server, by its address.
func (s *APISource) Signings(d *spec.Document) map[string]calls.Signing {
	if s.Servers == nil {
		return nil
	}
	out := map[string]calls.Signing{}
	for _, at := range s.Servers {
		out[at.URL] = s.signing(d, at.Credential, at.Credentials)
	}
	return out
}

// signing returns the schemes of d that the source meets. A scheme can be met by the single credential, by a
// credential named after the scheme, or by something that every request carries. If the single credential fits no
// scheme of the document, it is sent with every call, because the owner knows better than the document.
func (s *APISource) signing(d *spec.Document, single *APICredential, named []SchemeCredential) calls.Signing {
	out := calls.Signing{}
	if d == nil {
		return out
	}
	schemes := map[string][]string{}
	for _, scheme := range d.Schemes {
		if s.always(scheme) {
			schemes[scheme.Name] = nil
		} else if single != nil && single.fits(scheme) {
			schemes[scheme.Name] = []string{""}
		}
	}
	taken := map[calls.Place]bool{}
	for _, c := range named {
		schemes[c.Scheme] = []string{c.Scheme}
		places := c.Credential.Sends()
		if places == nil {
			places = []calls.Place{{In: "header", Name: "Authorization"}}
		}
		if !slices.ContainsFunc(places, func(p calls.Place) bool { return taken[p] }) {
			out.Unsaid = append(out.Unsaid, c.Scheme)
		}
		for _, p := range places {
			taken[p] = true
		}
	}
	if len(schemes) > 0 {
		out.Schemes = schemes
	}
	return out
}

// always reports whether every request meets a scheme by a fixed header or a certificate.
func (s *APISource) always(scheme spec.Scheme) bool {
	if scheme.Kind == "mutualTLS" {
		return s.TLS != nil && s.TLS.Certificate != ""
	}
	return slices.ContainsFunc(s.Headers, func(h FixedHeader) bool {
		c := APICredential{Header: &NamedCredential{Name: h.Name, Value: h.Value}}
		return c.fits(scheme)
	})
}

// fits reports whether a credential has the form that a scheme requires.
func (c *APICredential) fits(s spec.Scheme) bool {
	authorization := s.Kind == "apiKey" && s.In == "header" && strings.EqualFold(s.Field, "Authorization")
	token := s.Kind == "http" && s.HTTP == "bearer" || s.Kind == "oauth2" || s.Kind == "openIdConnect" || authorization
	switch {
	case c.Bearer != "" || c.OAuth != nil || c.Person != nil:
		return token
	case c.Basic != nil:
		return s.Kind == "http" && s.HTTP == "basic" || authorization
	case c.Query != nil:
		return s.Kind == "apiKey" && s.In == "query" && s.Field == c.Query.Name
	case c.Cookie != nil || c.Header != nil && c.Header.Name == "Cookie":
		return s.Kind == "apiKey" && s.In == "cookie" && slices.Contains(c.Sends(), calls.Place{In: "cookie", Name: s.Field})
	case c.Header != nil && c.Header.Name == "Authorization":
		kind, _, _ := strings.Cut(strings.ToLower(c.Header.Value), " ")
		return authorization || s.Kind == "http" && s.HTTP == kind || kind == "bearer" && token || s.Kind == "http" && !slices.Contains([]string{"basic", "bearer"}, s.HTTP)
	case c.Header != nil:
		return s.Kind == "apiKey" && s.In == "header" && strings.EqualFold(s.Field, c.Header.Name)
	case c.Each != nil:
		for _, of := range c.Each.Of {
			if of.fits(s) {
				return true
			}
		}
	}
	return false
}

// A schemeFault is a credential for a scheme that the document doesn't declare.
type schemeFault struct {
	Keys    []string // below sources.NAME.openapi
	Message string
}

// CheckSchemes returns the credentials whose schemes d doesn't declare.
func (s *APISource) CheckSchemes(d *spec.Document) (out []schemeFault) {
	if d == nil {
		return nil
	}
	var known []string
	for _, scheme := range d.Schemes {
		known = append(known, scheme.Name)
	}
	check := func(all []SchemeCredential, keys ...string) {
		for _, c := range all {
			if slices.Contains(known, c.Scheme) {
				continue
			}
			message := "the document has no security scheme " + problem.Cut(c.Scheme)
			if hint := problem.DidYouMean(problem.Nearest(c.Scheme, known, 3)); hint != "" {
				message += hint
			} else if known != nil {
				message += ". It has " + yamlconf.AnyOf(known)
			} else {
				message += " and declares none. Write credential"
			}
			out = append(out, schemeFault{append(slices.Clone(keys), c.Scheme), message})
		}
	}
	check(s.Credentials, "credentials")
	for _, at := range s.Servers {
		check(at.Credentials, "servers", at.URL, "credentials")
	}
	return out
}

// likeCredential is the JSON pointer of a credential's schema in the schema of the configuration. Other places refer
// to it.
const likeCredential = "#/properties/sources/additionalProperties/properties/openapi/properties/credential"

// another returns the shape of a further credential. Its schema refers to the schema of the first.
func another(into **APICredential, each bool) yamlconf.Shape {
	s := yamlconf.MaskExcerpts(credentialShape(into, each))
	s.Schema = map[string]any{"$ref": likeCredential}
	return s
}

// credentialsShape returns the shape of credentials by the names of security schemes.
func credentialsShape(into *[]SchemeCredential, each bool) yamlconf.Shape {
	return yamlconf.Each(yamlconf.Table{Names: "security scheme", Of: func(name string) (yamlconf.Shape, func()) {
		one := &APICredential{}
		read := one
		return another(&read, each), func() { *into = append(*into, SchemeCredential{name, *read}) }
	}})
}

// headersShape returns the shape of headers that every request carries. A value is a secret if the name of its header
// suggests it, or if the value isn't written in the configuration itself.
func headersShape(into *[]FixedHeader) yamlconf.Shape {
	return yamlconf.MaskExcerpts(yamlconf.Each(yamlconf.Table{Names: "header", Of: func(name string) (yamlconf.Shape, func()) {
		h := FixedHeader{Name: http.CanonicalHeaderKey(name)}
		text := yamlconf.Secret("a text", func(folder, s string) string {
			if !httpguts.ValidHeaderFieldName(name) || h.Name != "Authorization" && spec.RefusedHeader(h.Name) {
				return "is not the name of a header that requests may carry always"
			}
			return secret(&h.Value)(folder, s)
		})
		return yamlconf.Shape{Schema: text.Schema, Read: func(r *yamlconf.Reader, n yamlconf.Node, at string) {
			text.Read(r, n, at)
			h.Secret = secretHeader(h.Name) || n.Refers()
		}}, func() { *into = append(*into, h) }
	}}))
}

// secretHeader reports whether a header with the given name contains a credential.
func secretHeader(name string) bool {
	words := secretnames.Words(name)
	return secretnames.Credential(name) || slices.ContainsFunc(words, func(w string) bool {
		return slices.Contains([]string{"key", "token", "secret", "auth", "authorization", "password", "signature", "session", "credential"}, w)
	})
}

// tlsShape returns the shape of the files for TLS connections.
func tlsShape(into **APITLS) yamlconf.Shape {
	var t APITLS
	file := func(to *string) yamlconf.Shape {
		plain := yamlconf.Text("a file in PEM form", nil)
		return yamlconf.Shape{Schema: plain.Schema, Read: func(r *yamlconf.Reader, n yamlconf.Node, at string) {
			yamlconf.Text("a file in PEM form", func(s string) string {
				switch {
				case strings.Contains(s, "-----BEGIN"):
					return "must be the path of a file, not what it holds"
				case strings.HasPrefix(s, "~"):
					return "~ is not expanded. Write ${HOME} for it"
				}
				if *to = s; !filepath.IsAbs(s) {
					*to = filepath.Join(n.Folder(), s)
				}
				return ""
			}).Read(r, n, at)
		}}
	}
	return yamlconf.Object([]yamlconf.Key{
		{Name: "certificate", Doc: "The certificate that the gateway shows (mutual TLS), with its chain", Shape: file(&t.Certificate)},
		{Name: "key", Doc: "Its private key", Shape: file(&t.Key)},
		{Name: "ca", Doc: "The authorities that the gateway trusts for base_url, in the place of those of the system. Token URLs, further servers and downloads trust both", Shape: file(&t.Authorities)},
	}, func(r *yamlconf.Reader, n yamlconf.Node, at string) {
		if r.HasAt(at+"/certificate") != r.HasAt(at+"/key") {
			r.Wrong(n.Start(), at, "certificate and key go together")
		}
		yamlconf.NotEmpty(r, n, at)
		*into = &t
	})
}

// serversShape returns the shape of further addresses in the document, with their credentials.
func serversShape(into *[]APIServer) yamlconf.Shape {
	return yamlconf.Each(yamlconf.Table{Names: "server", Check: func(r *yamlconf.Reader, e yamlconf.Entry) bool {
		if wrong := baseURL(e.Name); wrong != "" {
			r.Wrong(e.Key, e.At, "a server is an address such as https://files.example/v1, and this %s", wrong)
			return false
		}
		return true
	}, Of: func(name string) (yamlconf.Shape, func()) {
		at := APIServer{URL: strings.TrimSuffix(name, "/")}
		return yamlconf.Object([]yamlconf.Key{
			{Name: "credential", Doc: "Who the gateway is there. The credential of base_url isn't sent there", Shape: another(&at.Credential, false)},
			{Name: "credentials", Doc: "Several, as above", Shape: credentialsShape(&at.Credentials, false)},
		}, oneOfCredentials), func() { *into = append(*into, at) }
	}})
}

// oneOfCredentials refuses credential together with credentials.
func oneOfCredentials(r *yamlconf.Reader, _ yamlconf.Node, at string) {
	if r.HasAt(at+"/credential") && r.HasAt(at+"/credentials") {
		r.WrongAt(at+"/credential", "credential and credentials exclude each other: move this one into credentials, under the name of its security scheme")
	}
}
