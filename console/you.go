package console

import (
	"context"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/bailiwick-dev/bailiwick"
	"github.com/bailiwick-dev/bailiwick/identity"
	"github.com/bailiwick-dev/bailiwick/internal/authserver"
	"github.com/bailiwick-dev/bailiwick/internal/connect"
	"github.com/bailiwick-dev/bailiwick/internal/edge"
	"github.com/bailiwick-dev/bailiwick/problem"
)

// Agents is the authorization server for agents that sign in by themselves.
type Agents = *authserver.Server

// A youPage shows a person their own sessions, and the agents to which they gave access.
type youPage struct {
	Sessions []identity.OpenTicket
	Here     string // the ID of this session
	Agents   []identity.Token
	Lets     bool // agents can sign in
	Accounts []connect.Connection
}

// you shows the visitor their own sessions, agents and connected accounts. It requires no scope, because all of this
// belongs to the visitor.
func (c *Console) you(v *visit) error {
	all, err := c.options.Tokens.Sessions(v.ctx(), v.who, identity.Session, []string{v.who.Person()})
	if err != nil {
		return err
	}
	p := youPage{Here: v.session.ID, Lets: c.options.Agents != nil, Sessions: slices.DeleteFunc(all, func(s identity.OpenTicket) bool { return !s.Mine })}
	if p.Agents, err = c.options.Tokens.Agents(v.ctx(), v.who); err != nil {
		return err
	}
	if c.options.Connections != nil && v.who.Person() != "" {
		if p.Accounts, err = c.options.Connections.List(v.ctx(), v.who); err != nil {
			return err
		}
	}
	f := frame{Title: "You", At: Path + "/you", Page: p}
	switch q := v.r.URL.Query(); {
	case q.Has("ended"):
		f.Notice = "Ended, everywhere."
	case q.Has("connected"):
		f.Notice = "Connected. Agents that act for you can use the account now."
	}
	return c.render(v, "you", f)
}

// endOwn ends one of the visitor's sessions, removes one of their agents, or disconnects an account.
func (c *Console) endOwn(v *visit) error {
	id, err := v.r.PathValue("id"), error(nil)
	switch what := v.r.PathValue("what"); {
	case what == "accounts" && c.options.Connections != nil:
		err = c.runAsCall(v, "console/disconnect", func(ctx context.Context) error { return c.options.Connections.End(ctx, v.who, id) })
	case what == "sessions":
		err = c.runAsCall(v, "console/end_session", func(ctx context.Context) error { return c.options.Tokens.End(ctx, v.who, identity.Session, id) })
	case what == "agents":
		err = c.runAsCall(v, "console/remove_agent", func(ctx context.Context) error { return c.options.Tokens.EndGrant(ctx, v.who, id) })
	default:
		err = problem.New(problem.NotFound, "No page has this address.")
	}
	if err != nil {
		return err
	}
	http.Redirect(v.w, v.r, Path+"/you?ended=yes", http.StatusSeeOther)
	return nil
}

// runAsCall runs do as a recorded call that requires only the session.
func (c *Console) runAsCall(v *visit, tool string, do func(context.Context) error) error {
	return c.options.Admit(v.ctx(), v.who, bailiwick.CallSpec{Tool: tool, Needs: v.who.Scopes[0], Correlation: v.correlation}, do)
}

// A consentPage asks a person whether an agent may act for them.
type consentPage struct {
	*authserver.Asking
	Query string // the query of the request, which the form repeats
	Who   identity.Principal
}

// consent shows the request of an agent's client. It remembers no decision, so the page is shown each time.
func (c *Console) consent(v *visit) error {
	asking, err := c.asking(v, v.r.URL.Query())
	if err != nil || asking == nil {
		return err
	}
	return c.showConsent(v, asking, v.r.URL.RawQuery, frame{})
}

func (c *Console) showConsent(v *visit, asking *authserver.Asking, query string, f frame) error {
	v.w.Header().Set("Content-Security-Policy", strings.Replace(policy, "form-action 'self'", "form-action 'self' "+asking.Source(), 1))
	f.Title, f.Page = "Let an agent in", consentPage{asking, query, v.who}
	return c.render(v, "allow", f)
}

// asking returns the request of a client. It returns nil if the client has already been answered.
func (c *Console) asking(v *visit, q url.Values) (*authserver.Asking, error) {
	asking, back, err := c.options.Agents.Ask(v.r, q, v.who)
	if back != "" {
		edge.RefusedBecause(v.ctx(), "authorization_request", v.correlation)
		edge.RefusalCause(v.ctx(), err)
		http.Redirect(v.w, v.r, back, http.StatusSeeOther)
		return nil, nil
	}
	return asking, err
}

// allow answers a client with the person's decision.
func (c *Console) allow(v *visit) error {
	asked, err := url.ParseQuery(v.r.PostForm.Get("request"))
	if err != nil {
		return problem.New(problem.InvalidArgument, "The request of the agent can't be read")
	}
	asking, err := c.asking(v, asked)
	if err != nil || asking == nil {
		return err
	}
	if v.r.PostForm.Get("answer") != "allow" {
		http.Redirect(v.w, v.r, asking.Deny(), http.StatusSeeOther)
		return nil
	}
	var chosen []identity.Scope
	for _, s := range v.r.PostForm["scope"] {
		chosen = append(chosen, identity.Scope(s))
	}
	var back string
	err = c.runAsCall(v, "console/let_agent_in", func(ctx context.Context) (err error) {
		back, err = c.options.Agents.Grant(ctx, v.who, asking, chosen)
		return err
	})
	if problem.CodeOf(err) == problem.InvalidArgument {
		return c.showConsent(v, asking, asked.Encode(), frame{Alert: problem.Of(err).Detail, Status: http.StatusBadRequest})
	}
	if err != nil {
		return err
	}
	http.Redirect(v.w, v.r, back, http.StatusSeeOther)
	return nil
}
