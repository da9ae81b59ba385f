package scaffold

import (
	"slices"
	"strings"

	"github.com/bailiwick-dev/bailiwick/internal/samples"
	"github.com/bailiwick-dev/bailiwick/internal/secretnames"
	"github.com/bailiwick-dev/bailiwick/policy"
	"github.com/bailiwick-dev/bailiwick/schema"
)

// A noted is a name with a remark about it.
type noted struct{ name, why string }

// A guess is the guessed rule for one class.
type guess struct {
	class     *schema.Class
	hidden    string // the reason to hide the class, or ""
	field     string // the field that contains the tenant, or ""
	through   string // the pointer to the class with the tenant, or ""
	canonical []string
	denied    []noted  // fields that the rule denies
	masked    []noted  // "field: mask"
	personal  []noted  // fields with personal data that stay visible because they label records
	texts     []noted  // "field: mask" for visible texts written by people, with the reason
	floor     []string // fields that are always denied because of their names
	large     []string
	pointers  []string // "field: class": pointers that no record contradicts
	doubts    []string // pointers that some records contradict, in the same form
	types     []string // "field: form"
	label     string   // the field that contains the label of a record. "" means the default
	known     []string // "field: class": pointers from the preset
	preset    string   // the application whose preset hides or extends the class, or ""
}

// guessRules guesses a rule for each class. floor contains the fields that are visible without any rule, by class.
func guessRules(classes []schema.Class, floor map[string][]string, e Evidence, a Answers) []guess {
	targets := map[string]bool{} // the "Class.field" that pointers refer to
	for i := range classes {
		for _, r := range classes[i].Relations {
			for _, f := range r.TargetFields {
				targets[r.Target+"."+f] = true
			}
		}
	}
	out := make([]guess, len(classes))
	for i := range classes {
		c := &classes[i]
		g := guess{class: c, hidden: hiddenClass(c)}
		for _, f := range c.Fields {
			if !slices.Contains(floor[c.FullName()], f.Name) {
				g.floor = append(g.floor, f.Name)
			}
		}
		for j := range c.Fields {
			f := &c.Fields[j]
			if !slices.Contains(g.floor, f.Name) {
				g.add(f, e.Fields[c.FullName()+"."+f.Name], a, targets)
			}
			if in := form(c, f, e.Fields[c.FullName()+"."+f.Name]); in != "" {
				g.types = append(g.types, yamlKey(f.Name)+": "+string(in))
			}
			if live := liveWhen(f); live != "" {
				g.canonical = append(g.canonical, live)
			}
		}
		g.pointers, g.doubts = pointerLines(e.Points[c.FullName()]), pointerLines(e.Doubts[c.FullName()])
		if a.Personal != Show {
			g.inside(func(field string) samples.Seen { return e.Fields[c.FullName()+"."+field] }, targets)
		}
		g.denyDerivedFields()
		if len(g.floor)+len(g.denied) == len(c.Fields) {
			g.hidden = "nothing in it can be shown"
		}
		out[i] = g
	}
	return out
}

// add classifies a field that is not denied by its name.
func (g *guess) add(f *schema.Field, seen samples.Seen, a Answers, targets map[string]bool) {
	why := secretField(g.class, f, seen)
	if why == "" && private(f.Name) && secretnames.FormOf(f.Type) == secretnames.AnyForm {
		why = "internal, by its name"
	}
	what, whole := personal(g.class, f, seen)
	switch {
	case why != "":
	case what == "" || a.Personal == Show:
		what = ""
	case isKeyField(g.class, f.Name) || targets[g.class.Name+"."+f.Name]:
		g.personal = append(g.personal, noted{f.Name, what})
	case a.Personal == Hide:
		why = what
	default:
		g.masked = append(g.masked, noted{yamlKey(f.Name) + ": " + g.maskOf(f, what, whole), what})
	}
	switch {
	case why != "":
		g.denied = append(g.denied, noted{f.Name, why})
	case large(g.class, f):
		g.large = append(g.large, f.Name)
	}
}

// denyDerivedFields denies generated columns that are derived from denied or masked fields. They would reveal the
// values of these fields.
func (g *guess) denyDerivedFields() {
	for i := range g.class.Fields {
		f := &g.class.Fields[i]
		from := slices.IndexFunc(f.From, func(name string) bool { return !g.whole(name) })
		if from >= 0 && g.whole(f.Name) && !isKeyField(g.class, f.Name) {
			g.denied = append(g.denied, noted{f.Name, "made from " + f.From[from]})
			g.large = slices.DeleteFunc(g.large, func(name string) bool { return name == f.Name })
		}
	}
}

