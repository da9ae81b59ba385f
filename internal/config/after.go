package config

import (
	"fmt"
	"slices"
	"strings"

	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/schema"
)

// SQLite returns the path of the source's file, and whether the source is an SQLite file. Sources with a URL that are
// neither SQLite, MariaDB, MongoDB nor Parse Server are PostgreSQL databases.
func (s Source) SQLite() (path string, ok bool) { return strings.CutPrefix(s.URL, "sqlite:") }

// MariaDB reports whether the source is a MariaDB database.
func (s Source) MariaDB() bool {
	return strings.HasPrefix(s.URL, "mariadb://") || strings.HasPrefix(s.URL, "mysql://")
}

// MongoDB reports whether the source is a MongoDB database.
func (s Source) MongoDB() bool {
	return strings.HasPrefix(s.URL, "mongodb://") || strings.HasPrefix(s.URL, "mongodb+srv://")
}

// DuckDB returns the path of a DuckDB file, or of a folder of Parquet, CSV and JSON files, and whether the source is one.
func (s Source) DuckDB() (path string, ok bool) { return strings.CutPrefix(s.URL, "duckdb:") }

// space returns the schema of a class, as the key schemas names it.
func space(c *schema.Class) string {
	if c.Space == "" {
		return "public"
	}
	return c.Space
}

// Keep returns the classes found in a source that its keys schemas and tables allow. Names in these keys that match
// nothing are reported in an *Error.
func (c *Config) Keep(source string, found []schema.Class) ([]schema.Class, error) {
	i := slices.IndexFunc(c.Sources, func(s Source) bool { return s.Name == source })
	if i < 0 {
		return found, nil
	}
	s := c.Sources[i]
	var faults []Fault
	known := func(given, names []string, path ...string) {
		for i, name := range given {
			if !slices.Contains(names, name) {
				message := "there is no such name in the source" + problem.DidYouMean(problem.Nearest(name, names, 2))
				faults = append(faults, c.Wrong(message, append(append([]string{"sources", source}, path...), fmt.Sprint(i))...))
			}
		}
	}
	var spaces, tables []string
	var kept []schema.Class
	for i := range found {
		class := &found[i]
		if !slices.Contains(spaces, space(class)) {
			spaces = append(spaces, space(class))
		}
		if s.Schemas != nil && !slices.Contains(s.Schemas, space(class)) {
			continue
		}
		tables = append(tables, class.Name)
		if s.Tables.Allows(class.Name) {
			kept = append(kept, *class)
		}
	}
	known(s.Schemas, spaces, "schemas")
	known(s.Tables.Only, tables, "tables", "only")
	known(s.Tables.Except, tables, "tables", "except")
	if faults != nil {
		return nil, &Error{Faults: faults}
	}
	return kept, nil
}

// WrongRule returns a fault of the rule of a class, given by its full name or as in the file. A message that begins
// with a key of the rule and a colon, "tenant.through: …", points at that key.
func (c *Config) WrongRule(class, message string) Fault {
	path := []string{"classes", c.written(class)}
	if key, rest, ok := strings.Cut(message, ": "); ok {
		deeper := append(slices.Clone(path), strings.Split(key, ".")...)
		if _, written := c.document.Place(deeper...); written {
			return c.Wrong(rest, deeper...)
		}
	}
	return c.Wrong(message, path...)
}

// written returns the name of a class as used in the file: the full or the bare one.
func (c *Config) written(class string) string {
	if _, ok := c.Rules.Classes[class]; !ok {
		if _, bare, ok := strings.Cut(class, "."); ok {
			if _, ok := c.Rules.Classes[bare]; ok {
				return bare
			}
		}
	}
	return class
}
