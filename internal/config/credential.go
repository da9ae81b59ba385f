package config

import (
	"net/http"
	"slices"
	"strings"

	"golang.org/x/net/http/httpguts"

	"github.com/bailiwick-dev/bailiwick/internal/openapi/calls"
	"github.com/bailiwick-dev/bailiwick/internal/yamlconf"
)

// An APICredential is one configured credential for an API. Exactly one field is set.
type APICredential struct {
	Bearer string
	Header *NamedCredential
	Basic  *BasicCredential
	Query  *NamedCredential
	Cookie *NamedCredential
	OAuth  *OAuthClient
	Each   *EachCredential
	Person *PersonAccount
}

// NamedCredential is a credential in a header, a cookie or the query.
type NamedCredential struct{ Name, Value string }

// BasicCredential is a user name and a password.
type BasicCredential struct{ User, Password string }

// OAuthClient configures tokens obtained with client credentials.
type OAuthClient struct {
	TokenURL, ID, Secret string
	Scopes               []string
	Params               map[string]string // further request parameters, such as audience
}

// PersonAccount configures the accounts that people connect, with authorization codes.
type PersonAccount struct {
	AuthorizeURL, TokenURL, RevokeURL, Issuer string
	ID, Secret                                string
	InBody                                    bool // the client authenticates in the body of token requests
	Scopes                                    []string
	Params                                    map[string]string // further parameters of the authorization request
	// Exchanges the person's token for a token of the API (RFC 8693). Nil sends the person's token itself.
	Exchange *OAuthClient
}

// EachCredential is a separate credential for each principal, selected by a property of the principal.
type EachCredential struct {
	By    string // the property: token, owner or claim
	Claim string // the name of the claim
	Of    map[string]APICredential
}

// Sends returns the parameters that c adds to requests, sorted. It omits the header Authorization, which agents can't
// set anyway.
func (c *APICredential) Sends() []calls.Place {
	switch {
	case c == nil:
		return nil
	case c.Header != nil && c.Header.Name == "Cookie":
		var all []calls.Place
		for pair := range strings.SplitSeq(c.Header.Value, ";") {
			if name, _, ok := strings.Cut(pair, "="); ok {
				all = append(all, calls.Place{In: "cookie", Name: strings.TrimSpace(name)})
			}
		}
		return all
	case c.Cookie != nil:
		return []calls.Place{{In: "cookie", Name: c.Cookie.Name}}
	case c.Header != nil:
		return []calls.Place{{In: "header", Name: c.Header.Name}}
	case c.Query != nil:
		return []calls.Place{{In: "query", Name: c.Query.Name}}
	case c.Each != nil:
		var all []calls.Place
		for _, of := range c.Each.Of {
			all = append(all, of.Sends()...)
		}
		slices.SortFunc(all, func(a, b calls.Place) int { return strings.Compare(a.In+a.Name, b.In+b.Name) })
		return slices.Compact(all)
	}
	return nil
}

// credentialShape returns the shape of an object with one kind of credential. If each is true, the object may contain
// credentials per principal.
func credentialShape(into **APICredential, each bool) yamlconf.Shape {
	var c APICredential
	var header, query, cookie NamedCredential
	var basic BasicCredential
	var oauth OAuthClient
	var own EachCredential
	var person PersonAccount
	keys := []yamlconf.Key{
		{Name: "bearer", Doc: "A token in the header Authorization", Shape: yamlconf.Secret("a token", secret(&c.Bearer))},
		{Name: "header", Doc: "A header of any name", Shape: headerShape(&header, &c.Header)},
		{Name: "basic", Doc: "A name and a password", Shape: yamlconf.Object([]yamlconf.Key{
			{Name: "user", Doc: "The name", Must: true, Shape: yamlconf.Words(&basic.User)},
			{Name: "password", Doc: "The password", Must: true, Shape: yamlconf.Secret("a password", secret(&basic.Password))},
		}, func(*yamlconf.Reader, yamlconf.Node, string) { c.Basic = &basic })},
		{Name: "query", Doc: "A key in the query of the URL, which logs of others may keep", Shape: yamlconf.Object([]yamlconf.Key{
			{Name: "name", Doc: "Of the key", Must: true, Shape: yamlconf.Words(&query.Name)},
			{Name: "value", Doc: "The key", Must: true, Shape: yamlconf.Secret("a key", secret(&query.Value))},
		}, func(*yamlconf.Reader, yamlconf.Node, string) { c.Query = &query })},
		{Name: "cookie", Doc: "A cookie, such as a session. Several cookies are a header called Cookie", Shape: cookieShape(&cookie, &c.Cookie)},
		{Name: "oauth", Doc: "A token by OAuth client credentials, got when it is needed", Shape: oauthShape(&oauth, &c.OAuth)},
	}
	if each {
		keys = append(keys, yamlconf.Key{Name: "person", Doc: "The account of the person for whom an agent acts: each connects theirs once, in the console, by an OAuth authorization code. Needs accounts.key", Shape: personShape(&person, &c.Person)})
		keys = append(keys, yamlconf.Key{Name: "per_principal", Doc: "A credential of each principal's own. Who has none is refused before anything is sent", Shape: eachShape(&own, &c.Each)})
	}
	return yamlconf.Object(keys, func(r *yamlconf.Reader, n yamlconf.Node, at string) {
		var given []string
		for _, k := range keys {
			if r.HasAt(at + yamlconf.Join(k.Name)) {
				given = append(given, k.Name)
			}
		}
		switch {
		case len(given) == 0 && n.Empty():
			names := []string{"bearer", "header", "basic", "query", "cookie", "oauth"}
			if each {
				names = append(names, "person", "per_principal")
			}
			r.Wrong(n.Start(), at, "needs one of %s", yamlconf.AnyOf(names))
		case len(given) > 1:
			r.WrongAt(at+yamlconf.Join(given[1]), "the credential is "+given[0]+" already, and is one thing")
		case len(given) == 1: // otherwise the object contains an unknown key, which is reported
			*into = &c
		}
	})
}

