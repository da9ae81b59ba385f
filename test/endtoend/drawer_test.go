package endtoend

import (
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/bailiwick-dev/bailiwick/identity"
	"github.com/bailiwick-dev/bailiwick/internal/plan"
	"github.com/bailiwick-dev/bailiwick/policy"
	"github.com/bailiwick-dev/bailiwick/query"
	"github.com/bailiwick-dev/bailiwick/value"
)

// A drawn contains random rules for a random principal.
type drawn struct {
	rules  policy.Rules
	who    identity.Principal
	narrow []narrowing // of the principal and its ancestors
}

// A narrowing contains the restrictions that one generation of a principal adds.
type narrowing struct {
	classes identity.List
	filters map[string]query.Filter
}

// plainOf contains the columns that can be masked.
var plainOf = map[string][]string{"orgs": {"name"}, "users": {"name", "role", "email", "age", "phone", "phone"}, "issues": {"title", "status", "internal_note", "points", "custom"},
	"comments": {"body", "draft"}, "labels": {"name"}, "events": {"kind"}, "shifts": {"pay"}, "readings": {"note", "made", "meta", "price", "addr"}}

// A drawer draws random rules and principals.
type drawer struct{ *rand.Rand }

// scopeOf contains the columns that can contain the tenant.
var scopeOf = map[string][]string{"orgs": {"id"}, "users": {"org_id", "org_id", "role"}, "issues": {"org_id"}, "shifts": {"org_id"}, "events": {"org_id"}, "labels": {"name"}, "readings": {"org_id"}}

// throughOf contains the pointers through which a class can take the tenant of another class.
var throughOf = map[string][]string{"comments": {"issue_id", "author_id"}, "issues": {"assignee_id"}, "shifts": {"who"}}

// leads contains the target class of each pointer.
var leads = map[string]string{"issue_id": "issues", "author_id": "users", "assignee_id": "users", "who": "users", "boss_id": "users", "org_id": "orgs", "vault_id": "vaults"}

func columnsOf(t table) []string {
	var names []string
	for _, c := range append(slices.Clone(t.columns), t.hidden...) {
		name, _, _ := strings.Cut(c, " ")
		names = append(names, name)
	}
	return names
}

// policy draws rules and a principal. Rules may contradict each other. policy.New refuses them then, and the test
// draws again.
func (d *drawer) policy() drawn {
	out := drawn{rules: policy.Rules{Version: "1", Unlisted: d.IntN(2) == 0, Classes: map[string]policy.ClassRule{}}}
	for _, t := range tables {
		if d.IntN(8) > 0 {
			out.rules.Classes[t.name] = d.rule(t)
		}
	}
	p := identity.Principal{ID: "token:9", Owner: "ann", Tenant: pick(d.Rand, "acme", "acme", "acme", "acme", "acme", "a", ""), Scopes: []identity.Scope{identity.Read},
		Claims: d.claims()}
	if d.IntN(4) == 0 {
		p.Scopes = append(p.Scopes, identity.Operator) // a scope that agents can't have
	}
	own := d.narrowing()
	p.Classes, p.Filters = own.classes, own.filters
	out.narrow = append(out.narrow, own)
	for d.IntN(4) == 0 && p.Depth < identity.MaxDepth {
		more := d.narrowing()
		sub, err := identity.Derive(p, identity.Derivation{Name: "sub", Classes: more.classes, Filters: more.filters})
		if err != nil {
			panic(err)
		}
		p = sub
		out.narrow = append(out.narrow, more)
	}
	out.who = p
	return out
}

func (d *drawer) narrowing() (n narrowing) {
	names := []string{"users", "issues", "comments", "shifts", "events", "labels", "orgs", "app.users", "vaults"}
	switch d.IntN(8) {
	case 0:
		n.classes.Only = names[:2+d.IntN(6)]
	case 1:
		n.classes.Except = []string{pick(d.Rand, names...)}
	}
	for range max(d.IntN(5)-2, 0) {
		if n.filters == nil {
			n.filters = map[string]query.Filter{}
		}
		switch d.IntN(5) {
		case 0, 1:
			n.filters["issues"] = d.filter("issues")
		case 2, 3:
			n.filters["users"] = d.filter("users")
		default:
			n.filters["default"] = query.Compare{Path: query.Path{pick(d.Rand, "org_id", "id", "name")}, Op: query.Ne, Value: pick(d.Rand, value.OfString("globex"), value.OfString("a"))}
		}
	}
	return n
}

