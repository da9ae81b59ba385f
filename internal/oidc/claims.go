package oidc

import (
	"cmp"
	"slices"
	"strings"
	"unicode"

	"github.com/bailiwick-dev/bailiwick/identity"
	"github.com/bailiwick-dev/bailiwick/query"
	"github.com/bailiwick-dev/bailiwick/value"
)

// A Mapping maps the claims of a token to a Principal. A claim is given by its name or, if it is nested, by its JSON
// pointer with a leading slash: "/realm_access/roles". "" means no claim, unless stated otherwise. The zero Mapping
// gives agents that can read.
type Mapping struct {
	ID     string // "" means sub. The Principal's ID is "oidc:" and the value
	Name   string
	Owner  string // the human owner. Without one an agent can only read
	Tenant string

	Default identity.Kind // the kind without a claim Kind. "" means an agent

	Kind  string                   // the claim whose value selects the kind by Kinds. Other values mean an agent
	Kinds map[string]identity.Kind // by value of the claim in Kind

	Scopes string // a claim with names separated by spaces, or a list of names. "" means scope
	// The scopes for each name. Nil means that the names are those of package identity.
	ScopeOf map[string][]identity.Scope

	Tools   string // a list of the tools that may be called. A token without this claim may call none
	Actions string // the same for actions
	Classes string // the same for classes

	Keep    []string                // the claims that rules can read as principal.claims.<name>
	Filters map[string]query.Filter // the same as in a Principal, for all principals of this issuer
}

// principal returns the Principal for verified claims, or the kind of the refusal.
func (m Mapping) principal(claims value.Value) (identity.Principal, string) {
	id := m.text(claims, cmp.Or(m.ID, "sub"))
	if id == "" {
		return identity.Principal{}, "no_id"
	}
	p := identity.Principal{ID: "oidc:" + id, Name: m.text(claims, m.Name), Kind: cmp.Or(m.Default, identity.Agent), Owner: m.text(claims, m.Owner),
		Tenant: m.text(claims, m.Tenant), Filters: m.Filters}
	p.Name = cmp.Or(p.Name, id)
	if says := m.text(claims, m.Kind); says != "" {
		p.Kind = cmp.Or(m.Kinds[says], identity.Agent)
	}
	var asked []identity.Scope
	for _, word := range words(claim(claims, cmp.Or(m.Scopes, "scope"))) {
		asked = append(asked, m.scopes(word)...)
	}
	p.Scopes = identity.Clamp(p.Kind, p.Owner, asked)
	p.Tools.Only, p.Actions.Only, p.Classes.Only = only(claims, m.Tools), only(claims, m.Actions), only(claims, m.Classes)
	var kept []value.Member
	for _, name := range m.Keep {
		if v := claim(claims, name); !v.IsNull() {
			kept = append(kept, value.Member{Name: last(name), Value: v})
		}
	}
	if kept != nil {
		p.Claims = value.OfObject(kept)
	}
	return p, ""
}

// scopes returns the scopes that a name in a token grants, by ScopeOf. Without ScopeOf, it returns the scope with
// that name.
func (m Mapping) scopes(word string) []identity.Scope {
	if m.ScopeOf != nil {
		return m.ScopeOf[word]
	}
	return []identity.Scope{identity.Scope(word)}
}

// Words returns the issuer's name for each scope of the gateway. If several names grant a scope, it returns the name
// that grants the least. It returns nil if the names are the same.
func (m Mapping) Words() map[identity.Scope]string {
	if m.ScopeOf == nil {
		return nil
	}
	words := map[identity.Scope]string{}
	for word, given := range m.ScopeOf {
		for _, s := range given {
			old, ok := words[s]
			if n, o := len(given), len(m.ScopeOf[old]); !ok || n < o || n == o && word < old {
				words[s] = word
			}
		}
	}
	return words
}

// only returns the names in a list claim. If no claim is configured, it returns nil, which allows all names.
func only(claims value.Value, name string) []string {
	if name == "" {
		return nil
	}
	return append([]string{}, words(claim(claims, name))...)
}

// text returns a claim as an identifier, which is printable text or a whole number. It returns "" for other values.
func (m Mapping) text(claims value.Value, name string) string {
	if name == "" {
		return ""
	}
	v := claim(claims, name)
	if v.Kind() == value.Int {
		return v.String()
	}
	if v.Kind() != value.String || len(v.Text()) > 200 || strings.ContainsFunc(v.Text(), unicode.IsControl) {
		return ""
	}
	return v.Text()
}

// claim returns a claim by its name or JSON pointer, or null if it is missing.
func claim(claims value.Value, name string) value.Value {
	if !strings.HasPrefix(name, "/") {
		v, _ := claims.Get(name)
		return v
	}
	at := claims
	for _, token := range strings.Split(name[1:], "/") {
		at, _ = at.Get(strings.NewReplacer("~1", "/", "~0", "~").Replace(token))
	}
	return at
}

// last returns the name of a claim in rules. This is the last part of its pointer, or its name.
func last(name string) string {
	if strings.HasPrefix(name, "/") {
		name = name[strings.LastIndexByte(name, '/')+1:]
		return strings.NewReplacer("~1", "/", "~0", "~").Replace(name)
	}
	return name
}

// words returns the elements of a claim. The claim is a list, or a text separated by spaces (only U+0020). Other
// types have no elements.
func words(v value.Value) []string {
	switch v.Kind() {
	case value.String:
		return slices.DeleteFunc(strings.Split(v.Text(), " "), func(s string) bool { return s == "" })
	case value.Array:
		var out []string
		for _, e := range v.List() {
			if e.Kind() != value.String {
				return nil
			}
			out = append(out, e.Text())
		}
		return slices.DeleteFunc(out, func(s string) bool { return s == "" })
	}
	return nil
}
