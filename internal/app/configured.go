package app

import (
	"cmp"
	"context"
	"errors"
	"net/url"

	"github.com/bailiwick-dev/bailiwick/identity"
	"github.com/bailiwick-dev/bailiwick/internal/config"
	"github.com/bailiwick-dev/bailiwick/internal/connect"
	"github.com/bailiwick-dev/bailiwick/internal/openapi/client"
)

// TrustedCertificate returns the authorities for connections of a source to hosts other than base_url: the
// authorities in tls.ca and the system's authorities. It returns nil if tls.ca is not configured. The gateway's own
// certificate is sent only to base_url.
func TrustedCertificate(t *config.APITLS) (*client.Certificate, error) {
	if t == nil || t.Authorities == "" {
		return nil, nil
	}
	return client.NewCertificate(client.CertificateFiles{Authorities: t.Authorities, System: true})
}

// AccountCredential returns the credential of a source for which people connect their accounts.
func AccountCredential(all *connect.Connections, source string, c *config.PersonAccount, trusted *client.Certificate) (client.Credential, error) {
	provider := connect.Provider{AuthorizeURL: c.AuthorizeURL, TokenURL: c.TokenURL, RevokeURL: c.RevokeURL, Issuer: c.Issuer, ID: c.ID, Secret: c.Secret,
		InBody: c.InBody, Scopes: c.Scopes, Params: c.Params}
	if trusted != nil {
		provider.Identity = trusted.Current
	}
	account, err := all.Add(source, provider)
	if err != nil || c.Exchange == nil {
		return account, err
	}
	o := exchangeOf(c)
	o.Trusted = trusted
	return client.NewTokenExchange(o, func(ctx context.Context, who identity.Principal) (string, string, error) {
		token, err := account.Token(ctx, who)
		return token, "", err
	})
}

// exchangeOf returns the options of a token exchange. Without its own client, the exchange uses the client of the
// connection.
func exchangeOf(c *config.PersonAccount) client.OAuthClientOptions {
	e := c.Exchange
	o := client.OAuthClientOptions{TokenURL: cmp.Or(e.TokenURL, c.TokenURL), ID: c.ID, Secret: c.Secret, Scopes: e.Scopes, Params: paramsOf(e.Params)}
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

// apiSecrets returns the secrets of all credentials and headers of a source.
func apiSecrets(s *config.APISource) []string {
	all := credentialSecretsOf(s.Credential)
	for _, c := range s.Credentials {
		all = append(all, credentialSecretsOf(&c.Credential)...)
	}
	for _, at := range s.Servers {
		all = append(all, credentialSecretsOf(at.Credential)...)
		for _, c := range at.Credentials {
			all = append(all, credentialSecretsOf(&c.Credential)...)
		}
	}
	for _, h := range s.Headers {
		if h.Secret {
			all = append(all, client.HeaderCredential{Name: h.Name, Value: h.Value}.Secrets()...)
		}
	}
	return all
}

// APICredentials returns the credential of a source for base_url, or nil, and the credentials for its further
// servers, by address. Accounts of people need connections. If connections is nil, calls with an account are refused.
func APICredentials(s *config.APISource, name string, connections *connect.Connections) (client.Credential, map[string]client.Credential, error) {
	var always []client.HeaderCredential
	for _, h := range s.Headers {
		if h.Secret {
			always = append(always, client.HeaderCredential{Name: h.Name, Value: h.Value})
		}
	}
	trusted, err := TrustedCertificate(s.TLS)
	if err != nil {
		return nil, nil, err
	}
	made := func(c *config.APICredential) (client.Credential, error) { return APICredential(c, trusted) }
	base, err := credentialSet(always, s.Credential, s.Credentials, func(c *config.APICredential) (client.Credential, error) {
		if c.Person != nil && connections != nil { // connections is nil without a store
			return AccountCredential(connections, name, c.Person, trusted)
		}
		return made(c)
	})
	if err != nil {
		return nil, nil, err
	}
	servers := map[string]client.Credential{}
	for _, at := range s.Servers {
		// Headers of the API are not sent to other hosts.
		if servers[at.URL], err = credentialSet(nil, at.Credential, at.Credentials, made); err != nil {
			return nil, nil, err
		}
	}
	return base, servers, nil
}

// replaceCredential replaces the configured credentials with a program's own credential, except headers that are
// added to every request.
func replaceCredential(configured, own client.Credential) client.Credential {
	if of, ok := configured.(*client.CredentialSet); ok && len(of.Always) > 0 {
		return &client.CredentialSet{Always: of.Always, Members: []client.MemberCredential{{Credential: own}}}
	}
	return own
}

// credentialSet returns the credentials for one address, or nil. It creates each credential with made.
func credentialSet(always []client.HeaderCredential, single *config.APICredential, named []config.SchemeCredential, made func(*config.APICredential) (client.Credential, error)) (client.Credential, error) {
	out := &client.CredentialSet{Always: always}
	if single != nil {
		named = []config.SchemeCredential{{Credential: *single}}
	}
	for _, c := range named {
		one, err := made(&c.Credential)
		if err != nil {
			return nil, err
		}
		out.Members = append(out.Members, client.MemberCredential{Name: c.Scheme, Credential: one})
	}
	if len(out.Members)+len(out.Always) == 0 {
		return nil, nil
	}
	return out, nil
}

// credentialSecretsOf returns the secrets of a credential.
func credentialSecretsOf(c *config.APICredential) []string {
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
			all = append(all, credentialSecretsOf(&of)...)
		}
		return all
	}
	made, err := APICredential(c, nil)
	if h, ok := made.(client.CredentialHolder); ok && err == nil {
		return h.Secrets()
	}
	return nil
}

// APICredential returns the credential for its configuration, or nil if there is none. For a person's account, it
// returns a credential that refuses every principal. AccountCredential returns the actual one.
func APICredential(c *config.APICredential, trusted *client.Certificate) (client.Credential, error) {
	switch {
	case c == nil:
		return nil, nil
	case c.Bearer != "":
		return client.BearerHeader(c.Bearer), nil
	case c.Header != nil:
		return client.HeaderCredential(*c.Header), nil
	case c.Basic != nil:
		return client.BasicCredential(*c.Basic), nil
	case c.Query != nil:
		return client.QueryCredential(*c.Query), nil
	case c.Cookie != nil:
		return client.CookieCredential(*c.Cookie), nil
	case c.OAuth != nil:
		return client.NewOAuthClient(client.OAuthClientOptions{TokenURL: c.OAuth.TokenURL, ID: c.OAuth.ID, Secret: c.OAuth.Secret, Scopes: c.OAuth.Scopes, Params: paramsOf(c.OAuth.Params), Trusted: trusted})
	case c.Person != nil:
		return client.PerPrincipal{}, nil // without a store, no principal has a credential
	case c.Each != nil:
		each := client.PerPrincipal{By: client.PerMember(c.Each.By), Claim: c.Each.Claim, Of: map[string]client.Credential{}}
		for name, of := range c.Each.Of {
			made, err := APICredential(&of, trusted)
			if err != nil {
				return nil, err
			}
			each.Of[name] = made
		}
		return each, nil
	}
	return nil, errors.New("it says nothing")
}
