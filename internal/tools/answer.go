package tools

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/bailiwick-dev/bailiwick"
	"github.com/bailiwick-dev/bailiwick/change"
	"github.com/bailiwick-dev/bailiwick/internal/review"
	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/tool"
	"github.com/bailiwick-dev/bailiwick/value"
	"github.com/bailiwick-dev/bailiwick/write"
)

// output is the output schema of tools that return one change.
const output = `{"type":"object","properties":{"status":{"type":"string"}}}`

// nextTool is the tool that an agent calls while it waits for a decision.
const nextTool = "get_change"

// proposeTool is the tool that proposes several writes at once.
const proposeTool = "propose_changes"

// replyTool is the tool that an agent calls after a person has requested changes.
const replyTool = "reply_to_change"

// changeRead returns a schema literal as JSON.
func changeRead(schema string) json.RawMessage { return json.RawMessage(schema) }

// status returns the name of a state as shown to agents.
func status(s change.State) string {
	if s == change.Pending {
		return string(problem.PendingReview)
	}
	return string(s)
}

// Propose files req for review and returns the result for the agent. Tools that build their own requests use it.
func (r *ChangeTools) Propose(ctx context.Context, c *bailiwick.Call, req write.Request) (tool.Result, error) {
	return r.propose(ctx, c, req, false)
}

// propose files req, or only previews it if dry.
func (r *ChangeTools) propose(ctx context.Context, c *bailiwick.Call, req write.Request, dry bool) (tool.Result, error) {
	if dry {
		s, err := c.Preview(ctx, req)
		if err != nil {
			return tool.Result{}, err
		}
		return r.dryRunResult(s), nil
	}
	s, err := c.Propose(ctx, req)
	if p := problem.Of(err); p != nil && p.Kind == "unchanged" {
		doc := value.OfObject([]value.Member{changeText("status", p.Kind), changeText("summary", p.Detail)})
		return tool.Result{Structured: doc.AppendJSON(nil), Text: "No change was filed: each field of the update already has this value.\nNothing waits for review. Go on, or read the record again if you expected another value."}, nil
	}
	if err != nil {
		return tool.Result{}, err
	}
	return r.changeResult(c, s), nil
}

// changeResult returns the result about a change of the caller. It includes the part of the API's answer that the
// filing tool selects.
func (r *ChangeTools) changeResult(c *bailiwick.Call, s *review.Sheet) tool.Result {
	if pick, ok := r.pickers.Load(s.Tool); ok && s.State == change.Applied {
		s.Answer = pick.(Picker)(c.Who(), s)
	}
	return r.Answer(c, s)
}

// Answer returns the result for an agent about one of its own changes. It names the tool to call next, if the agent
// may call that tool.
func (r *ChangeTools) Answer(c *bailiwick.Call, s *review.Sheet) tool.Result {
	link := r.link(s.ID)
	doc := []value.Member{changeText("status", status(s.State)), changeText("change_id", s.ID), changeText("summary", s.Title), member("diff", diff(s.Items)),
		changeText("expires_at", value.OfTime(s.Expires).String()), changeText("url", link)}
	if s.Replaces != "" {
		doc = append(doc, changeText("replaces", s.Replaces), member("version", value.OfInt(int64(s.Version))))
	}
	if s.ReplacedBy != "" {
		doc = append(doc, changeText("replaced_by", s.ReplacedBy))
	}
	if len(s.Since) > 0 {
		doc = append(doc, member("since_version", diff(s.Since)))
	}
	var others []value.Value
	for _, o := range s.Others {
		others = append(others, value.OfObject([]value.Member{changeText("change_id", o.ID), changeText("summary", o.Title)}))
	}
	if others != nil {
		doc = append(doc, member("conflicts", value.OfArray(others)))
	}
	words := threadMessages(s.Thread)
	if words != nil {
		doc = append(doc, member("thread", value.OfArray(words)))
	}
	if s.Outcome != "" {
		doc = append(doc, changeText("outcome", s.Outcome))
	}
	shown := review.Text(s)
	if f := s.Refusal; f != nil {
		doc = append(doc, member("refusal", value.OfObject([]value.Member{member("status", value.OfInt(int64(f.Status))), changeText("upstream_code", f.UpstreamCode), changeText("message", f.Message)})))
	}
	if !s.Answer.IsNull() {
		doc = append(doc, member("answer", s.Answer))
		shown = strings.TrimSuffix(shown, "\n") + "\nThe API answered: " + review.InertJSON(s.Answer.String()) + "\n"
	}
	if len(s.Locations) > 0 {
		doc = append(doc, member("locations", value.OfStrings(s.Locations)))
		shown = strings.TrimSuffix(shown, "\n") + "\nLocation: " + strings.Join(s.Locations, ", ") + "\n"
	}
	next, advice := goOn(s)
	if next != "" && c.MayCall(next) {
		doc = append(doc, changeText("next", next))
		shown = strings.TrimSuffix(shown, "\n") + "\n" + advice + "\n"
	}
	if s.State == change.Pending {
		shown = strings.TrimSuffix(shown, "\n") + "\nReview: " + link + "\n"
	}
	return tool.Result{Structured: value.OfObject(doc).AppendJSON(nil), Text: shown, Class: s.Source, Failed: s.Refusal != nil}
}

