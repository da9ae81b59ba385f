package pack

import (
	"context"
	"errors"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/bailiwick-dev/bailiwick/identity"
	"github.com/bailiwick-dev/bailiwick/internal/expression"
	"github.com/bailiwick-dev/bailiwick/internal/openapi/validate"
	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/value"
	"github.com/bailiwick-dev/bailiwick/write"
)

// A Call is a call of a tool.
type Call struct {
	Who    identity.Principal
	Input  value.Value // an Object that matches the tool's Input
	Site   string      // the address of the API, which is the prefix of links: https://forge.example.com
	Now    time.Time
	Reader Reader
}

// A Request is a call of the API that a tool needs.
type Request struct {
	Operation string // its id
	Arguments validate.Arguments
	Fields    []string // the fields of the response to return, or nil for all
	Whole     bool     // a truncated response can't be used
}

// A Reader calls operations that read, with the rights and the view of the principal.
type Reader interface {
	// Read returns the body of a response. An error of the API is a *problem.Error with its Reply.
	Read(ctx context.Context, r Request) (value.Value, error)
}

// An Outcome is the result of a call, or a write to propose.
type Outcome struct {
	Result value.Value // an Object, or Null if Write is set
	Write  *Request    // the call to propose, or nil
	Title  string      // for Write: one sentence for people, or ""

	of    *choice
	scene *expression.Scene
}

// Run checks a call and runs its tool. It reads, and returns a result or the write to propose. A refusal contains the
// argument and a message for each fault. Run writes nothing.
func (t *Tool) Run(ctx context.Context, c Call) (*Outcome, error) {
	s := t.scene(c)
	if err := expression.RefuseArguments(expression.UnmetRequirements(t.early, s, "")); err != nil {
		return nil, err
	}
	if err := t.prepare(ctx, c, s); err != nil {
		return nil, err
	}
	if err := expression.RefuseArguments(expression.UnmetRequirements(t.late, s, "")); err != nil {
		return nil, err
	}
	one, err := t.choose(s)
	if err != nil {
		return nil, err
	}
	switch {
	case one.op == nil:
		v, err := one.answer(s)
		return &Outcome{Result: v}, err
	case one.reads:
		v, err := t.read(ctx, c, one, s)
		return &Outcome{Result: v}, err
	}
	r, err := t.request(&one.calling, s)
	if err != nil {
		return nil, err
	}
	return &Outcome{Write: &r, of: one, scene: s, Title: t.summary.Says(s)}, nil
}

// scene returns the values for the expressions in a call of t.
func (t *Tool) scene(c Call) *expression.Scene {
	return t.arguments.Scene(c.Who, c.Input, c.Now, t.added()...)
}

// WriteResult returns the result of a write that has run. body is the body of its response.
func (o *Outcome) WriteResult(body value.Value) (value.Value, error) {
	if o.of == nil {
		return o.Result, nil
	}
	o.scene.Variables[answerName] = body
	return o.of.answer(o.scene)
}

// WriteResult returns the result of a write from an earlier call c that has run. It uses the operation and the body
// of the response. It fails if the result requires data that the call had read.
func (t *Tool) WriteResult(c Call, operation string, body value.Value) (value.Value, error) {
	s := t.scene(c)
	s.Variables[answerName] = body
	for i := range t.cases {
		one := &t.cases[i]
		if one.op == nil || one.op.ID != operation {
			continue
		}
		if is, err := one.when.Holds(s); err == nil && !is {
			continue // a condition over earlier reads can't be evaluated again, so any case with the operation is used
		}
		return one.answer(s)
	}
	return value.Value{}, problem.New(problem.NotFound, "the tool has no such case")
}

// WithDefaults returns the arguments of a call without the reason. Missing arguments have their defaults.
func (t *Tool) WithDefaults(in value.Value) value.Value {
	return t.arguments.WithDefaults(in, t.added()...)
}

// added returns the arguments that the gateway adds to the tool's own arguments.
func (t *Tool) added() []string {
	if t.Writes {
		return []string{ReasonArgument}
	}
	return nil
}

