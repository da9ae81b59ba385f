package reviewapi

import (
	"context"
	"errors"
	"fmt"
	"strconv"

	"github.com/bailiwick-dev/bailiwick"
	"github.com/bailiwick-dev/bailiwick/identity"
	"github.com/bailiwick-dev/bailiwick/internal/webhook"
	"github.com/bailiwick-dev/bailiwick/problem"
)

// Deliveries lists notifications that were sent, are waiting or are dead. Every webhook.Store implements it.
type Deliveries interface {
	// Deliveries returns the deliveries that match f, with the newest first. It also reports whether there are more.
	Deliveries(ctx context.Context, f webhook.Filter) ([]webhook.Delivery, bool, error)
	// Redeliver resends a delivery that is dead or was sent.
	Redeliver(ctx context.Context, id int64) error
}

// DeliveryParameters returns the query parameters of GET /api/deliveries.
func DeliveryParameters() []string { return []string{"state", "webhook", "change", "before", "limit"} }

// A DeliveryPage is the response of GET /api/deliveries.
type DeliveryPage struct {
	Deliveries []webhook.Delivery `json:"deliveries"`
	More       bool               `json:"more"`
}

// recordCall runs do as a recorded call of r's principal. Deliveries belong to all tenants, so it refuses a principal
// of a single tenant.
func (a *API) recordCall(ctx context.Context, r *request, name string, do func(context.Context) error) error {
	if r.who.Tenant != "" {
		return &problem.Error{Code: problem.PermissionDenied, Kind: "tenant", Detail: "notifications are of all tenants: this needs the credential of a human of none"}
	}
	ask := bailiwick.CallSpec{Tool: "changes/" + name, Needs: identity.Review, Correlation: r.correlation}
	return a.options.Record(ctx, r.who, ask, func(ctx context.Context, _ *bailiwick.Call) (int, error) { return 0, do(ctx) })
}

// deliveries handles GET /api/deliveries. A parameter out of range is an error that contains the allowed range.
func (a *API) deliveries(ctx context.Context, _ bailiwick.Reviewer, r *request) (any, error) {
	p, err := parameters(r.http.URL, DeliveryParameters())
	if err != nil {
		return nil, err
	}
	f := webhook.Filter{Hook: p["webhook"], Change: p["change"]}
	if p["state"] != "" && p["state"] != "all" {
		var known []string
		for _, s := range webhook.States() {
			known = append(known, string(s))
		}
		state, err := oneOf("state", p["state"], append(known, "all"))
		if err != nil {
			return nil, err
		}
		f.State = webhook.State(state)
	}
	if p["before"] != "" {
		if f.Before, err = strconv.ParseInt(p["before"], 10, 64); err != nil || f.Before < 1 {
			return nil, problem.New(problem.InvalidArgument, "before must be the id of a delivery: a number")
		}
	}
	if p["limit"] != "" {
		if f.Limit, err = strconv.Atoi(p["limit"]); err != nil || f.Limit < 1 || f.Limit > maxPage {
			return nil, problem.New(problem.InvalidArgument, fmt.Sprintf("limit must be a number from 1 to %d", maxPage))
		}
	}
	page := DeliveryPage{Deliveries: []webhook.Delivery{}}
	err = a.recordCall(ctx, r, "deliveries", func(ctx context.Context) error {
		found, more, err := a.options.Deliveries.Deliveries(ctx, f)
		page.Deliveries, page.More = append(page.Deliveries, found...), more
		return err
	})
	return page, err
}

// redeliver handles POST /api/deliveries/{id}/redeliver. An invalid id, and the id of a waiting delivery, give the
// same error as a missing delivery.
func (a *API) redeliver(ctx context.Context, _ bailiwick.Reviewer, r *request) (any, error) {
	if _, err := parameters(r.http.URL, nil); err != nil {
		return nil, err
	}
	if _, err := members(r.body, nil); err != nil {
		return nil, err
	}
	missing := problem.New(problem.NotFound, "there is no such delivery that is sent or dead")
	id, err := strconv.ParseInt(r.id, 10, 64)
	if err != nil {
		return nil, missing
	}
	err = a.recordCall(ctx, r, "redeliver", func(ctx context.Context) error {
		err := a.options.Deliveries.Redeliver(ctx, id)
		if errors.Is(err, webhook.ErrNone) {
			return missing
		}
		return err
	})
	return map[string]int64{"redelivers": id}, err
}
