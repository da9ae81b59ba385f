package mongodb

import (
	"slices"
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/bailiwick-dev/bailiwick/schema"
)

// A tracing finds what the fields of a view are made of, stage by stage.
type tracing struct {
	on      string                     // the collection or view below it
	fields  map[string][]schema.Origin // by top-level name, those that a stage has made
	gone    map[string]bool            // those that a stage has taken away
	only    bool                       // there are no other fields than those in fields
	unknown string                     // a stage that isn't understood, or ""
}

// trace sets what the fields of a view are made of. It leaves those of a collection. A stage that isn't understood makes every field one of all columns that
// the pipeline reads.
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

// of returns what the top-level field called name is made of.
func (t *tracing) of(name string) []schema.Origin {
	if made, ok := t.fields[name]; ok {
		return made
	}
	if t.only || t.gone[name] {
		return nil
	}
	return []schema.Origin{{Table: t.on, Column: name}}
}

// stage follows one stage. Stages that only choose or order records leave fields as they are.
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

// project follows a $project: of an inclusion nothing else is left, _id apart.
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

// refs returns what an expression reads: "$a.b" is the field a, "$$ROOT" the whole record.
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
		case !strings.HasPrefix(path, "$"): // another variable holds what its definition reads
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

// read returns the names of the collections that a pipeline reads besides its own, at any depth.
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

// isOff reports whether a value of a $project leaves its field out, and isOn whether it keeps it.
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
