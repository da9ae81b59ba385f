package identity

import (
	"context"
	"slices"
	"time"
)

// A PersonEntry is a human with rights here.
type PersonEntry struct {
	Owner    string       `json:"owner"`
	Tenant   string       `json:"tenant,omitempty"`
	Scopes   []Scope      `json:"scopes"`
	From     string       `json:"from"` // "invited", "issuer" or "token"
	Sessions []OpenTicket `json:"-"`
	Agents   int          `json:"agents"` // agents that the person has let in
	Seen     time.Time    `json:"last_used_at,omitzero"`
	Mine     bool         `json:"-"` // the viewer's own entry
}

// Place returns the place of p in a list of people, for TokenFilter.After.
func (p *PersonEntry) Place() string { return Person(p.Owner) + "\n" + p.Tenant }

// People returns a page of the people with valid tokens that by manages and that match f, by canonical name and tenant,
// with their open sessions. The next page begins After the Place of the last one. by must be an operator, as for Create.
func (t *Tokens) People(ctx context.Context, by Principal, f TokenFilter) ([]PersonEntry, error) {
	f, ok, err := t.managed(by, f)
	if err != nil || !ok {
		return nil, err
	}
	page, err := t.store.People(ctx, f)
	if err != nil {
		return nil, storeError(err)
	}
	rows, persons := map[string]*PersonEntry{}, []string{}
	for i := range page {
		p := &page[i]
		p.Scopes = canonicalScopes(p.Scopes)
		p.Mine = by.Person() != "" && Person(p.Owner) == by.Person() && p.Tenant == by.Tenant
		rows[p.Place()], persons = p, append(persons, Person(p.Owner))
	}
	open, err := t.Sessions(ctx, by, Session, persons)
	if err != nil {
		return nil, err
	}
	for _, s := range open {
		if p := rows[Person(s.Of.Owner)+"\n"+s.Of.Tenant]; p != nil {
			p.Sessions = append(p.Sessions, s)
			if s.Seen.After(p.Seen) {
				p.Seen = s.Seen
			}
		}
	}
	return page, nil
}

// Has reports whether the person has a right.
func (p *PersonEntry) Has(s Scope) bool { return p != nil && slices.Contains(p.Scopes, s) }
