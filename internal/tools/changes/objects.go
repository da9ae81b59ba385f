package changes

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/bailiwick-dev/bailiwick"
	"github.com/bailiwick-dev/bailiwick/identity"
	"github.com/bailiwick-dev/bailiwick/policy"
	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/tool"
	"github.com/bailiwick-dev/bailiwick/value"
	"github.com/bailiwick-dev/bailiwick/write"
)

const (
	classArgument  = `"class_name":{"type":"string"}`
	idArgument     = `"object_id":{"type":"string","minLength":1}`
	dataArgument   = `"data":{"type":"object","minProperties":1}`
	reasonArgument = `"reason":{"type":"string"}`
)

func (r *Toolset) createObject() tool.Tool {
	return r.object(tool.Tool{Name: "create_object", Title: "Propose a record",
		Description: "Propose a new record; reason tells people why. A person decides.",
		Input:       object("class_name,data", classArgument, dataArgument, reasonArgument)}, write.OpCreate)
}

func (r *Toolset) updateObject() tool.Tool {
	return r.object(tool.Tool{Name: "update_object", Title: "Propose an update",
		Description: "Propose other values for fields of a record.",
		Input:       object("class_name,object_id,data", classArgument, idArgument, dataArgument, reasonArgument)}, write.OpUpdate)
}

func (r *Toolset) deleteObject() tool.Tool {
	t := r.object(tool.Tool{Name: "delete_object", Title: "Propose a deletion",
		Description: "Propose to delete a record.",
		Input:       object("class_name,object_id", classArgument, idArgument, reasonArgument)}, write.OpDelete)
	t.Annotations.Destructive = true
	return t
}

// object completes a tool that proposes one raw write.
func (r *Toolset) object(t tool.Tool, op write.Op) tool.Tool {
	t.Output, t.Annotations, t.Writes, t.Proposes, t.Category, t.Timeout = read(output), proposes(), policy.WriteRaw, true, tool.Mutation, proposeTimeout
	t.Offered = r.offers(op)
	name := t.Name
	t.Handle = func(ctx context.Context, c *bailiwick.Call, in value.Value) (tool.Result, error) {
		w := writeOf(op, in)
		return r.propose(ctx, c, write.Request{Writes: []write.Write{w}, Tool: name, Input: in, Reason: word(in, "reason")}, false)
	}
	return t
}

// writeOf returns the write that the arguments request; they are already checked against the schema.
func writeOf(op write.Op, in value.Value) write.Write {
	data, _ := in.Get("data")
	class, id := word(in, "class_name"), word(in, "object_id")
	switch op {
	case write.OpCreate:
		return &write.Create{Class: class, Data: data}
	case write.OpUpdate:
		return &write.Update{Class: class, ID: id, Data: data}
	}
	return &write.Delete{Class: class, ID: id}
}

// word returns a text argument, or "" if it isn't given.
func word(in value.Value, name string) string {
	v, _ := in.Get(name)
	return v.Text()
}

// object returns a closed input schema; must lists the required names, separated by commas.
func object(must string, properties ...string) []byte {
	required := ""
	if must != "" {
		required = `"required":["` + strings.ReplaceAll(must, ",", `","`) + `"],`
	}
	return []byte(`{"type":"object","additionalProperties":false,` + required + `"properties":{` + strings.Join(properties, ",") + `}}`)
}

