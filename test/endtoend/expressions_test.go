package endtoend

import (
	"slices"

	"github.com/bailiwick-dev/bailiwick/identity"
	"github.com/bailiwick-dev/bailiwick/policy"
	"github.com/bailiwick-dev/bailiwick/query"
	"github.com/bailiwick-dev/bailiwick/value"
)

// The expressions in random rules. This test implements their meaning independently of package policy.
const (
	regionOrTenant = `has(principal.claims.region) && principal.claims.region != null ? principal.claims.region : principal.tenant`
	bypassStaff    = "principal.claims.staff"
	bypassSchema   = `"schema" in principal.scopes`
	levelLess1     = "principal.claims.level - 1"
	rolesButBoss   = `principal.claims.roles.filter(r, r != "boss")`
)

// claims draws the claims of a credential. Most contain the values that the expressions use.
func (d *drawer) claims() value.Value {
	text := value.OfString
	members := []value.Member{{Name: "region", Value: pick(d.Rand, text("acme"), text("acme"), text("dev"), value.Value{})},
		{Name: "staff", Value: pick(d.Rand, value.OfBool(true), value.OfBool(false), text("true"), value.Value{})},
		{Name: "level", Value: value.OfInt(int64(d.IntN(4)))},
		{Name: "roles", Value: value.OfArray([]value.Value{text("dev"), text("boss"), text("ops")}[:pick(d.Rand, 0, 1, 1, 2, 3, 3)])}}
	return value.OfObject(members[:4-max(d.IntN(10)-7, 0)])
}

// claim returns a claim of d's principal, or null if the principal doesn't have it.
func (d *drawn) claim(name string) value.Value {
	v, _ := d.who.Claims.Get(name)
	return v
}

// bypasses reports whether all generations of d's principal see the records of all tenants.
func (d *drawn) bypasses(t *policy.TenantRule) bool {
	switch t.Bypass {
	case bypassStaff:
		return d.claim("staff").Bool()
	case bypassSchema: // derived principals can only read
		return len(d.narrow) == 1 && slices.Contains(d.who.Scopes, identity.Schema)
	}
	return false
}

// said replaces the expressions in f by their values. It returns false if an expression has no value.
func (d *drawn) said(f query.Filter) (query.Filter, bool) {
	switch f := f.(type) {
	case query.And:
		out := slices.Clone(f)
		for i, part := range f {
			var ok bool
			if out[i], ok = d.said(part); !ok {
				return nil, false
			}
		}
		return out, true
	case query.Deferred:
		level, roles := d.claim("level"), d.claim("roles")
		switch f.CEL {
		case levelLess1:
			return query.Compare{Path: f.Path, Op: f.Op, Value: value.OfInt(level.Int() - 1)}, !level.IsNull()
		case rolesButBoss:
			roles := slices.DeleteFunc(slices.Clone(roles.List()), func(v value.Value) bool { return v.Text() == "boss" })
			return query.In{Path: f.Path, Values: roles, Not: f.Op == query.Ne}, len(roles) > 0
		}
		panic("no expression of this test: " + f.CEL)
	}
	return f, true
}
