// Package expression evaluates what rules ask of a principal: CEL over the one variable principal.
//
// It stands below policy, inside of it. An expression is compiled once, when the rules are loaded, and evaluated for
// each request to a value that is then an argument like any other. It sees the principal and nothing else: no record,
// no time of day, no function of ours. What fails, yields nothing or costs too much is an error, which policy takes for
// a refusal; no error holds a value of the principal.
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
)

// String says what a y is, with its article.
func (y Yield) String() string {
	return [...]string{"a text, a number or a boolean", "a list of texts, numbers or booleans", "true or false"}[y]
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
	path    []string // below principal, where the expression is such a path and needs no CEL
	program cel.Program
	claims  []string // sorted
	all     bool     // claims are read by names that only the evaluation knows
}

// String returns the text that was compiled.
func (e *Expression) String() string { return e.text }

// Claims returns the names of the claims that e reads, sorted; all reports whether it can read any others as well.
func (e *Expression) Claims() (names []string, all bool) { return slices.Clone(e.claims), e.all }

// Eval returns what e says of who: a value of its Yield, exactly, or one of the errors above. An instant is the text
// of its date.
func (e *Expression) Eval(who identity.Principal) (value.Value, error) {
	v, err := value.Value{}, ErrNothing
	switch {
	case e.path != nil:
		v, err = follow(&who, e.path), nil
	case e.program != nil:
		v, err = e.run(who)
	}
	if err != nil {
		return value.Value{}, err
	}
	return e.yielded(v)
}

// run evaluates the program.
func (e *Expression) run(who identity.Principal) (value.Value, error) {
	claims, err := e.claimsOf(&who)
	if err != nil {
		return value.Value{}, err
	}
	out, _, err := e.program.Eval(&activation{&who, claims})
	if err != nil {
		return value.Value{}, failure(err)
	}
	return fromCEL(out)
}

// yielded returns v if it is what e has to yield.
func (e *Expression) yielded(v value.Value) (value.Value, error) {
	switch {
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
	case strings.HasPrefix(err.Error(), "no such key"):
		return ErrNothing
	}
	return ErrFailed
}

// An activation tells the evaluation what the names of an expression stand for.
type activation struct {
	who    *identity.Principal
	claims ref.Val
}

// ResolveName implements cel.Activation.
func (a *activation) ResolveName(name string) (any, bool) {
	path, ok := strings.CutPrefix(name, root+".")
	if !ok {
		return nil, false
	}
	if path == claimsField {
		return a.claims, true
	}
	out, err := toCEL(follow(a.who, []string{path}))
	return out, err == nil
}

// Parent implements cel.Activation.
func (*activation) Parent() cel.Activation { return nil }
