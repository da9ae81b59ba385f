package tool

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/bailiwick-dev/bailiwick"
	"github.com/bailiwick-dev/bailiwick/declared"
	"github.com/bailiwick-dev/bailiwick/identity"
	"github.com/bailiwick-dev/bailiwick/policy"
	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/query"
	"github.com/bailiwick-dev/bailiwick/schema"
	"github.com/bailiwick-dev/bailiwick/value"
)

// Writing reports possible proposals, for get_schema.
type Writing interface {
	// Writable reports whether the principal may propose another value for a field of v.
	Writable(who identity.Principal, v *policy.View, f *schema.Field) bool
	// Actions lists the actions that the principal may propose on v, as objects {name, description, …}, or nil.
	Actions(who identity.Principal, v *policy.View) []value.Value
}

// maxSchema is the maximum size of the compact descriptions in one answer, in bytes. For classes that don't fit, the
// answer has only the names.
const maxSchema = 24 << 10

// getSchema returns the tool that describes classes as the caller sees them. A nil w means that nothing is writable.
func getSchema(w Writing) Tool {
	return Tool{
		Name:        "get_schema",
		Title:       "Describe classes",
		Description: "Fields of classes: types, allowed or common values, pointers. Ask for all you need at once.",
		Input: compact(`{"type": "object", "additionalProperties": false, "properties": {
			"class_names": {"type": "array", "minItems": 1, "maxItems": 50, "items": {"type": "string"}},
			"class_name": {"type": "string"},
			"format": {"type": "string", "enum": ["compact", "full"]}}}`),
		Output: compact(`{"type": "object", "properties": {
			"class_name": {"type": "string"}, "description": {"type": "string"},
			"fields": {"type": "array", "items": {"type": "object", "required": ["name", "type"], "properties": {
				"name": {"type": "string"}, "type": {"type": "string"}}}},
			"key": {"type": "array", "items": {"type": "string"}},
			"label": {"type": "string"},
			"relations": {"type": "array", "items": {"type": "object"}},
			"indexes": {"type": "array", "items": {"type": "object"}},
			"canonical_filter": {"type": "object"},
			"agent_fields": {"type": "array", "items": {"type": "string"}},
			"examples": {"type": "array", "items": {"type": "object"}},
			"queries": {"type": "array", "items": {"type": "object"}},
			"classes": {"type": "array", "description": "the same for each of class_names", "items": {"type": "object"}}}}`),
		Annotations: reads(),
		Category:    Schema,
		Timeout:     getTimeout,
		Meant:       classNames,
		bind: func(s *Set) Handler {
			d := description{writing: w, values: true, examples: s.examples, queries: s.queriesOn}
			return func(ctx context.Context, c *bailiwick.Call, in value.Value) (Result, error) {
				if name, ok := in.Get("class_name"); ok {
					return describeOne(ctx, c, d, name.Text(), arguments{in})
				}
				return describeSeveral(ctx, c, d, arguments{in})
			}
		},
	}
}

// describeOne answers get_schema for class_name.
func describeOne(ctx context.Context, c *bailiwick.Call, d description, name string, args arguments) (Result, error) {
	v, err := c.View(name)
	if err != nil {
		return Result{}, err
	}
	views := []*policy.View{v}
	doc := document(ctx, c, d, views)[0]
	res := Result{Structured: doc.AppendJSON(nil), Text: docText(doc), Class: v.Class().FullName()}
	if args.text("format") != "full" {
		res.Text = withLegend(describeClasses(ctx, c, views, d)[0])
	}
	return res, nil
}

// classNames moves a list in class_name, or names in it besides class_names, to class_names. It refuses a call without
// a class.
func classNames(_ *bailiwick.Call, in value.Value) (value.Value, error) {
	one, hasOne := in.Get("class_name")
	several, hasSeveral := in.Get("class_names")
	switch {
	case !hasOne && !hasSeveral:
		return in, &problem.Error{Code: problem.InvalidArgument, Kind: "schema", Pointer: "/class_names", Detail: "class_names is missing: the classes to describe",
			Suggestion: "get_all_schemas lists the classes"}
	case !hasOne, !hasSeveral && one.Kind() != value.Array:
		return in, nil
	}
	all := slices.Clone(several.List())
	if several.Kind() == value.String {
		all = []value.Value{several}
	}
	if one.Kind() == value.Array {
		all = append(all, one.List()...)
	} else {
		all = append(all, one)
	}
	var members []value.Member
	for _, m := range in.Members() {
		if m.Name != "class_name" && m.Name != "class_names" {
			members = append(members, m)
		}
	}
	return value.OfObject(append(members, member("class_names", value.OfArray(all)))), nil
}

