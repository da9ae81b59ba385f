package validate

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/bailiwick-dev/bailiwick/internal/argcheck"
	"github.com/bailiwick-dev/bailiwick/internal/openapi/spec"
	"github.com/bailiwick-dev/bailiwick/value"
)

// body checks the body against each content that fits a.Media, and uses the first one without faults. If all have
// faults, the faults of the first are reported, because it is the preferred one.
func (c *Checker) body(f *faults, out *Checked, a Arguments) error {
	b := out.op.Body
	switch {
	case b == nil:
		if a.HasBody {
			f.wrong("/body", "unknown", "%s takes no body", out.op.ID)
		}
		return nil
	case !a.HasBody:
		switch enough, empty := c.empty(b); {
		case !b.Required:
		case empty: // the document declares no field that could be set
			out.body, out.content = value.OfObject(nil), b.PreferredContent()
		case enough:
			f.wrong("/body", "required", "the body is missing. {} is enough, none of its fields has to be given")
		default:
			f.wrong("/body", "required", "the body is missing")
		}
		return nil
	}
	all, known := contents(b, a)
	if len(all) == 0 {
		unknown := argcheck.UnknownName("", "media type", a.Media, known)
		unknown.Pointer = "/content_type"
		f.add(unknown)
		return nil
	}
	var first *faults
	for _, content := range all {
		tried, taken := faults{name: f.name, later: f.later, texts: f.texts, ended: f.ended}, *out
		taken.body, taken.content = a.Body, content
		if err := c.content(&tried, &taken, a); err != nil {
			return err
		}
		if first == nil {
			first = &tried
		}
		if len(tried.all) == 0 {
			*out = taken
			return nil
		}
	}
	if len(first.all) == 1 && first.all[0].Pointer == "/body" && isJSONText(a.Body) {
		first.hint("; this is JSON in a text: give the value itself")
	}
	f.all = append(f.all, first.all...)
	return nil
}

// empty reports whether b accepts {}, and whether it accepts only {}. The second case is common for remote procedures
// without arguments.
func (c *Checker) empty(b *spec.Body) (enough, only bool) {
	content := b.PreferredContent()
	if content == nil || !spec.IsJSON(content.MediaType) || IsPatch(content.MediaType) {
		return false, false
	}
	s := c.v.Schema(content.Schema)
	o := c.v.Object(s)
	if !s.Is("object") || len(s.Types) == 0 || len(o.Choices) > 0 || slices.ContainsFunc(o.Fields, func(f spec.FieldFilter) bool { return f.Required && !c.v.Schema(f.Schema).ReadOnly }) {
		return false, false
	}
	name := strings.ToLower(s.Name) // an object with any fields is declared in the same way as an object without fields
	return true, len(o.Fields) == 0 && s.Additional.Kind() == 0 && (strings.HasSuffix(name, "request") || strings.HasSuffix(name, "empty"))
}

// isJSONText reports whether a value is a string that contains an object or a list in JSON.
func isJSONText(v value.Value) bool {
	if v.Kind() != value.String {
		return false
	}
	text := strings.TrimSpace(v.Text())
	return (strings.HasPrefix(text, "{") || strings.HasPrefix(text, "[")) && json.Valid([]byte(text))
}

// contents returns the contents that a body may match, the most likely first. This is the requested content, or all
// contents of the operation. An array is tried as a JSON Patch first. Other values are never a JSON Patch.
func contents(b *spec.Body, a Arguments) (all []*spec.Content, known []string) {
	patch := func(c *spec.Content) bool { return IsPatch(c.MediaType) }
	for i := range b.Contents {
		content := &b.Contents[i]
		known = append(known, content.MediaType)
		named := strings.EqualFold(content.MediaType, a.Media)
		if named || a.Media == "" && (len(b.Contents) == 1 || !patch(content) || a.Body.Kind() == value.Array) {
			all = append(all, content)
		}
	}
	slices.SortStableFunc(all, func(x, y *spec.Content) int {
		rank := func(c *spec.Content) int {
			switch {
			case patch(c):
				return 0
			case c == b.PreferredContent():
				return 1
			case spec.IsJSON(c.MediaType):
				return 2
			}
			return 3
		}
		return rank(x) - rank(y)
	})
	return all, known
}

