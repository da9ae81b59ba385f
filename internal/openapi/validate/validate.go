// Package validate checks the arguments of an HTTP API call before anything is sent.
//
//	arguments, operation of a spec.View ─check→ Checked ─calls.BuildRequest→ calls.HTTPRequest
//
// Checked is the only input of BuildRequest in package calls. Arguments are checked against the visible part of the
// operation. An undeclared or hidden name is unknown. The fault suggests near names among the visible ones. Each
// fault has a JSON pointer. Numbers are compared exactly. Schemas are compiled and cached when an operation is first
// called.
//
// A value in a path, query or header is text in the request. So a string is accepted there for a number, and a number
// for a string. Patterns and keywords that can't be checked here are left to the server.
package validate

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/bailiwick-dev/bailiwick/internal/argcheck"
	"github.com/bailiwick-dev/bailiwick/internal/openapi/spec"
	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/value"
	"github.com/santhosh-tekuri/jsonschema/v6"
)

// Arguments are an agent's arguments for a call. Path, Query, Headers and Cookies are objects by parameter name. Null
// means no parameters.
type Arguments struct {
	Path    value.Value
	Query   value.Value
	Headers value.Value
	Cookies value.Value
	Body    value.Value // a file in a form is {name, content, type} with content in base64. A binary body is base64
	HasBody bool        // whether Body is given. It may be null
	Media   string      // the media type of the body, as the operation declares it, or "" for the preferred one

	// Later lists the JSON pointers of placeholders for values that are not known yet. Any value is accepted there,
	// so arguments checked with Later are not sent.
	Later []string
	Texts []string // those pointers in Later whose values will be strings in a body
}

// Options configure the validation for one API.
type Options struct {
	OpenBodies  bool // accept undeclared fields in bodies, for incomplete documents
	OpenFormats bool // let the server check string formats, and number ranges by format
}

// A Checker checks calls of the operations in one View. It is safe for concurrent use.
type Checker struct {
	v *spec.View
	o Options

	mu       sync.Mutex // the compiler is not safe for concurrent use
	t        *translator
	compiler *jsonschema.Compiler
	compiled map[string]*jsonschema.Schema
}

// New returns a Checker for the operations in v.
func New(v *spec.View, o Options) *Checker {
	c := &Checker{v: v, o: o, t: &translator{v: v, urls: map[string]int{}, open: o.OpenBodies, free: o.OpenFormats}, compiler: jsonschema.NewCompiler(), compiled: map[string]*jsonschema.Schema{}}
	c.compiler.UseLoader(c.t)
	c.compiler.DefaultDraft(jsonschema.Draft2020)
	register(c.compiler)
	c.compiler.UseRegexpEngine(func(pattern string) (jsonschema.Regexp, error) {
		if r, err := regexp.Compile(pattern); err == nil {
			return r, nil
		}
		return unknownPattern(pattern), nil
	})
	return c
}

// unknownPattern is a pattern in another regular expression dialect. It matches every string, and the server checks
// the value.
type unknownPattern string

func (p unknownPattern) String() string          { return string(p) }
func (p unknownPattern) MatchString(string) bool { return true }

// Checked are valid arguments for an operation. Only Check returns them. The zero Checked has no operation.
type Checked struct {
	op      *spec.Operation
	values  []Value
	body    value.Value
	content *spec.Content
	files   []string // the names of the fields of a multipart form that are files
	encoded []string // the names of the files that are sent as base64
	text    bool     // the body is sent as text, unencoded
}

// A Value is a parameter with its value.
type Value struct {
	Parameter spec.Parameter
	Value     value.Value
}

// Operation returns the operation, or nil for the zero Checked.
func (c Checked) Operation() *spec.Operation { return c.op }

// Values returns the parameters that are set, in the order of the operation.
func (c Checked) Values() []Value { return c.values }

// Body returns the body and its content. The content is nil if there is no body.
func (c Checked) Body() (value.Value, *spec.Content) { return c.body, c.content }

// Text reports whether the body is sent as text, unencoded.
func (c Checked) Text() bool { return c.text }

// File reports whether a field of a multipart form is a file or a list of files.
func (c Checked) File(name string) bool { return slices.Contains(c.files, name) }

// IsBase64 reports whether the file in the field name is sent as base64.
func (c Checked) IsBase64(name string) bool { return slices.Contains(c.encoded, name) }

// Check checks a against the visible part of op. It returns problem.InvalidArgument with one Fault for each error, up
// to a maximum. Their pointers refer to {path, query, headers, body}. It returns problem.NotFound if op is not in the
// View, and ctx's error if ctx ends.
func (c *Checker) Check(ctx context.Context, op *spec.Operation, a Arguments) (Checked, error) {
	if op == nil || !c.v.Has(op) {
		return Checked{}, &problem.Error{Code: problem.NotFound, Detail: "unknown operation"}
	}
	f := &faults{name: c.name, later: a.Later, texts: a.Texts, ended: ctx.Err}
	out := Checked{op: op}
	for _, place := range []struct {
		in, name string
		given    value.Value
	}{{"path", "path", a.Path}, {"query", "query", a.Query}, {"header", "headers", a.Headers}, {"cookie", "cookies", a.Cookies}} {
		values, err := c.parameters(f, op, place.in, "/"+place.name, place.given)
		if err != nil {
			return Checked{}, err
		}
		out.values = append(out.values, values...)
	}
	if err := c.body(f, &out, a); err != nil {
		return Checked{}, err
	}
	if err := f.err(); err != nil {
		return Checked{}, err
	}
	return out, nil
}

// only returns the single allowed value of a parameter.
func only(fixed spec.Raw) (value.Value, bool) {
	v, err := value.Read(fixed, 0)
	return v, err == nil
}

