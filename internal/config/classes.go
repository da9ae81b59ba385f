package config

import (
	"fmt"
	"maps"
	"slices"

	"github.com/bailiwick-dev/bailiwick/identity"
	"github.com/bailiwick-dev/bailiwick/internal/expression"
	"github.com/bailiwick-dev/bailiwick/internal/yamlconf"
	"github.com/bailiwick-dev/bailiwick/policy"
	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/query"
	"github.com/bailiwick-dev/bailiwick/schema"
)

// classes returns the shape of the rules by class.
func (c *Config) classes() yamlconf.Shape {
	return yamlconf.Each(yamlconf.Table{Names: "class", Of: func(name string) (yamlconf.Shape, func()) {
		var rule policy.ClassRule
		return c.classRule(name, &rule), func() {
			if c.Rules.Classes == nil {
				c.Rules.Classes = map[string]policy.ClassRule{}
			}
			c.Rules.Classes[name] = rule
		}
	}})
}

// classRule returns the shape of the rule of one class.
func (c *Config) classRule(class string, rule *policy.ClassRule) yamlconf.Shape {
	var tenant policy.TenantRule
	keys := []yamlconf.Key{
		{Name: "hidden", Doc: "Nobody sees the class. {except: operator} leaves it to operators", Shape: hiddenShape(rule)},
		{Name: "description", Doc: "For agents", Shape: yamlconf.Words(&rule.Description)},
		{Name: "visible", Doc: "The fields that can be seen. Without it all but the denied ones", Shape: yamlconf.List(&rule.Visible, "field names", nil)},
		{Name: "denied", Doc: "Fields that are never seen, besides those whose names say credential. A field that is seen, such as one of JSON, is seen with all that it holds, whatever its members are called", Shape: yamlconf.List(&rule.Denied, "field names", nil)},
		{Name: "lift", Doc: "Fields of visible that are seen although their names say credential, or although the database makes them from denied or masked columns", Shape: yamlconf.List(&rule.Lift, "field names", nil)},
		{Name: "large", Doc: "Heavy fields, left out of includes and samples unless named", Shape: yamlconf.List(&rule.Large, "field names", nil)},
		{Name: "join", Doc: "The fields that are shown where a pointer to the class is included, besides the key and the timestamps. Without it all but the large", Shape: yamlconf.List(&rule.Join, "field names", nil)},
		{Name: "label", Doc: "The field that holds what a record is called, shown beside ids. Without it name, title, subject, number or the like", Shape: yamlconf.Words(&rule.Label)},
		{Name: "code", Doc: "What people call a record, such as PAY-17: fields in braces, also of the class that a pointer leads to. Titles of changes show it. Without it key, code, slug or the like", Shape: yamlconf.Words(&rule.Code)},
		{Name: "link", Doc: "The address of a record in the application, with fields in braces, for reviewers. Values are escaped. The host is fixed", Shape: yamlconf.Words(&rule.Link)},
		{Name: "pointers", Doc: "Pointers that the source doesn't declare, by field: the class whose key it holds, or {class, key} for another unique field. Of a field that holds a list, each of its values. They count as foreign keys do", Shape: pointers(rule)},
		{Name: "types", Doc: "Types that the source doesn't declare, by field: epoch_s, epoch_ms or date (a text in ISO 8601) for dates, day for dates that are midnights in UTC, json, decimal, integer or double for texts, boolean for integers. A value in another form is null", Shape: types(rule)},
		{Name: "mask", Doc: "By field: its value leaves as partial, hash, null, or as a pseudonym of its record such as Person 5K2M, or without the personal data inside of it: {pattern: [email, phone]}. With {as, except: operator} operators see it whole. A masked field can't be filtered, searched, sorted, grouped or joined on", Shape: masks(rule)},
		{Name: "mask_texts", Doc: "What is replaced in every text of more than 255 characters or without a limit, and in JSON: a list of email, phone, iban, card, ip and ssn. A field with a mask of its own keeps it", Shape: maskTexts(rule)},
		{Name: "tenant", Doc: "Which records belong to whom: by a field, or through a pointer to a class that has a tenant", Shape: c.tenantRule(rule, &tenant)},
		{Name: "canonical", Doc: "What counts as a live record: a where object, in which {$cel: principal.claims.region} can stand for a value. Callers may switch it off. {filter: …, open: false} forbids that", Shape: c.canonical(rule)},
		{Name: "allow_scan", Doc: "The class is small: policy.refuse_scans doesn't hold for it", Shape: yamlconf.Flag(&rule.AllowScan)},
		{Name: "fields", Doc: "What fields mean, for agents", Shape: fieldRules(rule)},
		{Name: "write", Doc: "How agents may write records: review (the default), allow or deny, or one of them each for create, update and delete. Gates come first", Shape: writeRule(&rule.Write)},
		{Name: "permitted", Doc: "The fields that agents may set. Without it all that they see", Shape: yamlconf.List(&rule.Permitted, "field names", nil)},
		{Name: "stale", Doc: "When a change of a record is stale, besides when a field that it sets has moved", Shape: yamlconf.Object([]yamlconf.Key{
			{Name: "version", Doc: "A field that moves with every write, such as version or updated_at: a change is stale when it moved, also where the value came back", Must: true, Shape: yamlconf.Words(&rule.Version)},
		}, nil)},
		{Name: "examples", Doc: "Questions about the class with the queries that answer them. get_schema shows the two that fit best", Shape: examples(&rule.Examples)},
		{Name: "actions", Doc: "Named writes: what the application calls what it does", Shape: c.actions(class, false)},
	}
	return yamlconf.Object(keys, func(r *yamlconf.Reader, _ yamlconf.Node, at string) { checkRule(r, at, rule) })
}

