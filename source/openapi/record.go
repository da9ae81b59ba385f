package openapi

import (
	"slices"
	"strings"

	"github.com/bailiwick-dev/bailiwick/internal/openapi/calls"
	"github.com/bailiwick-dev/bailiwick/internal/openapi/spec"
	"github.com/bailiwick-dev/bailiwick/value"
)

// A finder finds the record that a call changes in the answer of a read. Many APIs answer {"data": {…}} but accept
// the bare object, or the other way round. A direct comparison of the two would find no value for any field.
type finder struct {
	call  *calls.Plan
	reads *spec.Operation
	id    string   // the value of the path's last parameter, or ""
	by    string   // the name of that parameter, from plainName
	words []string // the possible names of envelopes of this record, in lower case
}

// A match is a possible position of the record in an answer, and the corresponding part of a body.
type match struct {
	at, in   []string // the paths to the record in the answer and to the part in the body. "0" is the only entry of a list
	identity bool     // whether the record has the id in the path
	given    int      // the number of fields of the part that the record has or declares
	shared   int      // the number of fields that both the part and the record have or declare
	own      int      // the number of shared fields whose names are not typical of envelopes
	loose    bool     // whether the object around it has other fields than an envelope
	around   bool     // whether the record contains an envelope that may contain the actual record
	echoed   bool     // whether such an envelope contains a field of the body
}

// doubtful reports whether m may be another part of the answer than the record. The id in the path removes the doubt,
// and so do fields that only a record has.
func (m match) doubtful() bool {
	return !m.identity && (m.loose || m.around && m.own == 0 || m.echoed && m.own < 2)
}

// better reports whether m has better evidence than o.
func (m match) better(o match) bool {
	switch {
	case m.identity != o.identity:
		return m.identity
	case (m.given > 0) != (o.given > 0):
		return m.given > 0
	case m.shared != o.shared:
		return m.shared > o.shared
	}
	return m.given > o.given
}

// wrappers are the usual names of envelopes of one record, in lower case and without separators between words.
var wrappers = []string{"data", "result", "results", "response", "payload", "item", "items", "record", "records", "entity", "resource", "object",
	"attributes", "content", "body", "value", "output", "document", "model", "d", "entry", "node", "return", "embedded"}

// maxWrapped is the maximum depth of nested envelopes.
const maxWrapped = 3

// newFinder returns the finder for the record that call changes, in the answer of the operation reads.
func newFinder(call *calls.Plan, reads *spec.Operation) *finder {
	f := &finder{call: call, reads: reads, words: slices.Clone(wrappers)}
	for segment := range strings.SplitSeq(call.Operation.Path, "/") {
		if name, ok := strings.CutPrefix(segment, "{"); ok {
			v, _ := call.Arguments.Path.Get(strings.TrimSuffix(name, "}"))
			f.id, f.by = v.String(), plainName(strings.TrimSuffix(name, "}"))
		} else if segment != "" {
			f.words = append(f.words, singulars(plainName(segment))...)
		}
	}
	for _, raw := range []spec.Raw{f.takes(), f.gives()} {
		if s := call.Whole.Schema(raw); s.Name != "" {
			f.words = append(f.words, singulars(plainName(spec.ShortName(s.Name)))...)
		}
	}
	return f
}

// singulars returns a name and its possible singular forms.
func singulars(name string) []string {
	out := []string{name}
	for _, e := range []struct{ plural, one string }{{"ies", "y"}, {"ses", "s"}, {"xes", "x"}, {"s", ""}} {
		if stem, ok := strings.CutSuffix(name, e.plural); ok && stem != "" {
			out = append(out, stem+e.one)
		}
	}
	return out
}

// plainName returns a name in lower case, without separators.
func plainName(name string) string {
	return strings.Map(func(r rune) rune {
		if r == '_' || r == '-' || r == '.' || r == ' ' || r == '$' || r == '@' {
			return -1
		}
		return r
	}, strings.ToLower(name))
}

// takes returns the schema of the call's body, or nil.
func (f *finder) takes() spec.Raw {
	if f.call.Operation.Body == nil {
		return nil
	}
	media := f.call.Request.Header.Get("Content-Type")
	for i := range f.call.Operation.Body.Contents {
		if c := &f.call.Operation.Body.Contents[i]; strings.EqualFold(c.MediaType, media) {
			return c.Schema
		}
	}
	if c := f.call.Operation.Body.PreferredContent(); c != nil {
		return c.Schema
	}
	return nil
}

// gives returns the schema of the read's answer, or nil.
func (f *finder) gives() spec.Raw {
	if ok := f.reads.Success(); ok != nil {
		if c := ok.PreferredContent(); c != nil {
			return c.Schema
		}
	}
	return nil
}