func (d *drawer) rule(t table) policy.ClassRule {
	r := policy.ClassRule{Hidden: d.IntN(12) == 0}
	names := columnsOf(t)
	if d.IntN(3) > 0 {
		r.Visible = []string{}
		for _, n := range names {
			if n != "password_hash" && d.IntN(8) > 0 {
				r.Visible = append(r.Visible, n)
			}
		}
	} else if d.IntN(2) == 0 {
		r.Denied = []string{pick(d.Rand, names...)}
	}
	switch {
	case scopeOf[t.name] != nil && d.IntN(2) == 0:
		r.Tenant = &policy.TenantRule{Field: scopeOf[t.name][d.IntN(len(scopeOf[t.name]))], Is: pick(d.Rand, "", "", "principal.tenant", "principal.tenant", "principal.claims.region", regionOrTenant)}
		if r.Tenant.Field == "role" {
			r.Tenant.Is = "principal.claims.region"
		}
	case throughOf[t.name] != nil && d.IntN(2) == 0:
		r.Tenant = &policy.TenantRule{Through: pick(d.Rand, throughOf[t.name]...)}
	}
	if r.Tenant != nil {
		r.Tenant.Bypass = pick(d.Rand, "", "", "", bypassStaff, bypassSchema)
	}
	if plain := plainOf[t.name]; plain != nil && d.IntN(3) == 0 {
		name := pick(d.Rand, plain...)
		kind := pick(d.Rand, plan.MaskPartial, plan.MaskHash, plan.MaskNull)
		if name == "age" || name == "points" || name == "custom" || name == "pay" || t.name == "events" || t.name == "readings" {
			kind = plan.MaskNull
		}
		r.Mask = map[string]plan.MaskKind{name: kind}
		if d.IntN(3) == 0 {
			r.MaskBut = map[string]identity.Scope{name: identity.Operator}
		}
	}
	if t.name == "readings" && d.IntN(2) == 0 {
		r.Types = typesOf()
		r.Pointers = map[string]policy.Pointer{"label_ids": {Class: "labels"}, "user_ids": {Class: "users"}}
	}
	if t.name == "issues" && d.IntN(4) == 0 {
		r.Join = []string{"title"}
	}
	if d.IntN(4) == 0 {
		r.Canonical = d.filter(t.name)
	}
	return r
}

// filter draws a condition on a class that this test can evaluate itself.
func (d *drawer) filter(class string) query.Filter {
	path := func(names ...string) query.Path { return query.Path{pick(d.Rand, names...)} }
	op := pick(d.Rand, query.Eq, query.Ne)
	switch class {
	case "users":
		return pick[query.Filter](d.Rand,
			query.In{Path: path("role"), Values: []value.Value{value.OfString("dev"), value.OfString("ops")}},
			query.Compare{Path: path("age", "rank"), Op: op, Value: value.OfInt(3)},
			query.Compare{Path: path("email", "name", "role"), Op: op},
			query.Deferred{Path: path("role"), Op: op, List: true, CEL: rolesButBoss})
	case "issues":
		return pick[query.Filter](d.Rand,
			query.Compare{Path: path("deleted_at", "due", "internal_note"), Op: op},
			query.And{query.Compare{Path: path("score"), Op: query.Ne, Value: value.OfInt(3)}, query.Compare{Path: path("status"), Op: query.Ne, Value: value.OfString("Done")}},
			query.And{query.Deferred{Path: path("score", "points"), Op: op, CEL: levelLess1}, query.Compare{Path: path("status"), Op: query.Ne, Value: value.OfString("Done")}},
			query.Or{query.Compare{Path: path("points"), Op: query.Eq, Value: value.OfInt(1)}, query.Compare{Path: path("urgent"), Op: op, Value: value.OfBool(true)}})
	case "readings":
		return query.Compare{Path: path("note", "draft"), Op: op, Value: value.OfString("a")}
	case "comments":
		return query.Compare{Path: path("body", "draft"), Op: op, Value: value.OfString("a")}
	case "shifts", "events":
		return query.Compare{Path: query.Path{map[string]string{"shifts": "pay", "events": "n"}[class]}, Op: op, Value: value.OfInt(1)}
	}
	return query.Compare{Path: query.Path{map[string]string{"vaults": "code", "isues": "title"}[class]}, Op: op, Value: value.OfString("a")}
}