// masks returns the shape of the masks by field. YAML reads null as no value, but here it is a mask.
func masks(rule *policy.ClassRule) yamlconf.Shape {
	return yamlconf.Each(yamlconf.Table{Names: "field", Of: func(name string) (yamlconf.Shape, func()) {
		var m policy.Mask
		one := yamlconf.OneOf(&m, policy.Partial, policy.Pseudonym, policy.Hash, policy.Null)
		one = one.With("anyOf", append(slices.Clone(one.Schema["anyOf"].([]any)), map[string]any{"type": "null"}))
		one.Null = func() { m = policy.Null }
		var but identity.Scope
		var inside []policy.Pattern
		by := yamlconf.Object([]yamlconf.Key{
			{Name: "as", Doc: "How it leaves: partial, pseudonym, hash or null", Shape: one},
			{Name: "pattern", Doc: "What is replaced inside of the text, or of texts in JSON: [email] stands for an address. Cards and bank accounts count only with the right check digits", Shape: patterns(&inside)},
			{Name: "except", Doc: "Who sees it whole: operator", Shape: yamlconf.OneOf(&but, identity.Operator)},
		}, func(r *yamlconf.Reader, n yamlconf.Node, at string) {
			given := func(key string) bool { return r.HasAt(at + "/" + key) }
			switch {
			case given("as") && given("pattern"):
				r.Wrong(n.Start(), at, "as can't be combined with pattern")
			case given("pattern"):
				m = policy.Inside
			case !given("as"):
				r.Wrong(n.Start(), at, "needs as, or pattern")
			case !given("except"):
				r.Wrong(n.Start(), at, "needs except. Without it write the mask alone")
			}
		})
		by = by.With("oneOf", []any{map[string]any{"required": []string{"as", "except"}}, map[string]any{"required": []string{"pattern"}, "properties": map[string]any{"as": false}}})
		either := yamlconf.Either(one, by)
		either.Null = one.Null
		return either, func() {
			if rule.Mask == nil {
				rule.Mask = map[string]policy.Mask{}
			}
			rule.Mask[name] = m
			if inside != nil {
				if rule.MaskInside == nil {
					rule.MaskInside = map[string][]policy.Pattern{}
				}
				rule.MaskInside[name] = inside
			}
			if but == "" {
				return
			}
			if rule.MaskBut == nil {
				rule.MaskBut = map[string]identity.Scope{}
			}
			rule.MaskBut[name] = but
		}
	}})
}

// patterns returns the shape of a list of patterns.
func patterns(into *[]policy.Pattern) yamlconf.Shape {
	all := policy.Patterns()
	names := make([]string, len(all))
	for i, p := range all {
		names[i] = string(p)
	}
	var list []string
	s := yamlconf.List(&list, "patterns", func(name string) string {
		if slices.Contains(names, name) {
			return ""
		}
		return "is not a pattern. Write " + yamlconf.AnyOf(names)
	})
	s = s.With("items", map[string]any{"enum": names})
	read := s.Read
	s.Read = func(r *yamlconf.Reader, n yamlconf.Node, at string) {
		read(r, n, at)
		for _, name := range list {
			*into = append(*into, policy.Pattern(name))
		}
	}
	return s
}

