package main

import (
	"context"
	"fmt"
	"time"

	"github.com/bailiwick-dev/bailiwick"
	"github.com/bailiwick-dev/bailiwick/identity"
	"github.com/bailiwick-dev/bailiwick/internal/demo"
	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/prompt"
	"github.com/bailiwick-dev/bailiwick/query"
	"github.com/bailiwick-dev/bailiwick/tool"
	"github.com/bailiwick-dev/bailiwick/value"
)

// standup is the desk's own prompt. A principal that may not call untouched_issues doesn't see it.
func standup() prompt.Prompt {
	return prompt.Prompt{
		Name:        "standup",
		Title:       "Stand-up",
		Description: "What a team should talk about this morning",
		Arguments:   []prompt.Argument{{Name: "days", Description: "how long nobody touched what is too long", Required: true}},
		Uses:        []string{"untouched_issues"},
		Handle: func(_ context.Context, _ *bailiwick.Call, in prompt.Input) (prompt.Result, error) {
			return prompt.Say("", "Call untouched_issues with days "+in.Text("days")+", then triage. Say in three lines what the team should talk about."), nil
		},
	}
}

type age struct {
	Days int `json:"days" jsonschema:"how long nobody has touched them"`
}

type number struct {
	Count int64 `json:"count"`
}

func (n number) String() string { return fmt.Sprintf("%d issues", n.Count) }

// untouchedIssuesTool returns the desk's own tool. Its schemas are made from the structs. It is subject to the same
// scopes, limits, policy and audit as the built-in tools, so it counts only issues that its caller may see.
func untouchedIssuesTool() tool.Tool {
	return tool.Typed(tool.Tool{
		Name:        "untouched_issues",
		Title:       "Untouched issues",
		Description: "How many issues nobody has touched for some days. Use it before planning a clean-up.",
		Annotations: tool.Annotations{ReadOnly: true, Idempotent: true},
		Category:    tool.Custom,
		Timeout:     10 * time.Second,
	}, func(ctx context.Context, call *bailiwick.Call, in age) (number, error) {
		if in.Days < 1 || in.Days > 365 {
			return number{}, problem.New(problem.InvalidArgument, "days is from 1 to 365")
		}
		before := demo.Clock().AddDate(0, 0, -in.Days)
		n, _, err := call.Count(ctx, &query.Count{Class: "issues",
			Where: query.Compare{Path: query.Path{"updated_at"}, Op: query.Lt, Value: value.OfTime(before)}})
		return number{n}, err
	})
}

// triage delegates to a sub-principal that sees only issues without an assignee, so that people and other issues are
// out of reach whatever the instructions. Its calls are recorded with the same correlation id.
func triage() tool.Tool {
	return tool.Tool{
		Name:        "triage",
		Title:       "Triage",
		Description: "The next issues to look at: urgent ones that nobody works on.",
		Input:       []byte(`{"type": "object", "additionalProperties": false}`),
		Annotations: tool.Annotations{ReadOnly: true, Idempotent: true},
		Category:    tool.Custom,
		Handle: func(ctx context.Context, call *bailiwick.Call, _ value.Value) (tool.Result, error) {
			sub, err := call.Derive(identity.Derivation{Name: "triage", Classes: identity.List{Only: []string{"issues"}},
				Filters: map[string]query.Filter{"issues": query.Compare{Path: query.Path{"assignee_id"}, Op: query.Eq}}})
			if err != nil {
				return tool.Result{}, err
			}
			var text string
			err = sub.Do(ctx, bailiwick.CallSpec{Tool: "triage", Needs: identity.Read}, func(ctx context.Context, c *bailiwick.Call) (int, error) {
				page, err := c.Read(ctx, &query.Find{Class: "issues", Limit: 3, Keys: []query.Path{{"title"}, {"priority"}},
					Where: query.Compare{Path: query.Path{"priority"}, Op: query.Eq, Value: value.OfString("Critical")}})
				if err != nil {
					return 0, err
				}
				text = string(page.AppendLines(nil))
				return len(text), nil
			})
			return tool.Result{Structured: value.OfObject([]value.Member{{Name: "issues", Value: value.OfString(text)}}).AppendJSON(nil), Text: text}, err
		},
	}
}
