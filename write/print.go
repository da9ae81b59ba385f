package write

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf16"

	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/value"
)

// Print returns w as a JSON object with "op" and its parts, which Parse can parse.
func Print(w Write) value.Value {
	text := value.OfString
	switch w := w.(type) {
	case *Create:
		return object("op", text("create"), "class", text(w.Class), "data", w.Data)
	case *Update:
		return object("op", text("update"), "class", text(w.Class), "id", text(w.ID), "data", w.Data)
	case *Delete:
		return object("op", text("delete"), "class", text(w.Class), "id", text(w.ID))
	case *Action:
		return object("op", text("action"), "class", text(w.Class), "name", text(w.Name), "id", text(w.ID), "input", w.Input, "source", text(w.Source))
	case *Call:
		parts := []any{"op", text("call"), "source", text(w.Source), "operation", text(w.Operation), "request", w.Request}
		if !w.Sends.IsNull() {
			parts = append(parts, "sends", w.Sends)
		}
		return object(parts...)
	case *CreateClass:
		return object("op", text("create_class"), "source", text(w.Source), "class", text(w.Class), "fields", w.Fields)
	case *AddFields:
		return object("op", text("add_fields"), "class", text(w.Class), "fields", w.Fields)
	case *DeleteClass:
		return object("op", text("delete_class"), "class", text(w.Class))
	}
	panic(fmt.Sprintf("a write of an unknown type %T", w)) // unreachable: Write is a closed set of types
}

func object(parts ...any) value.Value {
	var members []value.Member
	for i := 0; i < len(parts); i += 2 {
		members = append(members, value.Member{Name: parts[i].(string), Value: parts[i+1].(value.Value)})
	}
	return value.OfObject(members)
}

// members lists the members of each op in the order of Print. A leading "?" marks an optional member.
var members = map[string][]string{
	"create":       {"class", "data"},
	"update":       {"class", "id", "data"},
	"delete":       {"class", "id"},
	"action":       {"class", "name", "?id", "?input", "?source"},
	"call":         {"?source", "operation", "request", "?sends"},
	"create_class": {"?source", "class", "fields"},
	"add_fields":   {"class", "fields"},
	"delete_class": {"class"},
}

// ops returns the values of "op" that Parse accepts.
func ops() []string {
	return []string{"create", "update", "delete", "action", "call", "create_class", "add_fields", "delete_class"}
}

// Parse parses the output of Print. Errors are problem.InvalidArgument. Their JSON pointers begin with at, the pointer
// of v.
func Parse(v value.Value, at string) (Write, error) {
	invalid := func(at, format string, args ...any) error {
		return &problem.Error{Code: problem.InvalidArgument, Pointer: at, Detail: fmt.Sprintf(format, args...)}
	}
	if v.Kind() != value.Object {
		return nil, invalid(at, "a write is an object with op")
	}
	op, _ := v.Get("op")
	names, ok := members[op.Text()]
	if op.Kind() != value.String || !ok {
		return nil, invalid(at+"/op", "must be one of %s%s", strings.Join(ops(), ", "), problem.DidYouMean(problem.Nearest(op.Text(), ops(), 1)))
	}
	known := []string{"op"}
	part := map[string]value.Value{}
	for _, n := range names {
		name, optional := strings.CutPrefix(n, "?")
		known = append(known, name)
		m, has := v.Get(name)
		has = has && !(optional && m.IsNull())
		if !has && !optional {
			return nil, invalid(at+"/"+name, "%s needs %s", op.Text(), name)
		}
		switch name {
		case "class", "name", "source", "operation", "id":
			if has && m.Kind() != value.String || !optional && m.Text() == "" {
				return nil, invalid(at+"/"+name, "must be a text that isn't empty")
			}
		case "data", "request", "input", "sends":
			if has && m.Kind() != value.Object {
				return nil, invalid(at+"/"+name, "must be an object")
			}
		case "fields":
			if m.Kind() != value.Array {
				return nil, invalid(at+"/"+name, "must be a list")
			}
		}
		part[name] = m
	}
	// Refuse members that Print doesn't write, so that no part of a stored change is ignored.
	for _, m := range v.Members() {
		if !slices.Contains(known, m.Name) {
			return nil, invalid(at+"/"+m.Name, "%s has no %q%s", op.Text(), problem.Cut(m.Name), problem.DidYouMean(problem.Nearest(m.Name, known, 1)))
		}
	}
	return newWrite(op.Text(), part), nil
}

// newWrite builds a write from its parts. Parse has already checked them.
func newWrite(op string, part map[string]value.Value) Write {
	text := func(name string) string { return part[name].Text() }
	switch op {
	case "create":
		return &Create{Class: text("class"), Data: part["data"]}
	case "update":
		return &Update{Class: text("class"), ID: text("id"), Data: part["data"]}
	case "delete":
		return &Delete{Class: text("class"), ID: text("id")}
	case "action":
		return &Action{Class: text("class"), Name: text("name"), ID: text("id"), Input: part["input"], Source: text("source")}
	case "call":
		return &Call{Source: text("source"), Operation: text("operation"), Request: part["request"], Sends: part["sends"]}
	case "create_class":
		return &CreateClass{Source: text("source"), Class: text("class"), Fields: part["fields"]}
	case "add_fields":
		return &AddFields{Class: text("class"), Fields: part["fields"]}
	}
	return &DeleteClass{Class: text("class")}
}

// AppendCanonical appends v as JSON in the style of RFC 8785, with members sorted by the UTF-16 code units of their
// names and without spaces. Unlike in the RFC, numbers are exact and not rounded to doubles.
func AppendCanonical(dst []byte, v value.Value) []byte {
	switch v.Kind() {
	case value.Array:
		dst = append(dst, '[')
		for i, e := range v.List() {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = AppendCanonical(dst, e)
		}
		return append(dst, ']')
	case value.Object:
		sorted := slices.SortedFunc(slices.Values(v.Members()), func(a, b value.Member) int {
			return slices.Compare(utf16.Encode([]rune(a.Name)), utf16.Encode([]rune(b.Name)))
		})
		dst = append(dst, '{')
		for i, m := range sorted {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = append(value.AppendQuote(dst, m.Name), ':')
			dst = AppendCanonical(dst, m.Value)
		}
		return append(dst, '}')
	}
	return v.AppendJSON(dst)
}
