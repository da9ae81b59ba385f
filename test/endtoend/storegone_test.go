package endtoend

import (
	"context"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/bailiwick-dev/bailiwick"
	"github.com/bailiwick-dev/bailiwick/change"
	"github.com/bailiwick-dev/bailiwick/internal/openapi/calls"
	"github.com/bailiwick-dev/bailiwick/internal/openapi/client"
	"github.com/bailiwick-dev/bailiwick/internal/openapi/spec"
	"github.com/bailiwick-dev/bailiwick/internal/writes"
	"github.com/bailiwick-dev/bailiwick/policy"
	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/source"
	"github.com/bailiwick-dev/bailiwick/source/openapi"
	sqlitesource "github.com/bailiwick-dev/bailiwick/source/sqlite"
	"github.com/bailiwick-dev/bailiwick/store/postgres"
	"github.com/bailiwick-dev/bailiwick/test/services"
	"github.com/bailiwick-dev/bailiwick/write"
)

// A previewed is a source that calls the function then after each preview.
type previewed struct {
	*sqlitesource.WritableSource
	then func()
}

func (p *previewed) Preview(ctx context.Context, d writes.Draft) (change.Preview, error) {
	out, err := p.WritableSource.Preview(ctx, d)
	p.then()
	return out, err
}

// TestProposalWithoutStore interrupts the store during a proposal. The agent must learn that the same call may
// succeed later. The repeated call must succeed, and the change must be filed once.
func TestProposalWithoutStore(t *testing.T) {
	for _, row := range []struct {
		name string
		lose func(*services.Line)
	}{
		{"after the preview", (*services.Line).Cut},
		{"before the change is kept", func(l *services.Line) { l.CutAt("update issues 1", false, 1000) }},
		{"while the change is kept", func(l *services.Line) { l.CutAt("update issues 1", true, 1000) }},
	} {
		t.Run(row.name, func(t *testing.T) {
			line := services.Through(t, services.Postgres(t))
			store, err := postgres.Open(t.Context(), line.URL)
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { store.Close() })
			hook := func() {}
			o := newOffice(t, func(b *bailiwick.Options, c *change.Options) {
				b.Audit, b.History, c.Store, c.Audited = store, store, store, true
				b.Sources = map[string]source.Source{"app": &previewed{b.Sources["app"].(*sqlitesource.WritableSource), func() { hook() }}}
			})
			const wish = `{"op": "update", "class": "issues", "id": "1", "data": {"n": 5}}`
			bot := o.bot()
			hook = func() { row.lose(line) }
			_, err = o.propose(bot, wish)
			p := problem.Of(err)
			if err == nil || p.Code != problem.Upstream || !p.Retryable() || p.RetryAfter < time.Second || p.RetryAfter > 5*time.Second ||
				!strings.HasPrefix(p.Text(), "upstream_error: the gateway can't keep its records, so it answers no calls\nwait ") {
				t.Errorf("the agent gets %v", err)
			}
			hook = func() {}
			line.CutAt("", false, 0)
			line.Mend()
			s, err := o.propose(bot, wish)
			if err != nil || s.State != change.Pending {
				t.Fatalf("again: %+v %v", s, err)
			}
			all, _, err := store.List(t.Context(), change.Filter{States: []change.State{change.Pending}})
			if err != nil || len(all) != 1 {
				t.Errorf("%d changes wait: %v", len(all), err)
			}
		})
	}
}

// TestMayRun interrupts the store during a write that needs no approval. The agent must not repeat the call. It must
// learn that the write may have been carried out.
func TestMayRun(t *testing.T) {
	line := services.Through(t, services.Postgres(t))
	store, err := postgres.Open(t.Context(), line.URL)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { store.Close() })
	service := &enveloper{letter: map[string]any{"id": 7, "status": "draft", "title": "one"}}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodGet {
			line.Cut()
		}
		service.ServeHTTP(w, r)
	}))
	t.Cleanup(server.Close)
	d, err := spec.Load([]byte(letterAPI))
	if err != nil {
		t.Fatal(err)
	}
	sender, err := client.New(client.Options{Base: server.URL})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(sender.Close)
	o := newOffice(t, func(b *bailiwick.Options, c *change.Options) {
		b.Audit, b.History, c.Store, c.Audited = store, store, store, true
		b.Sources["flow"] = openapi.New("flow", sender)
		b.Rules = policy.Rules{Version: "v1", APIs: map[string]calls.Rules{"flow": {Document: d, Write: map[spec.Class]write.Mode{spec.ClassWrite: write.Allow}}}, Gates: policy.Gates{Writes: policy.On}}
	})
	_, err = o.call(o.bot(), "changeLetter", `{"path": {"id": "7"}, "body": {"status": "sent"}}`)
	p := problem.Of(err)
	want := regexp.MustCompile(`^upstream_error: the gateway can't keep its records, so it answers no calls\. The change [a-z0-9]+ may be carried out all the same\n→ Look at this change, or at the record, before you ask for it again$`)
	if err == nil || p.Retryable() || !want.MatchString(p.Text()) || len(service.writes) != 1 {
		t.Errorf("the agent gets %v after %d writes", err, len(service.writes))
	}
}
