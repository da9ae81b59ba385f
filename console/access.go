package console

import (
	"cmp"
	"context"
	"slices"

	"github.com/bailiwick-dev/bailiwick"
	"github.com/bailiwick-dev/bailiwick/identity"
	"github.com/bailiwick-dev/bailiwick/problem"
)

// An accessPage shows the view and the rights of a selected principal.
type accessPage struct {
	Choices []tokenRow // valid tokens, the newest that match Text
	Text    string
	More    bool // there are further tokens
	allowancePage
}

// access shows the tools and views of a selected principal.
func (c *Console) access(v *visit) error {
	q := v.r.URL.Query()
	rows, one, err := c.tokenRows(v, identity.TokenFilter{Valid: true, Text: q.Get("q"), Limit: listPageSize + 1}, q.Get("as"))
	if err != nil {
		return err
	}
	more := len(rows) > listPageSize
	rows = rows[:min(len(rows), listPageSize)]
	if one != nil && one.State == "good" && !slices.ContainsFunc(rows, func(t tokenRow) bool { return t.ID == one.ID }) {
		rows = append(rows, *one)
	}
	slices.SortStableFunc(rows, func(a, b tokenRow) int {
		return cmp.Or(cmp.Compare(b2i(a.Kind != identity.Agent), b2i(b.Kind != identity.Agent)), cmp.Compare(a.Name, b.Name))
	})
	p := accessPage{rows, q.Get("q"), more, allowancePage{As: q.Get("as"), Open: q.Get("class"), Tool: q.Get("tool"), Class: q.Get("on"), Field: q.Get("field")}}
	if p.As != "" {
		ask := bailiwick.CallSpec{Tool: "console/view_as", Needs: identity.Operator, Correlation: v.correlation}
		err := c.options.Admit(v.ctx(), v.who, ask, func(context.Context) error { return c.viewAs(&p) })
		if err != nil {
			return err
		}
	}
	return c.render(v, "access", frame{Title: "Tools and views", At: Path + "/access", Page: p})
}

func b2i(b bool) int {
	if b {
		return 1
	}
	return 0
}

// viewAs fills p with the view of the selected principal.
func (c *Console) viewAs(p *accessPage) error {
	i := slices.IndexFunc(p.Choices, func(t tokenRow) bool { return t.ID == p.As })
	if i < 0 {
		return problem.New(problem.NotFound, "There is no such token, or it is no longer good.")
	}
	principal, err := p.Choices[i].Principal()
	if err != nil {
		return err
	}
	regime, err := c.options.Exposure()
	if err != nil {
		return err
	}
	p.Describe(regime, principal)
	return nil
}
