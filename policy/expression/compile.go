package expression

import (
	"fmt"
	"slices"
	"strings"
	"sync"

	"cel.dev/cel-go/cel"
	"cel.dev/cel-go/common/ast"
	"cel.dev/cel-go/common/operators"
	"cel.dev/cel-go/common/types"
	"github.com/bailiwick-dev/bailiwick/problem"
)

// The limits of an expression.
const (
	MaxText  = 2000   // characters
	MaxList  = 1000   // values that one yields, as in $in
	MaxCost  = 50_000 // of one evaluation, in the units of CEL: about one for each step and each ten characters
	maxNodes = 500    // what it is made of, with macros written out
	maxDepth = 50     // expressions within expressions
	maxLoops = 2      // macros within macros
)

// A Fault is what is wrong with the text of an expression.
type Fault struct {
	Line, Column int // from 1, in characters; 0 when it is about the expression as a whole
	Message      string
}

// Error returns the place within the expression and the message.
func (f *Fault) Error() string {
	switch {
	case f.Line > 1:
		return fmt.Sprintf("line %d, character %d of the expression: %s", f.Line, f.Column, f.Message)
	case f.Line == 1:
		return fmt.Sprintf("character %d of the expression: %s", f.Column, f.Message)
	}
	return f.Message
}

// A Compiler compiles expressions, and keeps what it made by its text, so that filters that come with principals are
// compiled once. Many may use it at once.
type Compiler struct {
	env *cel.Env

	mu   sync.RWMutex
	made map[source]result
}

// maxMade is how many expressions a Compiler keeps.
const maxMade = 4096

type source struct {
	text  string
	yield Yield
}

type result struct {
	expression *Expression
	err        error
}

// NewCompiler returns a Compiler.
func NewCompiler() *Compiler {
	options := []cel.EnvOption{
		cel.ParserExpressionSizeLimit(MaxText), cel.ExpressionNodeLimit(maxNodes), cel.ParserRecursionLimit(maxDepth), cel.ParserErrorRecoveryLimit(4),
		cel.RegexProgramSizeLimit(maxNodes), cel.DefaultUTCTimeZone(true), cel.CrossTypeNumericComparisons(true),
		cel.ASTValidators(cel.ValidateRegexLiterals(), cel.ValidateTimestampLiterals(), cel.ValidateDurationLiterals(),
			cel.ValidateComprehensionNestingLimit(maxLoops)),
	}
	for _, f := range fields {
		options = append(options, cel.Variable(root+"."+f.name, f.typ))
	}
	env, err := cel.NewEnv(options...)
	if err != nil {
		panic(err) // nothing in it comes from outside
	}
	return &Compiler{env: env, made: map[source]result{}}
}

// Compile returns the expression that text writes, which has to yield y. What is wrong with it is a *Fault.
func (c *Compiler) Compile(text string, y Yield) (*Expression, error) {
	s := source{text, y}
	c.mu.RLock()
	r, ok := c.made[s]
	c.mu.RUnlock()
	if ok {
		return r.expression, r.err
	}
	r.expression, r.err = c.compile(text, y)
	c.mu.Lock()
	defer c.mu.Unlock()
	for old := range c.made { // an arbitrary one makes room
		if len(c.made) < maxMade {
			break
		}
		delete(c.made, old)
	}
	c.made[s] = r
	return r.expression, r.err
}

func (c *Compiler) compile(text string, y Yield) (*Expression, error) {
	if strings.TrimSpace(text) == "" {
		return nil, &Fault{Message: "the expression is empty"}
	}
	parsed, issues := c.env.Parse(text)
	if err := fault(issues); err != nil {
		return nil, err
	}
	e := &Expression{text: text, yield: y}
	tree := ast.NavigateAST(parsed.NativeRep())
	if err := e.names(parsed.NativeRep(), tree); err != nil {
		return nil, err
	}
	e.path, _ = pathOf(tree) // Check writes over the tree
	checked, issues := c.env.Check(parsed)
	if err := fault(issues); err != nil {
		if name, ok := strings.CutPrefix(text, root+"."+claimsField+"."); ok && !strings.ContainsAny(name, ` .()[]"'`) {
			err.Message += fmt.Sprintf("; write %s.%s[%q] for the claim of that name", root, claimsField, name)
		}
		return nil, err
	}
	if t := checked.OutputType(); !y.holds(t) {
		return nil, &Fault{Message: fmt.Sprintf("it yields %s, and has to yield %s", article(t), y)}
	}
	if e.path != nil {
		return e, nil
	}
	cost, err := c.env.EstimateCost(checked, nil)
	if err == nil && cost.Min > MaxCost { // what can't be known is stopped when it is evaluated
		return nil, &Fault{Message: fmt.Sprintf("it costs too much: at least %d, and %d is allowed", cost.Min, MaxCost)}
	}
	if e.program, err = c.env.Program(checked, cel.EvalOptions(cel.OptOptimize), cel.CostLimit(MaxCost)); err != nil {
		return nil, &Fault{Message: "it can't be evaluated: " + tidy(err.Error())}
	}
	return e, nil
}

