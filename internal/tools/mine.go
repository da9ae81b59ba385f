package tools

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/bailiwick-dev/bailiwick"
	"github.com/bailiwick-dev/bailiwick/change"
	"github.com/bailiwick-dev/bailiwick/identity"
	"github.com/bailiwick-dev/bailiwick/internal/openapi/response"
	"github.com/bailiwick-dev/bailiwick/internal/review"
	"github.com/bailiwick-dev/bailiwick/tool"
	"github.com/bailiwick-dev/bailiwick/value"
	"github.com/bailiwick-dev/bailiwick/write"
)

const changeArgument = `"change_id":{"type":"string"}`

// mine sets the common properties of a tool for the caller's own changes.
func (r *ChangeTools) mine(t tool.Tool) tool.Tool {
	t.Category, t.Offered = tool.Changes, r.anything
	if t.Annotations == (tool.Annotations{}) {
		t.Annotations = tool.Annotations{ReadOnly: true, Idempotent: true}
	}
	if t.Timeout == 0 {
		t.Timeout = mineTimeout
	}
	return t
}

// listMyChanges returns the tool list_my_changes. It returns one page of the changes that the caller has proposed.
func (r *ChangeTools) listMyChanges() tool.Tool {
	var states []string
	for _, s := range change.States() {
		states = append(states, `"`+string(s)+`"`)
	}
	return r.mine(tool.Tool{
		Name: "list_my_changes", Title: "List my changes",
		Description: "Your changes, newest first. before: a change_id.",
		Input:       object("", `"state":{"type":"string","enum":[`+strings.Join(states, ",")+`]}`, `"limit":{"type":"integer","minimum":1,"maximum":100}`, `"before":{"type":"string"}`),
		Output:      changeRead(`{"type":"object","properties":{"changes":{"type":"array"}}}`),
		Handle: func(ctx context.Context, c *bailiwick.Call, in value.Value) (tool.Result, error) {
			f := change.Filter{Before: changeWord(in, "before"), Limit: 20}
			if s := changeWord(in, "state"); s != "" {
				f.States = []change.State{change.State(s)}
			}
			if n, ok := in.Get("limit"); ok {
				most, _ := n.AsInt()
				f.Limit = int(most)
			}
			rows, more, err := c.Changes(ctx, f)
			if err != nil {
				return tool.Result{}, err
			}
			return formatChangeRows(rows, more), nil
		},
	})
}

// formatChangeRows formats changes as one line each.
func formatChangeRows(rows []review.Row, more bool) tool.Result {
	list := make([]value.Value, len(rows))
	var out strings.Builder
	for i, row := range rows {
		expires := value.OfTime(row.Expires).String()
		list[i] = value.OfObject([]value.Member{changeText("change_id", row.ID), changeText("status", status(row.State)), changeText("summary", row.Title), changeText("op", row.Op),
			member("approvals", value.OfInt(int64(row.Approvals))), member("needed", value.OfInt(int64(row.Need))),
			changeText("created_at", value.OfTime(row.Created).String()), changeText("expires_at", expires)})
		fmt.Fprintf(&out, "%s %s: %s\n", row.ID, status(row.State), row.Title)
	}
	if len(rows) == 1 {
		out.WriteString("1 change")
	} else {
		fmt.Fprintf(&out, "%d changes", len(rows))
	}
	if more {
		out.WriteString(", and there are more")
	}
	doc := value.OfObject([]value.Member{member("changes", value.OfArray(list)), member("has_more", value.OfBool(more))})
	return tool.Result{Structured: doc.AppendJSON(nil), Text: out.String()}
}

// getChange returns the tool get_change. With the argument wait, it answers after the decision or at the timeout.
func (r *ChangeTools) getChange() tool.Tool {
	return r.mine(tool.Tool{
		Name: "get_change", Title: "Get a change", Description: "A change of yours, and what people said. wait: seconds to wait for a decision. fields: the parts that you need.",
		Input:  object("change_id", changeArgument, fmt.Sprintf(`"wait":{"type":"integer","minimum":0,"maximum":%d}`, longest), `"fields":{"type":"array","items":{"type":"string"}}`),
		Output: changeRead(output), Timeout: waitTimeout,
		Handle: func(ctx context.Context, c *bailiwick.Call, in value.Value) (tool.Result, error) {
			wait, _ := in.Get("wait")
			seconds, _ := wait.AsInt()
			ask := func() (*review.Sheet, error) { return c.Change(ctx, changeWord(in, "change_id")) }
			if seconds > 0 {
				ask = func() (*review.Sheet, error) {
					return c.WaitForChange(ctx, changeWord(in, "change_id"), time.Duration(seconds)*time.Second)
				}
			}
			got, err := r.resultFunc(c)(ask())
			if fields, ok := in.Get("fields"); ok && err == nil {
				return pickPaths(got, fields.List())
			}
			return got, err
		},
	})
}

