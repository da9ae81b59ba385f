package console

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"net/netip"
	"net/url"
	"strings"

	"github.com/bailiwick-dev/bailiwick"
	"github.com/bailiwick-dev/bailiwick/console/internal/session"
	"github.com/bailiwick-dev/bailiwick/identity"
	"github.com/bailiwick-dev/bailiwick/internal/refused"
	"github.com/bailiwick-dev/bailiwick/problem"
)

// A route is one page or operation. Only POST routes change anything.
type route struct {
	method  string
	pattern string         // below Path
	open    bool           // no sign-in needed
	needs   identity.Scope // "" for any of rights
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
		{method: "POST", pattern: "/theme", open: true, serve: c.setTheme},
		{method: "GET", pattern: "/assets/{name}", open: true, serve: c.asset},

		{method: "GET", pattern: "/changes", needs: identity.Review, serve: c.queue},
		{method: "GET", pattern: "/changes/{id}", needs: identity.Review, serve: c.change},
		{method: "GET", pattern: "/changes/{id}/edit", needs: identity.Review, serve: c.edit},
		{method: "POST", pattern: "/filters", needs: identity.Review, serve: c.saveFilter},
		{method: "GET", pattern: "/changes/{id}/value", needs: identity.Review, serve: c.value},
		{method: "POST", pattern: "/changes/{id}/{deed}", needs: identity.Review, serve: c.decide},
		{method: "GET", pattern: "/batch", needs: identity.Review, serve: c.batchPage},
		{method: "POST", pattern: "/batch", needs: identity.Review, serve: c.batch},
		{method: "GET", pattern: "/events", needs: identity.Review, serve: c.events},
	}
	if c.options.Audit != nil {
		all = append(all, route{method: "GET", pattern: "/audit", needs: identity.Audit, serve: c.record})
	}
	if c.options.Tokens != nil {
		all = append(all, route{method: "GET", pattern: "/tokens", needs: identity.Operator, serve: c.tokens},
			route{method: "POST", pattern: "/tokens/{id}/revoke", needs: identity.Operator, serve: c.revoke})
	}
	if c.options.Tokens != nil && c.options.Exposure != nil {
		all = append(all, route{method: "GET", pattern: "/access", needs: identity.Operator, serve: c.access})
	}
	if c.options.Deliveries != nil {
		all = append(all, route{method: "GET", pattern: "/notifications", needs: identity.Operator, serve: c.notifications},
			route{method: "POST", pattern: "/notifications/{id}/redeliver", needs: identity.Operator, serve: c.redeliver})
	}
	if c.options.Sources != nil {
		all = append(all, route{method: "GET", pattern: "/sources", serve: c.sources})
	}
	return all
}

// rights are the scopes that admit a person; each gives access to pages of its own.
func rights() []identity.Scope {
	return []identity.Scope{identity.Review, identity.Audit, identity.Operator}
}

// A visit is one request.
type visit struct {
	w           http.ResponseWriter
	r           *http.Request
	session     session.Session    // the zero value if not signed in
	who         identity.Principal // the zero value if not signed in
	correlation string
}

func (v *visit) ctx() context.Context { return v.r.Context() }

// desk returns the visitor's Reviewer.
func (c *Console) desk(v *visit) bailiwick.Reviewer { return c.options.Reviewer(v.who, v.correlation) }

// formSize is the maximum size of a form, in bytes.
const formSize = 256 << 10

// serve handles a visit: it authenticates the visitor, checks their scopes and the form, and runs the route.
func (c *Console) serve(rt route) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		v := &visit{w: w, r: r, correlation: newCorrelation()}
		err := c.recognise(v)
		if err != nil && !rt.open {
			c.refuseVisitor(v, err)
			return
		}
		if r.Method == http.MethodPost {
			r.Body = http.MaxBytesReader(w, r.Body, formSize)
			if !c.genuine(v) {
				refused.Because(v.ctx(), "foreign_form", v.correlation)
				c.fail(w, r, http.StatusForbidden)
				return
			}
		}
		if rt.needs != "" && !v.who.Has(rt.needs) {
			refused.Because(v.ctx(), "scope", v.correlation)
			c.show(v, &problem.Error{Code: problem.PermissionDenied, Detail: "This page needs the scope " + string(rt.needs), Scope: string(rt.needs)})
			return
		}
		if err := rt.serve(v); err != nil {
			c.show(v, err)
		}
	})
}

