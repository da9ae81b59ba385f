package main

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// variable is the environment variable that enables a mutant. trace is the one that names a file. If a run reaches the
// place of a mutant, its number is added to that file.
const (
	variable = "BAILIWICK_MUTANT"
	trace    = "BAILIWICK_MUTANT_TRACE"
)

// switches is the code that each package with mutants gets: mutantOn, which its changed places call.
const switches = `

import (
	"os"
	"strconv"
	"sync"
)

var (
	mutantNow, _  = strconv.Atoi(os.Getenv("` + variable + `"))
	mutantTrace   = os.Getenv("` + trace + `")
	mutantReached sync.Map
)

// mutantOn reports whether mutant n is enabled.
func mutantOn(n int) bool {
	if mutantTrace != "" {
		if _, known := mutantReached.LoadOrStore(n, true); !known {
			file, err := os.OpenFile(mutantTrace, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
			if err != nil {
				panic(err)
			}
			if _, err := file.WriteString(strconv.Itoa(n) + "\n"); err != nil {
				panic(err)
			}
			if err := file.Close(); err != nil {
				panic(err)
			}
		}
	}
	return mutantNow == n
}
`

// A mutant is one small fault in a package.
type mutant struct {
	file string
	line int
	what string // the change
}

// String returns the place and the change.
func (m mutant) String() string { return fmt.Sprintf("%s:%d: %s", m.file, m.line, m.what) }

// An insertion is text to insert into a file at an offset. At the same offset, opening ones are in the order they were
// found, closing ones in reverse.
type insertion struct {
	at    int
	text  string
	close bool
}

// A weaver inserts mutants into one file.
type weaver struct {
	name    string
	fset    *token.FileSet
	source  []byte
	first   int // number of mutants in earlier files
	mutants []mutant
	inserts []insertion
}

// weave writes a copy of each file of the package in dir with all of its mutants as switches, and adds it to the
// overlay. files are the names of the files to change, nil for all. first is the number of earlier mutants.
func weave(dir string, files []string, first int, work string, overlay map[string]string) ([]mutant, error) {
	names, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil {
		return nil, err
	}
	var all []mutant
	pkg := ""
	for _, name := range names {
		if strings.HasSuffix(name, "_test.go") || len(files) > 0 && !slices.Contains(files, filepath.Base(name)) {
			continue
		}
		source, err := os.ReadFile(name)
		if err != nil {
			return nil, err
		}
		w := &weaver{name: name, fset: token.NewFileSet(), source: source, first: first + len(all)}
		file, err := parser.ParseFile(w.fset, name, source, parser.SkipObjectResolution)
		if err != nil {
			return nil, err
		}
		pkg = file.Name.Name
		ast.Inspect(file, w.visit)
		all = append(all, w.mutants...)
		if err := put(name, w.woven(), work, overlay); err != nil {
			return nil, err
		}
	}
	if pkg == "" {
		return nil, fmt.Errorf("there is no package in %s", dir)
	}
	return all, put(filepath.Join(dir, "mutant_switch.go"), []byte("package "+pkg+switches), work, overlay)
}

// put writes text and makes it replace the file called name in the overlay.
func put(name string, text []byte, work string, overlay map[string]string) error {
	full, err := filepath.Abs(name)
	if err != nil {
		return err
	}
	overlay[full] = filepath.Join(work, fmt.Sprintf("%d.go", len(overlay)))
	return os.WriteFile(overlay[full], text, 0o600)
}

// visit adds the mutants of a node.
func (w *weaver) visit(n ast.Node) bool {
	switch n := n.(type) {
	case *ast.GenDecl:
		return n.Tok == token.VAR // constants and types are not mutated
	case *ast.IfStmt:
		w.condition(n.Cond)
	case *ast.ForStmt:
		if n.Cond != nil {
			w.wrap(n.Cond, "(!mutantOn(%d) && (", "))", "never")
		}
	case *ast.SwitchStmt:
		if n.Tag != nil {
			break
		}
		for _, c := range n.Body.List {
			for _, e := range c.(*ast.CaseClause).List {
				w.condition(e)
			}
		}
	case *ast.BinaryExpr:
		w.binary(n)
	case *ast.BlockStmt:
		w.statements(n.List)
	case *ast.CaseClause:
		w.statements(n.Body)
	}
	return true
}

