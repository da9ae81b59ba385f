package policyops

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/bailiwick-dev/bailiwick/identity"
	"github.com/bailiwick-dev/bailiwick/internal/samples"
	"github.com/bailiwick-dev/bailiwick/policy"
	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/schema"
	"github.com/bailiwick-dev/bailiwick/value"
)

// A Code is a kind of finding.
type Code string

// The values of Code.
const (
	MissingDescription Code = "missing-description" // agents see a class, field or operation without a description
	unresolved         Code = "unresolved"          // a name refers to something that doesn't exist
	dead               Code = "dead"                // a rule has no effect
	drift              Code = "drift"               // documented values differ from the values that the database allows
	unscoped           Code = "unscoped"            // a class with tenants is related to a class without, or an operation has no bound parameter
	openClasses        Code = "open"                // an API operation that may not be meant for agents, or a source that acts as master
	uncallable         Code = "uncallable"          // agents see an operation that can't be called
	trusted            Code = "trusted"             // a declared query reads the database directly
	absent             Code = "absent"              // a metric reads a field that is hidden or masked for some principal
	Derived            Code = "derived"             // fields are denied or masked because the database derives them from denied or masked fields
)

// The codes of findings about sampled values. The caller takes the samples.
const (
	Withheld      Code = "withheld" // the values of a visible field look like credentials, so the gateway hides the field
	liftedDenials Code = "lifted"   // a rule shows a field whose values look like credentials
)

// Codes returns all codes.
func Codes() []Code {
	return []Code{MissingDescription, unresolved, dead, drift, unscoped, openClasses, uncallable, trusted, absent, Derived, Withheld, liftedDenials}
}

// A Finding is a part of the configuration that an operator should check.
type Finding struct {
	Code       Code     `json:"code"`
	Class      string   `json:"class,omitempty"` // "source.Class", or an API
	Path       []string `json:"-"`               // the path in the configuration. Nil if Holder is set
	Holder     string   `json:"holder,omitempty"`
	Message    string   `json:"message"`
	Suggestion string   `json:"suggestion"`
}

// A Holder is a principal whose lists and filters are checked. Path is the path of its definition in the
// configuration. It is nil for a principal from a store, such as a token.
type Holder struct {
	Who  identity.Principal
	Name string
	Path []string
}

// FieldValues contains fields whose sampled values look like credentials. The gateway hides the fields in Withheld,
// and a rule shows the fields in Lifted. With the zero FieldValues, no samples were taken.
type FieldValues struct{ Withheld, Lifted []samples.Withheld }

// Findings returns the findings, first by class and then by principal.
func Findings(regime *Regime, holders []Holder, values FieldValues) ([]Finding, error) {
	p := regime.Policy()
	seen, err := Report(p.Rules(), p.Catalogue())
	if err != nil {
		return nil, err
	}
	l := &look{regime: regime, rules: p.Rules(), values: values, shown: map[string]Class{}, derivations: p.Derivations()}
	for _, c := range seen {
		l.shown[c.Name] = c
	}
	for _, name := range regime.Names() {
		l.class(regime.Class(name))
	}
	l.masters()
	l.apis()
	l.trustedQueries(holders)
	l.absentMetrics(holders)
	for _, h := range holders {
		l.holder(h)
	}
	return l.out, nil
}

// A look is a check of one configuration.
type look struct {
	regime *Regime
	rules  policy.Rules
	values FieldValues
	shown  map[string]Class
	out    []Finding

	derivations []policy.Derivation
}

// masters reports sources that act as the master of an application, once for each source.
func (l *look) masters() {
	told := map[string]bool{}
	for _, c := range l.regime.Policy().Catalogue() {
		if c.Guard != nil && c.Guard.As == "master" && !told[c.Source] {
			told[c.Source] = true
			l.out = append(l.out, Finding{Code: openClasses, Class: c.Source, Path: []string{"sources", c.Source, "parse", "as"},
				Message:    c.Source + " acts as master: the access lists and class-level permissions of the application bind no agent, only the rules here do",
				Suggestion: "act as a session, a user or a role, unless every class has a tenant rule"})
		}
	}
}