// threadMessages returns the comments of people and the agent about a change.
func threadMessages(thread []review.Said) (words []value.Value) {
	for _, d := range thread {
		one := []value.Member{changeText("by", d.By), changeText("event", d.Verb())}
		if d.Agent {
			one = append(one, member("you", value.OfBool(true)))
		}
		if d.Loud != "" {
			one = append(one, changeText("past_the_rules", d.Loud))
		}
		words = append(words, value.OfObject(append(one, changeText("text", d.Text))))
	}
	return words
}

// goOn returns the next tool to call for a change and the reason, or "" for both.
func goOn(s *review.Sheet) (next, advice string) {
	switch {
	case s.State == change.Returned:
		return replyTool, "Answer, or propose another version: " + replyTool
	case s.State == change.Stale:
		return replyTool, "Read what it would change again. If it is still wanted, propose another version: " + replyTool
	case s.State == change.Pending && s.HasMoved():
		return replyTool, "Read the record again, and propose another version (" + replyTool + "), or cancel it."
	case s.State == change.Pending:
		return nextTool, fmt.Sprintf("To wait for the decision: %s {\"change_id\": %q, \"wait\": %d}", nextTool, s.ID, longest)
	}
	return "", ""
}

// dryRunResult returns the result of a preview that was not filed.
func (r *ChangeTools) dryRunResult(s *review.Sheet) tool.Result {
	doc := value.OfObject([]value.Member{changeText("status", "dry_run"), changeText("summary", s.Title), member("supports_real_dry_run", value.OfBool(true)), member("diff", diff(s.Items))})
	_, rest, _ := strings.Cut(review.Text(s), "\n")
	rest, _, _ = strings.Cut(rest, "\n\nA human must")
	return tool.Result{Structured: doc.AppendJSON(nil), Text: "Dry run: nothing was proposed.\n" + strings.TrimSuffix(rest, "\n") + "\n", Class: s.Source}
}

// diff returns the changes of each record, by field.
func diff(items []review.Item) value.Value {
	out := make([]value.Value, len(items))
	for i, item := range items {
		one := []value.Member{changeText("op", item.Op), changeText("class_name", item.Class)}
		if item.Key != "" {
			one = append(one, changeText("object_id", item.Key))
		}
		if item.Action != "" {
			one = append(one, changeText("method_name", item.Action))
		}
		fields := make([]value.Value, len(item.Fields))
		for j, f := range item.Fields {
			one := []value.Member{changeText("field", f.Path), member("before", agentValue(f.Before)), member("after", agentValue(f.After))}
			if f.Now != nil {
				one = append(one, member("now", agentValue(*f.Now)))
			}
			fields[j] = value.OfObject(one)
		}
		if item.Came != "" {
			one = append(one, changeText("came", item.Came))
		}
		if item.Unread != "" {
			one = append(one, changeText("unread", item.Unread))
		}
		if item.Moved != "" {
			one = append(one, changeText("moved", item.Moved))
		}
		one = append(one, member("fields", value.OfArray(fields)))
		if item.Hidden > 0 {
			one = append(one, member("hidden_fields", value.OfInt(int64(item.Hidden))))
		}
		out[i] = value.OfObject(one)
	}
	return value.OfArray(out)
}

// agentValue returns a value in the form for agents. Numbers and booleans keep their kind, and all other values
// become texts.
func agentValue(s review.Shown) value.Value {
	switch s.Kind {
	case "absent", "null":
		return value.Value{}
	case "number", "boolean":
		if v, err := value.Read([]byte(s.Text), 0); err == nil && s.Length == 0 {
			return v
		}
	case "unread":
		return value.Value{}
	case "unknown":
		return value.OfString("(the present value is not known)")
	case "hidden", "masked":
		return value.OfString(strings.TrimSpace("(" + s.Kind + ") " + s.Text))
	}
	if s.Length > 0 {
		return value.OfString(fmt.Sprintf("%s… (%d characters)", s.Text, s.Length))
	}
	return value.OfString(s.Text)
}