// follow denies or masks fields that the database derives from denied or masked fields. The policy does this anyway,
// and follow writes it into the configuration. It reports whether it changed a guess.
func follow(guesses []guess, derivations []policy.Derivation) (changed bool) {
	for _, d := range derivations {
		i := slices.IndexFunc(guesses, func(g guess) bool { return g.class.FullName() == d.Class.FullName() })
		if i < 0 || guesses[i].hidden != "" {
			continue
		}
		g, why := &guesses[i], "made from "+d.From
		if d.Untraced != "" {
			why = "may hold " + d.From
		}
		mask := yamlKey(d.Field) + ": " + string(d.Kind)
		if slices.ContainsFunc(g.masked, func(m noted) bool { return m.name == mask }) {
			continue
		}
		changed = true
		g.masked = slices.DeleteFunc(g.masked, func(m noted) bool { return strings.HasPrefix(m.name, yamlKey(d.Field)+": ") })
		g.personal = slices.DeleteFunc(g.personal, func(p noted) bool { return p.name == d.Field })
		g.canonical = slices.DeleteFunc(g.canonical, func(text string) bool { return strings.HasPrefix(text, yamlKey(d.Field)+": ") })
		if len(g.canonical) == 0 {
			g.canonical = nil
		}
		if g.label == d.Field {
			g.label = ""
		}
		if !d.Denied {
			g.masked = append(g.masked, noted{mask, why})
			continue
		}
		g.large = slices.DeleteFunc(g.large, func(name string) bool { return name == d.Field })
		g.denied = append(g.denied, noted{d.Field, why})
	}
	return changed
}

// maskOf returns the mask for a field with personal data. A class without a visible key can only have the mask null,
// because its records are ordered by their visible fields. The name of the person that a record is about becomes a
// pseudonym, which is computed from the key.
func (g *guess) maskOf(f *schema.Field, what string, whole bool) string {
	switch {
	case whole || g.keyless() || f.Type != schema.String:
		return "null"
	case what == nameOfPerson && len(g.class.Key) == 1 && g.itself(f.Name):
		return "pseudonym"
	}
	return "partial"
}

// keyless reports whether the class has no visible key.
func (g *guess) keyless() bool {
	return len(g.class.Key) == 0 || slices.ContainsFunc(g.class.Key, g.isDenied)
}

// private reports whether a field's name marks it as internal.
func private(name string) bool {
	w := secretnames.Words(name)
	return len(w) > 1 && (w[0] == "internal" || w[0] == "private" || w[0] == "confidential")
}

// large reports whether a field looks large. Pointers and keys never count as large.
func large(c *schema.Class, f *schema.Field) bool {
	if slices.Contains(c.Key, f.Name) || slices.ContainsFunc(c.Relations, func(r schema.Relation) bool { return slices.Contains(r.Fields, f.Name) }) {
		return false
	}
	w := secretnames.Words(f.Name)
	last := w[len(w)-1]
	switch f.Type {
	case schema.Bytes:
		return true
	case schema.String, schema.Any:
		return (f.Length == 0 || f.Length > 1000) && f.Values == nil && slices.Contains([]string{"body", "content", "contents", "html", "markdown",
			"transcript", "document", "fulltext", "text", "blob", "raw", "payload", "base64"}, last)
	case schema.JSON:
		return slices.Contains([]string{"payload", "raw", "request", "response", "snapshot", "document"}, last)
	}
	return false
}

// liveWhen returns the condition on f that live records satisfy, as a member of a where object, or "".
func liveWhen(f *schema.Field) string {
	switch name := strings.Join(secretnames.Words(f.Name), "_"); {
	case (name == "deleted_at" || name == "archived_at" || name == "deleted_on") && !f.NotNull:
		return yamlKey(f.Name) + ": null"
	case name == "deleted" || name == "is_deleted" || name == "archived" || name == "is_archived":
		switch f.Type {
		case schema.Boolean:
			return yamlKey(f.Name) + ": {$ne: true}"
		case schema.Integer:
			return yamlKey(f.Name) + ": {$ne: 1}"
		}
	}
	return ""
}
