package architecture

import (
	"go/ast"
	"go/token"
	"testing"
)

// TestOneWayToChangeANode checks that only its own methods assign the expression of a typecheck.Node. They also set the
// facts about it. A node that was computed from a constant and still counted as the constant made a statement panic.
func TestOneWayToChangeANode(t *testing.T) {
	seen := 0
	walk(t, func(_, path string, file *ast.File, fset *token.FileSet) {
		typed := file.Name.Name == "typecheck" || file.Name.Name == "sqlbind"
		for _, i := range file.Imports {
			typed = typed || i.Path.Value == `"github.com/bailiwick-dev/bailiwick/internal/typecheck"`
		}
		ast.Inspect(file, func(n ast.Node) bool {
			assign, ok := n.(*ast.AssignStmt)
			if !ok || !typed {
				return true
			}
			for _, to := range assign.Lhs {
				field, ok := to.(*ast.SelectorExpr)
				if !ok || field.Sel.Name != "Expr" && field.Sel.Name != "Constant" {
					continue
				}
				if seen++; path != "internal/typecheck/node.go" {
					t.Errorf("%s: assigns %s; use Compute, Elsewhere or Become of typecheck.Node", fset.Position(to.Pos()), field.Sel.Name)
				}
			}
			return true
		})
	})
	if seen == 0 {
		t.Error("no assignment was found at all: the fields have other names")
	}
}