// fault returns the first of the issues as a Fault, or nil.
func fault(issues *cel.Issues) *Fault {
	if issues.Err() == nil {
		return nil
	}
	first := issues.Errors()[0]
	return &Fault{Line: max(first.Location.Line(), 0), Column: first.Location.Column() + 1, Message: tidy(first.Message)}
}

// tidy takes out of a message of CEL what tells nothing here.
func tidy(message string) string {
	message, _, _ = strings.Cut(message, "\n")
	message, _, _ = strings.Cut(message, " expecting {")
	message = strings.TrimPrefix(message, "Syntax error: ")
	return problem.Cut(strings.ReplaceAll(message, " (in container '')", ""))
}

// holds reports whether an expression of type t can yield y.
func (y Yield) holds(t *cel.Type) bool {
	switch t.Kind() {
	case types.DynKind, types.AnyKind:
		return true
	case types.BoolKind:
		return y != List
	case types.IntKind, types.UintKind, types.DoubleKind, types.StringKind, types.TimestampKind:
		return y == Scalar
	case types.ListKind:
		return y == List && Scalar.holds(t.Parameters()[0])
	}
	return false
}

func article(t *cel.Type) string {
	if t.Kind() == types.NullTypeKind {
		return "null"
	}
	name := cel.FormatCELType(t)
	if strings.ContainsRune("aeiou", rune(name[0])) && t.Kind() != types.UintKind {
		return "an " + name
	}
	return "a " + name
}

// names looks at every name in the expression: what it asks of the principal must be there, and is noted.
func (e *Expression) names(tree *ast.AST, n ast.NavigableExpr) error {
	wrong := func(format string, args ...any) error {
		at := tree.SourceInfo().GetStartLocation(n.ID())
		return &Fault{Line: at.Line(), Column: at.Column() + 1, Message: fmt.Sprintf(format, args...)}
	}
	switch n.Kind() {
	case ast.IdentKind:
		if n.AsIdent() == root {
			if message := e.below(n); message != "" {
				return wrong("%s", message)
			}
		}
	case ast.ComprehensionKind:
		if n.AsComprehension().IterVar() == root {
			return wrong("%s can't be the name of a variable", root)
		}
	case ast.CallKind:
		call := n.AsCall()
		if args := call.Args(); call.FunctionName() == "matches" && len(args) > 0 {
			if _, ok := literal(args[len(args)-1]); !ok {
				return wrong("the pattern of matches is written out, in quotes")
			}
		}
	}
	for _, child := range n.Children() {
		if err := e.names(tree, child); err != nil {
			return err
		}
	}
	return nil
}

// below notes what is read below principal, which stands at n, or says what is wrong with it.
func (e *Expression) below(n ast.NavigableExpr) string {
	known := make([]string, len(fields))
	for i, f := range fields {
		known[i] = f.name
	}
	field, ok := n.Parent()
	if !ok || field.Kind() != ast.SelectKind {
		return "principal stands with what is asked of it, such as principal.tenant or principal.claims.region"
	}
	switch name := field.AsSelect().FieldName(); {
	case !slices.Contains(known, name):
		return fmt.Sprintf("a principal has no %q%s; it has %s", problem.Cut(name), problem.DidYouMean(problem.Nearest(name, known, 2)), strings.Join(known, ", "))
	case field.AsSelect().IsTestOnly():
		return "has() asks for a claim: has(principal.claims.region)"
	case name != claimsField:
		return ""
	}
	if claim, ok := claimOf(field); !ok {
		e.all = true
	} else if i, ok := slices.BinarySearch(e.claims, claim); !ok {
		e.claims = slices.Insert(e.claims, i, claim)
	}
	return ""
}

// claimOf returns the one claim that is read of principal.claims, which stands at n.
func claimOf(n ast.NavigableExpr) (string, bool) {
	around, ok := n.Parent()
	switch {
	case !ok:
	case around.Kind() == ast.SelectKind:
		return around.AsSelect().FieldName(), true
	case around.AsCall().FunctionName() == operators.Index:
		return literal(around.AsCall().Args()[1])
	case around.AsCall().FunctionName() == operators.In:
		return literal(around.AsCall().Args()[0])
	}
	return "", false
}

// pathOf returns the path below principal that n is, if it is nothing else.
func pathOf(n ast.Expr) (path []string, ok bool) {
	var name string
	switch n.Kind() {
	case ast.IdentKind:
		return nil, n.AsIdent() == root
	case ast.SelectKind:
		if name, ok = n.AsSelect().FieldName(), !n.AsSelect().IsTestOnly(); ok {
			path, ok = pathOf(n.AsSelect().Operand())
		}
	case ast.CallKind:
		if call := n.AsCall(); call.FunctionName() == operators.Index {
			if name, ok = literal(call.Args()[1]); ok {
				path, ok = pathOf(call.Args()[0])
			}
		}
	}
	if !ok {
		return nil, false
	}
	return append(path, name), true
}

// literal returns the text that n writes out.
func literal(n ast.Expr) (string, bool) {
	s, ok := n.AsLiteral().(types.String)
	return string(s), ok
}
