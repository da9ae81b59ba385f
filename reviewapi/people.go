package reviewapi

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"github.com/bailiwick-dev/bailiwick"
	"github.com/bailiwick-dev/bailiwick/identity"
	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/value"
)

// operators returns the paths that manage tokens and people. They are only for operators.
func (a *API) operators() map[string]map[string]answer {
	if a.options.Tokens == nil {
		return nil
	}
	return map[string]map[string]answer{
		"/api/tokens":             {"GET": a.managing("tokens", a.listTokens), "POST": a.fresh(a.managing("create_token", a.createToken))},
		"/api/tokens/{id}/revoke": {"POST": a.managing("revoke_token", a.revokeToken)},
		"/api/people":             {"GET": a.managing("people", a.listPeople), "POST": a.fresh(a.managing("invite_person", a.invite))},
		"/api/people/remove":      {"POST": a.managing("remove_person", a.remove)},
		"/api/sessions":           {"GET": a.managing("sessions", a.listSessions)},
		"/api/sessions/{id}/end":  {"POST": a.managing("end_session", a.endSession)},
	}
}

// managing makes do a recorded call that requires an operator.
func (a *API) managing(name string, do func(context.Context, *request) (any, error)) answer {
	return func(ctx context.Context, _ bailiwick.Reviewer, r *request) (out any, err error) {
		if r.http.Method != http.MethodGet { // lists check their own parameters
			if _, err := parameters(r.http.URL, nil); err != nil {
				return nil, err
			}
		}
		ask := bailiwick.CallSpec{Tool: "review/" + name, Needs: identity.Operator, Correlation: r.correlation}
		err = a.options.Record(ctx, r.who, ask, func(ctx context.Context, _ *bailiwick.Call) (int, error) {
			out, err = do(ctx, r)
			return 0, err
		})
		if err != nil {
			return nil, err
		}
		return out, nil
	}
}

// tokenFilter returns the filter of GET /api/tokens and GET /api/people. It selects one entry more than a page has.
func tokenFilter(u *url.URL, known []string) (identity.TokenFilter, error) {
	p, err := parameters(u, append(known, "tenant", "text", "after", "limit"))
	if err != nil {
		return identity.TokenFilter{}, err
	}
	f := identity.TokenFilter{Valid: p["state"] == "valid", Ended: p["state"] == "ended", Kind: identity.Kind(p["kind"]), Person: p["owner"], Tenant: p["tenant"], Text: p["text"], After: p["after"], Limit: 51}
	switch {
	case p["state"] != "" && !f.Valid && !f.Ended:
		return f, problem.New(problem.InvalidArgument, "state must be valid or ended")
	case f.Kind != "" && f.Kind != identity.Agent && f.Kind != identity.Human && f.Kind != identity.Service:
		return f, problem.New(problem.InvalidArgument, "kind must be agent, human or service")
	case p["limit"] != "":
		n, err := strconv.Atoi(p["limit"])
		if err != nil || n < 1 || n > maxPage {
			return f, problem.New(problem.InvalidArgument, fmt.Sprintf("limit must be a number from 1 to %d", maxPage))
		}
		f.Limit = n + 1
	}
	return f, nil
}

// tokenPage returns a page of rows under a name. If rows has one more than the page, it adds the address of the next page.
func tokenPage[T any](u *url.URL, name string, rows []T, f identity.TokenFilter, place func(*T) string) any {
	if rows == nil {
		rows = []T{}
	}
	out := map[string]any{"more": len(rows) == f.Limit}
	if len(rows) == f.Limit {
		rows = rows[:f.Limit-1]
		q := u.Query() // parameters has refused repeated ones
		q.Set("after", place(&rows[len(rows)-1]))
		out["next"] = u.Path + "?" + q.Encode()
	}
	out[name] = rows
	return out
}

// listTokens handles GET /api/tokens. It returns a page of tokens, the newest first.
func (a *API) listTokens(ctx context.Context, r *request) (any, error) {
	f, err := tokenFilter(r.http.URL, []string{"state", "kind", "owner"})
	if err != nil {
		return nil, err
	}
	rows, err := a.options.Tokens.List(ctx, r.who, f)
	return tokenPage(r.http.URL, "tokens", rows, f, func(t *identity.Token) string { return t.ID }), err
}

