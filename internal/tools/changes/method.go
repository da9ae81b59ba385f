package changes

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
	"github.com/bailiwick-dev/bailiwick/write"
)

// methodTool is the tool that calls any action.
const methodTool = "call_method"

// callMethod returns the tool that calls an action by its name.
func (r *Toolset) callMethod() tool.Tool {
	return tool.Tool{
		Name: methodTool, Title: "Propose an action",
		Description: "Propose an action of get_schema. dry_run in arguments only tries it.",
		Input:       object("class_name,method_name", classArgument, `"method_name":{"type":"string"}`, idArgument, `"arguments":{"type":"object"}`, reasonArgument),
		Output:      read(output), Annotations: proposes(), Writes: policy.WriteAction, Scope: identity.Read, Proposes: true, Category: tool.Mutation, Timeout: proposeTimeout,
		Offered: func(p identity.Principal) bool { return len(r.usable(p, "")) > 0 },
		Handle: func(ctx context.Context, c *bailiwick.Call, in value.Value) (tool.Result, error) {
			v, err := c.View(word(in, "class_name"))
			if err != nil {
				return tool.Result{}, err
			}
			found, err := r.named(c.Who(), v, word(in, "method_name"))
			if err != nil {
				return tool.Result{}, err
			}
			of, err := ofMethod(in)
			if err != nil {
				return tool.Result{}, err
			}
			return r.act(ctx, c, found, of)
		},
	}
}

// named returns the named action of a class, if p may call it.
func (r *Toolset) named(p identity.Principal, v *policy.View, name string) (*action.Action, error) {
	var known []string
	for _, a := range r.usable(p, v.Class().FullName()) {
		if a.Name == name {
			return a, nil
		}
		known = append(known, a.Name)
	}
	near := problem.Nearest(name, known, 2)
	return nil, &problem.Error{Code: problem.InvalidArgument, Kind: "unknown_action", Pointer: "/method_name", Near: near,
		Detail: fmt.Sprintf("%s has no method %q%s", v.Name(), problem.Cut(name), problem.DidYouMean(near))}
}

// ofMethod returns the call of an action from the arguments of call_method.
func ofMethod(in value.Value) (called, error) {
	args, _ := in.Get("arguments")
	args, dry, err := dried(args)
	return called{tool: methodTool, in: in, args: args, at: "/arguments", dry: dry}, err
}

// ofTool returns the call of a from the arguments of its own tool.
func ofTool(a *action.Action, in value.Value) called {
	var members []value.Member
	for _, m := range in.Members() {
		if slices.Contains(a.Arguments(), m.Name) {
			members = append(members, m)
		}
	}
	dry, _ := in.Get(action.DryRunArgument)
	return called{tool: a.Name, in: in, args: value.OfObject(members), dry: dry.Bool()}
}

// dried removes dry_run from arguments.
func dried(args value.Value) (rest value.Value, dry bool, err error) {
	var members []value.Member
	for _, m := range args.Members() {
		if m.Name != action.DryRunArgument {
			members = append(members, m)
			continue
		}
		if m.Value.Kind() != value.Bool {
			return rest, false, invalid("/arguments/"+m.Name, "dry_run is true or false")
		}
		dry = m.Value.Bool()
	}
	return value.OfObject(members), dry, nil
}

// method returns the tool of an action.
func (r *Toolset) method(a *action.Action) tool.Tool {
	annotations := proposes()
	annotations.Destructive = a.Scope == identity.Delete
	annotations.OpenWorld = a.Do == action.HTTP
	return tool.Tool{
		Name: a.Name, Title: cmp.Or(a.Title, a.Name), Description: cmp.Or(a.Description, "Propose "+a.Name+" on "+a.Class.Name+"."),
		Input: withArguments(a), Output: read(output), Annotations: annotations, Writes: policy.WriteAction, Scope: a.Scope, Proposes: true,
		Category: tool.Custom, Timeout: proposeTimeout,
		Offered: func(p identity.Principal) bool { return r.may(p, a) },
		Handle: func(ctx context.Context, c *bailiwick.Call, in value.Value) (tool.Result, error) {
			return r.act(ctx, c, a, ofTool(a, in))
		},
	}
}

// withArguments returns the schema of a's arguments with those that every action has.
func withArguments(a *action.Action) []byte {
	more := reasonArgument
	if a.DryRun {
		more += `,"dry_run":{"type":"boolean"}`
	}
	if a.TakesRecord() {
		more += "," + idArgument
	}
	// The properties are last in the schema.
	schema := a.Schema()
	end := bytes.LastIndex(schema, []byte("}}"))
	comma := ","
	if len(a.Arguments()) == 0 {
		comma = ""
	}
	return slices.Concat(schema[:end], []byte(comma+more), schema[end:])
}

// called is one call of an action.
type called struct {
	tool string
	in   value.Value // the arguments of the tool
	args value.Value // those of the action
	at   string      // their JSON pointer
	dry  bool
}

// act turns a call of an action into a proposal.
func (r *Toolset) act(ctx context.Context, c *bailiwick.Call, a *action.Action, of called) (tool.Result, error) {
	req, err := r.request(ctx, c, a, of)
	if err != nil {
		return tool.Result{}, err
	}
	if of.dry && !a.Tries() {
		return wouldCall(a, word(of.in, "object_id"), of.args), nil
	}
	req.Tool, req.Input, req.Reason = of.tool, of.in, word(of.in, "reason")
	res, err := r.propose(ctx, c, req, of.dry)
	if err != nil {
		return tool.Result{}, a.Place(err, of.at)
	}
	return res, nil
}

// request returns the write that a call of an action requests.
func (r *Toolset) request(ctx context.Context, c *bailiwick.Call, a *action.Action, of called) (write.Request, error) {
	return a.Request(ctx, action.Call{Who: c.Who(), Record: word(of.in, "object_id"), Input: of.args, At: of.at, Now: r.now(), Reader: reader{c}})
}

// wouldCall returns the preview of an action that can't be tried: that it would be proposed, and what would be
// called.
func wouldCall(a *action.Action, id string, args value.Value) tool.Result {
	would := []value.Member{text("class_name", a.Class.Name), text("method_name", a.Name)}
	if id != "" {
		would = append(would, text("object_id", id))
	}
	call := value.OfObject(append(would, member("arguments", args)))
	summary := a.Name + " can't be tried; it would be proposed with these arguments"
	doc := value.OfObject([]value.Member{text("status", "dry_run"), text("summary", summary), member("supports_real_dry_run", value.OfBool(false)), member("would_call", call)})
	return tool.Result{Structured: doc.AppendJSON(nil), Text: "Dry run: nothing was proposed. " + summary + ": " + call.String() + "\n", Class: a.Class.FullName()}
}
