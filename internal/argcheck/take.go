package argcheck

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/bailiwick-dev/bailiwick/query"
	"github.com/bailiwick-dev/bailiwick/value"
)

// A shape is the part of an object's schema that Take needs.
type shape struct {
	properties map[string]property
	open       bool // allows additional members
}

// A property is a member of a shape.
type property struct {
	kind, items string // the type of the member, and the type of the elements of a list
	enum        []value.Value
	most        value.Value // the maximum of a number, or null
	required    bool
	inner       *shape // the shape of an object or of the elements of a list. Nil if the schema names no members
}

// shapeOf returns the shape of an object schema.
func shapeOf(doc value.Value) *shape {
	out := &shape{properties: map[string]property{}, open: true}
	if closed, ok := doc.Get("additionalProperties"); ok && closed.Kind() == value.Bool {
		out.open = closed.Bool()
	}
	required, _ := doc.Get("required")
	all, _ := doc.Get("properties")
	for _, m := range all.Members() {
		text := func(v value.Value, name string) string { t, _ := v.Get(name); return t.Text() }
		items, _ := m.Value.Get("items")
		enum, _ := m.Value.Get("enum")
		most, _ := m.Value.Get("maximum")
		p := property{kind: text(m.Value, "type"), items: text(items, "type"), enum: enum.List(), most: most,
			required: slices.ContainsFunc(required.List(), func(v value.Value) bool { return v.Text() == m.Name })}
		for _, of := range []value.Value{m.Value, items} {
			if _, ok := of.Get("properties"); ok {
				p.inner = shapeOf(of)
			}
		}
		out.properties[m.Name] = p
	}
	return out
}

// Take converts args to the types of the schema if they have an equivalent form. Examples are "5" for 5, "a,b" for
// ["a","b"], an object as its JSON text, and sort for order. It also converts the members of nested objects. If clamp
// is set, a number above its maximum becomes the maximum, with a note. Other wrong values stay unchanged and are
// rejected by Check.
func (in *Schema) Take(args value.Value, clamp bool) (out value.Value, notes []string) {
	if clamp {
		return in.shape.take(args, "", &notes), notes
	}
	return in.shape.take(args, "", nil), nil
}

// take converts an object at a JSON pointer. If notes is nil, numbers above their maximum stay unchanged.
func (s *shape) take(args value.Value, at string, notes *[]string) value.Value {
	if args.Kind() != value.Object {
		return args
	}
	var members []value.Member
	for _, m := range args.Members() {
		m.Name = s.resolveName(m.Name, args, members)
		p, known := s.properties[m.Name]
		if known && m.Value.IsNull() && !p.required {
			continue // some clients send null for a missing argument
		}
		at := query.Pointer(at, m.Name)
		if known {
			m.Value = p.within(p.take(m.Name, m.Value), at, notes)
		}
		if c, over := overMost(m.Value, p.most); over && notes != nil {
			*notes = append(*notes, fmt.Sprintf("%s: %s is over the most there is here, and was taken as %s", at, m.Value, c))
			m.Value = c
		}
		members = append(members, m)
	}
	return value.OfObject(members)
}

// within converts the members of v, which is an object or a list of objects.
func (p property) within(v value.Value, at string, notes *[]string) value.Value {
	switch {
	case p.inner == nil:
		return v
	case v.Kind() == value.Array:
		out := slices.Clone(v.List())
		for i, e := range out {
			out[i] = p.inner.take(e, query.Pointer(at, strconv.Itoa(i)), notes)
		}
		return value.OfArray(out)
	}
	return p.inner.take(v, at, notes)
}

// resolveName returns the member for a name: the name itself, or the member that it is an alias of. An alias of a
// member that is already given is not resolved.
func (s *shape) resolveName(name string, args value.Value, before []value.Member) string {
	if _, known := s.properties[name]; known || s.open {
		return name
	}
	for _, to := range words(name) {
		_, known := s.properties[to]
		_, given := args.Get(to)
		if known && !given && !slices.ContainsFunc(before, func(m value.Member) bool { return m.Name == to }) {
			return to
		}
	}
	return name
}

// words returns the arguments that a name may be a synonym for.
func words(name string) []string {
	switch name {
	case "offset":
		return []string{"skip"}
	case "sort", "order_by", "orderBy", "sort_by":
		return []string{"order"}
	case "filter", "filters", "condition", "conditions", "selector":
		return []string{"where"}
	case "query":
		return []string{"where", "sql"}
	case "statement":
		return []string{"sql"}
	case "id", "objectId", "record_id":
		return []string{"object_id", "change_id", "operationId"}
	case "operation_id", "operationID", "operation_name":
		return []string{"operationId"}
	case "path_params", "pathParams", "path_parameters", "pathParameters":
		return []string{"path"}
	case "query_params", "queryParams", "query_parameters", "queryParameters":
		return []string{"query"}
	case "data", "json", "payload", "request_body", "requestBody":
		return []string{"body"}
	case "q", "text", "search", "keywords", "task", "comment", "reply":
		return []string{"query", "message"}
	case "object_ids", "objectIds", "record_ids":
		return []string{"ids"}
	case "fields", "columns", "select", "projection":
		return []string{"keys", "data"}
	case "set", "values", "record", "update":
		return []string{"data"}
	case "changes", "operations", "mutations":
		return []string{"writes"}
	case "key", "column", "group_by", "groupBy", "date_field":
		return []string{"field"}
	case "class", "className", "table", "collection", "classes", "tables", "classNames":
		return []string{"class_name", "class_names"}
	case "value", "aggregate_field", "field_to_aggregate", "metric", "value_column":
		return []string{"value_field"}
	case "top", "max_results", "page_size":
		return []string{"limit"}
	case "aggregation", "aggregate":
		return []string{"operation"}
	case "granularity", "unit", "period":
		return []string{"interval"}
	case "tz", "time_zone":
		return []string{"timezone"}
	case "action", "method":
		return []string{"op", "method_name"}
	case "operation":
		return []string{"operationId", "op"}
	case "type":
		return []string{"op"}
	case "args", "params", "parameters":
		return []string{"arguments"}
	case "stages":
		return []string{"pipeline"}
	}
	return nil
}

