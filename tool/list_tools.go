package tool

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/bailiwick-dev/bailiwick"
	"github.com/bailiwick-dev/bailiwick/declared"
	"github.com/bailiwick-dev/bailiwick/identity"
	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/value"
)

// listTools returns the tool that lists tools with their names, categories and one sentence each. tools/list also
// contains every schema.
func listTools() Tool {
	return Tool{
		Name:        "list_tools",
		Title:       "List tools",
		Description: "All tools that you may call, one line each.",
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
				category := arguments{args}.text("category")
				tools := s.List(c.Who(), category)
				if len(tools) == 0 && category != "" {
					var have []string
					for _, t := range s.List(c.Who(), "") {
						have = append(have, string(t.Category))
					}
					slices.Sort(have)
					c.Note(fmt.Sprintf("you have no tools of the category %q. Yours are %s", problem.Cut(category), strings.Join(slices.Compact(have), ", ")))
				}
				slices.SortStableFunc(tools, func(a, b *Tool) int { return cmp.Compare(place(a, c.Who()), place(b, c.Who())) })
				return catalogue(tools, c.Who()), nil
			}
		},
	}
}

// place returns the sort key of a tool: 0 if tools/list shows it to p.
func place(t *Tool, p identity.Principal) int {
	if t.ListedFor(p) {
		return 0
	}
	return 1
}

// catalogue formats one line per tool. The tools that tools/list omits come last, with the names of their arguments.
func catalogue(tools []*Tool, p identity.Principal) Result {
	var categories []string
	var lines strings.Builder
	out := make([]value.Value, len(tools))
	for i, t := range tools {
		about := t.Summary()
		if t.Name == declared.RunTool {
			about = t.Description
		}
		if t.Name == "query_sql" {
			about += " A pointer is joined with the id that it holds: SELECT u.name, count(*) FROM issues i JOIN users u ON u.id = i.assignee_id GROUP BY u.id, u.name."
		}
		if !t.ListedFor(p) {
			about += " Arguments: " + t.parameters() + "."
			if i == 0 || tools[i-1].ListedFor(p) {
				lines.WriteString("Not in tools/list, but you can call these by name as well (? marks optional arguments):\n")
			}
		}
		members := []value.Member{text("name", t.Name), text("category", string(t.Category)), text("description", about)}
		if !t.ListedFor(p) {
			members = append(members, member("listed", value.OfBool(false)))
		}
		out[i] = value.OfObject(members)
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

// parameters returns the names of t's arguments, optional ones with a question mark.
func (t *Tool) parameters() string {
	in, err := value.Read(t.Input, 0)
	if err != nil {
		return "none" // NewSet refuses such a tool
	}
	properties, _ := in.Get("properties")
	required, _ := in.Get("required")
	var names []string
	for _, p := range properties.Members() {
		if slices.ContainsFunc(required.List(), func(r value.Value) bool { return r.Text() == p.Name }) {
			names = append(names, p.Name)
		} else {
			names = append(names, p.Name+"?")
		}
	}
	if names == nil {
		return "none"
	}
	return strings.Join(names, ", ")
}
