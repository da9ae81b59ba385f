package console

import (
	"context"
	"net/http"
	"slices"
	"time"

	"github.com/bailiwick-dev/bailiwick"
	"github.com/bailiwick-dev/bailiwick/identity"
	"github.com/bailiwick-dev/bailiwick/internal/edge"
	"github.com/bailiwick-dev/bailiwick/problem"
)

// A tokensPage is the list of tokens, or the question whether to revoke one.
type tokensPage struct {
	Tokens []tokenRow
	Ended  bool      // also shows tokens that are no longer valid
	Gone   int       // number of tokens that are no longer valid
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

// tokenRows returns all tokens that the visitor may manage, with the newest first. It makes a recorded call that
// requires the scope operator.
func (c *Console) tokenRows(v *visit) ([]tokenRow, error) {
	var all []identity.Token
	ask := bailiwick.CallSpec{Tool: "console/tokens", Needs: identity.Operator, Correlation: v.correlation}
	err := c.options.Admit(v.ctx(), v.who, ask, func(run context.Context) (err error) {
		all, err = c.options.Tokens.List(run, v.who)
		return err
	})
	if err != nil {
		return nil, err
	}
	out := make([]tokenRow, len(all))
	for i, t := range all {
		out[i] = tokenRow{Token: t, State: "good", Mine: t.ID == v.who.TokenID, Soon: t.Expires.Sub(c.now()) < 7*24*time.Hour}
		switch {
		case !t.Revoked.IsZero():
			out[i].State = "revoked"
		case !c.now().Before(t.Expires):
			out[i].State = "expired"
		}
	}
	slices.Reverse(out) // newest first
	return out, nil
}

// tokens lists tokens. With ?revoke= it asks for confirmation to revoke one.
func (c *Console) tokens(v *visit) error {
	all, err := c.tokenRows(v)
	if err != nil {
		return err
	}
	q := v.r.URL.Query()
	p := tokensPage{Ended: q.Has("ended"), Links: edge.InstallLinks("bailiwick", c.base(v.r)+"/mcp")}
	for _, t := range all {
		if t.ID == q.Get("revoke") && t.State == "good" {
			p.Ask = &t
		}
		if t.State != "good" {
			p.Gone++
			if !p.Ended {
				continue
			}
		}
		p.Tokens = append(p.Tokens, t)
	}
	if q.Has("revoke") && p.Ask == nil {
		return problem.New(problem.NotFound, "There is no such token, or it is no longer good.")
	}
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
