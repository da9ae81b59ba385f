package console

import (
	"context"
	"net/http"
	"net/url"
	"slices"
	"time"

	"github.com/bailiwick-dev/bailiwick"
	"github.com/bailiwick-dev/bailiwick/identity"
	"github.com/bailiwick-dev/bailiwick/internal/edge"
	"github.com/bailiwick-dev/bailiwick/problem"
)

// listPageSize is the number of tokens or people on a page.
const listPageSize = 50

// A listFilter is the filter of a page of tokens or people in an address.
type listFilter struct{ State, Kind, Tenant, Owner, Text, After string }

// readListFilter parses a query. Unknown states and kinds are refused.
func readListFilter(q url.Values) (listFilter, error) {
	a := listFilter{q.Get("state"), q.Get("kind"), q.Get("tenant"), q.Get("owner"), q.Get("q"), q.Get("after")}
	if !slices.Contains([]string{"", "ended", "all"}, a.State) {
		return a, problem.New(problem.InvalidArgument, "The state must be ended or all, or missing for valid tokens.")
	}
	if !slices.Contains(tokenKinds(), identity.Kind(a.Kind)) && a.Kind != "" {
		return a, problem.New(problem.InvalidArgument, "The kind must be agent, human or service.")
	}
	return a, nil
}

func tokenKinds() []identity.Kind {
	return []identity.Kind{identity.Agent, identity.Human, identity.Service}
}

// find returns the filter for stores. It selects one token more than a page has.
func (a listFilter) find() identity.TokenFilter {
	return identity.TokenFilter{Valid: a.State == "", Ended: a.State == "ended", Kind: identity.Kind(a.Kind), Tenant: a.Tenant, Person: a.Owner, Text: a.Text, After: a.After, Limit: listPageSize + 1}
}

// Narrowed reports whether the filter has a condition other than the page.
func (a listFilter) Narrowed() bool { return a.State+a.Kind+a.Tenant+a.Owner+a.Text != "" }

// Kinds returns the kinds to filter by.
func (a listFilter) Kinds() []identity.Kind { return tokenKinds() }

// page returns the address of the page after a token or person.
func (a listFilter) page(path, after string) string {
	q := url.Values{}
	for _, p := range [][2]string{{"state", a.State}, {"kind", a.Kind}, {"tenant", a.Tenant}, {"owner", a.Owner}, {"q", a.Text}, {"after", after}} {
		if p[1] != "" {
			q.Set(p[0], p[1])
		}
	}
	if len(q) == 0 {
		return Path + path
	}
	return Path + path + "?" + q.Encode()
}

// A pager has the addresses of the pages before and after a page, or "".
type pager struct{ First, Next string }

// pageOf cuts a list to one page and returns its pager. The function place returns the place of the last entry.
func pageOf[T any](all []T, a listFilter, path string, place func(T) string) ([]T, pager) {
	var p pager
	if a.After != "" {
		p.First = a.page(path, "")
	}
	if len(all) > listPageSize {
		all = all[:listPageSize]
		p.Next = a.page(path, place(all[listPageSize-1]))
	}
	return all, p
}

// A tokensPage is a page of tokens, or the question whether to revoke one.
type tokensPage struct {
	Tokens []tokenRow
	Filter listFilter
	Pager  pager
	Tenant string    // the tenant of the operator, or "" for all tenants
	Ask    *tokenRow // the token to revoke, if the page asks for confirmation
	Links  []edge.InstallLink
}

// A tokenRow is a token in the form in which the list shows it, without its secret.
type tokenRow struct {
	identity.Token
	State string // "good", "revoked" or "expired"
	Mine  bool   // the current session uses it
	Soon  bool   // it expires within a week
}

// tokenRows returns a page of tokens that the visitor may manage, with the newest first. If id isn't "", it also returns
// the token with that ID, or nil. It makes a recorded call that requires the scope operator.
func (c *Console) tokenRows(v *visit, f identity.TokenFilter, id string) (rows []tokenRow, one *tokenRow, err error) {
	var page, found []identity.Token
	ask := bailiwick.CallSpec{Tool: "console/tokens", Needs: identity.Operator, Correlation: v.correlation}
	err = c.options.Admit(v.ctx(), v.who, ask, func(run context.Context) (err error) {
		if page, err = c.options.Tokens.List(run, v.who, f); err == nil && id != "" {
			found, err = c.options.Tokens.List(run, v.who, identity.TokenFilter{IDs: []string{id}, Limit: 1})
		}
		return err
	})
	if err != nil {
		return nil, nil, err
	}
	for _, t := range page {
		rows = append(rows, c.tokenRow(v, t))
	}
	if len(found) > 0 {
		row := c.tokenRow(v, found[0])
		one = &row
	}
	return rows, one, nil
}

// tokenRow returns t in the form in which the list shows it.
func (c *Console) tokenRow(v *visit, t identity.Token) tokenRow {
	row := tokenRow{Token: t, State: "good", Mine: t.ID == v.who.TokenID, Soon: t.Expires.Sub(c.now()) < 7*24*time.Hour}
	switch {
	case !t.Revoked.IsZero():
		row.State = "revoked"
	case !c.now().Before(t.Expires):
		row.State = "expired"
	}
	return row
}

// tokens lists tokens. With ?revoke= it asks for confirmation to revoke one.
func (c *Console) tokens(v *visit) error {
	q := v.r.URL.Query()
	a, err := readListFilter(q)
	if err != nil {
		return err
	}
	rows, one, err := c.tokenRows(v, a.find(), q.Get("revoke"))
	if err != nil {
		return err
	}
	p := tokensPage{Filter: a, Tenant: v.who.Tenant, Links: edge.InstallLinks("bailiwick", c.base(v.r)+"/mcp")}
	if q.Has("revoke") {
		if one == nil || one.State != "good" {
			return problem.New(problem.NotFound, "There is no such token, or it is no longer good.")
		}
		p.Ask = one
	}
	p.Tokens, p.Pager = pageOf(rows, a, "/tokens", func(t tokenRow) string { return t.ID })
	f := frame{Title: "Tokens", At: Path + "/tokens", Page: p}
	if q.Has("revoked") {
		f.Notice = "Revoked. Whoever uses it is refused from now on."
	}
	return c.render(v, "tokens", f)
}

// revoke revokes a token.
func (c *Console) revoke(v *visit) error {
	ask := bailiwick.CallSpec{Tool: "console/revoke_token", Needs: identity.Operator, Correlation: v.correlation}
	err := c.options.Admit(v.ctx(), v.who, ask, func(run context.Context) error {
		return c.options.Tokens.Revoke(run, v.who, v.r.PathValue("id"))
	})
	if err != nil {
		return err
	}
	http.Redirect(v.w, v.r, Path+"/tokens?revoked=yes", http.StatusSeeOther)
	return nil
}
