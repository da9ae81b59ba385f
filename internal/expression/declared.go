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

// Names of variables that exist in every declared call.
const (
	InputName = "input"
	NowName   = "now"
)

// A CallCompiler compiles a call that its owner declares, such as an action, a tool of a pack or a query.
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

// Input compiles the JSON Schema of the arguments. It allows only the declared properties and the properties in more.
// It refuses the names in reserved. It returns the schema without more, and false if the schema can't be used for
// checks.
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

// Declares reports whether a variable may have this name. The names in taken are declared later by the caller.
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

// After returns a copy of c with one more variable. It doesn't change c.
func (c *CallCompiler) After(v Variable) *CallCompiler {
	out := *c
	out.vars = slices.Clone(c.vars)
	out.add(v)
	return &out
}

// When compiles a condition. For "" it returns nil, which is always true.
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

// Template compiles the value v at the path at.
func (c *CallCompiler) Template(v value.Value, at ...string) *Template {
	return CompileTemplate(c.over, v, at, c.wrong)
}

// Optional is like Template for an optional key. It returns nil for Null.
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

// Require compiles requirements. Requirements that need only the input are returned as early.
func (c *CallCompiler) Require(declared []Requirement) (early, late []Requirements) {
	return c.Arguments.require(declared, c.base.Over(c.vars[:2]...), c.over, c.wrong)
}

// Scene returns the scene of a call: the current time, and the input with its defaults. It omits the arguments named
// in leave.
func (a *Arguments) Scene(who identity.Principal, in value.Value, now time.Time, leave ...string) *Scene {
	return &Scene{Who: who, Variables: map[string]value.Value{InputName: a.WithDefaults(in, leave...), NowName: value.OfTime(now.UTC().Truncate(time.Microsecond))}}
}

// Holds evaluates a condition. A nil condition is true.
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

// Given evaluates t. It returns false if t is nil or reads a missing part.
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

// Says returns the text of a summary for reviewers, or "". A summary that can't be evaluated doesn't stop the call.
func (t *Template) Says(s *Scene) string {
	if v, ok, err := t.Given(s); ok && err == nil && v.Kind() == value.String {
		return v.Text()
	}
	return ""
}
