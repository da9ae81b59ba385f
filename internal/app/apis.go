package app

import (
	"fmt"
	"net/http"
	"net/url"
	"slices"

	"github.com/bailiwick-dev/bailiwick/console"
	"github.com/bailiwick-dev/bailiwick/internal/config"
	"github.com/bailiwick-dev/bailiwick/internal/connect"
	"github.com/bailiwick-dev/bailiwick/internal/openapi/client"
	"github.com/bailiwick-dev/bailiwick/internal/openapi/configured"
	"github.com/bailiwick-dev/bailiwick/internal/openapi/credential"
	"github.com/bailiwick-dev/bailiwick/source/openapi"
)

// openAPI opens an HTTP API. It sends nothing. Responses are searched for the credentials of all sources. People connect
// their accounts in connections; where it is nil, calls that need one are refused. A program's own credential takes the place of all
// that are configured for base_url.
func openAPI(c *config.Config, s config.Source, connections *connect.Connections) (*openapi.API, error) {
	who, servers, err := configured.Credentials(s.OpenAPI, s.Name, connections)
	if c.Credential != nil {
		if own := c.Credential(s.Name); own != nil {
			who, err = configured.Beside(who, own), nil
		}
	}
	if err != nil {
		return nil, fmt.Errorf("source %s can't be opened: its credential: %w", s.Name, err)
	}
	o := client.Options{Base: s.OpenAPI.BaseURL, Credential: who, Known: knownTo(c), Timeout: s.OpenAPI.Timeout, Headers: http.Header{}, Downloads: s.OpenAPI.Downloads}
	for _, h := range s.OpenAPI.Headers {
		if !h.Secret {
			o.Headers.Set(h.Name, h.Value)
		}
	}
	if t := s.OpenAPI.TLS; t != nil {
		if o.Identity, err = credential.NewCertificate(credential.CertificateFiles{Certificate: t.Certificate, Key: t.Key, Authorities: t.Authorities}); err != nil {
			return nil, fmt.Errorf("source %s can't be opened: %w", s.Name, err)
		}
	}
	if o.Trusted, err = configured.Trusted(s.OpenAPI.TLS); err != nil {
		return nil, fmt.Errorf("source %s can't be opened: %w", s.Name, err)
	}
	sender, err := client.New(o)
	if err != nil {
		return nil, fmt.Errorf("source %s can't be opened: %w", s.Name, err)
	}
	senders := map[string]*client.Sender{}
	for at, who := range servers {
		if senders[at], err = client.New(client.Options{Base: at, Credential: who, Known: o.Known, Timeout: o.Timeout, Downloads: o.Downloads, Identity: o.Trusted, Trusted: o.Trusted}); err != nil {
			return nil, fmt.Errorf("the server %s of source %s can't be opened: %w", at, s.Name, err)
		}
	}
	return openapi.NewOver(s.Name, sender, senders), nil
}

// openConnections returns the connections of people that p's sources use, nil if none does.
func (p *App) openConnections() (*connect.Connections, error) {
	if !slices.ContainsFunc(p.Config.Sources, func(s config.Source) bool {
		return s.OpenAPI != nil && s.OpenAPI.Person() != nil
	}) {
		return nil, nil
	}
	keys := p.Config.Accounts
	return connect.New(connect.Options{Store: p.Store, Used: p.Store, Key: keys.Key, Previous: keys.Previous, Page: func() string { return p.site() + console.Path + "/you" }})
}

// knownTo returns the credentials of all sources, including the passwords of databases.
func knownTo(c *config.Config) *credential.Known {
	known := &credential.Known{}
	for _, s := range c.Sources {
		if u, err := url.Parse(s.URL); err == nil && u.User != nil {
			password, _ := u.User.Password()
			known.Add(password)
		}
		if s.OpenAPI != nil {
			known.Add(configured.Secrets(s.OpenAPI)...)
		}
	}
	return known
}
