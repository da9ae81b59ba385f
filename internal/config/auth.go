package config

import (
	"net/url"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/bailiwick-dev/bailiwick/identity"
	"github.com/bailiwick-dev/bailiwick/internal/yamlconf"
)

// auth returns the shape of the section auth. Both flags are true by default and stored negated in c.Auth, so that
// the zero value is the default. Anonymous access exists only if its section is present.
func (c *Config) auth() yamlconf.Shape {
	tokens := true
	var anonymous identity.Principal
	keys := []yamlconf.Key{
		{Name: "tokens", Doc: "Whether tokens of our own are accepted. Default true", Shape: yamlconf.Flag(&tokens)},
		{Name: "token_life", Doc: "How long a new token lasts unless its maker says. Default 90d", Shape: yamlconf.Span(&c.Auth.TokenLife, time.Minute, 3650*24*time.Hour)},
		{Name: "anonymous", Doc: "Who comes from this machine without a credential. A request that a proxy passes on needs a credential", Shape: c.principal(&anonymous, "anonymous")},
	}
	agents := true
	keys = append(keys, yamlconf.Key{Name: "agents", Doc: "How agents sign in by themselves (OAuth), with the consent of a person who signs in to the console. That is so unless auth.oidc has an audience", Shape: yamlconf.Object([]yamlconf.Key{
		{Name: "sign_in", Doc: "false only takes tokens that were made before. Default true", Shape: yamlconf.Flag(&agents)},
		{Name: "token_life", Doc: "How long an access token lasts. Default 1h", Shape: yamlconf.Span(&c.Auth.Agents.Access, time.Minute, 24*time.Hour)},
		{Name: "idle", Doc: "An agent that hasn't asked for a new token for so long must ask its person again. Default 30d", Shape: yamlconf.Span(&c.Auth.Agents.Idle, time.Hour, 365*24*time.Hour)},
		{Name: "life", Doc: "After this its person is asked again in any case. Default 90d", Shape: yamlconf.Span(&c.Auth.Agents.Life, time.Hour, 365*24*time.Hour)},
	}, nil)})
	keys = append(keys, yamlconf.Key{Name: "oidc", Doc: "Who comes with a JSON Web Token of an OpenID Connect or OAuth issuer", Shape: c.issuer()})
	return yamlconf.Object(keys, func(*yamlconf.Reader, yamlconf.Node, string) {
		c.Auth.TokensOff, c.Auth.Agents.Off = !tokens, !agents
		if anonymous.ID != "" {
			c.Auth.Anonymous = &anonymous
		}
	})
}

// principal returns the shape of a principal that needs no credential.
func (c *Config) principal(p *identity.Principal, id string) yamlconf.Shape {
	var scopes []string
	var named struct{ tools, actions, classes identity.List }
	keys := []yamlconf.Key{
		{Name: "name", Doc: "For people. Default " + id, Shape: yamlconf.Words(&p.Name)},
		{Name: "owner", Doc: "The human on whose behalf it acts", Shape: yamlconf.Words(&p.Owner)},
		{Name: "tenant", Doc: "Whose records it sees in tenant-scoped classes", Shape: yamlconf.Words(&p.Tenant)},
		{Name: "scopes", Doc: "What it may do: read, write, delete, schema, explain", Must: true, Shape: yamlconf.List(&scopes, "scopes", agentScope)},
		{Name: "claims", Doc: "What rules can ask for as principal.claims.<name>", Shape: yamlconf.Data(&p.Claims)},
		{Name: "tools", Doc: "Narrows the tools", Shape: yamlconf.Object(listKeys(&named.tools, "tool names"), yamlconf.NotEmpty)},
		{Name: "actions", Doc: "Narrows the actions, as name or Class.name", Shape: yamlconf.Object(listKeys(&named.actions, "action names"), yamlconf.NotEmpty)},
		{Name: "classes", Doc: "Narrows the classes", Shape: yamlconf.Object(listKeys(&named.classes, "class names"), yamlconf.NotEmpty)},
		{Name: "filters", Doc: "The rows it sees, by class or default for all: where objects, in which {$cel: principal.claims.region} can stand for a value", Shape: c.filters(&p.Filters)},
	}
	return yamlconf.Object(append(keys, yamlconf.Later("kind")...), func(*yamlconf.Reader, yamlconf.Node, string) {
		p.ID, p.Kind, p.Tools, p.Actions, p.Classes = id, identity.Agent, named.tools, named.actions, named.classes
		if p.Name == "" {
			p.Name = id
		}
		for _, s := range scopes {
			p.Scopes = append(p.Scopes, identity.Scope(s))
		}
	})
}

