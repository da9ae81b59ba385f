package policy

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/bailiwick-dev/bailiwick/internal/secretnames"
	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/schema"
)

// DeclaredPointer returns a relation for a pointer: the field called name of from has the value of the field key of a
// record of to. "" means the key of to. Values of key must be unique, and both fields must have the same type, because
// otherwise different values could count as equal. A field of type JSON or array contains a list of such values, which
// are whole numbers or texts. wrong is the violated condition, or "" if there is none.
func DeclaredPointer(from *schema.Class, name string, to *schema.Class, key string) (r schema.Relation, wrong string) {
	if key == "" && len(to.Key) == 1 {
		key = to.Key[0]
	}
	f, k, class := from.Field(name), to.Field(key), to.FullName()
	switch {
	case f == nil:
		wrong = "there is no such field" + problem.DidYouMean(problem.Nearest(name, from.FieldNames(), 2))
	case to.Source != from.Source:
		wrong = class + " is in another source. A pointer leads to a class of its own"
	case from.Recordless || to.Recordless:
		wrong = "a description without records has no pointers"
	case key == "":
		wrong = fmt.Sprintf("%s has no key of one field. Write {class: %s, key: …}", class, to.Name)
	case k == nil:
		wrong = fmt.Sprintf("%s has no field %q%s", class, key, problem.DidYouMean(problem.Nearest(key, to.FieldNames(), 2)))
	case !unique(to, key):
		wrong = fmt.Sprintf("%s of %s isn't unique by a key or an index, so it could lead to several records", key, class)
	case f.Type.IsStructured() && !slices.Contains([]schema.Type{schema.Integer, schema.String, schema.UUID}, k.Type):
		wrong = fmt.Sprintf("%s of %s is of type %s. A list of pointers holds whole numbers, texts or UUIDs", key, class, k.Type)
	case f.Type.IsStructured():
		return schema.Relation{Fields: []string{name}, Target: to.Name, TargetFields: []string{key}, Declared: true, List: true}, ""
	case f.Type != k.Type:
		wrong = fmt.Sprintf("it is of type %s, and %s of %s is of type %s", f.Type, key, class, k.Type)
	case !slices.Contains([]schema.Type{schema.Integer, schema.String, schema.UUID, schema.Decimal, schema.Any}, k.Type):
		wrong = fmt.Sprintf("%s of %s is of type %s. A pointer holds a number, a text or a UUID", key, class, k.Type)
	}
	for _, have := range from.Relations {
		if same := have.Target == to.Name && slices.Equal(have.TargetFields, []string{key}); slices.Equal(have.Fields, []string{name}) && !same && wrong == "" {
			wrong = fmt.Sprintf("the source says that it points to %s of %s", have.TargetFields[0], have.Target)
		}
	}
	return schema.Relation{Fields: []string{name}, Target: to.Name, TargetFields: []string{key}, Declared: true}, wrong
}

// declareTypes gives the fields of c the types that rules declare. Fields with types of earlier rules get the types of
// the source back. The fields of other copies of c stay as they are.
func declareTypes(c *schema.Class, types map[string]schema.Form, fail func(string, ...any)) {
	c.Fields = slices.Clone(c.Fields)
	for i := range c.Fields {
		if s := c.Fields[i].Stored; s != nil {
			c.Fields[i] = s.Field
		}
	}
	for _, name := range slices.Sorted(maps.Keys(types)) {
		f, wrong := DeclaredType(c, name, types[name])
		if wrong != "" {
			fail("types.%s: %s", name, wrong)
			continue
		}
		*c.Field(name) = f
	}
}

// DeclaredType returns the field called name of c with the type that form declares: the form in which the source stores
// its values. wrong is the reason why that isn't possible, or "".
func DeclaredType(c *schema.Class, name string, form schema.Form) (f schema.Field, wrong string) {
	is := c.Field(name)
	points := func(r schema.Relation) bool { return !r.Declared && slices.Contains(r.Fields, name) }
	switch {
	case is == nil:
		return f, "there is no such field" + problem.DidYouMean(problem.Nearest(name, c.FieldNames(), 2))
	case !c.Converts:
		return f, fmt.Sprintf("the source %s has types of its own. Only SQL databases and Parse Server can be read in another", c.Source)
	case is.Type == form.Type():
		return f, fmt.Sprintf("it is of type %s already. Take it out", is.Type)
	case slices.Contains(c.Key, name):
		return f, "it is in the key of the class, whose values are compared as they are stored"
	case slices.ContainsFunc(c.Relations, points):
		return f, "the source says that it is a pointer, whose values are compared as they are stored"
	case slices.ContainsFunc(c.Text, func(x schema.TextIndex) bool {
		return slices.Contains(x.Fields, name) || x.Key == name || x.Column == name
	}):
		return f, "a full-text index searches it as text"
	case !slices.Contains(form.Of(), is.Type):
		return f, fmt.Sprintf("it is of type %s. %s is held in a field of type %s", is.Type, form, names(form.Of()))
	}
	return is.In(form), ""
}