// declaredFields returns the fields that a schema declares, including the fields of its alternatives, by name. closed
// reports whether an object has no other fields, as far as the document describes it.
func (f *finder) declaredFields(raw spec.Raw) (names map[string]spec.Raw, closed bool) {
	names = map[string]spec.Raw{}
	if raw == nil {
		return names, false
	}
	o := f.call.Whole.Object(f.call.Whole.Schema(raw))
	for _, field := range o.Fields {
		names[field.Name] = field.Schema
	}
	closed = len(o.Fields) > 0 && !o.Open
	for _, choice := range o.Choices {
		for _, field := range f.call.Whole.Object(f.call.Whole.Schema(choice)).Fields {
			if _, ok := names[field.Name]; !ok {
				names[field.Name] = field.Schema
			}
		}
	}
	return names, closed
}

// below returns the schema of the member called name in a value described by raw. It returns nil if the document
// doesn't describe it.
func (f *finder) below(raw spec.Raw, name string) spec.Raw {
	if raw == nil {
		return nil
	}
	if s := f.call.Whole.Schema(raw); name == "0" && s.Items != nil {
		return s.Items
	}
	names, _ := f.declaredFields(raw)
	return names[name]
}

// find returns the best match of body in answer. It returns false if there is no match, or if several are equally
// good.
func (f *finder) find(answer, body value.Value) (match, bool) {
	var best match
	var equal []match
	parts := f.parts(body, f.takes(), nil, 0)
	f.records(answer, f.gives(), match{}, func(r record) {
		for _, p := range parts {
			m, ok := f.compare(r, p)
			switch {
			case !ok:
			case equal == nil || m.better(best):
				best, equal = m, []match{m}
			case !best.better(m):
				equal = append(equal, m)
			}
		}
	})
	if best.doubtful() {
		return match{}, false
	}
	for _, m := range equal[min(1, len(equal)):] {
		if !same(m, best) {
			return match{}, false
		}
	}
	return best, equal != nil
}

// same reports whether two matches pair the same parts. This is the case if one match is inside the other, both in
// the answer and in the body.
func same(a, b match) bool {
	if len(a.at) > len(b.at) {
		a, b = b, a
	}
	return len(b.at)-len(a.at) == len(b.in)-len(a.in) && len(b.in) >= len(a.in) && slices.Equal(b.at[:len(a.at)], a.at) && slices.Equal(b.in[:len(a.in)], a.in) &&
		slices.Equal(b.at[len(a.at):], b.in[len(a.in):])
}

// A part is an object in a body that may be the record without envelopes.
type part struct {
	in       []string
	given    value.Value
	declared map[string]spec.Raw
}

// parts returns the body, and the contents of its envelopes.
func (f *finder) parts(body value.Value, raw spec.Raw, in []string, depth int) []part {
	if body.Kind() != value.Object && !body.IsNull() {
		return nil
	}
	declared, _ := f.declaredFields(raw)
	out := []part{{in, body, declared}}
	for _, m := range body.Members() {
		if depth < maxWrapped && m.Value.Kind() == value.Object && f.wraps(body, m.Name) {
			out = append(out, f.parts(m.Value, f.below(raw, m.Name), append(slices.Clone(in), m.Name), depth+1)...)
		}
	}
	return out
}

// wraps reports whether the member called name may contain the content of an envelope. This is the case if the name
// is typical. It is also the case if outer has no id, and only this member could be the content.
func (f *finder) wraps(outer value.Value, name string) bool {
	if slices.Contains(f.words, plainName(name)) {
		return true
	}
	structured := 0
	for _, m := range outer.Members() {
		if k := m.Value.Kind(); k == value.Object || k == value.Array && len(m.Value.List()) > 0 {
			structured++
		}
		if slices.Contains([]string{"id", "uuid", "guid", "key", "slug", "name"}, plainName(m.Name)) {
			return false
		}
	}
	return structured == 1
}

// A record is an object in an answer that may be the record.
type record struct {
	match
	has      value.Value
	declared map[string]spec.Raw
}