// listPeople handles GET /api/people. It returns a page of the people that the caller manages, by name.
func (a *API) listPeople(ctx context.Context, r *request) (any, error) {
	f, err := tokenFilter(r.http.URL, nil)
	if err != nil {
		return nil, err
	}
	rows, err := a.options.Tokens.People(ctx, r.who, f)
	return tokenPage(r.http.URL, "people", rows, f, (*identity.PersonEntry).Place), err
}

// rights are the members of a body that define the owner and the rights of a token or a person.
var rights = []member{{"owner", value.String, true}, {"tenant", value.String, false}, {"scopes", value.String, true}}

// parseToken returns the token that a body describes.
func parseToken(b map[string]value.Value) (identity.Token, error) {
	scopes, err := identity.ParseScopes(b["scopes"].Text())
	return identity.Token{Name: b["name"].Text(), Kind: identity.Kind(b["kind"].Text()), Owner: b["owner"].Text(), Tenant: b["tenant"].Text(), Scopes: scopes}, err
}

// createToken handles POST /api/tokens. It returns the token and its secret, which is returned only this once.
// identity.Tokens.Create checks the rights that the caller may grant.
func (a *API) createToken(ctx context.Context, r *request) (any, error) {
	b, err := members(r.body, append([]member{{"name", value.String, true}, {"kind", value.String, false}, {"expires_at", value.String, false}}, rights...))
	if err != nil {
		return nil, err
	}
	want, err := parseToken(b)
	if err != nil {
		return nil, err
	}
	if text := b["expires_at"].Text(); text != "" {
		if want.Expires, err = time.Parse(time.RFC3339, text); err != nil {
			return nil, &problem.Error{Code: problem.InvalidArgument, Pointer: "/expires_at", Detail: "must be a time such as 2027-01-31T00:00:00Z"}
		}
	}
	made, secret, err := a.options.Tokens.Create(ctx, r.who, want)
	return map[string]any{"token": made, "secret": secret}, err
}

func (a *API) revokeToken(ctx context.Context, r *request) (any, error) {
	if _, err := members(r.body, nil); err != nil {
		return nil, err
	}
	return map[string]any{"revoked": r.id}, a.options.Tokens.Revoke(ctx, r.who, r.id)
}

// invite handles POST /api/people. It returns the person's record and a sign-in link, which is returned only this
// once.
func (a *API) invite(ctx context.Context, r *request) (any, error) {
	b, err := members(r.body, rights)
	if err != nil {
		return nil, err
	}
	want, err := parseToken(b)
	if err != nil {
		return nil, err
	}
	made, link, err := a.options.Tokens.Invite(ctx, r.who, want, identity.LinkLife)
	return map[string]any{"person": made, "sign_in": "/console/sign-in?link=" + link, "until": time.Now().Add(identity.LinkLife).UTC()}, err
}

func (a *API) remove(ctx context.Context, r *request) (any, error) {
	b, err := members(r.body, rights[:2])
	if err != nil {
		return nil, err
	}
	n, err := a.options.Tokens.Remove(ctx, r.who, b["owner"].Text(), b["tenant"].Text())
	return map[string]any{"revoked": n}, err
}

// listSessions handles GET /api/sessions. It returns the open sessions of the console that the caller may see.
func (a *API) listSessions(ctx context.Context, r *request) (any, error) {
	if _, err := parameters(r.http.URL, nil); err != nil {
		return nil, err
	}
	all, err := a.options.Tokens.Sessions(ctx, r.who, identity.Session, nil)
	if err != nil {
		return nil, err
	}
	type session struct {
		ID      string    `json:"id"`
		Owner   string    `json:"owner"`
		Tenant  string    `json:"tenant,omitempty"`
		Browser string    `json:"browser"`
		Created time.Time `json:"created_at"`
		Seen    time.Time `json:"last_used_at"`
		Expires time.Time `json:"expires_at"`
	}
	out := []session{}
	for _, s := range all {
		out = append(out, session{s.ID, s.Of.Owner, s.Of.Tenant, s.Label, s.Created, s.Seen, s.Expires})
	}
	return map[string]any{"sessions": out}, nil
}

func (a *API) endSession(ctx context.Context, r *request) (any, error) {
	if _, err := members(r.body, nil); err != nil {
		return nil, err
	}
	return map[string]any{"ended": r.id}, a.options.Tokens.End(ctx, r.who, identity.Session, r.id)
}
