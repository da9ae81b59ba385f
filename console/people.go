package console

import (
	"context"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/bailiwick-dev/bailiwick"
	"github.com/bailiwick-dev/bailiwick/identity"
	"github.com/bailiwick-dev/bailiwick/problem"
)

// A peoplePage lists the people who may sign in, for operators.
type peoplePage struct {
	People []identity.PersonEntry
	Filter listFilter
	Pager  pager
	Rights []identity.Scope // rights that a person can be given
	Link   string           // a sign-in link that was just made
	For    string           // the person of Link
	Until  time.Time
	Ask    *identity.PersonEntry // the person to change or remove
	Remove bool
	Tenant string // the tenant of the operator, or "" for all tenants

	Invited *identity.PersonEntry // the initial content of the form for a new person
}

// peopleRows returns a page of the people that the visitor manages, by name. If person isn't "", it also returns their
// entry in a tenant, or nil.
func (c *Console) peopleRows(v *visit, f identity.TokenFilter, person, tenant string) (rows []identity.PersonEntry, one *identity.PersonEntry, err error) {
	var found []identity.PersonEntry
	ask := bailiwick.CallSpec{Tool: "console/people", Needs: identity.Operator, Correlation: v.correlation}
	err = c.options.Admit(v.ctx(), v.who, ask, func(ctx context.Context) (err error) {
		if rows, err = c.options.Tokens.People(ctx, v.who, f); err == nil && person != "" {
			found, err = c.options.Tokens.People(ctx, v.who, identity.TokenFilter{Person: person, Tenant: tenant})
		}
		return err
	})
	if err != nil {
		return nil, nil, err
	}
	if i := slices.IndexFunc(found, func(p identity.PersonEntry) bool { return p.Tenant == tenant }); i >= 0 {
		one = &found[i]
	}
	return rows, one, nil
}

func (c *Console) people(v *visit) error {
	did := map[string]string{"removed": "Removed. Their sessions, tokens and agents have ended.", "ended": "The session has ended."}
	return c.showPeople(v, peoplePage{}, frame{Notice: did[v.r.URL.Query().Get("did")]})
}

// showPeople writes the page of people in frame f. p may contain a link that was just made, or the values of a form.
// With ?person=, the page asks for confirmation about one person, which the visitor must manage.
func (c *Console) showPeople(v *visit, p peoplePage, f frame) error {
	q := v.r.URL.Query()
	name, tenant := q.Get("person"), q.Get("tenant")
	if v.r.Method != http.MethodGet {
		name = ""
	}
	if name != "" {
		q.Del("tenant") // it belongs to the person
	}
	a, err := readListFilter(q)
	if err != nil {
		return err
	}
	a.State, a.Kind, a.Owner = "", "", ""
	rows, one, err := c.peopleRows(v, a.find(), name, tenant)
	if err != nil {
		return err
	}
	p.Filter, p.Tenant = a, v.who.Tenant
	p.People, p.Pager = pageOf(rows, a, "/people", func(r identity.PersonEntry) string { return r.Place() })
	p.Invited = &identity.PersonEntry{Scopes: []identity.Scope{identity.Review, identity.Read}}
	p.Rights = []identity.Scope{identity.Review, identity.Audit, identity.Operator, identity.Read, identity.Write, identity.Delete, identity.Schema}
	if name != "" {
		if one == nil {
			return problem.New(problem.NotFound, "There is no such person, or they have been removed.")
		}
		p.Ask, p.Remove = one, q.Has("remove")
	}
	f.Title, f.At, f.Page = "People", Path+"/people", p
	return c.render(v, "people", f)
}

// changePeople invites a person, changes a person's rights, removes a person, or ends one of a person's sessions.
func (c *Console) changePeople(v *visit) error {
	form := v.r.PostForm
	person, tenant := strings.TrimSpace(form.Get("person")), strings.TrimSpace(form.Get("tenant"))
	do := map[string]func(context.Context) error{
		"remove": func(ctx context.Context) error {
			_, err := c.options.Tokens.Remove(ctx, v.who, person, tenant)
			return err
		},
		"end": func(ctx context.Context) error {
			return c.options.Tokens.End(ctx, v.who, identity.Session, form.Get("session"))
		},
	}
	deed := v.r.PathValue("deed")
	if deed == "invite" {
		// With the link, the operator could break the glass in another person's name.
		if !v.who.Fresh(c.now(), c.options.Fresh) {
			http.Redirect(v.w, v.r, Path+"/sign-in?again=yes&next="+url.QueryEscape(Path+"/people"), http.StatusSeeOther)
			return nil
		}
		return c.invite(v, person, tenant)
	}
	if do[deed] == nil {
		return problem.New(problem.NotFound, "No page has this address.")
	}
	ask := bailiwick.CallSpec{Tool: "console/" + deed + "_person", Needs: identity.Operator, Correlation: v.correlation}
	if err := c.options.Admit(v.ctx(), v.who, ask, do[deed]); err != nil {
		return err
	}
	http.Redirect(v.w, v.r, Path+"/people?did="+map[string]string{"remove": "removed", "end": "ended"}[deed], http.StatusSeeOther)
	return nil
}

// invite makes a sign-in link for a person and gives the person the selected rights. Only this response contains the
// link.
func (c *Console) invite(v *visit, person, tenant string) error {
	want := identity.Token{Owner: person, Tenant: tenant}
	for _, s := range v.r.PostForm["scope"] {
		want.Scopes = append(want.Scopes, identity.Scope(s))
	}
	var p peoplePage
	ask := bailiwick.CallSpec{Tool: "console/invite_person", Needs: identity.Operator, Correlation: v.correlation}
	err := c.options.Admit(v.ctx(), v.who, ask, func(ctx context.Context) error {
		made, link, err := c.options.Tokens.Invite(ctx, v.who, want, identity.LinkLife)
		if err == nil {
			p.Link, p.For, p.Until = c.base(v.r)+SignIn(link), made.Owner, c.now().Add(identity.LinkLife)
		}
		return err
	})
	switch problem.CodeOf(err) {
	case problem.InvalidArgument, problem.PermissionDenied:
		return c.showPeople(v, p, frame{Alert: problem.Of(err).Detail, Status: http.StatusBadRequest})
	}
	if err != nil {
		return err
	}
	v.r.URL = &url.URL{Path: Path + "/people"}
	return c.showPeople(v, p, frame{Notice: "The link for " + p.For + " is below. It is shown this once."})
}
