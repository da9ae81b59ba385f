package console

import (
	"context"
	"net/http"
	"net/url"

	"github.com/bailiwick-dev/bailiwick/internal/connect"
)

// accountVisit returns the visit of a person who connects the source in the request. Each source has its own redirect
// URI, so that no server can answer in place of another.
func (c *Console) accountVisit(v *visit) connect.Visit {
	source := v.r.PathValue("source")
	return connect.Visit{Who: v.who, Source: source, Session: v.session.secret, Back: c.base(v.r) + Path + "/you/accounts/" + url.PathEscape(source) + "/callback"}
}

// connect sends a person to the provider to connect an account.
func (c *Console) connect(v *visit) error {
	to, err := c.options.Connections.Begin(c.accountVisit(v))
	if err != nil {
		return err
	}
	// A redirect would count as the target of a form, and the content policy allows forms only to this host.
	return c.render(v, "onwards", frame{Title: "One moment", Page: to})
}

// finishConnection handles the person's return from the provider with an answer.
func (c *Console) finishConnection(v *visit) error {
	err := c.runAsCall(v, "console/connect", func(ctx context.Context) error {
		return c.options.Connections.Finish(ctx, c.accountVisit(v), v.r.URL.Query())
	})
	if err != nil {
		return elsewhere{err, "The account isn't connected", Path + "/you"}
	}
	http.Redirect(v.w, v.r, Path+"/you?connected=yes", http.StatusSeeOther)
	return nil
}