func overMost(v, most value.Value) (value.Value, bool) {
	c, alike := value.Compare(v, most)
	return most, alike && c > 0 && v.IsNumber() && most.IsNumber()
}

// take converts v to the type of the property.
func (p property) take(name string, v value.Value) value.Value {
	switch text := v.Kind() == value.String; p.kind {
	case "integer", "number", "boolean":
		if text {
			return like(p.kind, v)
		}
	case "object":
		if text {
			return parseAs(v, value.Object)
		}
	case "string":
		return p.text(name, v)
	case "array":
		return p.list(v)
	}
	return v
}

// like parses a text as a number or a boolean. It returns other texts unchanged.
func like(kind string, v value.Value) value.Value {
	read, err := value.Read([]byte(strings.ToLower(strings.TrimSpace(v.Text()))), 0)
	if err == nil && (kind == "boolean" && read.Kind() == value.Bool || kind != "boolean" && read.IsNumber()) {
		return read
	}
	return v
}

// parseAs parses a text as JSON of one kind. It returns other values unchanged.
func parseAs(v value.Value, kind value.Kind) value.Value {
	read, err := value.Read([]byte(v.Text()), 0)
	if err == nil && read.Kind() == kind {
		return read
	}
	return v
}

// text converts a value to a string. A number becomes its text. An order that is a list or an object becomes a list
// of terms.
func (p property) text(name string, v value.Value) value.Value {
	switch {
	case v.IsNumber():
		v = value.OfString(v.String())
	case v.Kind() == value.Array && name == "order", v.Kind() == value.Object && name == "order":
		if terms, ok := terms(v); ok {
			v = value.OfString(strings.Join(terms, ","))
		}
	}
	if p.enum == nil || v.Kind() != value.String {
		return v
	}
	name = strings.ToLower(strings.TrimSpace(v.Text()))
	for _, word := range []string{name, synonym(name)} {
		for _, e := range p.enum {
			if strings.EqualFold(e.Text(), word) {
				return e
			}
		}
	}
	return v
}

// terms returns the terms of an order. The accepted forms are ["-a", "b"], {"a": -1}, [["a", "desc"]] and [{"a":
// -1}].
func terms(v value.Value) (out []string, ok bool) {
	for _, e := range v.List() {
		switch e.Kind() {
		case value.String:
			out = append(out, e.Text())
		case value.Object:
			more, ok := terms(e)
			if !ok {
				return nil, false
			}
			out = append(out, more...)
		case value.Array:
			pair := e.List()
			if len(pair) != 2 || pair[0].Kind() != value.String {
				return nil, false
			}
			out = append(out, pair[0].Text()+" "+direction(pair[1]))
		default:
			return nil, false
		}
	}
	for _, m := range v.Members() {
		out = append(out, m.Name+" "+direction(m.Value))
	}
	return out, true
}

func direction(v value.Value) string {
	switch v.String() {
	case "1":
		return "asc"
	case "-1":
		return "desc"
	}
	return v.String()
}

// list converts a value to a list. It accepts names separated by commas, JSON text, and a single element.
func (p property) list(v value.Value) value.Value {
	if v.Kind() == value.String {
		if v = parseAs(v, value.Array); v.Kind() == value.String {
			if p.items == "object" {
				v = parseAs(v, value.Object)
			} else if p.items == "string" {
				v = split(v.Text())
			}
		}
	}
	if kind := v.Kind(); p.items == "object" && kind == value.Object || p.items == "string" && v.IsNumber() {
		v = value.OfArray([]value.Value{v})
	}
	if p.items != "string" || v.Kind() != value.Array {
		return v
	}
	out := slices.Clone(v.List())
	for i, e := range out {
		if e.IsNumber() {
			out[i] = value.OfString(e.String())
		}
	}
	return value.OfArray(out)
}

func split(text string) value.Value {
	var out []value.Value
	for name := range strings.SplitSeq(text, ",") {
		out = append(out, value.OfString(strings.TrimSpace(name)))
	}
	return value.OfArray(out)
}

// synonym returns the enumeration value for a lower-case synonym, or "".
func synonym(word string) string {
	switch word {
	case "average", "mean":
		return "avg"
	case "total":
		return "sum"
	case "minimum", "lowest":
		return "min"
	case "maximum", "highest":
		return "max"
	case "ascending":
		return "asc"
	case "descending":
		return "desc"
	case "hourly", "weekly", "monthly", "quarterly", "yearly":
		return strings.TrimSuffix(word, "ly")
	case "daily":
		return "day"
	case "insert", "add":
		return "create"
	case "patch", "edit", "modify":
		return "update"
	case "remove":
		return "delete"
	case "annually":
		return "year"
	case "md":
		return "markdown"
	case "ndjson":
		return "jsonl"
	}
	return ""
}
