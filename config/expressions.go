package config

import (
	"github.com/bailiwick-dev/bailiwick/config/strict"
	"github.com/bailiwick-dev/bailiwick/policy/expression"
	"github.com/bailiwick-dev/bailiwick/query"
)

// expression is CEL over the principal that yields y.
func (c *Config) expression(into *string, y expression.Yield) strict.Shape {
	return strict.Text("an expression, such as principal.tenant", func(s string) string {
		*into = s
		if _, err := c.expressions.Compile(s, y); err != nil {
			return err.Error()
		}
		return ""
	})
}

// where is a filter of a rule, whose expressions are looked at too.
func (c *Config) where(into *query.Filter) strict.Shape {
	plain := strict.Where(into)
	return strict.Shape{Schema: plain.Schema, Read: func(r *strict.Reader, n strict.Node, at string) {
		plain.Read(r, n, at)
		_, _ = expression.Replace(*into, func(d query.Deferred, _ bool) (query.Filter, error) {
			if _, err := c.expressions.Of(d); err != nil {
				r.WrongAt(d.At, err.Error())
			}
			return d, nil // all that is wrong is told, so none ends it
		})
	}}
}