// maskTexts returns the shape of the patterns that are masked in all long texts, with or without exceptions.
func maskTexts(rule *policy.ClassRule) yamlconf.Shape {
	return yamlconf.Either(patterns(&rule.MaskTexts), yamlconf.Object([]yamlconf.Key{
		{Name: "pattern", Doc: "What is replaced", Must: true, Shape: patterns(&rule.MaskTexts)},
		{Name: "except", Doc: "The fields that leave whole", Must: true, Shape: yamlconf.List(&rule.MaskNot, "field names", nil)},
	}, nil))
}

// pointers returns the shape of pointers that a source doesn't declare.
func pointers(rule *policy.ClassRule) yamlconf.Shape {
	return yamlconf.Each(yamlconf.Table{Names: "field", Of: func(name string) (yamlconf.Shape, func()) {
		var p policy.Pointer
		whole := yamlconf.Object([]yamlconf.Key{
			{Name: "class", Doc: "The class it points to, of the same source", Must: true, Shape: yamlconf.Words(&p.Class)},
			{Name: "key", Doc: "The unique field whose value it holds", Must: true, Shape: yamlconf.Words(&p.Key)},
		}, nil)
		return yamlconf.Either(yamlconf.Words(&p.Class), whole), func() {
			if rule.Pointers == nil {
				rule.Pointers = map[string]policy.Pointer{}
			}
			rule.Pointers[name] = p
		}
	}})
}

// types returns the shape of types that a source doesn't declare.
func types(rule *policy.ClassRule) yamlconf.Shape {
	return yamlconf.Each(yamlconf.Table{Names: "field", Of: func(name string) (yamlconf.Shape, func()) {
		var form schema.Form
		return yamlconf.OneOf(&form, schema.Forms()...), func() {
			if rule.Types == nil {
				rule.Types = map[string]schema.Form{}
			}
			rule.Types[name] = form
		}
	}})
}

// checkRule checks that the keys of one rule fit together.
func checkRule(r *yamlconf.Reader, at string, rule *policy.ClassRule) {
	unseen := func(f string) string {
		if slices.Contains(rule.Denied, f) || rule.Visible != nil && !slices.Contains(rule.Visible, f) {
			return fmt.Sprintf("%q can't be seen at all. Take it out", problem.Cut(f))
		}
		return ""
	}
	for _, l := range []struct {
		key    string
		fields []string
		wrong  func(field string) string
	}{
		{"visible", rule.Visible, func(f string) string {
			if slices.Contains(rule.Denied, f) {
				return "is also denied. Take it out of one"
			}
			return ""
		}},
		{"lift", rule.Lift, func(f string) string {
			// Without visible, the policy requires it for names of credentials.
			if rule.Visible != nil && !slices.Contains(rule.Visible, f) {
				return "must be named in visible as well, so that it is lifted on purpose"
			}
			return ""
		}},
		{"large", rule.Large, unseen},
		{"join", rule.Join, unseen},
		{"permitted", rule.Permitted, func(f string) string {
			if m, masked := rule.Mask[f]; masked && m != policy.Inside && rule.MaskBut[f] == "" {
				return "is masked: who doesn't see it whole can't set it. Take it out"
			}
			return unseen(f)
		}},
	} {
		for i, f := range l.fields {
			if message := l.wrong(f); message != "" {
				r.WrongAt(at+yamlconf.Join(l.key, fmt.Sprint(i)), message)
			}
		}
	}
	// The field that shows whether a record has changed must be visible and unmasked.
	if message := unseen(rule.Version); message != "" && rule.Version != "" {
		r.WrongAt(at+yamlconf.Join("stale", "version"), message)
	} else if _, masked := rule.Mask[rule.Version]; masked {
		r.WrongAt(at+yamlconf.Join("stale", "version"), "is masked: what is compared must be seen whole")
	}
	for _, f := range sortedKeys(rule.Mask) {
		if message := unseen(f); message != "" {
			r.WrongAt(at+yamlconf.Join("mask", f), message)
		}
	}
}

// hiddenShape returns the shape of the setting hidden: true, false or {except: operator}.
func hiddenShape(rule *policy.ClassRule) yamlconf.Shape {
	by := yamlconf.Object([]yamlconf.Key{{Name: "except", Doc: "Who sees it all the same: operator", Must: true,
		Shape: yamlconf.OneOf(&rule.HiddenBut, identity.Operator)}}, func(*yamlconf.Reader, yamlconf.Node, string) { rule.Hidden = true })
	return yamlconf.Either(yamlconf.Flag(&rule.Hidden), by)
}

