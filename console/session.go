package console

import (
	"cmp"
	"crypto/hmac"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/bailiwick-dev/bailiwick/identity"
	"github.com/bailiwick-dev/bailiwick/internal/edge"
	"github.com/bailiwick-dev/bailiwick/problem"
)

// These are the default durations of sessions.
const (
	Idle = time.Hour      // without a request
	Life = 12 * time.Hour // since sign-in
)

// A session is a signed-in session of one person. The zero session belongs to nobody.
type session struct {
	identity.Ticket
	secret string // the value of the cookie
}

// recognise sets the visitor's principal. The error is Unauthorized if the visitor isn't signed in.
func (c *Console) recognise(v *visit) error {
	cookie, err := v.r.Cookie(sessionOf(v.r))
	if err != nil {
		return identity.UnauthorizedError("no_credential", nil)
	}
	p, k, err := c.options.Tokens.Present(v.ctx(), identity.Session, cookie.Value, remoteOf(v.r))
	if err != nil {
		return err
	}
	if !c.admits(p) {
		return identity.UnauthorizedError("not_for_console", nil)
	}
	v.session, v.who = session{k, cookie.Value}, p
	edge.RefusedBy(v.ctx(), p.ID)
	return nil
}

// holds reports whether the visitor's session is still valid.
func (c *Console) holds(v *visit) bool { return c.recognise(v) == nil }

// admits reports whether p may sign in. This requires a scope of the console, or that the person may let agents sign
// in or connect accounts for agents.
func (c *Console) admits(p identity.Principal) bool {
	return p.SignsIn() || (c.options.Agents != nil || c.options.Connections != nil) && p.Kind == identity.Human && p.Depth == 0 && len(identity.Lendable(p)) > 0 && p.Person() != ""
}

// Identify returns an authenticator for another endpoint of the same host. For a request without a credential, it
// uses the session, unless a page of another site could have sent the request. For other requests, it calls
// otherwise. A session proves the person's identity at the time of the sign-in. A credential proves it at the time of
// the request. c may be nil.
func (c *Console) Identify(otherwise func(*http.Request) (identity.Principal, error)) func(*http.Request) (identity.Principal, error) {
	return func(r *http.Request) (identity.Principal, error) {
		if _, err := r.Cookie(sessionOf(r)); c == nil || err != nil || r.Header.Get("Authorization")+r.Header.Get("X-Mcp-Api-Key") != "" {
			p, err := otherwise(r)
			if err == nil {
				p.Proven = time.Now()
			}
			return p, err
		}
		v, sent := &visit{r: r}, *r
		sent.Method = http.MethodPost // the API has no pages to which another site may link
		if c.options.Allow(r) != nil || edge.Foreign(&sent, c.options.URL) {
			return v.who, problem.New(problem.SecurityBlocked, "Forbidden: Origin")
		}
		err := c.recognise(v)
		return v.who, err
	}
}

// begin starts a new session of p. If p signs in with a link, this uses up the link.
func (c *Console) begin(v *visit, p identity.Principal, how signingIn) error {
	if v.session.ID != "" {
		by := v.who
		if by.ID == "" {
			by = p // p returns from an issuer without the cookie of the previous session
		}
		if err := c.options.Tokens.End(v.ctx(), by, identity.Session, v.session.ID); err != nil && problem.CodeOf(err) != problem.NotFound {
			return err
		}
	}
	session := identity.Ticket{Use: identity.Session, Expires: c.now().Add(cmp.Or(c.options.Life, Life)), Idle: int64(cmp.Or(c.options.Idle, Idle) / time.Second),
		Proven: p.Proven, Label: browserOf(v.r), Data: how.via}
	secret, err := c.session(v, p, session, how.offer)
	if err != nil {
		return err
	}
	http.SetCookie(v.w, plainCookie(v.r, sessionOf(v.r), secret))
	return nil
}

// session creates a session of p and returns its secret. If link is not nil, the session uses it up.
func (c *Console) session(v *visit, p identity.Principal, want identity.Ticket, link *identity.Offer) (secret string, err error) {
	if link == nil {
		_, secret, err = c.options.Tokens.Issue(v.ctx(), p, want)
		return secret, err
	}
	link.Principal = p
	made, first, err := c.options.Tokens.Exchange(v.ctx(), *link, []identity.Ticket{want}, func(made []identity.Issued) ([]byte, error) { return []byte(made[0].Secret), nil })
	if err == nil && !first {
		err = identity.UnauthorizedError("ticket_ended", nil)
	}
	return string(made), err
}

// genuine reports whether a POST comes from a form of the console's own pages, for this session or visitor.
func (c *Console) genuine(v *visit) bool {
	if err := v.r.ParseForm(); err != nil {
		return false
	}
	normaliseBreaks(v.r.PostForm)
	secret := v.session.secret
	if secret == "" {
		cookie, err := v.r.Cookie(visitorName)
		if err != nil {
			return false
		}
		secret = cookie.Value
	}
	return secret != "" && hmac.Equal([]byte(formMark(secret)), []byte(v.r.PostForm.Get("mark")))
}

// normaliseBreaks replaces the line breaks of all values of a form by "\n". Browsers send "\r\n" for each line break
// that a person types or that a page contains.
func normaliseBreaks(form url.Values) {
	breaks := strings.NewReplacer("\r\n", "\n", "\r", "\n")
	for _, values := range form {
		for i, v := range values {
			values[i] = breaks.Replace(v)
		}
	}
}
