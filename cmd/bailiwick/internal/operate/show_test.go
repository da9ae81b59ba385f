package operate

import (
	"bytes"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/bailiwick-dev/bailiwick/change"
	"github.com/bailiwick-dev/bailiwick/cmd/bailiwick/internal/terminal"
	"github.com/bailiwick-dev/bailiwick/internal/review"
)

var noon = time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)

func sheet() *review.Sheet {
	return &review.Sheet{
		Row: review.Row{ID: "01JDC0000000000000000000AA", State: change.Pending, Title: "update issue 42", Op: "update", Risk: change.High, Approvals: 1, Need: 2,
			Agent: "triage bot", Owner: "olga", Reason: "they \"said\" so", Created: noon.Add(-90 * time.Minute), Expires: noon.Add(23 * time.Hour), Digest: "d1"},
		Tool: "update_object", Preview: change.Executed, Rule: "review[0]",
		Items: []review.Item{{Op: "update", Class: "issues", Key: "42", Hidden: 1, Fields: []review.Field{
			{Path: "status", Before: review.Shown{Kind: "text", Text: "Todo"}, After: review.Shown{Kind: "null"}, Now: &review.Shown{Kind: "empty"}},
			{Path: "hours", Before: review.Shown{Kind: "absent"}, After: review.Shown{Kind: "number", Text: "3"}, Source: true},
			{Path: "email", Before: review.Shown{Kind: "masked", Text: "a•••"}, After: review.Shown{Kind: "masked"}},
			{Path: "body", Before: review.Shown{Kind: "text", Text: "one\ntwo"}, After: review.Shown{Kind: "text", Text: "null"}},
			{Path: "title", Before: review.Shown{Kind: "text", Text: "a b"}, After: review.Shown{Kind: "text", Text: "a c"},
				Words: []review.Word{{Text: "a ", Kind: "same"}, {Text: "b", Kind: "removed"}, {Text: "c", Kind: "added"}, {Text: "900", Kind: "cut"}}},
			{Path: "evil\x1b[2J", Before: review.Shown{Kind: "text", Text: "x\x1b[31m\u202e"}, After: review.Shown{Kind: "text", Text: "x", Length: 900, Digest: "ab"}},
		}}},
		Cascades: []change.Cascade{{Class: "comments", Effect: "delete", Records: 3}},
		Checks:   []review.Check{{Name: "policy", OK: true, Detail: "the rules allow it"}, {Name: "target", Detail: "the record has moved"}},
		Thread:   []review.Said{{By: "rita", Event: change.EventDecided, Text: "ok", Loud: "single operator", At: noon}, {By: "tom", Event: change.EventCommented, Text: "why?", At: noon}},
	}
}

func TestPrintSheet(t *testing.T) {
	var out bytes.Buffer
	printSheet(terminal.New(strings.NewReader(""), &out, &out), sheet(), noon)
	want := `01JDC0000000000000000000AA  pending  high risk  1 of 2 approvals
update issue 42

  agent     triage bot for olga
  reason    "they \"said\" so" (the agent's words)
  proposed  2026-11-21 10:30 UTC (1h ago) by update_object
  expires   2026-11-22 11:00 UTC (in 23h)
  rule      review[0]
  preview   executed and rolled back
  digest    d1

update issues 42
  status
    - "Todo"
    + null
    now "" (empty)
  hours  (by the source: it may come out otherwise)
    + 3
  email
    - (masked) a•••
    + (masked)
  body
    - │ one
      │ two
    + "null"
  title
    - │ a b…(900 characters)…
    + │ a c…(900 characters)…
  evil�[2J
    - "x�[31m�"
    + "x"… (900 characters, sha256 ab)
  ! 1 more that you may not see: somebody who sees them must approve this
also 3 records of comments: delete

  ok  policy       the rules allow it
  no  target       the record has moved

rita approved (SINGLE OPERATOR) 2026-11-21 12:00 UTC: "ok"

tom commented 2026-11-21 12:00 UTC: "why?"
`
	if diff := cmp.Diff(want, out.String()); diff != "" {
		t.Error(diff)
	}
}

func TestPrintRows(t *testing.T) {
	var out bytes.Buffer
	row := sheet().Row
	row.Title = "update\tissue\n42"
	broken := row
	broken.Broken = true
	row.Creates, row.Updates, row.Deletes = 2, 3, 1
	if err := printRows(terminal.New(strings.NewReader(""), &out, &out), []review.Row{row, broken}, noon); err != nil {
		t.Fatal(err)
	}
	want := `ID                          STATE    RISK  APPROVALS  RECORDS   AGENT       AGE  CHANGE
01JDC0000000000000000000AA  pending  high  1/2        +2 ~3 -1  triage bot  1h   update issue 42
01JDC0000000000000000000AA  pending  high  1/2                  triage bot  1h   BREAK GLASS: update issue 42
`
	if diff := cmp.Diff(want, out.String()); diff != "" {
		t.Error(diff)
	}
}

// TestRedirectsKeepTheToken checks that redirects are not followed, because the new address would receive the token.
func TestRedirectsKeepTheToken(t *testing.T) {
	other := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { t.Error("went there with", r.Header) }))
	defer other.Close()
	s := httptest.NewServer(http.RedirectHandler(other.URL, http.StatusTemporaryRedirect))
	defer s.Close()
	g := gateway{url: s.URL + "/mcp", token: "secret"}
	if _, _, err := g.sheet(t.Context(), http.MethodGet, "01", "", nil); err == nil || !strings.Contains(err.Error(), "307") {
		t.Error(err)
	}
}

func TestAddress(t *testing.T) {
	for _, c := range []struct{ url, want string }{
		{"http://127.0.0.1:8420/mcp", "http://127.0.0.1:8420/api/changes"},
		{"http://127.0.0.1:8420", "http://127.0.0.1:8420/api/changes"},
		{"https://gate.example/app/mcp/", "https://gate.example/app/api/changes"},
		{"https://gate.example/app/", "https://gate.example/app/api/changes"},
		{"gate.example", "the gateway's URL must be like http://127.0.0.1:8420"},
		{"file:///etc", "the gateway's URL must be like http://127.0.0.1:8420"},
	} {
		g := gateway{url: c.url}
		got, err := g.address("/api/changes")
		if err != nil {
			got = err.Error()
		}
		if got != c.want {
			t.Errorf("%s: got %s want %s", c.url, got, c.want)
		}
	}
}
