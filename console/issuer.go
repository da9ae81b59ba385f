package console

import (
	"context"
	"net/http"
	"net/url"

	"github.com/bailiwick-dev/bailiwick/identity"
	"github.com/bailiwick-dev/bailiwick/internal/edge"
	"github.com/bailiwick-dev/bailiwick/problem"
)

// An Issuer signs people in elsewhere, such as an OpenID Connect provider.
type Issuer interface {
	// Name is its name on the sign-in page.
	Name() string
	// Begin returns the URL where a person signs in, from which they come back to the URL back, and what Finish needs
	// then. If again is set they must prove who they are, even if they are signed in there.
	Begin(ctx context.Context, back string, again bool) (to, kept string, err error)
	// Finish returns the person who came back with an answer. Refusals are Unauthorized.
	Finish(ctx context.Context, back, kept string, answer url.Values) (identity.Principal, error)
	// SignOut returns the URL that ends their session there and leads to the URL back, or "".
	SignOut(ctx context.Context, back string) string
}

// issued is the Data of sessions that began at the issuer.
const issued = "issuer"

// base returns the URL of this host as the visitor opens it.
func (c *Console) base(r *http.Request) string { return edge.Base(c.options.URL, r) }

// toIssuer sends a visitor to the issuer.
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

// fromIssuer signs in a visitor who comes back from the issuer. Only the browser that was sent there can, because its
// cookie has the value that the answer must match.
func (c *Console) fromIssuer(v *visit) error {
	p := signingIn{Next: Path + "/", Wrong: "That sign-in was not begun in this browser, or it took too long. Sign in again.", via: issued}
	away, ok := returnCookie(v.w, v.r)
	if !ok {
		return c.enter(v, p, identity.Principal{}, identity.UnauthorizedError("no_sign_in", nil))
	}
	p.Next, v.session.ID = edge.Within(Path, away.Next), away.Session // whose cookie a redirect of another site doesn't carry
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
