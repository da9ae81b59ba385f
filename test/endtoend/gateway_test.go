package endtoend

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/bailiwick-dev/bailiwick"
	"github.com/bailiwick-dev/bailiwick/audit"
	"github.com/bailiwick-dev/bailiwick/identity"
	"github.com/bailiwick-dev/bailiwick/limit"
	"github.com/bailiwick-dev/bailiwick/policy"
	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/query"
	"github.com/bailiwick-dev/bailiwick/schema"
	"github.com/bailiwick-dev/bailiwick/source"
	"github.com/bailiwick-dev/bailiwick/source/memory"
	"github.com/bailiwick-dev/bailiwick/value"
)

// notes is a source with one shared class and one class with tenants. It also estimates their sizes.
type notes struct{ *memory.Source }

func (notes) Estimate(context.Context) (map[string]int64, error) {
	return map[string]int64{"notes": 2, "plans": 7}, nil
}

func newNotes() notes {
	field := func(name string) schema.Field { return schema.Field{Name: name, Type: schema.String, NotNull: true} }
	return notes{memory.New([]schema.Class{
		{Source: "app", Name: "notes", Table: "notes", Key: []string{"id"}, Fields: []schema.Field{field("id"), field("text")}},
		{Source: "app", Name: "plans", Table: "plans", Key: []string{"id"}, Fields: []schema.Field{field("id"), field("org")}},
	}, map[string][]value.Row{"notes": {{value.OfString("1"), value.OfString("a")}, {value.OfString("2"), value.OfString("b")}}})}
}

// deaf is an audit log that always fails.
type deaf struct{}

func (deaf) Append(context.Context, *audit.Record) error { return errors.New("the disk is full") }

