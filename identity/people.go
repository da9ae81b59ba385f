package identity

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/query"
)

// LinkLife is the default lifetime of a sign-in link.
const LinkLife = 24 * time.Hour

// personLife is the lifetime of a person's record. The record is created again when the person is invited again or
// signs in through their issuer again.
const personLife = 365 * 24 * time.Hour

// SignsIn reports whether p is a person who may sign in to the console. Such a person has rights for some of its pages.
func (p Principal) SignsIn() bool {
	return p.Kind == Human && p.Depth == 0 && (p.Has(Review) || p.Has(Audit) || p.Has(Operator))
}

// Person returns p as a person of this store, with a TokenID, so that p can have sessions and let agents in. For a
// person of another Authenticator it creates a record with p's rights. A record with other rights ends, with all its
// sessions and agents. For a person without rights it fails with Unauthorized.
func (t *Tokens) Person(ctx context.Context, p Principal) (Principal, error) {
	if p.TokenID != "" {
		return p, nil
	}
	if p.Kind != Human || p.Depth > 0 || p.ID == "" {
		return Principal{}, UnauthorizedError("not_a_person", nil)
	}
	want := Token{Use: UsePerson, Name: cmp.Or(p.Name, p.Owner), Kind: Human, Owner: p.Owner, Tenant: p.Tenant, Scopes: p.Scopes, Subject: p.ID, Claims: p.Claims.String(),
		Tools: p.Tools, Actions: p.Actions, Classes: p.Classes}
	if p.Tools.Within != nil || p.Actions.Within != nil || p.Classes.Within != nil {
		return Principal{}, UnauthorizedError("lists_within", nil) // a record can't have nested lists, and without them it would allow more
	}
	for class, f := range p.Filters {
		if want.Filters == nil {
			want.Filters = map[string]string{}
		}
		want.Filters[class] = query.Print(f).String()
	}
	made, err := t.replace(ctx, p, want)
	if err != nil {
		return Principal{}, err
	}
	if made.ID == "" {
		return Principal{}, UnauthorizedError("no_rights", nil)
	}
	out, err := made.Principal()
	if err != nil {
		return Principal{}, UnauthorizedError("token_invalid", err)
	}
	out.Expires, out.Proven = p.Expires, p.Proven
	return out, nil
}

// replace returns the record of a person with the rights of want, and creates it if it doesn't exist. It ends the
// person's other records. These have the same Subject or, without one, the same person and tenant. If want has no
// scopes, it creates none and returns a zero Token.
func (t *Tokens) replace(ctx context.Context, by Principal, want Token) (Token, error) {
	if err := mayHold(want.Kind, want.Owner, want.Scopes); err != nil {
		return Token{}, err // check before ordering, which drops unknown scopes
	}
	now := t.now()
	want.Scopes = canonicalScopes(want.Scopes)
	person := ""
	if want.Subject == "" {
		if person = Person(want.Owner); person == "" {
			return Token{}, UnauthorizedError("not_a_person", nil)
		}
	}
	// One record of the person with these rights may stay if half of its lifetime is left. Records with other rights
	// end.
	var found *Token
	var others []string
	for k, err := range pages(ctx, t.store, TokenFilter{Subject: want.Subject, Person: person, Valid: true, At: now}) {
		if err != nil {
			return Token{}, storeError(err)
		}
		if k.Use != UsePerson || k.Subject != want.Subject || k.Subject == "" && (k.Tenant != want.Tenant || Person(k.Owner) != person) {
			continue
		}
		if k.rights() != want.rights() {
			others = append(others, k.ID)
		} else if now.Before(k.Expires.Add(-personLife / 2)) {
			found = &k
		}
	}
	var made Token
	switch {
	case len(want.Scopes) == 0:
	case found != nil:
		made = *found
	default:
		want.Expires = now.Add(personLife)
		var err error
		if made, _, err = t.make(ctx, by, want); err != nil {
			return Token{}, err
		}
	}
	// The others end only now, so that a failure leaves the person with rights rather than without.
	for _, id := range others {
		if err := t.end(ctx, by, id); err != nil {
			return Token{}, err
		}
	}
	return made, nil
}