// recognise sets the visitor's principal. The error is Unauthorized if the visitor isn't signed in.
func (c *Console) recognise(v *visit) error {
	name := cookieName(v.r)
	cookie, err := v.r.Cookie(name)
	if err != nil {
		return identity.Unauthorized("no_credential", nil)
	}
	s, renewed, err := c.sessions.Open(v.ctx(), cookie.Value, name)
	if errors.Is(err, session.ErrNone) {
		return identity.Unauthorized("session", nil)
	}
	if err != nil {
		return err
	}
	p, err := c.authenticate(v.r, s.Credential)
	if err != nil {
		return err
	}
	v.session, v.who = s, p
	refused.By(v.ctx(), p.ID)
	if renewed {
		http.SetCookie(v.w, c.cookie(v.r, s))
	}
	return nil
}

// authenticate returns the principal of a credential, if it may use the console.
func (c *Console) authenticate(r *http.Request, credential string) (identity.Principal, error) {
	p, err := c.options.Credentials.Authenticate(r.Context(), credential, remoteOf(r))
	if err != nil {
		return identity.Principal{}, err
	}
	if p.Kind == identity.Human {
		for _, s := range rights() {
			if p.Has(s) {
				return p, nil
			}
		}
	}
	return identity.Principal{}, identity.Unauthorized("not_for_console", nil)
}

func remoteOf(r *http.Request) netip.Addr {
	at, err := netip.ParseAddrPort(r.RemoteAddr)
	if err != nil {
		return netip.Addr{}
	}
	return at.Addr().Unmap()
}

// refuseVisitor redirects a visitor that isn't signed in to the sign-in page, which leads back afterwards.
func (c *Console) refuseVisitor(v *visit, err error) {
	refused.Because(v.ctx(), cmp.Or(problem.Of(err).Kind, string(problem.CodeOf(err))), v.correlation)
	if problem.CodeOf(err) != problem.Unauthorized {
		c.show(v, err)
		return
	}
	if v.r.URL.Path == Path+"/events" {
		c.fail(v.w, v.r, http.StatusUnauthorized)
		return
	}
	if v.r.Method == http.MethodGet && v.r.Header.Get("Sec-Fetch-Site") == "cross-site" {
		// A browser doesn't send a strict cookie when another site links here, such as a chat. It does when this page
		// links.
		if err := c.render(v, "onwards", frame{Title: "One moment", Page: within(v.r.URL.RequestURI())}); err != nil {
			c.show(v, err)
		}
		return
	}
	to := Path + "/sign-in"
	if _, err := v.r.Cookie(cookieName(v.r)); err == nil {
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

// genuine reports whether a POST is a form of the console's own pages, of this session or visitor.
func (c *Console) genuine(v *visit) bool {
	if err := v.r.ParseForm(); err != nil {
		return false
	}
	id := v.session.ID
	if id == "" {
		cookie, err := v.r.Cookie(visitorCookie)
		if err != nil {
			return false
		}
		id = cookie.Value
	}
	return c.sessions.Genuine(id, v.r.PostForm.Get("mark"))
}

// home redirects to the first page that the visitor may see.
func (c *Console) home(v *visit) error {
	nav := c.nav(v)
	if len(nav) == 0 {
		return errors.New("console: somebody is here who may see nothing")
	}
	http.Redirect(v.w, v.r, nav[0].Href, http.StatusSeeOther)
	return nil
}

// unrouted answers requests that match no route, because http.ServeMux would answer with its own texts.
func (c *Console) unrouted(mux *http.ServeMux) http.Handler {
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