// secret accepts a text that is valid in a header or a URL.
func secret(into *string) func(folder, s string) string {
	return func(_, s string) string {
		if s != strings.TrimSpace(s) || !httpguts.ValidHeaderFieldValue(s) {
			return "must be one line, without spaces around it"
		}
		*into = s
		return ""
	}
}

// headerShape returns the shape of a credential in a separate header. It refuses headers that the client itself sets.
func headerShape(h *NamedCredential, into **NamedCredential) yamlconf.Shape {
	refused := []string{"Host", "Connection", "Content-Length", "Content-Type", "Transfer-Encoding"}
	return yamlconf.Object([]yamlconf.Key{
		{Name: "name", Doc: "Such as X-API-Key", Must: true, Shape: yamlconf.Text("a header's name", func(s string) string {
			h.Name = http.CanonicalHeaderKey(s)
			if !httpguts.ValidHeaderFieldName(s) || slices.Contains(refused, h.Name) {
				return "must be the name of a header, such as X-API-Key"
			}
			return ""
		})},
		{Name: "value", Doc: "All that the header holds", Must: true, Shape: yamlconf.Secret("a text", secret(&h.Value))},
	}, func(*yamlconf.Reader, yamlconf.Node, string) { *into = h })
}

// cookieShape returns the shape of a credential in a cookie.
func cookieShape(c *NamedCredential, into **NamedCredential) yamlconf.Shape {
	return yamlconf.Object([]yamlconf.Key{
		{Name: "name", Doc: "Such as session", Must: true, Shape: yamlconf.Text("a cookie's name", func(s string) string {
			c.Name = s
			if !httpguts.ValidHeaderFieldName(s) {
				return "must be the name of a cookie, such as session"
			}
			return ""
		})},
		{Name: "value", Doc: "All that the cookie holds", Must: true, Shape: yamlconf.Secret("a text", secret(&c.Value))},
	}, func(*yamlconf.Reader, yamlconf.Node, string) { *into = c })
}

func oauthShape(o *OAuthClient, into **OAuthClient) yamlconf.Shape {
	return yamlconf.Object([]yamlconf.Key{
		{Name: "token_url", Doc: "Who gives the token: https://login.example/oauth/token", Must: true, Shape: yamlconf.Text("a URL", func(s string) string { o.TokenURL = s; return baseURL(s) })},
		{Name: "client_id", Doc: "Who the gateway is there", Must: true, Shape: yamlconf.Words(&o.ID)},
		{Name: "client_secret", Doc: "Its secret", Must: true, Shape: yamlconf.Secret("a secret", secret(&o.Secret))},
		{Name: "scopes", Doc: "What is asked for", Shape: yamlconf.List(&o.Scopes, "scopes", nil)},
		{Name: "params", Doc: "More of what is asked for, such as audience", Shape: params(&o.Params)},
	}, func(*yamlconf.Reader, yamlconf.Node, string) { *into = o })
}

// params returns the shape of additional parameters of a request.
func params(into *map[string]string) yamlconf.Shape {
	return yamlconf.Each(yamlconf.Table{Names: "parameter", Of: func(name string) (yamlconf.Shape, func()) {
		var v string
		return yamlconf.Words(&v), func() {
			if *into == nil {
				*into = map[string]string{}
			}
			(*into)[name] = v
		}
	}})
}

