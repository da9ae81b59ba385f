package identity

import (
	"cmp"
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

// ListPeople returns the people with tokens or open sessions at now, sorted by name. It only uses the tokens and
// sessions that viewer manages.
func ListPeople(all []Token, open []OpenTicket, viewer Principal, now time.Time) []PersonEntry {
	rows := map[[2]string]*PersonEntry{}
	for _, t := range all {
		key := [2]string{Person(t.Owner), t.Tenant}
		if key[0] == "" || !t.Revoked.IsZero() || !now.Before(t.Expires) {
			continue
		}
		if t.Kind != Human {
			if row := rows[key]; row != nil && t.Use == UseGrant {
				row.Agents++
			}
			continue
		}
		row := rows[key]
		if row == nil {
			row = &PersonEntry{Owner: t.Owner, Tenant: t.Tenant, Mine: key[0] == viewer.Person() && t.Tenant == viewer.Tenant}
			rows[key] = row
		}
		row.add(&t)
	}
	for _, s := range open {
		if row := rows[[2]string{Person(s.Of.Owner), s.Of.Tenant}]; row != nil {
			row.Sessions = append(row.Sessions, s)
			if s.Seen.After(row.Seen) {
				row.Seen = s.Seen
			}
		}
	}
	var out []PersonEntry
	for _, row := range rows {
		out = append(out, *row)
	}
	slices.SortFunc(out, func(a, b PersonEntry) int {
		return cmp.Or(cmp.Compare(a.Owner, b.Owner), cmp.Compare(a.Tenant, b.Tenant))
	})
	return out
}

// add counts a token of the person.
func (p *PersonEntry) add(t *Token) {
	from := "token"
	switch {
	case t.Subject != "":
		from = "issuer"
	case t.Use == UsePerson:
		from = "invited"
	}
	if p.From != "issuer" && (p.From != "invited" || from == "issuer") {
		p.From = from
	}
	for _, s := range t.Scopes {
		if !slices.Contains(p.Scopes, s) {
			p.Scopes = append(p.Scopes, s)
		}
	}
	if t.LastUsed.After(p.Seen) {
		p.Seen = t.LastUsed
	}
}

// Has reports whether the person has a right.
func (p *PersonEntry) Has(s Scope) bool { return p != nil && slices.Contains(p.Scopes, s) }
