// Package policy decides what a principal may do: it turns a Principal and a query into a Permit or a refusal.
//
//	Rules, catalogue ─New→ Policy
//	Principal, query ─View of each class, typecheck or sqlbind→ Plan ─scans, limits→ Permit → sqlgen, source, redact
//
// Agents never query a class directly. They query a View: the visible fields of a class and a predicate that every
// record satisfies. Read replaces each class of a query by its view. The refusal of a hidden field or class has the
// same bytes as that of one that never existed, unless the owner's rules disclose it. A class without a rule is hidden
// unless the rules say otherwise. New compiles the rules once, and fails if a rule names something that the catalogue
// lacks.
//
// A View combines the rule of the class (visible fields, masks, tenant, canonical filter) with the permissions in the
// source itself. GuardAccess applies the latter, from the schema.Guard of a class and the principal's Groups. Rules can
// declare pointers, types and labels that the source doesn't declare. Timestamps are recognized by the names of fields.
//
// Two steps must not disclose hidden data. A search reads only fields that the principal sees unmasked. The refusal of
// a scan depends only on visible fields and indexes, not on statistics.
//
// FilterFields finds the fields of a filter, but none in a filter of unknown type. So its callers must also bind the
// filter.
//
// Gates are the operator's switches for kinds of writes. May decides who may use a tool, from gates, scopes and tool
// lists. Package writes decides about a single write, and package calls about a single call of an API.
package policy

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"sort"
	"strings"

	"github.com/bailiwick-dev/bailiwick/identity"
	"github.com/bailiwick-dev/bailiwick/internal/expression"
	"github.com/bailiwick-dev/bailiwick/internal/openapi/calls"
	"github.com/bailiwick-dev/bailiwick/internal/plan"
	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/query"
	"github.com/bailiwick-dev/bailiwick/schema"
)

// A Policy is the rules in force, compiled against a catalogue. It is immutable. New rules make a new Policy.
type Policy struct {
	version string
	classes []*class
	byFull  map[string]*class
	byName  map[string][]*class

	byFold map[string][]*class // by name, with and without the source, in lower case

	pointedBy map[string][]*class // by full name: the other classes with pointers to it, and the class itself if it has any

	refuseScans bool
	disclose    bool
	expressions *expression.Compiler
	apis        *calls.APIs

	schemas   map[string]*expression.Expression // by source with one schema per tenant: the schema of a principal
	bounded   []*expression.Expression          // the conditions of rules.AgentBounds
	anySchema bool                              // views can be of any schema: see InAnySchema
	inSchema  string                            // the name of the schema, or "" for the first one

	guarded   []string  // the sources that have classes with a guard, sorted
	directory Directory // the groups of principals in these sources. Nil hides their classes

	rules     Rules          // as given, for operators
	catalogue []schema.Class // likewise

	derivations []Derivation // by class and field

	natives map[string]*native // the statements of the owner, by name

	fields map[*schema.Field]string // "source.Class.field", for audit records
	uses   *Uses                    // collects what the current call uses, or nil
}

// class is one class of the catalogue with its compiled rule.
type class struct {
	*schema.Class
	full   string // "source.Class"
	rule   ClassRule
	listed bool
	visibleFields
	withheld  []string                    // the fields that Rules.Withheld hides
	explicit  map[string]*schema.Field    // the visible fields by the rule itself, before derive
	masks     map[string]*plan.Mask       // by visible field
	but       map[string][]identity.Scope // by masked field: principals with all of these see it whole, or nil
	tenant    *tenant
	canonical query.Filter    // bound, unless it has expressions
	personal  bool            // canonical has expressions
	relations []relation      // pointers in a single field, and lists of pointers
	labels    []string        // the fields that can be the label of a record, the likeliest first
	code      []plan.NamePart // the short name of a record, or nil
	link      []plan.NamePart // the address of a record in its application, or nil
	tables    *tablesOf       // for a class with Spaces: the class in each of them
}

// relation is a pointer field, or a list of pointers, and its target.
type relation struct {
	field  string
	target *class
	key    string
	list   bool
}

// A RuleFault is one error in the rule of a class.
type RuleFault struct {
	Class   string // as the rules name it
	Message string
}

// Error returns the path of the class in the rules and the message.
func (f *RuleFault) Error() string { return "classes." + f.Class + ": " + f.Message }

