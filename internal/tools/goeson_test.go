package tools_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/bailiwick-dev/bailiwick/problem"
)

// TestGoesOn checks that an agent reads how to continue in every state of its change, and that the named step works.
func TestGoesOn(t *testing.T) {
	approve := func(d *desk, id, digest string) error {
		_, err := d.rita.Approve(d.Context(), id, digest, "")
		return err
	}
	for _, tt := range []struct {
		name    string
		happens func(d *desk, id, digest string) error
		last    string // the end of the text
		next    string
		again   string // the error of reply_to_change with another version, or "" if the version is filed
	}{
		{"it waits", func(*desk, string, string) error { return nil }, "To wait for the decision: get_change {\"change_id\": \"ID\", \"wait\": 50}\nReview: https://b.example/console/changes/ID", "get_change", ""},
		{"sent back", func(d *desk, id, _ string) error {
			_, err := d.rita.Ask(d.Context(), id, "Only this week's")
			return err
		}, "A person asked for changes. Its agent answers, or proposes another version.\nAnswer, or propose another version: reply_to_change", "reply_to_change", ""},
		{"the record has moved", func(d *desk, id, digest string) error {
			d.alter(`UPDATE issues SET priority = 'Low' WHERE id = ?`, d.b)
			return approve(d, id, digest)
		}, "The records have changed since the review. Nothing was written.\nRead what it would change again. If it is still wanted, propose another version: reply_to_change", "reply_to_change", ""},
		{"the database refuses it", func(d *desk, id, digest string) error {
			d.alter(`CREATE TRIGGER closed BEFORE UPDATE ON issues WHEN NEW.priority = 'Critical' BEGIN SELECT RAISE(ABORT, 'hidden words'); END`)
			return approve(d, id, digest)
		}, "The source refused it. Nothing was written. People see why: ask one of them, or propose something else.", "", "the change is failed: there is no other version of it any more; propose a new change"},
		{"rejected", func(d *desk, id, _ string) error {
			_, err := d.rita.Reject(d.Context(), id, "We are closed")
			return err
		}, "rita rejected: \"We are closed\"\n\nA person rejected it.", "", "the change is rejected: there is no other version of it any more; propose a new change"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			d := newDesk(t, nil)
			sheet := d.must(urgent)
			if err := tt.happens(d, sheet.ID, sheet.Digest); err != nil {
				t.Fatal(err)
			}
			res, err := d.call(d.bot, "get_change", `{"change_id":"`+sheet.ID+`"}`)
			if err != nil {
				t.Fatal(err)
			}
			var answer struct{ Next string }
			if err := json.Unmarshal(res.Structured, &answer); err != nil || answer.Next != tt.next {
				t.Errorf("next is %q, want %q (%v)", answer.Next, tt.next, err)
			}
			text := strings.TrimSpace(strings.ReplaceAll(res.Text, sheet.ID, "ID"))
			if !strings.HasSuffix(text, "\n"+tt.last) || strings.Contains(text, "hidden words") {
				t.Errorf("%s\n\nwant at its end:\n%s", text, tt.last)
			}
			_, err = d.filed("reply_to_change", `{"change_id":"`+sheet.ID+`","text":"As it is now","writes":[`+strings.ReplaceAll(urgent, "Critical", "High")+`]}`)
			said := ""
			if err != nil {
				said = problem.Of(err).Detail + "; " + problem.Of(err).Suggestion
			}
			if said != tt.again {
				t.Errorf("another version: %q, want %q", said, tt.again)
			}
		})
	}
}
