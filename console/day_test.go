package console_test

import (
	"context"
	_ "embed"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/bailiwick-dev/bailiwick"
	"github.com/bailiwick-dev/bailiwick/change"
	"github.com/bailiwick-dev/bailiwick/identity"
	"github.com/bailiwick-dev/bailiwick/policy"
	"github.com/bailiwick-dev/bailiwick/test/services"
	"github.com/bailiwick-dev/bailiwick/value"
	"github.com/bailiwick-dev/bailiwick/write"
)

// measure finds clipped values and boxes that scroll by themselves.
//
//go:embed testdata/measure.js
var measure string

// A wish is one kind of change. It returns the writes of the nth change of a day. No two wishes write the same record.
type wish struct {
	name   string
	writes func(d *day, n int) []write.Write
}

// wishes returns the kinds of changes of a day.
func wishes() []wish {
	set := func(n int, d *day, data string) []write.Write {
		return []write.Write{&write.Update{Class: "issues", ID: d.issues[n], Data: document(data)}}
	}
	return []wish{
		{"title", func(d *day, n int) []write.Write { return set(n, d, fmt.Sprintf(`{"title":"Refunds of day %d"}`, n)) }},
		{"words", func(d *day, n int) []write.Write {
			return set(n, d, `{"body":`+string(value.AppendQuote(nil, d.bodies[n]+" Checked twice."))+`}`)
		}},
		{"rewrite", func(d *day, n int) []write.Write {
			return set(n, d, `{"body":"Nothing of the former text is left here, so two plain blocks read better than marks."}`)
		}},
		{"number", func(d *day, n int) []write.Write { return set(n, d, `{"estimate":1234567890123.25}`) }},
		{"pointer", func(d *day, n int) []write.Write { return set(n, d, `{"assignee_id":"`+d.worker+`"}`) }},
		{"several", func(d *day, n int) []write.Write {
			return set(n, d, fmt.Sprintf(`{"title":"Payouts %d","estimate":%d.5,"custom":{"customer":{"name":"Lund & Søn","since":2019}}}`, n, 100+n))
		}},
		{"many", func(d *day, n int) (out []write.Write) {
			for i, id := range d.rest[n/12*12 : n/12*12+12] {
				out = append(out, &write.Update{Class: "issues", ID: id, Data: document(fmt.Sprintf(`{"estimate":%d,"priority":"Low","title":"Planned %d"}`, 900000000+i, i))})
			}
			return out
		}},
		{"comment", func(d *day, n int) []write.Write {
			return []write.Write{&write.Create{Class: "comments", Data: document(`{"issue_id":"` + d.issues[n] + `","body":"Reproduced on the nightly build.","agent":"triage-bot"}`)}}
		}},
		{"label", func(d *day, n int) []write.Write {
			return []write.Write{&write.Create{Class: "labels", Data: document(fmt.Sprintf(`{"name":"ledger-%d","colour":"#20625a"}`, n))}}
		}},
		{"gone", func(d *day, n int) []write.Write {
			return []write.Write{&write.Delete{Class: "comments", ID: d.comments[n]}}
		}},
		{"cascade", func(d *day, n int) []write.Write {
			return []write.Write{&write.Delete{Class: "issues", ID: d.leaves[n]}}
		}},
		{"group", func(d *day, n int) []write.Write {
			return append(set(n, d, fmt.Sprintf(`{"due_date":"2026-12-%02d"}`, n%28+1)), &write.Create{Class: "comments", Data: document(`{"issue_id":"` + d.issues[n] + `","body":"Due then.","agent":"triage-bot"}`)})
		}},
	}
}

// A day is what an agent proposes on one day, and what there is to write.
type day struct {
	*house
	issues, rest, leaves, comments []string
	bodies                         []string // of issues
	worker                         string
}

// newDay returns a day in a house.
func newDay(t *testing.T) *day {
	h := newHouse(t)
	d := &day{house: h, issues: h.issues(t, 200)}
	d.rest = d.issues[50:]
	for _, id := range d.issues[:50] {
		d.bodies = append(d.bodies, h.read(t, "body", id))
	}
	d.leaves = d.column(t, `SELECT i.id FROM issues i WHERE i.org_id = ? AND i.deleted_at IS NULL AND NOT EXISTS (SELECT 1 FROM issues c WHERE c.parent_id = i.id) AND EXISTS (SELECT 1 FROM comments c WHERE c.issue_id = i.id) ORDER BY i.id DESC LIMIT 40`)
	d.comments = d.column(t, `SELECT c.id FROM comments c JOIN issues i ON i.id = c.issue_id WHERE i.org_id = ? AND i.deleted_at IS NULL ORDER BY c.id LIMIT 40`)
	d.worker = d.column(t, `SELECT id FROM users WHERE org_id = ? AND active = 1 LIMIT 1`)[0]
	return d
}

