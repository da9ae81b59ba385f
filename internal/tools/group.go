package tools

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/bailiwick-dev/bailiwick"
	"github.com/bailiwick-dev/bailiwick/action"
	"github.com/bailiwick-dev/bailiwick/identity"
	"github.com/bailiwick-dev/bailiwick/policy"
	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/tool"
	"github.com/bailiwick-dev/bailiwick/value"
	"github.com/bailiwick-dev/bailiwick/write"
)

// proposeChanges returns the tool that proposes several writes at once.
func (r *ChangeTools) proposeChanges() tool.Tool {
	return tool.Tool{
		Name: proposeTool, Title: "Propose several writes",
		Description: "Propose up to 100 writes to one source as one change, all or none. op action: as of call_method. op call (call: as of call_api_write): in order, until one fails. \"$1.id\": the id of write 1's new record, or in its answer. after: change_ids to be applied before.",
		Input: object("writes", `"writes":{"type":"array","minItems":1,"maxItems":100,"items":{"type":"object","additionalProperties":false,"required":["op"],"properties":{"op":{"type":"string","enum":["create","update","delete","action","call"]},`+
			`"class_name":{"type":"string"},"object_id":{"type":"string"},"data":{"type":"object"},"method_name":{"type":"string"},"arguments":{"type":"object"},"call":{"type":"object"}}}}`,
			`"summary":{"type":"string","maxLength":200}`, reasonArgument, `"after":{"type":"array","items":{"type":"string"}}`),
		// The tool accepts several kinds of writes. policy checks the gate of each.
		Output: changeRead(output), Annotations: proposes(), Writes: policy.WriteAction, Scope: identity.Write, Proposes: true, Category: tool.Mutation, Timeout: proposeTimeout,
		Offered: func(p identity.Principal) bool { return r.raw(p) || r.calls(p) || len(r.acts(p)) > 0 },
		Meant:   wrapCalls,
		Handle: func(ctx context.Context, c *bailiwick.Call, in value.Value) (tool.Result, error) {
			req := write.Request{Tool: proposeTool, Input: in, Reason: changeWord(in, "reason"), Origin: write.Origin{Says: changeWord(in, "summary")}}
			list, _ := in.Get("writes")
			after, _ := in.Get("after")
			for _, id := range after.List() {
				req.After = append(req.After, id.Text())
			}
			return r.several(ctx, c, req, list.List())
		},
	}
}

// raw reports whether p may propose writes of records.
func (r *ChangeTools) raw(p identity.Principal) bool {
	ask := bailiwick.CallSpec{Tool: proposeTool, Needs: identity.Write, Writes: policy.WriteRaw, Proposes: true}
	return r.gateway.May(p, ask) == nil && r.offers(write.OpCreate, write.OpUpdate, write.OpDelete)(p)
}

// acts returns the actions that p may use as writes of a group. These are the actions that p may also call directly.
func (r *ChangeTools) acts(p identity.Principal) []*action.Action {
	method := r.callMethod()
	byName := r.gateway.May(p, method.Ask()) == nil
	return slices.DeleteFunc(r.gateway.Actions(p, ""), func(a *action.Action) bool { return !byName && !(a.Tool && p.Tools.Allows(a.Name)) })
}

// several proposes the writes of list as one change.
func (r *ChangeTools) several(ctx context.Context, c *bailiwick.Call, req write.Request, list []value.Value) (tool.Result, error) {
	g := group{room: r, call: c, request: req}
	for i, item := range list {
		if err := g.add(ctx, item, fmt.Sprintf("/writes/%d", i)); err != nil {
			return tool.Result{}, err
		}
	}
	res, err := r.propose(ctx, c, g.request, false)
	if p, ok := errors.AsType[*problem.Error](err); ok {
		err = p.MapPointers(g.place)
	}
	return res, err
}

// A group is a list of writes that become one change.
type group struct {
	room    *ChangeTools
	call    *bailiwick.Call
	request write.Request
	actions []*action.Action // the action of each write, or nil for a write without an action
}

// add adds the write that an item requests.
func (g *group) add(ctx context.Context, item value.Value, at string) error {
	op, made, of := write.Op(changeWord(item, "op")), write.Request{}, (*action.Action)(nil)
	switch {
	case op == write.OpCall && g.room.calls(g.call.Who()):
		w, err := parseCallItem(g.call, item, at)
		if err != nil {
			return err
		}
		made.Writes = []write.Write{w}
	case op == write.OpAction && len(g.room.acts(g.call.Who())) > 0:
		var err error
		if of, made, err = g.act(ctx, item, at); err != nil {
			return err
		}
	default:
		if err := complete(op, item, at); err != nil {
			return err
		}
		made.Writes = []write.Write{writeOf(op, item)}
	}
	if g.request.Now.IsZero() {
		g.request.Now = made.Now
	}
	g.request.Join(made)
	g.actions = append(g.actions, of)
	return nil
}

