package tool

import (
	"context"
	"encoding/json"
	"slices"
	"strings"

	"github.com/bailiwick-dev/bailiwick"
	"github.com/bailiwick-dev/bailiwick/declared"
	"github.com/bailiwick-dev/bailiwick/metric"
	"github.com/bailiwick-dev/bailiwick/policy"
	"github.com/bailiwick-dev/bailiwick/value"
)

// listQueries returns the caller's queries with the schemas of their arguments.
func listQueries(all []*declared.Query) Result {
	docs := make([]value.Value, len(all))
	var said strings.Builder
	for i, q := range all {
		doc := []value.Member{text("name", q.Name)}
		if q.Title != "" {
			doc = append(doc, text("title", q.Title))
		}
		if q.Description != "" {
			doc = append(doc, text("description", q.Description))
		}
		schema, _ := value.Read(q.Schema(), 0) // the gateway wrote it
		docs[i] = value.OfObject(append(doc, member("input", schema)))
		said.WriteString(titleLine(q.Signature(), q.Description) + "\n")
		properties, _ := schema.Get("properties")
		for _, p := range properties.Members() {
			said.WriteString("  " + argumentLine(p) + "\n")
		}
	}
	return listResult("queries", docs, said.String())
}

// queriesOn returns the queries about the class of v that the caller can run.
func (s *Set) queriesOn(ctx context.Context, c *bailiwick.Call, v *policy.View) (out []*declared.Query) {
	for _, q := range c.Queries(ctx) {
		name := declared.RunTool
		if q.Tool {
			name = q.Name
		}
		if q.Class() == v.Class().FullName() && s.registered().byName[name] != nil && c.MayCall(name) {
			out = append(out, q)
		}
	}
	return out
}

// queryDocs returns the descriptions of queries for get_schema, as objects.
func queryDocs(all []*declared.Query) []value.Value {
	out := make([]value.Value, len(all))
	for i, q := range all {
		doc := []value.Member{text("name", q.Name)}
		if q.Description != "" {
			doc = append(doc, text("description", q.Description))
		}
		out[i] = value.OfObject(append(doc, member("arguments", list(q.Arguments()))))
	}
	return out
}

// queryLine returns the names of queries with their arguments, on one line.
func queryLine(all []*declared.Query) string {
	texts := make([]string, len(all))
	for i, q := range all {
		texts[i] = q.Signature()
	}
	return strings.Join(texts, ", ")
}

// titleLine returns a name with its description, on one line.
func titleLine(name, description string) string {
	if description == "" {
		return name
	}
	return name + ": " + oneLine(description)
}

// argumentLine returns the name, the type and the description of an argument, on one line.
func argumentLine(p value.Member) string {
	get := func(key string) string {
		v, _ := p.Value.Get(key)
		return v.Text()
	}
	line := p.Name + " " + get("type")
	if items, ok := p.Value.Get("items"); ok {
		of, _ := items.Get("type")
		line = strings.TrimSpace(line + " of " + of.Text())
	}
	if format := get("format"); format != "" {
		line += " " + format
	}
	if values, ok := p.Value.Get("enum"); ok {
		line += " " + values.String()
	}
	if about := get("description"); about != "" {
		line += ": " + oneLine(about)
	}
	return line
}

// listMetrics returns the caller's metrics with their definitions.
func listMetrics(all []metric.Usable) Result {
	docs := metricDocs(all)
	var said strings.Builder
	for i, m := range all {
		docs[i] = value.OfObject(append(slices.Clone(docs[i].Members()), text("class", m.View.Name())))
		said.WriteString(titleLine(m.Name, m.Description) + "\n  " + oneLine(m.Meaning()) + "\n  grouped by ")
		if m.Dimensions != nil {
			said.WriteString(strings.Join(m.Dimensions, ", ") + "\n")
		} else {
			said.WriteString("the fields of " + m.View.Name() + "\n")
		}
	}
	return listResult("metrics", docs, said.String())
}

// listResult returns a list as JSON and as text.
func listResult(name string, docs []value.Value, said string) Result {
	doc := value.OfObject([]value.Member{member(name, value.OfArray(docs))})
	return Result{Structured: json.RawMessage(doc.AppendJSON(nil)), Text: strings.TrimSuffix(said, "\n")}
}