// condition adds mutants that make e always or never true.
func (w *weaver) condition(e ast.Expr) {
	w.wrap(e, "(!mutantOn(%d) && (", "))", "never")
	w.wrap(e, "(mutantOn(%d) || ", ")", "always")
}

// binary adds mutants that drop one side, or change the boundary of a comparison.
func (w *weaver) binary(n *ast.BinaryExpr) {
	switch n.Op {
	case token.LAND:
		w.wrap(n.X, "(mutantOn(%d) || ", ")", "left of && out")
		w.wrap(n.Y, "(mutantOn(%d) || ", ")", "right of && out")
	case token.LOR:
		w.wrap(n.X, "(!mutantOn(%d) && (", "))", "left of || out")
		w.wrap(n.Y, "(!mutantOn(%d) && (", "))", "right of || out")
	case token.LSS, token.GTR:
		if plain(n.X) && plain(n.Y) {
			w.wrap(n, "(mutantOn(%d) && "+w.verbatim(n.X)+" == "+w.verbatim(n.Y)+" || ", ")", "or equal")
		}
	case token.LEQ, token.GEQ:
		if plain(n.X) && plain(n.Y) {
			w.wrap(n, "((!mutantOn(%d) || "+w.verbatim(n.X)+" != "+w.verbatim(n.Y)+") && ", ")", "not equal")
		}
	}
}

// plain reports whether e has no side effects, so that it can be evaluated twice.
func plain(e ast.Expr) bool {
	ok := true
	ast.Inspect(e, func(n ast.Node) bool {
		if c, is := n.(*ast.CallExpr); is {
			f, named := c.Fun.(*ast.Ident)
			ok = ok && named && (f.Name == "len" || f.Name == "cap")
		}
		return ok
	})
	return ok
}

// statements adds mutants that drop statements, except those that end or declare something.
func (w *weaver) statements(list []ast.Stmt) {
	for _, s := range list {
		switch s := s.(type) {
		case *ast.ExprStmt:
			if locks(s) {
				continue
			}
		case *ast.IncDecStmt:
		case *ast.AssignStmt:
			if s.Tok == token.DEFINE || blank(s) {
				continue
			}
		default:
			continue
		}
		w.wrap(s, "if !mutantOn(%d) { ", " }", "out")
	}
}

// locks reports whether s locks or unlocks: its absence is for the race detector to find.
func locks(s *ast.ExprStmt) bool {
	call, ok := s.X.(*ast.CallExpr)
	if !ok {
		return false
	}
	f, ok := call.Fun.(*ast.SelectorExpr)
	return ok && strings.HasSuffix(f.Sel.Name, "ock")
}

// blank reports whether s assigns only to _.
func blank(s *ast.AssignStmt) bool {
	for _, l := range s.Lhs {
		if id, ok := l.(*ast.Ident); !ok || id.Name != "_" {
			return false
		}
	}
	return true
}

// wrap adds a mutant: before, formatted with its number, and after are inserted around n.
func (w *weaver) wrap(n ast.Node, before, after, what string) {
	from, to := w.fset.Position(n.Pos()), w.fset.Position(n.End())
	text := strings.Join(strings.Fields(w.text(n)), " ")
	if r := []rune(text); len(r) > 90 {
		text = string(r[:90]) + "…"
	}
	w.mutants = append(w.mutants, mutant{w.name, from.Line, what + ": " + text})
	w.inserts = append(w.inserts, insertion{from.Offset, fmt.Sprintf(before, w.first+len(w.mutants)), false}, insertion{to.Offset, after, true})
}

func (w *weaver) text(n ast.Node) string {
	return string(w.source[w.fset.Position(n.Pos()).Offset:w.fset.Position(n.End()).Offset])
}

// verbatim returns the text of n, escaped for a format.
func (w *weaver) verbatim(n ast.Node) string { return strings.ReplaceAll(w.text(n), "%", "%%") }

// woven returns the file with all of its mutants.
func (w *weaver) woven() []byte {
	// Later insertions are inside earlier ones, or at the same node.
	opens, closes := map[int]string{}, map[int]string{}
	for _, i := range w.inserts {
		if i.close {
			closes[i.at] = i.text + closes[i.at]
		} else {
			opens[i.at] += i.text
		}
	}
	var out []byte
	for at := range len(w.source) + 1 {
		out = append(out, closes[at]+opens[at]...)
		if at < len(w.source) {
			out = append(out, w.source[at])
		}
	}
	return out
}
