package review

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/bailiwick-dev/bailiwick/change"
	"github.com/bailiwick-dev/bailiwick/value"
	"github.com/bailiwick-dev/bailiwick/write"
)

// hiddenClass stands for a class that the viewer doesn't see.
const hiddenClass = "what you don't see"

// A titler writes the title of a change for one viewer.
type titler struct {
	change     *change.Change
	visibility func(class string) Visibility
	viewer     Viewer
}

// title says what happens to which records. All its words are the gateway's and none are an agent's.
func (t titler) title() string {
	c := t.change
	out := ""
	switch {
	case len(c.Effects) != 1 && c.Op == write.OpCall:
		out = fmt.Sprintf("%d calls in order: %s", len(c.Effects), strings.Join(t.classes(), ", "))
	case len(c.Effects) != 1:
		out = t.group()
	case (c.Op == write.OpCall || c.Op == write.OpSchema) && through(c.Effects[0], t.visibility).Class != "" && c.Title != "":
		out = c.Title
		if label := short(labelOf(c.Effects[0], through(c.Effects[0], t.visibility), t.viewer)); label != "" {
			out += " " + quote(label)
		}
	default:
		out = t.one()
	}
	if c.Reverts != "" {
		out = "Revert: " + out
	}
	return line(out)
}

// classes returns the classes of the effects in their order, as the viewer addresses them.
func (t titler) classes() (out []string) {
	for _, e := range t.change.Effects {
		if class := cmp.Or(through(e, t.visibility).Class, hiddenClass); !slices.Contains(out, class) {
			out = append(out, class)
		}
	}
	return out
}

// group counts the effects by operation and class: "3 updates in issues, 1 delete in comments". If all of them update,
// the fields follow.
func (t titler) group() string {
	type kind struct{ op, class string }
	counted, kinds := map[kind]int{}, []kind(nil)
	for _, e := range t.change.Effects {
		k := kind{groupVerb(e.Op), cmp.Or(through(e, t.visibility).Class, hiddenClass)}
		if counted[k]++; counted[k] == 1 {
			kinds = append(kinds, k)
		}
	}
	parts := make([]string, len(kinds))
	for i, k := range kinds {
		parts[i] = fmt.Sprintf("%d %s in %s", counted[k], k.op, k.class)
		if counted[k] > 1 {
			parts[i] = fmt.Sprintf("%d %ss in %s", counted[k], k.op, k.class)
		}
	}
	out := strings.Join(parts, ", ")
	if fields := updatedFields(t.change, t.visibility); t.change.Op == write.OpUpdate && len(fields) > 0 {
		out += ": " + strings.Join(fields, ", ")
	}
	return out
}

// groupVerb returns a noun for one effect of a group.
func groupVerb(op write.Op) string {
	switch op {
	case write.OpAction:
		return "run"
	case write.OpSchema:
		return "schema change"
	}
	return string(op)
}

// one says what happens to the only record of a change: `PAY-17 "Login is slow": status Todo → Done`.
func (t titler) one() string {
	e := t.change.Effects[0]
	s := through(e, t.visibility)
	noun := singular(s.Class)
	switch {
	case s.Class == "":
		return capital(verb(e.Op)) + " " + hiddenClass
	case e.Op == write.OpUpdate:
		name, fields := t.name(e, s), t.fields(e, s)
		if fields == "" {
			return "Update " + name
		}
		if t.code(e.Class, s, e.Before) == "" {
			name = capital(name)
		}
		return name + ": " + fields
	case e.Op == write.OpCreate:
		name := t.named(e.Class, s, t.after(e), labelOf(e, s, t.viewer))
		if parent := t.parent(e, s, t.after(e)); parent != "" && name == "" {
			return "Add " + Article(noun) + " " + noun + " to " + parent
		}
		if id := key(t.change, 0, s); id != "" && name == "" {
			return "Create " + noun + " " + short(id)
		}
		return strings.TrimSpace("Create " + noun + " " + name)
	}
	out := capital(verb(e.Op)) + " " + t.name(e, s)
	if parent := t.parent(e, s, e.Before); parent != "" && e.Op == write.OpDelete && t.named(e.Class, s, e.Before, labelOf(e, s, t.viewer)) == "" {
		out += " on " + parent
	}
	return out
}

