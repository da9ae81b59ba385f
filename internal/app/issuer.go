package app

import (
	"context"
	"log/slog"
	"net/http"

	"github.com/bailiwick-dev/bailiwick"
	"github.com/bailiwick-dev/bailiwick/console"
	"github.com/bailiwick-dev/bailiwick/identity"
	"github.com/bailiwick-dev/bailiwick/internal/authserver"
	"github.com/bailiwick-dev/bailiwick/internal/edge"
	"github.com/bailiwick-dev/bailiwick/internal/oidc"
	"github.com/bailiwick-dev/bailiwick/mcp"
)

// issuer returns the options of the configured OIDC issuer. Later problems are logged to log.
func (p *App) issuer(log *slog.Logger) oidc.Options {
	options := *p.Config.Auth.OIDC
	options.Failed = func(err error) {
		log.Error("can't fetch the issuer's keys. Its tokens are accepted only while the cached keys are valid", "issuer", options.Issuer, "error", err)
	}
	return options
}

// TrustIssuer makes o accept tokens of the configured OIDC issuer, if it issues tokens for agents. Otherwise agents
// can get tokens from this server.
func (p *App) TrustIssuer(o *mcp.Options) error {
	c := p.Config.Auth
	if c.OIDC == nil || c.OIDC.Audience == nil {
		if p.lets = !c.TokensOff && !c.Agents.Off && o.Authenticate == nil; p.lets {
			o.Resource = &authserver.Resource{URL: p.Config.Server.MCP()}
			o.ResourceMetadata = authserver.Below(p.Config.Server.URL)
		}
		return nil
	}
	options := p.issuer(o.Logger)
	issuer, err := oidc.New(options)
	if err != nil {
		return err
	}
	p.closers = append(p.closers, func() error { issuer.Close(); return nil })
	o.Tokens = identity.Forms{Tokens: o.Tokens, JWT: issuer}
	if c.Resource != "" {
		o.Resource = &authserver.Resource{URL: c.Resource, Issuers: []string{options.Issuer}, Words: options.Claims.Words()}
	}
	return nil
}

// signIn returns the OpenID Connect provider at which people sign in, or nil.
func (p *App) signIn(log *slog.Logger) (console.Issuer, error) {
	if p.Config.Auth.SignIn == nil {
		return nil, nil
	}
	provider, err := oidc.NewProvider(*p.Config.Auth.SignIn, p.issuer(log))
	if err != nil {
		return nil, err
	}
	p.closers = append(p.closers, func() error { provider.Close(); return nil })
	return provider, nil
}

// agents returns the authorization server for agents, or nil if agents don't sign in by themselves.
func (p *App) agents(s *mcp.Server, log *slog.Logger) console.Agents {
	if !p.lets {
		return nil
	}
	return authserver.New(authserver.Options{
		Tokens: p.Tokens, Base: func(r *http.Request) string { return edge.Base(p.inForce().Server.URL, r) }, Allow: s.Allow, Authorize: console.Path + "/allow",
		Access: p.Config.Auth.Agents.Access, Idle: p.Config.Auth.Agents.Idle, Life: p.Config.Auth.Agents.Life, Log: log,
		Admit: func(ctx context.Context, agent identity.Principal, tool string) error {
			return p.Gateway.Do(ctx, agent, bailiwick.CallSpec{Tool: tool, Needs: agent.Scopes[0]}, func(context.Context, *bailiwick.Call) (int, error) { return 0, nil })
		},
	})
}
