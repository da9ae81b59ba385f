// Package outbox says how notifications to a webhook or a recipient fare.
package outbox

import (
	"context"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/bailiwick-dev/bailiwick/console/internal/words"
	"github.com/bailiwick-dev/bailiwick/internal/webhook"
)

// Deliveries lists notifications.
type Deliveries interface {
	// Deliveries returns the deliveries matching f, the newest first, and whether there are more.
	Deliveries(ctx context.Context, f webhook.Filter) ([]webhook.Delivery, bool, error)
}

// A Hook is a webhook or a recipient, and its status.
type Hook struct {
	Name    string
	Href    string // the page with its deliveries
	Waiting string // how many are waiting, such as "200 or more"; "" for none
	Dead    string // how many are dead, likewise
	Sent    time.Time
	Failure string // of the newest delivery that is dead or waiting; "" if there is none
}

// most is the number up to which deliveries are counted.
const most = 200

// Status returns the status of a hook.
func Status(ctx context.Context, all Deliveries, base, name string) (Hook, error) {
	h := Hook{Name: name, Href: Href(base, webhook.Filter{Hook: name})}
	newest := int64(0)
	for state, count := range map[webhook.State]*string{webhook.Waiting: &h.Waiting, webhook.Dead: &h.Dead} {
		found, more, err := all.Deliveries(ctx, webhook.Filter{Hook: name, State: state, Limit: most})
		if err != nil {
			return h, err
		}
		if len(found) > 0 {
			*count = words.Count(len(found))
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

// Href returns the address of the page with a filter, below base.
func Href(base string, f webhook.Filter) string {
	q := url.Values{}
	for name, text := range map[string]string{"state": string(f.State), "hook": f.Hook, "change": f.Change} {
		if text != "" {
			q.Set(name, text)
		}
	}
	if f.Before != 0 {
		q.Set("before", strconv.FormatInt(f.Before, 10))
	}
	return strings.TrimSuffix(base+"/notifications?"+q.Encode(), "?")
}
