package expression

import (
	"errors"
	"regexp"
	"slices"
	"time"

	"github.com/bailiwick-dev/bailiwick/identity"
	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/value"
)

// Names of variables that each declared call has.
const (
	InputName = "input"
	NowName   = "now"
)

// A CallCompiler compiles a call that its owner declares: an action, a tool of a pack, a query.
//
//	Input → input and now ─Declare→ more variables ─→ conditions, templates, requirements
//
// An expression can use the variables that were declared before it.
type CallCompiler struct {
	Arguments *Arguments // nil before Input

	wrong Fault
	base  *Compiler // over the principal
	over  *Compiler // over all variables
	vars  []Variable
}

// NewCallCompiler returns a CallCompiler that calls wrong for each error in the declaration.
func NewCallCompiler(base *Compiler, wrong Fault) *CallCompiler {
	return &CallCompiler{wrong: wrong, base: base, over: base}
}

// Input compiles the JSON Schema of the arguments: the declared properties and more, and no others. Names in reserved are
// refused. It returns the schema without more, and false if nothing can be checked by the schema.
func (c *CallCompiler) Input(declared value.Value, more []value.Member, reserved ...string) (*InputSchema, bool) {
	s := &InputSchema{keys: []value.Member{{Name: "type", Value: value.OfString("object")}, {Name: "additionalProperties", Value: value.OfBool(false)}}}
	for _, m := range declared.Members() {
		at := slices.IndexFunc(s.keys, func(k value.Member) bool { return k.Name == m.Name })
		switch {
		case m.Name == "properties":
			s.properties = slices.Clone(m.Value.Members())
		case at >= 0:
			s.keys[at] = m
		default:
			s.keys = append(s.keys, m)
		}
	}
	for _, m := range more {
		if !slices.ContainsFunc(s.properties, func(p value.Member) bool { return p.Name == m.Name }) {
			s.properties = append(s.properties, m)
		}
	}
	if c.Arguments = compileArguments(s.With(), reserved, c.wrong); c.Arguments == nil {
		return s, false
	}
	c.add(Variable{Name: InputName, What: "the input", Members: c.Arguments.Names()}, Variable{Name: NowName, What: "the time", Instant: true})
	return s, true
}

// An InputSchema is the JSON Schema of the arguments of a declared call.
type InputSchema struct {
	keys       []value.Member
	properties []value.Member
}

// With returns the schema with more properties.
func (s *InputSchema) With(more ...value.Member) value.Value {
	properties := value.Member{Name: "properties", Value: value.OfObject(slices.Concat(s.properties, more))}
	return value.OfObject(append(slices.Clone(s.keys), properties))
}

// variableName matches names that CEL accepts.
var variableName = regexp.MustCompile(`^[a-z][a-zA-Z0-9_]{0,40}$`)

// Declares reports whether a variable can have this name. Names in taken are those that the caller declares later.
func (c *CallCompiler) Declares(name string, at []string, taken ...string) bool {
	ok := variableName.MatchString(name) && !slices.Contains([]string{principalName, "change", "in", "true", "false", "null"}, name) &&
		!slices.Contains(taken, name) && !slices.ContainsFunc(c.vars, func(v Variable) bool { return v.Name == name })
	if !ok {
		c.wrong(at, "a name has letters, digits and _, begins with a small letter, and is not one that expressions have already")
	}
	return ok
}

// Declare declares variables for the expressions that follow.
func (c *CallCompiler) Declare(vars ...Variable) { c.add(vars...) }

func (c *CallCompiler) add(vars ...Variable) {
	c.vars = append(c.vars, vars...)
	c.over = c.base.Over(c.vars...)
}

// After returns a CallCompiler with one more variable. The variables of c stay as they are.
func (c *CallCompiler) After(v Variable) *CallCompiler {
	out := *c
	out.vars = slices.Clone(c.vars)
	out.add(v)
	return &out
}

// When compiles a condition. It returns nil, which always holds, for "".
func (c *CallCompiler) When(text string, at []string) *Expression {
	if text == "" {
		return nil
	}
	e, err := c.over.Compile(text, Bool)
	if err != nil {
		c.wrong(at, "%v", err)
	}
	return e
}

// Template compiles v, whose path is at.
func (c *CallCompiler) Template(v value.Value, at ...string) *Template {
	return CompileTemplate(c.over, v, at, c.wrong)
}

// Optional is Template for a key that may be left out. It returns nil for Null.
func (c *CallCompiler) Optional(v value.Value, at ...string) *Template {
	if v.IsNull() {
		return nil
	}
	return c.Template(v, at...)
}

// Named compiles one template for each member of an object.
func (c *CallCompiler) Named(v value.Value, at ...string) (out []NamedTemplate) {
	for _, m := range v.Members() {
		out = append(out, NamedTemplate{Name: m.Name, Of: c.Template(m.Value, append(at[:len(at):len(at)], m.Name)...)})
	}
	return out
}

// Require compiles requirements. Those that the input is enough for are returned as early.
func (c *CallCompiler) Require(declared []Requirement) (early, late []Requirements) {
	return c.Arguments.require(declared, c.base.Over(c.vars[:2]...), c.over, c.wrong)
}

// Scene returns the scene of a call: its input, with defaults and without the arguments named in leave, and the time.
func (a *Arguments) Scene(who identity.Principal, in value.Value, now time.Time, leave ...string) *Scene {
	return &Scene{Who: who, Variables: map[string]value.Value{InputName: a.WithDefaults(in, leave...), NowName: value.OfTime(now.UTC().Truncate(time.Microsecond))}}
}

// Holds evaluates a condition. Nil is true.
func (e *Expression) Holds(s *Scene) (bool, error) {
	if e == nil {
		return true, nil
	}
	v, err := e.EvalOver(s.Who, s.Variables)
	if err != nil {
		return false, &problem.Error{Code: problem.InvalidArgument, Kind: "expression", Err: err, Detail: "the condition failed on these arguments"}
	}
	return v.Bool(), nil
}

// Given evaluates t. It returns false if t is nil or reads a part that is absent.
func (t *Template) Given(s *Scene) (value.Value, bool, error) {
	if t == nil {
		return value.Value{}, false, nil
	}
	v, err := t.Eval(s)
	if errors.Is(err, ErrAbsent) {
		return value.Value{}, false, nil
	}
	return v, err == nil, err
}

// Says returns the text of a summary for reviewers, or "". A summary that can't be evaluated stops nothing.
func (t *Template) Says(s *Scene) string {
	if v, ok, err := t.Given(s); ok && err == nil && v.Kind() == value.String {
		return v.Text()
	}
	return ""
}
