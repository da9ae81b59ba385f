package console_test

import (
	"strings"
	"testing"
)

// TestDeclaredShown checks that "Tools and views" shows the declared queries and metrics of a token, and no others.
func TestDeclaredShown(t *testing.T) {
	h := newHouseWith(t, func(string) string {
		return `
queries:
  open_issues: {sql: "SELECT number, title FROM tracker.issues WHERE type = :type", input: {required: [type], properties: {type: {type: string}}}}
  raw: {native: SELECT count(*) AS n FROM issues, source: tracker, returns: [{name: n, type: integer}]}
  operators: {sql: SELECT id FROM tracker.issues, when: '"operator" in principal.scopes'}
metrics:
  work: {on: tracker.issues, measure: sum(estimate), where: {status: {$ne: Cancelled}}, unit: hours}
`
	})
	rosa := h.signedIn(t, "rosa")
	page := rosa.get("/console/access?as=" + h.agent.TokenID).body
	for _, want := range []string{`<h2 id="queries">Declared queries <span class="quiet">2</span></h2>`, "<code>open_issues(type)</code>", `<code>raw()</code> <span class="chip risk-medium">reads the database directly</span>`,
		`<h2 id="metrics">Metrics <span class="quiet">1</span></h2>`, `<code>work</code> <span class="quiet">sum of estimate where status is not Cancelled, in hours</span>`} {
		if !strings.Contains(page, want) {
			t.Errorf("the page lacks %s", want)
		}
	}
	if strings.Contains(page, "operators(") {
		t.Error("the page shows a query that the token doesn't have")
	}
}
