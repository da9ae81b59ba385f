package search

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/bailiwick-dev/bailiwick/internal/openapi/spec"
)

// A printer writes the description of an operation or a schema, line by line.
type printer struct {
	measure
	v       *spec.View
	b       strings.Builder
	request bool     // describes the request: read-only fields are omitted
	sent    string   // the named schema of the body, if the response uses the same schema
	whole   bool     // describes a schema: all fields are included
	past    []string // the named schemas that enclose the current one
	at      []string // the path of the current part: body, line_items. See DescribePart
	cut     string   // the path of the first part that is not shown in full
	kinds   int      // the number of types described
	form    bool     // describes a multipart form, in which files are objects
}

// maxKinds is the maximum number of types that a printer describes. Further types are described as any. The nested
// alternatives in a schema of one kilobyte can have more combinations than can be described in reasonable time.
const maxKinds = 100_000

func (p *printer) line(indent int, text string) {
	for range indent {
		p.b.WriteString("  ")
	}
	p.b.WriteString(text)
	p.b.WriteByte('\n')
}

var placeNames = []struct{ in, title string }{{"path", "Path:"}, {"query", "Query:"}, {"header", "Headers:"}, {"cookie", "Cookies:"}}

func (p *printer) parameters(op *spec.Operation) {
	for _, place := range placeNames {
		p.place(op, place.in)
	}
}

// place describes the parameters in one location: path, query or header.
func (p *printer) place(op *spec.Operation, in string) {
	all := slices.DeleteFunc(p.v.Parameters(op), func(q spec.Parameter) bool { return q.In != in || p.v.FixedValue(q) != nil })
	if len(all) == 0 {
		return
	}
	slices.SortStableFunc(all, func(a, b spec.Parameter) int { return order(b.Required) - order(a.Required) })
	title := placeNames[slices.IndexFunc(placeNames, func(n struct{ in, title string }) bool { return n.in == in })].title
	p.line(0, title)
	defer p.enter(strings.ToLower(strings.TrimSuffix(title, ":")))()
	for i, q := range all {
		if i >= p.fields && !q.Required {
			var left []string
			for _, q := range all[i:] {
				left = append(left, q.Name)
			}
			p.printOmittedFields(1, left)
			return
		}
		s := p.v.Schema(q.Schema)
		if q.Description != "" {
			s.Description = q.Description
		}
		if s.Example == nil && describes(s) {
			s.Example = q.Example
		}
		leave := p.enter(q.Name)
		p.field(1, q.Name, q.Required, s)
		if q.Style == "deepObject" || q.MediaType != "" {
			p.inside(2, s, 1)
		}
		leave()
	}
}

// enter adds a name to the path of the current part, and returns a function that removes it.
func (p *printer) enter(name string) func() {
	p.at = append(p.at, name)
	return func() { p.at = p.at[:len(p.at)-1] }
}

// printOmittedFields prints the names of omitted fields and notes the part that contains them.
func (p *printer) printOmittedFields(indent int, names []string) {
	p.omit()
	text := strings.Join(names[:min(len(names), maxEnum)], ", ")
	if len(names) > maxEnum {
		text += ", …"
	}
	p.line(indent, fmt.Sprintf("… %d more: %s", len(names), oneLine(text, 3*maxText)))
}

// omit notes that the current part is not shown in full.
func (p *printer) omit() {
	if p.cut == "" {
		p.cut = strings.Join(p.at, ".")
	}
}

func order(required bool) int {
	if required {
		return 1
	}
	return 0
}

// body describes the request body by its preferred media type, and names the other media types.
func (p *printer) body(b *spec.Body) {
	if b == nil {
		return
	}
	c := b.PreferredContent()
	text := c.MediaType
	for _, other := range b.Contents {
		if other.MediaType != c.MediaType {
			text += " or " + other.MediaType
		}
	}
	if b.Required {
		text += ", required"
	}
	defer p.enter("body")()
	p.form = spec.IsMultipart(c.MediaType)
	defer func() { p.form = false }()
	p.content(fmt.Sprintf("Body (%s)", oneLine(text, 200)), c)
	p.example(c)
	if s := p.element(p.v.Schema(c.Schema)); p.depth > 0 && !slices.ContainsFunc(p.v.Object(s).Fields, func(f spec.FieldFilter) bool { return p.v.Schema(f.Schema).WriteOnly }) {
		p.sent = s.Name
	}
}

