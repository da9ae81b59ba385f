package config

import (
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/bailiwick-dev/bailiwick/identity"
	"github.com/goccy/go-yaml/ast"
)

func (c *Config) limits() shape {
	l := &c.Limits
	return object(append([]key{
		{name: "rate", doc: "Calls in a time, for each owner and each token: 600/min", shape: rate(&l.Rate)},
		{name: "burst", doc: "Calls at once on top of the rate", shape: count(&l.Burst, 1, many)},
		{name: "concurrency", doc: "Calls of one principal at a time", shape: count(&l.Concurrency, 1, 10_000)},
		{name: "rows", doc: "Rows when the caller gives no limit", shape: object([]key{
			{name: "query", doc: "Of query_class. Default 100", shape: count(&l.QueryRows, 1, maxRows)},
			{name: "samples", doc: "Of get_sample_objects. Default 5", shape: count(&l.SampleRows, 1, maxSamples)},
		}, nil)},
		{name: "timeouts", doc: "How long a tool may take, by its name", shape: each(table{names: "tool", of: func(name string) (shape, func()) {
			var d time.Duration
			return span(&d, 10*time.Millisecond, maxTimeout), func() {
				if l.Timeouts == nil {
					l.Timeouts = map[string]time.Duration{}
				}
				l.Timeouts[name] = d
			}
		}})},
	}, later("daily", "pending_changes")...), nil)
}

func (c *Config) auth() shape {
	tokens := true
	var anonymous identity.Principal
	keys := []key{
		{name: "tokens", doc: "Whether tokens of our own are accepted. Default true", shape: flag(&tokens)},
		{name: "token_life", doc: "How long a new token lasts unless its maker says. Default 90d", shape: span(&c.Auth.TokenLife, time.Minute, 3650*24*time.Hour)},
		{name: "anonymous", doc: "Who comes from this machine without a credential", shape: principal(&anonymous, "anonymous")},
	}
	return object(append(keys, later("oidc", "jwt", "issuer", "audience")...), func(*reader, ast.Node, string) {
		c.Auth.TokensOff = !tokens
		if anonymous.ID != "" {
			c.Auth.Anonymous = &anonymous
		}
	})
}

// principal is somebody who needs no credential.
func principal(p *identity.Principal, id string) shape {
	var scopes []string
	var named struct{ tools, classes identity.List }
	keys := []key{
		{name: "name", doc: "For people. Default " + id, shape: words(&p.Name)},
		{name: "owner", doc: "The human on whose behalf it acts", shape: words(&p.Owner)},
		{name: "tenant", doc: "Whose records it sees in tenant-scoped classes", shape: words(&p.Tenant)},
		{name: "scopes", doc: "What it may do: read, write, delete, schema, explain", must: true, shape: list(&scopes, "scopes", agentScope)},
		{name: "claims", doc: "What rules can ask for as principal.claims.<name>", shape: data(&p.Claims)},
		{name: "tools", doc: "Narrows the tools", shape: object(listKeys(&named.tools, "tool names"), only)},
		{name: "classes", doc: "Narrows the classes", shape: object(listKeys(&named.classes, "class names"), only)},
		{name: "filters", doc: "The rows it sees, by class or default for all: where objects", shape: filters(&p.Filters)},
	}
	return object(append(keys, later("actions", "kind")...), func(*reader, ast.Node, string) {
		p.ID, p.Kind, p.Tools, p.Classes = id, identity.Agent, named.tools, named.classes
		if p.Name == "" {
			p.Name = id
		}
		for _, s := range scopes {
			p.Scopes = append(p.Scopes, identity.Scope(s))
		}
	})
}

// agentScope says what is wrong with a scope for an agent.
func agentScope(s string) string {
	agent := []string{string(identity.Read), string(identity.Write), string(identity.Delete), string(identity.Schema), string(identity.Explain)}
	switch identity.Scope(s) {
	case identity.Review, identity.Audit, identity.Operator:
		return s + " is never given to an agent"
	}
	if !slices.Contains(agent, s) {
		return "must be " + anyOf(agent)
	}
	return ""
}

func (s *Server) shape() shape {
	return object(append([]key{
		{name: "origins", doc: "Web origins whose pages may call", shape: list(&s.Origins, "origins", origin)},
		{name: "hosts", doc: "Names by which this server is called, with or without a port", shape: list(&s.Hosts, "host names", host)},
		{name: "max_body", doc: "Bytes of a request. Default 1 MiB", shape: size(&s.MaxBody, 1000, maxBody)},
		{name: "concurrency", doc: "Calls at a time. Default 64", shape: count(&s.Concurrency, 1, 10_000)},
		{name: "queue", doc: "Calls that wait for their turn. Default 256", shape: orNone(&s.Queue, count(&s.Queue, 0, 100_000))},
		{name: "heartbeat", doc: "Between progress notifications. Default 2s; 0s sends none", shape: orNone(&s.Heartbeat, span(&s.Heartbeat, 0, time.Minute))},
		{name: "sessions", doc: "Sessions of the protocols before 2026-07-28", shape: object([]key{
			{name: "idle", doc: "An idle one ends after this. Default 30m", shape: span(&s.Sessions.Idle, time.Second, 24*time.Hour)},
			{name: "max", doc: "Of all principals. Default 1000", shape: count(&s.Sessions.Max, 1, many)},
			{name: "each", doc: "Of one principal. Default 100", shape: count(&s.Sessions.Each, 1, many)},
		}, nil)},
	}, later("tls", "console", "metrics")...), nil)
}

// orNone reads s and turns a written 0 into -1: the zero value stands for the default.
func orNone[T ~int | ~int64](into *T, s shape) shape {
	return shape{schema: s.schema, read: func(r *reader, n ast.Node, at string) {
		before := r.count()
		if s.read(r, n, at); *into == 0 && r.count() == before {
			*into = -1
		}
	}}
}

func origin(s string) string {
	u, err := url.Parse(s)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || s != u.Scheme+"://"+u.Host {
		return "must be an origin: scheme, host and port alone, such as https://app.example"
	}
	return ""
}

func host(s string) string {
	if strings.ContainsAny(s, "/ @*") {
		return "must be a host name, with or without a port, such as agents.example"
	}
	return ""
}
