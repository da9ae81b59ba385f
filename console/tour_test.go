package console_test

import (
	_ "embed"
	"testing"

	"github.com/bailiwick-dev/bailiwick/identity"
	"github.com/bailiwick-dev/bailiwick/internal/demo"
	"github.com/bailiwick-dev/bailiwick/test/services"
)

//go:embed testdata/look.js
var look string

// TestBrowserTour checks every page on a desktop and a phone screen, light and dark. Nothing is wider than the screen,
// every text has enough contrast, and every control has a name.
func TestBrowserTour(t *testing.T) {
	w := newWorld(t, newDrawers(samples()...), full(t))
	made, _, err := w.tokens.Create(t.Context(), identity.Local("test"), identity.Token{Name: "triage-bot", Owner: "maria", Tenant: demo.Acme, Scopes: []identity.Scope{identity.Read}})
	if err != nil {
		t.Fatal(err)
	}
	agent := made.ID
	_, _ = w.token(t, "lena", identity.Agent, identity.Read)
	old, _ := w.token(t, "ben", identity.Agent, identity.Read)
	if err := w.tokens.Revoke(t.Context(), identity.Local("test"), old); err != nil {
		t.Fatal(err)
	}
	_, rosa := w.token(t, "rosa", identity.Human, identity.Review, identity.Audit, identity.Operator)
	link := w.link(t, "rosa", 1<<40)
	const out = true // not signed in
	pages := []place{
		{"queue", "/changes", !out}, {"filter", "/changes?risk=high&state=all", !out}, {"empty", "/changes?state=failed", !out}, {"none", "/changes?q=nothing+like+it", !out},
		{"bulk", "/changes/" + id(13), !out}, {"delete", "/changes/" + id(14), !out},
		{"stale", "/changes/" + id(15), !out}, {"applied", "/changes/" + id(16), !out}, {"unknown", "/changes/" + id(17), !out}, {"own", "/changes/" + id(18), !out},
		{"print", "/changes/" + id(12) + "/print", !out}, {"edit-form", "/changes/" + id(12) + "/edit", !out}, {"grouped", "/changes?by=agent&state=open", !out},
		{"decided", "/changes/" + id(11) + "?did=approve&after=" + id(16), !out}, {"ended", "/you?ended=yes", !out},
		{"versions", "/changes/" + id(19), !out}, {"returned", "/changes?state=returned", !out},
		{"batch", "/batch?id=" + id(11) + "&id=" + id(12) + "&id=" + id(14), !out},
		{"audit", "/audit?days=30", !out}, {"tokens", "/tokens?state=all", !out}, {"revoke", "/tokens?revoke=" + agent, !out}, {"access", "/access", !out},
		{"view-as", "/access?as=" + agent + "&class=tracker.issues&tool=query_class&on=tracker.users&field=password_hash", !out}, {"sources", "/sources", !out},
		{"notifications", "/notifications", !out}, {"notifications-none", "/notifications?state=sent&webhook=slack", !out},
		{"people", "/people", !out}, {"rights", "/people?person=rosa&tenant=", !out}, {"remove", "/people?person=rosa&tenant=&remove=yes", !out}, {"you", "/you", !out},
		{"again", "/sign-in?again=yes", !out}, {"not-found", "/changes/none", !out}, {"sign-in", "/sign-in?next=/console/changes", out}, {"link", link[len("/console"):], out},
	}
	states := []state{
		{place{"invited", "/people", !out}, "#person", "max@example.com", "section.invite button.first", "#made"},
		{place{"refused", "/sign-in", out}, "#credential", "bw_nothing", "main button.first", ".notice.bad"},
		{place{"unnamed", "/people", !out}, "#person", " ", "section.invite button.first", ".notice.bad"},
	}
	browser, axe := chrome(t), services.Axe(t)
	for _, screen := range []struct {
		name          string
		width, height int64
		phone         bool
	}{{"desktop", 1280, 860, false}, {"phone", 360, 740, true}} {
		t.Run(screen.name, func(t *testing.T) {
			t.Parallel()
			tabs := map[bool]*tab{!out: w.tab(t, browser, rosa), out: w.tab(t, browser, "")}
			for _, b := range tabs {
				b.size(screen.width, screen.height, screen.phone)
			}
			for _, p := range pages {
				b := tabs[p.out]
				b.open("/console" + p.path)
				if p.name == "versions" || p.name == "bulk" { // an action made one of their writes
					b.waitFor(`document.querySelector("main").textContent.includes("by the action update_status")`)
				}
				b.examine(p.name, axe, screen.phone)
			}
			for _, s := range states {
				b := tabs[s.out]
				b.open("/console" + s.path)
				b.waitFor(`document.readyState === "complete"`)
				if eval[bool](b, `document.querySelector("`+s.field+`").closest("details:not([open])") !== null`) {
					b.click("details:has(" + s.field + ") summary")
				}
				b.typed(s.field, s.text)
				b.click(s.button)
				b.visible(s.shown)
				b.examine(s.name, axe, screen.phone)
			}
		})
	}
}

