package config_test

import (
	"errors"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/bailiwick-dev/bailiwick/identity"
	"github.com/bailiwick-dev/bailiwick/internal/config"
	"github.com/bailiwick-dev/bailiwick/internal/oidc"
)

func TestIssuer(t *testing.T) {
	const head = "sources: {s: {url: sqlite:x}}\nauth:\n  oidc:\n"
	for _, tt := range []struct {
		name, text, resource string
		want                 oidc.Options
	}{
		{"the least", "    {issuer: https://login.example/, audience: [bailiwick]}\n", "",
			oidc.Options{Issuer: "https://login.example/", Audience: []string{"bailiwick"}}},
		{"a resource by its audience", "    {issuer: https://login.example/, audience: [bailiwick, 'https://agents.example/mcp']}\n", "https://agents.example/mcp",
			oidc.Options{Issuer: "https://login.example/", Audience: []string{"bailiwick", "https://agents.example/mcp"}}},
		{"all", `
    issuer: https://login.example/realms/a
    audience: ["https://agents.example/mcp"]
    jwks_uri: https://login.example/keys
    algorithms: [ES256, EdDSA]
    resource: https://agents.example/db/mcp
    claims:
      id: client_id
      name: name
      owner: email
      tenant: /org/id
      kind: {claim: typ, values: {user: human, bot: service}}
      scopes: {claim: /realm_access/roles, values: {viewer: [read], admin: [read, write, operator]}}
      tools: tools
      actions: actions
      classes: classes
      keep: [region, /org/plan]
`, "https://agents.example/db/mcp", oidc.Options{Issuer: "https://login.example/realms/a", Audience: []string{"https://agents.example/mcp"},
			JWKS: "https://login.example/keys", Algorithms: []string{"ES256", "EdDSA"}, Claims: oidc.Mapping{
				ID: "client_id", Name: "name", Owner: "email", Tenant: "/org/id", Kind: "typ", Kinds: map[string]identity.Kind{"user": "human", "bot": "service"},
				Scopes: "/realm_access/roles", ScopeOf: map[string][]identity.Scope{"viewer": {"read"}, "admin": {"read", "write", "operator"}},
				Tools: "tools", Actions: "actions", Classes: "classes", Keep: []string{"region", "/org/plan"}}}},
		{"without tokens of ours, for other machines", "    {issuer: https://login.example/, audience: [b]}\n  tokens: false\nlisten: 0.0.0.0:80\n", "",
			oidc.Options{Issuer: "https://login.example/", Audience: []string{"b"}}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c, err := config.Parse("f.yaml", []byte(head+tt.text), os.LookupEnv)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, *c.Auth.OIDC, cmpopts.IgnoreFields(oidc.Options{}, "Failed", "Client", "Now")); diff != "" || c.Auth.Resource != tt.resource {
				t.Errorf("%s resource %q", diff, c.Auth.Resource)
			}
			if _, err := oidc.New(*c.Auth.OIDC); err != nil {
				t.Error("what is read can't be used:", err)
			}
		})
	}
}

func TestIssuerFaults(t *testing.T) {
	const head = "sources: {s: {url: sqlite:x}}\nauth:\n  oidc:\n    "
	for _, tt := range []struct{ text, want string }{
		{"{audience: [b]}", "f.yaml:4:5: auth.oidc: needs the key issuer"},
		{"{issuer: https://login.example}", "f.yaml:3:3: auth.oidc: audience is missing: with it agents and people send the issuer's tokens. With sign_in people sign in there"},
		{"{issuer: https://login.example, sign_in: {}}", "f.yaml:4:46: auth.oidc.sign_in: needs the key client_id"},
		{"{issuer: https://login.example, sign_in: {client_id: a, step_up: {}}}", "f.yaml:4:70: auth.oidc.sign_in.step_up: "},
		{"{issuer: https://login.example, sign_in: {client_id: a, claims: {groups: g}}}", `f.yaml:4:70: auth.oidc.sign_in.claims: unknown key "groups"`},
		{"{issuer: https://login.example, audience: []}", "f.yaml:4:47: auth.oidc.audience: the list is empty. Name at least one or leave it out"},
		{"{issuer: http://login.example, audience: [b]}", "f.yaml:4:14: auth.oidc.issuer: must begin with https://. Only an address of this machine may begin with http://"},
		{"{issuer: https://login.example, audience: [b], jwks_uri: keys}", "f.yaml:4:62: auth.oidc.jwks_uri: must be a URL such as https://login.example.com/, without user, query and fragment"},
		{"{issuer: https://login.example, audience: [b], algorithms: [HS256]}", "f.yaml:4:65: auth.oidc.algorithms.0: must be RS256, RS384, RS512, PS256, PS384, PS512, ES256, ES384, ES512 or EdDSA. Did you mean ES256?"},
		{"{issuer: https://login.example, audience: [b], resource: agents}", "f.yaml:4:62: auth.oidc.resource: must be a URL such as https://agents.example/mcp"},
		{"{issuer: https://login.example, audience: [b], claims: {sub: a}}", `f.yaml:4:61: auth.oidc.claims: unknown key "sub"`},
		{"{issuer: https://login.example, audience: [b], claims: {}}", "f.yaml:4:60: auth.oidc.claims: "},
		{"{issuer: https://login.example, audience: [b], claims: {kind: {values: {a: human}}}}", "f.yaml:4:67: auth.oidc.claims.kind: needs the key claim"},
		{"{issuer: https://login.example, audience: [b], claims: {kind: {claim: k, values: {a: robot}}}}", "f.yaml:4:90: auth.oidc.claims.kind.values.a: must be agent, human or service"},
		{"{issuer: https://login.example, audience: [b], claims: {scopes: {claim: k, values: {a: [admin]}}}}", "f.yaml:4:93: auth.oidc.claims.scopes.values.a.0: must be read, write, delete, schema, review, audit, operator or explain"},
	} {
		_, err := config.Parse("f.yaml", []byte(head+tt.text+"\n"), os.LookupEnv)
		var e *config.Error
		if !errors.As(err, &e) || !strings.HasPrefix(err.Error(), tt.want) {
			t.Errorf("%s:\n%v\nwant %s", tt.text, err, tt.want)
		}
	}
}