// rights returns a digest of the rights of t, without its times.
func (t *Token) rights() string {
	k := *t
	k.ID, k.Prefix, k.Hash, k.Created, k.Expires = "", "", [32]byte{}, time.Time{}, time.Time{}
	return k.digest()
}

// Invite creates the record of the person want.Owner with the rights of want, unless it exists. It returns the record
// and the secret of a Link that signs the person in once, within life. A record with other rights ends, with its
// sessions and agents. by must be an operator, as for Create. If want has no Owner or Scopes, Invite fails with
// problem.InvalidArgument.
func (t *Tokens) Invite(ctx context.Context, by Principal, want Token, life time.Duration) (Token, string, error) {
	if err := t.mayChange(by); err != nil {
		return Token{}, "", err
	}
	want.Use, want.Kind, want.Name, want.Subject, want.Parent = UsePerson, Human, cmp.Or(want.Name, want.Owner), "", ""
	want.Tenant = cmp.Or(want.Tenant, by.Tenant)
	person := Person(want.Owner)
	switch {
	case person == "":
		return Token{}, "", problem.New(problem.InvalidArgument, "An invitation names the person, such as ana@example.com")
	case len(want.Scopes) == 0:
		return Token{}, "", problem.New(problem.InvalidArgument, "An invitation names the person's scopes, such as review")
	case !manages(by, want):
		return Token{}, "", foreignTenant(by)
	}
	made, err := t.replace(ctx, by, want)
	if err != nil {
		return Token{}, "", err
	}
	_, secret, err := t.Issue(ctx, Principal{TokenID: made.ID}, Ticket{Use: Link, Expires: t.now().Add(life)})
	return made, secret, err
}

// Remove revokes every token of a person that the operator by manages: sessions, agents that the person let in, and
// tokens that act for the person. It also ends the person's connections with accounts at APIs. It returns the number of
// revoked tokens, or problem.NotFound if there are none.
func (t *Tokens) Remove(ctx context.Context, by Principal, owner, tenant string) (int, error) {
	n, person := 0, Person(owner)
	if err := mayManage(by); err != nil {
		return 0, err
	}
	if person == "" || !manages(by, Token{Tenant: tenant}) {
		return 0, problem.New(problem.NotFound, "There is no such person")
	}
	if err := t.store.EndConnections(ctx, person, tenant); err != nil {
		return 0, storeError(err)
	}
	for k, err := range t.All(ctx, by, TokenFilter{Person: person, Tenant: tenant, Valid: true}) {
		if err == nil && k.Tenant == tenant {
			if err = t.Revoke(ctx, by, k.ID); err == nil {
				n++
			}
		}
		if err != nil {
			return n, err
		}
	}
	if n == 0 {
		return 0, problem.New(problem.NotFound, "There is no such person")
	}
	return n, nil
}

// Lendable returns the scopes that a person may give to an agent: their own scopes without those that agents never
// have.
func Lendable(p Principal) []Scope {
	return Clamp(Agent, p.Owner, p.Scopes)
}

// A Granting has the rights that a person grants to an agent that signs in.
type Granting struct {
	Client string // its identifier
	Name   string // for people
	Scopes []Scope
	Life   time.Duration // from now, at most the rest of the person's own lifetime
}

// Grant creates the record of an agent that by, a person with a TokenID, lets in. The agent acts for the person, within
// the person's rights, and its record ends with the person's record. For scopes that are not Lendable, Grant fails with
// problem.PermissionDenied. It reads the store and not the cache, because another process may have revoked the person's
// record a moment ago.
func (t *Tokens) Grant(ctx context.Context, by Principal, g Granting) (Principal, error) {
	now, err := t.Refresh(ctx, by)
	if err != nil {
		return Principal{}, err
	}
	latest, err := t.latest(ctx)
	if err != nil {
		return Principal{}, err
	}
	parent, _, err := latest.valid(ctx, by.TokenID)
	if err != nil {
		return Principal{}, err
	}
	lendable := Lendable(now)
	if by.Kind != Human || by.Person() == "" || parent.Use == UseGrant || len(g.Scopes) == 0 ||
		slices.ContainsFunc(g.Scopes, func(s Scope) bool { return !slices.Contains(lendable, s) }) {
		return Principal{}, &problem.Error{Code: problem.PermissionDenied, Kind: "not_lendable", Detail: "An agent gets what its person may do, without review, audit and operator"}
	}
	want := parent
	want.Use, want.Parent, want.Subject, want.Kind, want.Name, want.Scopes = UseGrant, parent.ID, g.Client, Agent, g.Name, canonicalScopes(g.Scopes)
	want.Expires = t.now().Add(g.Life)
	if parent.Expires.Before(want.Expires) {
		want.Expires = parent.Expires
	}
	made, _, err := t.make(ctx, by, want)
	if err != nil {
		return Principal{}, err
	}
	return made.Principal()
}

