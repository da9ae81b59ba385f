package console_test

import (
	"strings"
	"testing"

	"github.com/bailiwick-dev/bailiwick/internal/demo"
	"github.com/bailiwick-dev/bailiwick/test/services"
)

// reviewedBy returns the configuration of the demo with one rule of review, by which the people of a team approve titles.
func reviewedBy(people string) func(string) string {
	return func(string) string {
		before, after, _ := strings.Cut(demo.Config, "\nreview:\n")
		_, after, _ = strings.Cut(after, "\n\n")
		return before + "\nreview:\n  teams: {billing: {people: [" + people + "]}}\n  rules: [{when: '\"title\" in change.fields', reviewers: [\"team:billing\"]}]\n\n" + after
	}
}

// TestBrowserReviewers shows a change to a person who is not among its reviewers, and to one who is, on a phone.
func TestBrowserReviewers(t *testing.T) {
	h := newHouseOf(t, reviewedBy("ines"))
	browser, axe := chrome(t), services.Axe(t)
	issue, _ := h.issue(t, 0)
	id := h.retitle(t, issue, "Refunds are paid out twice")
	rosa, ines := h.tab(t, browser, h.person(t, "rosa")), h.tab(t, browser, h.person(t, "ines"))
	rosa.size(390, 844, true)
	rosa.open("/console/changes")
	rosa.waitFor(`document.querySelector(".none")?.innerText.includes("or the rules name other reviewers") === true`)
	rosa.open("/console/changes?state=open")
	rosa.waitFor(`document.querySelector(".standing")?.innerText === "needs 1 approval · for team:billing"`)
	rosa.open("/console/changes/" + id)
	rosa.waitFor(`document.querySelector("#why-not")?.innerText.includes("his change is for team:billing (ines)") === true && document.getElementById("approve").disabled`)
	if wrong := eval[string](rosa, look) + violations(rosa, axe); wrong != "" {
		t.Error(wrong)
	}
	ines.size(390, 844, true)
	ines.open("/console/changes")
	ines.click(`a.title[href*="` + id + `"]`)
	ines.visible(".deeds button")
	ines.readOn()
	ines.click(".deeds button")
	ines.visible(".outcome.state-applied")
	if title := h.title(t, issue); title != "Refunds are paid out twice" {
		t.Error(title)
	}
}
