package tool

import (
	"context"
	"slices"

	"github.com/bailiwick-dev/bailiwick"
	"github.com/bailiwick-dev/bailiwick/policy"
	"github.com/bailiwick-dev/bailiwick/query"
	"github.com/bailiwick-dev/bailiwick/value"
)

// mostExamples is the maximum number of examples in the description of a class.
const mostExamples = 2

// examples returns the examples of v whose queries the caller may make, at most mostExamples. An example whose other
// classes are also described comes before one with further classes.
func (s *Set) examples(ctx context.Context, c *bailiwick.Call, v *policy.View, described []*policy.View) []policy.Example {
	all := v.Rule().Examples
	if len(all) == 0 {
		return nil
	}
	known := func(name string) bool {
		return slices.ContainsFunc(described, func(d *policy.View) bool {
			return d.Name() == name || d.Class().FullName() == name || d.Class().Name == name
		})
	}
	var near, far []policy.Example
	for _, e := range all {
		if len(near) == mostExamples {
			break
		}
		if slices.ContainsFunc(exampleClasses(e), func(name string) bool { return !known(name) }) {
			far = append(far, e)
		} else if s.tryExample(ctx, c, e) == nil {
			near = append(near, e)
		}
	}
	for _, e := range far {
		if len(near) == mostExamples {
			break
		}
		if s.tryExample(ctx, c, e) == nil {
			near = append(near, e)
		}
	}
	return near
}

// exampleClasses returns the names of classes in the query of e, as written.
func exampleClasses(e policy.Example) []string {
	if e.SQL == "" {
		return []string{arguments{e.Arguments}.text("class_name")}
	}
	q, err := query.ParseSQL(e.SQL)
	if err != nil {
		return nil
	}
	return tables(q.Statement().Body)
}

// ExampleCall returns the tool and the arguments that answer e.
func ExampleCall(e policy.Example) (name string, args value.Value) {
	if e.SQL != "" {
		return "query_sql", value.OfObject([]value.Member{text("sql", e.SQL)})
	}
	return e.Tool, e.Arguments
}

// exampleDocs returns examples as get_schema shows them.
func exampleDocs(examples []policy.Example) []value.Value {
	out := make([]value.Value, len(examples))
	for i, e := range examples {
		doc := []value.Member{text("question", e.Question)}
		if e.SQL != "" {
			doc = append(doc, text("sql", e.SQL))
		} else {
			doc = append(doc, text("tool", e.Tool), member("arguments", e.Arguments))
		}
		out[i] = value.OfObject(doc)
	}
	return out
}

// exampleLine returns an example in one line of a compact description.
func exampleLine(e policy.Example) string {
	if e.SQL != "" {
		return "e.g. " + oneLine(e.Question) + " " + oneLine(e.SQL)
	}
	return "e.g. " + oneLine(e.Question) + " " + e.Tool + " " + e.Arguments.String()
}

// tryExample returns nil if the caller may make the query of e, which isn't run. Tools that describe classes or list
// tools have no query to permit. They would also show examples again.
func (s *Set) tryExample(ctx context.Context, c *bailiwick.Call, e policy.Example) error {
	name, args := ExampleCall(e)
	t := s.registered().byName[name]
	if t == nil || !t.queries || t.Category == Schema || t.Category == Discovery || !c.MayCall(name) {
		return policy.UnknownToolError("unknown_tool")
	}
	return c.Try(func(c *bailiwick.Call) error {
		in, err := t.take(c, args)
		if err == nil {
			_, err = t.Handle(ctx, c, in)
		}
		return err
	})
}
