package config

import (
	"fmt"

	"github.com/bailiwick-dev/bailiwick/query"
	"github.com/goccy/go-yaml/ast"
)

// gates and review say which writes agents may propose and who approves them (design 02, 05). This version serves no
// tool that writes, so all that they could restrict is refused already: they are checked, so that a file for later
// versions can be used, and a note says that they have nothing to do.

func (c *Config) gates() shape {
	var keys []key
	for _, name := range []string{"writes", "raw_writes", "schema_writes"} {
		keys = append(keys, key{name: name, doc: "off, review or on; has nothing to do in this version, which only reads",
			shape: choose([]string{"off", "review", "on"}, func(string) {})})
	}
	return object(keys, func(*reader, ast.Node, string) { c.idle("gates") })
}

func (c *Config) review() shape {
	var approvals int
	rule := object([]key{
		{name: "when", doc: "Which changes: an expression over change", must: true, shape: text("an expression over change", func(string) string { return "" })},
		{name: "approvals", doc: "How many people must approve", shape: count(&approvals, 1, 10)},
		{name: "risk", doc: "What reviewers are shown", shape: text("a word", func(string) string { return "" })},
		{name: "mode", doc: "review, allow or deny", shape: choose([]string{"review", "allow", "deny"}, func(string) {})},
	}, nil)
	return shape{schema: map[string]any{"type": "array", "items": rule.schema}, read: func(r *reader, n ast.Node, at string) {
		s, ok := n.(*ast.SequenceNode)
		if !ok {
			r.must(n, at, "a list of rules")
			return
		}
		for i, v := range s.Values {
			at := query.Pointer(at, fmt.Sprint(i))
			r.places[at] = start(v)
			rule.read(r, v, at)
		}
		c.idle("review")
	}}
}

// idle notes a section that is right and has nothing to do.
func (c *Config) idle(section string) {
	c.Notes = append(c.Notes, section+" has nothing to do: this version only reads, and no agent can propose a write")
}