// EndGrant ends an agent's grant with all its tickets. by is its person or its own client. EndGrant fails with
// problem.NotFound if id is not a grant in force of that person.
func (t *Tokens) EndGrant(ctx context.Context, by Principal, id string) error {
	now, err := t.current(ctx)
	if err != nil {
		return err
	}
	k, err := now.find(ctx, id)
	if err != nil && !refused(err) {
		return err
	}
	if err != nil || k.Use != UseGrant || by.Person() == "" || Person(k.Owner) != by.Person() || k.Tenant != by.Tenant {
		return problem.New(problem.NotFound, "There is no such agent, or it has been removed")
	}
	return t.end(ctx, by, id)
}

// Agents returns the grants of by's person that are in force.
func (t *Tokens) Agents(ctx context.Context, by Principal) ([]Token, error) {
	if by.Person() == "" {
		return nil, nil
	}
	now, err := t.current(ctx)
	if err != nil {
		return nil, err
	}
	var out []Token
	for k, err := range pages(ctx, t.store, TokenFilter{Person: by.Person(), Valid: true, At: t.now()}) {
		if err != nil {
			return nil, storeError(err)
		}
		if k.Use != UseGrant || Person(k.Owner) != by.Person() || k.Tenant != by.Tenant {
			continue
		}
		if _, _, err := now.valid(ctx, k.ID); err == nil {
			out = append(out, k)
		} else if !refused(err) {
			return nil, err
		}
	}
	slices.SortFunc(out, func(a, b Token) int { return cmp.Or(b.Created.Compare(a.Created), cmp.Compare(a.ID, b.ID)) })
	return out, nil
}

// FindPerson returns the person of this store with this name and tenant, and their current rights. It is for a decision that
// they make elsewhere. A person of an issuer is known only while they have a session here. The gateway doesn't ask the
// issuer.
func (t *Tokens) FindPerson(ctx context.Context, owner, tenant string) (Principal, error) {
	person := Person(owner)
	if person == "" {
		return Principal{}, unknownPerson()
	}
	open, err := t.store.Tickets(ctx, Session, []string{person})
	if err != nil {
		return Principal{}, storeError(err)
	}
	var found Principal
	var since time.Time
	elsewhere := false
	for k, err := range pages(ctx, t.store, TokenFilter{Person: person, Valid: true, At: t.now()}) {
		if err != nil {
			return Principal{}, storeError(err)
		}
		if k.Use != UsePerson || Person(k.Owner) != person {
			continue
		}
		if k.Tenant != tenant {
			elsewhere = true
			continue
		}
		here := func(s Ticket) bool { return s.Token == k.ID && s.Open(t.now()) }
		if k.Created.Before(since) || k.Subject != "" && !slices.ContainsFunc(open, here) {
			continue
		}
		if p, err := k.Principal(); err == nil {
			found, since = p, k.Created
		}
	}
	switch {
	case found.ID == "" && elsewhere && tenant == "":
		return Principal{}, &problem.Error{Code: problem.PermissionDenied, Kind: "person_tenant", Detail: "This person is known here, but as a person of a tenant."}
	case found.ID == "":
		return Principal{}, unknownPerson()
	}
	return found, nil
}

func unknownPerson() error {
	return &problem.Error{Code: problem.PermissionDenied, Kind: "person", Detail: "This person isn't known here, or has to sign in again."}
}
