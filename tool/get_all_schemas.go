package tool

import (
	"context"
	"fmt"
	"github.com/bailiwick-dev/bailiwick/schema"
	"iter"
	"slices"
	"strings"

	"github.com/bailiwick-dev/bailiwick"
	"github.com/bailiwick-dev/bailiwick/identity"
	"github.com/bailiwick-dev/bailiwick/policy"
	"github.com/bailiwick-dev/bailiwick/value"
)

// manyClasses is the maximum number of classes that are listed with descriptions. More classes are listed as groups or
// bare names.
const manyClasses = 50

// getAllSchemas returns the tool that lists the classes that the caller sees.
func getAllSchemas(w Writing) Tool {
	return Tool{
		Name:        "get_all_schemas",
		Title:       "List classes",
		Description: "List the classes (tables) that you can read. A small catalogue comes with all fields, a large one in groups: give a prefix.",
		Input: compact(`{"type": "object", "additionalProperties": false, "properties": {
			"names": {"type": "array", "maxItems": 1000, "items": {"type": "string"}},
			"prefix": {"type": "string", "description": "only names that begin so"},
			"source": {"type": "string"}}}`),
		Output: compact(`{"type": "object", "required": ["total"], "properties": {
			"classes": {"type": "array", "items": {"type": "object", "properties": {
				"name": {"type": "string"}, "records": {"type": "integer", "description": "an estimate"}}}},
			"groups": {"type": "array", "items": {"type": "object"}},
			"schema": {"type": "string", "description": "all fields, if the catalogue is small"},
			"total": {"type": "integer"}, "hint": {"type": "string"}}}`),
		Annotations: reads(),
		Category:    Schema,
		Timeout:     schemaTimeout,
		Handle: func(ctx context.Context, c *bailiwick.Call, in value.Value) (Result, error) {
			args := arguments{in}
			views := filterViews(c.Views(), args)
			if len(views) <= manyClasses {
				return classes(ctx, c, w, views)
			}
			if groups := groupViews(views, args.text("prefix")); len(groups) > 1 && len(groups) < len(views) {
				return groupResult(groups, len(views)), nil
			}
			return names(c, views), nil
		},
	}
}

// filterViews returns the views that match the arguments. It filters the caller's own views, so it can't be used to
// probe.
func filterViews(views []*policy.View, args arguments) []*policy.View {
	only := args.texts("names")
	return slices.DeleteFunc(views, func(v *policy.View) bool {
		switch {
		case len(only) > 0 && !slices.Contains(only, v.Name()) && !slices.Contains(only, v.Class().FullName()):
			return true
		case args.text("source") != "" && args.text("source") != v.Source():
			return true
		}
		return !strings.HasPrefix(v.Name(), args.text("prefix"))
	})
}

// classes lists the views with their numbers of fields and, if the source has them, estimates of their records.
func classes(ctx context.Context, c *bailiwick.Call, w Writing, views []*policy.View) (Result, error) {
	estimates, err := c.Estimates(ctx, views)
	if err != nil {
		return Result{}, err
	}
	out := make([]value.Value, len(views))
	var lines strings.Builder
	for i, v := range views {
		ms := []value.Member{text("name", v.Name()), text("source", v.Source())}
		fmt.Fprintf(&lines, "%s: %d fields", v.Name(), len(v.Fields()))
		if n, ok := estimates[v.Class().FullName()]; ok {
			ms = append(ms, member("records", value.OfInt(n)))
			fmt.Fprintf(&lines, ", about %d records", n)
		}
		if d := aboutView(v); d != "" {
			ms = append(ms, text("description", d))
			lines.WriteString(". " + d)
		}
		out[i] = value.OfObject(append(ms, member("fields", value.OfInt(int64(len(v.Fields()))))))
		lines.WriteByte('\n')
	}
	members := []value.Member{member("classes", value.OfArray(out)), member("total", value.OfInt(int64(len(views))))}
	total := many(len(views), "class", "classes")
	if whole := wholeSchema(ctx, c, w, views, estimates); whole != "" {
		doc := value.OfObject(append(members, text("schema", whole)))
		return Result{Structured: doc.AppendJSON(nil), Text: whole + "\n" + total + " with all fields"}, nil
	}
	lines.WriteString(total)
	return Result{Structured: value.OfObject(members).AppendJSON(nil), Text: lines.String()}, nil
}

