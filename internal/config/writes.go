package config

import (
	"cmp"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/bailiwick-dev/bailiwick/change"
	"github.com/bailiwick-dev/bailiwick/internal/expression"
	"github.com/bailiwick-dev/bailiwick/internal/yamlconf"
	"github.com/bailiwick-dev/bailiwick/policy"
	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/write"
)

// gates returns the shape of the operator's gates for agents' writes.
func (c *Config) gates() yamlconf.Shape {
	var keys []yamlconf.Key
	g := &c.Rules.Gates
	for _, s := range switches(g) {
		keys = append(keys, yamlconf.Key{Name: s.key, Doc: s.doc, Shape: yamlconf.OneOf(s.gate, policy.AllGates()...)})
	}
	return yamlconf.Object(keys, yamlconf.NotEmpty)
}

// A gateSwitch is one of the gates of a policy.Gates.
type gateSwitch struct {
	key, variable, doc string
	gate, filled       *policy.Gate // the configured gate, and the gate with the default applied
}

func switches(g *policy.Gates) []gateSwitch {
	f := g.WithDefaults()
	return []gateSwitch{
		{"writes", "BAILIWICK_WRITES", "All writes: off, review (the default: a human approves each) or on. The variable BAILIWICK_WRITES can lower it", &g.Writes, &f.Writes},
		{"raw_writes", "BAILIWICK_RAW_WRITES", "Writes to records as they are, besides writes: off (the default), review or on. BAILIWICK_RAW_WRITES can lower it", &g.RawWrites, &f.RawWrites},
		{"schema_writes", "BAILIWICK_SCHEMA_WRITES", "Writes to the schema, besides writes: off (the default), review or on. BAILIWICK_SCHEMA_WRITES can lower it", &g.SchemaWrites, &f.SchemaWrites},
	}
}

// A SetGate is a gate in force and the place where it was set.
type SetGate struct {
	Key   string      `json:"key"` // such as writes
	Gate  policy.Gate `json:"gate"`
	SetBy string      `json:"set_by"` // the file and the line, "default", or the environment variable that lowered it
}

// String returns the gate on one line: "writes: review (bailiwick.yaml:64)".
func (g SetGate) String() string { return fmt.Sprintf("%s: %s (%s)", g.Key, g.Gate, g.SetBy) }

// Gates returns the gates, with the most general first.
func (c *Config) Gates() []SetGate {
	var out []SetGate
	for _, s := range switches(&c.Rules.Gates) {
		by := "default"
		if *s.gate != "" {
			at := c.Wrong("", "gates", s.key)
			by = fmt.Sprintf("%s:%d", at.File, at.Line)
		}
		out = append(out, SetGate{s.key, *s.filled, cmp.Or(c.setBy[s.key], by)})
	}
	return out
}

// Restrict lowers the gates of c to the values of the environment variables BAILIWICK_WRITES, BAILIWICK_RAW_WRITES
// and BAILIWICK_SCHEMA_WRITES. A variable never raises a gate. An attempt to raise one gives a note. An invalid value
// is an error.
func (c *Config) Restrict(env func(string) (string, bool)) error {
	var errs []error
	c.setBy = map[string]string{}
	for _, s := range switches(&c.Rules.Gates) {
		text, _ := env(s.variable)
		if text == "" {
			continue // the same as unset
		}
		asked, err := policy.ParseGate(text)
		switch {
		case err != nil:
			errs = append(errs, fmt.Errorf("the environment variable %s %w", s.variable, err))
		case asked.Less(*s.filled) == *s.filled && asked != *s.filled:
			c.Notes = append(c.Notes, fmt.Sprintf("the environment variable %s asks for %s, and gates.%s is %s: variables only lower gates", s.variable, asked, s.key, *s.filled))
		case asked != *s.filled:
			*s.gate, c.setBy[s.key] = asked, s.variable
		}
	}
	return errors.Join(errs...)
}

// restrict lowers the gates as the environment requires. It reports invalid variables.
func (c *Config) restrict(r *yamlconf.Reader) {
	if err := c.Restrict(r.Env); err != nil {
		r.WrongAt("/gates", problem.Sentences(strings.Split(err.Error(), "\n")...))
	}
}