func gateway(t *testing.T, o bailiwick.Options) *bailiwick.Gateway {
	t.Helper()
	o.Sources = map[string]source.Source{"app": newNotes()}
	if o.Rules.Classes == nil {
		o.Rules.Unlisted = true
	}
	g, _, err := bailiwick.New(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

var reader = identity.Principal{ID: "a", Owner: "ann", Tenant: "acme", Scopes: []identity.Scope{identity.Read}}

// TestUnrecorded checks that no call of the gateway returns an answer if its record can't be stored.
func TestUnrecorded(t *testing.T) {
	g := gateway(t, bailiwick.Options{Audit: deaf{}})
	page, err := g.Read(t.Context(), reader, &query.Find{Class: "notes", Limit: 5})
	if p := problem.Of(err); page != nil || p.Code != problem.Upstream || strings.Contains(p.Detail, "disk") {
		t.Errorf("Read: %v, %v; want nothing but an error without the reason", page, err)
	}
	statement, err := query.ParseSQL("SELECT 1 AS n FROM notes")
	if err != nil {
		t.Fatal(err)
	}
	statement.Limit = 5
	if page, err := g.SQL(t.Context(), reader, statement); page != nil || problem.CodeOf(err) != problem.Upstream {
		t.Errorf("SQL: %v, %v", page, err)
	}
	if page, err := gateway(t, bailiwick.Options{Audit: &audit.Memory{}}).SQL(t.Context(), reader, statement); err != nil || page.Count == 0 {
		t.Errorf("SQL: %v, %v", page, err)
	}
	ran := false
	err = g.Do(t.Context(), reader, bailiwick.CallSpec{Tool: "x", Needs: identity.Read}, func(context.Context, *bailiwick.Call) (int, error) { ran = true; return 0, nil })
	if !ran || problem.CodeOf(err) != problem.Upstream {
		t.Errorf("Do: ran %v, %v", ran, err)
	}
	if _, _, err := bailiwick.New(t.Context(), bailiwick.Options{}); err == nil {
		t.Error("a gateway without an audit log")
	}
}

// TestDo checks each way in which a call can end, and the contents of its record.
func TestDo(t *testing.T) {
	log := records{make(chan audit.Record, 8)}
	g := gateway(t, bailiwick.Options{Audit: log, Limits: limit.Options{PerMinute: 1, Burst: 8}})
	gone, leave := context.WithCancel(t.Context())
	for _, tt := range []struct {
		name string
		who  identity.Principal
		ask  bailiwick.CallSpec
		run  func(context.Context, *bailiwick.Call) (int, error)
		want string // the code and detail, and the outcome and kind in the record
	}{
		{"answered", reader, bailiwick.CallSpec{}, func(context.Context, *bailiwick.Call) (int, error) { return 9, nil }, "  ok  9 bytes"},
		{"panics", reader, bailiwick.CallSpec{}, func(context.Context, *bailiwick.Call) (int, error) { panic("secret") }, "internal_error Internal error failed panic 0 bytes"},
		{"fails", reader, bailiwick.CallSpec{}, func(context.Context, *bailiwick.Call) (int, error) { return 0, errors.New("secret") }, "internal_error Internal error failed  0 bytes"},
		{"takes too long", reader, bailiwick.CallSpec{Timeout: time.Millisecond}, func(ctx context.Context, _ *bailiwick.Call) (int, error) { <-ctx.Done(); return 0, ctx.Err() },
			"timeout the call took too long and was stopped failed  0 bytes"},
		{"the asker goes", reader, bailiwick.CallSpec{}, func(ctx context.Context, _ *bailiwick.Call) (int, error) { leave(); <-ctx.Done(); return 0, ctx.Err() },
			"cancelled the call was cancelled cancelled  0 bytes"},
		{"lacks the scope", identity.Principal{ID: "b"}, bailiwick.CallSpec{}, nil, "permission_denied t needs the scope read refused scope 0 bytes"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			ctx := t.Context()
			if tt.name == "the asker goes" {
				ctx = gone
			}
			tt.ask.Tool, tt.ask.Needs = "t", identity.Read
			p := problem.Of(g.Do(ctx, tt.who, tt.ask, tt.run))
			if p == nil {
				p = &problem.Error{}
			}
			r := <-log.made
			if got := fmt.Sprintf("%s %s %s %s %d bytes", p.Code, p.Detail, r.Outcome, r.Kind, r.Bytes); got != tt.want {
				t.Errorf("got  %s\nwant %s", got, tt.want)
			}
		})
	}
	for range 8 {
		err := g.Do(t.Context(), reader, bailiwick.CallSpec{Tool: "t", Needs: identity.Read}, func(context.Context, *bailiwick.Call) (int, error) { return 0, nil })
		if r := <-log.made; problem.CodeOf(err) == problem.RateLimited {
			if r.Outcome != audit.Refused || problem.Of(err).RetryAfter <= 0 {
				t.Errorf("limited: %+v, %v", r, err)
			}
			return
		}
	}
	t.Error("13 calls at a burst of 8, and none was refused")
}

// TestNameless checks that a principal without an ID can't make calls. Otherwise all such principals would count as
// one agent.
func TestNameless(t *testing.T) {
	g := gateway(t, bailiwick.Options{Audit: forgetful{}, Rules: policy.Rules{Unlisted: true}})
	who := reader
	who.ID = ""
	err := g.Do(t.Context(), who, bailiwick.CallSpec{Tool: "t", Needs: identity.Read}, func(context.Context, *bailiwick.Call) (int, error) {
		t.Error("it runs")
		return 0, nil
	})
	if p := problem.Of(err); p.Code != problem.PermissionDenied || p.Kind != "no_id" {
		t.Errorf("got %v", err)
	}
}

// TestEstimates checks that the estimates of a source are shown only to principals that see the whole source.
func TestEstimates(t *testing.T) {
	for _, tt := range []struct {
		name  string
		rules policy.Rules
		who   identity.Principal
		want  string
	}{
		{"all", policy.Rules{Unlisted: true}, reader, "map[app.notes:2 app.plans:7]"},
		{"a tenant on the other class", policy.Rules{Unlisted: true, Classes: map[string]policy.ClassRule{"plans": {Tenant: &policy.TenantRule{Field: "org"}}}}, reader, "map[]"},
		{"the other class hidden", policy.Rules{Unlisted: true, Classes: map[string]policy.ClassRule{"plans": {Hidden: true}}}, reader, "map[]"},
		{"a field hidden", policy.Rules{Unlisted: true, Classes: map[string]policy.ClassRule{"notes": {Denied: []string{"text"}}}}, reader, "map[]"},
		{"a class not for the principal", policy.Rules{Unlisted: true}, identity.Principal{ID: "b", Scopes: reader.Scopes, Classes: identity.List{Only: []string{"notes"}}}, "map[]"},
	} {
		g := gateway(t, bailiwick.Options{Audit: forgetful{}, Rules: tt.rules})
		err := g.Do(t.Context(), tt.who, bailiwick.CallSpec{Tool: "t", Needs: identity.Read}, func(ctx context.Context, c *bailiwick.Call) (int, error) {
			got, err := c.Estimates(ctx, c.Views())
			if fmt.Sprint(got) != tt.want {
				t.Errorf("%s: %v, want %s", tt.name, got, tt.want)
			}
			return 0, err
		})
		if err != nil {
			t.Error(err)
		}
	}
}
