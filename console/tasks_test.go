package console_test

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/bailiwick-dev/bailiwick"
	"github.com/bailiwick-dev/bailiwick/identity"
	"github.com/bailiwick-dev/bailiwick/policy"
	"github.com/bailiwick-dev/bailiwick/value"
	"github.com/bailiwick-dev/bailiwick/write"
)

// A person counts the actions that a task requires: clicks, and fields to fill in.
type person struct {
	*tab
	actions int
}

func (p *person) click(selector string) { p.t.Helper(); p.actions++; p.tab.click(selector) }

func (p *person) typed(selector, text string) { p.t.Helper(); p.actions++; p.tab.typed(selector, text) }

// took checks how many actions a task required, and starts the next task.
func (p *person) took(task string, most int) {
	p.t.Helper()
	p.t.Logf("%s: %d actions", task, p.actions)
	if p.actions > most {
		p.t.Errorf("%s took %d actions, at most %d", task, p.actions, most)
	}
	p.actions = 0
}

// issues returns the ids of n issues of the tenant.
func (h *house) issues(t testing.TB, n int) []string {
	t.Helper()
	out := h.column(t, `SELECT id FROM issues WHERE org_id = ? AND deleted_at IS NULL ORDER BY number, id LIMIT `+strconv.Itoa(n))
	if len(out) < n {
		t.Fatal(len(out))
	}
	return out
}

// column returns the first column of a query about the agent's tenant. It has at least one row.
func (h *house) column(t testing.TB, query string) (out []string) {
	t.Helper()
	rows, err := h.db.Query(query, h.agent.Tenant)
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	for rows.Next() {
		var text string
		if err := rows.Scan(&text); err != nil {
			t.Fatal(err)
		}
		out = append(out, text)
	}
	if err := rows.Err(); err != nil || len(out) == 0 {
		t.Fatal(query, err)
	}
	return out
}

