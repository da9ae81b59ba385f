package policy

import (
	"slices"

	"github.com/bailiwick-dev/bailiwick/query"
	"github.com/bailiwick-dev/bailiwick/schema"
	"github.com/bailiwick-dev/bailiwick/value"
)

// Groups are the groups of a principal in a source. The zero Groups grant nothing.
type Groups struct {
	All   bool     // it may do everything, like the source's master
	Names []string // its groups: schema.Everybody, the id of its user, its roles
	User  string   // the id of its user, or ""
	Users string   // the class of its user
}

// member reports whether g is in a group.
func (g Groups) member(group string) bool {
	if group == schema.Authenticated {
		return g.isAuthenticated()
	}
	return slices.Contains(g.Names, group)
}

// isAuthenticated reports whether g is a user or a role, and not just everybody.
func (g Groups) isAuthenticated() bool { return len(g.Names) > 1 }

// Guarded is the part of a class that a Guard allows for one principal and operation.
type Guarded struct {
	Hidden  []string       // the fields that are not visible
	Partly  []string       // the fields that the source shows on records that name the user, and as null on other records
	Filters []query.Filter // every record satisfies all of them. They may name fields that are not visible
}

// GuardAccess returns the part of c that g may use for op, and whether g may do op at all. A class without a Guard is
// open to all.
func GuardAccess(c *schema.Class, g Groups, op schema.Operation) (Guarded, bool) {
	rule := c.Guard
	if rule == nil || g.All {
		return Guarded{}, true
	}
	if len(g.Names) == 0 {
		return Guarded{}, false
	}
	users, ok := checkGrant(c, g, op)
	if !ok {
		return Guarded{}, false
	}
	a := Guarded{Hidden: protectedFields(rule.Protected, g)}
	for _, name := range slices.Clone(a.Hidden) {
		if partly(rule.Named, g, name) {
			a.Hidden, a.Partly = slices.DeleteFunc(a.Hidden, func(f string) bool { return f == name }), append(a.Partly, name)
		}
	}
	if users != nil {
		a.Filters = append(a.Filters, users)
	}
	list := rule.Readers
	switch op {
	case schema.Create: // there is no record yet
		list = ""
	case schema.Update, schema.Delete:
		list = rule.Writers
	}
	if list != "" {
		a.Filters = append(a.Filters, groupFilter(list, g))
	}
	return a, true
}

// checkGrant reports whether g may do op on some records of c. users is the condition on them, or nil for all.
func checkGrant(c *schema.Class, g Groups, op schema.Operation) (users query.Filter, ok bool) {
	grant, limited := c.Guard.Grants[op]
	switch {
	case !limited, slices.ContainsFunc(grant.Groups, g.member):
		return nil, true
	case grant.Authenticated && g.isAuthenticated() && len(grant.Users) == 0:
		return nil, true
	case len(grant.Users) == 0, g.User == "":
		return nil, false
	}
	var any query.Or
	for _, name := range grant.Users {
		f := c.Field(name)
		switch {
		case f == nil:
		case f.Type == schema.Array, f.Type == schema.JSON: // a list of pointers, as the source writes them
			pointer := value.OfObject([]value.Member{{Name: "__type", Value: value.OfString("Pointer")},
				{Name: "className", Value: value.OfString(g.Users)}, {Name: "objectId", Value: value.OfString(g.User)}})
			any = append(any, query.ElemMatch{Path: query.Path{name}, Match: query.Compare{Op: query.Eq, Value: pointer}})
		case f.Type == schema.String:
			any = append(any, query.Compare{Path: query.Path{name}, Op: query.Eq, Value: value.OfString(g.User)})
		}
	}
	if any == nil {
		return query.Never{}, true // no field can name a user
	}
	return any, true
}

// groupFilter returns the condition that a list of groups is null or names one of g.
func groupFilter(list string, g Groups) query.Filter {
	path := query.Path{list}
	return query.Or{query.Exists{Path: path}, query.In{Path: path, Values: value.OfStrings(g.Names).List()}}
}

// protectedFields returns the fields that protected hides from all groups of g that it names.
func protectedFields(protected map[string][]string, g Groups) []string {
	var out []string
	first := true
	for group, fields := range protected {
		switch {
		case !g.member(group):
		case first:
			out, first = slices.Clone(fields), false
		default:
			out = slices.DeleteFunc(out, func(f string) bool { return !slices.Contains(fields, f) })
		}
	}
	slices.Sort(out)
	return out
}

// partly reports whether a field that is hidden from g is visible on records that name g's user.
func partly(named map[string][]string, g Groups, field string) bool {
	for _, stay := range named {
		if g.User != "" && !slices.Contains(stay, field) {
			return true
		}
	}
	return false
}
