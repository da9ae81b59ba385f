package console_test

import (
	"testing"

	"github.com/bailiwick-dev/bailiwick/identity"
)

// TestBrowserReview is a review from the sign-in to the end, in a real browser, and seen in another one.
func TestBrowserReview(t *testing.T) {
	w := newWorld(t, newDrawers(samples()...), nil)
	browser := chrome(t)
	_, rosa := w.token(t, "rosa", identity.Human, identity.Review)
	_, ines := w.token(t, "ines", identity.Human, identity.Review)
	other := w.tab(t, browser, ines)
	b := w.tab(t, browser, rosa)
	b.shoot("queue", false)
	b.click(`a.title[href$="` + id(11) + `"]`)
	b.visible("#approve")
	b.shoot("change", false)
	b.typed("#approve-text", "Thank you.")
	b.click("#approve")
	b.visible(".outcome.state-applied")
	b.shoot("applied", false)
	other.waitFor(`document.getElementById("state-` + id(11) + `").textContent.includes("applied · rosa")`)
	other.shoot("resolved", false)
}