// ArgumentClass returns the class that describes the arguments of a call, or nil.
func (t *Tool) ArgumentClass(in value.Value) *write.Against {
	if t.Against.Class == "" {
		return nil
	}
	return &write.Against{Class: t.Against.Class, Fields: t.Against.Fields, Record: string(t.Against.Record), Names: t.Arguments(), Arguments: t.WithDefaults(in)}
}

// prepare evaluates the reads, the merges and the link that the tool's own call uses.
func (t *Tool) prepare(ctx context.Context, c Call, s *expression.Scene) error {
	for _, r := range t.reads {
		s.Variables[r.name] = value.Value{}
		if is, err := r.when.Holds(s); err != nil || !is {
			if err != nil {
				return err
			}
			continue
		}
		req, err := t.request(&r.calling, s)
		if err != nil {
			return err
		}
		req.Whole = true
		if s.Variables[r.name], err = c.Reader.Read(ctx, req); err != nil {
			return t.place(err, &r.calling)
		}
	}
	for _, m := range t.merges {
		v, err := m.mergeEntries(s)
		if err != nil {
			return err
		}
		s.Variables[m.name] = v
	}
	if t.link == nil {
		return nil
	}
	link, err := t.link.to(c.Site, s)
	s.Variables[linkName] = value.OfString(link)
	return err
}

// choose returns the first case whose condition is true.
func (t *Tool) choose(s *expression.Scene) (*choice, error) {
	for i := range t.cases {
		if is, err := t.cases[i].when.Holds(s); err != nil {
			return nil, err
		} else if is {
			return &t.cases[i], nil
		}
	}
	return nil, &problem.Error{Code: problem.InvalidArgument, Kind: "cases", Detail: "there is nothing to do for these arguments"}
}

// read makes the tool's own call if it only reads.
func (t *Tool) read(ctx context.Context, c Call, one *choice, s *expression.Scene) (value.Value, error) {
	req, err := t.request(&one.calling, s)
	if err != nil {
		return value.Value{}, err
	}
	req.Whole = one.result != nil && !one.picks
	body, err := c.Reader.Read(ctx, req)
	if p, ok := errors.AsType[*problem.Error](err); ok && p.Reply != nil && one.statuses[p.Reply.Status] != nil {
		s.Variables[answerName] = replyValue(p.Reply)
		return evalResult(one.statuses[p.Reply.Status], s)
	}
	if err != nil {
		return value.Value{}, t.place(err, &one.calling)
	}
	s.Variables[answerName] = body
	return one.answer(s)
}

// replyValue returns an error response of the API in the form that results can use: status, code, message.
func replyValue(r *problem.Reply) value.Value {
	members := []value.Member{{Name: "status", Value: value.OfInt(int64(r.Status))}}
	for _, m := range []value.Member{{Name: "code", Value: value.OfString(r.UpstreamCode)}, {Name: "message", Value: value.OfString(r.Message)}} {
		if m.Value.Text() != "" {
			members = append(members, m)
		}
	}
	return value.OfObject(members)
}

// answer returns the result of a case.
func (c *choice) answer(s *expression.Scene) (value.Value, error) {
	if c.result == nil {
		return object(s.Variables[answerName]), nil
	}
	return evalResult(c.result, s)
}

// evalResult returns the value of a result. If the evaluation fails on data that was read, the error blames the API.
func evalResult(result *expression.Template, s *expression.Scene) (value.Value, error) {
	v, err := result.Eval(s)
	switch {
	case errors.Is(err, expression.ErrAbsent):
		return object(value.Value{}), nil
	case problem.CodeOf(err) == problem.InvalidArgument:
		return value.Value{}, &problem.Error{Code: problem.Upstream, Kind: "result", Err: err, Detail: "the API's answer is not as the tool expects it"}
	case err != nil:
		return value.Value{}, err
	}
	return object(v), nil
}

// object returns v as a result. It wraps v in an object if v isn't one.
func object(v value.Value) value.Value {
	if v.Kind() == value.Object {
		return v
	}
	if v.IsNull() {
		return value.OfObject(nil)
	}
	return value.OfObject([]value.Member{{Name: "result", Value: v}})
}