// content checks the body against one content.
func (c *Checker) content(f *faults, out *Checked, a Arguments) error {
	content := out.content
	key := fmt.Sprintf("%s body %s", out.op.ID, content.MediaType)
	switch {
	case IsPatch(content.MediaType) && !c.ownForm(content, a.Body):
		c.patch(f, out.op, a.Body)
		return nil
	case spec.IsMultipart(content.MediaType):
		return c.parts(f, out, key)
	case spec.IsJSON(content.MediaType) || spec.IsForm(content.MediaType):
		if spec.IsForm(content.MediaType) && a.Body.Kind() != value.Object {
			f.must("/body", "the body", "be an object, by field name", argcheck.Found(a.Body))
			return nil
		}
		if spec.IsForm(content.MediaType) {
			a.Body = c.form(content.Schema, a.Body)
			out.body = a.Body
		}
		if spec.IsJSON(content.MediaType) {
			a.Body = c.exact(content.Schema, a.Body, 0)
			out.body = a.Body
		}
		c.names(f, []spec.Raw{content.Schema}, a.Body, "/body", 0)
		f.example = content.Example
		return c.against(f, key, content.Schema, a.Body, "/body")
	case IsLines(content.MediaType) && a.Body.Kind() == value.Array:
		return c.lines(f, content, key, a.Body)
	case IsText(content.MediaType) && c.declaresStructure(content, a.Body):
		c.names(f, []spec.Raw{content.Schema}, a.Body, "/body", 0)
		f.example = content.Example
		return c.against(f, key, content.Schema, a.Body, "/body")
	case a.Body.Kind() == value.String && c.evades(out.op, content, a.Body):
		f.must("/body", "the body", "be an object, by field name, because a text can't be checked", "")
	case IsText(content.MediaType) || c.textual(content):
		out.text = true
		if a.Body.Kind() != value.String {
			f.must("/body", "the body", "be a text", argcheck.Found(a.Body))
		}
	default:
		if _, err := base64.StdEncoding.DecodeString(a.Body.Text()); err != nil || a.Body.Kind() != value.String {
			f.must("/body", "the body", "be bytes in base64", "")
		}
		out.text = InBase64(c.v.Schema(content.Schema))
	}
	return nil
}

// form converts the fields of a form as suit does, because all of them are strings in the request.
func (c *Checker) form(r spec.Raw, body value.Value) value.Value {
	fields := c.v.Object(c.v.Schema(r)).Fields
	members := slices.Clone(body.Members())
	for i, m := range members {
		if at := slices.IndexFunc(fields, func(f spec.FieldFilter) bool { return f.Name == m.Name }); at >= 0 {
			members[i].Value = c.suit(fields[at].Schema, m.Value)
		}
	}
	return value.OfObject(members)
}

// exact converts strings of whole numbers to numbers where a JSON body declares 64-bit numbers. Clients that store
// numbers as floats can pass exact numbers only as strings.
func (c *Checker) exact(r spec.Raw, v value.Value, depth int) value.Value {
	if r == nil || depth > maxNames {
		return v
	}
	switch v.Kind() {
	case value.String:
		s := c.v.Schema(r)
		text := v.Text()
		large := s.Format == "int64" || s.Format == "uint64" || len(text) >= 16
		if !large || len(s.Types) == 0 || s.Is("string") || !s.Is("integer") || !wholeNumber.MatchString(text) {
			return v
		}
		if n, err := value.Read([]byte(text), 1); err == nil && n.IsNumber() {
			return n
		}
	case value.Array:
		s := c.v.Schema(r)
		list := make([]value.Value, len(v.List()))
		for i, e := range v.List() {
			list[i] = c.exact(s.Items, e, depth+1)
		}
		return value.OfArray(list)
	case value.Object:
		return c.exactFields(c.v.Object(c.v.Schema(r)), v, depth)
	}
	return v
}

// wholeNumber matches a whole number as JSON writes it.
var wholeNumber = regexp.MustCompile(`^-?(?:0|[1-9][0-9]{0,19})$`)

// exactFields does the work of exact for an object.
func (c *Checker) exactFields(o spec.ObjectFilter, v value.Value, depth int) value.Value {
	fields := map[string]spec.Raw{}
	for _, choice := range o.Choices {
		for _, f := range c.v.Object(c.v.Schema(choice)).Fields {
			fields[f.Name] = f.Schema
		}
	}
	for _, f := range o.Fields {
		fields[f.Name] = f.Schema
	}
	members := slices.Clone(v.Members())
	for i, m := range members {
		in, ok := fields[m.Name]
		if !ok {
			in = o.Further
		}
		members[i].Value = c.exact(in, m.Value, depth+1)
	}
	return value.OfObject(members)
}

