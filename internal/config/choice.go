package config

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/bailiwick-dev/bailiwick/internal/yamlconf"
	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/schema"
)

// A Chooser applies the configuration keys schemas, tables and rename of a source to the source's tables. It is safe
// for concurrent use.
type Chooser struct {
	config *Config
	source Source

	mu     sync.Mutex
	begun  bool
	spaces []string        // the schemas found since Begin, in the form of the key schemas
	names  map[string]bool // the names that the key tables can contain, for the schemas that are kept
	places map[string]bool // the names that the key rename can contain
}

// Chooser returns the chooser of a source. For an unknown source, the chooser keeps all tables.
func (c *Config) Chooser(source string) *Chooser {
	for _, s := range c.Sources {
		if s.Name == source {
			return &Chooser{config: c, source: s}
		}
	}
	return &Chooser{config: c}
}

// space returns the name of a schema in the form that the configuration uses.
func (s Source) space(space string) string {
	if space != "" {
		return space
	}
	return cmp.Or(s.Template, s.Kind().Home, "public")
}

// Begin starts a new description and forgets the tables found before.
func (ch *Chooser) Begin() {
	ch.mu.Lock()
	defer ch.mu.Unlock()
	ch.begun, ch.spaces, ch.names, ch.places = true, nil, map[string]bool{}, map[string]bool{}
}

// Choose implements schema.Choice.
func (ch *Chooser) Choose(space, table string) (name string, given bool) {
	s := ch.source
	dotted := s.space(space) + "." + table
	name = schema.DefaultName(space, table)
	aliases := []string{name, dotted}
	places := aliases[1:]
	if space == "" {
		places = aliases
	}
	for _, place := range places {
		if to, ok := s.Rename[place]; ok {
			name, given, aliases = to, true, append(slices.Clone(aliases), to)
			break
		}
	}
	kept := s.Schemas == nil || slices.Contains(s.Schemas, s.space(space))
	ch.met(s.space(space), places, aliases, kept)
	listed := func(list []string) bool {
		return slices.ContainsFunc(aliases, func(a string) bool { return slices.Contains(list, a) })
	}
	if !kept || s.Tables.Only != nil && !listed(s.Tables.Only) || listed(s.Tables.Except) {
		return "", false
	}
	return name, given
}

// met records a table while the source is described.
func (ch *Chooser) met(space string, places, aliases []string, kept bool) {
	ch.mu.Lock()
	defer ch.mu.Unlock()
	if !ch.begun {
		return
	}
	if !slices.Contains(ch.spaces, space) {
		ch.spaces = append(ch.spaces, space)
	}
	for _, p := range places {
		ch.places[p] = true
	}
	for _, a := range aliases {
		if kept {
			ch.names[a] = true
		}
	}
}

// Faults ends the description that Begin started. It reports names in the keys schemas, tables and rename that match
// nothing in an *Error.
func (ch *Chooser) Faults() error {
	ch.mu.Lock()
	defer ch.mu.Unlock()
	ch.begun = false
	var faults []Fault
	known := func(name string, names []string, path ...string) {
		if !slices.Contains(names, name) {
			message := "there is no such name in the source" + problem.DidYouMean(problem.Nearest(name, names, 2))
			faults = append(faults, ch.config.Wrong(message, append([]string{"sources", ch.source.Name}, path...)...))
		}
	}
	names := sortedKeys(ch.names)
	for i, name := range ch.source.Schemas {
		known(name, ch.spaces, "schemas", fmt.Sprint(i))
	}
	for i, name := range ch.source.Tables.Only {
		known(name, names, "tables", "only", fmt.Sprint(i))
	}
	for i, name := range ch.source.Tables.Except {
		known(name, names, "tables", "except", fmt.Sprint(i))
	}
	for _, name := range sortedKeys(ch.source.Rename) {
		known(name, sortedKeys(ch.places), "rename", name)
	}
	if faults != nil {
		return &Error{Faults: faults}
	}
	return nil
}

// Keep returns those classes of a source that its keys schemas and tables allow. It is for sources whose tables can't
// be renamed. Names in these keys that match nothing are reported in an *Error.
func (c *Config) Keep(source string, found []schema.Class) ([]schema.Class, error) {
	ch := c.Chooser(source)
	if ch.source.Name == "" {
		return found, nil
	}
	ch.Begin()
	var kept []schema.Class
	for i := range found {
		if name, _ := ch.Choose("", found[i].Name); name != "" {
			kept = append(kept, found[i])
		}
	}
	if err := ch.Faults(); err != nil {
		return nil, err
	}
	return kept, nil
}

// rename returns the shape of the setting rename. It maps tables to the names that the owner gives to their classes.
func (s *Source) rename() yamlconf.Shape {
	return yamlconf.Each(yamlconf.Table{Names: "table", Of: func(table string) (yamlconf.Shape, func()) {
		var to string
		name := yamlconf.Text("the name of a class", func(text string) string {
			if text == "" || strings.ContainsFunc(text, func(r rune) bool {
				return !(r == '_' || r == '-' || r >= '0' && r <= '9' || r|0x20 >= 'a' && r|0x20 <= 'z')
			}) {
				return "is not a name of letters, digits, - and _"
			}
			for _, other := range sortedKeys(s.Rename) {
				if s.Rename[other] == text {
					return "is the name of " + other + " already"
				}
			}
			to = text
			return ""
		})
		return name, func() {
			if s.Rename == nil {
				s.Rename = map[string]string{}
			}
			if to != "" {
				s.Rename[table] = to
			}
		}
	}})
}

// Template returns the schema with which the schemas of tenants are compared. It returns "" for a source without one
// schema per tenant.
func (ch *Chooser) Template() string { return ch.source.Template }

// Name returns the name of the source.
func (ch *Chooser) Name() string { return ch.source.Name }
