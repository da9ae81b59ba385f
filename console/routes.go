package console

import (
	"cmp"
	"context"
	"net/http"
	"net/netip"
	"net/url"
	"strings"

	"github.com/bailiwick-dev/bailiwick"
	"github.com/bailiwick-dev/bailiwick/identity"
	"github.com/bailiwick-dev/bailiwick/internal/edge"
	"github.com/bailiwick-dev/bailiwick/problem"
)

// A route is one page or operation. Only POST routes change anything.
type route struct {
	method  string
	pattern string         // below Path
	open    bool           // no sign-in needed
	needs   identity.Scope // "" means any of the scopes in rights
	serve   func(*visit) error
}

// routes returns all routes.
func (c *Console) routes() []route {
	all := []route{
		{method: "GET", pattern: "", serve: c.home},
		{method: "GET", pattern: "/{$}", serve: c.home},
		{method: "GET", pattern: "/sign-in", open: true, serve: c.signInPage},
		{method: "POST", pattern: "/sign-in", open: true, serve: c.signIn},
		{method: "POST", pattern: "/sign-out", serve: c.signOut},
		{method: "GET", pattern: "/you", serve: c.you},
		{method: "POST", pattern: "/you/{what}/{id}/end", serve: c.endOwn},
		{method: "POST", pattern: "/theme", open: true, serve: c.setTheme},
		{method: "GET", pattern: "/assets/{name}", open: true, serve: c.asset},

		{method: "GET", pattern: "/changes", needs: identity.Review, serve: c.queue},
		{method: "GET", pattern: "/changes/{id}", needs: identity.Review, serve: c.change},
		{method: "GET", pattern: "/changes/{id}/edit", needs: identity.Review, serve: c.edit},
		{method: "GET", pattern: "/changes/{id}/print", needs: identity.Review, serve: c.print},
		{method: "GET", pattern: "/changes/{id}/file", needs: identity.Review, serve: c.download},
		{method: "POST", pattern: "/filters", needs: identity.Review, serve: c.saveFilter},
		{method: "GET", pattern: "/changes/{id}/value", needs: identity.Review, serve: c.value},
		{method: "POST", pattern: "/changes/{id}/{deed}", needs: identity.Review, serve: c.decide},
		{method: "GET", pattern: "/batch", needs: identity.Review, serve: c.batchPage},
		{method: "POST", pattern: "/batch", needs: identity.Review, serve: c.batch},
		{method: "GET", pattern: "/events", needs: identity.Review, serve: c.events},

		{method: "GET", pattern: "/tokens", needs: identity.Operator, serve: c.tokens},
		{method: "POST", pattern: "/tokens/{id}/revoke", needs: identity.Operator, serve: c.revoke},
		{method: "GET", pattern: "/people", needs: identity.Operator, serve: c.people},
		{method: "POST", pattern: "/people/{deed}", needs: identity.Operator, serve: c.changePeople},
	}
	if c.options.Audit != nil {
		all = append(all, route{method: "GET", pattern: "/audit", needs: identity.Audit, serve: c.record})
	}
	if c.options.Issuer != nil {
		all = append(all, route{method: "GET", pattern: "/sign-in/issuer", open: true, serve: c.toIssuer}, route{method: "GET", pattern: "/sign-in/callback", open: true, serve: c.fromIssuer})
	}
	if c.options.Agents != nil {
		all = append(all, route{method: "GET", pattern: "/allow", serve: c.consent}, route{method: "POST", pattern: "/allow", serve: c.allow})
	}
	if c.options.Connections != nil {
		all = append(all, route{method: "POST", pattern: "/you/accounts/{source}/connect", serve: c.connect},
			route{method: "GET", pattern: "/you/accounts/{source}/callback", serve: c.finishConnection})
	}
	if c.options.Exposure != nil {
		all = append(all, route{method: "GET", pattern: "/access", needs: identity.Operator, serve: c.access})
	}
	if c.options.Deliveries != nil {
		all = append(all, route{method: "GET", pattern: "/notifications", needs: identity.Operator, serve: c.notifications},
			route{method: "POST", pattern: "/notifications/test", needs: identity.Operator, serve: c.testHook},
			route{method: "POST", pattern: "/notifications/{id}/redeliver", needs: identity.Operator, serve: c.redeliver})
	}
	if c.options.Sources != nil {
		all = append(all, route{method: "GET", pattern: "/sources", serve: c.sources})
	}
	return all
}

// rights returns the scopes that admit a person. Each gives access to its own pages.
func rights() []identity.Scope {
	return []identity.Scope{identity.Review, identity.Audit, identity.Operator}
}

// A visit is one request.
type visit struct {
	w           http.ResponseWriter
	r           *http.Request
	session     session            // the zero value if not signed in
	who         identity.Principal // the zero value if not signed in
	correlation string
}

