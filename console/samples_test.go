package console_test

import (
	"fmt"
	"strings"
	"time"

	"github.com/bailiwick-dev/bailiwick/change"
	"github.com/bailiwick-dev/bailiwick/internal/review"
)

// id returns the ID of the nth change.
func id(n int) string { return fmt.Sprintf("01KAJ4Q8ZV%016d", n) }

func text(s string) review.Shown { return review.Shown{Kind: "text", Text: s} }
func kind(k, s string) review.Shown {
	return review.Shown{Kind: k, Text: s}
}

// sample returns a plain pending change, from which other samples are made.
func sample(n int, title string) *review.Sheet {
	now := time.Now().UTC()
	return &review.Sheet{
		Row: review.Row{ID: id(n), State: change.Pending, Title: title, Op: "update", Source: "tracker", Classes: []string{"tracker.issues"}, Rows: 1,
			Fields: []string{"status"}, Risk: change.Low, Need: 1, Agent: "triage-bot", Owner: "maria", Created: now.Add(-4 * time.Minute),
			Updated: now.Add(-4 * time.Minute), Expires: now.Add(23 * time.Hour), Digest: strings.Repeat(fmt.Sprintf("%04x", n), 16)},
		Tool: "update_status", Action: "update_status", Preview: change.Executed, Policy: "sha256:4c1f0b77", Correlation: "9f4e2b7c11d84f0e",
		Items: []review.Item{{Op: "update", Class: "tracker.issues", Key: "0b9c6c1e-5d0e-4b57-8a60-6a8e8b7f1f42", Fields: []review.Field{
			{Path: "status", Type: "text", Before: text("InProgress"), After: text("Review")}}}},
		Checks: []review.Check{{Name: "policy", OK: true, Detail: "The rules of now allow it."}, {Name: "target", OK: true, Detail: "The record is as it was previewed."},
			{Name: "constraints", OK: true, Detail: "The write runs through."}},
		Trail: []review.Read{{Tool: "query_class", Class: "tracker.issues", Outcome: "ok", Rows: 14, At: now.Add(-6 * time.Minute)},
			{Tool: "get_object", Class: "tracker.issues", Outcome: "ok", Rows: 1, At: now.Add(-5 * time.Minute)}},
		History: nil,
	}
}