// canonical returns the shape of the canonical filter. This is a where object, or an object with filter, a where
// object, and open, which determines whether callers may switch it off. A where object about two fields with these
// names must use $and.
func (c *Config) canonical(rule *policy.ClassRule) yamlconf.Shape {
	open := true
	where := c.where(&rule.Canonical)
	by := yamlconf.Object([]yamlconf.Key{
		{Name: "filter", Doc: "What counts as a live record: a where object", Must: true, Shape: c.where(&rule.Canonical)},
		{Name: "open", Doc: "false: callers can't switch the filter off. It holds for lookups by id and for writes too", Must: true, Shape: yamlconf.Flag(&open)},
	}, func(*yamlconf.Reader, yamlconf.Node, string) { rule.CanonicalShut = !open })
	return yamlconf.Shape{Schema: map[string]any{"anyOf": []any{by.Schema, where.Schema}}, Read: func(r *yamlconf.Reader, n yamlconf.Node, at string) {
		if n.Has("filter", "open") {
			by.Read(r, n, at)
			return
		}
		where.Read(r, n, at)
	}}
}

// tenantRule returns the shape of the tenant of a class. This is a field and the value that it must equal, or a
// pointer to the class whose tenant applies. It sets rule.Tenant to t only if the section is present, because nil
// means that the class has no tenant.
func (c *Config) tenantRule(rule *policy.ClassRule, t *policy.TenantRule) yamlconf.Shape {
	keys := []yamlconf.Key{
		{Name: "field", Doc: "The field that holds the tenant", Shape: yamlconf.Words(&t.Field)},
		{Name: "is", Doc: "What it must equal: an expression over principal, in CEL. Default principal.tenant", Shape: c.expression(&t.Is, expression.Scalar)},
		{Name: "contains", Doc: "The field is a list, and the record belongs to every tenant in it. Agents create records that belong to their own tenant only, and can't change the list", Shape: yamlconf.Flag(&t.Contains)},
		{Name: "through", Doc: "The pointer to the class whose tenant counts", Shape: yamlconf.Words(&t.Through)},
		{Name: "bypass", Doc: "Who sees the records of all tenants: an expression over principal, in CEL, that yields true or false", Shape: c.expression(&t.Bypass, expression.Bool)},
	}
	return yamlconf.Object(keys, func(r *yamlconf.Reader, n yamlconf.Node, at string) {
		given := func(key string) bool { return r.HasAt(at + "/" + key) }
		switch {
		case given("through") && (given("field") || given("is") || given("contains")):
			r.Wrong(n.Start(), at, "through can't be combined with field, is and contains")
		case !given("through") && !given("field"):
			r.Wrong(n.Start(), at, "needs field, or through")
		}
		rule.Tenant = t
	})
}

// fieldRules returns the shape of the descriptions of fields, by name, with their documented values in the order of
// the file.
func fieldRules(rule *policy.ClassRule) yamlconf.Shape {
	return yamlconf.Each(yamlconf.Table{Names: "field", Of: func(name string) (yamlconf.Shape, func()) {
		var f policy.FieldRule
		values := yamlconf.Each(yamlconf.Table{Names: "value", Blank: true, Of: func(v string) (yamlconf.Shape, func()) {
			return yamlconf.Text("the meaning of "+problem.Cut(v), func(meaning string) string {
				f.Values = append(f.Values, policy.FieldValue{Value: v, Meaning: meaning})
				return ""
			}), nil
		}})
		keys := []yamlconf.Key{
			{Name: "description", Doc: "For agents", Shape: yamlconf.Words(&f.Description)},
			{Name: "values", Doc: "What it may hold: each value and its meaning", Shape: values},
		}
		return yamlconf.Object(keys, yamlconf.NotEmpty), func() {
			if rule.Fields == nil {
				rule.Fields = map[string]policy.FieldRule{}
			}
			rule.Fields[name] = f
		}
	}})
}

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }

// filters returns the shape of where objects by class. The name "default" stands for every class.
func (c *Config) filters(into *map[string]query.Filter) yamlconf.Shape {
	return yamlconf.Each(yamlconf.Table{Names: "class", Of: func(name string) (yamlconf.Shape, func()) {
		var f query.Filter
		return c.where(&f), func() {
			if *into == nil {
				*into = map[string]query.Filter{}
			}
			(*into)[name] = f
		}
	}})
}
