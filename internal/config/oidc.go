package config

import (
	"net/url"
	"reflect"
	"slices"

	"github.com/bailiwick-dev/bailiwick/identity"
	"github.com/bailiwick-dev/bailiwick/internal/oidc"
	"github.com/bailiwick-dev/bailiwick/internal/yamlconf"
	"github.com/bailiwick-dev/bailiwick/problem"
)

// issuer returns the shape of the issuer of accepted JSON Web Tokens.
func (c *Config) issuer() yamlconf.Shape {
	o := &oidc.Options{}
	keys := []yamlconf.Key{
		{Name: "issuer", Doc: "Who signs the tokens, exactly as their claim iss has it", Must: true, Shape: address(&o.Issuer)},
		{Name: "audience", Doc: "A token must be for one of these. Without one the issuer signs people in, and its tokens are not accepted", Shape: yamlconf.List(&o.Audience, "audiences", nil)},
		{Name: "jwks_uri", Doc: "Where the issuer's keys are. Default what its discovery document says", Shape: address(&o.JWKS)},
		{Name: "algorithms", Doc: "What a token may be signed with. Default all that have a public key", Shape: yamlconf.List(&o.Algorithms, "algorithms", algorithm)},
		{Name: "resource", Doc: "The URL of /mcp as clients know it, for the metadata of RFC 9728. Default the first audience that is a URL", Shape: yamlconf.Text("a URL", func(s string) string {
			c.Auth.Resource = s
			return resource(s)
		})},
		{Name: "claims", Doc: "What the claims of a token mean: by name, or by JSON pointer for one inside of another", Shape: mapping(&o.Claims)},
		{Name: "sign_in", Doc: "How people sign in to the console at the issuer", Shape: c.signIn(&c.Auth.SignIn)},
		{Name: "filters", Doc: "The rows that all who come by this issuer see, by class or default: where objects", Shape: c.filters(&o.Claims.Filters)},
	}
	return yamlconf.Object(keys, func(r *yamlconf.Reader, _ yamlconf.Node, at string) {
		c.Auth.OIDC = o
		if s := c.Auth.SignIn; s != nil && reflect.ValueOf(s.Claims).IsZero() {
			s.Claims = o.Claims
		} else if s == nil && o.Audience == nil && !r.HasAt(at+"/audience") {
			r.WrongAt(at, "audience is missing: with it agents and people send the issuer's tokens. With sign_in people sign in there")
		}
		if i := slices.IndexFunc(o.Audience, func(a string) bool { return resource(a) == "" }); c.Auth.Resource == "" && i >= 0 {
			c.Auth.Resource = o.Audience[i]
		}
	})
}

// mapping returns the shape of the mapping from claims to a principal.
func mapping(m *oidc.Mapping) yamlconf.Shape {
	return yamlconf.Object([]yamlconf.Key{
		{Name: "id", Doc: "Who it is. Default sub", Shape: yamlconf.Words(&m.ID)},
		{Name: "name", Doc: "For people. Default that of id", Shape: yamlconf.Words(&m.Name)},
		{Name: "owner", Doc: "The human on whose behalf it acts. Without one an agent can only read", Shape: yamlconf.Words(&m.Owner)},
		{Name: "tenant", Doc: "Whose records it sees in tenant-scoped classes", Shape: yamlconf.Words(&m.Tenant)},
		{Name: "kind", Doc: "Who is a human or a service. All others are agents", Shape: claimShape(&m.Kind, "value", func(value string) (yamlconf.Shape, func()) {
			var kind identity.Kind
			return yamlconf.OneOf(&kind, identity.Agent, identity.Human, identity.Service), func() {
				if m.Kinds == nil {
					m.Kinds = map[string]identity.Kind{}
				}
				m.Kinds[value] = kind
			}
		})},
		{Name: "scopes", Doc: "What it may do. Default the claim scope, with the names of our own scopes", Shape: claimShape(&m.Scopes, "word", func(word string) (yamlconf.Shape, func()) {
			var names []string
			return yamlconf.List(&names, "scopes", scope), func() {
				if m.ScopeOf == nil {
					m.ScopeOf = map[string][]identity.Scope{}
				}
				for _, n := range names {
					m.ScopeOf[word] = append(m.ScopeOf[word], identity.Scope(n))
				}
			}
		})},
		{Name: "tools", Doc: "A list of the tools that it may call. Without the claim none", Shape: yamlconf.Words(&m.Tools)},
		{Name: "actions", Doc: "A list of the actions that it may call, likewise", Shape: yamlconf.Words(&m.Actions)},
		{Name: "classes", Doc: "A list of the classes that it sees, likewise", Shape: yamlconf.Words(&m.Classes)},
		{Name: "keep", Doc: "What rules can ask for as principal.claims.<name>", Shape: yamlconf.List(&m.Keep, "claims", nil)},
	}, yamlconf.NotEmpty)
}

// claimShape returns the shape of a claim with the meaning of its values.
func claimShape(claim *string, what string, of func(string) (yamlconf.Shape, func())) yamlconf.Shape {
	return yamlconf.Object([]yamlconf.Key{
		{Name: "claim", Doc: "The claim", Must: true, Shape: yamlconf.Words(claim)},
		{Name: "values", Doc: "What each " + what + " of it stands for. Others stand for nothing", Shape: yamlconf.Each(yamlconf.Table{Names: what, Of: of})},
	}, nil)
}

func address(into *string) yamlconf.Shape {
	return yamlconf.Text("a URL", func(s string) string {
		*into = s
		if err := oidc.CheckURL(s); err != nil {
			return err.Error()
		}
		return ""
	})
}

func resource(s string) string {
	u, err := url.Parse(s)
	if err != nil || u.Scheme != "https" && u.Scheme != "http" || u.Host == "" || u.RawQuery != "" || u.Fragment != "" {
		return "must be a URL such as https://agents.example/mcp"
	}
	return ""
}

func algorithm(s string) string {
	if known := oidc.Algorithms(); !slices.Contains(known, s) {
		return "must be " + yamlconf.AnyOf(known) + problem.DidYouMean(problem.Nearest(s, known, 1))
	}
	return ""
}

// scope returns the reason why a scope is invalid, or "". Scopes that a kind of principal may not have are dropped at
// authentication.
func scope(s string) string {
	// A human with an owner may have every scope.
	if known := identity.Clamp(identity.Human, "somebody", []identity.Scope{identity.Scope(s)}); len(known) == 0 {
		return "must be read, write, delete, schema, review, audit, operator or explain"
	}
	return ""
}
