package console_test

import (
	"net/url"
	"strconv"
	"strings"
	"testing"

	"github.com/bailiwick-dev/bailiwick/identity"
	"github.com/chromedp/chromedp/kb"
)

// TestViewed marks records of a change as viewed without scripts. The page goes on to the next record.
func TestViewed(t *testing.T) {
	w := newWorld(t, newDrawers(samples()...), nil)
	b := w.signedIn(t, "rosa")
	at := "/console/changes/" + id(13)
	for _, row := range []struct {
		item, digest string
		status       int
		says         string
	}{
		{"0", strings.Repeat("000d", 16), 303, at + "#item-7"}, // the one that differs from the others is the first
		{"7", strings.Repeat("000d", 16), 303, at + "#item-1"},
		{"1", strings.Repeat("ffff", 16), 409, "not what it was when you saw it"},
		{"99", strings.Repeat("000d", 16), 409, "not what it was when you saw it"},
		{"x", strings.Repeat("000d", 16), 400, "The form names no record."},
	} {
		got := b.post(at+"/view", url.Values{"item": {row.item}, "digest": {row.digest}})
		if got.status != row.status || !strings.Contains(got.body+got.header.Get("Location"), row.says) {
			t.Errorf("%s: %d, want %d with %q\n%s", row.item, got.status, row.status, row.says, got.body)
		}
	}
	if got := b.get(at).body; !strings.Contains(got, "2 of 12 records viewed.") || strings.Count(got, `class="view-form"`) != 10 {
		t.Error(got)
	}
	if got := b.get("/console/changes/" + id(11)).body; strings.Contains(got, "Mark as viewed") {
		t.Error("a change of one record asks to mark it")
	}
}

// TestBrowserViewed marks all records of a change by keyboard. The focus goes from record to record, and then to the
// button that approves.
func TestBrowserViewed(t *testing.T) {
	w := newWorld(t, newDrawers(samples()...), nil)
	_, rosa := w.token(t, "rosa", identity.Human, identity.Review)
	b := w.tab(t, chrome(t), rosa)
	b.size(1366, 768, false)
	b.open("/console/changes/" + id(13))
	b.visible("#viewed-of")
	b.press("v")
	b.waitFor(`document.getElementById("viewed-of").textContent.includes("1 of 12 records viewed.")`)
	b.waitFor(`document.activeElement.closest("[id^=item-]")?.id === "item-0"`)
	b.use("[data-next-view]", kb.Enter)
	b.waitFor(`document.activeElement.closest("[id^=item-]")?.id === "item-0"`)
	for range 11 {
		left := eval[int](b, `document.querySelectorAll(".view-form").length`)
		b.press("v")
		b.waitFor(`document.querySelectorAll(".view-form").length < ` + strconv.Itoa(left))
	}
	b.waitFor(`document.activeElement.id === "approve"`)
	b.waitFor(`document.activeElement.textContent.startsWith("Approve")`)
	b.open("/console/changes/" + id(13))
	b.waitFor(`document.getElementById("viewed-of").textContent.includes("12 of 12 records viewed.")`)
}
