package config

import (
	"github.com/bailiwick-dev/bailiwick/config/strict"
)

// gates and review say which writes agents may propose and who approves them (design 02, 05). This version serves no
// tool that writes, so all that they could restrict is refused already: they are checked, so that a file for later
// versions can be used, and a note says that they have nothing to do.

func (c *Config) gates() strict.Shape {
	var keys []strict.Key
	for _, name := range []string{"writes", "raw_writes", "schema_writes"} {
		keys = append(keys, strict.Key{Name: name, Doc: "off, review or on; has nothing to do in this version, which only reads",
			Shape: strict.Choose([]string{"off", "review", "on"}, func(string) {})})
	}
	return strict.Object(keys, func(*strict.Reader, strict.Node, string) { c.idle("gates") })
}

func (c *Config) review() strict.Shape {
	var approvals int
	rule := strict.Object([]strict.Key{
		{Name: "when", Doc: "Which changes: an expression over change", Must: true, Shape: strict.Text("an expression over change", func(string) string { return "" })},
		{Name: "approvals", Doc: "How many people must approve", Shape: strict.Count(&approvals, 1, 10)},
		{Name: "risk", Doc: "What reviewers are shown", Shape: strict.Text("a word", func(string) string { return "" })},
		{Name: "mode", Doc: "review, allow or deny", Shape: strict.Choose([]string{"review", "allow", "deny"}, func(string) {})},
	}, nil)
	list := strict.Items("rules", func(int) (strict.Shape, func()) { return rule, nil })
	return strict.Shape{Schema: list.Schema, Read: func(r *strict.Reader, n strict.Node, at string) {
		list.Read(r, n, at)
		c.idle("review")
	}}
}

// idle notes a section that is right and has nothing to do.
func (c *Config) idle(section string) {
	c.Notes = append(c.Notes, section+" has nothing to do: this version only reads, and no agent can propose a write")
}
