package config

import (
	"github.com/bailiwick-dev/bailiwick/internal/rules/expression"
	"github.com/bailiwick-dev/bailiwick/internal/yamlconf"
	"github.com/bailiwick-dev/bailiwick/query"
)

// expression is CEL over the principal that yields y.
func (c *Config) expression(into *string, y expression.Yield) yamlconf.Shape {
	return yamlconf.Text("an expression, such as principal.tenant", func(s string) string {
		*into = s
		if _, err := c.expressions.Compile(s, y); err != nil {
			return err.Error()
		}
		return ""
	})
}

// where is a filter of a rule, whose expressions are looked at too.
func (c *Config) where(into *query.Filter) yamlconf.Shape {
	plain := yamlconf.Where(into)
	return yamlconf.Shape{Schema: plain.Schema, Read: func(r *yamlconf.Reader, n yamlconf.Node, at string) {
		plain.Read(r, n, at)
		_, _ = expression.Replace(*into, func(d query.Deferred, _ bool) (query.Filter, error) {
			if _, err := c.expressions.Of(d); err != nil {
				r.WrongAt(d.At, err.Error())
			}
			return d, nil // all that is wrong is told, so none ends it
		})
	}}
}
