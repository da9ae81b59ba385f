package tools

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/bailiwick-dev/bailiwick"
	"github.com/bailiwick-dev/bailiwick/action"
	"github.com/bailiwick-dev/bailiwick/identity"
	"github.com/bailiwick-dev/bailiwick/policy"
	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/tool"
	"github.com/bailiwick-dev/bailiwick/value"
)

// callMethod returns the tool that calls an action by its name.
func (r *ChangeTools) callMethod() tool.Tool {
	return tool.Tool{
		Name: action.MethodTool, Title: "Propose an action",
		Description: "Propose an action of get_schema. dry_run in arguments only tries it.",
		Input:       object("class_name,method_name", classArgument, `"method_name":{"type":"string"}`, idArgument, `"arguments":{"type":"object"}`, reasonArgument),
		Output:      changeRead(output), Annotations: proposes(), Writes: policy.WriteAction, Scope: identity.Read, Proposes: true, Category: tool.Mutation, Timeout: proposeTimeout,
		Offered: func(p identity.Principal) bool { return len(r.gateway.Actions(p, "")) > 0 },
		Handle: func(ctx context.Context, c *bailiwick.Call, in value.Value) (tool.Result, error) {
			v, err := c.View(changeWord(in, "class_name"))
			if err != nil {
				return tool.Result{}, err
			}
			found, err := findAction(v, changeWord(in, "method_name"), c.Actions(v.Class().FullName()))
			if err != nil {
				return tool.Result{}, err
			}
			by, err := action.OfMethod(in)
			if err != nil {
				return tool.Result{}, err
			}
			return r.act(ctx, c, found, by)
		},
	}
}

// findAction returns the action with this name on the class of v. It considers only the actions in usable.
func findAction(v *policy.View, name string, usable []*action.Action) (*action.Action, error) {
	var known []string
	for _, a := range usable {
		if a.Class.FullName() != v.Class().FullName() {
			continue
		}
		if a.Name == name {
			return a, nil
		}
		known = append(known, a.Name)
	}
	near := problem.Nearest(name, known, 2)
	return nil, &problem.Error{Code: problem.InvalidArgument, Kind: "unknown_action", Pointer: "/method_name", Near: near,
		Detail: fmt.Sprintf("%s has no method %q%s", v.Name(), problem.Cut(name), problem.DidYouMean(near))}
}

// method returns the tool of an action.
func (r *ChangeTools) method(a *action.Action) tool.Tool {
	annotations := proposes()
	annotations.Destructive = a.Scope == identity.Delete
	annotations.OpenWorld = a.Do == action.HTTP
	return tool.Tool{
		Name: a.Name, Title: cmp.Or(a.Title, a.Name), Description: cmp.Or(a.Description, "Propose "+a.Name+" on "+a.Class.Name+"."),
		Input: withArguments(a), Output: changeRead(output), Annotations: annotations, Writes: policy.WriteAction, Scope: a.Scope, Proposes: true,
		Category: tool.Custom, Timeout: proposeTimeout,
		Offered: func(p identity.Principal) bool { return r.gateway.MayAct(p, a) },
		Handle: func(ctx context.Context, c *bailiwick.Call, in value.Value) (tool.Result, error) {
			return r.act(ctx, c, a, a.OfTool(in))
		},
	}
}

// withArguments returns the schema of a's arguments together with the arguments that every action has.
func withArguments(a *action.Action) []byte {
	more := reasonArgument
	if a.DryRun {
		more += `,"dry_run":{"type":"boolean"}`
	}
	if a.TakesRecord() {
		more += "," + idArgument
	}
	// In the schema, "properties" is the last member.
	schema := a.Schema()
	end := bytes.LastIndex(schema, []byte("}}"))
	comma := ","
	if len(a.Arguments()) == 0 {
		comma = ""
	}
	return slices.Concat(schema[:end], []byte(comma+more), schema[end:])
}

// act turns the call of an action into a proposal.
func (r *ChangeTools) act(ctx context.Context, c *bailiwick.Call, a *action.Action, by action.Invocation) (tool.Result, error) {
	req, err := c.Invoke(ctx, a, by)
	if err != nil {
		return tool.Result{}, err
	}
	if by.Dry && !a.Tries() {
		return wouldCall(a, by.Record, by.Args), nil
	}
	req.Tool, req.Input, req.Reason = by.Tool, by.Input, changeWord(by.Input, action.ReasonArgument)
	res, err := r.propose(ctx, c, req, by.Dry)
	if err != nil {
		return tool.Result{}, a.Place(err, by.At)
	}
	return res, nil
}

// wouldCall returns the dry run of an action that can't be tried. It says that the action would be proposed, with
// these arguments.
func wouldCall(a *action.Action, id string, args value.Value) tool.Result {
	would := []value.Member{changeText("class_name", a.Class.Name), changeText("method_name", a.Name)}
	if id != "" {
		would = append(would, changeText("object_id", id))
	}
	call := value.OfObject(append(would, member("arguments", args)))
	summary := a.Name + " can't be tried. It would be proposed with these arguments"
	doc := value.OfObject([]value.Member{changeText("status", "dry_run"), changeText("summary", summary), member("supports_real_dry_run", value.OfBool(false)), member("would_call", call)})
	return tool.Result{Structured: doc.AppendJSON(nil), Text: "Dry run: nothing was proposed. " + summary + ": " + call.String() + "\n", Class: a.Class.FullName()}
}
