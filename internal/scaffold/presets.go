package scaffold

import (
	"cmp"
	"embed"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"github.com/goccy/go-yaml"

	"github.com/bailiwick-dev/bailiwick/schema"
)

//go:embed known
var known embed.FS

// A Preset holds the knowledge about one application. A "*" at the beginning of a class is the prefix that the tables
// of an installation have, such as wp_.
type Preset struct {
	Name    string           `yaml:"name"`
	Schema  string           `yaml:"schema"`  // the version, and the source, of the schema that the file was written from
	Has     []string         `yaml:"has"`     // the marks of the application: a class, then classes, and fields as class.field
	Classes map[string]Class `yaml:"classes"` // by class

	// Framework is true for tables that other applications are built on. The preset of such an application comes after it.
	Framework bool `yaml:"framework"`
}

// A Class holds the knowledge about one class.
type Class struct {
	Hidden   string            `yaml:"hidden"`   // why it holds nothing for agents, or "" if it does
	Label    string            `yaml:"label"`    // the field that holds the label of a record
	Live     map[string]string `yaml:"live"`     // the condition on each field for live records, as YAML
	Denied   map[string]string `yaml:"denied"`   // why a field isn't for agents
	Pointers map[string]string `yaml:"pointers"` // by field: the class whose key it holds
}

// All returns all presets, in the order of their files.
func All() ([]Preset, error) {
	files, err := fs.Glob(known, "known/*.yaml")
	if err != nil {
		return nil, err
	}
	out := make([]Preset, len(files))
	for i, name := range files {
		text, err := known.ReadFile(name)
		if err == nil {
			err = yaml.UnmarshalWithOptions(text, &out[i], yaml.Strict())
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
	}
	return out, nil
}

// recognise returns the applications whose tables are among classes, frameworks first. Each has the prefix instead of
// "*".
func recognise(classes []schema.Class) ([]Preset, error) {
	all, err := All()
	if err != nil {
		return nil, err
	}
	var out []Preset
	for _, p := range all {
		if prefix, ok := p.prefix(classes); ok {
			out = append(out, p.with(prefix))
		}
	}
	slices.SortStableFunc(out, func(a, b Preset) int { return cmp.Compare(rank(a), rank(b)) })
	return out, nil
}

// rank is the place of p among the recognised presets: those of applications are applied after those of frameworks.
func rank(p Preset) int {
	if p.Framework {
		return 0
	}
	return 1
}

// prefix returns the prefix of the tables of an installation of p among classes, "" if p has none.
func (p *Preset) prefix(classes []schema.Class) (string, bool) {
	prefixes := []string{""}
	if suffix, ok := strings.CutPrefix(p.Has[0], "*"); ok {
		prefixes = nil
		for i := range classes {
			if prefix, ok := strings.CutSuffix(classes[i].Name, suffix); ok {
				prefixes = append(prefixes, prefix)
			}
		}
	}
	for _, prefix := range prefixes {
		if !slices.ContainsFunc(p.Has, func(what string) bool { return !has(classes, withPrefix(what, prefix)) }) {
			return prefix, true
		}
	}
	return "", false
}

// has reports whether classes have a class, or a field, given as class.field.
func has(classes []schema.Class, what string) bool {
	class, field, isField := strings.Cut(what, ".")
	i := slices.IndexFunc(classes, func(c schema.Class) bool { return c.Name == class })
	return i >= 0 && (!isField || classes[i].Field(field) != nil)
}

func withPrefix(name, prefix string) string {
	if rest, ok := strings.CutPrefix(name, "*"); ok {
		return prefix + rest
	}
	return name
}

// with returns p with a prefix instead of "*".
func (p *Preset) with(prefix string) Preset {
	out := Preset{Name: p.Name, Schema: p.Schema, Framework: p.Framework, Classes: map[string]Class{}}
	for _, what := range p.Has {
		out.Has = append(out.Has, withPrefix(what, prefix))
	}
	for name, c := range p.Classes {
		pointers := map[string]string{}
		for field, target := range c.Pointers {
			pointers[field] = withPrefix(target, prefix)
		}
		c.Pointers = pointers
		out.Classes[withPrefix(name, prefix)] = c
	}
	return out
}