// records calls found for each object of an answer that may be the record: the answer, and the contents of its
// envelopes. The entry of a list counts only if the list has no other entry.
func (f *finder) records(v value.Value, raw spec.Raw, m match, found func(record)) {
	if v.Kind() == value.Array && len(v.List()) == 1 && (len(m.at) == 0 || m.at[len(m.at)-1] != "0") {
		m.at = append(slices.Clone(m.at), "0")
		f.records(v.List()[0], f.below(raw, "0"), m, found)
		return
	}
	if v.Kind() != value.Object {
		return
	}
	declared, _ := f.declaredFields(raw)
	inherits := m.identity && len(m.at) > 0 && plainName(m.at[len(m.at)-1]) == "attributes"
	m.identity = inherits || f.identifies(v)
	var inner []value.Member
	for _, in := range v.Members() {
		if k := in.Value.Kind(); (k == value.Object || k == value.Array) && f.wraps(v, in.Name) {
			inner = append(inner, in)
		}
	}
	m.around = slices.ContainsFunc(v.Members(), func(m value.Member) bool {
		k := m.Value.Kind()
		return (k == value.Object || k == value.Array) && (slices.Contains(f.words, plainName(m.Name)) || !beside(m))
	})
	found(record{m, v, declared})
	if len(m.at) >= 2*maxWrapped {
		return
	}
	for _, in := range inner {
		next := m
		next.at = append(slices.Clone(m.at), in.Name)
		next.loose = m.loose || !slices.Contains(f.words, plainName(in.Name)) || slices.ContainsFunc(v.Members(), func(m value.Member) bool { return m.Name != in.Name && !beside(m) })
		f.records(in.Value, f.below(raw, in.Name), next, found)
	}
}

// identifies reports whether an object has the id in the path.
func (f *finder) identifies(v value.Value) bool {
	return f.id != "" && slices.ContainsFunc(v.Members(), func(m value.Member) bool {
		name := plainName(m.Name)
		names := strings.HasSuffix(name, "id") || strings.HasSuffix(f.by, name) || slices.Contains([]string{"key", "slug", "name", "login", "username", "email", "number", "handle", "sku"}, name)
		return names && !slices.Contains(ofAnswer, name) && m.Value.Kind() != value.Object && m.Value.Kind() != value.Array && !m.Value.IsNull() && m.Value.String() == f.id
	})
}

// common reports whether the name is typical of members of envelopes.
func (f *finder) common(name string) bool {
	return slices.Contains(f.words, plainName(name)) || beside(value.Member{Name: name, Value: value.OfBool(true)})
}

// beside reports whether a member of an envelope describes the answer instead of the record.
func beside(m value.Member) bool {
	name := plainName(m.Name)
	return m.Value.IsNull() || slices.Contains(ofAnswer, name) || slices.Contains([]string{"status", "statuscode", "success", "ok", "code", "message", "msg", "messages", "error", "errors",
		"errorcode", "errormessage", "warnings", "meta", "metadata", "links", "included", "jsonapi", "pagination", "paging", "total", "count", "totalcount", "version",
		"apiversion", "resultinfo", "context", "odata.context", "odatacontext", "type", "resulttype", "kind", "info", "debug", "actions", "action"}, name)
}

// compare returns the match of r and p. It also reports whether there is any evidence that r is the record of p.
func (f *finder) compare(r record, p part) (match, bool) {
	m := r.match
	m.in = p.in
	has := func(name string) bool {
		_, lives := r.has.Get(name)
		_, declares := r.declared[name]
		return lives || declares
	}
	for _, field := range p.given.Members() {
		if has(field.Name) {
			m.given++
		}
		if _, declared := p.declared[field.Name]; has(field.Name) && !declared && !f.common(field.Name) {
			m.own++
		}
	}
	for name := range p.declared {
		if has(name) {
			m.shared++
		}
		if has(name) && !f.common(name) {
			m.own++
		}
	}
	for _, in := range r.has.Members() {
		_, sent := p.given.Get(in.Name)
		m.echoed = m.echoed || !sent && echoes(in.Value, p.given, maxWrapped)
	}
	return m, m.given+m.shared > 0 || m.identity && len(p.in) == 0
}

// echoes reports whether an object in v has a field of given. depth is the maximum depth.
func echoes(v, given value.Value, depth int) bool {
	if depth == 0 {
		return false
	}
	for _, m := range v.Members() {
		if _, has := given.Get(m.Name); has || echoes(m.Value, given, depth-1) {
			return true
		}
	}
	return slices.ContainsFunc(v.List(), func(e value.Value) bool { return echoes(e, given, depth-1) })
}

// reach returns the value at the path names.
func reach(v value.Value, names []string) value.Value {
	for _, name := range names {
		if v.Kind() == value.Array && name == "0" && len(v.List()) > 0 {
			v = v.List()[0]
			continue
		}
		v, _ = v.Get(name)
	}
	return v
}

// nest returns an object with v at the path names. It returns Null for Null.
func nest(names []string, v value.Value) value.Value {
	if v.IsNull() {
		return v
	}
	for _, name := range slices.Backward(names) {
		v = value.OfObject([]value.Member{{Name: name, Value: v}})
	}
	return v
}
