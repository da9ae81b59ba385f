package expression

import (
	"errors"
	"fmt"
	"strings"

	"github.com/bailiwick-dev/bailiwick/identity"
	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/value"
)

// TemplateKey marks an expression: {"$cel": "input.title"}.
const TemplateKey = "$cel"

// A Template is a value, an expression, or a list or object of templates. Only CompileTemplate creates valid
// Templates.
type Template struct {
	value      value.Value
	expression *Expression
	list       []Template
	members    []NamedTemplate
}

// A NamedTemplate is the template of one member of an object.
type NamedTemplate struct {
	Name string
	Of   *Template
}

// A Fault reports an error in a declaration. at is the path of keys to the error.
type Fault func(at []string, format string, args ...any)

// CompileTemplate compiles the value v at the path at. It calls wrong for each error.
func CompileTemplate(c *Compiler, v value.Value, at []string, wrong Fault) *Template {
	t := &Template{value: v}
	switch v.Kind() {
	case value.Array:
		t.list = []Template{}
		for i, e := range v.List() {
			t.list = append(t.list, *CompileTemplate(c, e, append(at, fmt.Sprint(i)), wrong))
		}
	case value.Object:
		if text, ok := v.Get(TemplateKey); ok {
			if len(v.Members()) > 1 || text.Kind() != value.String {
				wrong(at, "an expression is {$cel: text} and nothing else")
				return t
			}
			e, err := c.Compile(text.Text(), Any)
			if err != nil {
				wrong(append(at, TemplateKey), "%v", err)
			}
			t.expression = e
			return t
		}
		t.members = []NamedTemplate{}
		for _, m := range v.Members() {
			if strings.HasPrefix(m.Name, "$") {
				wrong(append(at, m.Name), "only $cel can begin with $ here")
				continue
			}
			t.members = append(t.members, NamedTemplate{m.Name, CompileTemplate(c, m.Value, append(at, m.Name), wrong)})
		}
	}
	return t
}

// Path returns the variable and the path if t only reads a path below a variable. Otherwise the variable is "".
func (t *Template) Path() (variable string, path []string) {
	if t.expression == nil {
		return "", nil
	}
	return t.expression.Path()
}

// Member returns the name if t only reads a member of the variable. Otherwise it returns "".
func (t *Template) Member(variable string) string {
	if of, path := t.Path(); of == variable && len(path) == 1 {
		return path[0]
	}
	return ""
}

// A Scene contains the principal and the variables of one evaluation.
type Scene struct {
	Who       identity.Principal
	Variables map[string]value.Value
}

// ErrAbsent is the error of a template that reads a missing part of a variable.
var ErrAbsent = errors.New("template: nothing is there")

// Eval returns the value of t in a scene. The error is ErrAbsent, or a problem that names the attribute that the
// principal lacks.
func (t *Template) Eval(s *Scene) (value.Value, error) {
	switch {
	case t.expression != nil:
		return s.eval(t.expression)
	case t.list != nil:
		list := make([]value.Value, len(t.list))
		for i := range t.list {
			v, err := t.list[i].Eval(s)
			if err != nil && !errors.Is(err, ErrAbsent) {
				return value.Value{}, err
			}
			list[i] = v
		}
		return value.OfArray(list), nil
	case t.members != nil:
		members, err := EvalTemplates(t.members, s)
		return value.OfObject(members), err
	}
	return t.value, nil
}

// EvalTemplates returns the values of the templates. It omits templates that fail with ErrAbsent.
func EvalTemplates(all []NamedTemplate, s *Scene) ([]value.Member, error) {
	members := []value.Member{}
	for _, n := range all {
		v, err := n.Of.Eval(s)
		switch {
		case errors.Is(err, ErrAbsent):
		case err != nil:
			return nil, err
		default:
			members = append(members, value.Member{Name: n.Name, Value: v})
		}
	}
	return members, nil
}

// eval evaluates e. It returns ErrAbsent if the value is missing in an argument, a lookup or an answer. Templates
// omit such values. If the principal lacks the value, eval refuses the call, because a missing value must not widen
// the write.
func (s *Scene) eval(e *Expression) (value.Value, error) {
	v, err := e.EvalOver(s.Who, s.Variables)
	of, path := e.Path()
	switch {
	case err == nil:
		return v, nil
	case errors.Is(err, errNothing) && of != "" && of != principalName:
		return value.Value{}, ErrAbsent
	case errors.Is(err, errNothing) && of == principalName:
		return value.Value{}, &problem.Error{Code: problem.PermissionDenied, Kind: "principal",
			Detail: "it needs " + strings.Join(append([]string{of}, path...), ".") + ", which you don't have"}
	}
	return value.Value{}, &problem.Error{Code: problem.InvalidArgument, Kind: "expression", Err: fmt.Errorf("%s: %w", e, err),
		Detail: "it can't be worked out from these arguments"}
}

// Part returns the member with this name if t is an object of templates, or nil if there is no such member.
func (t *Template) Part(name string) *Template {
	for _, m := range t.members {
		if m.Name == name {
			return m.Of
		}
	}
	return nil
}
