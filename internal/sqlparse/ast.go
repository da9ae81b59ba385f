// Package sqlparse parses SELECT statements.
//
//	text ─lexer→ tokens ─parser→ *Query
//
// The grammar is PostgreSQL's SELECT. It also accepts spellings of other databases if they have only one meaning:
// backticks, [brackets], TOP n, and LIMIT a, b. Any other SQL is refused by name, with its line and column. The package
// doesn't resolve names. Package sqlbind does, over the views of one principal.
//
// RewriteIdioms turns unambiguous forms of other databases into PostgreSQL's forms, so that no other code has to know
// them:
//
//	NVL2(a, b, c) → CASE WHEN a IS NOT NULL THEN b ELSE c END
package sqlparse

import "strings"

// A Pos is a place in the text: line and column, both from 1, in characters.
type Pos struct{ Line, Column int }

// A Query is a SELECT with its set operations, order and limit.
type Query struct {
	With   []CTE
	Body   Body
	Order  []Order
	Limit  Expr // may be nil
	Offset Expr
	At     Pos
}

// A CTE is a named query of a WITH clause.
type CTE struct {
	Name      Ident
	Columns   []Ident
	Query     *Query
	Recursive bool
}

// A Body is a *Select, a *SetOp, a *Values, or a *Query in parentheses.
type Body interface{ isBody() }

// A Select is one SELECT.
type Select struct {
	Distinct bool
	On       []Expr // the expressions of DISTINCT ON
	Top      Expr   // the limit of a SELECT TOP n, or nil
	Items    []Item
	From     []From // joined by commas
	Where    Expr
	Group    []Expr
	Sets     [][]int // the sets of GROUPING SETS, ROLLUP or CUBE, as indexes of Group, or nil for a single set with all of Group
	GroupAll bool    // GROUP BY ALL: by each item without an aggregate
	Having   Expr
	Qualify  Expr // tests the results of the window functions, or nil
	Windows  []NamedWindow
	At       Pos
}

// A SetOp combines the records of two bodies: "union", "intersect" or "except".
type SetOp struct {
	Op          string
	All         bool
	Left, Right Body
	At          Pos
}

// Values is a VALUES list.
type Values struct {
	Rows [][]Expr
	At   Pos
}

func (*Select) isBody() {}
func (*SetOp) isBody()  {}
func (*Values) isBody() {}
func (*Query) isBody()  {}

// An Item is an element of a select list.
type Item struct {
	X     Expr   // a Star for * and t.*
	Alias *Ident // may be nil
	Text  string // X as written, without line breaks
}

// Title returns the name of the item's column. If the name comes from a column in X, it also returns that column,
// otherwise nil.
func (it Item) Title() (string, *Name) {
	if it.Alias != nil {
		return it.Alias.Text, nil
	}
	x := it.X
	for {
		switch e := x.(type) {
		case *Name:
			return e.Parts[len(e.Parts)-1].Text, e
		case *Cast:
			x = e.X
			continue
		case *Call:
			return e.Name, nil
		case *Case:
			return "case", nil
		case *Exists:
			return "exists", nil
		case *Word:
			return e.Text, nil
		}
		if len(it.Text) > 60 || strings.ContainsAny(it.Text, "\"\x00") {
			return "column", nil
		}
		return it.Text, nil
	}
}

// An Order is a term of an ORDER BY.
type Order struct {
	X     Expr
	Desc  bool
	Nulls string // "first", "last" or ""
}

// An Ident is a name. An unquoted name matches without regard to case.
type Ident struct {
	Text   string
	Quoted bool
	At     Pos
}

// A From is a *Table, a *Derived, a *Function or a *Join.
type From interface{ isFrom() }

type (
	// Table is a class or a CTE: its Name may be qualified.
	Table struct {
		Name  []Ident
		Alias Alias
	}
	// Derived is a query in FROM.
	Derived struct {
		Query   *Query
		Lateral bool
		Alias   Alias
		At      Pos
	}
	// Function is a function in FROM, such as generate_series. With Ordinality, its records are numbered.
	Function struct {
		Call       *Call
		Ordinality bool
		Alias      Alias
	}
	// Join is a join of kind "inner", "left", "right", "full" or "cross". Bare marks a join without ON, which is a
	// cross join.
	Join struct {
		Kind        string
		Bare        bool
		Natural     bool
		Left, Right From
		On          Expr
		Using       []Ident
		At          Pos
	}
)

