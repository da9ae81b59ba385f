package mongodb

import (
	"slices"
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/bailiwick-dev/bailiwick/schema"
)

// A tracing finds the origins of the fields of a view, stage by stage.
type tracing struct {
	on      string                     // the collection or view that the view reads
	fields  map[string][]schema.Origin // by top-level name: the fields that a stage has computed
	gone    map[string]bool            // the fields that a stage has removed
	only    bool                       // whether there are only the fields in fields
	unknown string                     // the stage that isn't understood, or ""
}

// trace sets the origins of the fields of a view. It ignores collections. If a stage isn't understood, the origin of
// each field is any column of the collections that the pipeline reads.
func (c *found) trace(class *schema.Class) {
	if !class.View {
		return
	}
	t := &tracing{on: c.Options.ViewOn, fields: map[string][]schema.Origin{}, gone: map[string]bool{}}
	for _, stage := range c.Options.Pipeline {
		if len(stage) == 1 && t.unknown == "" {
			t.stage(stage[0].Key, stage[0].Value)
		}
	}
	if t.unknown != "" {
		all := []schema.Origin{{Table: t.on}}
		for _, name := range read(c.Options.Pipeline) {
			all = append(all, schema.Origin{Table: name})
		}
		for i := range class.Fields {
			class.Fields[i].Origins, class.Fields[i].Untraced = all, "the stage "+t.unknown+" of its view isn't traced"
		}
		return
	}
	for i := range class.Fields {
		class.Fields[i].Origins = t.of(class.Fields[i].Name)
	}
}

// of returns the origins of the top-level field called name.
func (t *tracing) of(name string) []schema.Origin {
	if made, ok := t.fields[name]; ok {
		return made
	}
	if t.only || t.gone[name] {
		return nil
	}
	return []schema.Origin{{Table: t.on, Column: name}}
}

// stage applies one stage. Stages that only select or order records leave the fields unchanged.
func (t *tracing) stage(name string, of any) {
	members, _ := of.(bson.D)
	switch name {
	case "$match", "$sort", "$limit", "$skip", "$sample", "$unwind":
	case "$project":
		t.project(members)
	case "$addFields", "$set":
		made := map[string][]schema.Origin{}
		for _, m := range members {
			top := first(m.Key)
			made[top] = append(made[top], t.refs(m.Value)...)
			if top != m.Key {
				made[top] = append(made[top], t.of(top)...)
			}
		}
		for top, from := range made {
			t.fields[top] = from
			delete(t.gone, top)
		}
	case "$unset":
		names, _ := of.(bson.A)
		if one, ok := of.(string); ok {
			names = bson.A{one}
		}
		for _, n := range names {
			if n, _ := n.(string); n == first(n) {
				delete(t.fields, n)
				t.gone[n] = true
			}
		}
	case "$group":
		made := map[string][]schema.Origin{}
		for _, m := range members {
			made[m.Key] = t.refs(m.Value)
		}
		t.fields, t.only = made, true
	case "$lookup", "$graphLookup":
		as, from := member(members, "as"), member(members, "from")
		if as == "" || from == "" {
			t.unknown = name
			return
		}
		t.fields[first(as)] = append(t.of(first(as)), schema.Origin{Table: from})
	default:
		t.unknown = name
	}
}

// project applies a $project. An inclusion keeps only the included fields and _id.
func (t *tracing) project(members bson.D) {
	drops := !slices.ContainsFunc(members, func(m bson.E) bool { return !isOff(m.Value) })
	made := map[string][]schema.Origin{}
	for _, m := range members {
		top := first(m.Key)
		switch {
		case isOff(m.Value):
			if top == m.Key {
				delete(t.fields, top)
				t.gone[top] = true
			}
		case isOn(m.Value):
			made[top] = append(made[top], t.of(top)...)
		default:
			made[top] = append(made[top], t.refs(m.Value)...)
		}
	}
	if drops {
		return
	}
	if _, named := made["_id"]; !named && !t.gone["_id"] {
		made["_id"] = t.of("_id")
	}
	t.fields, t.only = made, true
}

// refs returns the origins of an expression. "$a.b" refers to the field a, and "$$ROOT" to the whole record.
func (t *tracing) refs(x any) (out []schema.Origin) {
	switch x := x.(type) {
	case string:
		path, field := strings.CutPrefix(x, "$")
		switch {
		case !field:
		case strings.HasPrefix(path, "$ROOT"), strings.HasPrefix(path, "$CURRENT"):
			out = []schema.Origin{{Table: t.on}}
			for _, made := range t.fields {
				out = append(out, made...)
			}
		case !strings.HasPrefix(path, "$"): // any other variable contains the value of its definition
			out = t.of(first(path))
		}
	case bson.D:
		for _, m := range x {
			out = append(out, t.refs(m.Value)...)
		}
	case bson.A:
		for _, e := range x {
			out = append(out, t.refs(e)...)
		}
	}
	return out
}

// read returns the names of all other collections that a pipeline reads, at any depth.
func read(x any) (out []string) {
	switch x := x.(type) {
	case []bson.D:
		for _, d := range x {
			out = append(out, read(d)...)
		}
	case bson.A:
		for _, e := range x {
			out = append(out, read(e)...)
		}
	case bson.D:
		for _, m := range x {
			if name, text := m.Value.(string); text && (m.Key == "from" || m.Key == "coll" || m.Key == "$unionWith") {
				out = append(out, name)
			}
			out = append(out, read(m.Value)...)
		}
	}
	return out
}

// first returns the first part of a path.
func first(path string) string {
	top, _, _ := strings.Cut(path, ".")
	return top
}

// member returns the text of a member.
func member(d bson.D, name string) string {
	for _, m := range d {
		if m.Key == name {
			text, _ := m.Value.(string)
			return text
		}
	}
	return ""
}

// isOff reports whether a value in a $project excludes its field. isOn reports whether it includes the field.
func isOff(v any) bool {
	return v == false || v == int32(0) || v == int64(0) || v == float64(0)
}

func isOn(v any) bool {
	switch v.(type) {
	case bool, int32, int64, float64:
		return !isOff(v)
	}
	return false
}