// act returns the write that an action makes.
func (g *group) act(ctx context.Context, item value.Value, at string) (*action.Action, write.Request, error) {
	none := write.Request{}
	if err := parts(item, []string{"op", "class_name", "object_id", "method_name", "arguments"}, at); err != nil {
		return nil, none, err
	}
	for _, name := range []string{"class_name", "method_name"} {
		if changeWord(item, name) == "" {
			return nil, none, invalid(at+"/"+name, "an action needs "+name)
		}
	}
	within := func(err error) error {
		return problem.Of(err).MapPointers(func(pointer string) string { return at + pointer })
	}
	v, err := g.call.View(changeWord(item, "class_name"))
	if err != nil {
		return nil, none, within(err)
	}
	found, err := findAction(v, changeWord(item, "method_name"), g.room.acts(g.call.Who()))
	if err != nil {
		return nil, none, within(err)
	}
	by, err := action.OfMethod(item)
	if err == nil && by.Dry {
		err = invalid(by.At+"/"+action.DryRunArgument, "one of several writes isn't tried by itself: leave dry_run out")
	}
	if err != nil {
		return nil, none, within(err)
	}
	by.Now = g.request.Now
	made, err := g.call.Invoke(ctx, found, by)
	if err != nil {
		return nil, none, within(err)
	}
	return found, made, nil
}

// place converts a pointer into the request to a pointer into the arguments of the tool. For the write of an action,
// it points into the arguments of that action.
func (g *group) place(pointer string) string {
	if pointer == "/change_id" || strings.HasPrefix(pointer, "/after") {
		return pointer
	}
	i, rest, at := 0, pointer, "/writes/0"
	if len(g.actions) > 1 {
		if _, err := fmt.Sscanf(pointer, "/writes/%d", &i); err != nil || i >= len(g.actions) {
			return pointer
		}
		at = fmt.Sprintf("/writes/%d", i)
		rest = strings.TrimPrefix(pointer, at)
	} else if pointer == "" {
		return ""
	}
	_, call := g.request.Writes[i].(*write.Call)
	switch of := g.actions[i]; {
	case of != nil && call && rest != "":
		return at + "/arguments"
	case of != nil:
		return at + of.ArgumentPointer(rest, "/arguments")
	case call && len(g.actions) == 1:
		return at + "/call" + rest
	}
	return at + rest
}

// parseCallItem returns the API call that an item requests.
func parseCallItem(c *bailiwick.Call, item value.Value, at string) (write.Write, error) {
	if err := parts(item, []string{"op", "call"}, at); err != nil {
		return nil, err
	}
	asked, _ := item.Get("call")
	at += "/call"
	if asked.Kind() != value.Object || changeWord(asked, "operationId") == "" {
		return nil, invalid(at, "call is an object with operationId, and what call_api_write takes beside it")
	}
	if err := parts(asked, Names(), at); err != nil {
		return nil, err
	}
	var request []value.Member
	for _, m := range asked.Members() {
		if text := m.Name == "source" || m.Name == "content_type" || m.Name == "operationId"; text && m.Value.Kind() != value.String {
			return nil, invalid(at+"/"+m.Name, m.Name+" is a text")
		}
		switch m.Name {
		case "content_type":
			m.Name = "media"
			fallthrough
		case "path", "query", "headers", "cookies", "body":
			request = append(request, m)
		}
	}
	w := &write.Call{Source: changeWord(asked, "source"), Operation: changeWord(asked, "operationId"), Request: value.OfObject(request)}
	if w.Source == "" { // use the only API with that operation. If there are several, policy requires a source
		var found []string
		for _, reach := range c.APIs() {
			if _, err := reach.View.Operation(w.Operation); problem.CodeOf(err) != problem.NotFound {
				found = append(found, reach.Name)
			}
		}
		if len(found) == 1 {
			w.Source = found[0]
		}
	}
	return w, nil
}

// parts refuses unknown members of v.
func parts(v value.Value, known []string, at string) error {
	for _, m := range v.Members() {
		if !slices.Contains(known, m.Name) {
			near := problem.Nearest(m.Name, known, 2)
			return &problem.Error{Code: problem.InvalidArgument, Pointer: at + "/" + problem.Cut(m.Name), Near: near, Detail: fmt.Sprintf("a write has no %q%s", problem.Cut(m.Name), problem.DidYouMean(near))}
		}
	}
	return nil
}

// complete refuses an item that lacks a member that its op requires, or has a member that its op doesn't allow.
func complete(op write.Op, item value.Value, at string) error {
	switch op {
	case write.OpCreate, write.OpUpdate, write.OpDelete:
	default:
		return invalid(at+"/op", "op is create, update or delete")
	}
	if err := parts(item, []string{"op", "class_name", "object_id", "data"}, at); err != nil {
		return err
	}
	for _, m := range item.Members() {
		if text := m.Value.Kind() == value.String; text == (m.Name == "data") || m.Name == "data" && m.Value.Kind() != value.Object {
			return invalid(at+"/"+m.Name, "data is an object, all else of a write is a text")
		}
	}
	if changeWord(item, "class_name") == "" {
		return invalid(at+"/class_name", "a write needs class_name")
	}
	for _, part := range []struct {
		name  string
		takes bool
	}{{"object_id", op != write.OpCreate}, {"data", op != write.OpDelete}} {
		v, has := item.Get(part.name)
		switch empty := v.Kind() == value.Object && len(v.Members()) == 0 || v.Kind() == value.String && v.Text() == ""; {
		case has && !part.takes:
			return invalid(at+"/"+part.name, fmt.Sprintf("%s takes no %s", op, part.name))
		case part.takes && (!has || empty):
			return invalid(at+"/"+part.name, fmt.Sprintf("%s needs %s", op, part.name))
		}
	}
	return nil
}
