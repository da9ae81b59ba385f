package config

import "slices"

// apiPlaceholder replaces a secret in the result of WithPlaceholders.
const apiPlaceholder = "*"

// WithPlaceholders returns s with placeholders for the secrets that can change without a restart. These are all
// secrets except those for accounts of people. It keeps the kind of each credential and its location in a request.
func (s *APISource) WithPlaceholders() *APISource {
	out := *s
	out.Credential, out.Credentials = s.Credential.withPlaceholders(), fixedAll(s.Credentials)
	out.Headers, out.Servers = slices.Clone(s.Headers), slices.Clone(s.Servers)
	for i := range out.Headers {
		if h := &out.Headers[i]; h.Secret {
			h.Value = apiPlaceholder
		}
	}
	for i := range out.Servers {
		at := &out.Servers[i]
		at.Credential, at.Credentials = at.Credential.withPlaceholders(), fixedAll(at.Credentials)
	}
	return &out
}

func fixedAll(all []SchemeCredential) []SchemeCredential {
	out := slices.Clone(all)
	for i := range out {
		out[i].Credential = *out[i].Credential.withPlaceholders()
	}
	return out
}

// withPlaceholders returns c with placeholders for its secrets, or nil if c is nil.
func (c *APICredential) withPlaceholders() *APICredential {
	if c == nil || c.Person != nil {
		return c
	}
	out := *c
	if c.Bearer != "" {
		out.Bearer = apiPlaceholder
	}
	for _, named := range []**NamedCredential{&out.Header, &out.Query, &out.Cookie} {
		if *named != nil {
			*named = &NamedCredential{(*named).Name, apiPlaceholder}
		}
	}
	if c.Basic != nil {
		out.Basic = &BasicCredential{apiPlaceholder, apiPlaceholder}
	}
	if c.OAuth != nil {
		o := *c.OAuth
		o.ID, o.Secret = apiPlaceholder, apiPlaceholder
		out.OAuth = &o
	}
	if c.Each != nil {
		e := *c.Each
		e.Of = map[string]APICredential{}
		for name, of := range c.Each.Of {
			e.Of[name] = *of.withPlaceholders()
		}
		out.Each = &e
	}
	return &out
}