// request returns a call with the values of its templates.
func (t *Tool) request(c *calling, s *expression.Scene) (Request, error) {
	r := Request{Operation: c.op.ID, Fields: c.fields}
	for _, place := range []struct {
		of   *expression.Template
		into *value.Value
	}{{c.path, &r.Arguments.Path}, {c.query, &r.Arguments.Query}, {c.headers, &r.Arguments.Headers}, {c.body, &r.Arguments.Body}} {
		v, ok, err := place.of.Given(s)
		if err != nil {
			return Request{}, err
		}
		*place.into = v
		if place.of == c.body {
			r.Arguments.HasBody = ok
		}
	}
	return r, nil
}

// mergeEntries returns a list of entries, or an object, with some values set. Existing entries keep their position
// and their other members. New entries are appended.
func (m merging) mergeEntries(s *expression.Scene) (value.Value, error) {
	into, _, err := m.into.Given(s)
	if err != nil {
		return value.Value{}, err
	}
	set, _, err := m.set.Given(s)
	if err != nil {
		return value.Value{}, err
	}
	is := value.Array
	if m.key == "" {
		is = value.Object
	}
	if into.Kind() != is && !into.IsNull() {
		return value.Value{}, &problem.Error{Code: problem.Upstream, Kind: "merge", Detail: "the API's answer is not as the tool expects it: what is to be merged is of another kind"}
	}
	if m.key == "" {
		for _, e := range set.Members() {
			into = with(into, e.Name, e.Value)
		}
		return value.OfObject(into.Members()), nil
	}
	list, done := slices.Clone(into.List()), map[string]bool{}
	for i, entry := range list {
		name, _ := entry.Get(m.key)
		if v, ok := set.Get(name.Text()); ok && name.Kind() == value.String {
			done[name.Text()], list[i] = true, with(entry, m.of, v)
		}
	}
	for _, e := range set.Members() {
		if !done[e.Name] {
			list = append(list, value.OfObject([]value.Member{{Name: m.key, Value: value.OfString(e.Name)}, {Name: m.of, Value: e.Value}}))
		}
	}
	return value.OfArray(list), nil
}

// with returns an object with one member set.
func with(o value.Value, name string, v value.Value) value.Value {
	members := slices.Clone(o.Members())
	if i := slices.IndexFunc(members, func(m value.Member) bool { return m.Name == name }); i >= 0 {
		members[i].Value = v
	} else {
		members = append(members, value.Member{Name: name, Value: v})
	}
	return value.OfObject(members)
}

// to returns the address of the link. Each value is one segment of the path.
func (l *linking) to(site string, s *expression.Scene) (string, error) {
	out := l.path
	for _, n := range l.with {
		v, err := n.Of.Eval(s)
		text := v.String()
		if err != nil || text == "" || text == "." || text == ".." {
			return "", &problem.Error{Code: problem.Upstream, Kind: "link", Err: err, Detail: "there is nothing to link to"}
		}
		out = strings.ReplaceAll(out, "{"+n.Name+"}", url.PathEscape(text))
	}
	return strings.TrimSuffix(site, "/") + out, nil
}

// place maps the pointers in an error from parameters of the call to the arguments that set them.
func (t *Tool) place(err error, c *calling) error {
	p, ok := errors.AsType[*problem.Error](err)
	if !ok || p.Pointer == "" {
		return err
	}
	return p.MapPointers(c.argument)
}

// Place maps the pointers in an error from parts of o.Write to the arguments that set them.
func (t *Tool) Place(err error, o *Outcome) error {
	if o.of == nil {
		return err
	}
	return t.place(err, &o.of.calling)
}

// argument returns the pointer of the argument that sets the part of a call at pointer. It returns "" if this is not
// a single argument.
func (c *calling) argument(pointer string) string {
	in, rest, _ := strings.Cut(strings.TrimPrefix(pointer, "/"), "/")
	of := map[string]*expression.Template{"path": c.path, "query": c.query, "headers": c.headers, "body": c.body}[in]
	for of != nil {
		if name := of.Member(expression.InputName); name != "" {
			return strings.TrimSuffix("/"+name+"/"+rest, "/")
		}
		var name string
		name, rest, _ = strings.Cut(rest, "/")
		of = of.Part(name)
	}
	return ""
}