// evades reports whether a body of text or bytes may set hidden fields. Names in such a body can't be checked. An API
// that ignores the media type may parse a text that resembles JSON, even loosely, as another content of the
// operation.
func (c *Checker) evades(op *spec.Operation, content *spec.Content, v value.Value) bool {
	if c.v.Hides(content.Schema) {
		return true
	}
	text := v.Text()
	if !IsText(content.MediaType) {
		if data, err := base64.StdEncoding.DecodeString(text); err == nil {
			text = string(data)
		}
	}
	text = strings.TrimLeft(text, "\ufeff \t\r\n")
	return slices.ContainsFunc([]string{"{", "[", "//", "/*"}, func(begin string) bool { return strings.HasPrefix(text, begin) }) &&
		slices.ContainsFunc(op.Body.Contents, func(other spec.Content) bool { return c.v.Hides(other.Schema) })
}

// declaresStructure reports whether v is a list or an object, and the schema of content declares that type. Some
// documents declare JSON as text/plain, and JSON is also valid YAML. It returns false for XML.
func (c *Checker) declaresStructure(content *spec.Content, v value.Value) bool {
	if strings.Contains(strings.ToLower(content.MediaType), "xml") {
		return false
	}
	s := c.v.Schema(content.Schema)
	return len(s.Types) > 0 && (v.Kind() == value.Object && s.Is("object") || v.Kind() == value.Array && s.Is("array"))
}

// parts checks a multipart form field by field. A file is an object with name and content.
func (c *Checker) parts(f *faults, out *Checked, key string) error {
	// The form is one file without a field name.
	if looksLikeFile(out.body) && len(c.v.Object(c.v.Schema(out.content.Schema)).Fields) == 0 {
		out.body = value.OfObject([]value.Member{{Name: "file", Value: out.body}})
	}
	if out.body.Kind() != value.Object {
		f.must("/body", "the body", "be an object, by field name", argcheck.Found(out.body))
		return nil
	}
	o := c.v.Object(c.v.Schema(out.content.Schema))
	var names []string
	for _, field := range o.Fields {
		names = append(names, field.Name)
		at := "/body/" + escape(field.Name)
		v, ok := out.body.Get(field.Name)
		switch {
		case !ok && field.Required && !c.v.Schema(field.Schema).ReadOnly:
			f.add(argcheck.Missing("/body", "field", field.Name))
		case !ok:
		case c.isFile(field.Schema, out.content.Encoding[field.Name].ContentType):
			out.files = append(out.files, field.Name)
			if InBase64(c.v.Schema(field.Schema)) {
				out.encoded = append(out.encoded, field.Name)
			}
			f.file(v, at)
		case c.isFiles(field.Schema, out.content.Encoding[field.Name].ContentType) && v.Kind() == value.Array:
			out.files = append(out.files, field.Name)
			if InBase64(c.v.Schema(c.v.Schema(field.Schema).Items)) {
				out.encoded = append(out.encoded, field.Name)
			}
			for i, e := range v.List() {
				f.file(e, fmt.Sprintf("%s/%d", at, i))
			}
		default:
			c.names(f, []spec.Raw{field.Schema}, v, at, 1)
			f.example = out.content.Example.Get(field.Name)
			if err := c.against(f, key+" "+field.Name, field.Schema, v, at); err != nil {
				return err
			}
		}
	}
	open := (o.Open || c.o.OpenBodies) && !c.v.Closes(out.content.Schema)
	for _, m := range out.body.Members() {
		switch {
		case contains(names, m.Name):
		case open && c.v.AllowsExtraField(m.Name) && looksLikeFile(m.Value):
			out.files = append(out.files, m.Name)
			f.file(m.Value, "/body/"+escape(m.Name))
		case open && c.v.AllowsExtraField(m.Name):
			c.names(f, nil, m.Value, "/body/"+escape(m.Name), 1)
		default:
			f.add(argcheck.UnknownName("/body", "field", m.Name, names))
		}
	}
	return nil
}
