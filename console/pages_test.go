package console_test

import (
	"encoding/json"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/bailiwick-dev/bailiwick/internal/review"
)

// TestPages checks the content of pages.
func TestPages(t *testing.T) {
	w := newWorld(t, newDrawers(samples()...), nil)
	b := w.signedIn(t, "rosa")
	for _, row := range []struct {
		path string
		want []string
	}{
		{"/console/changes", []string{"PAY-17 “Refund twice on retry”", "triage-bot → maria", "1 of 2", `<span class="reads">12 updated </span>`, ", 1 field", ">stale<", `class="soon">expires <time`}},
		{"/console/changes?state=applied", []string{"Add a comment to CHK-9"}},
		{"/console/changes?q=deposit&state=all", []string{"Charge the deposit", "outcome unknown"}},
		{"/console/changes?q=nothing+like+it&risk=low", []string{"Nothing found for “nothing like it”", "Searched under “Needs me”: names and ids of records", `href="/console/changes?risk=low">Clear the search`}},
		{"/console/changes?q=deposit", []string{"Nothing found for “deposit”", `q=deposit&amp;state=all">1 change in all states</a>`}},
		{"/console/changes/" + id(11), []string{"What the agent says", "ready for a second pair of eyes", "InProgress", "Review", "The rules of now allow it", "query_class",
			`<a class="elsewhere" href="https://tracker.example/issues/PAY-17" target="_blank" rel="noopener noreferrer">`}},
		{"/console/changes/" + id(12) + "/print", []string{"<h1>Reword PAY-204", "Printed ", " for rosa.", "<ins>large </ins>", "set by the source", "Fine: The rules of now allow it", strings.Repeat("000c", 16)}},
		{"/console/changes/" + id(12), []string{"<ins>large </ins>", `<span class="pill kind-null">null</span>`, `<span class="pill kind-empty">empty text</span>`, "set by the source", "by review[2]"}},
		{"/console/changes/" + id(14), []string{"hidden from you", "1 more field that you may not see is written too", "1\u202f284 records", "You don&#39;t see every field", "disabled"}},
		{"/console/changes/" + id(15), []string{"The record holds now", "Cancelled", "Preview again"}},
		{"/console/changes/" + id(16), []string{"Applied, once", "Audit record 48\u202f213", "Propose the revert"}},
		{"/console/changes/" + id(17), []string{"It was applied", "never asked again by itself"}},
		{"/console/changes/" + id(18), []string{"You own the agent", "disabled"}},
		{"/console/batch?id=" + id(11) + "&id=" + id(14), []string{"Decide about 1 change together", "Its risk is high"}},
	} {
		got := b.get(row.path)
		if got.status != 200 {
			t.Errorf("%s: %d\n%s", row.path, got.status, got.body)
		}
		for _, want := range row.want {
			if !strings.Contains(got.body, want) {
				t.Errorf("%s: no %q in\n%s", row.path, want, got.body)
			}
		}
	}
}

// TestFile saves a change as a file of JSON. The file has the change as its reader may see it.
func TestFile(t *testing.T) {
	w := newWorld(t, newDrawers(samples()...), nil)
	got := w.signedIn(t, "rosa").get("/console/changes/" + id(14) + "/file")
	var file struct {
		At     time.Time    `json:"exported_at"`
		For    string       `json:"exported_for"`
		Change review.Sheet `json:"change"`
	}
	if err := json.Unmarshal([]byte(got.body), &file); err != nil {
		t.Fatal(err)
	}
	if file.At.IsZero() || file.For != "rosa" || file.Change.ID != id(14) || file.Change.Items[0].Hidden == 0 {
		t.Errorf("got %+v", file)
	}
	if name := got.header.Get("Content-Disposition"); name != `attachment; filename="change-`+id(14)+`.json"` {
		t.Error(name)
	}
	if got := w.signedIn(t, "rosa").get("/console/changes/none/file"); got.status != 404 {
		t.Error(got.status)
	}
}

