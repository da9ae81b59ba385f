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
	maxText  = 2000   // characters
	maxList  = 1000   // values in a list result, for example for $in
	maxCost  = 50_000 // of one evaluation, in CEL's units. One unit is about one step or ten characters
	maxNodes = 500    // syntax nodes, with macros expanded
	maxDepth = 50     // nesting of expressions
	maxLoops = 2      // nesting of macros
)

// An expressionFault is an error in the text of an expression.
type expressionFault struct {
	Line, Column int // from 1, in characters. 0 if the error concerns the whole expression
	Message      string
}

// Error returns the position within the expression and the message.
func (f *expressionFault) Error() string {
	switch {
	case f.Line > 1:
		return fmt.Sprintf("line %d, character %d of the expression: %s", f.Line, f.Column, f.Message)
	case f.Line == 1:
		return fmt.Sprintf("character %d of the expression: %s", f.Column, f.Message)
	}
	return f.Message
}

// Place returns the line and the column of the fault in the expression, from 1. They are 0 if it concerns the whole expression.
func (f *expressionFault) Place() (line, column int) { return f.Line, f.Column }

// A Compiler compiles expressions and caches the results by text. Filters in principals are therefore compiled only
// once. It is safe for concurrent use.
type Compiler struct {
	env     *cel.Env
	roots   []root
	changes func() *Compiler // returns the compiler for expressions over changes, created on first use

	mu   sync.RWMutex
	made map[source]result
}

// maxMade is the maximum number of expressions that a Compiler caches.
const maxMade = 4096

// A source is the key of a compiled expression.
type source struct {
	text  string
	yield Yield
}

// A result is the result of a compilation, or its error. Errors are cached because invalid filters are compiled as
// often as valid ones.
type result struct {
	expression *Expression
	err        error
}

// NewCompiler returns a Compiler of expressions over principal.
func NewCompiler() *Compiler {
	options := []cel.EnvOption{
		cel.ParserExpressionSizeLimit(maxText), cel.ExpressionNodeLimit(maxNodes), cel.ParserRecursionLimit(maxDepth), cel.ParserErrorRecoveryLimit(4),
		cel.RegexProgramSizeLimit(maxNodes), cel.DefaultUTCTimeZone(true), cel.CrossTypeNumericComparisons(true),
		cel.ASTValidators(cel.ValidateRegexLiterals(), cel.ValidateTimestampLiterals(), cel.ValidateDurationLiterals(),
			cel.ValidateComprehensionNestingLimit(maxLoops)),
	}
	who := principalRoot()
	env, err := cel.NewEnv(append(options, who.declare()...)...)
	if err != nil {
		panic(err) // can't fail, because it has no external input
	}
	c := &Compiler{env: env, roots: []root{who}, made: map[source]result{}}
	c.changes = sync.OnceValue(func() *Compiler { return c.with(changeRoot()) })
	return c
}

// with returns a Compiler with the variables of c and these additional ones.
func (c *Compiler) with(more ...root) *Compiler {
	var options []cel.EnvOption
	for _, r := range more {
		options = append(options, r.declare()...)
	}
	env, err := c.env.Extend(options...)
	if err != nil {
		panic(err) // can't fail, because the names are already checked
	}
	return &Compiler{env: env, roots: slices.Concat(c.roots, more), made: map[source]result{}}
}

// Compile compiles an expression that must yield y. Errors in the text have the type *expressionFault.
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
	for old := range c.made { // evict an arbitrary entry
		if len(c.made) < maxMade {
			break
		}
		delete(c.made, old)
	}
	c.made[s] = r
	return r.expression, r.err
}

// compile parses an expression and checks its names, its type and its minimum cost. Most expressions only read a path
// below a root. They are evaluated without CEL.
func (c *Compiler) compile(text string, y Yield) (*Expression, error) {
	if strings.TrimSpace(text) == "" {
		return nil, &expressionFault{Message: "the expression is empty"}
	}
	parsed, issues := c.env.Parse(text)
	if err := fault(issues); err != nil {
		return nil, err
	}
	e := &Expression{text: text, yield: y}
	tree := ast.NavigateAST(parsed.NativeRep())
	if err := e.checkNames(parsed.NativeRep(), tree, c.roots); err != nil {
		return nil, err
	}
	closed := closedCheck{tree: parsed.NativeRep(), closed: closedFields(), elements: map[string]string{}}
	if err := closed.check(tree); err != nil {
		return nil, err
	}
	e.names = closed.names
	e.root, e.path = c.path(tree) // must run before Check, which modifies the tree
	checked, issues := c.env.Check(parsed)
	if err := fault(issues); err != nil {
		if name, ok := strings.CutPrefix(text, principalName+"."+claimsField+"."); ok && !strings.ContainsAny(name, ` .()[]"'`) {
			err.Message += fmt.Sprintf("; write %s.%s[%q] for the claim of that name", principalName, claimsField, name)
		}
		return nil, err
	}
	if t := checked.OutputType(); !y.holds(t) {
		return nil, &expressionFault{Message: fmt.Sprintf("it yields %s, and has to yield %s", article(t), y)}
	}
	if e.root != "" {
		return e, nil
	}
	cost, err := c.env.EstimateCost(checked, nil)
	if err == nil && cost.Min > maxCost { // an unknown cost is limited at evaluation
		return nil, &expressionFault{Message: fmt.Sprintf("it costs too much: at least %d, and %d is allowed", cost.Min, maxCost)}
	}
	if e.program, err = c.env.Program(checked, cel.EvalOptions(cel.OptOptimize), cel.CostLimit(maxCost)); err != nil {
		return nil, &expressionFault{Message: "it can't be evaluated: " + tidy(err.Error())}
	}
	return e, nil
}

