package console

import (
	"context"
	"net/http"
	"net/url"

	"github.com/bailiwick-dev/bailiwick/identity"
	"github.com/bailiwick-dev/bailiwick/internal/edge"
	"github.com/bailiwick-dev/bailiwick/problem"
)

// An Issuer signs people in at another site, such as an OpenID Connect provider.
type Issuer interface {
	// Name is the name of the issuer on the sign-in page.
	Name() string
	// Begin returns the URL at which a person signs in, and a value that Finish needs. From that URL, the person
	// returns to the URL back. If again is true, the person must prove their identity, even if they are already
	// signed in there.
	Begin(ctx context.Context, back string, again bool) (to, kept string, err error)
	// Finish returns the person who returned with an answer. Refusals have the code Unauthorized.
	Finish(ctx context.Context, back, kept string, answer url.Values) (identity.Principal, error)
	// SignOut returns the URL that ends the person's session at the issuer and then redirects to back, or "".
	SignOut(ctx context.Context, back string) string
}

// issued is the Data of sessions that began with a sign-in at the issuer.
const issued = "issuer"

// base returns the URL of this host as the visitor opens it.
func (c *Console) base(r *http.Request) string { return edge.Base(c.options.URL, r) }

// toIssuer redirects a visitor to the issuer.
func (c *Console) toIssuer(v *visit) error {
	q := v.r.URL.Query()
	to, kept, err := c.options.Issuer.Begin(v.ctx(), c.base(v.r)+Path+"/sign-in/callback", q.Has("again"))
	if err != nil {
		edge.RefusedBecause(v.ctx(), "issuer_unreachable", v.correlation)
		edge.RefusalCause(v.ctx(), err)
		return c.signInWith(v, signingIn{Next: edge.Within(Path, q.Get("next")), Wrong: "The place where you sign in doesn't answer now. Try again in a moment."}, http.StatusBadGateway)
	}
	http.SetCookie(v.w, leaveCookie(v.r, signInAway{Kept: kept, Next: edge.Within(Path, q.Get("next")), Session: v.session.ID}))
	http.Redirect(v.w, v.r, to, http.StatusSeeOther)
	return nil
}

// fromIssuer signs in a visitor who returns from the issuer. This works only in the browser that was redirected
// there, because its cookie contains the value that the answer must match.
func (c *Console) fromIssuer(v *visit) error {
	p := signingIn{Next: Path + "/", Wrong: "That sign-in was not begun in this browser, or it took too long. Sign in again.", via: issued}
	away, ok := returnCookie(v.w, v.r)
	if !ok {
		return c.enter(v, p, identity.Principal{}, identity.UnauthorizedError("no_sign_in", nil))
	}
	// A redirect from another site doesn't carry the cookie of this session.
	p.Next, v.session.ID = edge.Within(Path, away.Next), away.Session
	p.Wrong = "You were not signed in: " + c.options.Issuer.Name() + " did not vouch for you, or your account has no rights here. Ask the operator of this gateway."
	principal, err := c.options.Issuer.Finish(v.ctx(), c.base(v.r)+Path+"/sign-in/callback", away.Kept, v.r.URL.Query())
	switch refusal := problem.Of(err); {
	case refusal == nil:
	case refusal.Kind == "sign_in_level":
		p.Again, p.Wrong = true, c.options.Issuer.Name()+" signed you in, but not by a proof of the level that this takes. Sign in there with the stronger one, such as a second factor."
	case refusal.Kind == "sign_in_not_proved_again":
		p.Again, p.Wrong = true, c.options.Issuer.Name()+" didn't ask again who you are, so nothing new was proved. Sign out there, and sign in again."
	}
	return c.enter(v, p, principal, err)
}