// describeSeveral answers get_schema for class_names.
func describeSeveral(ctx context.Context, c *bailiwick.Call, d description, args arguments) (Result, error) {
	var views []*policy.View
	for i, name := range args.texts("class_names") {
		v, err := c.View(name)
		if err != nil {
			return Result{}, problem.Of(err).MapPointers(func(string) string { return query.Pointer("/class_names", fmt.Sprint(i)) })
		}
		if !slices.ContainsFunc(views, func(o *policy.View) bool { return o.Class().FullName() == v.Class().FullName() }) {
			views = append(views, v)
		}
	}
	docs := document(ctx, c, d, views)
	var texts []string
	if args.text("format") != "full" {
		texts = describeClasses(ctx, c, views, d)
	} else {
		for _, doc := range docs {
			texts = append(texts, docText(doc))
		}
	}
	size, n := 0, 0
	for n < len(texts) && (n == 0 || size+len(texts[n]) <= maxSchema) {
		size += len(texts[n]) + 1
		n++
	}
	said := strings.Join(texts[:n], "\n\n")
	if args.text("format") != "full" {
		said = withLegend(said)
	}
	if n < len(views) {
		var rest []string
		for _, v := range views[n:] {
			rest = append(rest, v.Name())
		}
		c.Note("the answer was full before " + strings.Join(rest, ", ") + ": ask for these in another call")
	}
	doc := value.OfObject([]value.Member{member("classes", value.OfArray(docs[:n]))})
	return Result{Structured: doc.AppendJSON(nil), Text: said, Class: views[0].Source()}, nil
}

// withLegend returns compact descriptions with an explanation of their signs.
func withLegend(said string) string {
	if legend := docLegend(said); legend != "" {
		return said + "\n" + legend
	}
	return said
}

// document returns get_schema's complete description of each view.
func document(ctx context.Context, c *bailiwick.Call, d description, views []*policy.View) []value.Value {
	out := make([]value.Value, len(views))
	for i, v := range views {
		writable := func(*schema.Field) bool { return false }
		var more []value.Member
		if d.writing != nil {
			writable = func(f *schema.Field) bool { return d.writing.Writable(c.Who(), v, f) }
			if actions := d.writing.Actions(c.Who(), v); actions != nil {
				more = append(more, member("actions", value.OfArray(actions)))
			}
		}
		if all := metricsOn(v, c.Metrics()); all != nil {
			more = append(more, member("metrics", value.OfArray(metricDocs(all))))
		}
		if all := d.queries(ctx, c, v); all != nil {
			more = append(more, member("queries", value.OfArray(queryDocs(all))))
		}
		if examples := d.examples(ctx, c, v, views); examples != nil {
			more = append(more, member("examples", value.OfArray(exampleDocs(examples))))
		}
		doc := describeView(v, writable)
		out[i] = value.OfObject(append(slices.Clone(doc.Members()), more...))
	}
	return out
}

// A description has the facts of compact descriptions that aren't in the views.
type description struct {
	writing   Writing
	values    bool             // show the commonest values of fields
	estimates map[string]int64 // numbers of records, by class

	// examples returns the examples to show for a view, among the described views. Nil shows none.
	examples func(ctx context.Context, c *bailiwick.Call, v *policy.View, described []*policy.View) []policy.Example
	// queries returns the declared queries about the class of a view. Nil shows none.
	queries func(ctx context.Context, c *bailiwick.Call, v *policy.View) []*declared.Query
}

// describeClasses returns the compact description of each view.
func describeClasses(ctx context.Context, c *bailiwick.Call, views []*policy.View, d description) []string {
	within, cancel := context.WithTimeout(ctx, sampleTime)
	defer cancel()
	out := make([]string, len(views))
	several, metrics := hasSeveralSources(c.ViewsOf), c.Metrics()
	for i, v := range views {
		x := docExtra{Metrics: metricsOn(v, metrics)}
		if n, ok := d.estimates[v.Class().FullName()]; ok {
			x.About = append(x.About, fmt.Sprintf("about %d records", n))
		}
		if d.values && i < sampleClasses {
			x.Values = commonest(within, c, v)
		}
		if d.writing != nil {
			x.Writable, x.Actions = func(f *schema.Field) bool { return d.writing.Writable(c.Who(), v, f) }, d.writing.Actions(c.Who(), v)
		}
		if d.examples != nil {
			x.Examples = d.examples(ctx, c, v, views)
		}
		if d.queries != nil {
			x.Queries = d.queries(ctx, c, v)
		}
		out[i] = compactDoc(v, several, x)
	}
	return out
}