// A place is a page of the console, for a visitor who is signed in or out.
type place struct {
	name, path string
	out        bool
}

// A state is the page after entering a text into a field and pressing a button.
type state struct {
	place
	field, text, button string
	shown               string
}

// examine checks a page in light and in dark, and leaves it light. It measures the contrast of texts in both themes
// at both widths. The colour rules of axe-core take longest. So they run only on wide light pages and narrow dark
// pages. All other rules run at both widths.
func (b *tab) examine(name, axe string, phone bool) {
	b.t.Helper()
	options := [2]string{`{}`, ""}
	if phone {
		name += "-phone"
		options = [2]string{`{rules: {"color-contrast": {enabled: false}, "link-in-text-block": {enabled: false}}}`, `{runOnly: ["color-contrast", "link-in-text-block"]}`}
	}
	b.waitFor(`document.readyState === "complete"`)
	for i, dark := range []bool{false, true} {
		if b.dark(dark); dark {
			name += "-dark"
		}
		b.waitFor(`document.getAnimations().length === 0`) // wait until colours have faded
		wrong := eval[string](b, look)
		if options[i] != "" {
			wrong += b.audited(axe, options[i])
		}
		if wrong != "" {
			b.t.Errorf("%s:\n%s", name, wrong)
		}
		b.shoot(name, phone)
	}
	b.dark(false)
}

// violations returns the violations that axe-core finds on a page, one per line.
func violations(b *tab, axe string) string { b.t.Helper(); return b.audited(axe, "{}") }

// audited does the same as violations, with options for axe-core.
func (b *tab) audited(axe, options string) string {
	if axe == "" {
		return ""
	}
	b.t.Helper()
	if !eval[bool](b, `typeof axe === "object"`) {
		eval[bool](b, axe+"\n;true")
	}
	return eval[string](b, `axe.run(document, {resultTypes: ["violations"], ...`+options+`}).then((r) => r.violations.map((v) => v.id + ": " + v.help + "\n  " +
		v.nodes.slice(0, 3).map((n) => n.html.slice(0, 160) + " " + (n.any[0]?.message ?? "")).join("\n  ")).join("\n"))`)
}

// TestBrowserMany shows 10,000 pending changes. Similar changes are grouped, and each page links to the next.
func TestBrowserMany(t *testing.T) {
	w := newWorld(t, many(10_000), nil)
	_, rosa := w.token(t, "rosa", identity.Human, identity.Review)
	b := w.tab(t, chrome(t), rosa)
	b.open("/console/changes")
	if wrong := eval[string](b, look); wrong != "" {
		t.Error(wrong)
	}
	b.shoot("many", false)
	before := eval[string](b, `document.querySelector("a.title").href`)
	b.click(".bundle summary")
	b.shoot("many-open", false)
	b.click(".decide-all")
	b.visible("#batch-text")
	if n := eval[int](b, `document.querySelectorAll("[name=change]:checked").length`); n < 3 {
		t.Error("together:", n)
	}
	b.open("/console/changes")
	b.click("a[rel=next]")
	b.waitFor(`(document.querySelector("a.title")?.href ?? "") !== "` + before + `" && document.querySelector("a.title") !== null && location.search.includes("before=")`)
}
