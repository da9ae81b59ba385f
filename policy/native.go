package policy

import (
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/bailiwick-dev/bailiwick/identity"
	"github.com/bailiwick-dev/bailiwick/internal/plan"
	"github.com/bailiwick-dev/bailiwick/internal/secretnames"
	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/query"
	"github.com/bailiwick-dev/bailiwick/schema"
	"github.com/bailiwick-dev/bailiwick/value"
)

// A NativeRule is a statement in a database's own SQL that the owner wrote. It reads tables and not views, so no tenant,
// filter or mask of a class applies to it. Only the masks of Returns do.
type NativeRule struct {
	Source  string
	Text    string           // with :name for each parameter. It only reads
	Returns []ReturnedColumn // the columns of its result, by position
}

// A ReturnedColumn is a column in the result of a NativeRule.
type ReturnedColumn struct {
	Name string
	Type schema.Type
	Mask Mask // Partial, Hash, Null or, for a column without a mask, ""
}

// A NativeFault is one error in a NativeRule.
type NativeFault struct {
	Query   string
	Column  int // the index in Returns, or -1
	Key     string
	Message string
}

// Error returns the place and the message.
func (f *NativeFault) Error() string { return "queries." + f.Query + "." + f.Key + ": " + f.Message }

// A NativeStatement is the part of a Plan that runs the statement of a NativeRule.
type NativeStatement struct {
	Text   string
	Params map[string]value.Value // by name. A statement can use no others
}

// native is a compiled NativeRule. Its class has the returned columns as fields. The class isn't in the catalogue, so
// no other query can name it.
type native struct {
	class *class
	text  string
}

// compileNative compiles the statements of the rules. The error joins each NativeFault.
func (p *Policy) compileNative() error {
	var errs []error
	for _, name := range slices.Sorted(maps.Keys(p.rules.Native)) {
		rule := p.rules.Native[name]
		wrong := func(column int, key, format string, args ...any) {
			errs = append(errs, &NativeFault{name, column, key, fmt.Sprintf(format, args...)})
		}
		c := &class{Class: &schema.Class{Source: rule.Source, Name: name, View: true}, full: rule.Source + "." + name, listed: true, tables: &tablesOf{}}
		if _, divided := p.rules.Schemas[rule.Source]; divided {
			wrong(-1, "source", "the source %s has one schema per tenant, and a statement of its own can't be kept to one", rule.Source)
		}
		if len(rule.Returns) == 0 {
			wrong(-1, "returns", "needs the name and the type of each column of the result")
		}
		p.returned(c, rule.Returns, wrong)
		p.natives[name] = &native{c, rule.Text}
	}
	return errors.Join(errs...)
}

// returned sets the fields and the masks of c to the returned columns. It calls wrong for each column that can't be
// returned.
func (p *Policy) returned(c *class, columns []ReturnedColumn, wrong func(column int, key, format string, args ...any)) {
	c.Fields = make([]schema.Field, len(columns))
	c.Seen = map[string]*schema.Field{}
	for i, r := range columns {
		f := &c.Fields[i]
		*f = schema.Field{Name: r.Name, Type: r.Type}
		switch {
		case c.Seen[r.Name] != nil:
			wrong(i, "returns", "the column %s appears twice. Give one of them another name, with AS", r.Name)
		case r.Type == schema.Opaque:
			wrong(i, "returns", "%s needs a type", r.Name)
		case secretnames.Internal(r.Name) || secretnames.Column(r.Name, secretnames.FormOf(r.Type)):
			wrong(i, "returns", "%s looks like a credential by its name. Leave the column out, or give it another name with AS", r.Name)
		case r.Mask != "" && !slices.Contains([]Mask{Partial, Hash, Null}, r.Mask):
			wrong(i, "returns", "there is no mask %q for a returned column. Write partial, hash or null", string(r.Mask))
		case r.Mask != "" && !r.Mask.Masks(r.Type):
			wrong(i, "returns", "%s can't mask a column of type %s. null masks any", r.Mask, r.Type)
		}
		c.Visible, c.Seen[r.Name] = append(c.Visible, f), f
		p.fields[f] = c.full + "." + r.Name
		if r.Mask != "" {
			if c.masks == nil {
				c.masks = map[string]*plan.Mask{}
			}
			c.masks[r.Name] = &plan.Mask{Kind: r.Mask, Field: c.full + "." + r.Name}
		}
	}
}

// native returns the permit for a statement of the owner. A principal that is kept to some classes or records, itself or
// by an ancestor, has no such statement, because nothing would keep the statement to them. A list of classes allows one
// by its name.
func (p *Policy) native(principal identity.Principal, q *query.Native) (Permit, error) {
	n := p.natives[q.Name]
	if n == nil {
		return Permit{}, problem.New(problem.NotFound, fmt.Sprintf("there is no query %q", problem.Cut(q.Name)))
	}
	for g := range principal.Line() {
		if len(g.Filters) > 0 || !listNames(g.Classes, n.class.full, n.class.Name) {
			return Permit{}, &problem.Error{Code: problem.PermissionDenied, Kind: "native_narrowed",
				Detail: "the query " + q.Name + " reads tables directly, and this caller is kept to some classes or records"}
		}
	}
	v := &View{class: n.class, table: n.class.Class, name: n.class.Name, who: principal, policy: p, op: schema.Find, masks: n.class.masks}
	planned := &Plan{View: v, Limit: q.Limit, Version: p.version, Native: &NativeStatement{n.text, q.Params}}
	for _, f := range v.Fields() {
		planned.Columns = append(planned.Columns, Column{Path: query.Path{f.Name}, Join: -1, Field: f, Mask: v.Mask(f.Name), Leads: -1})
	}
	return Permit{planned}, nil
}

// listNames reports whether a list names one of the names explicitly, at each of its levels that restricts something.
func listNames(l identity.List, of ...string) bool {
	in := func(list []string) bool {
		return slices.ContainsFunc(of, func(n string) bool { return slices.Contains(list, n) })
	}
	for at := &l; at != nil; at = at.Within {
		restricts := at.Only != nil || len(at.Except) > 0
		if restricts && (!in(at.Only) || in(at.Except)) {
			return false
		}
	}
	return true
}
