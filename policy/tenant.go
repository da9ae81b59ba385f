package policy

import (
	"slices"

	"github.com/bailiwick-dev/bailiwick/identity"
	"github.com/bailiwick-dev/bailiwick/internal/expression"
	"github.com/bailiwick-dev/bailiwick/internal/typecheck"
	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/query"
	"github.com/bailiwick-dev/bailiwick/schema"
)

// tenant is a compiled TenantRule.
type tenant struct {
	field    *schema.Field
	is       *expression.Expression
	contains bool // field is a list, and the record belongs to each of its elements
	through  *relation
	bypass   *expression.Expression // nil for never
}

// compileTenant compiles the tenant rule of a class and calls fail for each fault, with the key and the nearest valid
// name. Without Is, the field must equal the principal's tenant.
func (c *class) compileTenant(t *TenantRule, expressions *expression.Compiler, fail func(string, ...any)) *tenant {
	compile := func(key, text string, y expression.Yield) *expression.Expression {
		e, err := expressions.Compile(text, y)
		if err != nil {
			fail("tenant.%s: %v", key, err)
		}
		return e
	}
	out := &tenant{}
	if t.Bypass != "" {
		out.bypass = compile("bypass", t.Bypass, expression.Bool)
	}
	if t.Through != "" {
		out.through = c.relation(t.Through)
		switch {
		case t.Field != "" || t.Is != "" || t.Contains:
			fail("tenant: through can't be combined with field, is and contains")
		case c.Field(t.Through) == nil:
			fail("tenant.through: there is no field %q%s", t.Through, problem.DidYouMean(problem.Nearest(t.Through, c.FieldNames(), 2)))
		case out.through == nil:
			fail("tenant.through: %s is not a pointer to another class", t.Through)
		case out.through.target.rule.Tenant == nil:
			fail("tenant.through: %s leads to %s, which has no tenant rule", t.Through, out.through.target.FullName())
		case !c.Field(t.Through).Single():
			fail("tenant.through: %s is of type %s. A value can be a list there, and a record would belong to several tenants. %s", t.Through, c.Field(t.Through).Type, oneType)
		}
		return out
	}
	out.contains = t.Contains
	switch out.field = c.Field(t.Field); {
	case out.field == nil:
		fail("tenant.field: there is no field %q%s", t.Field, problem.DidYouMean(problem.Nearest(t.Field, c.FieldNames(), 2)))
	case t.Contains && !out.field.Type.IsStructured():
		fail("tenant.contains: %s is of type %s, not a list. Take contains out%s", t.Field, out.field.Type, singleTypeHint(out.field))
	case !t.Contains && out.field.Type.IsStructured():
		fail("tenant.field: %s is of type %s. A value can be a list there, and a record would belong to several tenants. "+
			"Name a field that holds one value. If a record does belong to every tenant in its list, write {field: %s, contains: true}", t.Field, out.field.Type, t.Field)
	case !t.Contains && !out.field.Single():
		fail("tenant.field: %s is of type %s. A value can be a list there, and a record would belong to several tenants. %s", t.Field, out.field.Type, oneType)
	}
	is := t.Is
	if is == "" {
		is = "principal.tenant"
	}
	out.is = compile("is", is, expression.Scalar)
	return out
}

// oneType is the advice for a field of type any that can contain lists.
const oneType = "Give the field one type in the source, or in its configuration (collections.<name>.fields)"

// singleTypeHint returns the advice for a field that may contain lists among other values, or "" for other fields.
func singleTypeHint(f *schema.Field) string {
	if f.Single() {
		return ""
	}
	return ". " + oneType
}

// circular reports whether tenant.through leads in a circle, which would have no condition at its end.
func (c *class) circular() bool {
	seen := map[*class]bool{}
	for at := c; at.tenant != nil && at.tenant.through != nil; at = at.tenant.through.target {
		if seen[at] {
			return true
		}
		seen[at] = true
	}
	return false
}

// letsBypass reports whether the rule lets p see the records of all tenants. An evaluation error counts as false.
func (t *tenant) letsBypass(p identity.Principal) bool {
	if t.bypass == nil {
		return false
	}
	v, err := t.bypass.Eval(p)
	return err == nil && v.Bool()
}

// tenant adds the layers of the tenant rule, or returns the kind of refusal. A parent class scopes its children whether
// or not the principal may see the parent itself.
func (v *View) tenant() string {
	t := v.class.tenant
	if t == nil {
		return ""
	}
	for g := range v.who.Line() {
		switch {
		case t.letsBypass(g):
		case t.through != nil: // the target's view covers all ancestors
			return v.addPointerLayer("tenant", t.through)
		default:
			f, kind := t.filter(v.class, g)
			if kind != "" {
				return kind
			}
			v.narrow(Layer{Name: "tenant", Filter: f, Contains: t.contains})
		}
	}
	return ""
}

// addPointerLayer adds the layer of a pointer whose target must be in its view.
func (v *View) addPointerLayer(name string, r *relation) string {
	target := &View{class: r.target, who: v.who, policy: v.policy, raw: v.raw}
	if kind := target.scope(); kind != "" {
		return kind
	}
	v.layers = append(v.layers, Layer{Name: name, Through: &Through{Field: r.field, Key: r.key, View: target}})
	return ""
}

// filter returns the filter of t on c for p, or the kind of refusal.
func (t *tenant) filter(c *class, p identity.Principal) (query.Filter, string) {
	is, err := t.is.Eval(p)
	if err != nil {
		return nil, "tenant_missing"
	}
	// The tenant is text from a token or a claim. It is converted to the type of the field.
	f, _, err := typecheck.Filter(query.Compare{Path: query.Path{t.field.Name}, Op: query.Eq, Value: is}, tenantScope{ruleScope{c}}, nil)
	if _, never := f.(query.Never); err != nil || never {
		return nil, "tenant_mismatch"
	}
	if t.contains {
		return f, ""
	}
	return query.Whole(f), ""
}

// Foreign reports whether the caller's filter explicitly selects records of another tenant. It can't match any, but the
// audit record notes it.
func (plan *Plan) Foreign() bool {
	filters := []query.Filter{plan.Where}
	if plan.Program != nil {
		filters = plan.Program.Leading()
	}
	for _, l := range plan.View.layers {
		own, ok := l.Filter.(query.Compare)
		if l.Name == "tenant" && ok && slices.ContainsFunc(filters, func(f query.Filter) bool { return anotherValue(f, own) }) {
			return true
		}
	}
	return false
}
