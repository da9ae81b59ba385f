package architecture

import (
	"go/ast"
	"go/parser"
	"go/token"
	"strings"
	"testing"
)

// TestNoDialectByName checks that only the folder of a database depends on its name: elsewhere, a difference between databases is a method
// or a part of the dialect. Otherwise each new database would be an edit of every such place.
func TestNoDialectByName(t *testing.T) {
	walk(t, func(dir, path string, file *ast.File, fset *token.FileSet) {
		if strings.HasPrefix(dir, "source/") || dir != "internal/sqlgen" && !importsDialect(file) {
			return
		}
		for _, at := range comparedNames(file) {
			t.Errorf("%s compares the name of a dialect: make the difference a method or a part of sqlgen.Dialect", fset.Position(at))
		}
	})
	for code, want := range map[string]int{
		`d.Name() == "sqlite"`: 1, `"sqlite" != d.Name()`: 1, `x && !(d.Name() == lite)`: 1, `strings.HasPrefix(d.Name(), "post")`: 1, `slices.Contains(all, r.db.Dialect().Name())`: 1,
		`forms[d.Name()]`: 1, `func() { switch d.Name() { case "sqlite": } }`: 1, `func() { name := d.Name(); _ = name }`: 1,
		`fmt.Sprintf("not supported by %s", d.Name())`: 0, `"not supported by " + d.Name()`: 0, `f.Name == "id"`: 0, `v.Class().Name == "id"`: 0,
	} {
		file, err := parser.ParseFile(token.NewFileSet(), "x.go", "package x\nvar _ = "+code, 0)
		if err != nil {
			t.Fatal(code, err)
		}
		if got := len(comparedNames(file)); got != want {
			t.Errorf("%s: %d comparisons, want %d", code, got, want)
		}
	}
}

// importsDialect reports whether a file of another package can hold a dialect.
func importsDialect(file *ast.File) bool {
	for _, spec := range file.Imports {
		if strings.Trim(spec.Path.Value, `"`) == module+"/internal/sqlgen" {
			return true
		}
	}
	return false
}

// comparedNames returns where a file decides by what a method Name returns. It compares the name, looks it up, keeps it, or passes it to
// strings or slices.
func comparedNames(file *ast.File) (at []token.Pos) {
	name := func(e ast.Expr) bool {
		call, ok := ast.Unparen(e).(*ast.CallExpr)
		if !ok || len(call.Args) > 0 {
			return false
		}
		f, ok := call.Fun.(*ast.SelectorExpr)
		return ok && f.Sel.Name == "Name"
	}
	any := func(list ...ast.Expr) {
		for _, e := range list {
			if name(e) {
				at = append(at, e.Pos())
			}
		}
	}
	ast.Inspect(file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.BinaryExpr:
			if n.Op == token.EQL || n.Op == token.NEQ {
				any(n.X, n.Y)
			}
		case *ast.SwitchStmt:
			any(n.Tag)
		case *ast.IndexExpr:
			any(n.Index)
		case *ast.AssignStmt:
			any(n.Rhs...)
		case *ast.CallExpr:
			if f, ok := n.Fun.(*ast.SelectorExpr); ok {
				if pkg, ok := f.X.(*ast.Ident); ok && (pkg.Name == "strings" || pkg.Name == "slices") {
					any(n.Args...)
				}
			}
		}
		return true
	})
	return at
}
