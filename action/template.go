package action

import (
	"errors"
	"fmt"
	"strings"

	"github.com/bailiwick-dev/bailiwick/identity"
	"github.com/bailiwick-dev/bailiwick/policy/expression"
	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/value"
)

// A template is a value, an expression, or a list or object of templates.
type template struct {
	value      value.Value
	expression *expression.Expression
	list       []template
	members    []named
}

// celKey marks an expression: {"$cel": "input.title"}.
const celKey = "$cel"

// compileTemplate reads v; what is wrong with it is told with its place below.
func compileTemplate(c *expression.Compiler, v value.Value, at []string, wrong func(at []string, format string, args ...any)) *template {
	t := &template{value: v}
	switch v.Kind() {
	case value.Array:
		t.list = []template{}
		for i, e := range v.List() {
			t.list = append(t.list, *compileTemplate(c, e, append(at, fmt.Sprint(i)), wrong))
		}
	case value.Object:
		if text, ok := v.Get(celKey); ok {
			if len(v.Members()) > 1 || text.Kind() != value.String {
				wrong(at, "an expression is {$cel: text} and nothing else")
				return t
			}
			e, err := c.Compile(text.Text(), expression.Any)
			if err != nil {
				wrong(append(at, celKey), "%v", err)
			}
			t.expression = e
			return t
		}
		t.members = []named{}
		for _, m := range v.Members() {
			if strings.HasPrefix(m.Name, "$") {
				wrong(append(at, m.Name), "only $cel can begin with $ here")
				continue
			}
			t.members = append(t.members, named{m.Name, compileTemplate(c, m.Value, append(at, m.Name), wrong)})
		}
	}
	return t
}

// argument returns the argument that t is, where it is nothing else.
func (t *template) argument() string {
	if t.expression == nil {
		return ""
	}
	if of, path := t.expression.Path(); of == inputName && len(path) == 1 {
		return path[0]
	}
	return ""
}

// A scene is what the expressions of one call see.
type scene struct {
	who       identity.Principal
	variables map[string]value.Value
}

// errAbsent says that a template asks for a part of the input or of a record that isn't there.
var errAbsent = errors.New("action: nothing is there")

// eval returns what t is in a scene: errAbsent, or a problem that names what the asker lacks.
func (t *template) eval(s *scene) (value.Value, error) {
	switch {
	case t.expression != nil:
		return s.eval(t.expression)
	case t.list != nil:
		list := make([]value.Value, len(t.list))
		for i := range t.list {
			v, err := t.list[i].eval(s)
			if err != nil && !errors.Is(err, errAbsent) {
				return value.Value{}, err
			}
			list[i] = v
		}
		return value.OfArray(list), nil
	case t.members != nil:
		members, err := evalAll(t.members, s)
		return value.OfObject(members), err
	}
	return t.value, nil
}

// evalAll returns what the templates are, without those that are absent.
func evalAll(all []named, s *scene) ([]value.Member, error) {
	members := []value.Member{}
	for _, n := range all {
		v, err := n.of.eval(s)
		switch {
		case errors.Is(err, errAbsent):
		case err != nil:
			return nil, err
		default:
			members = append(members, value.Member{Name: n.name, Value: v})
		}
	}
	return members, nil
}

func (s *scene) eval(e *expression.Expression) (value.Value, error) {
	v, err := e.EvalOver(s.who, s.variables)
	of, path := e.Path()
	switch {
	case err == nil:
		return v, nil
	case errors.Is(err, expression.ErrNothing) && of != "" && of != principalName:
		return value.Value{}, errAbsent
	case errors.Is(err, expression.ErrNothing) && of == principalName:
		return value.Value{}, &problem.Error{Code: problem.PermissionDenied, Kind: "principal",
			Detail: "it needs " + strings.Join(append([]string{of}, path...), ".") + ", which you don't have"}
	}
	return value.Value{}, &problem.Error{Code: problem.InvalidArgument, Kind: "expression", Err: fmt.Errorf("%s: %w", e, err),
		Detail: "it can't be worked out from these arguments"}
}