// element returns the schema of the elements of s, or s itself if it is not a list.
func (p *printer) element(s spec.Schema) spec.Schema {
	for range 4 { // a list of lists
		if s.Items != nil && s.Is("array") {
			s = p.v.Schema(s.Items)
		}
	}
	return s
}

// answers describes the response of a successful call, and lists the statuses of failures.
func (p *printer) answers(op *spec.Operation) {
	best := op.Success()
	if best == nil {
		return
	}
	title := "Response " + oneLine(best.Status, 20)
	if c := best.PreferredContent(); c == nil {
		text := oneLine(best.Description, maxText)
		if text != "" {
			text = ": " + text
		}
		p.line(0, title+text)
	} else {
		if text := media(op, c); text != "" {
			title += fmt.Sprintf(" (%s)", oneLine(text, 200))
		}
		leave := p.enter("response")
		p.content(title, c)
		leave()
	}
	var rest []string
	for i := range op.Responses {
		r := &op.Responses[i]
		if r == best || strings.HasPrefix(r.Status, "2") || strings.HasPrefix(r.Status, "1") {
			continue
		}
		rest = append(rest, oneLine(r.Status, 20))
	}
	if len(rest) > 0 {
		p.line(0, "Errors: "+strings.Join(rest[:min(len(rest), maxEnum)], ", "))
	}
}

// media returns the media type of a response that is not JSON. It adds the other media types that a call can choose.
// Other names of JSON and text/plain are omitted.
func media(op *spec.Operation, c *spec.Content) string {
	text := ""
	if !spec.IsJSON(c.MediaType) {
		text = c.MediaType
	}
	others := slices.DeleteFunc(op.Answers(), func(m string) bool { return m == c.MediaType || spec.IsJSON(m) || m == "text/plain" })
	if len(others) == 0 {
		return text
	}
	if text == "" {
		text = c.MediaType
	}
	return text + "; headers.Accept chooses " + strings.Join(others, " or ")
}

// content describes a body or a response. The type is next to the title, and the fields follow.
func (p *printer) content(title string, c *spec.Content) {
	s := p.v.Schema(c.Schema)
	text := title + ": " + p.kind(s, 0)
	if s.Description != "" && p.descriptions && len(s.Properties) == 0 {
		text += " // " + prose(s.Description, maxText)
	}
	if e, ok := shortJSON(c.Example); ok && describes(s) {
		text += " // e.g. " + e
	}
	if in := p.element(s); !p.request && in.Name != "" && in.Name == p.sent {
		p.line(0, text+", with the fields of the body")
		p.describeReadOnly(1, in)
		return
	}
	p.line(0, text)
	p.inside(1, s, 0)
}

// describes reports whether s declares anything about its values. Values without a declaration may be hidden, so
// their example is not shown.
func describes(s spec.Schema) bool {
	return len(s.Types)+len(s.Enum)+len(s.Properties)+len(s.AllOf)+len(s.OneOf)+len(s.AnyOf) > 0 || s.Items != nil || s.Additional != nil
}

// describeReadOnly describes the fields of s that only the API sets. The description of the body omits them.
func (p *printer) describeReadOnly(indent int, s spec.Schema) {
	for _, f := range p.v.Object(s).Fields {
		if in := p.v.Schema(f.Schema); in.ReadOnly {
			p.field(indent, f.Name, f.Required, in)
		}
	}
}

