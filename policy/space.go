package policy

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"

	"github.com/bailiwick-dev/bailiwick/identity"
	"github.com/bailiwick-dev/bailiwick/internal/expression"
	"github.com/bailiwick-dev/bailiwick/schema"
	"github.com/bailiwick-dev/bailiwick/value"
)

// tablesOf keeps one copy of a class for each of its Spaces, so that two views of one table have the same class. It is
// safe for concurrent use.
type tablesOf struct {
	mu sync.Mutex
	in map[string]*schema.Class
}

// of returns c in a schema, or nil if the schema is not one of its Spaces.
func (t *tablesOf) of(c *schema.Class, space string) *schema.Class {
	t.mu.Lock()
	defer t.mu.Unlock()
	if known := t.in[space]; known != nil {
		return known
	}
	bound, ok := c.In(space)
	if !ok {
		return nil
	}
	if t.in == nil {
		t.in = map[string]*schema.Class{}
	}
	t.in[space] = bound
	return bound
}

// compileSchemas compiles the expressions for the schemas of principals.
func (p *Policy) compileSchemas() error {
	p.schemas = map[string]*expression.Expression{}
	var errs []error
	for _, source := range slices.Sorted(maps.Keys(p.rules.Schemas)) {
		e, err := p.expressions.Compile(p.rules.Schemas[source], expression.Scalar)
		if err != nil {
			errs = append(errs, fmt.Errorf("sources.%s.schema: %w", source, err))
		}
		p.schemas[source] = e // nil has no result
	}
	return errors.Join(errs...)
}

// bind sets the table of the view, or returns the kind of refusal. A class with Spaces is visible only to a principal
// whose schema is one of them. The schema is computed only here. Without a bound table, a statement names a schema that
// no database has.
func (v *View) bind() string {
	_, divided := v.policy.schemas[v.class.Source]
	switch {
	case v.policy.anySchema && len(v.class.Spaces) > 0:
		v.schema = v.policy.inSchema
		if _, ok := v.class.Spaces[v.schema]; !ok {
			v.schema = slices.Min(slices.Collect(maps.Keys(v.class.Spaces)))
		}
		v.table = v.class.tables.of(v.class.Class, v.schema)
		return ""
	case v.class.Recordless:
		v.table = v.class.Class
		return ""
	case v.class.Spaces == nil && !divided:
		v.table = v.class.Class
		return ""
	case v.class.Spaces == nil || !divided:
		return "schema_unknown"
	}
	space := v.policy.Schema(v.who, v.class.Source)
	if space == "" {
		return "schema_missing"
	}
	if v.table = v.class.tables.of(v.class.Class, space); v.table == nil {
		return "schema_unknown"
	}
	v.schema = space
	return ""
}

// Schema returns the name of the view's schema in a source with one schema per tenant, or "" for other sources.
func (v *View) Schema() string { return v.schema }

// Schema returns the name of principal's schema in a source with one schema per tenant. It returns "" for other
// sources, and if the result of the expression is not a text. It also returns "" if an ancestor of principal has
// another schema. The schema may not exist: then no class is in it.
func (p *Policy) Schema(principal identity.Principal, source string) string {
	e := p.schemas[source]
	if e == nil {
		return ""
	}
	space := ""
	for g := range principal.Line() {
		v, err := e.Eval(g)
		if err != nil || v.Kind() != value.String || space != "" && v.Text() != space {
			return ""
		}
		space = v.Text()
	}
	return space
}

// InAnySchema returns a copy of p for sources with one schema per tenant. For every principal, its views are of any one
// of the schemas. It is for operators, who look at rules without a principal. The rules are the same in all schemas.
func (p *Policy) InAnySchema() *Policy {
	out := *p
	out.anySchema = true
	return &out
}

// InSchema is like InAnySchema, for the schema called space. For a class that this schema doesn't have, it uses the
// first schema that has it.
func (p *Policy) InSchema(space string) *Policy {
	out := p.InAnySchema()
	out.inSchema = space
	return out
}

// HasSchema reports whether a source with one schema per tenant has a schema called space that is like its template.
func (p *Policy) HasSchema(source, space string) bool {
	return slices.ContainsFunc(p.classes, func(c *class) bool {
		_, ok := c.Spaces[space]
		return ok && c.Source == source
	})
}

// Schemas returns principal's schemas in the sources with one schema per tenant, by source.
func (p *Policy) Schemas(principal identity.Principal) map[string]string {
	out := map[string]string{}
	for source := range p.schemas {
		out[source] = p.Schema(principal, source)
	}
	return out
}
