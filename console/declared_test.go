package console_test

import (
	"strings"
	"testing"

	"github.com/bailiwick-dev/bailiwick/internal/demo"
)

// TestDeclaredShown checks that "Tools and views" of the demo shows the declared queries and metrics of a token, and no
// others. To the queries of the demo it adds one that reads the database directly and one that the token doesn't have.
func TestDeclaredShown(t *testing.T) {
	h := newHouseOf(t, func(string) string {
		return strings.Replace(demo.Config, "\n  issue_by_key:", `
  raw: {native: SELECT count(*) AS n FROM issues, source: tracker, returns: [{name: n, type: integer}]}
  operators: {sql: SELECT id FROM tracker.issues, when: '"operator" in principal.scopes'}
  issue_by_key:`, 1)
	})
	rosa := h.signedIn(t, "rosa")
	page := rosa.get("/console/access?as=" + h.agent.TokenID).body
	for _, want := range []string{`<h2 id="queries">Declared queries <span class="quiet">4</span></h2>`, "<code>issue_by_key(key)</code>", "<code>overdue_issues(day, project?)</code>", "<code>issue_comments(issue)</code>",
		`<code>raw()</code> <span class="chip risk-medium">reads the database directly</span>`, `<h2 id="metrics">Metrics <span class="quiet">5</span></h2>`,
		`<code>open_work</code> <span class="quiet">sum of estimate where status is none of Done, Cancelled, in hours</span>`, `<code>bug_share</code> <span class="quiet">reported_bugs / reported_issues</span>`} {
		if !strings.Contains(page, want) {
			t.Errorf("the page lacks %s", want)
		}
	}
	if strings.Contains(page, "operators(") {
		t.Error("the page shows a query that the token doesn't have")
	}
}
