// Package expression evaluates the CEL expressions of rules, templates and declarations.
//
//	text ─Compiler, once→ Expression ─principal, variables→ value.Value
//
// An expression is compiled when the rules are loaded. It is evaluated for each request and returns an ordinary
// value. It can read only the principal. It has no access to records or the time, and no custom functions. A
// Condition can also read the facts of a change. An expression of Over can also read the variables that are passed to
// it. An evaluation that fails, returns nothing or costs too much is an error, and policy treats the error as a
// refusal. Errors never contain values.
//
// A Template is a value that contains expressions: {"$cel": "input.title"} is replaced by the value of the
// expression. A CallCompiler compiles the common parts of declared calls: the input with its defaults, conditions,
// templates and requirements. Packages action and pack use it.
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

// A Yield is the kind of value that an expression must yield.
type Yield uint8

// The values of Yield. Except for Any, null and empty values are errors.
const (
	Scalar Yield = iota // a text, a number or a boolean
	List                // a list of 1 to maxList scalars
	Bool                // true or false
	Any                 // any value, including null and objects
)

// String describes y, including the article.
func (y Yield) String() string {
	return [...]string{"a text, a number or a boolean", "a list of texts, numbers or booleans", "true or false", "a value"}[y]
}

// The errors of an evaluation. They don't contain values of the principal.
var (
	errNothing = errors.New("the expression yields nothing: what it asks of the principal is missing, null or empty")
	errKind    = errors.New("the expression yields something of another kind than is needed")
	errInexact = errors.New("the expression reads a number that it can't hold exactly")
	errCost    = errors.New("the expression costs more than is allowed")
	errFailed  = errors.New("the expression fails for this principal")
)

// An Expression is a compiled CEL expression. It is immutable and safe for concurrent use. Only a Compiler creates
// valid Expressions. The zero Expression yields nothing.
type Expression struct {
	text    string
	yield   Yield
	root    string   // set if the expression only reads a path below a root. It is then evaluated without CEL
	path    []string // below root
	program cel.Program
	claims  []string // sorted
	all     bool     // some claim names are computed during the evaluation
	names   []comparedName
}

// String returns the text that was compiled.
func (e *Expression) String() string { return e.text }

// Claims returns the sorted names of the claims that e reads. all reports whether e may also read other claims.
func (e *Expression) Claims() (names []string, all bool) { return slices.Clone(e.claims), e.all }

// Path returns the variable and the path if e only reads a path below a variable. Otherwise the variable is "".
func (e *Expression) Path() (variable string, path []string) { return e.root, slices.Clone(e.path) }

// Eval evaluates e for p. It returns an exact value of e's Yield, or one of the errors above. It returns a timestamp
// as text.
func (e *Expression) Eval(p identity.Principal) (value.Value, error) { return e.EvalOver(p, nil) }

// EvalOver is like Eval, with values for the variables of Over by name. Reading from a missing object returns
// errNothing.
func (e *Expression) EvalOver(p identity.Principal, variables map[string]value.Value) (value.Value, error) {
	switch {
	case e.root == principalName:
		v := follow(&p, e.path)
		if s, text := v.Text(), v.Kind() == value.String; e.yield == Any && (v.IsNull() || text && s == "") {
			return value.Value{}, errNothing
		}
		return e.checkYield(v)
	case e.root != "":
		v, ok := variables[e.root]
		for _, name := range e.path {
			v, ok = v.Get(name)
		}
		if !ok {
			return value.Value{}, errNothing
		}
		return e.checkYield(v)
	case e.program == nil:
		return value.Value{}, errNothing
	}
	v, err := e.run(p, variables)
	if err != nil {
		return value.Value{}, err
	}
	return e.checkYield(v)
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

// checkYield returns v if it matches e's Yield, or an error.
func (e *Expression) checkYield(v value.Value) (value.Value, error) {
	switch {
	case e.yield == Any:
		return v, nil
	case v.IsNull():
		return value.Value{}, errNothing
	case e.yield == List:
		return checkList(v)
	case e.yield == Bool && v.Kind() != value.Bool:
		return value.Value{}, errKind
	}
	return scalar(v)
}

// scalar checks that v is a single value that isn't null or empty. A filter by an empty value would match records
// without a value.
func scalar(v value.Value) (value.Value, error) {
	switch v.Kind() {
	case value.Null:
		return value.Value{}, errNothing
	case value.Array, value.Object, value.Bytes:
		return value.Value{}, errKind
	case value.String:
		if v.Text() == "" {
			return value.Value{}, errNothing
		}
	}
	return v, nil
}

// checkList checks that v is a list of 1 to maxList scalars. An empty list is an error, because a filter by it would
// match no record. With $nin it would match all records.
func checkList(v value.Value) (value.Value, error) {
	switch list := v.List(); {
	case v.Kind() != value.Array || len(list) > maxList:
		return value.Value{}, errKind
	case len(list) == 0:
		return value.Value{}, errNothing
	}
	// A null in the list would match records without a value.
	for _, item := range v.List() {
		if _, err := scalar(item); err != nil {
			return value.Value{}, err
		}
	}
	return v, nil
}

// failure replaces err by one of the errors above, because the text of err can contain values.
func failure(err error) error {
	var cancelled interpreter.EvalCancelledError
	switch {
	case errors.As(err, &cancelled): // only the cost limit cancels an evaluation
		return errCost
	case errors.Is(err, errInexact):
		return errInexact
	case strings.HasPrefix(err.Error(), "no such key"):
		return errNothing
	}
	return errFailed
}

// An activation resolves the names of an expression.
type activation struct {
	who       *identity.Principal
	claims    ref.Val
	variables map[string]value.Value
}

// ResolveName implements cel.Activation.
func (a *activation) ResolveName(name string) (any, bool) {
	of, path, dotted := strings.Cut(name, ".")
	switch {
	case name == principalName+"."+claimsField:
		return a.claims, true
	case of == principalName:
		out, err := toCEL(follow(a.who, []string{path}))
		return out, err == nil
	}
	v, ok := a.variables[of]
	if dotted {
		v, ok = v.Get(path)
	}
	return lazily(v), ok
}

// Parent implements cel.Activation.
func (*activation) Parent() cel.Activation { return nil }