// proposeChanges returns the tool that proposes several writes at once.
func (r *Toolset) proposeChanges() tool.Tool {
	return tool.Tool{
		Name: proposeTool, Title: "Propose several writes",
		Description: "Propose up to 100 writes to one source as one change, all or none. op call (call: as of call_api_write): in order, until one fails; \"$1.id\" is id in the first one's answer. after: change_ids to be applied before.",
		Input: object("writes", `"writes":{"type":"array","minItems":1,"maxItems":100,"items":{"type":"object","additionalProperties":false,"required":["op"],"properties":{"op":{"type":"string","enum":["create","update","delete","call"]},`+
			`"class_name":{"type":"string"},"object_id":{"type":"string"},"data":{"type":"object"},"call":{"type":"object"}}}}`,
			`"summary":{"type":"string","maxLength":200}`, reasonArgument, `"after":{"type":"array","items":{"type":"string"}}`),
		// Its writes are of two kinds; policy checks the gate of each.
		Output: read(output), Annotations: proposes(), Writes: policy.WriteAction, Scope: identity.Write, Proposes: true, Category: tool.Mutation, Timeout: proposeTimeout,
		Offered: func(p identity.Principal) bool { return r.raw(p) || r.calls(p) },
		Handle: func(ctx context.Context, c *bailiwick.Call, in value.Value) (tool.Result, error) {
			req := write.Request{Tool: proposeTool, Input: in, Reason: word(in, "reason"), Says: word(in, "summary")}
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
func (r *Toolset) raw(p identity.Principal) bool {
	ask := bailiwick.CallSpec{Tool: proposeTool, Needs: identity.Write, Writes: policy.WriteRaw, Proposes: true}
	return r.gateway.May(p, ask) == nil && r.offers(write.OpCreate, write.OpUpdate, write.OpDelete)(p)
}

// several proposes the writes of list as one change.
func (r *Toolset) several(ctx context.Context, c *bailiwick.Call, req write.Request, list []value.Value) (tool.Result, error) {
	part := ""
	for i, item := range list {
		at := fmt.Sprintf("/writes/%d", i)
		op := write.Op(word(item, "op"))
		if op == write.OpCall && r.calls(c.Who()) {
			w, err := called(c, item, at)
			if err != nil {
				return tool.Result{}, err
			}
			req.Writes, part = append(req.Writes, w), "/call"
			continue
		}
		if err := complete(op, item, at); err != nil {
			return tool.Result{}, err
		}
		req.Writes = append(req.Writes, writeOf(op, item))
	}
	res, err := r.propose(ctx, c, req, false)
	if p, ok := errors.AsType[*problem.Error](err); ok && len(req.Writes) == 1 && p.Pointer != "" && !strings.HasPrefix(p.Pointer, "/after") && p.Pointer != "/change_id" {
		q := *p
		q.Pointer = "/writes/0" + part + p.Pointer
		err = &q
	}
	return res, err
}

// called returns the call of an API that an item asks for.
func called(c *bailiwick.Call, item value.Value, at string) (write.Write, error) {
	if err := members(item, []string{"op", "call"}, at); err != nil {
		return nil, err
	}
	asked, _ := item.Get("call")
	at += "/call"
	if asked.Kind() != value.Object || word(asked, "operationId") == "" {
		return nil, invalid(at, "call is an object with operationId, and what call_api_write takes beside it")
	}
	if err := members(asked, []string{"operationId", "source", "path", "query", "headers", "body", "content_type"}, at); err != nil {
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
		case "path", "query", "headers", "body":
			request = append(request, m)
		}
	}
	w := &write.Call{Source: word(asked, "source"), Operation: word(asked, "operationId"), Request: value.OfObject(request)}
	if w.Source == "" { // the only API with that operation; otherwise policy asks which
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

// members refuses a member of v that isn't known.
func members(v value.Value, known []string, at string) error {
	for _, m := range v.Members() {
		if !slices.Contains(known, m.Name) {
			near := problem.Nearest(m.Name, known, 2)
			return &problem.Error{Code: problem.InvalidArgument, Pointer: at + "/" + problem.Cut(m.Name), Near: near, Detail: fmt.Sprintf("a write has no %q%s", problem.Cut(m.Name), problem.DidYouMean(near))}
		}
	}
	return nil
}

// complete refuses an item that lacks something its op needs, or has something it doesn't take.
func complete(op write.Op, item value.Value, at string) error {
	switch op {
	case write.OpCreate, write.OpUpdate, write.OpDelete:
	default:
		return invalid(at+"/op", "op is create, update or delete")
	}
	if err := members(item, []string{"op", "class_name", "object_id", "data"}, at); err != nil {
		return err
	}
	for _, m := range item.Members() {
		if text := m.Value.Kind() == value.String; text == (m.Name == "data") || m.Name == "data" && m.Value.Kind() != value.Object {
			return invalid(at+"/"+m.Name, "data is an object, all else of a write is a text")
		}
	}
	if word(item, "class_name") == "" {
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

func invalid(at, detail string) error {
	return &problem.Error{Code: problem.InvalidArgument, Pointer: at, Detail: detail}
}

// createClass returns the tool that proposes a new class.
func (r *Toolset) createClass() tool.Tool {
	return tool.Tool{
		Name: "create_class", Title: "Propose a class",
		Description: "Propose a new class, or new fields of one. source: where there are several.",
		Input: object("class_name,fields", classArgument, `"source":{"type":"string"}`,
			`"fields":{"type":"array","minItems":1,"items":{"type":"object","additionalProperties":false,"required":["name","type"],"properties":{"name":{"type":"string"},`+
				`"type":{"type":"string","enum":["string","integer","double","decimal","boolean","date","day","uuid","json"]},"required":{"type":"boolean"}}}}`, reasonArgument),
		Output: read(output), Annotations: proposes(), Writes: policy.WriteSchema, Scope: identity.Schema, Proposes: true, Category: tool.Mutation, Timeout: proposeTimeout,
		Offered: func(p identity.Principal) bool { return len(r.sources(p)) > 0 },
		Handle: func(ctx context.Context, c *bailiwick.Call, in value.Value) (tool.Result, error) {
			name := word(in, "class_name")
			fields, _ := in.Get("fields")
			source, err := r.source(c.Who(), word(in, "source"))
			if err != nil {
				return tool.Result{}, err
			}
			w, title := write.Write(&write.CreateClass{Source: source, Class: name, Fields: fields}), "Create the class "+name
			for _, v := range r.gateway.Views(c.Who()) {
				if v.Source() == source && (v.Name() == name || v.Class().Name == name) {
					w, title = &write.AddFields{Class: v.Class().FullName(), Fields: fields}, "Add fields to "+name
				}
			}
			return r.propose(ctx, c, write.Request{Writes: []write.Write{w}, Tool: "create_class", Title: title, Input: in, Reason: word(in, "reason")}, false)
		},
	}
}

// deleteClass returns the tool that proposes to remove a class.
func (r *Toolset) deleteClass() tool.Tool {
	return tool.Tool{
		Name: "delete_class", Title: "Propose to drop a class",
		Description: "Propose to delete a class that holds no records.",
		Input:       object("class_name", classArgument, reasonArgument),
		Output:      read(output), Annotations: tool.Annotations{Destructive: true, Idempotent: true}, Writes: policy.WriteSchema, Scope: identity.Schema, Proposes: true,
		Category: tool.Mutation, Timeout: proposeTimeout,
		Offered: func(p identity.Principal) bool { return len(r.sources(p)) > 0 },
		Handle: func(ctx context.Context, c *bailiwick.Call, in value.Value) (tool.Result, error) {
			w := &write.DeleteClass{Class: word(in, "class_name")}
			return r.propose(ctx, c, write.Request{Writes: []write.Write{w}, Tool: "delete_class", Title: "Delete the class " + w.Class, Input: in, Reason: word(in, "reason")}, false)
		},
	}
}

// sources returns the sources of which p sees something.
func (r *Toolset) sources(p identity.Principal) []string {
	var out []string
	for _, v := range r.gateway.Views(p) { // ordered by source
		if len(out) == 0 || out[len(out)-1] != v.Source() {
			out = append(out, v.Source())
		}
	}
	return out
}

// source returns the named source, or for "" the only one.
func (r *Toolset) source(p identity.Principal, name string) (string, error) {
	known := r.sources(p)
	switch {
	case name == "" && len(known) == 1:
		return known[0], nil
	case name == "":
		return "", invalid("/source", "name the source: "+strings.Join(known, ", "))
	}
	for _, s := range known {
		if s == name {
			return s, nil
		}
	}
	return "", invalid("/source", fmt.Sprintf("there is no source %q%s", problem.Cut(name), problem.DidYouMean(problem.Nearest(name, known, 1))))
}