// of adds a finding about a class. keys is the path within the rule of the class.
func (l *look) of(code Code, c *schema.Class, keys []string, message, suggestion string) {
	_, key, _ := l.regime.RuleOf(c)
	l.out = append(l.out, Finding{Code: code, Class: c.FullName(), Path: append([]string{"classes", key}, keys...), Message: message, Suggestion: suggestion})
}

// class adds the findings about one class. For a hidden class, it only reports keys without effect.
func (l *look) class(c *schema.Class) {
	rule, _, ruled := l.regime.RuleOf(c)
	shown := l.shown[c.FullName()]
	if rule.Hidden {
		l.reportHiddenClass(c, rule)
	} else if ruled {
		l.dead(c, rule, shown)
		Lists(rule.Canonical, c, func(_ *schema.Field, message, suggestion string) {
			l.of(dead, c, []string{"canonical"}, "canonical: "+message, suggestion)
		})
		l.drift(c, rule, shown)
	}
	if !rule.Hidden || rule.HiddenBut != "" {
		l.looksLike(c, rule)
	}
	if shown.Shown {
		l.reportMissingDescriptions(c, rule, shown)
		l.reportUnscopedRelations(c, rule)
	}
	if !rule.Hidden && (ruled || l.rules.Unlisted) {
		l.reportDerivations(c, rule)
	}
}

// looksLike reports fields of c whose values look like credentials.
func (l *look) looksLike(c *schema.Class, rule policy.ClassRule) {
	for _, w := range l.values.Withheld {
		if w.Class != c.FullName() {
			continue
		}
		var keys []string
		if rule.Visible != nil {
			keys = []string{"visible", strconv.Itoa(slices.Index(rule.Visible, w.Field))}
		}
		confirm, lift := w.Confirm()
		what := w.Class + "." + w.Field
		if w.Whole {
			what += ", and the class with it,"
		}
		l.of(Withheld, c, keys, fmt.Sprintf("the gateway hides %s: %s", what, w.Why), fmt.Sprintf("confirm it with %s in the rule of %s, or show it with %s", confirm, w.Class, lift))
	}
	for _, w := range l.values.Lifted {
		if w.Class == c.FullName() {
			l.of(liftedDenials, c, []string{"lift", strconv.Itoa(slices.Index(rule.Lift, w.Field))}, fmt.Sprintf("lift shows %s.%s, and %s", w.Class, w.Field, w.Why),
				"take it out of lift, unless agents need these values")
		}
	}
}

// reportDerivations reports fields that are denied or masked because the database derives them from other fields. It
// omits fields that the rule of the class denies or masks itself. It also reports derived fields that a rule shows.
func (l *look) reportDerivations(c *schema.Class, rule policy.ClassRule) {
	var list, seen []string
	for _, d := range l.derivations {
		own := d.Class.FullName() == c.FullName()
		switch {
		case own && d.Lifted && slices.Contains(l.shown[c.FullName()].Visible, d.Field) && !(d.Kind != "" && rule.Mask[d.Field] == d.Kind):
			seen = append(seen, fmt.Sprintf("%s (from %s)", d.Field, d.From))
		case d.Class.FullName() != c.FullName() || d.Lifted || d.Kind != "" && rule.Mask[d.Field] == d.Kind:
		case d.Untraced != "" && d.Denied:
			list = append(list, fmt.Sprintf("%s (denied: %s, so it may hold %s)", d.Field, d.Untraced, d.From))
		case d.Untraced != "":
			list = append(list, fmt.Sprintf("%s (masked: %s, so it may hold %s)", d.Field, d.Untraced, d.From))
		case d.Denied:
			list = append(list, fmt.Sprintf("%s (denied, from %s)", d.Field, d.From))
		default:
			list = append(list, fmt.Sprintf("%s (masked, from %s)", d.Field, d.From))
		}
	}
	if list != nil {
		l.of(Derived, c, nil, fmt.Sprintf("the database makes %s of %s from columns that are denied or masked: %s", count(len(list), "field"), c.FullName(), some(list)),
			"name each in denied or mask to confirm it, or in visible and lift to show it")
	}
	if seen != nil {
		l.of(Derived, c, nil, fmt.Sprintf("agents see %s of %s that the database makes from columns which are denied or masked: %s", count(len(seen), "field"), c.FullName(), some(seen)),
			"take out of lift what agents shall not see, there and in the classes that it is made of")
	}
}