// TestDeeds runs each operation on a change.
func TestDeeds(t *testing.T) {
	w := newWorld(t, newDrawers(samples()...), nil)
	b := w.signedIn(t, "rosa")
	digest := func(n int) string {
		return strings.Repeat([]string{11: "000b", 12: "000c", 13: "000d", 14: "000e", 18: "0012"}[n], 16)
	}
	for _, row := range []struct {
		path   string
		form   url.Values
		status int
		says   string
	}{
		{"/edit", url.Values{"digest": {digest(11)}, "value.0.status": {"Done"}, "was.0.status": {"Review"}, "kind.0.status": {"text"}, "text": {"why"}}, 303, "?did=edit"},
		{"/edit", url.Values{"digest": {digest(11)}, "value.0.n": {"x"}, "kind.0.n": {"number"}, "text": {"why"}}, 400, "n needs a number, written as JSON."},
		{"/approve", url.Values{"digest": {"other"}}, 409, "not what it was when you saw it"},
		{"/approve", url.Values{"digest": {digest(11)}, "text": {"fine"}}, 303, "/console/changes/" + id(11) + "?did=approve"},
		{"/approve", url.Values{"digest": {digest(11)}}, 409, "applied"},
		{"/comment", url.Values{"text": {"thank you"}}, 303, "?did=comment"},
		{"/revert", url.Values{"text": {"wrong issue"}}, 303, "?did=revert"},
		{"/unheard-of", nil, 404, "No page has this address"},
	} {
		got := b.post("/console/changes/"+id(11)+row.path, row.form)
		if got.status != row.status || !strings.Contains(got.body+got.header.Get("Location"), row.says) {
			t.Errorf("%s: %d, want %d with %q\n%s", row.path, got.status, row.status, row.says, got.body)
		}
	}
	for _, row := range []struct {
		n      int
		path   string
		form   url.Values
		status int
		says   string
	}{
		{13, "/approve", url.Values{"digest": {digest(13)}}, 303, "?did=approve"},
		{14, "/approve", url.Values{"digest": {digest(14)}}, 403, "You don&#39;t see every field"},
		{18, "/approve", url.Values{"digest": {digest(18)}}, 403, "You own the agent"},
		{18, "/break-glass", url.Values{"digest": {digest(18)}, "text": {"the site is down"}}, 303, "?did=break-glass"},
		{12, "/reject", url.Values{"text": {"not now"}}, 303, "?did=reject"},
		{12, "/reject", url.Values{"text": {"again"}}, 409, "Somebody was faster"},
		{19, "/ask", url.Values{"text": {"less"}}, 303, "?did=ask"},
		{15, "/renew", nil, 303, "?did=renew"},
		{17, "/settle", url.Values{"applied": {"maybe"}}, 400, "Say whether"},
		{17, "/settle", url.Values{"applied": {"yes"}, "text": {"seen in the bank"}}, 303, "?did=settle"},
	} {
		got := b.post("/console/changes/"+id(row.n)+row.path, row.form)
		if got.status != row.status || !strings.Contains(got.body+got.header.Get("Location"), row.says) {
			t.Errorf("%d%s: %d, want %d with %q\n%s", row.n, row.path, got.status, row.status, row.says, got.body)
		}
	}
	want := `edit {"edits":[{"item":0,"field":"status","value":"Done"}]} 11,` + "approve 11,comment 11,revert 11,approve 13,break-glass 18,reject 12,ask 19,renew 15,settle 17"
	got := strings.NewReplacer(id(1)[:24], "").Replace(strings.Join(w.calls, ","))
	if got != want {
		t.Errorf("calls %s, want %s", got, want)
	}
}

// TestBatch approves the changes as they were shown. It leaves changes that are now stale, risky, decided or
// different.
func TestBatch(t *testing.T) {
	w := newWorld(t, newDrawers(samples()...), nil)
	b := w.signedIn(t, "rosa")
	d := func(s string) string { return strings.Repeat(s, 16) }
	got := b.post("/console/batch", url.Values{"change": {id(11) + ":" + d("000b"), id(12) + ":" + d("ffff"), id(13) + ":" + d("000d"),
		id(14) + ":" + d("000e"), id(15) + ":" + d("000f"), id(16) + ":x", id(18) + ":" + d("0012"), "nobody:x"}, "do": {"approve"}})
	for _, want := range []string{"2 changes approved", "not what it was when you saw it", "Its risk is high", "It is stale", "It is applied", "You own the agent", "There is no such change"} {
		if !strings.Contains(got.body, want) {
			t.Errorf("no %q in\n%s", want, got.body)
		}
	}
	if got := len(w.calls); got != 2 {
		t.Error(w.calls)
	}
	for _, row := range []struct{ do, text, says string }{
		{"ask", "", "Say what should be different: the agents read it."},
		{"reject", " ", "A rejection needs a reason: the agents read it."},
		{"delete", "why", "Choose what to do: approve, reject or ask for changes."},
		{"ask", "smaller, please", "1 change returned to their agents"},
	} {
		got := b.post("/console/batch", url.Values{"change": {id(12) + ":" + d("000c"), "nobody:x"}, "do": {row.do}, "text": {row.text}})
		if !strings.Contains(got.body, row.says) {
			t.Errorf("%s %q: no %q in\n%s", row.do, row.text, row.says, got.body)
		}
	}
	if last := w.calls[len(w.calls)-1]; len(w.calls) != 3 || last != "ask "+id(12) {
		t.Error(w.calls)
	}
	for path, status := range map[string]int{"/console/batch": 400, "/console/batch?" + strings.Repeat("id=x&", 201): 400} {
		if got := b.get(path); got.status != status {
			t.Errorf("%s: %d", path, got.status)
		}
	}
}

// TestFilters saves a filter under a name, finds it on the queue's page, and removes it. A name with markup is shown
// as text.
func TestFilters(t *testing.T) {
	w := newWorld(t, newDrawers(samples()...), nil)
	b := w.signedIn(t, "rosa")
	const in = "/console/changes?risk=high&state=all"
	kept := func() bool {
		t.Helper()
		got := b.get("/console/changes")
		if strings.Contains(got.body, "<b>mine") {
			t.Error("the name is markup")
		}
		return strings.Contains(got.body, `href="/console/changes?risk=high&amp;state=all"`) && strings.Contains(got.body, "&lt;b&gt;mine")
	}
	if got := b.post("/console/filters", url.Values{"in": {in}, "name": {"<b>mine"}}); got.status != 303 || !kept() {
		t.Error("a filter isn't kept:", got.status, got.body)
	}
	if got := b.post("/console/filters", url.Values{"in": {in}, "name": {"<b>mine"}, "remove": {"yes"}}); got.status != 303 || kept() {
		t.Error("a filter isn't forgotten:", got.status)
	}
}
