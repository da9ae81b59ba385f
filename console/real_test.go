package console_test

import (
	"context"
	"database/sql"

	"log/slog"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/bailiwick-dev/bailiwick"
	"github.com/bailiwick-dev/bailiwick/console"
	"github.com/bailiwick-dev/bailiwick/identity"
	"github.com/bailiwick-dev/bailiwick/internal/app"
	"github.com/bailiwick-dev/bailiwick/internal/demo"
	"github.com/bailiwick-dev/bailiwick/policy"
	"github.com/bailiwick-dev/bailiwick/value"
	"github.com/bailiwick-dev/bailiwick/write"
)

// house is the demo's tracker behind a complete gateway, configured as "bailiwick serve" does it.
type house struct {
	*world
	plant *app.App
	db    *sql.DB // the tracker, which the test changes directly
	agent identity.Principal
}

func newHouse(t testing.TB) *house {
	t.Helper()
	return newHouseWith(t, func(string) string { return "" })
}

// newHouseWith returns a house. more returns the end of its configuration for the gateway's address.
func newHouseWith(t testing.TB, more func(address string) string) *house {
	t.Helper()
	return newHouseOf(t, func(address string) string { return demo.Config + more(address) })
}

// newHouseOf returns a house with the configuration that text returns for the gateway's address.
func newHouseOf(t testing.TB, text func(address string) string) *house {
	t.Helper()
	dir := t.TempDir()
	path, file := filepath.Join(dir, "tracker.db"), filepath.Join(dir, app.DefaultFile)
	if err := demo.Create(t.Context(), path); err != nil {
		t.Fatal(err)
	}
	front := httptest.NewUnstartedServer(nil)
	w := &world{log: &strings.Builder{}, url: "http://" + front.Listener.Addr().String()}
	if err := os.WriteFile(file, []byte(text(w.url)), 0o600); err != nil {
		t.Fatal(err)
	}
	c, err := app.LoadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	c.Rules.Gates = policy.Gates{Writes: policy.Review, RawWrites: policy.Review}
	c.Limits.Proposals = 1000
	p, err := app.Build(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { p.Close() })
	w.tokens = p.Tokens
	o := p.Door()
	o.Logger = slog.New(slog.NewTextHandler(w.log, nil))
	t.Cleanup(p.Apply(context.WithoutCancel(t.Context()), o.Logger))
	s, err := p.Serve(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	front.Config.Handler = s.Handler()
	front.Start()
	t.Cleanup(front.Close)
	t.Cleanup(s.Console.Close)
	h := &house{world: w, plant: p}
	if h.db, err = sql.Open("sqlite", path+"?_pragma=foreign_keys(1)&_pragma=busy_timeout(5000)"); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { h.db.Close() })
	token, _, err := p.Tokens.Create(t.Context(), identity.Local("test"), identity.Token{Name: "triage-bot", Owner: "maria", Tenant: demo.Acme,
		Scopes: []identity.Scope{identity.Read, identity.Write, identity.Delete}})
	if err != nil {
		t.Fatal(err)
	}
	if h.agent, err = token.Principal(); err != nil {
		t.Fatal(err)
	}
	return h
}

// person creates a reviewer of the tenant and returns their token.
func (h *house) person(t testing.TB, owner string) string {
	t.Helper()
	_, secret, err := h.tokens.Create(t.Context(), identity.Local("test"), identity.Token{Name: owner, Owner: owner, Kind: identity.Human, Tenant: demo.Acme,
		Scopes: []identity.Scope{identity.Read, identity.Review, identity.Audit, identity.Operator}})
	if err != nil {
		t.Fatal(err)
	}
	return secret
}

// invited returns a link that signs in a reviewer of the tenant.
func (h *house) invited(t testing.TB, owner string) string {
	t.Helper()
	_, link, err := h.tokens.Invite(t.Context(), identity.Local("test"), identity.Token{Owner: owner, Tenant: demo.Acme,
		Scopes: []identity.Scope{identity.Read, identity.Review, identity.Audit, identity.Operator}}, time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	return console.SignIn(link)
}

// issue returns the ID and the title of the nth issue of the tenant.
func (h *house) issue(t testing.TB, n int) (id, title string) {
	t.Helper()
	err := h.db.QueryRow(`SELECT id, title FROM issues WHERE org_id = ? AND deleted_at IS NULL AND status = 'Todo' ORDER BY number, id LIMIT 1 OFFSET ?`, demo.Acme, n).Scan(&id, &title)
	if err != nil {
		t.Fatal(err)
	}
	return id, title
}

func (h *house) title(t testing.TB, id string) string { t.Helper(); return h.read(t, "title", id) }

// read returns a field of an issue as text.
func (h *house) read(t testing.TB, field, id string) (text string) {
	t.Helper()
	if err := h.db.QueryRow(`SELECT `+field+` FROM issues WHERE id = ?`, id).Scan(&text); err != nil {
		t.Fatal(err)
	}
	return text
}

// retitle makes the agent propose another title, and returns the change's ID.
func (h *house) retitle(t testing.TB, issue, title string) (change string) {
	t.Helper()
	return h.set(t, issue, "title", title)
}

// set makes the agent propose a text for a field of an issue, and returns the change's ID.
func (h *house) set(t testing.TB, issue, field, text string) (change string) {
	t.Helper()
	doc := value.OfObject([]value.Member{{Name: field, Value: value.OfString(text)}})
	w := &write.Update{Class: "issues", ID: issue, Data: doc}
	err := h.plant.Gateway.Do(t.Context(), h.agent, bailiwick.CallSpec{Tool: "update_object", Needs: identity.Write, Writes: policy.WriteRaw, Proposes: true, Correlation: "c1"},
		func(ctx context.Context, c *bailiwick.Call) (int, error) {
			s, err := c.Propose(ctx, write.Request{Writes: []write.Write{w}, Tool: "update_object", Reason: "The title says too little.", Input: doc})
			if err == nil {
				change = s.ID
			}
			return 0, err
		})
	if err != nil {
		t.Fatal(err)
	}
	return change
}
