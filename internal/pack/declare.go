package pack

import (
	"regexp"
	"strconv"

	"github.com/bailiwick-dev/bailiwick/internal/expression"
	"github.com/bailiwick-dev/bailiwick/internal/openapi/spec"
	"github.com/bailiwick-dev/bailiwick/internal/writes"
	"github.com/bailiwick-dev/bailiwick/internal/yamlconf"
	"github.com/bailiwick-dev/bailiwick/value"
)

// Annotations describe the effects of a tool. A tool with an operation of the class destructive must set Destructive.
type Annotations struct {
	ReadOnly    bool
	Destructive bool
	Idempotent  bool
	OpenWorld   bool
}

// A declaration is a tool as its file declares it. Templates are the same as in actions: {$cel: …} is replaced with
// the value of an expression over input, now, principal and the reads.
type declaration struct {
	name        string
	title       string
	description string
	input       value.Value
	annotations Annotations
	reads       []read
	merge       []merge
	link        *link
	require     []expression.Requirement
	cases       []branch
	plain       branch // if there are no cases
	summary     value.Value
	against     writes.Declaration // check_against: the class against which arguments are checked
}

// A call is an operation with templates for its arguments.
type call struct {
	operation            string
	path, query, headers value.Value
	body                 value.Value
	hasBody              bool
	fields               []string // the parts of the response to read, or nil for all
}

// A read is a call made before the tool's own call. Expressions use its response by name.
type read struct {
	name string
	when string
	call
}

// A merge sets some values in a list of named entries or in an object. The result is the complete value that a
// replacing PUT requires.
type merge struct {
	name      string
	into, set value.Value
	key, of   string // for entries of a list: the member that names an entry, and the member to set. "" for an object
}

// A link is an address on the API's site.
type link struct {
	path string
	with value.Value
}

// A branch is the part of a tool that runs if when is true.
type branch struct {
	when string
	call
	result    value.Value
	hasResult bool
	statuses  []status
}

// A status is a tool's result for an error status of the API.
type status struct {
	code   int
	result value.Value
}

