// Package configured makes the credentials for HTTP APIs that a configuration describes.
package configured

import (
	"cmp"
	"context"
	"errors"
	"net/url"

	"github.com/bailiwick-dev/bailiwick/identity"
	"github.com/bailiwick-dev/bailiwick/internal/config/apis"
	"github.com/bailiwick-dev/bailiwick/internal/connect"
	"github.com/bailiwick-dev/bailiwick/internal/openapi/credential"
)

// Account returns the credential of a source to which people connect.
func Account(all *connect.Connections, source string, c *apis.Person) (credential.Credential, error) {
	account, err := all.Add(source, connect.Provider{AuthorizeURL: c.AuthorizeURL, TokenURL: c.TokenURL, RevokeURL: c.RevokeURL, Issuer: c.Issuer, ID: c.ID, Secret: c.Secret,
		InBody: c.InBody, Scopes: c.Scopes, Params: c.Params})
	if err != nil || c.Exchange == nil {
		return account, err
	}
	o := exchangeOf(c)
	return credential.NewTokenExchange(o, func(ctx context.Context, who identity.Principal) (string, string, error) {
		token, err := account.Token(ctx, who)
		return token, "", err
	})
}

// exchangeOf returns the options of a token exchange, whose client is that of the connection unless it has its own.
func exchangeOf(c *apis.Person) credential.ClientOptions {
	e := c.Exchange
	o := credential.ClientOptions{TokenURL: cmp.Or(e.TokenURL, c.TokenURL), ID: c.ID, Secret: c.Secret, Scopes: e.Scopes, Params: paramsOf(e.Params)}
	if e.ID != "" {
		o.ID, o.Secret = e.ID, e.Secret
	}
	return o
}

func paramsOf(given map[string]string) url.Values {
	params := url.Values{}
	for name, v := range given {
		params.Set(name, v)
	}
	return params
}

// Secrets returns the secrets of a credential.
func Secrets(c *apis.Credential) []string {
	switch {
	case c == nil:
		return nil
	case c.OAuth != nil:
		return []string{c.OAuth.Secret}
	case c.Person != nil && c.Person.Exchange != nil:
		return []string{c.Person.Secret, c.Person.Exchange.Secret}
	case c.Person != nil:
		return []string{c.Person.Secret}
	case c.Each != nil:
		var all []string
		for _, of := range c.Each.Of {
			all = append(all, Secrets(&of)...)
		}
		return all
	}
	made, err := Credential(c)
	if h, ok := made.(credential.Holder); ok && err == nil {
		return h.Secrets()
	}
	return nil
}

// Credential returns the credential for its configuration, or nil if there is none. That of a person is made by Account; here
// it refuses every principal.
func Credential(c *apis.Credential) (credential.Credential, error) {
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
	case c.Cookie != nil:
		return credential.Cookie(*c.Cookie), nil
	case c.OAuth != nil:
		return credential.NewClient(credential.ClientOptions{TokenURL: c.OAuth.TokenURL, ID: c.OAuth.ID, Secret: c.OAuth.Secret, Scopes: c.OAuth.Scopes, Params: paramsOf(c.OAuth.Params)})
	case c.Person != nil:
		return credential.PerPrincipal{}, nil // a look without a store: no principal has one
	case c.Each != nil:
		each := credential.PerPrincipal{By: credential.By(c.Each.By), Claim: c.Each.Claim, Of: map[string]credential.Credential{}}
		for name, of := range c.Each.Of {
			made, err := Credential(&of)
			if err != nil {
				return nil, err
			}
			each.Of[name] = made
		}
		return each, nil
	}
	return nil, errors.New("it says nothing")
}
