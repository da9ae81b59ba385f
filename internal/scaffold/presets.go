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

// A Preset describes the tables of one application. A "*" at the beginning of a class stands for the table prefix of
// an installation, such as wp_.
type Preset struct {
	Name    string           `yaml:"name"`
	Schema  string           `yaml:"schema"`  // the version and the source of the described schema
	Has     []string         `yaml:"has"`     // what identifies the application: a class first, then more classes and fields (class.field)
	Classes map[string]Class `yaml:"classes"` // the descriptions, by class

	// Framework is set for tables that other applications build on. A preset of such an application is applied after
	// the framework's preset.
	Framework bool `yaml:"framework"`
}

// A Class describes one class of an application.
type Class struct {
	Hidden   string            `yaml:"hidden"`   // why the class is of no use to agents, or ""
	Label    string            `yaml:"label"`    // the field that contains the label of a record
	Live     map[string]string `yaml:"live"`     // for each field: the YAML condition that live records satisfy
	Denied   map[string]string `yaml:"denied"`   // for each field: why agents must not see it
	Pointers map[string]string `yaml:"pointers"` // for each field: the class whose key it contains
}

// All returns all presets, ordered by file name.
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

// recognise returns the presets of the applications whose tables are in classes, frameworks first. Their class names
// contain the real prefix instead of "*".
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

// rank orders recognised presets. Presets of frameworks are applied first.
func rank(p Preset) int {
	if p.Framework {
		return 0
	}
	return 1
}

// prefix returns the table prefix of an installation of p in classes, and false if p is not installed.
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

// has reports whether classes contain a class, or a field given as class.field.
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

// with returns p with each "*" replaced by a prefix.
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
