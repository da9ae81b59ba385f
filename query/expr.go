package query

import "github.com/bailiwick-dev/bailiwick/value"

// An Expr is an expression over a record. The set is closed. At is its JSON pointer, for messages.
type Expr interface{ isExpr() }

type (
	// FieldRef refers to a column, or a part of one: "$a.b".
	FieldRef struct {
		Path Path
		At   string
	}
	// VariableRef refers to a variable, or a part of one: "$$this.b". Name is without the dollars. ROOT is the whole
	// record and has no Path: "$$ROOT.a" is the FieldRef "$a".
	VariableRef struct {
		Name string
		Path Path // nil for the whole value
		At   string
	}
	// Literal is a constant. A list without computed elements is a Literal. An object is only a Literal as the operand
	// of $literal.
	Literal struct {
		Value value.Value
		At    string
	}
	// ObjectExpr is an object of computed members, whose names have one part each.
	ObjectExpr struct {
		Members []Computed
		At      string
	}
	// ListExpr is a list with at least one computed element.
	ListExpr struct {
		Elements []Expr
		At       string
	}
	// Call is an operator with its arguments. For an operator with named arguments there is one for each name, or nil
	// if it is missing.
	Call struct {
		Op   string // "$add"
		Args []Expr
		At   string
	}
	// Switch is $switch, or $cond as a switch with one case. A nil Default means null.
	Switch struct {
		Cases   []Case
		Default Expr
		Cond    bool // it is written as $cond
		At      string
	}
	// Lambda is $filter, $map or $reduce over the elements of Input. Body is computed for each of them, with the
	// element in the variable As and, for $reduce, the previous result in the variable value, initially Initial.
	Lambda struct {
		Op      string // "$filter", "$map", "$reduce"
		Input   Expr
		As      string // the default is "this"
		Initial Expr   // for $reduce
		Limit   Expr   // for $filter, or nil
		Body    Expr
		At      string
	}
	// Let is $let: In, in which Vars are variables.
	Let struct {
		Vars []Computed
		In   Expr
		At   string
	}
)

// A Case is one branch of a Switch.
type Case struct{ If, Then Expr }

func (FieldRef) isExpr()    {}
func (VariableRef) isExpr() {}
func (Literal) isExpr()     {}
func (ObjectExpr) isExpr()  {}
func (ListExpr) isExpr()    {}
func (Call) isExpr()        {}
func (Switch) isExpr()      {}
func (Lambda) isExpr()      {}
func (Let) isExpr()         {}