// samples returns one change of each kind.
func samples() []*review.Sheet {
	now := time.Now().UTC()
	status := sample(11, "PAY-17 “Refund twice on retry”: InProgress → Review")
	status.Reason = "The pull request is merged and its checks are green, so the issue is ready for a second pair of eyes."

	status.Items[0].Link = "https://tracker.example/issues/PAY-17"

	edit := sample(12, "Reword PAY-204 and hand it to Jonas")
	edit.Fields, edit.Risk, edit.Agent = []string{"title", "body", "assignee_id", "estimate", "due_at"}, change.Medium, "planning-assistant"
	edit.Rule, edit.Tool, edit.Action = "review[2]", "update_object", ""
	edit.Reason = "Maria asked me in the planning chat to split the work and to put Jonas on the export."
	edit.Items[0].Fields = []review.Field{
		{Path: "title", Type: "text", Before: text("Export of invoices is slow"), After: text("Export of large invoices is slow"),
			Words: []review.Word{{Text: "Export of ", Kind: "same"}, {Text: "large ", Kind: "added"}, {Text: "invoices is slow", Kind: "same"}}},
		{Path: "body", Type: "text", Before: text("a"), After: text("b"), Words: []review.Word{{Text: "Customers with more than ", Kind: "same"}, {Text: "1,000", Kind: "removed"},
			{Text: "25,000", Kind: "added"}, {Text: " lines wait for a minute.\nWe ", Kind: "same"}, {Text: "should look into", Kind: "removed"}, {Text: "will move", Kind: "added"},
			{Text: " the query to the replica.", Kind: "same"}}},
		{Path: "assignee_id", Type: "uuid", Before: kind("null", ""), After: text("7d1f2c44-9a3b-4f0e-8c1d-0a6be1f35a90")},
		{Path: "estimate", Type: "number", Before: kind("number", "8"), After: kind("number", "5")},
		{Path: "due_at", Type: "date", Before: kind("empty", ""), After: kind("date", "2026-12-04T00:00:00Z")},
		{Path: "updated_at", Type: "date", Before: kind("date", "2026-11-02T08:14:09Z"), After: kind("date", "2026-11-21T17:31:40Z"), Source: true},
	}

	bulk := sample(13, "Move 12 stale bugs of Checkout to the backlog")
	bulk.Rows, bulk.Updates, bulk.Risk, bulk.Rule, bulk.Need, bulk.Approvals = 12, 12, change.Medium, "review[1]", 2, 1
	bulk.Thread = []review.Said{{By: "ines", Event: change.EventDecided, Text: "Looks right, they are all from last year.", At: now.Add(-time.Minute)}}
	bulk.Reason = "Nobody has touched these bugs for 90 days."
	bulk.Items = nil
	for i := range 12 {
		bulk.Items = append(bulk.Items, review.Item{Op: "update", Class: "tracker.issues", Key: fmt.Sprintf("CHK-%d", 40+i*3), Fields: []review.Field{
			{Path: "status", Type: "text", Before: text("Todo"), After: text("Backlog")}}})
	}
	bulk.Items[7].Action, bulk.Items[7].Says = "update_status", "Send CHK-61 to the backlog"

	gone := sample(14, "Delete the project “Old website” with all that hangs on it")
	gone.Op, gone.Classes, gone.Fields, gone.Risk, gone.Rule, gone.Need = "delete", []string{"tracker.projects"}, nil, change.High, "review[0]", 2
	gone.Tool, gone.Action, gone.Expires = "delete_object", "", now.Add(40*time.Minute)
	gone.Reason = "The website was replaced in spring and nobody has opened the project since."
	gone.Items = []review.Item{{Op: "delete", Class: "tracker.projects", Key: "WEB", Hidden: 1, Fields: []review.Field{
		{Path: "name", Type: "text", Before: text("Old website"), After: kind("absent", "")},
		{Path: "key", Type: "text", Before: text("WEB"), After: kind("absent", "")},
		{Path: "budget", Type: "number", Before: kind("hidden", ""), After: kind("hidden", "")},
		{Path: "archived", Type: "boolean", Before: kind("boolean", "true"), After: kind("absent", "")}}}}
	gone.Cascades = []change.Cascade{{Class: "tracker.issues", Effect: "delete", Records: 1284}, {Class: "tracker.comments", Effect: "delete", Records: 6127}}
	gone.Checks = append(gone.Checks, review.Check{Name: "sight", OK: false, Detail: "You don't see every field that goes; somebody who does has to decide."})

	stale := sample(15, "PAY-88 “Currency rounding”: Todo → InProgress")
	stale.State = change.Stale
	now3 := text("Cancelled")
	stale.Items[0].Fields = []review.Field{{Path: "status", Type: "text", Before: text("Todo"), After: text("InProgress"), Now: &now3}}

	applied := sample(16, "Add a comment to CHK-9")
	applied.Op, applied.State, applied.Classes, applied.Outcome, applied.Record, applied.RecordHash = "create", change.Applied, []string{"tracker.comments"},
		"One row written in one transaction.", 48213, strings.Repeat("a37f", 16)
	applied.Items = []review.Item{{Op: "create", Class: "tracker.comments", Fields: []review.Field{
		{Path: "content", Type: "text", Before: kind("absent", ""), After: text("Reproduced with the nightly build of 20 November.")}}}}
	applied.Thread = []review.Said{{By: "ines", Event: change.EventApproved, At: now.Add(-50 * time.Second)}}

	unknown := sample(17, "Charge the deposit of order 8841")
	unknown.Op, unknown.State, unknown.Source, unknown.Classes, unknown.Risk = "call", change.Unknown, "billing", []string{"billing.createCharge"}, change.High
	own := sample(18, "OPS-3 “Rotate the certificates”: Todo → InProgress")
	own.Owner, own.Agent = "rosa", "rosas-helper"

	second := sample(19, "Estimate PAY-300")
	second.Version, second.Replaces, second.Asker = 2, id(10), "ines"
	second.Items = append(second.Items, review.Item{Op: "update", Class: "tracker.issues", Key: "PAY-301", Label: "Retry of payouts", Action: "update_status",
		Says: "Send PAY-301 back to the backlog", Fields: []review.Field{{Path: "status", Type: "text", Before: text("Review"), After: text("Backlog")}}})
	second.Since = []review.Item{{Op: "changed", Class: "tracker.issues", Key: "PAY-300", Fields: []review.Field{{Path: "estimate", Type: "number", Before: kind("number", "8"), After: kind("number", "5")}}}}
	second.Thread = []review.Said{{By: "ines", Event: change.EventAsked, Text: "Eight days are too many.", Version: 1, Earlier: true, At: now.Add(-3 * time.Minute)},
		{By: "triage-bot", Event: change.EventAnswered, Text: "Jonas said eight.", Agent: true, Version: 1, Earlier: true, At: now.Add(-2 * time.Minute)},
		{By: "ines", Event: change.EventCreated, Text: "Five, then.", Version: 2, At: now.Add(-time.Minute)}}
	returned := sample(20, "Retitle PAY-301")
	returned.State = change.Returned
	returned.Thread = []review.Said{{By: "ines", Event: change.EventAsked, Text: "Shorter, please.", At: now}}
	return []*review.Sheet{status, edit, bulk, gone, stale, applied, unknown, own, second, returned}
}