// reportMissingDescriptions adds a finding for a class without a description. It adds one more finding for all
// visible fields without a description, because there may be many. Keys don't need a description.
func (l *look) reportMissingDescriptions(c *schema.Class, rule policy.ClassRule, shown Class) {
	if cmp.Or(rule.Description, c.Description) == "" {
		l.of(MissingDescription, c, nil, "agents see "+c.FullName()+" and aren't told what it holds", "say it in description")
	}
	var bare []string
	for _, name := range shown.Visible {
		if cmp.Or(rule.Fields[name].Description, c.Field(name).Description) == "" && !slices.Contains(c.Key, name) {
			bare = append(bare, name)
		}
	}
	if bare != nil {
		l.of(MissingDescription, c, []string{"fields"}, fmt.Sprintf("%s of %s without a description: %s", count(len(bare), "visible field"), c.FullName(), some(bare)),
			"say in fields what those mean that their names don't tell")
	}
}

// reportHiddenClass reports parts of a rule that have no effect because the class is hidden.
func (l *look) reportHiddenClass(c *schema.Class, rule policy.ClassRule) {
	if rule.HiddenBut != "" {
		return // the class is visible with a scope
	}
	for _, part := range []struct {
		key  string
		says bool
	}{{"visible", rule.Visible != nil}, {"denied", rule.Denied != nil}, {"lift", rule.Lift != nil}, {"large", rule.Large != nil}, {"join", rule.Join != nil},
		{"mask", rule.Mask != nil}, {"canonical", rule.Canonical != nil && !l.leadsTo(c)}, {"tenant", rule.Tenant != nil && !l.leadsTo(c)},
		{"allow_scan", rule.AllowScan}, {"description", rule.Description != ""}, {"fields", rule.Fields != nil}} {
		if part.says {
			l.of(dead, c, []string{part.key}, fmt.Sprintf("%s says %s, and no caller sees the class", c.FullName(), part.key), "take it out, or hidden")
		}
	}
}

// leadsTo reports whether the tenant rule of another class leads through c.
func (l *look) leadsTo(c *schema.Class) bool {
	for _, name := range l.regime.Names() {
		other := l.regime.Class(name)
		rule, _, _ := l.regime.RuleOf(other)
		if rule.Tenant == nil || rule.Tenant.Through == "" || other.Source != c.Source {
			continue
		}
		if slices.ContainsFunc(other.Relations, func(r schema.Relation) bool {
			return r.Target == c.Name && slices.Contains(r.Fields, rule.Tenant.Through)
		}) {
			return true
		}
	}
	return false
}

// dead reports parts of a rule without effect.
func (l *look) dead(c *schema.Class, rule policy.ClassRule, shown Class) {
	visible := func(f string) bool { return slices.Contains(shown.Visible, f) || slices.Contains(shown.Withheld, f) }
	for i, f := range rule.Denied {
		switch at := []string{"denied", strconv.Itoa(i)}; {
		case rule.Visible != nil && !slices.Contains(rule.Visible, f):
			l.of(dead, c, at, fmt.Sprintf("%s is denied, and visible doesn't name it anyway", f), "take it out of denied")
		case !slices.Contains(l.regime.Floor(c), f):
			l.of(dead, c, at, fmt.Sprintf("%s is denied, and its name denies it already", f), "take it out of denied, or leave it as a reminder")
		}
	}
	for i, f := range rule.Lift {
		lifts := slices.ContainsFunc(l.derivations, func(d policy.Derivation) bool { return d.Class.FullName() == c.FullName() && d.Field == f })
		lifts = lifts || slices.ContainsFunc(l.values.Lifted, func(w samples.Withheld) bool { return w.Class == c.FullName() && w.Field == f })
		if slices.Contains(l.regime.Floor(c), f) && !lifts {
			l.of(dead, c, []string{"lift", strconv.Itoa(i)}, fmt.Sprintf("lift names %s, which nothing but visible decides about", f), "take it out of lift")
		}
	}
	for _, f := range slices.Sorted(maps.Keys(rule.Mask)) {
		if !visible(f) {
			l.of(dead, c, []string{"mask", f}, fmt.Sprintf("%s is masked, and no caller sees it", f), "take it out of mask")
		}
	}
	for i, f := range rule.Large {
		if !visible(f) {
			l.of(dead, c, []string{"large", strconv.Itoa(i)}, fmt.Sprintf("%s is large, and no caller sees it", f), "take it out of large")
		}
	}
	for _, f := range slices.Sorted(maps.Keys(rule.Fields)) {
		if !visible(f) {
			l.of(dead, c, []string{"fields", f}, fmt.Sprintf("%s is documented, and no caller sees it", f), "take it out of fields")
		}
	}
	if rule.AllowScan && !l.rules.RefuseScans {
		l.of(dead, c, []string{"allow_scan"}, "allow_scan exempts from policy.refuse_scans, which isn't set", "take it out, or set policy.refuse_scans")
	}
}

