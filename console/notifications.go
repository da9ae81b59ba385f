package console

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strconv"

	"github.com/bailiwick-dev/bailiwick"
	"github.com/bailiwick-dev/bailiwick/identity"
	"github.com/bailiwick-dev/bailiwick/internal/webhook"
	"github.com/bailiwick-dev/bailiwick/problem"
)

// Deliveries lists the notifications that are sent to webhooks, for all tenants. Every webhook.Store implements it.
type Deliveries interface {
	deliveries
	// Redeliver resends a delivery that is dead or was sent.
	Redeliver(ctx context.Context, id int64) error
}

// A notificationsPage shows which notifications were sent to webhooks, and which could not be sent.
type notificationsPage struct {
	Hooks  []outboxHook
	List   []webhook.Delivery
	Chips  []chip
	Any    bool // a filter is set
	Newest string
	Older  string
}

// deliverySize is the number of deliveries on a page.
const deliverySize = 50

// delivering runs do as a call of the visitor. Deliveries belong to all tenants, so it refuses a visitor of a single
// tenant.
func (c *Console) delivering(v *visit, tool string, do func(context.Context) error) error {
	if v.who.Tenant != "" {
		return &problem.Error{Code: problem.PermissionDenied, Kind: "tenant", Detail: "Notifications are of all tenants: they are for people of none."}
	}
	return c.options.Admit(v.ctx(), v.who, bailiwick.CallSpec{Tool: tool, Needs: identity.Operator, Correlation: v.correlation}, do)
}

// notifications shows the status of each webhook, and its deliveries.
func (c *Console) notifications(v *visit) error { return c.showNotifications(v, frame{}) }

// showNotifications writes the page of notifications in the frame page. The query determines the filter and the page.
// Unknown states and pages are errors instead of empty lists.
func (c *Console) showNotifications(v *visit, page frame) error {
	q := v.r.URL.Query()
	f := webhook.Filter{State: webhook.State(q.Get("state")), Hook: q.Get("webhook"), Change: q.Get("change"), Limit: deliverySize}
	if f.State != "" && !slices.Contains(webhook.States(), f.State) {
		return problem.New(problem.InvalidArgument, "There is no such state.")
	}
	if text := q.Get("before"); text != "" {
		var err error
		if f.Before, err = strconv.ParseInt(text, 10, 64); err != nil || f.Before < 1 {
			return problem.New(problem.InvalidArgument, "There is no such page.")
		}
	}
	p := notificationsPage{Any: f.State != "" || f.Hook != "" || f.Change != ""}
	err := c.delivering(v, "console/notifications", func(ctx context.Context) (err error) {
		var more bool
		if p.List, more, err = c.options.Deliveries.Deliveries(ctx, f); err != nil {
			return err
		}
		if more {
			older := f
			older.Before = p.List[len(p.List)-1].ID
			p.Older = outboxHref(Path, older)
		}
		for _, name := range c.options.Hooks {
			h, err := outboxStatus(ctx, c.options.Deliveries, Path, name)
			if err != nil {
				return err
			}
			p.Hooks = append(p.Hooks, h)
		}
		return nil
	})
	if err != nil {
		return err
	}
	here := f.State
	if f.Before != 0 {
		f.Before = 0
		p.Newest = outboxHref(Path, f)
	}
	for _, one := range []struct {
		state webhook.State
		label string
	}{{"", "All"}, {webhook.Dead, "Dead"}, {webhook.Waiting, "Waiting"}, {webhook.Sent, "Sent"}} {
		f.State = one.state
		p.Chips = append(p.Chips, chip{Href: outboxHref(Path, f), Label: one.label, Here: one.state == here})
	}
	page.Title, page.At, page.Page = "Notifications", Path+"/notifications", p
	if q.Has("again") {
		page.Notice = "It waits again and is sent in a moment."
	}
	if name := q.Get("tested"); slices.Contains(c.options.Hooks, name) {
		page.Notice = "A test has arrived at " + name + "."
	}
	return c.render(v, "notifications", page)
}

// redeliver resends a delivery that is dead or was sent.
func (c *Console) redeliver(v *visit) error {
	missing := problem.New(problem.NotFound, "There is no such notification that is sent or dead.")
	id, err := strconv.ParseInt(v.r.PathValue("id"), 10, 64)
	if err != nil {
		return missing
	}
	err = c.delivering(v, "console/redeliver", func(ctx context.Context) error {
		err := c.options.Deliveries.Redeliver(ctx, id)
		if errors.Is(err, webhook.ErrNone) {
			return missing
		}
		return err
	})
	if err != nil {
		return err
	}
	http.Redirect(v.w, v.r, Path+"/notifications?again=yes", http.StatusSeeOther)
	return nil
}

// testHook sends a test notification to a webhook or a recipient.
func (c *Console) testHook(v *visit) error {
	name := v.r.PostForm.Get("webhook")
	if !slices.Contains(c.options.Hooks, name) || c.options.TestHook == nil {
		return problem.New(problem.NotFound, "There is no such notification.")
	}
	err := c.delivering(v, "console/test_notification", func(ctx context.Context) error { return c.options.TestHook(ctx, name) })
	if problem.CodeOf(err) == problem.Upstream {
		v.r.URL = &url.URL{Path: Path + "/notifications"}
		return c.showNotifications(v, frame{Alert: "It has not arrived. " + problem.Of(err).Detail, Status: http.StatusBadGateway})
	}
	if err != nil {
		return err
	}
	http.Redirect(v.w, v.r, Path+"/notifications?tested="+url.QueryEscape(name), http.StatusSeeOther)
	return nil
}
