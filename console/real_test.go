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

// TestBrowserReal checks a review against a real gateway and tracker. A reviewer signs in on a phone-sized screen and
// reads a change. The reviewer can't approve if the record has changed or if they own the agent. They approve, see
// that the change was applied once, and revert it.
func TestBrowserReal(t *testing.T) {
	h := newHouse(t)
	browser := chrome(t)
	first, old := h.issue(t, 0)
	second, _ := h.issue(t, 1)
	kept := h.retitle(t, first, "Refunds are paid out twice when a retry comes in")
	moved := h.retitle(t, second, "Something else")
	rosa, maria := h.tab(t, browser, ""), h.tab(t, browser, h.person(t, "maria"))
	rosa.size(360, 740, true)

	rosa.open(h.invited(t, "rosa"))
	rosa.click("button.first")
	rosa.visible("nav[aria-label=Pages]")
	rosa.open("/console/changes")
	rosa.visible(`a.title[href*="` + kept + `"]`)
	rosa.shoot("real-queue", true)
	if wrong := eval[string](rosa, look); wrong != "" {
		t.Error("queue:", wrong)
	}
	rosa.click(`a.title[href*="` + kept + `"]`)
	rosa.visible(".deeds button")
	rosa.shoot("real-change", true)
	if wrong := eval[string](rosa, look); wrong != "" {
		t.Error("change:", wrong)
	}
	for _, want := range []string{"Refunds are paid out twice", "The title says too little.", "triage-bot", "maria"} {
		if text := eval[string](rosa, `document.querySelector("main").innerText`); !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
	maria.open("/console/changes/" + kept)
	if !eval[bool](maria, `document.getElementById("approve").disabled`) {
		t.Error("the agent's owner may approve")
	}
	maria.shoot("real-own", false)
	rosa.readOn()
	rosa.click(".deeds button")
	rosa.visible(".notice.good a")
	rosa.click(".notice.good a")
	rosa.visible(".outcome.state-applied")
	rosa.shoot("real-applied", true)
	if got := h.title(t, first); got != "Refunds are paid out twice when a retry comes in" {
		t.Errorf("the issue is called %q", got)
	}
	maria.waitFor(`document.querySelector(".outcome.state-applied") !== null`) // without a reload

	if _, err := h.db.Exec(`UPDATE issues SET title = 'Moved on' WHERE id = ?`, second); err != nil {
		t.Fatal(err)
	}
	rosa.open("/console/changes/" + moved)
	rosa.waitFor(`document.getElementById("approve").disabled && document.body.innerText.includes("has moved since")`)
	rosa.shoot("real-moved", true)

	rosa.open("/console/changes/" + kept)
	rosa.click("details.other:last-of-type summary")
	rosa.typed("#revert-text", "It was right before.")
	rosa.click(`form[action$="/revert"] button`)
	rosa.waitFor(`location.search === "?did=revert"`)
	back := eval[string](rosa, `location.pathname.split("/").pop()`)
	rosa.shoot("real-revert", true)
	ines := h.tab(t, browser, h.person(t, "ines"))
	ines.open("/console/changes/" + back)
	ines.readOn()
	ines.click("#approve")
	ines.visible(".outcome.state-applied")
	if got := h.title(t, first); got != old {
		t.Errorf("after the revert the issue is called %q, want %q", got, old)
	}
	ines.open("/console/audit?days=1&q=" + kept)
	ines.visible(".records")
	if text := eval[string](ines, `document.querySelector(".records").innerText`); !strings.Contains(text, "changes/approve") {
		t.Error("the audit:", text)
	}
	ines.shoot("real-audit", false)
	ines.open("/console/access?as=" + h.agent.TokenID + "&class=tracker.issues&tool=update_object&on=tracker.users")
	ines.shoot("real-access", false)
	ines.open("/console/sources")
	ines.waitFor(`document.body.innerText.includes("All that were asked answer")`)
	if strings.Contains(h.log.String(), "ERROR") {
		t.Error(h.log)
	}
}
