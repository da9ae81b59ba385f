package app

import (
	"fmt"
	"net/url"

	"github.com/bailiwick-dev/bailiwick/internal/config"
	"github.com/bailiwick-dev/bailiwick/internal/config/apis"
	"github.com/bailiwick-dev/bailiwick/internal/openapi/client"
	"github.com/bailiwick-dev/bailiwick/internal/openapi/credential"
	"github.com/bailiwick-dev/bailiwick/source/openapi"
)

// openAPI opens an HTTP API. It sends nothing. Responses are searched for the credentials of all sources.
func openAPI(c *config.Config, s config.Source) (*openapi.API, error) {

	who, err := credentialOf(s.OpenAPI.Credential)
	if err != nil {
		return nil, fmt.Errorf("source %s can't be opened: its credential: %w", s.Name, err)
	}
	sender, err := client.New(client.Options{Base: s.OpenAPI.BaseURL, Credential: who, Known: knownTo(c), Timeout: s.OpenAPI.Timeout})
	if err != nil {
		return nil, fmt.Errorf("source %s can't be opened: %w", s.Name, err)
	}
	return openapi.New(s.Name, sender), nil
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
			known.Add(secretsOf(s.OpenAPI.Credential)...)
		}
	}
	return known
}

func secretsOf(c *apis.Credential) []string {
	switch {
	case c == nil:
		return nil
	case c.OAuth != nil:
		return []string{c.OAuth.Secret}
	case c.Each != nil:
		var all []string
		for _, of := range c.Each.Of {
			all = append(all, secretsOf(&of)...)
		}
		return all
	}
	made, err := credentialOf(c)
	if h, ok := made.(credential.Holder); ok && err == nil {
		return h.Secrets()
	}
	return nil
}

// credentialOf returns the credential for its configuration, or nil if there is none.
func credentialOf(c *apis.Credential) (credential.Credential, error) {
	switch {
	case c == nil:
		return nil, nil
	case c.Bearer != "":
		return credential.Bearer(c.Bearer), nil
	case c.Header != nil:
		return credential.Header(*c.Header), nil
	case c.Basic != nil:
		return credential.Basic(*c.Basic), nil
	case c.Query != nil:
		return credential.Query(*c.Query), nil
	case c.OAuth != nil:
		params := url.Values{}
		for name, v := range c.OAuth.Params {
			params.Set(name, v)
		}
		return credential.NewClient(credential.ClientOptions{TokenURL: c.OAuth.TokenURL, ID: c.OAuth.ID, Secret: c.OAuth.Secret, Scopes: c.OAuth.Scopes, Params: params})
	case c.Each != nil:
		each := credential.PerPrincipal{By: credential.By(c.Each.By), Claim: c.Each.Claim, Of: map[string]credential.Credential{}}
		for name, of := range c.Each.Of {
			made, err := credentialOf(&of)
			if err != nil {
				return nil, err
			}
			each.Of[name] = made
		}
		return each, nil
	}
	return nil, fmt.Errorf("it says nothing")
}