// personShape returns the shape of accounts that people connect.
func personShape(p *PersonAccount, into **PersonAccount) yamlconf.Shape {
	place := func(to *string) yamlconf.Shape {
		return yamlconf.Text("a URL", func(s string) string { *to = s; return baseURL(s) })
	}
	var exchange OAuthClient
	return yamlconf.Object([]yamlconf.Key{
		{Name: "authorize_url", Doc: "Where people agree: https://login.example/oauth/authorize", Must: true, Shape: place(&p.AuthorizeURL)},
		{Name: "token_url", Doc: "Where codes become tokens: https://login.example/oauth/token", Must: true, Shape: place(&p.TokenURL)},
		{Name: "revoke_url", Doc: "Where tokens are revoked when a person disconnects or is removed (RFC 7009), on the host of token_url. Without it they are only deleted here", Shape: place(&p.RevokeURL)},
		{Name: "issuer", Doc: "What iss in the answers of authorize_url has to be, for a server that sends it (RFC 9207)", Shape: yamlconf.Words(&p.Issuer)},
		{Name: "client_id", Doc: "The client that the gateway is there. Its redirect URI is server.url and /console/you/accounts/SOURCE/callback", Must: true, Shape: yamlconf.Words(&p.ID)},
		{Name: "client_secret", Doc: "Its secret. A client without one is public, and PKCE alone protects its codes", Shape: yamlconf.Secret("a secret", secret(&p.Secret))},
		{Name: "client_auth", Doc: "Where requests to token_url carry id and secret: header (the default) or body", Shape: yamlconf.Choose([]string{"header", "body"}, func(s string) { p.InBody = s == "body" })},
		{Name: "scopes", Doc: "What people agree to", Shape: yamlconf.List(&p.Scopes, "scopes", nil)},
		{Name: "params", Doc: "More of what authorize_url is asked, such as access_type: offline", Shape: params(&p.Params)},
		{Name: "exchange", Doc: "Exchanges the person's token for another one, which the API gets (RFC 8693). Tokens are kept in memory alone", Shape: exchangeShape(&exchange, &p.Exchange)},
	}, func(*yamlconf.Reader, yamlconf.Node, string) { *into = p })
}

// exchangeShape returns the shape of a token exchange. Without its own client, the exchange uses the client of the
// person's connection.
func exchangeShape(o *OAuthClient, into **OAuthClient) yamlconf.Shape {
	param := func(name string) yamlconf.Shape {
		return yamlconf.Text("a text", func(s string) string {
			if o.Params == nil {
				o.Params = map[string]string{}
			}
			o.Params[name] = s
			return ""
		})
	}
	return yamlconf.Object([]yamlconf.Key{
		{Name: "token_url", Doc: "Where tokens are exchanged. Default that of the connection", Shape: yamlconf.Text("a URL", func(s string) string { o.TokenURL = s; return baseURL(s) })},
		{Name: "client_id", Doc: "The client that the gateway is there. Default that of the connection", Shape: yamlconf.Words(&o.ID)},
		{Name: "client_secret", Doc: "Its secret", Shape: yamlconf.Secret("a secret", secret(&o.Secret))},
		{Name: "audience", Doc: "The name of the API there", Shape: param("audience")},
		{Name: "resource", Doc: "The URL of the API", Shape: param("resource")},
		{Name: "scopes", Doc: "What is asked for", Shape: yamlconf.List(&o.Scopes, "scopes", nil)},
	}, func(r *yamlconf.Reader, n yamlconf.Node, at string) {
		if (o.ID == "") != (o.Secret == "") {
			r.Wrong(n.Start(), at, "client_id and client_secret go together")
		}
		*into = o
	})
}

// eachShape returns the shape of credentials per principal. A plain text is a bearer token.
func eachShape(e *EachCredential, into **EachCredential) yamlconf.Shape {
	return yamlconf.Object([]yamlconf.Key{
		{Name: "by", Doc: "What names the credential: token (the id of the agent's token of Bailiwick), owner or claim", Must: true, Shape: yamlconf.Choose([]string{"token", "owner", "claim"}, func(s string) { e.By = s })},
		{Name: "claim", Doc: "With by: claim, the name of the claim", Shape: yamlconf.Words(&e.Claim)},
		{Name: "secrets", Doc: "By that name: a bearer token, or a credential as above", Must: true, Shape: yamlconf.Each(yamlconf.Table{Names: "principal", Of: func(name string) (yamlconf.Shape, func()) {
			one := &APICredential{}
			read := one
			token := yamlconf.Secret("a token", secret(&one.Bearer))
			return yamlconf.Either(token, credentialShape(&read, false)), func() {
				if e.Of == nil {
					e.Of = map[string]APICredential{}
				}
				e.Of[name] = *read
			}
		}})},
	}, func(r *yamlconf.Reader, n yamlconf.Node, at string) {
		switch claim := r.HasAt(at + "/claim"); {
		case e.By == "claim" && !claim:
			r.Wrong(n.Start(), at, "needs the key claim: the name of the claim")
		case e.By != "" && e.By != "claim" && claim:
			r.WrongAt(at+"/claim", "goes with by: claim. Take it out")
		}
		*into = e
	})
}