// New compiles rules against the catalogue. The error joins every RuleFault found.
func New(rules Rules, catalogue []schema.Class) (*Policy, error) {
	p := &Policy{version: rules.Version, byFull: map[string]*class{}, byName: map[string][]*class{}, byFold: map[string][]*class{}, pointedBy: map[string][]*class{}, refuseScans: rules.RefuseScans,
		disclose: rules.Disclose, expressions: expression.NewCompiler(), rules: rules, catalogue: slices.Clone(catalogue), fields: map[*schema.Field]string{}, natives: map[string]*native{}}
	errs := []error{rules.Gates.Check(), p.compileSchemas(), p.compileBounds(), p.compileNative()}
	fail := func(name, format string, args ...any) {
		errs = append(errs, &RuleFault{name, fmt.Sprintf(format, args...)})
	}
	for i := range p.catalogue {
		p.catalogue[i].Relations = slices.DeleteFunc(slices.Clone(catalogue[i].Relations), func(r schema.Relation) bool { return r.Declared }) // by earlier rules
		c := &class{Class: &p.catalogue[i], full: catalogue[i].FullName(), listed: rules.Unlisted || catalogue[i].Recordless, tables: &tablesOf{}}
		p.classes = append(p.classes, c)
		p.byFull[c.full] = c
		p.name(c)
		if c.Guard != nil && !slices.Contains(p.guarded, c.Source) {
			p.guarded = append(p.guarded, c.Source)
		}
	}
	sort.Slice(p.classes, func(i, j int) bool { return p.classes[i].full < p.classes[j].full })
	ruled := p.rule(fail)
	for _, c := range p.classes {
		c.withhold(rules.Withheld[c.full])
	}
	for _, c := range p.classes {
		declareTypes(c.Class, c.rule.Types, func(format string, args ...any) { fail(ruled[c], format, args...) })
		for j := range c.Fields {
			p.fields[&c.Fields[j]] = c.full + "." + c.Fields[j].Name
		}
	}
	for _, c := range p.classes {
		c.fields(func(format string, args ...any) { fail(ruled[c], format, args...) })
	}
	for _, c := range p.classes {
		c.addDeclaredPointers(p, func(format string, args ...any) { fail(ruled[c], format, args...) })
		c.relate(p)
		p.point(c)
	}
	for _, c := range p.classes {
		c.filters(p.expressions, func(format string, args ...any) { fail(ruled[c], format, args...) })
		c.mask(p, func(format string, args ...any) { fail(ruled[c], format, args...) })
	}
	p.derive()
	for _, c := range p.classes {
		c.label(func(format string, args ...any) { fail(ruled[c], format, args...) })
		c.parseCode(func(format string, args ...any) { fail(ruled[c], format, args...) })
		c.parseLink(func(format string, args ...any) { fail(ruled[c], format, args...) })
	}
	apis, err := calls.New(rules.apiRules(), p.expressions)
	p.apis, errs = apis, append(errs, err)
	for _, c := range p.classes {
		if c.circular() {
			fail(ruled[c], "tenant.through: %s leads back to the class itself", c.rule.Tenant.Through)
		}
	}
	return p, errors.Join(errs...)
}

// name adds c to the classes by name.
func (p *Policy) name(c *class) {
	p.byName[c.Name] = append(p.byName[c.Name], c)
	for _, name := range []string{strings.ToLower(c.Name), strings.ToLower(c.full)} {
		p.byFold[name] = append(p.byFold[name], c)
	}
}

// point adds c to the classes that point to its targets.
func (p *Policy) point(c *class) {
	for i, r := range c.relations {
		if !slices.ContainsFunc(c.relations[:i], func(other relation) bool { return other.target == r.target }) {
			p.pointedBy[r.target.full] = append(p.pointedBy[r.target.full], c)
		}
	}
}

// rule assigns its rule to each class, and returns the names of the classes in the rules.
func (p *Policy) rule(fail func(name, format string, args ...any)) map[*class]string {
	ruled := map[*class]string{}
	for _, name := range slices.Sorted(maps.Keys(p.rules.Classes)) {
		c, err := p.findClass(name)
		switch {
		case err != nil:
			fail(name, "%v", err)
		case ruled[c] != "":
			fail(name, "the class has another rule already, %s", ruled[c])
		default:
			c.rule, c.listed, ruled[c] = p.rules.Classes[name], true, name
		}
	}
	return ruled
}