func names(types []schema.Type) string {
	out := make([]string, len(types))
	for i, t := range types {
		out[i] = t.String()
	}
	return strings.Join(out, " or ")
}

// unique reports whether at most one record of c has a value of the field.
func unique(c *schema.Class, field string) bool {
	only := []string{field}
	if f := c.Field(field); f.Stored != nil && f.Unit() == 0 {
		return false // several stored values can be equal in the declared type
	}
	return slices.Equal(c.Key, only) || slices.ContainsFunc(c.Indexes, func(x schema.Index) bool { return x.Unique && !x.More && slices.Equal(x.Fields, only) })
}

// callings returns typical names of fields with the name or title of a record, in lower case without separators, the
// likeliest first.
func callings() []string {
	return []string{"name", "title", "subject", "displayname", "fullname", "label", "headline", "key", "number", "code", "slug", "username", "login", "email"}
}

// personal returns the same for people. A person's name has the highest priority. A title isn't in the list, because it
// is the title of their job.
func personal() []string {
	return []string{"name", "fullname", "displayname", "realname", "screenname", "lastname", "surname", "familyname", "lname", "nickname", "firstname", "givenname", "forename", "fname", "label",
		"username", "login", "number", "code", "email"}
}

// people returns words for people in names of classes, without a final s.
func people() []string {
	return []string{"user", "customer", "employee", "person", "people", "contact", "member", "staff", "author", "patient", "student", "teacher", "driver", "client", "attendee", "applicant", "candidate",
		"guest", "tenant", "resident", "doctor", "nurse", "player", "agent", "owner", "subscriber", "participant", "manager", "worker", "lead", "account", "profile"}
}

// arePeople reports whether the records of c are people. That is so if it has fields for parts of a person's name. It
// is also so if its name is a word for people and it has a field such as email or login.
func arePeople(c *schema.Class) bool {
	reached := false
	for i := range c.Fields {
		switch strings.Join(secretnames.Words(c.Fields[i].Name), "") {
		case "lastname", "surname", "familyname", "firstname", "givenname", "forename", "lname", "fname":
			return true
		case "email", "username", "login", "emailaddress", "phone", "birthdate", "jobtitle":
			reached = true
		}
	}
	w := secretnames.Words(c.Name)
	return reached && len(w) > 0 && slices.Contains(people(), strings.TrimSuffix(w[len(w)-1], "s"))
}

// declaredLabels returns the fields in some with typical names for the name or title of a record of c, the likeliest
// first.
func declaredLabels(c *schema.Class, some []*schema.Field) []string {
	var own string // projects have a project_name
	if w := secretnames.Words(c.Name); len(w) > 0 {
		own = strings.TrimSuffix(w[len(w)-1], "s") + "name"
	}
	likely := callings()
	if arePeople(c) {
		likely = personal()
	}
	var out []string
	for _, calling := range append([]string{own}, likely...) {
		for _, f := range some {
			plain := f.Type == schema.String || f.Type == schema.Integer
			if plain && !slices.Contains(c.Key, f.Name) && strings.Join(secretnames.Words(f.Name), "") == calling {
				out = append(out, f.Name)
			}
		}
	}
	return out
}

// declaredLabel returns what is wrong with the field called name as the label of a record of c, or "" if nothing is.
// seen reports whether the field is visible, and masked whether each principal sees it masked.
func declaredLabel(c *schema.Class, name string, seen, masked bool) (wrong string) {
	switch f := c.Field(name); {
	case f == nil:
		return fmt.Sprintf("there is no field %q%s", name, problem.DidYouMean(problem.Nearest(name, c.FieldNames(), 2)))
	case !seen:
		return name + " can't be seen at all. Take it out"
	case f.Type.IsStructured() || f.Type == schema.Bytes || f.Type == schema.Opaque:
		return fmt.Sprintf("%s is of type %s. A label is a text or a number", name, f.Type)
	case masked:
		return name + " is masked. Choose a field that is seen whole"
	}
	return ""
}
