package expression

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"cel.dev/cel-go/common/ast"
	"cel.dev/cel-go/common/operators"
	"github.com/bailiwick-dev/bailiwick/identity"
	"github.com/bailiwick-dev/bailiwick/problem"
)

// closedFields returns the texts that fields can have, by root and field. For a list they are the texts of its elements.
// A comparison with another text has always the same result, so it is a fault.
func closedFields() map[string][]string {
	var scopes []string
	for _, s := range []identity.Scope{identity.Read, identity.Write, identity.Delete, identity.Schema, identity.Review, identity.Audit, identity.Operator, identity.Explain} {
		scopes = append(scopes, string(s))
	}
	return map[string][]string{
		"change.op":        {"create", "update", "delete", "action", "call", "schema", "group"},
		"change.risk":      {"low", "medium", "high"},
		"principal.kind":   {string(identity.Agent), string(identity.Human), string(identity.Service)},
		"principal.scopes": scopes,
	}
}

// A closedCheck finds comparisons of an expression that can never hold.
type closedCheck struct {
	tree     *ast.AST
	closed   map[string][]string // by the path, such as change.op
	elements map[string]string   // the list of which the variable of a macro is an element
	names    []comparedName
}

// A comparedName is a text with which an expression compares a name of the configuration.
type comparedName struct {
	path         string // such as change.class
	text         string
	line, column int
}

// openNames are the fields whose texts the configuration decides.
var openNames = []string{"change.class", "change.classes", "change.action", "change.tool", "change.source"}

// check returns the fault of the first such comparison in n.
func (c *closedCheck) check(n ast.NavigableExpr) error {
	switch n.Kind() {
	case ast.CallKind:
		call := n.AsCall()
		args := call.Args()
		switch call.FunctionName() {
		case operators.Equals, operators.NotEquals:
			if err := c.compared(args[0], args[1]); err != nil {
				return err
			}
			if err := c.compared(args[1], args[0]); err != nil {
				return err
			}
		case operators.In:
			of := []ast.Expr{args[1]}
			if args[1].Kind() == ast.ListKind {
				of = args[1].AsList().Elements()
			}
			for _, element := range of {
				if err := c.compared(args[0], element); err != nil {
					return err
				}
				if err := c.compared(element, args[0]); err != nil {
					return err
				}
			}
		}
	case ast.ComprehensionKind:
		of := n.AsComprehension()
		name, before := of.IterVar(), c.elements[of.IterVar()]
		c.elements[name] = closedPath(of.IterRange())
		defer func() { c.elements[name] = before }()
	}
	for _, child := range n.Children() {
		if err := c.check(child); err != nil {
			return err
		}
	}
	return nil
}

// compared returns the fault of a comparison of a field with a literal that the field can't have.
func (c *closedCheck) compared(of, with ast.Expr) error {
	text, ok := literal(with)
	name := closedPath(of)
	name = cmp.Or(c.elements[name], name)
	values := c.closed[name]
	at := c.tree.SourceInfo().GetStartLocation(with.ID())
	if ok && slices.Contains(openNames, name) {
		c.names = append(c.names, comparedName{name, text, at.Line(), at.Column() + 1})
	}
	if !ok || values == nil || slices.Contains(values, text) {
		return nil
	}
	near := problem.DidYouMean(problem.Nearest(text, values, 2))
	if near == "" {
		near = "."
	}
	return &expressionFault{Line: at.Line(), Column: at.Column() + 1,
		Message: fmt.Sprintf("%s is never %q%s It is one of %s", name, problem.Cut(text), near, strings.Join(values, ", "))}
}

// closedPath returns the path that n reads, such as change.op.
func closedPath(n ast.Expr) string {
	name, path := pathOf(n)
	if name == "" {
		return ""
	}
	return strings.Join(append([]string{name}, path...), ".")
}

// CheckNames checks the texts with which c compares names of the configuration. known has the possible texts by path, such
// as change.class. A path without texts isn't checked. The error is a sentence with the place in the expression.
func (c *Condition) CheckNames(known map[string][]string) error {
	for _, n := range c.expression.names {
		texts := known[n.path]
		if texts == nil || n.text == "" || slices.Contains(texts, n.text) {
			continue
		}
		near := problem.Nearest(n.text, texts, 2)
		for _, text := range texts {
			if strings.HasSuffix(text, "."+n.text) { // a class without its source
				near = []string{text}
			}
		}
		return &expressionFault{Line: n.line, Column: n.column, Message: fmt.Sprintf("%s is never %q%s", n.path, problem.Cut(n.text), problem.DidYouMean(near))}
	}
	return nil
}
