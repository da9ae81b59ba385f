package reviewapi

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/bailiwick-dev/bailiwick"
	"github.com/bailiwick-dev/bailiwick/change"
	"github.com/bailiwick-dev/bailiwick/identity"
	"github.com/bailiwick-dev/bailiwick/internal/webhook"
)

// An outbox contains one dead delivery.
type outbox struct{ asked webhook.Filter }

func (o *outbox) Deliveries(_ context.Context, f webhook.Filter) ([]webhook.Delivery, bool, error) {
	o.asked = f
	return []webhook.Delivery{{ID: 7, Hook: "ops", State: webhook.Dead, Attempts: 12, Status: 500, Failure: "it answered 500", Event: change.Event{Seq: 3, Change: "01", Kind: change.EventCreated}}}, true, nil
}

func (o *outbox) Redeliver(_ context.Context, id int64) error {
	if id != 7 {
		return webhook.ErrNone
	}
	return nil
}

func TestDeliveries(t *testing.T) {
	box := &outbox{}
	var recorded []string
	reviewer := identity.Principal{ID: "token:1", Kind: identity.Human, Owner: "rita", Scopes: []identity.Scope{identity.Review}}
	tenanted := reviewer
	tenanted.Tenant = "acme"
	who := map[string]identity.Principal{"rita": reviewer, "tenanted": tenanted, "agent": people["agent"]}
	s := httptest.NewServer(New(Options{
		Reviewer: func(identity.Principal, string) bailiwick.Reviewer { return nil },
		Identify: func(r *http.Request) (identity.Principal, error) {
			return who[strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")], nil
		},
		Closing: t.Context(), Deliveries: box,
		Record: func(ctx context.Context, p identity.Principal, ask bailiwick.CallSpec, run func(context.Context, *bailiwick.Call) (int, error)) error {
			recorded = append(recorded, p.Owner+" "+ask.Tool+" "+string(ask.Needs))
			_, err := run(ctx, nil)
			return err
		},
	}).Handler())
	defer s.Close()
	invalid := func(text string) string { return refusal("400", "invalid_argument", text, "") }
	missing := refusal("404", "not_found", "there is no such delivery that is sent or dead", "")
	for _, c := range []struct{ token, method, path, body, want, recorded string }{
		{"rita", "GET", "/api/deliveries?state=dead&webhook=ops&change=01&before=9&limit=3", "",
			`200 {"deliveries":[{"id":7,"webhook":"ops","event":{"seq":3,"change_id":"01","event":"created","state":"","agent":"","at":"0001-01-01T00:00:00Z"},"state":"dead","attempts":12,` +
				`"due_at":"0001-01-01T00:00:00Z","status":500,"failure":"it answered 500","updated_at":"0001-01-01T00:00:00Z"}],"more":true}`, "rita changes/deliveries review"},
		{"rita", "GET", "/api/deliveries?state=lost", "", invalid("state must be one of waiting, sent, dead, all"), ""},
		{"rita", "GET", "/api/deliveries?before=x", "", invalid("before must be the id of a delivery: a number"), ""},
		{"rita", "GET", "/api/deliveries?limit=0", "", invalid("limit must be a number from 1 to 200"), ""},
		{"rita", "POST", "/api/deliveries/7/redeliver", "", `200 {"redelivers":7}`, "rita changes/redeliver review"},
		{"rita", "POST", "/api/deliveries/8/redeliver", "{}", missing, "rita changes/redeliver review"},
		{"rita", "POST", "/api/deliveries/x/redeliver", "", missing, ""},
		{"rita", "GET", "/api/deliveries/7/redeliver", "", "405 Allow=POST" + refusal("", "invalid_argument", "this path takes POST", ""), ""},
		{"tenanted", "GET", "/api/deliveries", "", refusal("403", "permission_denied", "notifications are of all tenants: this needs the credential of a human of none", ""), ""},
		{"tenanted", "POST", "/api/deliveries/7/redeliver", "", refusal("403", "permission_denied", "notifications are of all tenants: this needs the credential of a human of none", ""), ""},
	} {
		recorded = nil
		if got := ask(t, s.URL, c.token, c.method, c.path, c.body); got != c.want {
			t.Errorf("%s %s\ngot  %s\nwant %s", c.method, c.path, got, c.want)
		}
		if got := strings.Join(recorded, ","); got != c.recorded {
			t.Errorf("%s %s: recorded %q, want %q", c.method, c.path, got, c.recorded)
		}
	}
	if want := (webhook.Filter{State: webhook.Dead, Hook: "ops", Change: "01", Before: 9, Limit: 3}); box.asked != want {
		t.Error(box.asked)
	}
	for _, path := range []string{"GET /api/deliveries", "POST /api/deliveries/7/redeliver"} {
		method, path, _ := strings.Cut(path, " ")
		if got := ask(t, s.URL, "agent", method, path, ""); !strings.HasPrefix(got, "403 ") {
			t.Error(got)
		}
	}
}
