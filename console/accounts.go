package console

import (
	"context"
	"net/http"
	"net/url"

	"github.com/bailiwick-dev/bailiwick/internal/connect"
)

// accountVisit returns the visit of a person who connects the source of the request. Each source has a redirect URI of its
// own, so that no server can answer in the place of another.
func (c *Console) accountVisit(v *visit) connect.Visit {
	source := v.r.PathValue("source")
	return connect.Visit{Who: v.who, Source: source, Session: v.session.secret, Back: c.base(v.r) + Path + "/you/accounts/" + url.PathEscape(source) + "/callback"}
}

// connect sends a person away to connect an account.
func (c *Console) connect(v *visit) error {
	to, err := c.options.Connections.Begin(c.accountVisit(v))
	if err != nil {
		return err
	}
	// A redirect would be one of a form, which the content policy keeps at this host.
	return c.render(v, "onwards", frame{Title: "One moment", Page: to})
}

// finishConnection handles the answer with which a person returns from the provider.
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
