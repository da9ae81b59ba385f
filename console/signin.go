package console

import (
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/bailiwick-dev/bailiwick"
	"github.com/bailiwick-dev/bailiwick/identity"
	"github.com/bailiwick-dev/bailiwick/internal/edge"
	"github.com/bailiwick-dev/bailiwick/problem"
)

// forget removes the session cookie.
func (c *Console) forget(v *visit) {
	gone := plainCookie(v.r, sessionOf(v.r), "")
	gone.MaxAge = -1
	http.SetCookie(v.w, gone)
}

// A signingIn is the sign-in page.
type signingIn struct {
	Link   string // the secret of a one-time sign-in link
	Next   string
	Ended  bool   // a session has ended
	Again  bool   // the visitor must prove their identity again
	Takes  string // the kind of sign-in that Again requires
	Issuer string // the name of the issuer, or ""
	Token  bool   // a token can be entered
	Wrong  string

	via   string          // the Data of the session to create
	offer *identity.Offer // the link that the session uses up, or nil
}

// signInPage shows the sign-in page. A visitor who is signed in is redirected to next, unless there is a link or the
// visitor must prove their identity again.
func (c *Console) signInPage(v *visit) error {
	q := v.r.URL.Query()
	p := signingIn{Link: q.Get("link"), Next: edge.Within(Path, q.Get("next")), Ended: q.Has("ended"), Again: q.Has("again")}
	if p.Again {
		p.Takes = v.who.Takes(c.options.Fresh)
	}
	if v.who.ID != "" && p.Link == "" && !p.Again {
		http.Redirect(v.w, v.r, p.Next, http.StatusSeeOther)
		return nil
	}
	if q.Has("kept") {
		p.Wrong = "The browser has not kept your session: this address is plain http, over which no token may be sent. " +
			"Use https, or the address of this machine itself."
	}
	return c.signInWith(v, p, http.StatusOK)
}

// signInWith writes the sign-in page. Its form contains a token against forged requests. The token is derived from
// the session's secret or, before sign-in, from a cookie that grants no rights.
func (c *Console) signInWith(v *visit, p signingIn, status int) error {
	secret := v.session.secret
	if secret == "" {
		if cookie, err := v.r.Cookie(visitorName); err == nil && cookie.Value != "" {
			secret = cookie.Value
		} else {
			secret = newVisitorID()
			http.SetCookie(v.w, plainCookie(v.r, visitorName, secret))
		}
	}
	p.Token = c.options.Credentials != nil
	if c.options.Issuer != nil {
		p.Issuer = c.options.Issuer.Name()
	}
	return c.render(v, "sign-in", frame{Title: "Sign in", Mark: formMark(secret), Page: p, Status: status})
}

// signIn starts a session. The session is always new, regardless of the cookie that the browser sent.
func (c *Console) signIn(v *visit) error {
	form := v.r.PostForm
	p := signingIn{Next: edge.Within(Path, form.Get("next"))}
	if code := form.Get("link"); code != "" {
		p.Wrong = "This link has been used, or it is too old. Ask for another one."
		o, err := c.options.Tokens.Offer(v.ctx(), identity.Link, code, remoteOf(v.r))
		p.offer = &o
		o.Principal.Expires, o.Principal.Proven = time.Time{}, c.now()
		return c.enter(v, p, o.Principal, err)
	}
	p.Wrong = "That token doesn't sign in here. It must be a person's, valid now, with the scope review, audit or operator."
	if c.options.Credentials == nil {
		return c.enter(v, p, identity.Principal{}, identity.UnauthorizedError("no_credentials", nil))
	}
	principal, err := c.authenticate(v.r, strings.TrimSpace(form.Get("credential")))
	return c.enter(v, p, principal, err)
}

// enter starts a session of principal, unless err refuses the sign-in. p is the page that then shows the error.
func (c *Console) enter(v *visit, p signingIn, principal identity.Principal, err error) error {
	if err == nil {
		principal, err = c.options.Tokens.Person(v.ctx(), principal)
	}
	if err == nil && !c.admits(principal) {
		err = identity.UnauthorizedError("not_for_console", nil)
	}
	if err != nil {
		return c.wrong(v, p, err)
	}
	var needs identity.Scope // the visitor's first scope among rights, which admits them
	for _, s := range append(rights(), identity.Lendable(principal)...) {
		if principal.Has(s) {
			needs = s
			break
		}
	}
	err = c.options.Admit(v.ctx(), principal, bailiwick.CallSpec{Tool: "console/sign_in", Needs: needs, Correlation: v.correlation}, noRun)
	if err != nil {
		return err
	}
	if err := c.begin(v, principal, p); err != nil {
		return c.wrong(v, p, err)
	}
	to := p.Next
	if !edge.Plainly(v.r) { // over plain http the browser drops the cookie, and the page says so
		to = Path + "/sign-in?kept=yes&next=" + url.QueryEscape(p.Next)
	}
	http.Redirect(v.w, v.r, to, http.StatusSeeOther)
	return nil
}

// wrong shows the sign-in page to a refused visitor. It returns any other error.
func (c *Console) wrong(v *visit, p signingIn, err error) error {
	if problem.CodeOf(err) != problem.Unauthorized {
		return err
	}
	edge.RefusedBecause(v.ctx(), problem.Of(err).Kind, v.correlation)
	edge.RefusalCause(v.ctx(), problem.Of(err).Err)
	return c.signInWith(v, p, http.StatusForbidden)
}

// signOut ends the session. It also ends the session at the issuer, if the issuer supports that.
func (c *Console) signOut(v *visit) error {
	err := c.options.Tokens.End(v.ctx(), v.who, identity.Session, v.session.ID)
	if err != nil && problem.CodeOf(err) != problem.NotFound {
		return err // keep the cookie, because the visitor is still signed in
	}
	c.forget(v)
	if c.options.Issuer != nil && v.session.Data == issued {
		if to := c.options.Issuer.SignOut(v.ctx(), c.base(v.r)+Path+"/sign-in"); to != "" {
			// A redirect would count as the target of a form, and the content policy allows forms only to this host.
			return c.render(&visit{w: v.w, r: v.r}, "onwards", frame{Title: "Signed out", Page: to})
		}
	}
	http.Redirect(v.w, v.r, Path+"/sign-in", http.StatusSeeOther)
	return nil
}

// setTheme stores the theme that the visitor selected in their browser.
func (c *Console) setTheme(v *visit) error {
	http.SetCookie(v.w, themeCookie(v.r, v.r.PostForm.Get("theme")))
	http.Redirect(v.w, v.r, edge.Within(Path, v.r.PostForm.Get("next")), http.StatusSeeOther)
	return nil
}
