package pack

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/bailiwick-dev/bailiwick/internal/expression"
	"github.com/bailiwick-dev/bailiwick/internal/openapi/spec"
	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/value"
)

// call compiles a call against the document. Its operation, its parameters and the fields of its body must exist.
func (b *builder) call(c call, at []string) calling {
	at = at[:len(at):len(at)]
	if c.operation == "" {
		for key, given := range map[string]bool{"path": !c.path.IsNull(), "query": !c.query.IsNull(), "headers": !c.headers.IsNull(), "body": c.hasBody, "fields": c.fields != nil} {
			if given {
				b.wrong(append(at, key), "belongs to an operation")
			}
		}
		return calling{}
	}
	op := b.document.FindOperation(c.operation)
	if op == nil {
		var known []string
		for _, o := range b.document.Operations {
			known = append(known, o.Name(), o.ID)
		}
		b.wrong(append(at, "operation"), "the document has no operation %q%s", problem.Cut(c.operation), near(c.operation, known))
		return calling{}
	}
	if !slices.Contains(b.Operations, op) {
		b.Operations = append(b.Operations, op)
	}
	out := calling{op: op, fields: c.fields,
		path: b.parameters(c.path, op, "path", append(at, "path")), query: b.parameters(c.query, op, "query", append(at, "query")),
		headers: b.parameters(c.headers, op, "header", append(at, "headers"))}
	for i, field := range c.fields {
		b.answers(op, strings.Split(field, "."), append(at, "fields", fmt.Sprint(i)))
	}
	switch {
	case c.hasBody && op.Body == nil:
		b.wrong(append(at, "body"), "%s takes no body", op.Name())
	case c.hasBody:
		out.body = b.over.Template(c.body, append(at, "body")...)
		b.body(c.body, op.Body.PreferredContent().Schema, append(at, "body"), true)
	case op.Body != nil && op.Body.Required:
		b.wrong(at, "%s needs a body", op.Name())
	}
	return out
}

// parameters compiles the parameters of one location: path, query or header.
func (b *builder) parameters(given value.Value, op *spec.Operation, in string, at []string) *expression.Template {
	var known []string
	for _, p := range b.whole.Parameters(op) {
		if p.In != in {
			continue
		}
		known = append(known, p.Name)
		if _, ok := given.Get(p.Name); p.Required && !ok {
			b.wrong(at, "%s needs the %s parameter %s", op.Name(), in, p.Name)
		}
	}
	for _, m := range given.Members() {
		if m.Name != expression.TemplateKey && !slices.Contains(known, m.Name) {
			b.wrong(append(at, m.Name), "%s has no %s parameter %q%s", op.Name(), in, problem.Cut(m.Name), near(m.Name, known))
		}
	}
	return b.over.Optional(given, at...)
}

// body refuses fields of a body that its schema doesn't declare. Values of expressions are checked at run time.
func (b *builder) body(given value.Value, of spec.Raw, at []string, top bool) {
	if _, expression := given.Get(expression.TemplateKey); given.Kind() != value.Object || expression || of == nil {
		return
	}
	o := b.whole.Object(b.whole.Schema(of))
	var known []string
	for _, f := range o.Fields {
		known = append(known, f.Name)
		v, ok := given.Get(f.Name)
		switch {
		case ok:
			b.body(v, f.Schema, append(at[:len(at):len(at)], f.Name), false)
		case f.Required && top:
			b.wrong(at, "needs the field %s", f.Name)
		}
	}
	if o.Open || len(o.Choices) > 0 {
		return
	}
	for _, m := range given.Members() {
		if !slices.Contains(known, m.Name) {
			b.wrong(append(at, m.Name), "has no field %q%s", problem.Cut(m.Name), near(m.Name, known))
		}
	}
}

// answerPath matches a path in a result: the API's response, or a part of it.
var answerPath = regexp.MustCompile(`^\$(\.[A-Za-z_][A-Za-z0-9_]*)*$`)

// pathOf returns the names after the $ of a path. It returns false if text is not a path.
func pathOf(text string) ([]string, bool) {
	if !answerPath.MatchString(text) {
		return nil, false
	}
	return strings.Split(text, ".")[1:], true
}

// paths replaces the paths in a result with expressions: $.teams with {$cel: answer.teams}. picks reports whether the
// result only copies parts of the response.
func (b *builder) paths(v value.Value, op *spec.Operation, at []string) (out value.Value, picks bool) {
	switch v.Kind() {
	case value.String:
		parts, ok := pathOf(v.Text())
		switch {
		case ok && op != nil:
			b.answers(op, parts, at)
			fallthrough
		case ok:
			text := strings.Join(append([]string{answerName}, parts...), ".")
			return value.OfObject([]value.Member{{Name: expression.TemplateKey, Value: value.OfString(text)}}), true
		case strings.HasPrefix(v.Text(), "$"):
			b.wrong(at, "a path is $ and names behind dots: $.teams. For more, write {$cel: answer.teams}")
		}
	case value.Array:
		list, picks := make([]value.Value, len(v.List())), true
		for i, e := range v.List() {
			one, only := b.paths(e, op, append(at, fmt.Sprint(i)))
			list[i], picks = one, picks && only
		}
		return value.OfArray(list), picks
	case value.Object:
		if text, ok := v.Get(expression.TemplateKey); ok {
			return v, !strings.Contains(text.Text(), answerName)
		}
		members, picks := make([]value.Member, len(v.Members())), true
		for i, m := range v.Members() {
			one, only := b.paths(m.Value, op, append(at[:len(at):len(at)], m.Name))
			members[i], picks = value.Member{Name: m.Name, Value: one}, picks && only
		}
		return value.OfObject(members), picks
	}
	return v, true
}

// answers refuses a path that the response of an operation doesn't have according to the document.
func (b *builder) answers(op *spec.Operation, path []string, at []string) {
	r := op.Success()
	if r == nil || r.PreferredContent() == nil {
		return
	}
	of := r.PreferredContent().Schema
	for _, name := range path {
		next, known, sure := b.step(of, name)
		if next == nil && sure {
			b.wrong(at, "the answer of %s has no %q. Write {$cel: …} for what the document leaves out%s", op.Name(), problem.Cut(name), near(name, known))
		}
		if next == nil {
			return
		}
		of = next
	}
}

// answerAt returns the schema of a part of an operation's response, or nil if the document doesn't declare it.
func (b *builder) answerAt(op *spec.Operation, path []string) spec.Raw {
	if op == nil || op.Success() == nil || op.Success().PreferredContent() == nil {
		return nil
	}
	of := op.Success().PreferredContent().Schema
	for _, name := range path {
		of, _, _ = b.step(of, name)
	}
	return of
}

// step returns the schema of a field. For a list, this is the field of its elements. known contains the names of the
// fields, and sure reports that there are no other fields.
func (b *builder) step(of spec.Raw, name string) (next spec.Raw, known []string, sure bool) {
	if of == nil {
		return nil, nil, false
	}
	s := b.whole.Schema(of)
	for s.Items != nil {
		s = b.whole.Schema(s.Items)
	}
	o := b.whole.Object(s)
	for _, f := range o.Fields {
		if known = append(known, f.Name); f.Name == name {
			next = f.Schema
		}
	}
	return next, known, len(known) > 0 && !o.Open && len(o.Choices) == 0
}