// together makes the agent propose one change of many issues, one of which is different.
func (h *house) together(t testing.TB, issues []string) (change string) {
	t.Helper()
	r := write.Request{Tool: "propose_changes", Reason: "The estimates of the planning."}
	for i, id := range issues {
		n := int64(5)
		if i == len(issues)/2 {
			n = 500
		}
		r.Writes = append(r.Writes, &write.Update{Class: "issues", ID: id, Data: value.OfObject([]value.Member{{Name: "estimate", Value: value.OfInt(n)}})})
	}
	err := h.plant.Gateway.Do(t.Context(), h.agent, bailiwick.CallSpec{Tool: "propose_changes", Needs: identity.Write, Writes: policy.WriteRaw, Proposes: true},
		func(ctx context.Context, c *bailiwick.Call) (int, error) {
			s, err := c.Propose(ctx, r)
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

// unseen finds a record in a table whose name or new value is outside the screen.
const unseen = `[...document.querySelectorAll(".many-records tbody tr")].filter((row) => [".called", ".is, .stays"].some((part) => {
	const box = row.querySelector(part)?.getBoundingClientRect();
	return !box || box.width === 0 || box.left < 0 || box.right > innerWidth;
})).slice(0, 3).map((row) => row.innerText).join(" | ")`

// screens returns the length of the page in screens.
func screens(b *tab) float64 {
	return eval[float64](b, `document.scrollingElement.scrollHeight / innerHeight`)
}

// TestBrowserTasks does the tasks of five people on a phone of 360 pixels, each with few actions.
func TestBrowserTasks(t *testing.T) {
	h := newHouse(t)
	browser := chrome(t)
	rosa := &person{tab: h.tab(t, browser, h.person(t, "rosa"))}
	rosa.size(360, 740, true)
	issues := h.issues(t, 100)

	one := h.retitle(t, issues[0], "Refunds are paid out twice")
	rosa.open("/console/changes")
	rosa.click(`a.title[href*="` + one + `"]`)
	rosa.visible(".deeds button")
	if n := screens(rosa.tab); n > 2 {
		t.Errorf("an ordinary change is %.1f screens long, at most 2", n)
	}
	rosa.shoot("task-change", false)
	rosa.readOn()
	rosa.click(".deeds button")
	rosa.visible(".outcome.state-applied")
	rosa.took("approve one", 3)

	for _, id := range issues[1:31] {
		h.set(t, id, "title", "Spam "+id[:6])
	}
	last := h.set(t, issues[40], "body", "Something else")
	rosa.open("/console/changes")
	rosa.click(".decide-all")
	rosa.visible("#reject-all")
	rosa.visible("#approve")
	rosa.typed("#batch-text", "Titles are for people.")
	rosa.click("#reject-all")
	rosa.visible("h1")
	rosa.waitFor(`document.querySelector("h1")?.textContent === "30 changes rejected"`)
	rosa.click("a.button.first")
	rosa.waitFor(`document.querySelectorAll("a.title").length === 1`)
	rosa.took("reject 30 of a shape", 6)

	for _, want := range []string{"triage-bot", "maria", "body", "The title says too little."} {
		if text := eval[string](rosa.tab, `document.querySelector("main").innerText`); !strings.Contains(text, want) {
			t.Errorf("the queue doesn't say %q:\n%s", want, text)
		}
	}
	rosa.took("find who wants what and why", 0)

	if _, err := h.db.Exec(`UPDATE issues SET body = 'Moved on' WHERE id = ?`, issues[40]); err != nil {
		t.Fatal(err)
	}
	rosa.click(`a.title[href*="` + last + `"]`)
	rosa.waitFor(`document.querySelector(".deeds button")?.disabled === true && document.body.innerText.includes("has moved since")`)
	rosa.took("be stopped by a stale record", 2)

	already := h.estimated(t, issues)
	many := h.together(t, issues)
	rosa.open("/console/changes")
	rosa.click(`a.title[href*="` + many + `"]`)
	rosa.visible(".many-records")
	if n := screens(rosa.tab); n > 12 {
		t.Errorf("100 records are %.1f screens long, at most 12", n)
	}
	if first := eval[string](rosa.tab, `document.querySelector(".many-records tbody tr").innerText`); !strings.Contains(first, "500") || !strings.Contains(first, "differs") {
		t.Error("the record that differs isn't the first:", first)
	}
	if n := eval[int](rosa.tab, `document.querySelectorAll(".many-records tbody tr").length`); n != 100 {
		t.Error(n, "rows")
	}
	if hidden := eval[string](rosa.tab, unseen); hidden != "" {
		t.Errorf("what a record is called, and its new value, isn't on the screen: %s", hidden)
	}
	if wrong := eval[string](rosa.tab, look); wrong != "" {
		t.Error(wrong)
	}
	rosa.shoot("task-100", true)
	rosa.shoot("task-100-top", false)
	rosa.readOn()
	rosa.click(".deeds button")
	rosa.waitFor(`document.querySelector(".notice.good")?.innerText.includes("100 updates in ") === true`)
	rosa.took("review 100 records", 8)
	if n := h.estimated(t, issues); n != already {
		t.Error(n-already, "records are written after one approval of two")
	}

	// The rules of the demo require two people for more than 20 records.
	ines := &person{tab: h.tab(t, browser, h.person(t, "ines"))}
	ines.size(360, 740, true)
	ines.open("/console/changes")
	ines.click(`a.title[href*="` + many + `"]`)
	ines.waitFor(`document.querySelector(".stages")?.innerText.includes("1 of 2") === true`)
	ines.readOn()
	ines.click(".deeds button")
	ines.waitFor(`document.querySelector(".notice.good")?.innerText.includes("100 updates in ") === true`)
	ines.click(".notice.good a")
	ines.visible(".outcome.state-applied")
	ines.took("be the second of two", 8)
	if n := h.estimated(t, issues); n != 100 {
		t.Error(n, "records are written, of 100")
	}
}

// estimated returns how many of the issues have the estimate that together proposes.
func (h *house) estimated(t testing.TB, issues []string) (n int) {
	t.Helper()
	for i, id := range issues {
		if h.read(t, "coalesce(estimate, 0)", id) == map[bool]string{true: "500", false: "5"}[i == len(issues)/2] {
			n++
		}
	}
	return n
}

// TestBrowserBusyAgent decides about 60 proposals of one agent at once.
func TestBrowserBusyAgent(t *testing.T) {
	h := newHouse(t)
	rosa := &person{tab: h.tab(t, chrome(t), h.person(t, "rosa"))}
	for i, id := range h.issues(t, 60) {
		h.set(t, id, "title", fmt.Sprint("Issue number ", i))
	}
	rosa.open("/console/changes")
	rosa.click(".decide-all")
	rosa.visible("#approve")
	if n := eval[int](rosa.tab, `document.querySelectorAll(".many-records tbody tr").length`); n != 60 {
		t.Fatal(n, "rows")
	}
	rosa.shoot("busy", false)
	rosa.readOn()
	eval[bool](rosa.tab, `document.getElementById("approve").click(), true`)
	rosa.waitFor(`document.querySelector("h1")?.textContent === "60 changes approved"`)
	var n int
	if err := h.db.QueryRow(`SELECT count(*) FROM issues WHERE title LIKE 'Issue number %'`).Scan(&n); err != nil || n != 60 {
		t.Error(n, err)
	}
}
