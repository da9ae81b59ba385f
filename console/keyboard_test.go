package console_test

import (
	"context"
	_ "embed"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/bailiwick-dev/bailiwick/console"
	"github.com/bailiwick-dev/bailiwick/identity"
	"github.com/bailiwick-dev/bailiwick/internal/review"
)

//go:embed testdata/focus.js
var focus string

// press presses a key without waiting for the page's script.
func (b *tab) press(key string) { b.t.Helper(); b.do(chromedp.KeyEvent(key)) }

// settled waits until a page has loaded and its script is ready.
func (b *tab) settled() {
	b.t.Helper()
	b.waitFor(`document.readyState === "complete" && ![...document.querySelectorAll("[data-keys]")].some((b) => b.hidden)`)
}

// walk visits the controls of a page with the Tab key. It finds three faults: controls in another order than on the
// page, controls that trap the focus, and a focus that is not visible.
func (b *tab) walk() {
	b.t.Helper()
	b.settled()
	type step struct {
		Left  int
		Wrong string
	}
	s := eval[step](b, focus+"(0)")
	for at := 1; s.Left > 0; at++ {
		b.press(kb.Tab)
		for begin := time.Now(); ; { // the page scrolls to the focused control a moment later
			if s = eval[step](b, fmt.Sprintf("%s(%d)", focus, at)); s.Wrong == "" || time.Since(begin) > 3*time.Second {
				break
			}
			time.Sleep(20 * time.Millisecond)
		}
		if s.Wrong != "" {
			b.t.Errorf("%s: %s", eval[string](b, "location.pathname + location.search + ' at ' + innerWidth"), s.Wrong)
		}
	}
}

// reach presses the Tab key until the element for selector has the focus.
func (b *tab) reach(selector string) {
	b.t.Helper()
	b.settled()
	for range 120 {
		if eval[bool](b, "document.activeElement.matches("+fmt.Sprintf("%q", selector)+")") {
			return
		}
		b.press(kb.Tab)
	}
	b.t.Fatalf("%s isn't reached by the Tab key on %s\n%s", selector, eval[string](b, "location.href"), eval[string](b, "document.body.innerText"))
}

// use moves the focus to the element for selector and presses keys there.
func (b *tab) use(selector, keys string) { b.t.Helper(); b.reach(selector); b.press(keys) }

// alike returns changes of one shape, which are decided in one table. It also returns a change of two records, which
// isn't in the table.
func alike() (out []*review.Sheet) {
	for n := 31; n < 37; n++ {
		s := sample(n, fmt.Sprintf("PAY-%d: InProgress → Review", n))
		s.Items[0].Key, s.Items[0].Label = fmt.Sprintf("PAY-%d", n), fmt.Sprintf("Refund %d is paid out twice", n)
		if n == 36 {
			s.Rows, s.Items = 2, append(s.Items, s.Items[0])
		}
		out = append(out, s)
	}
	return out
}

// TestBrowserWalk visits every page with the Tab key, on a desktop and on a screen of 360 pixels.
func TestBrowserWalk(t *testing.T) {
	w := newWorld(t, newDrawers(slices.Concat(samples(), alike())...), full(t))
	_, rosa := w.token(t, "rosa", identity.Human, identity.Review, identity.Audit, identity.Operator)
	w.signedIn(t, "ines", identity.Review)
	b := w.tab(t, chrome(t), rosa)
	together := "/batch?"
	for _, s := range alike()[:5] {
		together += "id=" + s.ID + "&"
	}
	both := []string{"/changes", "/changes/" + id(12), "/changes/" + id(19), "/changes/" + id(12) + "/edit", "/changes/" + id(12) + "/print", together, "/people?person=ines&tenant=", "/notifications"}
	wide := []string{"/changes?by=agent&state=open&q=PAY", "/changes/" + id(14), "/changes/" + id(17), "/batch?id=" + id(11) + "&id=" + id(12), "/people?person=ines&tenant=&remove=yes", "/you",
		"/audit?days=1", "/access"}
	for width, paths := range map[int64][]string{1280: slices.Concat(both, wide), 360: both} {
		b.size(width, 740, width == 360)
		for _, path := range paths {
			b.open("/console" + path)
			if wrong := eval[string](b, look); wrong != "" {
				t.Errorf("%s at %d:\n%s", path, width, wrong)
			}
			b.walk()
		}
	}
}

