package tool

import (
	"iter"
	"slices"
	"strings"

	"github.com/bailiwick-dev/bailiwick/declared"
	"github.com/bailiwick-dev/bailiwick/metric"
	"github.com/bailiwick-dev/bailiwick/policy"
	"github.com/bailiwick-dev/bailiwick/schema"
	"github.com/bailiwick-dev/bailiwick/value"
)

// docExtra has the facts of a compact description that aren't in the view.
type docExtra struct {
	About    []string                 // more words about the class, such as "about 500 records"
	Writable func(*schema.Field) bool // nil means that nothing is writable
	Actions  []value.Value            // as in get_schema
	Metrics  []metric.Usable          // of the class
	Queries  []*declared.Query        // about the class
	Examples []policy.Example
	Values   map[string][]string // the commonest values of fields, in a sample
}

// compactDoc describes a class as a few lines: one for each field, with its type, key, pointer, allowed or commonest values,
// mask and description. several says that the principal sees classes of several sources.
func compactDoc(v *policy.View, several bool, x docExtra) string {
	var b strings.Builder
	b.WriteString(v.Name())
	about := x.About
	if v.Class().Recordless {
		about = append(slices.Clone(about), "a description without records")
	}
	if w := in(v, several); w != "" {
		about = append(slices.Clone(about), w)
	}
	if len(about) > 0 {
		b.WriteString(" (" + strings.Join(about, ", ") + ")")
	}
	if d := aboutView(v); d != "" {
		b.WriteString(": " + oneLine(d))
	}
	for _, f := range v.Fields() {
		b.WriteString("\n " + line(v, f, x.Values[f.Name]))
	}
	for _, more := range footer(v, x) {
		b.WriteString("\n " + more)
	}
	return b.String()
}

// docLegend explains the signs of compact descriptions that occur in text.
func docLegend(text string) string {
	var out []string
	for _, s := range []struct{ sign, text string }{
		{" -> ", "-> a pointer: it holds the id of a record of that class, and a path goes on there (pointer.field)"},
		{" list -> ", "list -> pointers, which $unwind opens for a pipeline"},
		{" <- ", "<- pointers to the class"},
		{"!", "! required"},
		{" ~ ", "~ the commonest values in a sample"},
		{" masked", maskNote(policy.Partial)},
	} {
		if strings.Contains(text, s.sign) {
			out = append(out, s.text)
		}
	}
	return strings.Join(out, ". ")
}

// line describes one field.
func line(v *policy.View, f *schema.Field, seen []string) string {
	rule, m := v.Rule().Fields[f.Name], v.Mask(f.Name)
	words := []string{f.Name, typeOf(v, f)}
	if slices.Contains(v.Key(), f.Name) {
		words = append(words, "key")
	} else if f.Required {
		words[1] += "!"
	}
	if p, ok := v.Pointer(f.Name); ok {
		to := "-> " + p.Target
		if p.List {
			to = "list -> " + p.Target
		}
		if behind := v.Behind(p.Field); !slices.Equal(behind.Key(), []string{p.TargetKey}) {
			to += "." + p.TargetKey
		}
		words[1] = to + strings.TrimPrefix(words[1], typeOf(v, f))
	}
	if m != nil {
		mask := "masked " + m.String()
		if m.Kind == policy.Pseudonym {
			mask += " (group, distinct and count take it)"
		}
		words = append(words, mask)
	}
	if v.Large(f.Name) {
		words = append(words, "large")
	}
	out := strings.Join(words, " ")
	switch allowed := allowedValues(f, rule); {
	case m != nil: // a mask hides the occurring values
	case allowed != nil:
		out += ": " + strings.Join(choices(allowed), "|")
	case f.Element != nil && f.Element.Values != nil:
		out += ": " + strings.Join(choices(f.Element.Values), "|")
	case len(seen) > 0:
		out += " ~ " + strings.Join(seen, "|")
	}
	d := rule.Description
	if d == "" {
		d = f.Description
	}
	if d != "" {
		out += " -- " + oneLine(d)
	}
	return out
}

// typeOf returns the type of a field in the form of compact descriptions.
func typeOf(v *policy.View, f *schema.Field) string {
	typ := f.Type.String()
	switch m := v.Mask(f.Name); {
	case m != nil && m.Kind != policy.Null && m.Kind != policy.Inside:
		return schema.String.String() // masked values are returned as text
	case f.Form != "" && f.Type == schema.Opaque && f.Ordered:
		return schema.String.String() + " (" + f.Form + ")"
	case f.Form != "" && f.Type == schema.Opaque:
		return schema.String.String() + " (" + f.Form + "; only " + f.Operators() + ")"
	case f.Form != "":
		return typ + " (" + f.Form + ")"
	case f.Element != nil:
		element := f.Element.Type.String()
		if f.Element.Type == schema.Opaque && f.Element.Form != "" {
			element = schema.String.String()
		}
		return "list of " + element
	}
	return typ
}