// fault returns the first of the issues as an *expressionFault, or nil.
func fault(issues *cel.Issues) *expressionFault {
	if issues.Err() == nil {
		return nil
	}
	first := issues.Errors()[0]
	return &expressionFault{Line: max(first.Location.Line(), 0), Column: first.Location.Column() + 1, Message: tidy(first.Message)}
}

// tidy shortens an error message of CEL and removes unhelpful parts.
func tidy(message string) string {
	message, _, _ = strings.Cut(message, "\n")
	message, _, _ = strings.Cut(message, " expecting {")
	message = strings.TrimPrefix(message, "Syntax error: ")
	return problem.Cut(strings.ReplaceAll(message, " (in container '')", ""))
}

// holds reports whether an expression with the CEL type t can yield y.
func (y Yield) holds(t *cel.Type) bool {
	switch t.Kind() {
	case types.DynKind, types.AnyKind:
		return true
	case types.BoolKind:
		return y != List
	case types.IntKind, types.UintKind, types.DoubleKind, types.StringKind, types.TimestampKind:
		return y == Scalar || y == Any
	case types.ListKind:
		return y == Any && Any.holds(t.Parameters()[0]) || y == List && Scalar.holds(t.Parameters()[0])
	case types.MapKind:
		return y == Any && Any.holds(t.Parameters()[1])
	case types.NullTypeKind:
		return y == Any
	}
	return false
}

// article returns the name of a type with its article, for error messages.
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

// checkNames checks every name in the expression against the roots. It records the claims that the expression reads.
func (e *Expression) checkNames(tree *ast.AST, n ast.NavigableExpr, roots []root) error {
	wrong := func(format string, args ...any) error {
		at := tree.SourceInfo().GetStartLocation(n.ID())
		return &expressionFault{Line: at.Line(), Column: at.Column() + 1, Message: fmt.Sprintf(format, args...)}
	}
	switch n.Kind() {
	case ast.IdentKind:
		if i := slices.IndexFunc(roots, func(r root) bool { return r.name == n.AsIdent() }); i >= 0 {
			if message := roots[i].below(n, e); message != "" {
				return wrong("%s", message)
			}
		}
	case ast.ComprehensionKind:
		if name := n.AsComprehension().IterVar(); slices.ContainsFunc(roots, func(r root) bool { return r.name == name }) {
			return wrong("%s can't be the name of a variable", name)
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
		if err := e.checkNames(tree, child, roots); err != nil {
			return err
		}
	}
	return nil
}

// claimOf returns the name of the member that is read from n, if the name is a literal. The member is a claim of
// principal.claims or a field of a variable.
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

// path returns the root and the path if n only reads a path below a root. Otherwise the root is "".
func (c *Compiler) path(n ast.Expr) (string, []string) {
	name, path := pathOf(n)
	if !slices.ContainsFunc(c.roots, func(r root) bool { return r.name == name }) {
		return "", nil
	}
	return name, path
}

// pathOf returns the identifier at the root of n and the path below it. It returns "" if n contains anything except
// selections and constant indexes. has(x.y) doesn't count as a path, because it tests whether the path exists.
func pathOf(n ast.Expr) (of string, path []string) {
	var name string
	switch n.Kind() {
	case ast.IdentKind:
		return n.AsIdent(), nil
	case ast.SelectKind:
		if s := n.AsSelect(); !s.IsTestOnly() {
			name = s.FieldName()
			of, path = pathOf(s.Operand())
		}
	case ast.CallKind:
		if call := n.AsCall(); call.FunctionName() == operators.Index {
			var ok bool
			if name, ok = literal(call.Args()[1]); ok {
				of, path = pathOf(call.Args()[0])
			}
		}
	}
	return of, append(path, name)
}

// literal returns the text of n, if it is a text literal.
func literal(n ast.Expr) (string, bool) {
	s, ok := n.AsLiteral().(types.String)
	return string(s), ok
}