// TestBrowserKeyboard uses the main functions of each page without a mouse.
func TestBrowserKeyboard(t *testing.T) {
	d, s := newDrawers(slices.Concat(samples(), alike())...), outbox(t)
	var tested []string
	w := newWorld(t, d, func(o *console.Options) {
		withOutbox(s)(o)
		o.TestHook = func(_ context.Context, hook string) error { tested = append(tested, hook); return nil }
	})
	_, rosa := w.token(t, "rosa", identity.Human, identity.Review, identity.Audit, identity.Operator)
	_, ines := w.token(t, "ines", identity.Human, identity.Review)
	browser := chrome(t)
	other, b := w.tab(t, browser, ines), w.tab(t, browser, rosa)
	called := func(want string) {
		t.Helper()
		var calls []string
		for begin := time.Now(); time.Since(begin) < time.Minute; time.Sleep(20 * time.Millisecond) {
			d.mu.Lock()
			calls = slices.Clone(d.calls)
			d.mu.Unlock()
			if n := len(calls); n > 0 && strings.Contains(calls[n-1], want) {
				return
			}
		}
		t.Errorf("no %q at the end of %q", want, calls)
	}
	notice := func(want string) {
		t.Helper()
		b.waitFor(fmt.Sprintf(`document.readyState === "complete" && (document.querySelector(".notice.good")?.textContent ?? "").includes(%q)`, want))
	}

	// An operator ends another person's session, changes rights, removes a person, and invites one.
	other.open("/console/changes")
	other.waitFor(`document.getElementById("live")._htmx?.sse?.status === 200`)
	b.open("/console/people")
	b.use(`a[href*="person=ines"]:not([href*=remove])`, kb.Enter)
	b.visible("#ask")
	b.use(`form[action$="/people/end"] button`, kb.Enter)
	notice("The session has ended.")
	other.waitFor(`document.getElementById("gone")?.hidden === false`)
	other.open("/console/changes")
	other.visible("#credential")
	b.use(`a[href*="person=ines"][href*=remove]`, kb.Enter)
	b.visible("#ask")
	b.settled()
	if eval[bool](b, `!document.activeElement.matches(".ask button")`) {
		t.Error("what was asked for doesn't have the focus")
	}
	b.press(kb.Enter)
	notice("Removed.")
	b.use("#person", "max@example.com")
	b.use(`.invite [value=audit]`, " ")
	b.use(".invite button.first", kb.Enter)
	b.visible("#made")
	if got := eval[string](b, `[...document.querySelectorAll(".records tr")].map((r) => r.innerText).join("\n")`); !strings.Contains(got, "max@example.com") || !strings.Contains(got, "read, review, audit") || strings.Contains(got, "ines") {
		t.Error("the people:", got)
	}

	b.open("/console/notifications")
	b.use(`input[value=archive] + button`, kb.Enter)
	notice("A test has arrived at archive.")

	// This part uses versions, the thread, and another person's turn.
	b.open("/console/changes/" + id(19))
	b.use(`#since a[href*="`+id(10)+`"]`, "")
	b.use("#comment-text", "Four would do.")
	b.press(kb.Tab + kb.Enter)
	b.waitFor(`(document.querySelector(".talk")?.textContent ?? "").includes("Four would do.")`)
	called("comment " + id(19))
	b.use("#ask summary", kb.Enter)
	b.use("#ask-text", "Four, please.")
	b.press(kb.Tab + kb.Enter)
	called("ask " + id(19))
	b.waitFor(`(document.querySelector(".talk")?.textContent ?? "").includes("Four, please.")`)

	b.open("/console/changes/" + id(12))
	b.use(`a[href$="/edit"], a[href*="/edit?"]`, kb.Enter)
	b.use(`textarea[name="value.0.title"]`, "Slow exports")
	b.use(`input[name="null.0.estimate"]`, " ")
	b.use("#edit-text", "Shorter")
	b.press(kb.Tab + kb.Enter)
	b.waitFor(`!location.pathname.endsWith("/edit")`)
	called(`Slow exports`)
	called(`null`)

	// This part uses a table of records that are decided together.
	b.size(360, 740, true)
	b.open("/console/changes?state=open")
	b.use(".decide-all", kb.Enter)
	b.use("[name=change]", " ")
	b.use("#batch-text", "Not now.")
	b.use("#reject-all", kb.Enter)
	b.waitFor(`document.querySelector("h1")?.textContent === "5 changes rejected"`)
	b.size(1280, 860, false)

	b.menu()
}

// menu uses the menu and the list of keys, and turns the keys off.
func (b *tab) menu() {
	b.t.Helper()
	b.open("/console/changes")
	b.use(".me summary", kb.Enter)
	b.use(".me .keys", kb.Escape)
	if !eval[bool](b, `document.activeElement.matches(".me:not([open]) summary")`) {
		b.t.Error("Escape doesn't close the menu and go back to what opened it")
	}
	b.press(kb.Enter)
	b.use(`.me form[action$="/sign-out"] button`, kb.Tab)
	b.waitFor(`document.querySelector(".me[open]") === null`) // it doesn't cover the control that gets the focus next
	b.key("?")
	b.visible("#keys")
	b.use("[data-keys-off]", " ")
	b.press(kb.Escape)
	b.waitFor(`!document.getElementById("keys").open`)
	b.key("j")
	b.open("/console/changes")
	b.key("j?")
	b.waitFor(`document.querySelector(".row.at") === null && !document.getElementById("keys").open`)
	b.use(".me summary", kb.Enter)
	b.use(".me .keys", kb.Enter)
	b.visible("#keys")
	b.use("[data-keys-off]", " ")
	b.press(kb.Escape)
	b.waitFor(`!document.getElementById("keys").open`)
	if !eval[bool](b, `document.activeElement.matches(".me .keys")`) {
		b.t.Error("the focus isn't where the list of keys was opened:", eval[string](b, "document.activeElement.outerHTML"))
	}
	b.key("j")
	b.visible(".row.at")
}