// answerNames lists the members that an answer about a change may have.
var answerNames = []string{"status", "change_id", "summary", "diff", "expires_at", "url", "replaces", "version", "replaced_by", "since_version", "conflicts", "thread", "outcome", "refusal",
	"answer", "locations", "next"}

// pickPaths returns only these parts of an answer about a change. The fields are dotted paths such as
// diff.fields.after.
func pickPaths(all tool.Result, fields []value.Value) (tool.Result, error) {
	var paths []string
	for _, f := range fields {
		paths = append(paths, f.Text())
	}
	doc, err := value.Read(all.Structured, 0)
	if err != nil {
		return tool.Result{}, err
	}
	if doc, err = response.Pick(doc, paths, answerNames); err != nil {
		return tool.Result{}, err
	}
	all.Structured = doc.AppendJSON(nil)
	all.Text = string(all.Structured)
	return all, nil
}

// longest is the maximum wait of wait_for_change in seconds, and usual is the default.
const longest, usual = 50, 30

// waitForChange returns the tool wait_for_change. It answers at once for a decided change, and otherwise after the
// decision or at the timeout.
func (r *ChangeTools) waitForChange() tool.Tool {
	return r.mine(tool.Tool{
		Name: "wait_for_change", Title: "Wait for a change", Description: "Wait for a decision, up to timeout seconds.",
		Input:  object("change_id", changeArgument, fmt.Sprintf(`"timeout":{"type":"integer","minimum":0,"maximum":%d}`, longest)),
		Output: changeRead(output), Timeout: waitTimeout,
		Handle: func(ctx context.Context, c *bailiwick.Call, in value.Value) (tool.Result, error) {
			seconds := int64(usual)
			if v, ok := in.Get("timeout"); ok {
				seconds, _ = v.AsInt()
			}
			return r.resultFunc(c)(c.WaitForChange(ctx, changeWord(in, "change_id"), time.Duration(seconds)*time.Second))
		},
	})
}

// replyToChange returns the tool with which an agent answers people. The reply is a text, optionally with a new
// version of the change.
func (r *ChangeTools) replyToChange() tool.Tool {
	return r.mine(tool.Tool{
		Name: replyTool, Title: "Reply about a change", Description: "Answer people about a change of yours. Writes, as of propose_changes: another version of it.",
		Input:  object("change_id,message", changeArgument, `"message":{"type":"string","minLength":1,"maxLength":4000}`, `"writes":{"type":"array","minItems":1,"maxItems":100,"items":{"type":"object"}}`),
		Output: changeRead(output), Scope: identity.Read, Annotations: tool.Annotations{Idempotent: true}, Proposes: true, Timeout: proposeTimeout,
		Handle: func(ctx context.Context, c *bailiwick.Call, in value.Value) (tool.Result, error) {
			list, ok := in.Get("writes")
			if !ok {
				return r.resultFunc(c)(c.Answer(ctx, changeWord(in, "change_id"), changeWord(in, "message")))
			}
			req := write.Request{Tool: replyTool, Input: in, Reason: changeWord(in, "message"), Replaces: changeWord(in, "change_id")}
			return r.several(ctx, c, req, list.List())
		},
	})
}

func (r *ChangeTools) cancelChange() tool.Tool {
	return r.mine(tool.Tool{
		Name: "cancel_change", Title: "Cancel a change", Description: "Take back a change of yours.",
		Input: object("change_id", changeArgument), Output: changeRead(output), Scope: identity.Read, Annotations: tool.Annotations{Idempotent: true},
		Handle: func(ctx context.Context, c *bailiwick.Call, in value.Value) (tool.Result, error) {
			return r.resultFunc(c)(c.CancelChange(ctx, changeWord(in, "change_id")))
		},
	})
}

// resultFunc returns a function that builds the result about one of the caller's own changes.
func (r *ChangeTools) resultFunc(c *bailiwick.Call) func(*review.Sheet, error) (tool.Result, error) {
	return func(s *review.Sheet, err error) (tool.Result, error) {
		if err != nil {
			return tool.Result{}, err
		}
		return r.changeResult(c, s), nil
	}
}