func (*Table) isFrom()    {}
func (*Derived) isFrom()  {}
func (*Function) isFrom() {}
func (*Join) isFrom()     {}

// An Alias names a FROM item and, if it has Columns, its columns. Only qualified names find the columns of a Hidden
// item, and * omits them. The parser makes no hidden items.
type Alias struct {
	Name    *Ident
	Columns []Ident
	Hidden  bool
}

// A Window is the specification of an OVER clause.
type Window struct {
	Base      *Ident // a named window, or nil
	Partition []Expr
	Order     []Order
	Frame     *Frame
	At        Pos
}

// A NamedWindow is an element of a WINDOW clause.
type NamedWindow struct {
	Name Ident
	Window
}

// A Frame is the frame of a window: the Unit is "rows", "range" or "groups".
type Frame struct {
	Unit       string
	Start, End Bound
	At         Pos
}

// A Bound is one end of a frame. Offset is nil for UNBOUNDED and CURRENT ROW.
type Bound struct {
	Current   bool
	Unbounded bool
	Following bool
	Offset    Expr
}

// An Expr is an expression. The set is closed.
type Expr interface{ Pos() Pos }

type (
	// Name is a column name with optional qualifiers.
	Name struct{ Parts []Ident }
	// Star is * or t.*, without the columns of Except.
	Star struct {
		Table  []Ident
		Except []Ident
		At     Pos
	}
	// Number is a number as written.
	Number struct {
		Text string
		At   Pos
	}
	// String is a string constant. Type is the type of a typed constant, such as "date" in DATE '2024-01-01'.
	String struct {
		Text, Type string
		At         Pos
	}
	// Word is TRUE, FALSE, NULL, or a function without parentheses such as CURRENT_DATE, in lower case.
	Word struct {
		Text string
		At   Pos
	}
	// Param is a parameter: $1, or :name.
	Param struct {
		Name string
		At   Pos
	}
	// Unary is NOT, -, + or ~.
	Unary struct {
		Op string
		X  Expr
		At Pos
	}
	// Binary is an operator with two operands. Op is in lower case: "and", "or", "=", "
	//
	// ", "->", "at time zone" ….
	Binary struct {
		Op   string
		L, R Expr
		At   Pos
	}
	// Is is X IS [NOT] NULL, TRUE, FALSE, UNKNOWN or DISTINCT FROM Y.
	Is struct {
		X    Expr
		Not  bool
		What string
		Y    Expr
		At   Pos
	}
	// Between is X [NOT] BETWEEN [SYMMETRIC] Low AND High.
	Between struct {
		X, Low, High   Expr
		Not, Symmetric bool
		At             Pos
	}
	// In is X [NOT] IN a list or a query.
	In struct {
		X     Expr
		Not   bool
		List  []Expr
		Query *Query
		At    Pos
	}
	// Like is X [NOT] LIKE, ILIKE or SIMILAR TO Pattern, or a match with a regular expression. Op is "like", "ilike",
	// "similar", "~" or "~*".
	Like struct {
		Op         string
		X, Pattern Expr
		Escape     Expr
		Not        bool
		At         Pos
	}
	// Any is X Op ANY or ALL of a query or of a list.
	Any struct {
		X     Expr
		Op    string
		All   bool
		Query *Query
		List  Expr
		At    Pos
	}
	// Case is a CASE. Operand is nil if the CASE has no operand.
	Case struct {
		Operand    Expr
		When, Then []Expr
		Else       Expr
		At         Pos
	}
	// Cast converts X to Type, which is in lower case and includes arguments: "numeric(10,2)".
	Cast struct {
		X    Expr
		Type string
		At   Pos
	}
	// Call is a function with its arguments.
	Call struct {
		Name     string // in lower case
		Args     []Expr
		Star     bool
		Distinct bool
		Order    []Order
		Within   []Order // WITHIN GROUP
		Limit    Expr    // limits the values that array_agg and string_agg collect, or nil
		Filter   Expr
		Over     *Window
		At       Pos
	}
	// Exists is EXISTS (query).
	Exists struct {
		Query *Query
		At    Pos
	}
	// Sub is a query that yields one value.
	Sub struct {
		Query *Query
		At    Pos
	}
	// Tuple is a list of expressions in parentheses.
	Tuple struct {
		Items []Expr
		At    Pos
	}
	// Array is ARRAY[…].
	Array struct {
		Items []Expr
		At    Pos
	}
	// Index is X[I], or X[I:To].
	Index struct {
		X, I, To Expr // To is nil for a single element
		At       Pos
	}
)
