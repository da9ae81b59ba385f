package config

import (
	"errors"
	"fmt"
	"strings"

	"github.com/bailiwick-dev/bailiwick/config/strict"
	"github.com/bailiwick-dev/bailiwick/policy"
)

// gates are the operator's switches over what agents may write at all.
func (c *Config) gates() strict.Shape {
	var keys []strict.Key
	g := &c.Rules.Gates
	for _, s := range switches(g) {
		keys = append(keys, strict.Key{Name: s.key, Doc: s.doc, Shape: strict.OneOf(s.gate, policy.AllGates()...)})
	}
	return strict.Object(keys, strict.NotEmpty)
}

// A gateSwitch is one of the gates in g.
type gateSwitch struct {
	key, variable, doc string
	gate, filled       *policy.Gate // as it is, and with the default put in
}

func switches(g *policy.Gates) []gateSwitch {
	f := g.Filled()
	return []gateSwitch{
		{"writes", "BAILIWICK_WRITES", "All writes: off, review (the default: a human approves each) or on. The variable BAILIWICK_WRITES can lower it", &g.Writes, &f.Writes},
		{"raw_writes", "BAILIWICK_RAW_WRITES", "Writes to records as they are, besides writes: off (the default), review or on. BAILIWICK_RAW_WRITES can lower it", &g.RawWrites, &f.RawWrites},
		{"schema_writes", "BAILIWICK_SCHEMA_WRITES", "Writes to the schema, besides writes: off (the default), review or on. BAILIWICK_SCHEMA_WRITES can lower it", &g.SchemaWrites, &f.SchemaWrites},
	}
}

// Restrict lowers gates to what the environment variables BAILIWICK_WRITES, BAILIWICK_RAW_WRITES and
// BAILIWICK_SCHEMA_WRITES say. They never widen one: a note tells of a variable that asks for it. A variable that holds
// no gate is an error.
func Restrict(g *policy.Gates, env func(string) (string, bool)) (notes []string, err error) {
	var errs []error
	for _, s := range switches(g) {
		text, _ := env(s.variable)
		if text == "" {
			continue // as where it isn't set
		}
		asked, err := policy.ParseGate(text)
		switch {
		case err != nil:
			errs = append(errs, fmt.Errorf("the environment variable %s %w", s.variable, err))
		case asked.Less(*s.filled) == *s.filled && asked != *s.filled:
			notes = append(notes, fmt.Sprintf("the environment variable %s asks for %s, and gates.%s is %s: variables only lower gates", s.variable, asked, s.key, *s.filled))
		case asked != *s.filled:
			*s.gate = asked
		}
	}
	return notes, errors.Join(errs...)
}

// restrict lowers the gates to what the environment says, and notes what it says wrong.
func (c *Config) restrict(r *strict.Reader) {
	notes, err := Restrict(&c.Rules.Gates, r.Env)
	c.Notes = append(c.Notes, notes...)
	if err != nil {
		r.WrongAt("/gates", strings.ReplaceAll(err.Error(), "\n", "; "))
	}
}

// review says who approves which changes (design 05). No tool of this version offers a review, so that nothing can be
// approved: it is checked, so that a file for later versions can be used, and a note says that it has nothing to do.
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
		c.Notes = append(c.Notes, "review has nothing to do: no tool of this version proposes a write for approval")
	}}
}
