package apis

import "slices"

// placeholder stands for a secret in what Fixed returns.
const placeholder = "*"

// Fixed returns s with placeholders for the secrets that can change without a restart: all but those of accounts that people connect. What a
// credential is, and where it stands in a request, stays.
func (s *Source) Fixed() *Source {
	out := *s
	out.Credential, out.Credentials = s.Credential.fixed(), fixedAll(s.Credentials)
	out.Headers, out.Servers = slices.Clone(s.Headers), slices.Clone(s.Servers)
	for i := range out.Headers {
		if h := &out.Headers[i]; h.Secret {
			h.Value = placeholder
		}
	}
	for i := range out.Servers {
		at := &out.Servers[i]
		at.Credential, at.Credentials = at.Credential.fixed(), fixedAll(at.Credentials)
	}
	return &out
}

func fixedAll(all []SchemeCredential) []SchemeCredential {
	out := slices.Clone(all)
	for i := range out {
		out[i].Credential = *out[i].Credential.fixed()
	}
	return out
}

// fixed returns c with placeholders for its secrets. Nil for nil.
func (c *Credential) fixed() *Credential {
	if c == nil || c.Person != nil {
		return c
	}
	out := *c
	if c.Bearer != "" {
		out.Bearer = placeholder
	}
	for _, named := range []**Named{&out.Header, &out.Query, &out.Cookie} {
		if *named != nil {
			*named = &Named{(*named).Name, placeholder}
		}
	}
	if c.Basic != nil {
		out.Basic = &Basic{placeholder, placeholder}
	}
	if c.OAuth != nil {
		o := *c.OAuth
		o.ID, o.Secret = placeholder, placeholder
		out.OAuth = &o
	}
	if c.Each != nil {
		e := *c.Each
		e.Of = map[string]Credential{}
		for name, of := range c.Each.Of {
			e.Of[name] = *of.fixed()
		}
		out.Each = &e
	}
	return &out
}
