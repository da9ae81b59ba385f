// Package template holds values with expressions in them: {"$cel": "input.title"} stands for what CEL says of the names
// that a declaration can use.
//
// It stands beside package expression, below what owners declare: actions and the tools of packs fill their templates
// here. A template is compiled once and refused where an expression is wrong. What asks for a part that isn't there
// yields nothing, and its owner leaves it out; what fails is a problem without any value.
package template

import (
	"errors"
	"fmt"
	"strings"

	"github.com/bailiwick-dev/bailiwick/identity"
	"github.com/bailiwick-dev/bailiwick/internal/rules/expression"
	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/value"
)

// Key marks an expression: {"$cel": "input.title"}.
const Key = "$cel"

// principalName is the name of who asks, as package expression has it.
const principalName = "principal"

// A Template is a value, an expression, or a list or object of templates. Only Compile makes one that says something.
type Template struct {
	value      value.Value
	expression *expression.Expression
	list       []Template
	members    []Named
}

// A Named is a template with the name of what it is for.
type Named struct {
	Name string
	Of   *Template
}

// A Wrong notes what is wrong with a declaration, at the keys that lead there.
type Wrong func(at []string, format string, args ...any)

// Compile reads v; what is wrong with it is told with its place below at.
func Compile(c *expression.Compiler, v value.Value, at []string, wrong Wrong) *Template {
	t := &Template{value: v}
	switch v.Kind() {
	case value.Array:
		t.list = []Template{}
		for i, e := range v.List() {
			t.list = append(t.list, *Compile(c, e, append(at, fmt.Sprint(i)), wrong))
		}
	case value.Object:
		if text, ok := v.Get(Key); ok {
			if len(v.Members()) > 1 || text.Kind() != value.String {
				wrong(at, "an expression is {$cel: text} and nothing else")
				return t
			}
			e, err := c.Compile(text.Text(), expression.Any)
			if err != nil {
				wrong(append(at, Key), "%v", err)
			}
			t.expression = e
			return t
		}
		t.members = []Named{}
		for _, m := range v.Members() {
			if strings.HasPrefix(m.Name, "$") {
				wrong(append(at, m.Name), "only $cel can begin with $ here")
				continue
			}
			t.members = append(t.members, Named{m.Name, Compile(c, m.Value, append(at, m.Name), wrong)})
		}
	}
	return t
}

// Path returns the variable that t is an expression of, and the path below it, where it is nothing else; "" for anything
// else.
func (t *Template) Path() (variable string, path []string) {
	if t.expression == nil {
		return "", nil
	}
	return t.expression.Path()
}

// Member returns the member of a variable that t is, where it is nothing else; "" otherwise.
func (t *Template) Member(variable string) string {
	if of, path := t.Path(); of == variable && len(path) == 1 {
		return path[0]
	}
	return ""
}

// A Scene is what the expressions of one call see.
type Scene struct {
	Who       identity.Principal
	Variables map[string]value.Value
}

// ErrAbsent says that a template asks for a part of a variable that isn't there.
var ErrAbsent = errors.New("template: nothing is there")

// Eval returns what t is in a scene: ErrAbsent, or a problem that names what the asker lacks.
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
		members, err := EvalAll(t.members, s)
		return value.OfObject(members), err
	}
	return t.value, nil
}

// EvalAll returns what the templates are, without those that are absent.
func EvalAll(all []Named, s *Scene) ([]value.Member, error) {
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

func (s *Scene) eval(e *expression.Expression) (value.Value, error) {
	v, err := e.EvalOver(s.Who, s.Variables)
	of, path := e.Path()
	switch {
	case err == nil:
		return v, nil
	case errors.Is(err, expression.ErrNothing) && of != "" && of != principalName:
		return value.Value{}, ErrAbsent
	case errors.Is(err, expression.ErrNothing) && of == principalName:
		return value.Value{}, &problem.Error{Code: problem.PermissionDenied, Kind: "principal",
			Detail: "it needs " + strings.Join(append([]string{of}, path...), ".") + ", which you don't have"}
	}
	return value.Value{}, &problem.Error{Code: problem.InvalidArgument, Kind: "expression", Err: fmt.Errorf("%s: %w", e, err),
		Detail: "it can't be worked out from these arguments"}
}

// Part returns the member of that name of an object of templates; nil where t is none, or has none.
func (t *Template) Part(name string) *Template {
	for _, m := range t.members {
		if m.Name == name {
			return m.Of
		}
	}
	return nil
}