// agentScope returns the reason why an agent can't have scope s, or "".
func agentScope(s string) string {
	agent := []string{string(identity.Read), string(identity.Write), string(identity.Delete), string(identity.Schema), string(identity.Explain)}
	switch identity.Scope(s) {
	case identity.Review, identity.Audit, identity.Operator:
		return s + " is never given to an agent"
	}
	if !slices.Contains(agent, s) {
		return "must be " + yamlconf.AnyOf(agent)
	}
	return ""
}

// shape returns the shape of the HTTP server's settings. Most limits have a maximum, so that a typing error can't
// disable them.
func (s *Server) shape() yamlconf.Shape {
	return yamlconf.Object(append([]yamlconf.Key{
		{Name: "origins", Doc: "Web origins whose pages may call", Shape: yamlconf.List(&s.Origins, "origins", origin)},
		{Name: "hosts", Doc: "Names by which this server is called, with or without a port", Shape: yamlconf.List(&s.Hosts, "host names", host)},
		{Name: "url", Doc: "This server as people and agents know it, such as https://gate.example: where sign-ins come back to, and what agents sign in for. A path that a proxy puts before the paths of the server belongs to it: https://app.example/agents. Default its address, on this machine only", Shape: yamlconf.Text("a URL", func(text string) string {
			s.URL = strings.TrimSuffix(text, "/")
			return base(s.URL)
		})},
		{Name: "max_body", Doc: "Bytes of a request. Default 1 MiB", Shape: yamlconf.Size(&s.MaxBody, 1000, maxBody)},
		{Name: "concurrency", Doc: "Calls at a time, shared among tenants, owners and credentials (limits.md). Default 64", Shape: yamlconf.Count(&s.Concurrency, 1, 10_000)},
		{Name: "queue", Doc: "Calls that wait for their turn. Default 256", Shape: yamlconf.OrNone(&s.Queue, yamlconf.Count(&s.Queue, 0, 100_000))},
		{Name: "streams", Doc: "Event streams of MCP at a time, shared like calls. Each takes memory (limits.md). Default 1000", Shape: yamlconf.Count(&s.Streams, 1, 100_000)},
		{Name: "connections", Doc: "Connections at a time", Shape: yamlconf.Object([]yamlconf.Key{
			{Name: "max", Doc: "Of all clients. Default 4096, and at most half of the files that the process may open", Shape: yamlconf.Count(&s.Connections.Max, 1, many)},
			{Name: "each", Doc: "Of one address, or one IPv6 /64. Default a quarter of max. Behind a proxy, which is one address, raise it", Shape: yamlconf.Count(&s.Connections.Each, 1, many)},
		}, nil)},
		{Name: "metrics", Doc: "Where metrics are shown to Prometheus: true at /metrics, to a token with the scope audit or operator, or on an address of their own", Shape: s.Metrics.shape()},
		{Name: "drain", Doc: "After SIGTERM, how long calls are still served while /readyz answers 503, so that a proxy chooses another replica. Default 5s. 0s ends at once", Shape: yamlconf.OrNone(&s.Drain, yamlconf.Span(&s.Drain, 0, 5*time.Minute))},
		{Name: "heartbeat", Doc: "Between progress notifications. Default 2s. 0s sends none", Shape: yamlconf.OrNone(&s.Heartbeat, yamlconf.Span(&s.Heartbeat, 0, time.Minute))},
		{Name: "sessions", Doc: "Sessions of the protocols before 2026-07-28", Shape: yamlconf.Object([]yamlconf.Key{
			{Name: "idle", Doc: "An idle one ends after this. Default 30m", Shape: yamlconf.Span(&s.Sessions.Idle, time.Second, 24*time.Hour)},
			{Name: "max", Doc: "Of all principals. Default 1000", Shape: yamlconf.Count(&s.Sessions.Max, 1, many)},
			{Name: "each", Doc: "Of one principal. Default 100", Shape: yamlconf.Count(&s.Sessions.Each, 1, many)},
		}, nil)},
	}, yamlconf.Later("tls", "console")...), nil)
}

func origin(s string) string {
	u, err := url.Parse(s)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || s != u.Scheme+"://"+u.Host {
		return "must be an origin: scheme, host and port alone, such as https://app.example"
	}
	return ""
}

// base accepts an origin, followed by the path that a proxy adds in front of the server's paths.
func base(s string) string {
	u, err := url.Parse(s)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || s != u.Scheme+"://"+u.Host+u.Path || !plainPath.MatchString(u.Path) {
		return "must be the address of the server, with the path that a proxy puts before its own, such as https://app.example or https://app.example/agents"
	}
	return ""
}

// plainPath matches the paths that base accepts. Their segments consist of letters, digits, '.', '_', '~' and '-',
// and none begins with '.'.
var plainPath = regexp.MustCompile(`^(/[A-Za-z0-9_~-][A-Za-z0-9._~-]*)*$`)

func host(s string) string {
	if strings.ContainsAny(s, "/ @*") {
		return "must be a host name, with or without a port, such as agents.example"
	}
	return ""
}
