package app

import (
	"github.com/bailiwick-dev/bailiwick/identity"
	"github.com/bailiwick-dev/bailiwick/internal/oauthmeta"
	"github.com/bailiwick-dev/bailiwick/internal/oidc"
	"github.com/bailiwick-dev/bailiwick/mcp"
)

// TrustIssuer makes o accept tokens of the configured OIDC issuer, if there is one. Later problems with the issuer are
// logged to o's Logger.
func (p *App) TrustIssuer(o *mcp.Options) error {
	c := p.Config.Auth
	if c.OIDC == nil {
		return nil
	}
	options, log := *c.OIDC, o.Logger
	options.Failed = func(err error) {
		log.Error("the issuer's keys could not be had; whom it vouches for is let in only as long as older keys are good", "issuer", options.Issuer, "error", err)
	}
	issuer, err := oidc.New(options)
	if err != nil {
		return err
	}
	p.closers = append(p.closers, func() error { issuer.Close(); return nil })
	o.Tokens = identity.Forms{Tokens: o.Tokens, JWT: issuer}
	if c.Resource != "" {
		o.Resource = &oauthmeta.Resource{URL: c.Resource, Issuers: []string{options.Issuer}, Words: wordsOf(options.Claims)}
	}
	return nil
}

// wordsOf returns the issuer's name for each of our scopes: of several, the one that grants least. It is nil if the
// names are the same.
func wordsOf(m oidc.Mapping) map[identity.Scope]string {
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
