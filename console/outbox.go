package console

import (
	"context"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/bailiwick-dev/bailiwick/internal/webhook"
)

// deliveries lists notifications.
type deliveries interface {
	// deliveries returns the deliveries that match f, with the newest first. It also reports whether there are more.
	Deliveries(ctx context.Context, f webhook.Filter) ([]webhook.Delivery, bool, error)
}

// An outboxHook is a webhook or a recipient, and its status.
type outboxHook struct {
	Name    string
	Href    string // the page with its deliveries
	Waiting string // the number of waiting deliveries, such as "200 or more", or ""
	Dead    string // the number of dead deliveries, in the same form
	Sent    time.Time
	Failure string // the failure of the newest dead or waiting delivery, or ""
}

// mostOutbox is the highest number that is counted exactly.
const mostOutbox = 200

// outboxStatus returns the status of a hook.
func outboxStatus(ctx context.Context, all deliveries, base, name string) (outboxHook, error) {
	h := outboxHook{Name: name, Href: outboxHref(base, webhook.Filter{Hook: name})}
	newest := int64(0)
	for state, count := range map[webhook.State]*string{webhook.Waiting: &h.Waiting, webhook.Dead: &h.Dead} {
		found, more, err := all.Deliveries(ctx, webhook.Filter{Hook: name, State: state, Limit: mostOutbox})
		if err != nil {
			return h, err
		}
		if len(found) > 0 {
			*count = countText(len(found))
		}
		if more {
			*count += " or more"
		}
		i := slices.IndexFunc(found, func(d webhook.Delivery) bool { return d.Failure != "" })
		if i >= 0 && found[i].ID > newest {
			newest, h.Failure = found[i].ID, found[i].Failure
		}
	}
	sent, _, err := all.Deliveries(ctx, webhook.Filter{Hook: name, State: webhook.Sent, Limit: 1})
	if len(sent) > 0 {
		h.Sent = sent[0].Updated
	}
	return h, err
}

// outboxHref returns the address of the page with a filter. base is the address without the filter.
func outboxHref(base string, f webhook.Filter) string {
	q := url.Values{}
	for name, text := range map[string]string{"state": string(f.State), "webhook": f.Hook, "change": f.Change} {
		if text != "" {
			q.Set(name, text)
		}
	}
	if f.Before != 0 {
		q.Set("before", strconv.FormatInt(f.Before, 10))
	}
	return strings.TrimSuffix(base+"/notifications?"+q.Encode(), "?")
}
