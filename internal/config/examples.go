package config

import (
	"github.com/bailiwick-dev/bailiwick/internal/yamlconf"
	"github.com/bailiwick-dev/bailiwick/policy"
	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/query"
	"github.com/bailiwick-dev/bailiwick/value"
)

// examples is the shape of the examples of a class. Each has a question, and either a SELECT or a call of a tool.
func examples(into *[]policy.Example) yamlconf.Shape {
	return yamlconf.Items("examples", func(int) (yamlconf.Shape, func()) {
		var e policy.Example
		call := yamlconf.Object([]yamlconf.Key{
			{Name: "tool", Doc: "The name of a tool that reads, such as query_class", Must: true, Shape: yamlconf.Words(&e.Tool)},
			{Name: "arguments", Doc: "Its arguments", Must: true, Shape: yamlconf.Any(&e.Arguments)},
		}, func(r *yamlconf.Reader, _ yamlconf.Node, at string) {
			if e.Arguments.Kind() != value.Object && r.HasAt(at+"/arguments") {
				r.WrongAt(at+"/arguments", "must be an object: the arguments by name")
			}
		})
		keys := []yamlconf.Key{
			{Name: "question", Doc: "The question as a person asks it", Must: true, Shape: yamlconf.Words(&e.Question)},
			{Name: "sql", Doc: "The SELECT that answers it, as query_sql runs it", Shape: yamlconf.Text("a SELECT", func(text string) string {
				e.SQL = text
				if _, err := query.ParseSQL(text); err != nil {
					return "is not a SELECT that query_sql runs: " + problem.Of(err).Detail
				}
				return ""
			})},
			{Name: "call", Doc: "The call that answers it", Shape: call},
		}
		return yamlconf.Object(keys, func(r *yamlconf.Reader, n yamlconf.Node, at string) {
			if r.HasAt(at+"/sql") == r.HasAt(at+"/call") {
				r.Wrong(n.Start(), at, "needs either sql or call")
			}
		}), func() { *into = append(*into, e) }
	})
}