// toolName matches names that MCP and its clients accept.
var toolName = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_.-]{0,62}$`)

// shape returns the shape of a pack file.
func (f *file) shape() yamlconf.Shape {
	return yamlconf.Object([]yamlconf.Key{
		{Name: "access", Doc: "What operations can do, where their methods don't tell", Shape: yamlconf.Items("rules", func(int) (yamlconf.Shape, func()) {
			var r spec.ClassRule
			return yamlconf.Object([]yamlconf.Key{
				{Name: "operations", Doc: "Operation ids, or method and path. * stands for any text", Must: true, Shape: yamlconf.List(&r.Operations, "operations", nil)},
				{Name: "class", Doc: "read, write or destructive", Must: true, Shape: yamlconf.Choose([]string{"read", "write", "destructive"}, func(s string) { r.Class, _ = spec.ParseClass(s) })},
			}, nil), func() { f.access = append(f.access, r) }
		})},
		{Name: "partial", Doc: "PUTs that leave what they are not given as it is: reviewers see what changes, and nothing as going that stays", Shape: yamlconf.List(&f.partial, "operations", nil)},
		{Name: "read_back", Doc: "How to find out whether a call that makes something was carried out when no answer came", Shape: ReadReadBack(&f.readBack)},
		{Name: "tools", Doc: "The tools", Must: true, Shape: yamlconf.Items("tools", func(int) (yamlconf.Shape, func()) {
			d := &declaration{}
			return yamlconf.Object(d.keys(), nil), func() { f.tools = append(f.tools, *d) }
		})},
	}, nil)
}

// Schema returns the JSON Schema of a pack file, for editors.
func Schema() []byte {
	return (&file{}).shape().JSONSchema("Tools of a pack for Bailiwick", "Tools over single operations of an HTTP API")
}

// keys returns the keys of a tool's file. Annotations are required, because a tool without them counts as destructive.
func (d *declaration) keys() []yamlconf.Key {
	keys := []yamlconf.Key{
		{Name: "name", Doc: "Letters, digits, _, - and dots: platform.list-teams", Must: true, Shape: yamlconf.Text("a name", func(s string) string {
			if d.name = s; !toolName.MatchString(s) {
				return "a tool is named with letters, digits, _, - and dots, a letter first, at most 63"
			}
			return ""
		})},
		{Name: "title", Doc: "For people", Shape: yamlconf.Words(&d.title)},
		{Name: "description", Doc: "For agents: what it does, when to use it, and what to call first", Must: true, Shape: yamlconf.Words(&d.description)},
		{Name: "input", Doc: "The arguments: a JSON Schema of an object", Shape: yamlconf.Data(&d.input)},
		{Name: "annotations", Doc: "What it does. Without any it counts as destructive", Must: true, Shape: yamlconf.Object([]yamlconf.Key{
			{Name: "readOnly", Doc: "true: it changes nothing", Shape: yamlconf.Flag(&d.annotations.ReadOnly)},
			{Name: "destructive", Doc: "true: it may destroy", Shape: yamlconf.Flag(&d.annotations.Destructive)},
			{Name: "idempotent", Doc: "true: twice is as once", Shape: yamlconf.Flag(&d.annotations.Idempotent)},
			{Name: "openWorld", Doc: "true: it reaches beyond the API", Shape: yamlconf.Flag(&d.annotations.OpenWorld)},
		}, nil)},
		{Name: "reads", Doc: "Operations that are read before, in order, by the name that expressions use", Shape: yamlconf.Each(yamlconf.Table{Names: "read", Of: func(name string) (yamlconf.Shape, func()) {
			r := &read{name: name}
			return yamlconf.Object(append(r.keys(true), yamlconf.Key{Name: "when", Doc: "An expression: without it, or where it is true, it is read. Else it is null", Shape: yamlconf.Words(&r.when)}), nil),
				func() { d.reads = append(d.reads, *r) }
		}})},
		{Name: "merge", Doc: "Lists of named entries, and objects, with some of them set, by the name that expressions use", Shape: yamlconf.Each(yamlconf.Table{Names: "merge", Of: d.merges})},
		{Name: "link", Doc: "A place of the API's site. Expressions use it as link", Shape: d.linkShape()},
		{Name: "require", Doc: "What must be true of a call", Shape: ReadRequirements(&d.require, "An expression over input, now, principal and what was read. What fails is false. One over input alone is looked at before anything is read")},
		{Name: "cases", Doc: "What it does: the first whose when is true", Shape: yamlconf.Items("cases", func(int) (yamlconf.Shape, func()) {
			b := &branch{}
			return yamlconf.Object(append(b.branchKeys(), yamlconf.Key{Name: "when", Doc: "An expression. The last case can do without", Shape: yamlconf.Words(&b.when)}), nil),
				func() { d.cases = append(d.cases, *b) }
		})},
		{Name: "summary", Doc: "The line that reviewers of a write read first: a text, or {$cel: …}", Shape: yamlconf.Any(&d.summary)},
		{Name: "check_against", Doc: "Of what writes: the class that describes what the arguments are for, such as one of a metadata cache: a name, or the class with fields and record. Arguments that break its types, required fields, picklists and lengths are refused",
			Shape: ReadAgainst(&d.against)},
	}
	return append(keys, d.plain.branchKeys()...)
}

// keys returns the keys of a call. must reports whether the operation is required.
func (c *call) keys(must bool) []yamlconf.Key {
	given := yamlconf.Any(&c.body)
	return []yamlconf.Key{
		{Name: "operation", Doc: "Its id, or method and path: GET /teams/{teamId}", Must: must, Shape: yamlconf.Words(&c.operation)},
		{Name: "path", Doc: "The parameters of the path, by name: {teamId: {$cel: input.teamId}}", Shape: yamlconf.Data(&c.path)},
		{Name: "query", Doc: "The parameters of the query", Shape: yamlconf.Data(&c.query)},
		{Name: "headers", Doc: "The header parameters", Shape: yamlconf.Data(&c.headers)},
		{Name: "body", Doc: "The body. What asks for an argument that isn't given is left out", Shape: yamlconf.Shape{Schema: given.Schema, Read: func(r *yamlconf.Reader, n yamlconf.Node, at string) {
			c.hasBody = true
			given.Read(r, n, at)
		}}},
		{Name: "fields", Doc: "The parts of the answer that are read: name, meta.state", Shape: yamlconf.List(&c.fields, "fields", nil)},
	}
}

// branchKeys returns the keys of a case. A tool without cases has these keys itself. hasResult is also set for a null
// result.
func (b *branch) branchKeys() []yamlconf.Key {
	result := yamlconf.Any(&b.result)
	return append(b.call.keys(false),
		yamlconf.Key{Name: "result", Doc: "What the tool answers: $ is the API's answer, $.teams a part of it, {$cel: …} over answer and all else. Without it: the answer", Shape: yamlconf.Shape{Schema: result.Schema,
			Read: func(r *yamlconf.Reader, n yamlconf.Node, at string) {
				b.hasResult = true
				result.Read(r, n, at)
			}}},
		yamlconf.Key{Name: "statuses", Doc: "What a tool that reads answers where the API answers with an error, by status. $ has its status, code and message", Shape: yamlconf.Each(yamlconf.Table{Names: "status", Check: statusCode, Of: func(name string) (yamlconf.Shape, func()) {
			s := &status{}
			s.code, _ = strconv.Atoi(name) // checked by statusCode
			return yamlconf.Any(&s.result), func() { b.statuses = append(b.statuses, *s) }
		}})})
}

func statusCode(r *yamlconf.Reader, e yamlconf.Entry) bool {
	if n, err := strconv.Atoi(e.Name); err == nil && n >= 400 && n < 600 {
		return true
	}
	r.Wrong(e.Key, e.At, "must be a status of an error: 400 to 599")
	return false
}

// merges returns the shape of one merge. A merge into a list of entries has key and value, and a merge into an object
// has neither.
func (d *declaration) merges(name string) (yamlconf.Shape, func()) {
	m := &merge{name: name}
	return yamlconf.Object([]yamlconf.Key{
		{Name: "into", Doc: "The list, or the object, as it is: {$cel: instance.settings.env}", Must: true, Shape: yamlconf.Any(&m.into)},
		{Name: "set", Doc: "What to set in it, as an object of values by name: {$cel: input.env}", Must: true, Shape: yamlconf.Any(&m.set)},
		{Name: "key", Doc: "Of a list: the member of an entry that names it", Shape: yamlconf.Words(&m.key)},
		{Name: "value", Doc: "Of a list: the member of an entry that is set", Shape: yamlconf.Words(&m.of)},
	}, func(r *yamlconf.Reader, n yamlconf.Node, at string) {
		if (m.key == "") != (m.of == "") {
			r.Wrong(n.Start(), at, "a list of entries needs key and value. An object has neither")
		}
	}), func() { d.merge = append(d.merge, *m) }
}

// linkShape returns the shape of the key link. Without the key, d.link stays nil.
func (d *declaration) linkShape() yamlconf.Shape {
	l := &link{}
	s := yamlconf.Object([]yamlconf.Key{
		{Name: "path", Doc: "Behind the address of the API: /instance/{id}/editor", Must: true, Shape: yamlconf.Text("a path", func(s string) string {
			if l.path = s; s[0] != '/' {
				return "a path begins with /"
			}
			return ""
		})},
		{Name: "with", Doc: "The value of each name in braces, one segment each", Shape: yamlconf.Data(&l.with)},
	}, nil)
	return yamlconf.Shape{Schema: s.Schema, Read: func(r *yamlconf.Reader, n yamlconf.Node, at string) {
		d.link = l
		s.Read(r, n, at)
	}}
}
