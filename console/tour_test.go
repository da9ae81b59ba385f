package console_test

import (
	_ "embed"
	"testing"

	"github.com/bailiwick-dev/bailiwick/identity"
	"github.com/bailiwick-dev/bailiwick/internal/demo"
	"github.com/bailiwick-dev/bailiwick/internal/testservices"
)

//go:embed testdata/look.js
var look string

// TestBrowserTour checks every page on a desktop and a phone screen, light and dark: nothing is wider than the
// screen, every text has enough contrast, and every control has a name.
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
	browser, axe := chrome(t), testservices.Axe(t)
	b, out := w.tab(t, browser, rosa), w.tab(t, browser, "")
	out.open("/console/sign-in")
	link := w.link(t, "rosa", 1<<40)
	pages := []struct {
		name, path string
		at         *tab
	}{
		{"queue", "/changes", b}, {"filter", "/changes?risk=high&state=all", b}, {"empty", "/changes?state=failed", b}, {"none", "/changes?q=nothing+like+it", b},
		{"change", "/changes/" + id(11), b}, {"edit", "/changes/" + id(12), b}, {"bulk", "/changes/" + id(13), b}, {"delete", "/changes/" + id(14), b},
		{"stale", "/changes/" + id(15), b}, {"applied", "/changes/" + id(16), b}, {"unknown", "/changes/" + id(17), b}, {"own", "/changes/" + id(18), b},
		{"edit-form", "/changes/" + id(12) + "/edit", b}, {"grouped", "/changes?by=agent&state=open", b}, {"mine", "/changes", b},
		{"by-class", "/changes?by=class&state=open", b}, {"decided", "/changes/" + id(11) + "?did=approve&after=" + id(16), b}, {"ended", "/you?ended=yes", b}, {"removed", "/people?did=removed", b},
		{"versions", "/changes/" + id(19), b}, {"returned", "/changes?state=returned", b},
		{"batch", "/batch?id=" + id(11) + "&id=" + id(12) + "&id=" + id(14), b},
		{"audit", "/audit?days=30", b}, {"tokens", "/tokens?ended=yes", b}, {"revoke", "/tokens?revoke=" + agent, b}, {"access", "/access", b},
		{"view-as", "/access?as=" + agent + "&class=tracker.issues&tool=query_class&on=tracker.users&field=password_hash", b}, {"sources", "/sources", b},
		{"notifications", "/notifications", b}, {"notifications-none", "/notifications?state=sent&hook=slack", b},
		{"people", "/people", b}, {"rights", "/people?person=rosa&tenant=", b}, {"remove", "/people?person=rosa&tenant=&remove=yes", b}, {"you", "/you", b},
		{"again", "/sign-in?again=yes", b}, {"not-found", "/changes/none", b}, {"sign-in", "/sign-in?next=/console/changes", out}, {"link", link[len("/console"):], out},
	}
	for _, screen := range []struct {
		name          string
		width, height int64
		phone, dark   bool
	}{{"", 1280, 860, false, false}, {"-phone", 360, 740, true, false}, {"-dark", 1280, 860, false, true}, {"-phone-dark", 360, 740, true, true}} {
		for _, at := range []*tab{b, out} {
			at.size(screen.width, screen.height, screen.phone)
			at.dark(screen.dark)
		}
		for _, p := range pages {
			p.at.open("/console" + p.path)
			if p.name == "versions" || p.name == "bulk" { // one of their writes was made by an action
				p.at.waitFor(`document.querySelector("main").textContent.includes("by the action update_status")`)
			}
			if wrong := eval[string](p.at, look); wrong != "" {
				t.Errorf("%s%s:\n%s", p.name, screen.name, wrong)
			}
			if wrong := violations(p.at, axe); wrong != "" {
				t.Errorf("%s%s: axe-core:\n%s", p.name, screen.name, wrong)
			}
			p.at.shoot(p.name+screen.name, screen.phone)
		}
		for name, p := range map[string]struct {
			at                        *tab
			path, field, text, button string
			shown                     string
		}{
			"invited": {b, "/people", "#person", "max@example.com", "section.invite button.first", "#made"},
			"refused": {out, "/sign-in", "#credential", "bw_nothing", "main button.first", ".notice.bad"},
			"unnamed": {b, "/people", "#person", " ", "section.invite button.first", ".notice.bad"},
		} {
			p.at.open("/console" + p.path)
			p.at.waitFor(`document.readyState === "complete"`)
			if eval[bool](p.at, `document.querySelector("`+p.field+`").closest("details:not([open])") !== null`) {
				p.at.click("details:has(" + p.field + ") summary")
			}
			p.at.typed(p.field, p.text)
			p.at.click(p.button)
			p.at.visible(p.shown)
			if wrong := eval[string](p.at, look) + violations(p.at, axe); wrong != "" {
				t.Errorf("%s%s:\n%s", name, screen.name, wrong)
			}
			p.at.shoot(name+screen.name, screen.phone)
		}
	}
}

// violations returns what axe-core finds on a page, a line for each violation.
func violations(b *tab, axe string) string {
	if axe == "" {
		return ""
	}
	b.t.Helper()
	eval[bool](b, axe+"\n;true")
	return eval[string](b, `axe.run(document, {resultTypes: ["violations"]}).then((r) => r.violations.map((v) => v.id + ": " + v.help + "\n  " +
		v.nodes.slice(0, 3).map((n) => n.html.slice(0, 160) + " " + (n.any[0]?.message ?? "")).join("\n  ")).join("\n"))`)
}

// TestBrowserMany shows 10,000 pending changes: similar ones are grouped, and pages link to the next.
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
