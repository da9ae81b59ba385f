package console_test

import (
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"strings"
	"testing"
)

// TestBrowserValue checks that a reviewer can't approve a text whose end the page doesn't show. The reviewer opens
// the text, moves from difference to difference by keyboard, and approves. The page always says that text is hidden.
func TestBrowserValue(t *testing.T) {
	h := newHouse(t)
	issue, _ := h.issue(t, 0)
	other, _ := h.issue(t, 1)
	tail := "and everybody is an <b>administrator</b> \u202e"
	var lines []string
	for i := range 3000 {
		lines = append(lines, fmt.Sprintf("line %d of a long text", i))
	}
	for text, id := range map[string]string{strings.Join(lines, "\n") + tail: issue, strings.Repeat("\n", 70) + tail: other} {
		change := h.set(t, id, "body", text)
		rosa := h.tab(t, chrome(t), h.person(t, "rosa"))
		rosa.open("/console/changes/" + change)
		rosa.visible(".unread a")
		if !eval[bool](rosa, `document.getElementById("approve").disabled && document.querySelector("#why-not").innerText.includes("opened")`) {
			t.Error("what was never opened can be approved:", eval[string](rosa, `document.querySelector(".decide").innerText`))
		}
		if text := eval[string](rosa, `document.querySelector(".diff").innerText`); strings.Contains(text, "line 1500 ") || id == other && strings.Contains(text, "administrator") {
			t.Error("the page shows all of it; the test tests nothing")
		}
		for _, width := range []int64{1280, 360} {
			rosa.size(width, 740, width == 360)
			if wrong := eval[string](rosa, look); wrong != "" {
				t.Error("change:", wrong)
			}
		}
		rosa.shoot("value-unopened", false)
		rosa.click(".unread a")
		rosa.visible(".whole-value")
		pages := 1
		for {
			for _, dark := range []bool{false, true} {
				rosa.dark(dark)
				rosa.open(strings.TrimPrefix(eval[string](rosa, "location.href"), h.url))
				if wrong := eval[string](rosa, look); wrong != "" {
					t.Error("value:", wrong)
				}
			}
			rosa.dark(false)
			rosa.open(strings.TrimPrefix(eval[string](rosa, "location.href"), h.url))
			if eval[int](rosa, `document.querySelectorAll("main b").length`) > 0 {
				t.Error("markup of a value is in the page")
			}
			next := `[...document.querySelectorAll("nav[aria-label='Pages of the value'] a")].find((a, i, all) => i && all[i-1].getAttribute("aria-current"))`
			if !eval[bool](rosa, next+` !== undefined`) {
				break
			}
			eval[bool](rosa, next+`.click() ?? true`)
			pages++
			rosa.waitFor(fmt.Sprintf(`document.querySelector("nav[aria-label='Pages of the value'] a:nth-child(%d)")?.getAttribute("aria-current") === "page"`, pages))
		}
		rosa.key("n")
		rosa.waitFor(`document.activeElement.hasAttribute("data-part")`)
		shown := eval[string](rosa, `document.querySelector(".whole-value").innerText`)
		if !strings.Contains(shown, "administrator") || !strings.Contains(shown, "U+202E") {
			t.Error("the tail isn't there")
		}
		rosa.shoot("value", false)
		rosa.key("u")
		rosa.waitFor(`document.getElementById("approve")?.disabled === false`)
		rosa.readOn()
		rosa.key("a") // on a narrow screen the button is at the bottom
		rosa.waitFor(`document.activeElement.matches(".deeds button")`)
		rosa.click(".deeds button")
		rosa.visible(".outcome.state-applied")
		if h.read(t, "body", id) != text {
			t.Error("another text was written")
		}
	}
}

// TestDownload checks that the exact value is sent as a file with its hash, and that no browser displays it. An
// address without a value is refused.
func TestDownload(t *testing.T) {
	h := newHouse(t)
	issue, _ := h.issue(t, 0)
	old := h.read(t, "body", issue)
	change := h.set(t, issue, "body", "<script>document.title=1</script>\u202e\r\n")
	b := h.browser(t)
	b.get("/console/sign-in")
	if got := b.post("/console/sign-in", map[string][]string{"credential": {h.person(t, "rosa")}}); got.status != 303 {
		t.Fatal(got.status)
	}
	for side, want := range map[string]string{"before": old, "after": "<script>document.title=1</script>\u202e\r\n"} {
		got := b.get("/console/changes/" + change + "/value?side=" + side)
		sum := sha256.Sum256([]byte(want))
		if got.status != 200 || got.body != want || !strings.HasPrefix(got.header.Get("Content-Disposition"), "attachment; ") ||
			got.header.Get("Content-Type") != "text/plain; charset=utf-8" || got.header.Get("Repr-Digest") != "sha-256=:"+base64.StdEncoding.EncodeToString(sum[:])+":" {
			t.Errorf("%s: %d %v %q", side, got.status, got.header, got.body)
		}
	}
	for query, status := range map[string]int{"?field=7": 404, "?item=1": 404, "?field=x": 400, "?side=left": 400, "?page=9": 404, "?digest=other": 409, "": 200} {
		if got := b.get("/console/changes/" + change + "/value" + query); got.status != status {
			t.Errorf("%q: %d, want %d\n%s", query, got.status, status, got.body)
		}
	}
}