// after returns the record after the change. For an agent it has only the values that the agent requested.
func (t titler) after(e change.Effect) value.Value {
	if t.viewer.Reviewer || e.After.Kind() != value.Object {
		return e.After
	}
	asked := value.Value{}
	if len(t.change.Writes) == 1 {
		if name, data := asks(t.change.Writes[0]); name == "data" {
			asked = data
		}
	}
	return overlay(value.OfObject(slices.DeleteFunc(slices.Clone(e.After.Members()), func(m value.Member) bool { return !slices.Contains(e.Asked, m.Name) })), asked)
}

// name returns the name of a record that exists: its short name, or otherwise its class and its id if the id is short.
// The label follows.
func (t titler) name(e change.Effect, s Visibility) string {
	const shortKey = 12
	label := labelOf(e, s, t.viewer)
	if t.code(e.Class, s, e.Before) != "" {
		return t.named(e.Class, s, e.Before, label)
	}
	out, id := singular(s.Class), key(t.change, 0, s)
	if id != "" && (label == "" || len(id) <= shortKey) {
		out += " " + id
	}
	if label = short(label); label != "" {
		out += " " + quote(label)
	}
	return out
}

// named returns the short name and the label of a record, or "" if it has neither.
func (t titler) named(class string, s Visibility, record value.Value, label string) string {
	code := t.code(class, s, record)
	label = short(label)
	if label == "" || quote(label) == code || label == code {
		return code
	}
	return strings.TrimSpace(code + " " + quote(label))
}

// parent returns the shortest name of the record to which a record belongs, or "" if the viewer doesn't see it.
func (t titler) parent(e change.Effect, s Visibility, record value.Value) string {
	if s.Parent == "" {
		return ""
	}
	return t.target(e.Class, s, s.Parent, record)
}

// target returns the shortest name of the record to which a field of record points.
func (t titler) target(class string, s Visibility, field string, record value.Value) string {
	if _, seen := s.Fields[field]; !seen || s.Masks[field] != nil {
		return ""
	}
	n := t.lookUp(class, field, record)
	if n == nil {
		return ""
	}
	to := t.visibility(n.Class)
	if code := t.code(n.Class, to, n.Record); code != "" {
		return code
	}
	if _, seen := to.Fields[to.Label]; !seen || to.Masks[to.Label] != nil {
		return ""
	}
	v, _ := n.Record.Get(to.Label)
	if label := short(v.String()); label != "" && !v.IsNull() {
		return quote(label)
	}
	return ""
}

// lookUp returns the record to which a field of record points, or nil if it is not known.
func (t titler) lookUp(class, field string, record value.Value) *change.Named {
	v, _ := record.Get(field)
	if v.IsNull() {
		return nil
	}
	for i := range t.change.Named {
		if n := &t.change.Named[i]; n.From == class && n.Field == field && n.Key == v.String() {
			return n
		}
	}
	return nil
}

// code returns the short name of a record of class, or "" if the viewer doesn't see all of it.
func (t titler) code(class string, s Visibility, record value.Value) string {
	const most = 40
	out := t.fill(s.Code, class, s, record, func(_, text string) string { return text })
	if out == "" || len(out) > most {
		return ""
	}
	switch {
	case looksLikeCode.MatchString(out):
		return out
	case len(s.Code) == 1: // a field called key or code may hold anything
		return ""
	}
	return quote(out)
}

