package config

import (
	"slices"
	"strings"
)

// SQLite returns the path of the source's file, and whether the source is an SQLite file.
func (s Source) SQLite() (path string, ok bool) { return strings.CutPrefix(s.URL, "sqlite:") }

// MongoDB reports whether the source is a MongoDB database.
func (s Source) MongoDB() bool {
	return strings.HasPrefix(s.URL, "mongodb://") || strings.HasPrefix(s.URL, "mongodb+srv://")
}

// DuckDB returns the path of a DuckDB file, or of a folder of Parquet, CSV and JSON files. It also reports whether
// the source is one of these.
func (s Source) DuckDB() (path string, ok bool) { return strings.CutPrefix(s.URL, "duckdb:") }

// WrongRule returns a fault in the rule of a class, which is given by its full name or as in the file. If the message
// begins with a key of the rule and a colon, "tenant.through: …", the fault is at that key.
func (c *Config) WrongRule(class, message string) Fault {
	path := []string{"classes", c.classKey(class)}
	if key, rest, ok := strings.Cut(message, ": "); ok {
		deeper := append(slices.Clone(path), strings.Split(key, ".")...)
		if _, written := c.document.Place(deeper...); written {
			return c.Wrong(rest, deeper...)
		}
	}
	return c.Wrong(message, path...)
}

// classKey returns the name of a class as the file has it: the full name or the bare name.
func (c *Config) classKey(class string) string {
	if _, ok := c.Rules.Classes[class]; !ok {
		if _, bare, ok := strings.Cut(class, "."); ok {
			if _, ok := c.Rules.Classes[bare]; ok {
				return bare
			}
		}
	}
	return class
}
