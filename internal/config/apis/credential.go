package apis

import (
	"net/http"
	"slices"
	"strings"

	"golang.org/x/net/http/httpguts"

	"github.com/bailiwick-dev/bailiwick/internal/rules/calls"
	"github.com/bailiwick-dev/bailiwick/internal/yamlconf"
)

// A Credential is the configured credential for an API; exactly one field is set.
type Credential struct {
	Bearer string
	Header *Named
	Basic  *Basic
	Query  *Named
	OAuth  *OAuth
	Each   *Each
}

// Named is a header or a key in the query.
type Named struct{ Name, Value string }

// Basic is a user name and a password.
type Basic struct{ User, Password string }

// OAuth configures tokens obtained with client credentials.
type OAuth struct {
	TokenURL, ID, Secret string
	Scopes               []string
	Params               map[string]string // further request parameters, such as audience
}

// Each is a separate credential for each principal, selected by a property of it.
type Each struct {
	By    string // token, owner or claim
	Claim string // the name of the claim
	Of    map[string]Credential
}

// Sends returns the parameters that c adds to requests, sorted. It omits the header Authorization, which agents can't
// set anyway.
func (c *Credential) Sends() []calls.Place {
	switch {
	case c == nil:
		return nil
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

// credential is the shape of an object with one kind of credential; each allows credentials per principal.
func credential(into **Credential, each bool) yamlconf.Shape {
	var c Credential
	var header, query Named
	var basic Basic
	var oauth OAuth
	var own Each
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
		{Name: "oauth", Doc: "A token by OAuth client credentials, got when it is needed", Shape: oauthShape(&oauth, &c.OAuth)},
	}
	if each {
		keys = append(keys, yamlconf.Key{Name: "per_principal", Doc: "A credential of each principal's own. Who has none is refused before anything is sent", Shape: eachShape(&own, &c.Each)})
	}
	return yamlconf.Object(keys, func(r *yamlconf.Reader, n yamlconf.Node, at string) {
		var given []string
		for _, k := range keys {
			if r.Given(at + yamlconf.Join(k.Name)) {
				given = append(given, k.Name)
			}
		}
		switch {
		case len(given) == 0 && n.Empty():
			r.Wrong(n.Start(), at, "needs one of bearer, header, basic, query or oauth")
		case len(given) > 1:
			r.WrongAt(at+yamlconf.Join(given[1]), "the credential is "+given[0]+" already, and is one thing")
		case len(given) == 1: // otherwise the object has an unknown key, which is reported
			*into = &c
		}
	})
}

// secret accepts a text for use in a header or a URL.
func secret(into *string) func(folder, s string) string {
	return func(_, s string) string {
		if s != strings.TrimSpace(s) || !httpguts.ValidHeaderFieldValue(s) {
			return "must be one line, without spaces around it"
		}
		*into = s
		return ""
	}
}

func headerShape(h *Named, into **Named) yamlconf.Shape {
	refused := []string{"Host", "Cookie", "Connection", "Content-Length", "Content-Type", "Transfer-Encoding"}
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

func oauthShape(o *OAuth, into **OAuth) yamlconf.Shape {
	return yamlconf.Object([]yamlconf.Key{
		{Name: "token_url", Doc: "Who gives the token: https://login.example/oauth/token", Must: true, Shape: yamlconf.Text("a URL", func(s string) string { o.TokenURL = s; return baseURL(s) })},
		{Name: "client_id", Doc: "Who the gateway is there", Must: true, Shape: yamlconf.Words(&o.ID)},
		{Name: "client_secret", Doc: "Its secret", Must: true, Shape: yamlconf.Secret("a secret", secret(&o.Secret))},
		{Name: "scopes", Doc: "What is asked for", Shape: yamlconf.List(&o.Scopes, "scopes", nil)},
		{Name: "params", Doc: "More of what is asked for, such as audience", Shape: yamlconf.Each(yamlconf.Table{Names: "parameter", Of: func(name string) (yamlconf.Shape, func()) {
			var v string
			return yamlconf.Words(&v), func() {
				if o.Params == nil {
					o.Params = map[string]string{}
				}
				o.Params[name] = v
			}
		}})},
	}, func(*yamlconf.Reader, yamlconf.Node, string) { *into = o })
}

// eachShape is the shape of credentials per principal: a text is a bearer token.
func eachShape(e *Each, into **Each) yamlconf.Shape {
	return yamlconf.Object([]yamlconf.Key{
		{Name: "by", Doc: "What names the credential: token (the id of the agent's token of Bailiwick), owner or claim", Must: true, Shape: yamlconf.Choose([]string{"token", "owner", "claim"}, func(s string) { e.By = s })},
		{Name: "claim", Doc: "With by: claim, the name of the claim", Shape: yamlconf.Words(&e.Claim)},
		{Name: "secrets", Doc: "By that name: a bearer token, or a credential as above", Must: true, Shape: yamlconf.Each(yamlconf.Table{Names: "principal", Of: func(name string) (yamlconf.Shape, func()) {
			one := &Credential{}
			read := one
			token := yamlconf.Secret("a token", secret(&one.Bearer))
			return yamlconf.Either(token, credential(&read, false)), func() {
				if e.Of == nil {
					e.Of = map[string]Credential{}
				}
				e.Of[name] = *read
			}
		}})},
	}, func(r *yamlconf.Reader, n yamlconf.Node, at string) {
		switch claim := r.Given(at + "/claim"); {
		case e.By == "claim" && !claim:
			r.Wrong(n.Start(), at, "needs the key claim: the name of the claim")
		case e.By != "" && e.By != "claim" && claim:
			r.WrongAt(at+"/claim", "goes with by: claim; take it out")
		}
		*into = e
	})
}
