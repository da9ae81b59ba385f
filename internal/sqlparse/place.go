package sqlparse

import (
	"strings"

	"github.com/bailiwick-dev/bailiwick/problem"
)

// WithPlace returns err with its place moved into the text of the error.
func WithPlace(err error) error {
	p := problem.Of(err)
	if !strings.HasPrefix(p.Pointer, "line ") {
		return err
	}
	moved := *p
	moved.Detail, moved.Pointer = p.Pointer+": "+p.Detail, "/sql"
	return &moved
}

// Written returns the name as text. Long parts are cut.
func (e *Name) Written() string {
	parts := make([]string, len(e.Parts))
	for i, p := range e.Parts {
		parts[i] = problem.Cut(p.Text)
	}
	return strings.Join(parts, ".")
}

// Mode returns the argument of a mode: mode() WITHIN GROUP (ORDER BY x), or mode(x) as in other databases. X is nil for
// any other call.
func (e *Call) Mode() Order {
	of := e.Within
	switch {
	case len(e.Args) == 1 && of == nil:
		of = []Order{{X: e.Args[0]}}
	case len(e.Args) > 0:
		of = nil
	}
	if len(of) != 1 || e.Distinct {
		return Order{}
	}
	if e.Filter != nil {
		of = []Order{{X: &Case{When: []Expr{e.Filter}, Then: []Expr{of[0].X}, At: e.At}, Desc: of[0].Desc}}
	}
	return of[0]
}

// Pos implements Expr.
func (e *Name) Pos() Pos { return e.Parts[0].At }

// Pos implements Expr.
func (e *Star) Pos() Pos { return e.At }

// Pos implements Expr.
func (e *Number) Pos() Pos { return e.At }

// Pos implements Expr.
func (e *String) Pos() Pos { return e.At }

// Pos implements Expr.
func (e *Word) Pos() Pos { return e.At }

// Pos implements Expr.
func (e *Param) Pos() Pos { return e.At }

// Pos implements Expr.
func (e *Unary) Pos() Pos { return e.At }

// Pos implements Expr.
func (e *Binary) Pos() Pos { return e.L.Pos() }

// Pos implements Expr.
func (e *Is) Pos() Pos { return e.X.Pos() }

// Pos implements Expr.
func (e *Between) Pos() Pos { return e.X.Pos() }

// Pos implements Expr.
func (e *In) Pos() Pos { return e.X.Pos() }

// Pos implements Expr.
func (e *Like) Pos() Pos { return e.X.Pos() }

// Pos implements Expr.
func (e *Any) Pos() Pos { return e.X.Pos() }

// Pos implements Expr.
func (e *Case) Pos() Pos { return e.At }

// Pos implements Expr.
func (e *Cast) Pos() Pos { return e.At }

// Pos implements Expr.
func (e *Call) Pos() Pos { return e.At }

// Pos implements Expr.
func (e *Exists) Pos() Pos { return e.At }

// Pos implements Expr.
func (e *Sub) Pos() Pos { return e.At }

// Pos implements Expr.
func (e *Tuple) Pos() Pos { return e.At }

// Pos implements Expr.
func (e *Array) Pos() Pos { return e.At }

// Pos implements Expr.
func (e *Index) Pos() Pos { return e.X.Pos() }