// parameters checks the parameters in one location (path, query or header), which are given as an object. It returns
// their values in the document's order. A parameter with one possible value may be omitted. Unknown names are faults.
// The fault contains the location in which the name would be a parameter. Headers that only the gateway sets are also
// faults.
func (c *Checker) parameters(f *faults, op *spec.Operation, in, at string, given value.Value) ([]Value, error) {
	if k := given.Kind(); k != value.Null && k != value.Object {
		f.must(at, strings.TrimPrefix(at, "/"), "be an object, by parameter name", argcheck.Found(given))
		return nil, nil
	}
	var names []string
	var out []Value
	for _, p := range c.v.Parameters(op) {
		if p.In != in {
			continue
		}
		names = append(names, p.Name)
		v, ok := member(given, p.Name, in == "header")
		if fixed := c.v.FixedValue(p); !ok && fixed != nil {
			v, ok = only(fixed)
		}
		if !ok {
			if p.Required {
				f.add(argcheck.Missing(at, in+" parameter", p.Name))
			}
			continue
		}
		if p.MediaType == "" {
			v = c.suit(p.Schema, v)
		}
		out = append(out, Value{p, v})
		key := fmt.Sprintf("%s %s %s", op.ID, in, p.Name)
		f.example = p.Example
		if err := c.against(f, key, p.Schema, v, at+"/"+escape(p.Name)); err != nil {
			return nil, err
		}
		if p.Style == "deepObject" || p.MediaType != "" || v.Kind() == value.Object {
			c.names(f, []spec.Raw{p.Schema}, v, at+"/"+escape(p.Name), 0)
		}
	}
	for _, m := range given.Members() {
		if in == "header" && spec.RefusedHeader(m.Name) {
			f.wrong(at+"/"+escape(m.Name), "forbidden", "the header %q is the gateway's to set", problem.Cut(m.Name))
			continue
		}
		if slices.ContainsFunc(names, func(n string) bool { return n == m.Name || in == "header" && strings.EqualFold(n, m.Name) }) {
			continue
		}
		f.add(argcheck.UnknownName(at, in+" parameter", m.Name, names))
		if other := c.elsewhere(op, in, m.Name); other != "" {
			f.hint(other)
		}
	}
	return out, nil
}

// elsewhere returns a hint if a parameter was given in the wrong location, or "".
func (c *Checker) elsewhere(op *spec.Operation, in, name string) string {
	for _, p := range c.v.Parameters(op) {
		if p.Name == name && p.In != in {
			return fmt.Sprintf("; it is a %s parameter", p.In)
		}
	}
	if op.Body != nil {
		for _, field := range c.v.Object(c.v.Schema(op.Body.PreferredContent().Schema)).Fields {
			if field.Name == name {
				return "; it is a field of the body"
			}
		}
	}
	return ""
}

func member(of value.Value, name string, fold bool) (value.Value, bool) {
	for _, m := range of.Members() {
		if m.Name == name || fold && strings.EqualFold(m.Name, name) {
			return m.Value, true
		}
	}
	return value.Value{}, false
}

// suit converts a string to a number or boolean, or the reverse, if the schema requires it. It also converts the
// elements of lists. A single value for a list becomes a list of one element, because both are the same in the
// request.
func (c *Checker) suit(r spec.Raw, v value.Value) value.Value {
	s := c.v.Schema(r)
	if len(s.Types) == 0 {
		return v
	}
	switch {
	case v.Kind() == value.Array && s.Items != nil:
		list := make([]value.Value, len(v.List()))
		for i, e := range v.List() {
			list[i] = c.suit(s.Items, e)
		}
		return value.OfArray(list)
	case s.Is("array") && len(s.Types) == 1 && s.Items != nil && (v.Kind() == value.String || v.IsNumber() || v.Kind() == value.Bool):
		return value.OfArray([]value.Value{c.suit(s.Items, v)})
	case v.Kind() == value.String && !s.Is("string"):
		text := v.Text()
		read, err := value.Read([]byte(text), 1)
		if err != nil {
			return v
		}
		if read.IsNumber() && (s.Is("integer") || s.Is("number")) || read.Kind() == value.Bool && s.Is("boolean") {
			return read
		}
	case (v.IsNumber() || v.Kind() == value.Bool) && s.Is("string") && !s.Is("integer") && !s.Is("number") && !s.Is("boolean"):
		return value.OfString(v.String())
	}
	return v
}

// against validates v against the schema r. The schema is compiled once for each key. f.example must be an example of
// v.
func (c *Checker) against(f *faults, key string, r spec.Raw, v value.Value, at string) error {
	if r == nil {
		return nil
	}
	instance, ok := argcheck.Decode(v)
	if !ok {
		f.wrong(at, "number", argcheck.TooLarge)
		return nil
	}
	schema, err := c.compile(key, r)
	if err != nil {
		return &problem.Error{Code: problem.Internal, Detail: "Internal error", Kind: "schema", Err: fmt.Errorf("compile the schema of %s: %w", key, err)}
	}
	if err := f.checkSteps(schema, instance, at); err != nil {
		return err
	}
	f.schema(schema.Validate(instance), v, at)
	return nil
}

// name returns the name of the schema at a URL from the translator.
func (c *Checker) name(url string) string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.t.name(url)
}

// compile returns the compiled form of schema r. It compiles once for each key.
func (c *Checker) compile(key string, r spec.Raw) (*jsonschema.Schema, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if s, ok := c.compiled[key]; ok {
		return s, nil
	}
	s, err := c.compiler.Compile(c.t.refer("at "+key, place{raw: r}))
	if err == nil {
		c.compiled[key] = s
	}
	return s, err
}
