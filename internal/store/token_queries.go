package store

import (
	"strings"

	"github.com/bailiwick-dev/bailiwick/identity"
)

// unfilled is the person of a token that an older program stored. Canonical names never have this form.
const unfilled = " "

// TokenWords returns the canonical name of t's owner, and the text in which searches for tokens look.
func TokenWords(t *identity.Token) (person, search string) {
	return identity.Person(t.Owner), identity.Person(strings.Join([]string{t.Name, t.Owner, t.Tenant, t.ID, t.Prefix}, " "))
}

// narrowed is the condition of the index over tokens with lists of tools and classes, or filters.
const narrowed = `t.revoked IS NULL AND (t.tools <> '{}' OR t.classes <> '{}' OR t.filters NOT IN ('{}', 'null'))`

// Tokens returns the query for the columns of the tokens that match f, newest first. now is the database's form of
// f.At. At least one index has the tokens in that order or few candidates.
func (d ChangeQueries) Tokens(columns string, f identity.TokenFilter, now any) ChangeLookup {
	var b builder
	b.add(`SELECT ` + columns + ` FROM ` + d.Schema + `token AS t WHERE `)
	d.tokens(&b, f, now)
	created := `t.created`
	if !d.Numbered && (f.Person != "" || f.Subject != "" || f.IDs != nil) {
		created = `+t.created` // SQLite has no figures, and would read all tokens in order
	}
	if f.After != "" {
		b.add(` AND (`+created+`, t.id) < ((SELECT a.created FROM `+d.Schema+`token AS a WHERE a.id = ?), ?)`, word(f.After), word(f.After))
	}
	b.add(` ORDER BY ` + created + ` DESC, t.id DESC`)
	if f.Limit > 0 {
		b.add(` LIMIT ?`, f.Limit)
	}
	return b.ask(d)
}

// tokens adds the conditions of f, without the page.
func (d ChangeQueries) tokens(b *builder, f identity.TokenFilter, now any) {
	switch {
	case f.IDs != nil:
		b.add(`t.id IN (`)
		b.list(f.IDs)
		b.add(`)`)
	case f.Person != "":
		b.add(`t.person IN (?, '`+unfilled+`')`, word(f.Person))
	case f.Subject != "":
		b.add(`t.subject <> '' AND t.subject = ?`, word(f.Subject))
	case f.Narrowed:
		b.add(narrowed)
	default:
		b.add(`t.id <> ''`)
	}
	switch {
	case f.Valid:
		b.add(` AND t.revoked IS NULL AND t.expires > ?`, now)
	case f.Ended:
		b.add(` AND (t.revoked IS NOT NULL OR t.expires <= ?)`, now)
	}
	if f.Kind != "" {
		b.add(` AND t.kind = ?`, word(string(f.Kind)))
	}
	if f.Tenant != "" {
		b.add(` AND t.tenant = ?`, word(f.Tenant))
	}
	d.containing(b, `t.search`, f.Text)
}

// containing adds the condition that a column contains each word of a text.
func (d ChangeQueries) containing(b *builder, column, text string) {
	for _, w := range strings.Fields(identity.Person(text)) {
		b.add(` AND `+d.Contains+`(`+column+`, ?) > 0`, word(w))
	}
}

// list adds placeholders for the elements of a list. Without an element, it adds NULL.
func (b *builder) list(all []string) {
	if len(all) == 0 {
		b.add(`NULL`)
	}
	for i, one := range all {
		if i > 0 {
			b.add(`, `)
		}
		b.add(`?`, word(one))
	}
}

// People returns the query for the humans with tokens in force that match f, by name and tenant. Its columns are those of
// PersonRow, with the last use after the scopes. now is the database's form of f.At.
func (d ChangeQueries) People(f identity.TokenFilter, now any) ChangeLookup {
	scopes, flag := `group_concat(DISTINCT t.scopes)`, func(cond string) string { return `max(` + cond + `)` }
	if d.Numbered {
		scopes, flag = `string_agg(DISTINCT t.scopes, ' ')`, func(cond string) string { return `bool_or(` + cond + `)` }
	}
	from := d.Schema + `token AS t`
	if !d.Numbered { // SQLite has no figures, and would sort all people
		if from += ` INDEXED BY token_human`; f.Tenant != "" {
			from += `_tenant`
		}
	}
	var b builder
	b.add(`SELECT min(t.owner), t.tenant, `+scopes+`, max(t.used), `+flag(`t.subject <> ''`)+`, `+flag(`t.use = 'person'`)+`,
		(SELECT count(*) FROM `+d.Schema+`token AS g WHERE g.use = 'grant' AND g.revoked IS NULL AND g.person = t.person AND g.tenant = t.tenant AND g.expires > ?)
		FROM `+from+` WHERE t.kind = 'human' AND t.revoked IS NULL AND t.expires > ? AND t.person <> '' AND t.person <> '`+unfilled+`'`, now, now)
	if f.Person != "" {
		b.add(` AND t.person = ?`, word(f.Person))
	}
	if f.Tenant != "" {
		b.add(` AND t.tenant = ?`, word(f.Tenant))
	}
	d.containing(&b, `t.person`, f.Text)
	if person, of, ok := strings.Cut(f.After, "\n"); ok {
		b.add(` AND (t.person, t.tenant) > (?, ?)`, word(person), word(of))
	}
	b.add(` GROUP BY t.person, t.tenant ORDER BY t.person, t.tenant`)
	if f.Limit > 0 {
		b.add(` LIMIT ?`, f.Limit)
	}
	return b.ask(d)
}

// A PersonRow is a row of People, without the last use.
type PersonRow struct {
	Owner, Tenant string
	Scopes        string // of all tokens, separated by spaces or commas
	Issuer        bool   // an issuer vouches for one of the tokens
	Person        bool   // one of the tokens is the record of a person
	Agents        int    // number of agents that the person let in
}

// Entry decodes r.
func (r *PersonRow) Entry() identity.PersonEntry {
	p := identity.PersonEntry{Owner: r.Owner, Tenant: r.Tenant, Agents: r.Agents, From: "token"}
	switch {
	case r.Issuer:
		p.From = "issuer"
	case r.Person:
		p.From = "invited"
	}
	seen := map[string]bool{}
	for _, w := range strings.FieldsFunc(r.Scopes, func(c rune) bool { return c == ' ' || c == ',' }) {
		if !seen[w] {
			seen[w] = true
			p.Scopes = append(p.Scopes, identity.Scope(w))
		}
	}
	return p
}

// Tickets returns the query for the columns of the open tickets of a use. Unless persons is nil, the tickets are of tokens
// of these people only, by canonical name. now is the database's time.
func (d ChangeQueries) Tickets(columns string, use identity.TicketUse, persons []string, now any) ChangeLookup {
	var b builder
	b.add(`SELECT ` + columns + ` FROM `)
	if persons == nil {
		b.add(d.Schema + `ticket AS k WHERE `)
	} else {
		of := `json_extract(k.body, '$.token')`
		if d.Numbered {
			of = `(k.body::jsonb ->> 'token')`
		}
		b.add(d.Schema + `token AS t CROSS JOIN ` + d.Schema + `ticket AS k WHERE ` + of + ` = t.id AND t.person IN ('` + unfilled + `', `)
		b.list(persons)
		b.add(`) AND `)
	}
	b.add(`k.use = ? AND k.expires > ? AND NOT k.ended`, string(use), now)
	return b.ask(d)
}
