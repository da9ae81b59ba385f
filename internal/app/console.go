package app

import (
	"context"
	"log/slog"
	"maps"
	"net/url"
	"slices"
	"sync"
	"time"

	"github.com/bailiwick-dev/bailiwick"
	"github.com/bailiwick-dev/bailiwick/console"
	"github.com/bailiwick-dev/bailiwick/identity"
	"github.com/bailiwick-dev/bailiwick/internal/openapi/spec"
	"github.com/bailiwick-dev/bailiwick/internal/policyops"
	"github.com/bailiwick-dev/bailiwick/internal/webhook"
	"github.com/bailiwick-dev/bailiwick/mcp"
	"github.com/bailiwick-dev/bailiwick/source"
)

// healthPatience is the maximum time for a source to answer a health check.
const healthPatience = 3 * time.Second

// Console returns the web console, where people sign in with credentials that the authenticator accepts. It closes with
// ctx.
func (p *App) Console(ctx context.Context, s *mcp.Server, credentials identity.Authenticator, log *slog.Logger) (*console.Console, error) {
	issuer, err := p.signIn(log)
	if err != nil {
		return nil, err
	}
	o := console.Options{
		Reviewer: p.Gateway.Reviewer, Credentials: credentials, Allow: s.Allow,
		Admit: func(ctx context.Context, principal identity.Principal, ask bailiwick.CallSpec, run func(context.Context) error) error {
			return p.Gateway.Do(ctx, principal, ask, func(ctx context.Context, _ *bailiwick.Call) (int, error) { return 0, run(ctx) })
		},
		Audit: p.Store, Exposure: func() (*policyops.Regime, error) { return p.Gateway.Regime(offers(p.inForce())) },
		Tokens: p.Tokens, Issuer: issuer, Agents: p.agents(s, log), URL: p.Config.Server.URL, Sources: func(ctx context.Context) []console.Source { return p.health(ctx, log) },
		Connections: p.connections, Version: Version(), Log: log, Fresh: p.Config.Auth.Fresh,
	}
	if hooks := p.Config.Notifications.Hooks; hooks != nil {
		o.Deliveries, o.Hooks = p.Store, webhook.Names(hooks)
		o.TestHook = func(ctx context.Context, hook string) error { return TestNotification(ctx, p.inForce(), hook) }
	}
	c, err := console.New(o)
	if err != nil {
		return nil, err
	}
	context.AfterFunc(ctx, c.Close)
	return c, nil
}

// health checks all sources concurrently.
func (p *App) health(ctx context.Context, log *slog.Logger) []console.Source {
	classes := map[string]int{}
	for _, c := range p.Gateway.Catalogue() {
		classes[c.Source]++
	}
	kinds, operations := map[string]string{}, map[string]int{}
	for name, rules := range apisWithDocument(p.inForce()) {
		operations[name] = len(spec.NewView(rules.Document, nil, spec.Filter{}).Operations())
	}
	for _, s := range p.inForce().Sources {
		switch u, err := url.Parse(s.URL); {
		case s.OpenAPI != nil:
			kinds[s.Name] = "openapi"
		case s.Metadata != nil:
			kinds[s.Name] = "metadata"
		case err == nil:
			kinds[s.Name] = u.Scheme
		}
	}
	names := slices.Sorted(maps.Keys(p.sources))
	out := make([]console.Source, len(names))
	ctx, cancel := context.WithTimeout(ctx, healthPatience)
	defer cancel()
	var wait sync.WaitGroup
	for i, name := range names {
		out[i] = console.Source{Name: name, Kind: kinds[name], Classes: classes[name], Operations: operations[name], Well: true}
		pinger, ok := p.sources[name].(source.Pinger)
		if !ok {
			continue
		}
		wait.Go(func() {
			start := time.Now()
			err := pinger.Ping(ctx)
			out[i].Took, out[i].Well = time.Since(start), err == nil
			if err != nil {
				log.WarnContext(ctx, "a source does not answer", "source", name, "error", err)
			}
		})
	}
	wait.Wait()
	return out
}
