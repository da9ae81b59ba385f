package main

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/bailiwick-dev/bailiwick/cmd/bailiwick/internal/terminal"
	"github.com/bailiwick-dev/bailiwick/console"
	"github.com/bailiwick-dev/bailiwick/internal/client"
)

// A wish is a change that the agent proposes for the records that a query finds.
type wish struct {
	says  string
	find  string // the arguments of query_class that find the records
	tool  string
	args  func(ids []string) string
	lines int // number of lines shown of the answer
}

var wishes = []wish{
	{says: "Move the newest critical bug in progress to review", tool: "update_status", lines: 6,
		find: `{"class_name":"issues","where":{"type":"Bug","priority":"Critical","status":"InProgress"},"keys":["id"],"order":"-created_at","limit":1}`,
		args: func(ids []string) string {
			return fmt.Sprintf(`{"issueId":%q,"newStatus":"Review","reason":"The fix is deployed to staging."}`, ids[0])
		}},
	{says: "Raise the priority of the oldest low bugs, all at once", tool: "propose_changes", lines: 5,
		find: `{"class_name":"issues","where":{"type":"Bug","priority":"Low","status":"Todo"},"keys":["id"],"order":"created_at","limit":4}`,
		args: func(ids []string) string {
			items := make([]string, len(ids))
			for i, id := range ids {
				items[i] = fmt.Sprintf(`{"op":"update","class_name":"issues","object_id":%q,"data":{"priority":"Medium"}}`, id)
			}
			return `{"summary":"Raise the priority of old bugs","reason":"They wait the longest.","writes":[` + strings.Join(items, ",") + `]}`
		}},
	{says: "Delete the newest comment", tool: "propose_changes", lines: 6,
		find: `{"class_name":"comments","keys":["id"],"order":"-created_at","limit":1}`,
		args: func(ids []string) string {
			return fmt.Sprintf(`{"reason":"It was posted twice.","writes":[{"op":"delete","class_name":"comments","object_id":%q}]}`, ids[0])
		}},
}

// propose proposes changes as the agent. They then wait for review.
func (d *demonstration) propose(ctx context.Context, c *client.Client, n int) error {
	for i, w := range wishes {
		ids, err := findIDs(ctx, c, w.find)
		if err != nil {
			return err
		}
		if len(ids) == 0 {
			continue // an earlier run approved such a change in this folder
		}
		if err := d.play(ctx, c, n+i, step{says: w.says, tool: w.tool, args: w.args(ids), lines: w.lines}); err != nil {
			return err
		}
	}
	return nil
}

// findIDs returns the ids of the records that a query finds.
func findIDs(ctx context.Context, c *client.Client, args string) ([]string, error) {
	a, err := c.Call(ctx, "query_class", json.RawMessage(args))
	if err != nil {
		return nil, err
	}
	var page struct {
		Results []struct {
			ID json.RawMessage `json:"id"`
		} `json:"results"`
	}
	if err := json.Unmarshal(a.Structured, &page); err != nil {
		return nil, fmt.Errorf("read the answer of query_class: %w", err)
	}
	ids := make([]string, len(page.Results))
	for i, r := range page.Results {
		ids[i] = strings.Trim(string(r.ID), `"`)
	}
	return ids, nil
}

// showReview prints the address of the waiting changes and the sign-in links.
func (d *demonstration) showReview() error {
	queue := strings.TrimSuffix(d.url, "/mcp") + console.Path
	if d.JSON {
		return d.PrintJSON(map[string]any{"queue": queue, "sign_in": map[string]string{reviewer: d.signIn, another: d.second}})
	}
	d.Printf("\n%s  %s\n\n", terminal.Style(terminal.Bold, map[bool]string{true: "Four", false: "Three"}[d.withAPI]+" changes wait for a person"), terminal.Style(terminal.Faint, "nothing was written yet. The delete wants two approvals"))
	d.Printf("  The queue      %s\n", terminal.Style(terminal.Blue, queue))
	d.Printf("  Sign in, once  %s  %s\n", terminal.Style(terminal.Green, d.signIn), reviewer)
	d.Printf("                 %s  %s, who gives the second approval\n", terminal.Style(terminal.Green, d.second), another)
	return nil
}
