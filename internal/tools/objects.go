package tools

import (
	"context"
	"fmt"
	"github.com/bailiwick-dev/bailiwick/schema"
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

func (r *ChangeTools) createObject() tool.Tool {
	return r.object(tool.Tool{Name: "create_object", Title: "Propose a record",
		Description: "Propose a new record. reason tells people why. A person decides.",
		Input:       object("class_name,data", classArgument, dataArgument, reasonArgument)}, write.OpCreate)
}

func (r *ChangeTools) updateObject() tool.Tool {
	return r.object(tool.Tool{Name: "update_object", Title: "Propose an update",
		Description: "Propose other values for fields of a record.",
		Input:       object("class_name,object_id,data", classArgument, idArgument, dataArgument, reasonArgument)}, write.OpUpdate)
}

func (r *ChangeTools) deleteObject() tool.Tool {
	t := r.object(tool.Tool{Name: "delete_object", Title: "Propose a deletion",
		Description: "Propose to delete a record.",
		Input:       object("class_name,object_id", classArgument, idArgument, reasonArgument)}, write.OpDelete)
	t.Annotations.Destructive = true
	return t
}

// object sets the common properties of a tool that proposes one raw write.
func (r *ChangeTools) object(t tool.Tool, op write.Op) tool.Tool {
	t.Output, t.Annotations, t.Writes, t.Proposes, t.Category, t.Timeout = changeRead(output), proposes(), policy.WriteRaw, true, tool.Mutation, proposeTimeout
	t.Offered = r.offers(op)
	name := t.Name
	t.Handle = func(ctx context.Context, c *bailiwick.Call, in value.Value) (tool.Result, error) {
		w := writeOf(op, in)
		return r.propose(ctx, c, write.Request{Writes: []write.Write{w}, Tool: name, Input: in, Reason: changeWord(in, "reason")}, false)
	}
	return t
}

// writeOf returns the write that the arguments request. The arguments must already match the schema.
func writeOf(op write.Op, in value.Value) write.Write {
	data, _ := in.Get("data")
	class, id := changeWord(in, "class_name"), changeWord(in, "object_id")
	switch op {
	case write.OpCreate:
		return &write.Create{Class: class, Data: data}
	case write.OpUpdate:
		return &write.Update{Class: class, ID: id, Data: data}
	}
	return &write.Delete{Class: class, ID: id}
}

// changeWord returns a text argument, or "" if it isn't given.
func changeWord(in value.Value, name string) string {
	v, _ := in.Get(name)
	return v.Text()
}

// object returns a closed input schema. must lists the required names, separated by commas.
func object(must string, properties ...string) []byte {
	required := ""
	if must != "" {
		required = `"required":["` + strings.ReplaceAll(must, ",", `","`) + `"],`
	}
	return []byte(`{"type":"object","additionalProperties":false,` + required + `"properties":{` + strings.Join(properties, ",") + `}}`)
}

func invalid(at, detail string) error {
	return &problem.Error{Code: problem.InvalidArgument, Pointer: at, Detail: detail}
}

// createClass returns the tool that proposes a new class.
func (r *ChangeTools) createClass() tool.Tool {
	return tool.Tool{
		Name: "create_class", Title: "Propose a class",
		Description: "Propose a new class, or new fields of one. source: where there are several.",
		Input: object("class_name,fields", classArgument, `"source":{"type":"string"}`,
			`"fields":{"type":"array","minItems":1,"items":{"type":"object","additionalProperties":false,"required":["name","type"],"properties":{"name":{"type":"string"},`+
				`"type":{"type":"string","enum":["string","integer","double","decimal","boolean","date","day","uuid","json"]},"required":{"type":"boolean"}}}}`, reasonArgument),
		Output: changeRead(output), Annotations: proposes(), Writes: policy.WriteSchema, Scope: identity.Schema, Proposes: true, Category: tool.Mutation, Timeout: proposeTimeout,
		Offered: func(p identity.Principal) bool { return len(r.sources(p)) > 0 },
		Handle: func(ctx context.Context, c *bailiwick.Call, in value.Value) (tool.Result, error) {
			name := changeWord(in, "class_name")
			fields, _ := in.Get("fields")
			source, err := r.source(c.Who(), changeWord(in, "source"))
			if err != nil {
				return tool.Result{}, err
			}
			w, title := write.Write(&write.CreateClass{Source: source, Class: name, Fields: fields}), "Create the class "+name
			for v := range c.ViewsOf(func(c *schema.Class) bool { return c.Source == source && (c.Name == name || c.FullName() == name) }) {
				w, title = &write.AddFields{Class: v.Class().FullName(), Fields: fields}, "Add fields to "+name
			}
			return r.propose(ctx, c, write.Request{Writes: []write.Write{w}, Tool: "create_class", Title: title, Input: in, Reason: changeWord(in, "reason")}, false)
		},
	}
}

// deleteClass returns the tool that proposes to remove a class.
func (r *ChangeTools) deleteClass() tool.Tool {
	return tool.Tool{
		Name: "delete_class", Title: "Propose to drop a class",
		Description: "Propose to delete a class that holds no records.",
		Input:       object("class_name", classArgument, reasonArgument),
		Output:      changeRead(output), Annotations: tool.Annotations{Destructive: true, Idempotent: true}, Writes: policy.WriteSchema, Scope: identity.Schema, Proposes: true,
		Category: tool.Mutation, Timeout: proposeTimeout,
		Offered: func(p identity.Principal) bool { return len(r.sources(p)) > 0 },
		Handle: func(ctx context.Context, c *bailiwick.Call, in value.Value) (tool.Result, error) {
			w := &write.DeleteClass{Class: changeWord(in, "class_name")}
			return r.propose(ctx, c, write.Request{Writes: []write.Write{w}, Tool: "delete_class", Title: "Delete the class " + w.Class, Input: in, Reason: changeWord(in, "reason")}, false)
		},
	}
}

// sources returns the sources in which p sees a class.
func (r *ChangeTools) sources(p identity.Principal) []string {
	var out []string
	for v := range r.gateway.ViewsOf(p, func(c *schema.Class) bool { return !slices.Contains(out, c.Source) }) { // one of each source is enough
		out = append(out, v.Source())
	}
	return out
}

// source returns the named source. For "" it returns the only source, or an error if there are several.
func (r *ChangeTools) source(p identity.Principal, name string) (string, error) {
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
