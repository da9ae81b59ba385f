package scaffold

import (
	"slices"
	"strings"

	"github.com/bailiwick-dev/bailiwick/internal/samples"
	"github.com/bailiwick-dev/bailiwick/internal/secretnames"
	"github.com/bailiwick-dev/bailiwick/policy"
	"github.com/bailiwick-dev/bailiwick/schema"
)

// Pointers returns pointers that the names of fields suggest but that the source doesn't declare, by "source.Class".
// For example, customer_id points to customers, billing_address_id to addresses, created_by to users, and parent_id
// to another record of the same class. A list tag_ids points to tags. Sampled records must confirm them. For lists
// that the source stores as texts, it also returns their types, according to e.
func Pointers(classes []schema.Class, e Evidence) map[string]policy.ClassRule {
	out := map[string]policy.ClassRule{}
	named := lastWords(classes)
	for i := range classes {
		from := &classes[i]
		for j := range from.Fields {
			f, held := &from.Fields[j], schema.Form("")
			if form(from, f, e.Fields[from.FullName()+"."+f.Name]) == schema.JSONText {
				in := f.In(schema.JSONText)
				f, held = &in, schema.JSONText
			}
			to := suggestedClass(named, from, f)
			if to == nil || slices.Contains(from.Key, f.Name) || slices.ContainsFunc(from.Relations, func(r schema.Relation) bool { return slices.Contains(r.Fields, f.Name) }) {
				continue
			}
			rule := out[from.FullName()]
			if rule.Pointers == nil {
				rule.Pointers, rule.Types = map[string]policy.Pointer{}, map[string]schema.Form{}
			}
			if _, wrong := policy.DeclaredPointer(withField(from, f), f.Name, to, ""); wrong != "" {
				continue
			}
			if rule.Pointers[f.Name] = (policy.Pointer{Class: to.Name}); held != "" {
				rule.Types[f.Name] = held
			}
			out[from.FullName()] = rule
		}
	}
	return out
}

// withField returns a copy of c in which f replaces the field of the same name.
func withField(c *schema.Class, f *schema.Field) *schema.Class {
	out := *c
	out.Fields = slices.Clone(c.Fields)
	*out.Field(f.Name) = *f
	return &out
}

// lastWords returns the classes with records of their own, by source and the last word of their names.
func lastWords(classes []schema.Class) map[[2]string][]*schema.Class {
	out := map[[2]string][]*schema.Class{}
	for i := range classes {
		if c := &classes[i]; !c.View {
			key := [2]string{c.Source, lastWord(c.Name)}
			out[key] = append(out[key], c)
		}
	}
	return out
}

// suggestedClass returns the class that the name of a field suggests. named comes from lastWords. It returns nil if no
// class or more than one class matches.
func suggestedClass(named map[[2]string][]*schema.Class, from *schema.Class, f *schema.Field) *schema.Class {
	words := secretnames.Words(f.Name)
	suffix := "id"
	if f.Type.IsStructured() {
		suffix = "ids" // a list named tags contains other values
	}
	stem, isID := strings.Join(words, ""), len(words) > 1 && words[len(words)-1] == suffix
	if isID {
		stem = strings.Join(words[:len(words)-1], "")
	} else if f.Type == schema.String || f.Type.IsStructured() {
		return nil // a text field named customer contains a name
	}
	if stem == "parent" {
		return from
	}
	stems := []string{stem}
	if isID && len(words) > 2 { // such as billing_address_id
		stems = append(stems, words[len(words)-2])
	}
	if slices.Contains(persons, strings.Join(words, "_")) || isID && slices.Contains(persons, stem) {
		stems = append(stems, "user", "account", "people", "person", "employee", "member")
	}
	for _, stem := range stems {
		var found []*schema.Class
		for _, word := range forms(stem) {
			found = append(found, named[[2]string{from.Source, word}]...)
		}
		switch len(found) {
		case 0:
			continue
		case 1:
			return found[0]
		}
		return nil
	}
	return nil
}

// persons lists names of fields that point to a person, whatever the class of people is called.
var persons = []string{"author", "creator", "owner", "assignee", "reporter", "approver", "reviewer", "manager", "recipient", "sender", "created_by", "updated_by", "modified_by", "deleted_by", "approved_by", "assigned_to"}

// pointing returns a copy of classes with the pointers that records have confirmed.
func pointing(classes []schema.Class, confirmed map[string]policy.ClassRule) []schema.Class {
	out := slices.Clone(classes)
	byName := make(map[string]*schema.Class, len(out))
	for i := range out {
		byName[out[i].Name] = &out[i]
	}
	for i := range out {
		c := &out[i]
		c.Relations = slices.Clone(c.Relations)
		for _, name := range pointersOf(confirmed[c.FullName()]) {
			f := c.Field(name)
			if in := confirmed[c.FullName()].Types[name]; in != "" {
				held := f.In(in)
				f = &held
			}
			if r, wrong := policy.DeclaredPointer(withField(c, f), name, byName[confirmed[c.FullName()].Pointers[name].Class], ""); wrong == "" {
				c.Relations = append(c.Relations, r)
			}
		}
	}
	return out
}

// pointersOf returns the sorted names of the pointer fields of a rule.
func pointersOf(rule policy.ClassRule) []string {
	names := make([]string, 0, len(rule.Pointers))
	for name := range rule.Pointers {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// pointerLines returns the pointers of a rule as sorted lines "field: class".
func pointerLines(rule policy.ClassRule) (out []string) {
	for _, name := range pointersOf(rule) {
		out = append(out, yamlKey(name)+": "+yamlText(rule.Pointers[name].Class))
	}
	return out
}

// form returns the form that all sampled values of a field have, if the source doesn't declare its type.
func form(c *schema.Class, f *schema.Field, seen samples.Seen) (form schema.Form) {
	words := secretnames.Words(f.Name)
	some := func(of ...string) bool {
		return slices.ContainsFunc(words, func(w string) bool { return slices.Contains(of, w) })
	}
	all := func(n int) bool { return seen.Values > 0 && n == seen.Values }
	switch {
	case all(seen.JSON):
		form = schema.JSONText
	case all(seen.Millis) && seen.Distinct > 2, all(seen.Millis) && some(moments()...):
		form = schema.EpochMillis
	case all(seen.Seconds) && some(moments()...):
		form = schema.EpochSeconds
	case all(seen.Decimals) && some("price", "amount", "total", "cost", "balance", "fee", "tax", "rate", "sum"):
		form = schema.DecimalForm
	default:
		return ""
	}
	if _, wrong := policy.DeclaredType(c, f.Name, form); wrong != "" {
		return ""
	}
	return form
}

// moments lists words in names of fields that contain the time of an event.
func moments() []string {
	return []string{"at", "time", "timestamp", "ts", "date", "created", "updated", "modified", "changed", "deleted", "since", "until", "expires", "expiry", "start", "started",
		"end", "ended", "due", "seen", "when", "epoch"}
}