// inside describes the fields of s, or of its elements. level is the nesting depth.
func (p *printer) inside(indent int, s spec.Schema, level int) {
	s = p.element(s)
	if known[s.Name] != "" {
		return
	}
	if level >= p.depth {
		if s.Name == "" && (len(s.Properties) > 0 || len(s.AllOf) > 0) {
			p.omit()
		}
		return
	}
	// A schema inside itself is only named, not described again.
	if s.Name != "" {
		if slices.Contains(p.past, s.Name) {
			return
		}
		p.past = append(p.past, s.Name)
		defer func() { p.past = p.past[:len(p.past)-1] }()
	}
	// Required fields come first. Fields of the other direction are omitted.
	o := p.v.Object(s)
	all := slices.DeleteFunc(o.Fields, func(f spec.FieldFilter) bool {
		in := p.v.Schema(f.Schema)
		return !p.whole && (p.request && in.ReadOnly || !p.request && in.WriteOnly)
	})
	slices.SortStableFunc(all, func(a, b spec.FieldFilter) int { return order(b.Required) - order(a.Required) })
	most := p.fields
	if level > 0 {
		most = min(most, 15)
	}
	for i, f := range all {
		if i >= most && !(p.request && f.Required) {
			var left []string
			for _, f := range all[i:] {
				if !p.request || !f.Required {
					left = append(left, f.Name)
				}
			}
			p.printOmittedFields(indent, left)
			break
		}
		in := p.v.Schema(f.Schema)
		leave := p.enter(f.Name)
		p.field(indent, f.Name, f.Required, in)
		p.inside(indent+1, in, level+1)
		leave()
	}
	if len(o.Choices) > 0 && len(all) > 0 {
		p.line(indent, "and "+p.choices(o.Schema, o.Choices, 0))
	}
	p.alternatives(indent, o, level+1)
	if o.Further != nil && len(all) > 0 {
		p.line(indent, "and further names: "+p.kind(p.v.Schema(o.Further), 0))
	}
}

// alternatives describes the fields of each alternative of o that has fields. The heading is the name or number of
// the alternative.
func (p *printer) alternatives(indent int, o spec.ObjectFilter, level int) {
	if level >= p.depth || len(o.Choices) > maxEnum {
		return
	}
	for i, r := range o.Choices {
		in := p.v.Schema(r)
		if len(in.Properties)+len(in.AllOf) == 0 || slices.Contains(p.past, in.Name) && in.Name != "" {
			continue
		}
		called := spec.ShortName(in.Name)
		if called == "" {
			called = strconv.Itoa(i + 1)
		}
		leave := p.enter(called)
		p.line(indent, name(called)+":")
		p.inside(indent+1, in, level)
		leave()
	}
}

// field writes one line for a field: name, type, whether it is required, and default. If the measure allows it, the
// line includes the description and an example. A well-known type has a note on its form instead.
func (p *printer) field(indent int, called string, required bool, s spec.Schema) {
	text := name(called) + ": " + p.kind(s, 0)
	if required {
		text += " (required)"
	}
	if d, ok := shortJSON(s.Default); ok {
		text += " = " + d
	}
	if s.Deprecated {
		text += " (deprecated)"
	}
	var notes []string
	switch {
	case known[s.Name] != "":
		notes = append(notes, known[s.Name])
	case p.descriptions:
		if d := prose(s.Description, maxText); d != "" {
			notes = append(notes, d)
		}
		if e, ok := shortJSON(s.Example); ok && len(s.Enum) == 0 && s.Default == nil {
			notes = append(notes, "e.g. "+e)
		}
	}
	if len(notes) > 0 {
		text += " // " + strings.Join(notes, "; ")
	}
	p.line(indent, text)
}

// schema describes a named schema.
func (p *printer) schema(s spec.Schema) {
	p.line(0, "## "+name(s.Name))
	if text := known[s.Name]; text != "" {
		p.line(0, text)
		return
	}
	if text := prose(s.Description, maxText); text != "" {
		p.line(0, text)
	}
	if len(s.Enum) > 0 {
		p.values(s)
		return
	}
	if len(s.Properties) == 0 && len(s.AllOf) == 0 {
		shown := s
		shown.Name = ""
		p.line(0, p.kind(shown, 0))
	}
	p.inside(0, s, 0)
}