// A Review configures all reviews. The rules are in policy.Rules.Review.
type Review struct {
	Single bool          // the human behind an agent may decide alone about the agent's changes
	Edit   bool          // reviewers may replace a change with their own version
	Life   time.Duration // how long a change waits for review. 0 means 24 hours
}

// review returns the shape of the section review. It is a list of rules, or an object with rules and further
// settings.
func (c *Config) review() yamlconf.Shape {
	rules := yamlconf.Items("rules", func(i int) (yamlconf.Shape, func()) {
		rule, names := change.Rule{Name: reviewName(i)}, []string(nil)
		return yamlconf.Object([]yamlconf.Key{
				{Name: "when", Doc: "Which changes: an expression over change (op, class, classes, fields, rows, action, tool, source, risk) and principal, in CEL, that yields true or false", Must: true, Shape: c.condition(&rule.When)},
				{Name: "approvals", Doc: "How many people must approve", Shape: yamlconf.Count(&rule.Approvals, 1, 10)},
				{Name: "risk", Doc: "What reviewers are shown: low, medium or high", Shape: yamlconf.OneOf(&rule.Risk, change.Low, change.Medium, change.High)},
				{Name: "mode", Doc: "review, allow (it runs at once) or deny", Shape: yamlconf.OneOf(&rule.Mode, modes()...)},
				{Name: "reviewers", Doc: "Who can approve: people, and teams as team:billing. Everybody else can reject and comment", Shape: yamlconf.List(&names, "people and teams", reviewerName)},
			}, func(r *yamlconf.Reader, _ yamlconf.Node, at string) {
				if len(names) > 0 && (rule.Mode == write.Allow || rule.Mode == write.Deny) {
					r.WrongAt(at+"/reviewers", "nobody approves with mode: "+string(rule.Mode)+". Take one of the two out")
				}
			}), func() {
				for _, name := range names {
					rule.Reviewers = append(rule.Reviewers, change.Reviewer{Name: name})
				}
				c.Rules.Review = append(c.Rules.Review, rule)
			}
	})
	return yamlconf.Either(rules, yamlconf.Object([]yamlconf.Key{
		{Name: "teams", Doc: "Teams of people, for reviewers", Shape: c.teamsShape()},
		{Name: "rules", Doc: "The rules. Those that hold of a change count together", Shape: rules},
		{Name: "single_operator", Doc: "true: the human behind an agent may approve its changes alone. The audit says so", Shape: yamlconf.Flag(&c.Review.Single)},
		{Name: "edit", Doc: "true: a reviewer may edit values of a change, which makes a new version that another person decides about", Shape: yamlconf.Flag(&c.Review.Edit)},
		{Name: "life", Doc: "How long a change waits for people. Default 24h", Shape: yamlconf.Span(&c.Review.Life, time.Minute, 90*24*time.Hour)},
	}, yamlconf.NotEmpty))
}

// condition returns the shape of a CEL expression over a change.
func (c *Config) condition(into **expression.Condition) yamlconf.Shape {
	return yamlconf.TextOf(`an expression over change, such as change.op == "delete"`, func(s string) error {
		condition, err := c.expressions.CompileChange(s)
		if err == nil {
			*into = condition
		}
		return err
	})
}

// Writes reports whether s can be written. This requires that the gates allow some kind of write and that s isn't
// read-only.
func (c *Config) Writes(s Source) bool {
	g := c.Rules.Gates.WithDefaults()
	return !s.ReadOnly && g.Writes != policy.Off && (g.RawWrites != policy.Off || g.SchemaWrites != policy.Off || len(c.Actions) > 0)
}

// setWriteURL reads write_url in the same way as url.
func (s *Source) setWriteURL(folder, raw string) string {
	var other Source
	why := other.setURL(folder, raw)
	s.WriteURL = other.URL
	return why
}

// wrongWriteURL returns the reason why write_url doesn't fit url, or "".
func (s *Source) wrongWriteURL() string {
	kind, other := s.Kind(), KindOf(s.WriteURL)
	switch {
	case s.WriteURL == "":
		return ""
	case s.ReadOnly:
		return "the source is read_only. Take one of the two out"
	case kind.ReadOnly:
		return kind.Name + " is only read. Take it out"
	case kind.File || other.File:
		return "an SQLite file has no accounts. Take it out"
	case kind.Name != other.Name && s.URL != "" && !s.IsParse():
		return "must be of the same kind of database as url"
	}
	return ""
}
