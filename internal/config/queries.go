package config

import (
	"encoding/json"
	"slices"
	"strconv"

	"github.com/bailiwick-dev/bailiwick/declared"
	"github.com/bailiwick-dev/bailiwick/internal/yamlconf"
	"github.com/bailiwick-dev/bailiwick/policy"
	"github.com/bailiwick-dev/bailiwick/schema"
	"github.com/bailiwick-dev/bailiwick/value"
)

// queries is the shape of the declared queries.
func (c *Config) queries() yamlconf.Shape {
	return yamlconf.Each(yamlconf.Table{Names: "query", Check: queryName, Of: func(name string) (yamlconf.Shape, func()) {
		d := declared.Declaration{Name: name}
		return yamlconf.Object(c.queryKeys(&d), nil), func() { c.Queries = append(c.Queries, d) }
	}})
}

// queryName checks that a query has a valid tool name.
func queryName(r *yamlconf.Reader, e yamlconf.Entry) bool {
	if word(e.Name) {
		return true
	}
	r.Wrong(e.Key, e.At, "a query is named with letters, digits and _, a letter first, at most 63")
	return false
}

// queryKeys returns the keys of one query, read into d. Which of them go together is checked when the query is compiled:
// see WrongQuery.
func (c *Config) queryKeys(d *declared.Declaration) []yamlconf.Key {
	return []yamlconf.Key{
		{Name: "title", Doc: "For people", Shape: yamlconf.Words(&d.Title)},
		{Name: "description", Doc: "For agents: what it answers and when to use it", Shape: yamlconf.Words(&d.Description)},
		{Name: "input", Doc: "The arguments: a JSON Schema of an object", Shape: yamlconf.Data(&d.Input)},
		{Name: "sql", Doc: "A SELECT over views, with :name for each argument. An argument that a call leaves out is null", Shape: yamlconf.Words(&d.SQL)},
		{Name: "source", Doc: "With sql: the source, if several have the classes. With native: the source", Shape: yamlconf.Words(&d.Source)},
		{Name: "find", Doc: "Records of a class, as in query_class: class, where, keys, include, order and skip. {$input: name} is the value of an argument", Shape: yamlconf.Data(&d.Find)},
		{Name: "pipeline", Doc: "A pipeline over a class: class and stages. {$input: name} is the value of an argument", Shape: yamlconf.Data(&d.Pipeline)},
		{Name: "native", Doc: "A SELECT in the database's own SQL, over tables and not views, with :name for each argument and parameter. No rule of a class applies to it. The database runs it read-only", Shape: yamlconf.Words(&d.Native)},
		{Name: "returns", Doc: "With native: the columns of its result, in order. The call fails if the result has others", Shape: returns(&d.Returns)},
		{Name: "parameters", Doc: "With native: more values for the statement, by name, such as tenant: {$cel: principal.tenant}. Whoever has no such value doesn't have the query", Shape: yamlconf.Data(&d.Parameters)},
		{Name: "limit", Doc: "The most records of a page. Default 200", Shape: yamlconf.Count(&d.Limit, 1, declared.MaxLimit)},
		{Name: "tool", Doc: "true: it is a tool of its own, of its name. Otherwise run_query runs it", Shape: yamlconf.Flag(&d.Tool)},
		{Name: "when", Doc: "Who has the query: an expression over principal, in CEL, that yields true or false. Without it everybody who sees what it reads", Shape: yamlconf.Words(&d.When)},
		{Name: "example", Doc: "Arguments with which the query can be tried", Shape: yamlconf.Data(&d.Example)},
	}
}

// returns is the shape of the columns of a native query.
func returns(into *[]policy.ReturnedColumn) yamlconf.Shape {
	return yamlconf.Items("columns", func(int) (yamlconf.Shape, func()) {
		var c policy.ReturnedColumn
		mask := yamlconf.OneOf(&c.Mask, policy.Partial, policy.Hash, policy.Null)
		mask = mask.With("anyOf", append(slices.Clone(mask.Schema["anyOf"].([]any)), map[string]any{"type": "null"}))
		mask.Null = func() { c.Mask = policy.Null } // YAML reads null as no value, but here it is a mask
		return yamlconf.Object([]yamlconf.Key{
			{Name: "name", Doc: "Its name in the result", Must: true, Shape: yamlconf.Words(&c.Name)},
			{Name: "type", Doc: "Its type. A value of another type fails the call", Must: true, Shape: yamlconf.Choose(schema.TypeNames(), func(name string) { c.Type, _ = schema.TypeOf(name) })},
			{Name: "mask", Doc: "How its values leave: partial, hash or null", Shape: mask},
		}, nil), func() { *into = append(*into, c) }
	})
}

// WrongQuery returns a fault at the location of a query, or at a line of its text.
func (c *Config) WrongQuery(f *declared.DeclarationFault) Fault {
	path := append([]string{"queries", f.Query}, f.Key...)
	if f.Line > 0 {
		return c.document.WrongInText(f.Message, f.Line, f.Column, path...)
	}
	return c.Wrong(f.Message, path...)
}

// WrongNative returns a fault at a column, or at a key, of a native query.
func (c *Config) WrongNative(f *policy.NativeFault) Fault {
	path := []string{"queries", f.Query, f.Key}
	if f.Column >= 0 {
		path = append(path, strconv.Itoa(f.Column))
	}
	return c.Wrong(f.Message, path...)
}

// queryDigests returns the queries in a form that JSON can encode, for the version of the configuration.
func (c *Config) queryDigests() []any {
	var out []any
	for _, d := range c.Queries {
		values := value.OfArray([]value.Value{d.Input, d.Find, d.Pipeline, d.Parameters, d.Example})
		d.Input, d.Find, d.Pipeline, d.Parameters, d.Example = value.Value{}, value.Value{}, value.Value{}, value.Value{}, value.Value{}
		out = append(out, d, json.RawMessage(values.AppendJSON(nil)))
	}
	return out
}
