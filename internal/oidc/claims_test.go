package oidc_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"strings"
	"testing"

	"github.com/bailiwick-dev/bailiwick/identity"
	"github.com/bailiwick-dev/bailiwick/internal/oidc"
)

// TestMapping checks the principals for claims.
func TestMapping(t *testing.T) {
	i := newIssuer(t, "ed")
	human := map[string]identity.Kind{"user": identity.Human, "robot": identity.Service}
	all := "read write delete schema review audit operator explain"
	tests := []struct {
		name    string
		mapping oidc.Mapping
		claims  claims
		want    string // kind, id, name, owner, tenant, scopes, claims
	}{
		{"nothing mapped", oidc.Mapping{}, claims{"email": "a@b", "org": "acme"}, "agent oidc:ana ana - - [read] null"},
		{"no scope", oidc.Mapping{}, claims{"scope": nil}, "agent oidc:ana ana - - [] null"},
		{"all that is asked", oidc.Mapping{ID: "client_id", Name: "app", Owner: "email", Tenant: "org"},
			claims{"client_id": "bot", "app": "Bot", "email": "ana@example.com", "org": "acme"}, "agent oidc:bot Bot ana@example.com acme [read] null"},
		{"one inside of another", oidc.Mapping{Tenant: "/org/id", Owner: "/https:~1~1example.com~1user/0"}, claims{"org": claims{"id": "acme"}, "https://example.com/user": claims{"0": "ana"}},
			"agent oidc:ana ana ana acme [read] null"},
		{"a name with slashes", oidc.Mapping{Tenant: "https://example.com/org"}, claims{"https://example.com/org": "acme"}, "agent oidc:ana ana - acme [read] null"},
		{"a tenant that is a number", oidc.Mapping{Tenant: "org"}, claims{"org": 7}, "agent oidc:ana ana - 7 [read] null"},
		{"a tenant that is a list", oidc.Mapping{Tenant: "org"}, claims{"org": []string{"acme"}}, "agent oidc:ana ana - - [read] null"},
		{"a tenant that is true", oidc.Mapping{Tenant: "org"}, claims{"org": true}, "agent oidc:ana ana - - [read] null"},
		{"a tenant that is no whole number", oidc.Mapping{Tenant: "org"}, claims{"org": 7.5}, "agent oidc:ana ana - - [read] null"},
		{"a tenant that is one in other words", oidc.Mapping{Tenant: "org"}, claims{"org": json.RawMessage("7.0")}, "agent oidc:ana ana - - [read] null"},
		{"the longest tenant", oidc.Mapping{Tenant: "org"}, claims{"org": strings.Repeat("a", 200)}, "agent oidc:ana ana - " + strings.Repeat("a", 200) + " [read] null"},
		{"a claim without a name", oidc.Mapping{}, claims{"": "root"}, "agent oidc:ana ana - - [read] null"},
		{"a tenant that is null", oidc.Mapping{Tenant: "org"}, nil, "agent oidc:ana ana - - [read] null"},

		{"a list of scopes", oidc.Mapping{Scopes: "scp"}, claims{"scp": []string{"read", "explain"}}, "agent oidc:ana ana - - [read explain] null"},
		{"scopes among other words", oidc.Mapping{}, claims{"scope": "openid read profile READ admin"}, "agent oidc:ana ana - - [read] null"},
		{"a list with something else", oidc.Mapping{}, claims{"scope": []any{"read", 1}}, "agent oidc:ana ana - - [] null"},
		{"scopes by other words", oidc.Mapping{Scopes: "/realm/roles", ScopeOf: map[string][]identity.Scope{"viewer": {"read"}, "editor": {"read", "write"}}, Owner: "sub"},
			claims{"realm": claims{"roles": []string{"viewer", "editor", "read", "delete"}}}, "agent oidc:ana ana ana - [read write] null"},
		{"writing for nobody", oidc.Mapping{}, claims{"scope": "read write delete schema"}, "agent oidc:ana ana - - [read] null"},
		{"an agent is no operator", oidc.Mapping{Owner: "sub"}, claims{"scope": all}, "agent oidc:ana ana ana - [read write delete schema explain] null"},
		{"nor by what it says of itself", oidc.Mapping{Owner: "sub"}, claims{"scope": all, "kind": "human"}, "agent oidc:ana ana ana - [read write delete schema explain] null"},
		{"nor with a kind that isn't mapped", oidc.Mapping{Owner: "sub", Kind: "type", Kinds: human}, claims{"scope": all, "type": "human"}, "agent oidc:ana ana ana - [read write delete schema explain] null"},
		{"nor without one", oidc.Mapping{Owner: "sub", Kind: "type", Kinds: map[string]identity.Kind{"": identity.Human}}, claims{"scope": all}, "agent oidc:ana ana ana - [read write delete schema explain] null"},
		{"a human", oidc.Mapping{Owner: "sub", Kind: "type", Kinds: human}, claims{"scope": all, "type": "user"}, "human oidc:ana ana ana - [" + all + "] null"},
		{"a human without an owner", oidc.Mapping{Kind: "type", Kinds: human}, claims{"scope": all, "type": "user"}, "human oidc:ana ana - - [read write delete schema audit operator explain] null"},
		{"a service", oidc.Mapping{Kind: "type", Kinds: human}, claims{"scope": all, "type": "robot"}, "service oidc:ana ana - - [read write delete schema audit operator explain] null"},

		{"kept claims", oidc.Mapping{Keep: []string{"region", "/realm/roles", "absent"}}, claims{"region": "eu", "realm": claims{"roles": []string{"a"}}, "secret": 1},
			`agent oidc:ana ana - - [read] {"region":"eu","roles":["a"]}`},
		{"kept claims with strange names", oidc.Mapping{Keep: []string{"a~1b", "/c~1d~0"}}, claims{"a~1b": 1, "c/d~": 2}, `agent oidc:ana ana - - [read] {"a~1b":1,"c/d~":2}`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			p, err := i.open(oidc.Options{Claims: tt.mapping}).Authenticate(t.Context(), i.sign("ed", i.good(tt.claims)), nowhere)
			dash := func(s string) string {
				if s == "" {
					return "-"
				}
				return s
			}
			got := strings.Join([]string{string(p.Kind), p.ID, p.Name, dash(p.Owner), dash(p.Tenant), fmt.Sprint(p.Scopes), string(p.Claims.AppendJSON(nil))}, " ")
			if err != nil || got != tt.want {
				t.Errorf("%s, %v\nwant %s", got, err, tt.want)
			}
			if p.TokenID != "" || p.Tools.Only != nil || p.Classes.Only != nil || p.Actions.Only != nil {
				t.Errorf("%+v", p)
			}
		})
	}
}

