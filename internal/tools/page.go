package tools

import (
	"fmt"
	"slices"
	"strings"

	"github.com/bailiwick-dev/bailiwick"
	"github.com/bailiwick-dev/bailiwick/policy"
	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/schema"
	"github.com/bailiwick-dev/bailiwick/value"
)

// A page collects the objects of one answer within a budget in bytes.
type page struct {
	all    bool // return all fields, and not only required ones
	budget int

	objects []value.Value
	lines   []string
	bytes   int // size of objects as JSON

	missing, unloaded, failed []string // names of objects that are not cached, cached without fields, or unreadable
}

// most is the maximum number of names in a suggestion.
const most = 5

// add adds an object if it fits. It always adds the first object, with its fields cut to the budget.
func (p *page) add(o bailiwick.Object) bool {
	if len(p.objects) == DescribePageSize {
		return false
	}
	doc, line := p.object(o, -1)
	size := len(doc.AppendJSON(nil))
	if len(p.objects) == 0 && size > p.budget {
		n := 0
		if o.View != nil {
			n = len(o.View.Fields())
		}
		for size > p.budget && n > 0 {
			n /= 2
			doc, line = p.object(o, n)
			size = len(doc.AppendJSON(nil))
		}
	} else if p.bytes+size > p.budget {
		return false
	}
	p.objects, p.lines, p.bytes = append(p.objects, doc), append(p.lines, line), p.bytes+size
	p.note(o)
	return true
}

// note records objects for the suggestion.
func (p *page) note(o bailiwick.Object) {
	switch {
	case o.View == nil:
		p.missing = append(p.missing, problem.Cut(o.Name)+didYouMean(o.Near))
	case o.Failed != "":
		p.failed = append(p.failed, o.Name)
	case len(o.View.Fields()) == 0:
		p.unloaded = append(p.unloaded, o.Name)
	}
}

// didYouMean returns similar names in parentheses, or "".
func didYouMean(near []string) string {
	if len(near) == 0 {
		return ""
	}
	return " (" + problem.Question(near) + ")"
}

// object returns o as JSON and as a line. It keeps at most keep fields of each list, or all fields if keep is -1.
func (p *page) object(o bailiwick.Object, keep int) (value.Value, string) {
	if o.View == nil {
		exists := value.OfBool(false)
		if o.Unknown {
			exists = value.Value{}
		}
		line := problem.Cut(o.Name) + ": not cached" + didYouMean(o.Near)
		return value.OfObject([]value.Member{describeMember("name", value.OfString(o.Name)), describeMember("exists", exists),
			describeMember("required_fields", value.OfArray([]value.Value{})), describeMember("field_count", value.OfInt(0))}), line
	}
	fields := o.View.Fields()
	required := slices.DeleteFunc(slices.Clone(fields), func(f *schema.Field) bool { return !f.NotNull || f.Generated })
	doc := []value.Member{describeMember("name", value.OfString(o.Name)), describeMember("exists", value.OfBool(true)), describeMember("required_fields", describeFields(o.View, required, keep))}
	shown := required
	if p.all {
		doc, shown = append(doc, describeMember("fields", describeFields(o.View, fields, keep))), fields
	}
	doc = append(doc, describeMember("field_count", value.OfInt(int64(len(fields)))))
	line := fmt.Sprintf("%s: %d of %d fields required", o.Name, len(required), len(fields))
	switch {
	case o.Failed != "":
		doc, line = append(doc, describeMember("error_message", value.OfString(o.Failed))), o.Name+": "+o.Failed
	case len(fields) == 0:
		line = o.Name + ": cached without fields"
	}
	if keep >= 0 {
		doc = append(doc, describeMember("_truncated", value.OfObject([]value.Member{describeMember("reason", value.OfString("budget")), describeMember("kept_count", value.OfInt(int64(min(keep, len(shown))))),
			describeMember("original_count", value.OfInt(int64(len(shown)))), describeMember("hint", value.OfString("get_schema has all fields. field_filter required leaves out those that aren't"))})))
		shown = shown[:min(keep, len(shown))]
	}
	return value.OfObject(doc), line + inLine(shown)
}

// inLine formats fields with their types. Required fields have a star.
func inLine(fields []*schema.Field) string {
	var b strings.Builder
	for i, f := range fields {
		b.WriteString([]string{": ", ", "}[min(i, 1)] + f.Name + " " + f.Native)
		if f.NotNull && !f.Generated {
			b.WriteByte('*')
		}
	}
	return b.String()
}

// describeFields describes the first keep fields, or all of them if keep is negative.
func describeFields(v *policy.View, fields []*schema.Field, keep int) value.Value {
	if keep >= 0 {
		fields = fields[:min(keep, len(fields))]
	}
	out := make([]value.Value, len(fields))
	for i, f := range fields {
		preset := orNull(f.Default)
		if v.Mask(f.Name) != nil {
			preset = value.Value{}
		}
		out[i] = value.OfObject([]value.Member{describeMember("name", value.OfString(f.Name)), describeMember("type", value.OfString(f.Native)),
			describeMember("default_value", preset), describeMember("nillable", value.OfBool(!f.NotNull))})
	}
	return value.OfArray(out)
}

// suggestion returns the next step for missing, empty or unreadable objects, or "".
func (p *page) suggestion() string {
	var parts []string
	add := func(names []string, what string) {
		if len(names) > most {
			names = append(slices.Clone(names[:most]), fmt.Sprintf("%d more", len(names)-most))
		}
		if len(names) > 0 {
			parts = append(parts, fmt.Sprintf(what, strings.Join(names, ", ")))
		}
	}
	add(p.missing, "Not cached: %s. Expand them in the IDE under this connection, or go on without and say that their fields are not checked")
	add(p.unloaded, "Cached without fields: %s. Expand them in the IDE to load the details")
	add(p.failed, "The cached file can't be read: %s. Refresh them in the IDE")
	return strings.Join(parts, ". ")
}