// APIs returns the compiled rules for HTTP APIs.
func (p *Policy) APIs() *calls.APIs { return p.apis }

// Version identifies the rules in force.
func (p *Policy) Version() string { return p.version }

// Rules returns the rules in force as given, for operators. The caller must not change them.
func (p *Policy) Rules() Rules { return p.rules }

// Catalogue returns the catalogue with the declarations of the rules, for operators. The caller must not change it.
func (p *Policy) Catalogue() []schema.Class { return p.catalogue }

// VisibleClass returns the class called name in rules, its visible fields, and the sorted names of the masked fields among
// them.
func (p *Policy) VisibleClass(name string) (_ *schema.Class, visible []*schema.Field, masked []string, err error) {
	c, err := p.findClass(name)
	if err != nil {
		return nil, nil, nil, err
	}
	return c.Class, c.Visible, slices.Sorted(maps.Keys(c.masks)), nil
}

// findClass returns the class called name in rules.
func (p *Policy) findClass(name string) (*class, error) {
	if c := p.byFull[name]; c != nil {
		return c, nil
	}
	switch cs := p.byName[name]; len(cs) {
	case 1:
		return cs[0], nil
	case 0:
		all := make([]string, 0, 2*len(p.classes))
		for _, c := range p.classes {
			all = append(all, c.FullName(), c.Name)
		}
		slices.Sort(all)
		return nil, fmt.Errorf("there is no such class%s", problem.DidYouMean(problem.Nearest(name, slices.Compact(all), 2)))
	default:
		return nil, fmt.Errorf("%d sources have such a class. Write source.Class", len(cs))
	}
}

// fields finds which fields are visible.
func (c *class) fields(fail func(string, ...any)) {
	r := c.rule
	c.visibleFields = visibleSet(c.Class, visibleRule{Visible: r.Visible, Denied: r.Denied, Lift: r.Lift, Large: r.Large, Join: r.Join, Permitted: r.Permitted, Withheld: c.withheld,
		Version: r.Version, VersionMasked: r.Mask[r.Version] != "", Documented: r.Fields}, fail)
	c.explicit = c.Seen
}

// relate finds the target classes of pointers.
func (c *class) relate(p *Policy) {
	for _, r := range c.Relations {
		if target := p.byFull[c.Source+"."+r.Target]; len(r.Fields) == 1 && target != nil && c.leading(r.Fields[0]) == nil {
			c.relations = append(c.relations, relation{r.Fields[0], target, r.TargetFields[0], r.List})
		}
	}
}

// relation returns the pointer called field, or nil.
func (c *class) relation(field string) *relation {
	if r := c.leading(field); r != nil && !r.list {
		return r
	}
	return nil
}

// leading returns the pointer, or the list of pointers, called field, or nil.
func (c *class) leading(field string) *relation {
	for i := range c.relations {
		if c.relations[i].field == field {
			return &c.relations[i]
		}
	}
	return nil
}

// filters compiles the tenant rule and the canonical filter.
func (c *class) filters(expressions *expression.Compiler, fail func(string, ...any)) {
	if c.Recordless {
		if c.rule.Tenant != nil || c.rule.Canonical != nil {
			fail("the class has no records that tenant or canonical could choose from. Take them out")
		}
		return
	}
	for n := range c.Large {
		if c.relation(n) != nil {
			fail("large: %s is a pointer. Only plain fields can be large", n)
		}
	}
	if t := c.rule.Tenant; t != nil {
		c.tenant = c.compileTenant(t, expressions, fail)
	}
	c.compileCanonical(expressions, fail)
}

// visibleTo reports whether p may see the class at all. If not, kind is the true reason.
func (c *class) visibleTo(p identity.Principal) (kind string, ok bool) {
	switch {
	case !c.listed:
		return "unlisted_class", false
	case c.rule.Hidden && (c.rule.HiddenBut == "" || !p.Has(c.rule.HiddenBut)):
		return "hidden_class", false
	case !p.Classes.Allows(c.FullName(), c.Name):
		return "class_filter", false
	case len(c.Visible) == 0 && !(c.Recordless && len(c.Fields) == 0):
		return "no_visible_field", false
	}
	return "", true
}