// TestMappedLists checks that a missing but configured list claim allows nothing.
func TestMappedLists(t *testing.T) {
	i := newIssuer(t, "ed")
	door := i.open(oidc.Options{Claims: oidc.Mapping{Tools: "tools", Actions: "/may/do", Classes: "tools"}})
	for _, tt := range []struct {
		claims claims
		want   string
	}{
		{nil, "[] [] []"},
		{claims{"tools": " a\u00a0b  c\td\ne "}, `["a\u00a0b" "c\td\ne"] [] ["a\u00a0b" "c\td\ne"]`},
		{claims{"tools": "a b", "may": claims{"do": []string{"c"}}}, `["a" "b"] ["c"] ["a" "b"]`},
		{claims{"tools": claims{"only": "a"}, "may": "do"}, "[] [] []"},
	} {
		p, err := door.Authenticate(t.Context(), i.sign("ed", i.good(tt.claims)), nowhere)
		if got := fmt.Sprintf("%q %q %q", p.Tools.Only, p.Actions.Only, p.Classes.Only); err != nil || got != tt.want || p.Tools.Only == nil {
			t.Errorf("%s, %v; want %s", got, err, tt.want)
		}
	}
}

// TestWords checks which of an issuer's names for a scope is returned. It is the name that grants least and, among
// equals, the first.
func TestWords(t *testing.T) {
	scopes := func(s ...identity.Scope) []identity.Scope { return s }
	for _, tt := range []struct {
		name string
		of   map[string][]identity.Scope
		want map[identity.Scope]string
	}{
		{"none mapped", nil, nil},
		{"nothing granted", map[string][]identity.Scope{}, map[identity.Scope]string{}},
		{"the one that grants least", map[string][]identity.Scope{"editor": scopes("read", "write"), "viewer": scopes("read"), "admin": scopes("read", "write", "delete")},
			map[identity.Scope]string{"read": "viewer", "write": "editor", "delete": "admin"}},
		{"of equals the first", map[string][]identity.Scope{"b": scopes("read"), "a": scopes("read"), "c": scopes("read"), "all": scopes("read", "write")},
			map[identity.Scope]string{"read": "a", "write": "all"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			for range 20 { // the names are in a map, so their order varies
				if got := (oidc.Mapping{ScopeOf: tt.of}).Words(); (got == nil) != (tt.want == nil) || !maps.Equal(got, tt.want) {
					t.Fatalf("%v, want %v", got, tt.want)
				}
			}
		})
	}
}