// drift reports documented values that differ from the values that the database allows.
func (l *look) drift(c *schema.Class, rule policy.ClassRule, shown Class) {
	for _, name := range slices.Sorted(maps.Keys(rule.Fields)) {
		f := c.Field(name)
		said := rule.Fields[name].Values
		if f == nil || f.Values == nil || said == nil || !slices.Contains(shown.Visible, name) {
			continue
		}
		var missing, gone []string
		for _, v := range f.Values {
			if text := v.String(); !slices.ContainsFunc(said, func(s policy.FieldValue) bool { return s.Value == text }) {
				missing = append(missing, text)
			}
		}
		for _, s := range said {
			if !slices.ContainsFunc(f.Values, func(v value.Value) bool { return v.String() == s.Value }) {
				gone = append(gone, s.Value)
			}
		}
		at := []string{"fields", name, "values"}
		if missing != nil {
			l.of(drift, c, at, fmt.Sprintf("the database lets %s hold %s, which values doesn't tell", name, some(missing)), "add what it means to values")
		}
		if gone != nil {
			l.of(drift, c, at, fmt.Sprintf("values tells of %s, which the database doesn't let %s hold", some(gone), name), "take it out of values")
		}
	}
}

// reportUnscopedRelations reports relations between a class with tenants and a class whose records all tenants see.
func (l *look) reportUnscopedRelations(c *schema.Class, rule policy.ClassRule) {
	for _, r := range c.Relations {
		target := l.regime.Class(c.Source + "." + r.Target)
		if target == nil || target == c || !l.shown[target.FullName()].Shown || len(r.Fields) != 1 || !slices.Contains(l.shown[c.FullName()].Visible, r.Fields[0]) {
			continue
		}
		other, _, _ := l.regime.RuleOf(target)
		switch {
		case rule.Tenant != nil && other.Tenant == nil:
			l.of(unscoped, c, []string{"tenant"}, fmt.Sprintf("%s belongs to tenants, and %s leads to %s, which every tenant sees whole", c.FullName(), r.Fields[0], target.FullName()),
				"give "+target.Name+" a tenant, unless it is the same for all")
		case rule.Tenant == nil && other.Tenant != nil:
			l.of(unscoped, c, nil, fmt.Sprintf("every tenant sees all of %s, whose %s leads to %s, which belongs to tenants", c.FullName(), r.Fields[0], target.FullName()),
				"write tenant: {through: "+r.Fields[0]+"}")
		}
	}
}

func count(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return strconv.Itoa(n) + " " + what + "s"
}

// some joins at most eight names.
func some(names []string) string {
	const most = 8
	if len(names) > most {
		return strings.Join(names[:most], ", ") + fmt.Sprintf(" and %d more", len(names)-most)
	}
	return strings.Join(names, ", ")
}

// near returns the end of a message that suggests a similar name.
func near(name string, names []string) string {
	return problem.DidYouMean(problem.Nearest(name, names, 2))
}
