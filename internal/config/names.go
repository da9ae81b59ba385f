package config

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/bailiwick-dev/bailiwick/identity"
	"github.com/bailiwick-dev/bailiwick/internal/expression"
	"github.com/bailiwick-dev/bailiwick/policy"
	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/schema"
)

// Names are the names that lists can contain. These are tools, classes by their full and bare names, and HTTP APIs
// and their operations in the form that Config.APINames returns.
type Names struct {
	Tools   []string
	Classes []string
	APIs    []string
}

// NamesOf returns the names of tools and of the classes in a catalogue.
func NamesOf(tools []string, catalogue []schema.Class) Names {
	n := Names{Tools: tools}
	for i := range catalogue {
		n.Classes = append(n.Classes, catalogue[i].FullName(), catalogue[i].Name)
	}
	return n
}

// A Stray is a name in a list that matches nothing.
type Stray struct {
	Path    []string // the keys that lead to the name: "tools", "only", "0"
	Message string
}

// Strays returns the names that match nothing, in the lists and filters of a principal or a token.
func (n Names) Strays(tools, classes identity.List, filters []string) []Stray {
	var out []Stray
	look := func(what, name string, known []string, path ...string) {
		if !slices.Contains(known, name) {
			message := fmt.Sprintf("there is no %s %q%s", what, problem.Cut(name), problem.DidYouMean(problem.Nearest(name, known, 2)))
			out = append(out, Stray{path, message})
		}
	}
	for _, l := range []struct {
		what, key string
		list      identity.List
		known     []string
	}{{"tool", "tools", tools, n.Tools}, {n.classes(), "classes", classes, slices.Concat(n.Classes, n.APIs)}} {
		for i, name := range l.list.Only {
			look(l.what, name, l.known, l.key, "only", fmt.Sprint(i))
		}
		for i, name := range l.list.Except {
			look(l.what, name, l.known, l.key, "except", fmt.Sprint(i))
		}
	}
	for _, name := range filters {
		if name != "default" {
			look("class", name, n.Classes, "filters", name)
		}
	}
	return out
}

// classes returns what a name in a list of classes can be, for messages.
func (n Names) classes() string {
	if n.APIs != nil {
		return "class, API or operation"
	}
	return "class"
}

// CheckTools checks names of tools in the configuration. Names that are not in names are reported in an *Error.
func (c *Config) CheckTools(names []string) error {
	var faults []Fault
	for _, s := range (Names{Tools: names}).Strays(c.Tools.List, identity.List{}, nil) {
		faults = append(faults, c.Wrong(s.Message, s.Path...))
	}
	for _, name := range sortedKeys(c.Limits.Timeouts) {
		for _, s := range (Names{Tools: names}).Strays(identity.List{Only: []string{name}}, identity.List{}, nil) {
			faults = append(faults, c.Wrong(s.Message, "limits", "timeouts", name))
		}
	}
	if faults == nil {
		return nil
	}
	return &Error{Faults: faults}
}

// CheckLists checks the names in lists and filters of the configured principals, and those with which conditions on changes
// compare. Unknown names are reported in an
// *Error. If the configuration is lenient, they are warnings instead.
func (c *Config) CheckLists(names Names) (warnings []string, err error) {
	var faults []Fault
	check := func(p identity.Principal, path ...string) {
		for _, s := range names.Strays(p.Tools, p.Classes, sortedKeys(p.Filters)) {
			faults = append(faults, c.Wrong(s.Message, append(slices.Clone(path), s.Path...)...))
		}
	}
	if c.Auth.Anonymous != nil {
		check(*c.Auth.Anonymous, "auth", "anonymous")
	}
	check(c.Stdio, "stdio")
	faults = append(faults, c.checkConditions(names)...)
	if faults != nil && !c.Lenient {
		return nil, &Error{Faults: faults}
	}
	for _, f := range faults {
		first, _, _ := strings.Cut(f.String(), "\n")
		warnings = append(warnings, first)
	}
	return warnings, nil
}

// checkConditions returns the faults of conditions on changes that compare a name with one that doesn't exist.
func (c *Config) checkConditions(names Names) (faults []Fault) {
	tools := append(slices.Clone(names.Tools), "edit", "revert") // what reviewers do
	known := map[string][]string{"change.tool": tools, "change.action": slices.Clone(tools)}
	for _, a := range c.Actions {
		known["change.action"] = append(known["change.action"], a.Name)
	}
	called := false
	for _, s := range c.Sources {
		known["change.source"] = append(known["change.source"], s.Name)
		called = called || s.OpenAPI != nil
	}
	if !called && c.Rules.Gates.WithDefaults().SchemaWrites == policy.Off { // otherwise a change can name other classes
		for _, name := range names.Classes {
			if source, _, ok := strings.Cut(name, "."); ok && slices.Contains(known["change.source"], source) {
				known["change.class"] = append(known["change.class"], name)
			}
		}
		known["change.classes"] = known["change.class"]
	}
	wrong := func(when *expression.Condition, places ...[]string) {
		if when == nil {
			return
		}
		if err := when.CheckNames(known); err != nil {
			at := slices.IndexFunc(places, func(path []string) bool { _, written := c.document.Place(path...); return written })
			faults = append(faults, c.document.WrongIn(when.String(), err, places[max(at, 0)]...))
		}
	}
	for i, rule := range c.Rules.Review {
		wrong(rule.When, []string{"review", strconv.Itoa(i), "when"}, []string{"review", "rules", strconv.Itoa(i), "when"})
	}
	for _, h := range c.Notifications.Hooks {
		wrong(h.When, []string{"notifications", "webhooks", h.Name, "when"}, []string{"notifications", "mail", "to", h.Name, "when"})
	}
	return faults
}