// fields lists the fields that an update changes. One or two fields have their values, if the values are short.
func (t titler) fields(e change.Effect, s Visibility) string {
	const most = 2
	after := t.after(e)
	changes := func(f string) bool {
		was, _ := e.Before.Get(f)
		is, _ := after.Get(f)
		return !same(was, is)
	}
	fields := updatedFields(t.change, t.visibility)
	if slices.ContainsFunc(fields, changes) {
		fields = slices.DeleteFunc(fields, func(f string) bool { return !changes(f) })
	}
	if len(fields) > most {
		return strings.Join(fields, ", ")
	}
	for i, f := range fields {
		from, to := t.brief(e, s, f, e.Before), t.brief(e, s, f, after)
		if from != "" && to != "" && changes(f) {
			fields[i] += " " + from + " → " + to
		}
	}
	return strings.Join(fields, ", ")
}

// brief returns a short value of a field for a title: for a pointer the name of its target. It returns "" if the value
// is masked or too long.
func (t titler) brief(e change.Effect, s Visibility, field string, record value.Value) string {
	const most = 24
	v, there := record.Get(field)
	if !there || s.Masks[field] != nil {
		return ""
	}
	if name := t.target(e.Class, s, field, record); name != "" {
		return name
	}
	text := v.String()
	switch {
	case v.IsNull():
		return "null"
	case len(text) > most, haveParts(v, v), strings.ContainsAny(text, "\n\t"):
		return ""
	case v.Kind() == value.String:
		return plainOrQuoted(text)
	}
	return text
}

// plainOrQuoted returns a text as it is if it is one word that can't be read as a number, as null or as words of the
// title. Otherwise it returns the text in quotes.
func plainOrQuoted(text string) string {
	if plainWord.MatchString(text) && text != "null" && text != "true" && text != "false" {
		return text
	}
	return quote(text)
}

// Words that need no quotes. A short name without a digit and with a small letter has quotes. Otherwise an agent could
// choose one that looks like a word of the gateway.
var (
	plainWord     = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9]*([-_.][A-Za-z0-9]+)*$`)
	looksLikeCode = regexp.MustCompile(`^[A-Z0-9]+$|^([A-Za-z0-9]+[-_./#])*[A-Za-z]*[0-9][A-Za-z0-9]*([-_./#][A-Za-z0-9]+)*$`)
)

// updatedFields returns the fields that the change sets and that the viewer sees. The fields of a single record are
// in the order of its class.
func updatedFields(c *change.Change, visibility func(class string) Visibility) []string {
	all := c.Fields
	if len(c.Effects) == 1 {
		all = c.Effects[0].Asked
	}
	return slices.DeleteFunc(slices.Clone(all), func(f string) bool {
		return !slices.ContainsFunc(c.Effects, func(e change.Effect) bool { _, seen := visibility(e.Class).Fields[f]; return seen })
	})
}

// singular returns a noun for one record of a class: "issue" for issues, "issue label" for issue_labels. Names that
// don't look like an English plural stay.
func singular(class string) string {
	noun := strings.ReplaceAll(class, "_", " ")
	if lower := strings.ToLower(noun); lower != noun { // OrderLine
		return noun
	}
	for _, end := range []struct{ from, to string }{{"ss", "ss"}, {"us", "us"}, {"is", "is"}, {"news", "news"}, {"series", "series"}, {"statuses", "status"}, {"ies", "y"}, {"xes", "x"}, {"ches", "ch"}, {"shes", "sh"}, {"sses", "ss"}, {"s", ""}} {
		if rest, ok := strings.CutSuffix(noun, end.from); ok && len(rest) > 1 {
			return rest + end.to
		}
	}
	return noun
}

// Article returns the indefinite article of a noun.
func Article(noun string) string {
	if strings.ContainsRune("aeio", rune(noun[0])) {
		return "an"
	}
	return "a"
}

// capital returns text with a capital first letter, if it begins with a word of the gateway.
func capital(text string) string {
	if text == "" || strings.HasPrefix(text, `"`) {
		return text
	}
	return strings.ToUpper(text[:1]) + text[1:]
}
