package app

import (
	"fmt"
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
// their accounts in connections; where it is nil, calls that need one are refused.
func openAPI(c *config.Config, s config.Source, connections *connect.Connections) (*openapi.API, error) {
	who, err := configured.Credential(s.OpenAPI.Credential)
	if p := s.OpenAPI.Credential; err == nil && p != nil && p.Person != nil && connections != nil {
		who, err = configured.Account(connections, s.Name, p.Person)
	}
	if c.Credential != nil {
		if own := c.Credential(s.Name); own != nil {
			who, err = own, nil
		}
	}
	if err != nil {
		return nil, fmt.Errorf("source %s can't be opened: its credential: %w", s.Name, err)
	}
	sender, err := client.New(client.Options{Base: s.OpenAPI.BaseURL, Credential: who, Known: knownTo(c), Timeout: s.OpenAPI.Timeout})
	if err != nil {
		return nil, fmt.Errorf("source %s can't be opened: %w", s.Name, err)
	}
	return openapi.New(s.Name, sender), nil
}

// openConnections returns the connections of people that p's sources use, nil if none does.
func (p *App) openConnections() (*connect.Connections, error) {
	if !slices.ContainsFunc(p.Config.Sources, func(s config.Source) bool {
		return s.OpenAPI != nil && s.OpenAPI.Credential != nil && s.OpenAPI.Credential.Person != nil
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
			known.Add(configured.Secrets(s.OpenAPI.Credential)...)
		}
	}
	return known
}