// smallSchema is the maximum size of a schema that get_all_schemas returns completely, in bytes: 1,500 tokens.
const smallSchema = 6000

// wholeSchema returns the compact descriptions of all views, with the commonest values of their fields if there is
// room. It returns "" if they are too large or there are none.
func wholeSchema(ctx context.Context, c *bailiwick.Call, w Writing, views []*policy.View, estimates map[string]int64) string {
	if len(views) == 0 || !c.MayCall("get_schema") {
		return ""
	}
	join := func(values bool) string {
		return withLegend(strings.Join(describeClasses(ctx, c, views, description{writing: w, values: values, estimates: estimates}), "\n"))
	}
	whole := join(false)
	if len(whole) > smallSchema {
		return ""
	}
	if with := join(true); len(with) <= smallSchema {
		return with
	}
	return whole
}

// Schema returns the compact description of everything that p may read, for the instructions of a conversation. It
// returns "" if get_all_schemas wouldn't return it completely, or if p may not call get_all_schemas. It contains no
// data from records.
func (s *Set) Schema(p identity.Principal) string {
	views := s.gateway.Views(p)
	several := hasSeveralSources(func(keep func(*schema.Class) bool) iter.Seq[*policy.View] { return s.gateway.ViewsOf(p, keep) })
	if len(views) == 0 || len(views) > smallSchema/20 || !s.May(p, "get_all_schemas") || !s.May(p, "get_schema") {
		return ""
	}
	size := 0
	texts := make([]string, len(views))
	for i, v := range views {
		texts[i] = compactDoc(v, several, docExtra{})
		if size += len(texts[i]) + 1; size > smallSchema {
			return ""
		}
	}
	if whole := withLegend(strings.Join(texts, "\n")); len(whole) <= smallSchema {
		return whole
	}
	return ""
}

// A group is the classes whose names continue with the same word.
type group struct {
	prefix string
	n      int
}

// groupViews groups views by the word after the prefix.
func groupViews(views []*policy.View, prefix string) []group {
	var out []group
	at := map[string]int{}
	for _, v := range views {
		rest := v.Name()[len(prefix):]
		word := rest
		if i := strings.IndexAny(strings.TrimLeft(rest, "_."), "_."); i >= 0 {
			word = rest[:len(rest)-len(strings.TrimLeft(rest, "_."))+i+1]
		}
		i, seen := at[word]
		if !seen {
			i = len(out)
			at[word] = i
			out = append(out, group{prefix: prefix + word})
		}
		out[i].n++
	}
	return out
}

// groupResult returns groups of many classes by the beginnings of their names, with which the caller can ask again.
func groupResult(groups []group, total int) Result {
	out := make([]value.Value, len(groups))
	var lines strings.Builder
	for i, g := range groups {
		out[i] = value.OfObject([]value.Member{text("prefix", g.prefix), member("classes", value.OfInt(int64(g.n)))})
		fmt.Fprintf(&lines, "%s… %d\n", g.prefix, g.n)
	}
	const hint = "call get_all_schemas again with one of these prefixes, or with names"
	doc := value.OfObject([]value.Member{member("groups", value.OfArray(out)), member("total", value.OfInt(int64(total))), text("hint", hint)})
	fmt.Fprintf(&lines, "%d classes in %d groups. %s", total, len(groups), hint)
	return Result{Structured: doc.AppendJSON(nil), Text: lines.String()}
}

// names returns the result with bare names, used if groups would not make it shorter.
func names(c *bailiwick.Call, views []*policy.View) Result {
	out := make([]value.Value, len(views))
	texts := make([]string, len(views))
	for i, v := range views {
		texts[i] = v.Name()
		out[i] = value.OfObject([]value.Member{text("name", v.Name())})
	}
	c.Note("call get_schema for one of them")
	doc := value.OfObject([]value.Member{member("classes", value.OfArray(out)), member("total", value.OfInt(int64(len(views))))})
	return Result{Structured: doc.AppendJSON(nil), Text: fmt.Sprintf("%s\n%d classes", strings.Join(texts, "\n"), len(views))}
}
