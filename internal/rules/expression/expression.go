// Package expression evaluates what rules ask of a principal: CEL over the variable principal.
//
// It stands below policy, inside of it. An expression is compiled once, when the rules are loaded, and evaluated for
// each request to a value that is then an argument like any other. It sees the principal and nothing else: no record,
// no time of day, no function of ours; only a Condition sees the facts of a change besides, and what Over compiles the
// values that it is given. What fails, yields nothing or costs too much is an error, which policy takes for a refusal;
// no error holds a value.
package expression

import (
	"errors"
	"slices"
	"strings"

	"cel.dev/cel-go/cel"
	"cel.dev/cel-go/common/types/ref"
	"cel.dev/cel-go/interpreter"
	"github.com/bailiwick-dev/bailiwick/identity"
	"github.com/bailiwick-dev/bailiwick/value"
)

// A Yield is what an expression has to yield.
type Yield uint8

// The yields. What is null or empty is none of them.
const (
	Scalar Yield = iota // a text, a number or a boolean
	List                // a list of scalars, at least one and at most MaxList
	Bool                // true or false
	Any                 // any value, null and objects too
)

// String says what a y is, with its article.
func (y Yield) String() string {
	return [...]string{"a text, a number or a boolean", "a list of texts, numbers or booleans", "true or false", "a value"}[y]
}

// Why an evaluation yields nothing. No value of the principal is in them.
var (
	ErrNothing = errors.New("the expression yields nothing: what it asks of the principal is missing, null or empty")
	ErrKind    = errors.New("the expression yields something of another kind than is needed")
	ErrInexact = errors.New("the expression reads a number that it can't hold exactly")
	ErrCost    = errors.New("the expression costs more than is allowed")
	ErrFailed  = errors.New("the expression fails for this principal")
)

// An Expression is compiled CEL. It never changes and may be evaluated by many at once. Only a Compiler makes one that
// works; the zero Expression yields nothing.
type Expression struct {
	text    string
	yield   Yield
	root    string   // where the expression is a root and a path below it, and needs no CEL; "" for others
	path    []string // below root
	program cel.Program
	claims  []string // sorted
	all     bool     // claims are read by names that only the evaluation knows
}

// String returns the text that was compiled.
func (e *Expression) String() string { return e.text }

// Claims returns the names of the claims that e reads, sorted; all reports whether it can read any others as well.
func (e *Expression) Claims() (names []string, all bool) { return slices.Clone(e.claims), e.all }

// Path returns the variable that e is, and the path below it, where e is nothing else; "" where it is more.
func (e *Expression) Path() (variable string, path []string) { return e.root, slices.Clone(e.path) }

// Eval returns what e says of who: a value of its Yield, exactly, or one of the errors above. An instant is the text
// of its date.
func (e *Expression) Eval(p identity.Principal) (value.Value, error) { return e.EvalOver(p, nil) }

// EvalOver is Eval for what Over compiled, with the values of the variables by their names. Those of objects that are
// missing are ErrNothing, as all that is asked of them.
func (e *Expression) EvalOver(p identity.Principal, variables map[string]value.Value) (value.Value, error) {
	switch {
	case e.root == principalName:
		v := follow(&p, e.path)
		if s, text := v.Text(), v.Kind() == value.String; e.yield == Any && (v.IsNull() || text && s == "") {
			return value.Value{}, ErrNothing
		}
		return e.yielded(v)
	case e.root != "":
		v, ok := variables[e.root]
		for _, name := range e.path {
			if ok {
				v, ok = v.Get(name)
			}
		}
		if !ok {
			return value.Value{}, ErrNothing
		}
		return e.yielded(v)
	case e.program == nil:
		return value.Value{}, ErrNothing
	}
	v, err := e.run(p, variables)
	if err != nil {
		return value.Value{}, err
	}
	return e.yielded(v)
}

// run evaluates the program.
func (e *Expression) run(p identity.Principal, variables map[string]value.Value) (value.Value, error) {
	claims, err := e.claimsOf(&p)
	if err != nil {
		return value.Value{}, err
	}
	out, _, err := e.program.Eval(&activation{&p, claims, variables})
	if err != nil {
		return value.Value{}, failure(err)
	}
	return fromCEL(out)
}

// yielded returns v if it is what e has to yield.
func (e *Expression) yielded(v value.Value) (value.Value, error) {
	switch {
	case e.yield == Any:
		return v, nil
	case v.IsNull():
		return value.Value{}, ErrNothing
	case e.yield == List:
		return listed(v)
	case e.yield == Bool && v.Kind() != value.Bool:
		return value.Value{}, ErrKind
	}
	return scalar(v)
}

func scalar(v value.Value) (value.Value, error) {
	switch v.Kind() {
	case value.Null:
		return value.Value{}, ErrNothing
	case value.Array, value.Object, value.Bytes:
		return value.Value{}, ErrKind
	case value.String:
		if v.Text() == "" {
			return value.Value{}, ErrNothing
		}
	}
	return v, nil
}

func listed(v value.Value) (value.Value, error) {
	switch list := v.List(); {
	case v.Kind() != value.Array || len(list) > MaxList:
		return value.Value{}, ErrKind
	case len(list) == 0:
		return value.Value{}, ErrNothing
	}
	// A null among them would stand for every record without a value.
	for _, item := range v.List() {
		if _, err := scalar(item); err != nil {
			return value.Value{}, err
		}
	}
	return v, nil
}

// failure returns which of the errors above err is. Its text can hold values.
func failure(err error) error {
	var cancelled interpreter.EvalCancelledError
	switch {
	case errors.As(err, &cancelled): // nothing else ends an evaluation
		return ErrCost
	case errors.Is(err, ErrInexact):
		return ErrInexact
	case strings.HasPrefix(err.Error(), "no such key"):
		return ErrNothing
	}
	return ErrFailed
}

// An activation tells the evaluation what the names of an expression stand for.
type activation struct {
	who       *identity.Principal
	claims    ref.Val
	variables map[string]value.Value
}

// ResolveName implements cel.Activation.
func (a *activation) ResolveName(name string) (any, bool) {
	of, path, dotted := strings.Cut(name, ".")
	switch {
	case of == principalName && path == claimsField:
		return a.claims, true
	case of == principalName && dotted:
		out, err := toCEL(follow(a.who, []string{path}))
		return out, err == nil
	}
	v, ok := a.variables[of]
	if dotted && ok {
		v, ok = v.Get(path)
	}
	return lazily(v), ok
}

// Parent implements cel.Activation.
func (*activation) Parent() cel.Activation { return nil }