// document parses JSON text of this file.
func document(text string) value.Value {
	v, err := value.Read([]byte(text), 0)
	if err != nil {
		panic(text + ": " + err.Error())
	}
	return v
}

// propose makes the agent propose the nth change of the day. It returns its ID and a word of its reason that no other
// change has.
func (d *day) propose(t *testing.T, w wish, n int) (id, word string) {
	t.Helper()
	word = fmt.Sprintf("%s-%03d", w.name, n)
	err := d.plant.Gateway.Do(t.Context(), d.agent, bailiwick.CallSpec{Tool: "propose_changes", Needs: identity.Write, Writes: policy.WriteRaw, Proposes: true},
		func(ctx context.Context, c *bailiwick.Call) (int, error) {
			s, err := c.Propose(ctx, write.Request{Tool: "propose_changes", Reason: "Asked for in the planning as " + word + ".", Writes: w.writes(d, n)})
			if err == nil {
				id = s.ID
			}
			return 0, err
		})
	if err != nil {
		t.Fatal(word, err)
	}
	return id, word
}

// check measures a page and looks at it.
func (b *tab) check(name string) {
	b.t.Helper()
	b.waitFor(`document.readyState === "complete" && document.getAnimations().length === 0`)
	if wrong := eval[string](b, measure) + eval[string](b, look); wrong != "" {
		b.t.Errorf("%s at %s:\n%s", name, eval[string](b, `innerWidth + " × " + innerHeight`), wrong)
		b.shoot("wrong-"+name, true)
	}
}

// A way is how a person uses the console: with a pointer, on a phone, by keyboard, or without scripts.
type way struct {
	name          string
	width, height int64
	phone         bool
	keys, plain   bool
}

// ways returns how the reviewer of a day uses the console.
func ways() []way {
	return []way{{name: "desktop", width: 1366, height: 768}, {name: "phone", width: 390, height: 844, phone: true},
		{name: "keys", width: 1920, height: 1080, keys: true}, {name: "plain", width: 768, height: 1024, plain: true}}
}

// TestBrowserDay plays one reviewer's day. The agent proposes 40 changes of 12 kinds. The reviewer finds each of them
// by search, reads it, writes a comment and decides. They do so with a pointer, on a phone, with the keyboard only, and
// without scripts. Every value of every page is measured. Meanwhile a change goes stale, and another one is reverted.
func TestBrowserDay(t *testing.T) {
	d := newDay(t)
	browser := chrome(t)
	for k, w := range ways() {
		t.Run(w.name, func(t *testing.T) {
			t.Parallel()
			b := d.tab(t, browser, d.person(t, "rosa"))
			b.size(w.width, w.height, w.phone)
			if w.plain {
				if _, err := chromedp.Call(b.ctx, emulation.SetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{Value: true}); err != nil {
					t.Fatal(err)
				}
			}
			for n := range 40 {
				if (n+n/len(wishes()))%len(ways()) == k { // each kind in several ways
					d.review(b, w, n)
				}
			}
		})
	}
	t.Run("watched", func(t *testing.T) { t.Parallel(); d.watched(t, browser) })
}

// review proposes the nth change of the day, and reviews it in a way.
func (d *day) review(b *tab, w way, n int) {
	b.t.Helper()
	kind := wishes()[n%len(wishes())]
	id, word := d.propose(b.t, kind, n)
	r := &reviewing{b, w, id}
	r.find(word)
	r.check(w.name + "-" + kind.name)
	if n < len(wishes()) && !w.plain {
		if wrong := r.audited(services.Axe(b.t), `{rules: {"color-contrast": {enabled: false}, "link-in-text-block": {enabled: false}}}`); wrong != "" {
			b.t.Errorf("%s %s:\n%s", w.name, kind.name, wrong)
		}
	}
	r.shoot("day-"+w.name+"-"+kind.name, false)
	r.comment("Fine so far.\nI look at " + word + ".")
	deed := []string{"approve", "reject", "ask"}[n%5/2]
	if kind.name == "cascade" && eval[bool](r.tab, `document.querySelector("#approve").disabled && document.querySelector("#why-not") !== null`) {
		deed = "reject" // the reviewer does not see all fields of such a record
	}
	r.decide(deed)
	kept, err := d.plant.Store.Get(b.t.Context(), id)
	if err != nil {
		b.t.Fatal(err)
	}
	if !slices.ContainsFunc(kept.History, func(s change.Step) bool { return s.Comment == "Fine so far.\nI look at "+word+"." }) {
		b.t.Errorf("%s: the comment isn't what was typed: %+v", word, kept.History)
	}
	if want := map[string]change.EventKind{"approve": change.EventApproved, "reject": change.EventRejected, "ask": change.EventAsked}[deed]; !slices.ContainsFunc(kept.History, func(s change.Step) bool {
		return s.Event == want || deed == "approve" && s.Event == change.EventDecided && kept.Need > 1
	}) {
		b.t.Errorf("%s: no %s: %+v", word, want, kept.History)
	}
}

