package config

import (
	"github.com/bailiwick-dev/bailiwick/internal/expression"
	"github.com/bailiwick-dev/bailiwick/internal/yamlconf"
	"github.com/bailiwick-dev/bailiwick/query"
)

// expression returns the shape of a CEL expression over the principal with a result of kind y.
func (c *Config) expression(into *string, y expression.Yield) yamlconf.Shape {
	return yamlconf.TextOf("an expression, such as principal.tenant", func(s string) error {
		*into = s
		_, err := c.expressions.Compile(s, y)
		return err
	})
}

// where returns the shape of a filter. It also checks the expressions in the filter.
func (c *Config) where(into *query.Filter) yamlconf.Shape {
	plain := yamlconf.Where(into)
	return yamlconf.Shape{Schema: plain.Schema, Read: func(r *yamlconf.Reader, n yamlconf.Node, at string) {
		plain.Read(r, n, at)
		_, _ = expression.Replace(*into, func(d query.Deferred, _ bool) (query.Filter, error) {
			if _, err := c.expressions.Of(d); err != nil {
				r.WrongAt(d.At, err.Error())
			}
			return d, nil // continue, to report all faults
		})
	}}
}

// schema returns the shape of a principal's schema. It is an expression in an object, because a plain text would be
// read as a name.
func (c *Config) schema(into *string) yamlconf.Shape {
	return yamlconf.Object([]yamlconf.Key{
		{Name: "$cel", Doc: "An expression over principal that yields the name of a schema", Must: true, Shape: c.expression(into, expression.Scalar)},
	}, nil)
}

// divide sets the rule that determines the schema of a principal in a source.
func (c *Config) divide(source, text string) {
	if c.Rules.Schemas == nil {
		c.Rules.Schemas = map[string]string{}
	}
	c.Rules.Schemas[source] = text
}

// wrongSchemas returns a wrong key of a source with one schema per tenant, and the reason. It returns "" if the keys
// are right.
func (s *Source) wrongSchemas(given func(key string) bool) (key, why string) {
	switch {
	case s.Schema == "" && s.Template == "":
		return "", ""
	case !s.Kind().Tenants:
		key = "schema"
		if s.Schema == "" {
			key = "template"
		}
		if why := s.Kind().NoTenants; why != "" {
			return key, "is only for PostgreSQL. " + why + " (docs/connections.md, One schema per tenant)"
		}
		return key, "only PostgreSQL has one schema per tenant. Take it out"
	case s.Schema == "":
		return "template", "goes with the key schema: {$cel: principal.tenant}. A source that reads fixed schemas has the key schemas"
	case s.Template == "":
		return "schema", "needs the key template: the name of one schema, whose tables become the classes and which the others are compared with"
	case given("schemas"):
		return "schemas", "can't be combined with schema, which yields one schema for each caller. Take one of them out"
	}
	return "", ""
}
