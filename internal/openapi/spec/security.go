package spec

import (
	"strings"
)

// A Scheme is a security scheme that a document declares: one way for callers to authenticate.
type Scheme struct {
	Name     string
	Kind     string // apiKey, http, oauth2, openIdConnect or mutualTLS. The type basic of Swagger 2.0 becomes http
	HTTP     string // for http: basic, bearer or another scheme of the header Authorization, in lower case
	In       string // for apiKey: header, query or cookie
	Field    string // for apiKey: the name of the header, parameter or cookie
	TokenURL string // for oauth2: the URL that exchanges client credentials for tokens, or "" without that flow
}

// String returns the name of a scheme and the parameter that carries the credential.
func (s Scheme) String() string {
	switch {
	case s.Kind == "apiKey" && s.Field != "":
		return s.Name + " (" + s.In + " " + s.Field + ")"
	case s.Kind == "http" && s.HTTP != "":
		return s.Name + " (http " + s.HTTP + ")"
	case s.Kind == "":
		return s.Name
	}
	return s.Name + " (" + s.Kind + ")"
}

// A Requirement is one way to call an operation: the names of all schemes whose credentials the call must carry. An
// empty Requirement is a call without a credential.
type Requirement []string

// Scheme returns the scheme with the given name. If the document doesn't declare it, only Name is set.
func (d *Document) Scheme(name string) Scheme {
	for _, s := range d.Schemes {
		if s.Name == name {
			return s
		}
	}
	return Scheme{Name: name}
}

// schemes reads the security schemes of a document. A dangling reference gives a scheme without a kind.
func (d *Document) schemes(sections map[string]Raw) (out []Scheme) {
	all := sections["components"].Get("securitySchemes")
	if d.Dialect == Swagger2 {
		all = sections["securityDefinitions"]
	}
	for name, v := range all.Members() {
		v, _, err := d.follow(v)
		if err != nil {
			v = nil
		}
		s := Scheme{Name: name, Kind: v.Get("type").Text(), HTTP: strings.ToLower(v.Get("scheme").Text()), In: v.Get("in").Text(), Field: v.Get("name").Text()}
		switch s.Kind {
		case "basic":
			s.Kind, s.HTTP = "http", "basic"
		case "oauth2":
			s.TokenURL = v.Get("flows").Get("clientCredentials").Get("tokenUrl").Text()
			if v.Get("flow").Text() == "application" {
				s.TokenURL = v.Get("tokenUrl").Text()
			}
		}
		out = append(out, s)
	}
	return out
}

// requirements reads a list of alternatives. It returns nil if v is not a list, and a non-nil slice otherwise.
func requirements(v Raw) []Requirement {
	if v.Kind() != '[' {
		return nil
	}
	out := []Requirement{}
	for alternative := range v.Elements() {
		one := Requirement{}
		for name := range alternative.Members() {
			one = append(one, name)
		}
		out = append(out, one)
	}
	return out
}
