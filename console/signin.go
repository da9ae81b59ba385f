package console

import (
	"errors"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strings"

	"github.com/bailiwick-dev/bailiwick"
	"github.com/bailiwick-dev/bailiwick/console/internal/session"
	"github.com/bailiwick-dev/bailiwick/identity"
	"github.com/bailiwick-dev/bailiwick/problem"
)

// visitorCookie identifies a visitor before sign-in, so that the sign-in form can be verified. It gives no rights.
const visitorCookie = "bailiwick-visitor"

// themeCookie holds the colour theme that a person chose.
const themeCookie = "bailiwick-theme"

// cookieName returns the name of the session cookie. Browsers accept the prefix __Host- only over https and for this
// host; on this machine itself plain http is acceptable.
func cookieName(r *http.Request) string {
	if plainly(r) {
		return "bailiwick-session"
	}
	return "__Host-bailiwick-session"
}

// plainly reports whether the browser connects to this machine itself, without TLS.
func plainly(r *http.Request) bool { return r.TLS == nil && loopback(r.Host) }

func loopback(host string) bool {
	if h, _, err := net.SplitHostPort(host); err == nil {
		host = h
	}
	host = strings.Trim(host, "[]")
	ip, err := netip.ParseAddr(host)
	return strings.EqualFold(host, "localhost") || err == nil && ip.IsLoopback()
}

func (c *Console) cookie(r *http.Request, s session.Session) *http.Cookie {
	name := cookieName(r)
	return harmless(r, name, c.sessions.Seal(s, name))
}

// harmless returns a cookie that scripts can't read and requests of other sites don't carry.
func harmless(r *http.Request, name, value string) *http.Cookie {
	return &http.Cookie{Name: name, Value: value, Path: "/", Secure: !plainly(r), HttpOnly: true, SameSite: http.SameSiteStrictMode}
}

// forget removes the session cookie.
func (c *Console) forget(v *visit) {
	gone := harmless(v.r, cookieName(v.r), "")
	gone.MaxAge = -1
	http.SetCookie(v.w, gone)
}

// A signingIn is the sign-in page.
type signingIn struct {
	Link  string // the code of a one-time sign-in link
	Next  string
	Ended bool // a session has ended
	Wrong string
}

func (c *Console) signInPage(v *visit) error {
	q := v.r.URL.Query()
	p := signingIn{Link: q.Get("link"), Next: within(q.Get("next")), Ended: q.Has("ended")}
	if v.who.ID != "" && p.Link == "" {
		http.Redirect(v.w, v.r, p.Next, http.StatusSeeOther)
		return nil
	}
	if q.Has("kept") {
		p.Wrong = "The browser has not kept your session: this address is plain http, over which nobody should send a token. " +
			"Use https, or the address of this machine itself."
	}
	return c.signInWith(v, p, http.StatusOK)
}

func (c *Console) signInWith(v *visit, p signingIn, status int) error {
	id := v.session.ID
	if id == "" {
		if cookie, err := v.r.Cookie(visitorCookie); err == nil && cookie.Value != "" {
			id = cookie.Value
		} else {
			id = c.sessions.Visitor()
			http.SetCookie(v.w, harmless(v.r, visitorCookie, id))
		}
	}
	return c.render(v, "sign-in", frame{Title: "Sign in", Mark: c.sessions.Mark(id), Page: p, Status: status})
}

// signIn begins a session: always a new one, whatever cookie the browser sent.
func (c *Console) signIn(v *visit) error {
	form := v.r.PostForm
	p := signingIn{Next: within(form.Get("next"))}
	credential := strings.TrimSpace(form.Get("credential"))
	if code := form.Get("link"); code != "" {
		var err error
		credential, err = c.sessions.Redeem(v.ctx(), code)
		if err != nil && !errors.Is(err, session.ErrNone) {
			return err
		}
		if err != nil {
			p.Wrong = "This link has been used, or it is too old. Sign in with a token."
			return c.signInWith(v, p, http.StatusForbidden)
		}
	}
	principal, err := c.authenticate(v.r, credential)
	if problem.CodeOf(err) == problem.Unauthorized {
		c.log.InfoContext(v.ctx(), "console: sign-in refused", "kind", problem.Of(err).Kind, "remote", remoteOf(v.r))
		p.Wrong = "That token doesn't sign in here. It must be a person's, valid now, with the scope review, audit or operator."
		return c.signInWith(v, p, http.StatusForbidden)
	}
	if err != nil {
		return err
	}
	needs := identity.Operator
	for _, s := range rights() {
		if principal.Has(s) {
			needs = s
			break
		}
	}
	v.who = principal
	err = c.options.Admit(v.ctx(), principal, bailiwick.CallSpec{Tool: "console/sign_in", Needs: needs, Correlation: v.correlation}, noRun)
	if err != nil {
		return err
	}
	if v.session.ID != "" {
		if err := c.sessions.End(v.ctx(), v.session); err != nil {
			return err
		}
	}
	http.SetCookie(v.w, c.cookie(v.r, c.sessions.Begin(credential)))
	to := p.Next
	if !plainly(v.r) { // over plain http the browser drops the cookie: tell the visitor
		to = Path + "/sign-in?kept=yes&next=" + url.QueryEscape(p.Next)
	}
	http.Redirect(v.w, v.r, to, http.StatusSeeOther)
	return nil
}

// signOut ends the session.
func (c *Console) signOut(v *visit) error {
	if err := c.sessions.End(v.ctx(), v.session); err != nil {
		return err // keep the cookie: a visitor who reads that they are signed out must be
	}
	c.forget(v)
	http.Redirect(v.w, v.r, Path+"/sign-in", http.StatusSeeOther)
	return nil
}

// setTheme stores the theme that the visitor chose in their browser.
func (c *Console) setTheme(v *visit) error {
	theme := v.r.PostForm.Get("theme")
	if theme != "light" && theme != "dark" {
		theme = ""
	}
	chosen := harmless(v.r, themeCookie, theme)
	chosen.MaxAge = 365 * 24 * 3600
	if theme == "" {
		chosen.MaxAge = -1
	}
	http.SetCookie(v.w, chosen)
	http.Redirect(v.w, v.r, within(v.r.PostForm.Get("next")), http.StatusSeeOther)
	return nil
}

// within returns next if it is an address of the console, else the address of its first page.
func within(next string) string {
	u, err := url.Parse(next)
	if err != nil || u.Scheme != "" || u.Host != "" || u.User != nil || !strings.HasPrefix(u.Path, Path+"/") ||
		strings.Contains(next, `\`) || strings.Contains(u.Path, "..") {
		return Path + "/"
	}
	return u.RequestURI()
}
