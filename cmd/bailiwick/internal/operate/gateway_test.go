package operate

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/bailiwick-dev/bailiwick/change"
	"github.com/bailiwick-dev/bailiwick/cmd/bailiwick/internal/terminal"
	"github.com/bailiwick-dev/bailiwick/internal/review"
	"github.com/bailiwick-dev/bailiwick/reviewapi"
)

// TestShortened checks shortened ids, which are the beginning or the end of an id. An ambiguous part is refused with
// a list of the matches. A part that is unknown or too short is sent unchanged.
func TestShortened(t *testing.T) {
	ids := []string{"01m82xa909vwhdgwddwegxnzdylw3iwwuq", "01m82xa909aaaaaaaaaaaaaaaaaaaaaaww", "01m82yb909aaaaaaaaaaaaaaaaaaaaaauq"}
	asked := ""
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if id, ok := strings.CutPrefix(r.URL.Path, "/api/changes/"); ok {
			asked = id
			_ = json.NewEncoder(w).Encode(review.Sheet{})
			return
		}
		var page reviewapi.Page
		for _, id := range ids { // like the API: any part of an id, in any state
			if q := r.URL.Query(); q.Get("state") == "all" && strings.Contains(id, q.Get("text")) {
				page.Changes = append(page.Changes, review.Row{ID: id})
			}
		}
		_ = json.NewEncoder(w).Encode(page)
	}))
	defer s.Close()
	g := gateway{url: s.URL, token: "secret"}
	for short, want := range map[string]string{ids[0]: ids[0], "wwuq": ids[0], "01m82xa909vw": ids[0], "01m82y": ids[2], "aauq": ids[2], "zzzz": "zzzz", "uq": "uq", "9aaa": "9aaa",
		"01m8": `"01m8" begins or ends the ids of 3 changes: ` + strings.Join(ids, ", "), "a/bcd": `"a/bcd" is not the id of a change`} {
		asked = ""
		if _, _, err := g.sheet(t.Context(), http.MethodGet, short, "", nil); err != nil {
			asked = err.Error()
		}
		if asked != want {
			t.Errorf("%s: %s, want %s", short, asked, want)
		}
	}
}

// TestWatchWords prints the events of a stream in words. Each kind of event must have its own words, and text by
// others must be sanitized.
func TestWatchWords(t *testing.T) {
	events := []change.Event{{Seq: 1, Change: "c1", Kind: change.EventCreated, By: "bot\x1b[2J", At: noon}, {Seq: 2, Change: "c1", Kind: change.EventAsked, By: "rosa", At: noon},
		{Seq: 3, Change: "c1", Kind: change.EventReplaced, At: noon}, {Seq: 4, Change: "c2", Kind: change.EventApproved, By: "rosa", Broken: true, At: noon}, {Seq: 5, Change: "c2", Kind: change.EventUnknown, At: noon}}
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		for _, e := range events {
			b, _ := json.Marshal(e)
			fmt.Fprintf(w, "id: %d\ndata: %s\n\n", e.Seq, b)
		}
	}))
	defer s.Close()
	var out bytes.Buffer
	d := commands{&gateway{url: s.URL, token: "secret"}, &terminal.Terminal{Out: &out}}
	cmd := d.watch()
	cmd.SetArgs(nil)
	if err := cmd.ExecuteContext(t.Context()); err == nil {
		t.Error("the end of the stream is no error")
	}
	want := "c1  proposed by bot\ufffd[2J|c1  changes asked for by rosa|c1  replaced by another version|c2  approved, past the rules of review (break glass) by rosa|c2  outcome unknown|"
	got := ""
	for _, line := range strings.Split(strings.TrimSpace(out.String()), "\n") {
		_, text, _ := strings.Cut(line, "  ")
		got += text + "|"
	}
	if got != want {
		t.Errorf("%q\nwant %q", got, want)
	}
}
