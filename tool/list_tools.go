package tool

import (
	"context"
	"slices"
	"strings"

	"github.com/bailiwick-dev/bailiwick"
	"github.com/bailiwick-dev/bailiwick/value"
)

// listTools returns the tool that lists tools briefly: names, categories and one sentence each, whereas tools/list
// also contains every schema.
func listTools() Tool {
	return Tool{
		Name:        "list_tools",
		Title:       "List tools",
		Description: "Names, categories and one line each of the tools you may call.",
		Input: compact(`{"type": "object", "additionalProperties": false, "properties": {
			"category": {"type": "string"}}}`),
		Output: compact(`{"type": "object", "required": ["tools", "categories"], "properties": {
			"tools": {"type": "array", "items": {"type": "object", "properties": {
				"name": {"type": "string"}, "category": {"type": "string"}, "description": {"type": "string"}}}},
			"categories": {"type": "array", "items": {"type": "string"}},
			"about": {"type": "object", "description": "what each category is for"}}}`),
		Annotations: Annotations{ReadOnly: true, Idempotent: true},
		Category:    Discovery,
		Timeout:     schemaTimeout,
		bind: func(s *Set) Handler {
			return func(_ context.Context, c *bailiwick.Call, args value.Value) (Result, error) {
				return catalogue(s.List(c.Who(), strings.ToLower(arguments{args}.text("category")))), nil
			}
		},
	}
}

// catalogue formats one line per tool.
func catalogue(tools []*Tool) Result {
	var categories []string
	var lines strings.Builder
	out := make([]value.Value, len(tools))
	for i, t := range tools {
		about := t.Summary()
		if t.Name == "query_sql" {
			about += " A pointer is joined with the id that it holds: SELECT u.name, count(*) FROM issues i JOIN users u ON u.id = i.assignee_id GROUP BY u.id, u.name."
		}
		out[i] = value.OfObject([]value.Member{text("name", t.Name), text("category", string(t.Category)), text("description", about)})
		lines.WriteString(t.Name + " (" + string(t.Category) + "): " + about + "\n")
		if !slices.Contains(categories, string(t.Category)) {
			categories = append(categories, string(t.Category))
		}
	}
	slices.Sort(categories)
	known, about := Categories(), make([]value.Member, len(categories))
	for i, c := range categories {
		about[i] = text(c, known[Category(c)])
		lines.WriteString(c + ": " + known[Category(c)] + "\n")
	}
	doc := value.OfObject([]value.Member{member("tools", value.OfArray(out)), member("categories", list(categories)), member("about", value.OfObject(about))})
	return Result{Structured: doc.AppendJSON(nil), Text: strings.TrimSuffix(lines.String(), "\n")}
}
