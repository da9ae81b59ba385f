package config

import (
	"github.com/bailiwick-dev/bailiwick/internal/rules/expression"
	"github.com/bailiwick-dev/bailiwick/internal/yamlconf"
	"github.com/bailiwick-dev/bailiwick/query"
)

// expression is the shape of a CEL expression over the principal with a result of kind y.
func (c *Config) expression(into *string, y expression.Yield) yamlconf.Shape {
	return yamlconf.Text("an expression, such as principal.tenant", func(s string) string {
		*into = s
		if _, err := c.expressions.Compile(s, y); err != nil {
			return err.Error()
		}
		return ""
	})
}

// where is the shape of a filter whose expressions are checked too.
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