// choices returns allowed values as texts, with their meanings.
func choices(allowed []value.Value) []string {
	out := make([]string, len(allowed))
	for i, v := range allowed {
		if of, ok := v.Get("value"); ok {
			meaning, _ := v.Get("meaning")
			out[i] = plain(of) + " (" + oneLine(meaning.Text()) + ")"
			continue
		}
		out[i] = plain(v)
	}
	return out
}

// plain returns a value as text. It only quotes the text if its end would otherwise be unclear.
func plain(v value.Value) string {
	if v.Kind() != value.String {
		return v.String()
	}
	return plainText(v.Text())
}

// plainText returns a text. It quotes the text if it is empty, contains a sign of compact descriptions, or begins or
// ends with a space.
func plainText(s string) string {
	if s == "" || strings.ContainsAny(s, "|\"\n\r\t()") || strings.TrimSpace(s) != s {
		return value.OfString(s).String()
	}
	return s
}

// oneLine returns a text in one line.
func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }

// footer returns the lines below the fields. They have a key of several fields, label, unique indexes, searched fields,
// the canonical filter, the pointers of other classes, and the writable fields.
func footer(v *policy.View, x docExtra) []string {
	var parts, out []string
	if l := v.Label(); l != "" && v.Field(l) != nil {
		parts = append(parts, "label "+l)
	}
	for _, index := range v.Class().Indexes {
		hidden := slices.ContainsFunc(index.Fields, func(f string) bool { return v.Field(f) == nil || v.Mask(f) != nil })
		if index.Unique && !hidden && !slices.Equal(index.Fields, v.Key()) {
			parts = append(parts, "unique "+strings.Join(index.Fields, "+"))
		}
	}
	if fields := v.SearchFields(); fields != nil {
		parts = append(parts, "text search in "+strings.Join(fields, ", "))
	}
	if where, ok := schemaCanonical(v); ok {
		parts = append(parts, "always filtered by "+where.String())
	}
	if join := v.Rule().Join; join != nil {
		parts = append(parts, "include shows "+strings.Join(join, ", "))
	}
	if parts != nil {
		out = append(out, strings.Join(parts, "; "))
	}
	if from := pointersTo(v); from != nil {
		out = append(out, "<- "+strings.Join(from, ", "))
	}
	if w := writableFields(v, x.Writable); w != "" {
		out = append(out, w)
	}
	if x.Actions != nil {
		out = append(out, "actions: "+strings.Join(signatures(x.Actions), ", "))
	}
	if x.Metrics != nil {
		out = append(out, "metrics: "+metricLine(x.Metrics))
	}
	if x.Queries != nil {
		out = append(out, "queries: "+queryLine(x.Queries))
	}
	for _, e := range x.Examples {
		out = append(out, exampleLine(e))
	}
	return out
}

// pointersTo returns the pointers of the caller's classes to v.
func pointersTo(v *policy.View) []string {
	var out []string
	for _, other := range v.PointedBy() {
		for _, r := range other.Relations() {
			if r.Target == v.Name() {
				out = append(out, other.Name()+"."+r.Field)
			}
		}
	}
	return out
}

// writableFields returns the line about fields for which a caller can propose other values, or "".
func writableFields(v *policy.View, writable func(*schema.Field) bool) string {
	if writable == nil {
		return ""
	}
	var yes, no []string
	for _, f := range v.Fields() {
		if writable(f) {
			yes = append(yes, f.Name)
		} else {
			no = append(no, f.Name)
		}
	}
	switch {
	case yes == nil:
		return ""
	case no == nil:
		return "writable: all"
	case len(no) < len(yes):
		return "writable: all but " + strings.Join(no, ", ")
	}
	return "writable: " + strings.Join(yes, ", ")
}

// signatures returns the names of actions with the names of their arguments. It omits the arguments of an action with
// its own tool, because tools/list has them.
func signatures(actions []value.Value) []string {
	out := make([]string, len(actions))
	for i, a := range actions {
		name, _ := a.Get("name")
		out[i] = name.Text()
		if in, ok := a.Get("arguments"); ok {
			properties, _ := in.Get("properties")
			var names []string
			for _, p := range properties.Members() {
				names = append(names, p.Name)
			}
			out[i] += "(" + strings.Join(names, ", ") + ")"
		} else {
			out[i] += " (a tool)"
		}
	}
	return out
}

// in returns the source of a class, such as "in shop", if several sources have classes.
func in(v *policy.View, several bool) string {
	if several {
		return "in " + v.Source()
	}
	return ""
}

// hasSeveralSources reports whether a principal sees classes of more than one source. viewsOf returns the principal's views.
func hasSeveralSources(viewsOf func(func(*schema.Class) bool) iter.Seq[*policy.View]) bool {
	first := ""
	for v := range viewsOf(func(c *schema.Class) bool { return c.Source != first }) {
		if first != "" {
			return true
		}
		first = v.Source()
	}
	return false
}