// A reviewing is the review of one change in one way.
type reviewing struct {
	*tab
	way way
	id  string
}

// find searches the queue for a word of the reason and opens the only change that is found.
func (r *reviewing) find(word string) {
	r.t.Helper()
	title := `a.title[href*="` + r.id + `"]`
	r.open("/console/changes?state=all")
	switch {
	case r.way.keys:
		r.use("details.filters summary", kb.Enter)
		r.use("[data-search]", word+kb.Enter)
	default:
		r.click("details.filters summary")
		r.typed("[data-search]", word)
		r.click("details.filters form[role=search] button")
	}
	r.waitFor(`document.readyState === "complete" && location.search.includes("q=` + word + `") && document.querySelectorAll("a.title").length === 1 && document.querySelector('` + title + `') !== null`)
	r.check("found")
	if r.way.keys {
		r.key("j" + kb.Enter)
	} else {
		r.click(title)
	}
	r.visible("#approve-form")
}

// comment writes a comment and sends it.
func (r *reviewing) comment(text string) {
	r.t.Helper()
	if r.way.keys {
		r.use("#comment-text", text+kb.Tab+kb.Enter)
	} else {
		r.typed("#comment-text", text)
		r.click("#only-comment")
	}
	r.waitFor(`(document.querySelector(".talk .words")?.innerText ?? "").includes("Fine so far.\nI look at") && document.querySelector(".talk .odd") === null`)
}

// decide decides about the change. Approve must not be possible before all parts were on the screen. Without scripts
// the page can't know that, so the decision stands below all parts.
func (r *reviewing) decide(deed string) {
	r.t.Helper()
	switch {
	case deed != "approve":
		r.give(deed)
	case r.way.plain:
		if wrong := eval[string](r.tab, `[...document.querySelectorAll("[data-look]")].filter((p) => p.checkVisibility() && p.getBoundingClientRect().bottom > document.querySelector("#approve").getBoundingClientRect().top).map((p) => p.innerText).join()`); wrong != "" {
			r.t.Errorf("%s: Approve stands above %s", r.way.name, wrong)
		}
		r.click("#approve")
	case r.way.keys:
		r.key("a")
		r.waitFor(`document.activeElement.matches("#approve")`)
		for range 40 {
			left := eval[bool](r.tab, `document.querySelector("[data-left]") !== null`)
			r.press(kb.Enter)
			if !left {
				break
			}
			time.Sleep(time.Second) // the page ignores a second press that follows at once
		}
	default:
		if eval[bool](r.tab, `document.querySelector("[data-left]") !== null`) {
			eval[bool](r.tab, `document.querySelector("#approve-form").requestSubmit(document.querySelector("#approve")) ?? true`)
			if eval[bool](r.tab, `location.search.includes("did=approve")`) {
				r.t.Errorf("%s: approved before it was read", r.way.name)
			}
			time.Sleep(time.Second) // the page ignores a second press that follows at once
		}
		r.readOn()
		button := "#approve"
		if r.way.phone {
			button = ".deeds .first"
		}
		r.click(button)
	}
	r.waitFor(`location.search.includes("did=` + deed + `")`)
	r.check("decided")
}

// give sends a rejection or a request for changes, with its reason.
func (r *reviewing) give(deed string) {
	r.t.Helper()
	field := "#" + deed + "-text"
	if r.way.keys {
		r.use("#"+deed+" summary", kb.Enter)
		r.use(field, "Not like this.\nShorter, please."+kb.Tab+kb.Enter)
		return
	}
	r.click("#" + deed + " summary")
	r.typed(field, "Not like this.")
	r.check("reason")
	r.click("#" + deed + " form button")
}

// watched reviews a change while its owner looks on. The owner of the agent can't approve it. A change whose record has
// moved can't be approved either. An applied change is reverted, which another person approves.
func (d *day) watched(t *testing.T, browser context.Context) {
	h := d.house
	first, second := d.issues[48], d.issues[49]
	old := h.title(t, first)
	kept := h.retitle(t, first, "Refunds are paid out twice when a retry comes in")
	moved := h.retitle(t, second, "Something else")
	rosa, maria := h.tab(t, browser, ""), h.tab(t, browser, h.person(t, "maria"))
	rosa.size(360, 740, true)

	rosa.open(h.invited(t, "rosa"))
	rosa.click("button.first")
	rosa.visible("nav[aria-label=Pages]")
	rosa.open("/console/changes")
	rosa.open("/console/changes?q=" + kept)
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