func (v *visit) ctx() context.Context { return v.r.Context() }

// reviewer returns the visitor's Reviewer.
func (c *Console) reviewer(v *visit) bailiwick.Reviewer {
	return c.options.Reviewer(v.who, v.correlation)
}

// formSize is the maximum size of a form, in bytes.
const formSize = 256 << 10

// serve handles a visit. It authenticates the visitor, checks their scopes and the form, and runs the route.
func (c *Console) serve(rt route) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		v := &visit{w: w, r: r, correlation: newCorrelation()}
		err := c.recognise(v)
		if err != nil && (!rt.open || problem.Of(err).Store) {
			c.refuseVisitor(v, err)
			return
		}
		if r.Method == http.MethodPost {
			r.Body = http.MaxBytesReader(w, r.Body, formSize)
			if !c.genuine(v) {
				edge.RefusedBecause(v.ctx(), "foreign_form", v.correlation)
				c.fail(w, r, http.StatusForbidden)
				return
			}
		}
		if rt.needs != "" && !v.who.Has(rt.needs) {
			edge.RefusedBecause(v.ctx(), "scope", v.correlation)
			c.show(v, &problem.Error{Code: problem.PermissionDenied, Detail: "This page needs the scope " + string(rt.needs), Scope: string(rt.needs)})
			return
		}
		if err := rt.serve(v); err != nil {
			c.show(v, err)
		}
	})
}

// authenticate returns the principal of a credential, if the principal may use the console.
func (c *Console) authenticate(r *http.Request, credential string) (identity.Principal, error) {
	p, err := c.options.Credentials.Authenticate(r.Context(), credential, remoteOf(r))
	if err != nil {
		return identity.Principal{}, err
	}
	if !c.admits(p) {
		return identity.Principal{}, identity.UnauthorizedError("not_for_console", nil)
	}
	p.Proven = c.now()
	return p, nil
}

func remoteOf(r *http.Request) netip.Addr {
	at, err := netip.ParseAddrPort(r.RemoteAddr)
	if err != nil {
		return netip.Addr{}
	}
	return at.Addr().Unmap()
}

// refuseVisitor redirects a visitor who isn't signed in to the sign-in page. After sign-in, that page redirects back.
func (c *Console) refuseVisitor(v *visit, err error) {
	edge.RefusedBecause(v.ctx(), cmp.Or(problem.Of(err).Kind, string(problem.CodeOf(err))), v.correlation)
	if problem.CodeOf(err) != problem.Unauthorized {
		c.show(v, err)
		return
	}
	if v.r.URL.Path == Path+"/events" {
		c.fail(v.w, v.r, http.StatusUnauthorized)
		return
	}
	if v.r.Method == http.MethodGet && v.r.Header.Get("Sec-Fetch-Site") == "cross-site" {
		// A link on another site, such as a chat, may open this page. Then the browser doesn't send a strict cookie.
		// The browser sends it if this page contains the link.
		if err := c.render(v, "onwards", frame{Title: "One moment", Page: edge.Within(Path, v.r.URL.RequestURI())}); err != nil {
			c.show(v, err)
		}
		return
	}
	to := Path + "/sign-in"
	if _, err := v.r.Cookie(sessionOf(v.r)); err == nil {
		to += "?ended=yes"
		c.forget(v)
	}
	if v.r.Method == http.MethodGet && v.r.URL.Path != Path+"/" {
		to += sep(to) + "next=" + url.QueryEscape(v.r.URL.RequestURI())
	}
	http.Redirect(v.w, v.r, to, http.StatusSeeOther)
}

func sep(to string) string {
	if strings.Contains(to, "?") {
		return "&"
	}
	return "?"
}

// home redirects to the first page that the visitor may see.
func (c *Console) home(v *visit) error {
	nav := c.nav(v)
	to := Path + "/you"
	if len(nav) > 0 {
		to = nav[0].Href
	}
	http.Redirect(v.w, v.r, to, http.StatusSeeOther)
	return nil
}

// withRouteErrors returns mux with the console's own errors for requests that match no route, because http.ServeMux
// would answer with its own texts.
func (c *Console) withRouteErrors(mux *http.ServeMux) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if _, pattern := mux.Handler(r); pattern != "" {
			mux.ServeHTTP(w, r)
			return
		}
		probe := r.Clone(r.Context())
		var allowed []string
		for _, m := range []string{http.MethodGet, http.MethodPost} {
			probe.Method = m
			if _, pattern := mux.Handler(probe); pattern != "" {
				allowed = append(allowed, m)
			}
		}
		if allowed == nil {
			c.fail(w, r, http.StatusNotFound)
			return
		}
		w.Header().Set("Allow", strings.Join(allowed, ", "))
		c.fail(w, r, http.StatusMethodNotAllowed)
	})
}
