package query

import "github.com/bailiwick-dev/bailiwick/value"

// An Expr is a value computed of a record. The set is closed. At is the JSON pointer of the place, for messages.
type Expr interface{ isExpr() }

type (
	// FieldRef is a column, or a part of one: "$a.b".
	FieldRef struct {
		Path Path
		At   string
	}
	// VariableRef is a variable, or a part of one: "$$this.b". Name is without the dollars; ROOT is the whole record, and
	// has no Path: "$$ROOT.a" is the FieldRef "$a".
	VariableRef struct {
		Name string
		Path Path // nil for all of it
		At   string
	}
	// Literal is a constant. A list in which nothing is computed is one; an object is one behind $literal alone.
	Literal struct {
		Value value.Value
		At    string
	}
	// ObjectExpr is an object of computed members, whose names have one part each.
	ObjectExpr struct {
		Members []Computed
		At      string
	}
	// ListExpr is a list of elements, of which some are computed.
	ListExpr struct {
		Elements []Expr
		At       string
	}
	// Call is an operator with its arguments: those that stand in its list, or, of one whose arguments have names, one
	// for each of them, nil for one that is left out.
	Call struct {
		Op   string // "$add"
		Args []Expr
		At   string
	}
	// Switch is $switch, and $cond as a switch of one case. Default is nil where there is none, which gives null.
	Switch struct {
		Cases   []Case
		Default Expr
		Cond    bool // it is written $cond
		At      string
	}
	// Lambda is $filter, $map or $reduce over the elements of Input. Body is computed for each of them, with the
	// element in the variable As, and for $reduce with what came before in the variable value, which begins as Initial.
	Lambda struct {
		Op      string // "$filter", "$map", "$reduce"
		Input   Expr
		As      string // "this" when not named
		Initial Expr   // of $reduce
		Limit   Expr   // of $filter; nil for none
		Body    Expr
		At      string
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

// A Signature is how the arguments of an operator are written.
type Signature struct {
	Op       string
	Min, Max int      // how many stand in a list; Max -1 for any number. One alone may stand without the list
	Names    []string // when not nil, the arguments stand in an object instead, by these names, Min of them required
}

// Signatures are all operators that become a Call, by name: arithmetic, comparison, boolean, text, date, array and
// conversion, in the order of docs/pipelines.md.
var Signatures = []Signature{
	{Op: "$add", Min: 1, Max: -1}, {Op: "$subtract", Min: 2, Max: 2}, {Op: "$multiply", Min: 1, Max: -1},
	{Op: "$divide", Min: 2, Max: 2}, {Op: "$mod", Min: 2, Max: 2}, {Op: "$abs", Min: 1, Max: 1}, {Op: "$ceil", Min: 1, Max: 1},
	{Op: "$floor", Min: 1, Max: 1}, {Op: "$trunc", Min: 1, Max: 2}, {Op: "$round", Min: 1, Max: 2},

	{Op: "$eq", Min: 2, Max: 2}, {Op: "$ne", Min: 2, Max: 2}, {Op: "$gt", Min: 2, Max: 2}, {Op: "$gte", Min: 2, Max: 2},
	{Op: "$lt", Min: 2, Max: 2}, {Op: "$lte", Min: 2, Max: 2}, {Op: "$cmp", Min: 2, Max: 2},
	{Op: "$and", Min: 1, Max: -1}, {Op: "$or", Min: 1, Max: -1}, {Op: "$not", Min: 1, Max: 1},
	{Op: "$ifNull", Min: 2, Max: -1},

	{Op: "$concat", Min: 1, Max: -1}, {Op: "$substrCP", Min: 3, Max: 3}, {Op: "$toLower", Min: 1, Max: 1}, {Op: "$toUpper", Min: 1, Max: 1},
	{Op: "$trim", Min: 1, Names: []string{"input", "chars"}}, {Op: "$ltrim", Min: 1, Names: []string{"input", "chars"}},
	{Op: "$rtrim", Min: 1, Names: []string{"input", "chars"}}, {Op: "$split", Min: 2, Max: 2}, {Op: "$strLenCP", Min: 1, Max: 1},
	{Op: "$indexOfCP", Min: 2, Max: 2}, {Op: "$replaceAll", Min: 3, Names: []string{"input", "find", "replacement"}},
	{Op: "$regexMatch", Min: 2, Names: []string{"input", "regex", "options"}},

	{Op: "$year", Min: 1, Names: []string{"date", "timezone"}}, {Op: "$month", Min: 1, Names: []string{"date", "timezone"}},
	{Op: "$dayOfMonth", Min: 1, Names: []string{"date", "timezone"}}, {Op: "$dayOfYear", Min: 1, Names: []string{"date", "timezone"}},
	{Op: "$dayOfWeek", Min: 1, Names: []string{"date", "timezone"}}, {Op: "$isoDayOfWeek", Min: 1, Names: []string{"date", "timezone"}},
	{Op: "$isoWeek", Min: 1, Names: []string{"date", "timezone"}}, {Op: "$isoWeekYear", Min: 1, Names: []string{"date", "timezone"}},
	{Op: "$hour", Min: 1, Names: []string{"date", "timezone"}}, {Op: "$minute", Min: 1, Names: []string{"date", "timezone"}},
	{Op: "$second", Min: 1, Names: []string{"date", "timezone"}}, {Op: "$millisecond", Min: 1, Names: []string{"date", "timezone"}},
	{Op: "$dateTrunc", Min: 2, Names: []string{"date", "unit", "timezone", "startOfWeek"}},
	{Op: "$dateToString", Min: 1, Names: []string{"date", "format", "timezone", "onNull"}},
	{Op: "$dateAdd", Min: 3, Names: []string{"startDate", "unit", "amount", "timezone"}},
	{Op: "$dateSubtract", Min: 3, Names: []string{"startDate", "unit", "amount", "timezone"}},
	{Op: "$dateDiff", Min: 3, Names: []string{"startDate", "endDate", "unit", "timezone", "startOfWeek"}},

	{Op: "$size", Min: 1, Max: 1}, {Op: "$arrayElemAt", Min: 2, Max: 2}, {Op: "$in", Min: 2, Max: 2}, {Op: "$slice", Min: 2, Max: 3},
	{Op: "$isArray", Min: 1, Max: 1}, {Op: "$concatArrays", Min: 1, Max: -1}, {Op: "$mergeObjects", Min: 1, Max: -1},

	{Op: "$toString", Min: 1, Max: 1}, {Op: "$toInt", Min: 1, Max: 1}, {Op: "$toLong", Min: 1, Max: 1}, {Op: "$toDouble", Min: 1, Max: 1},
	{Op: "$toDecimal", Min: 1, Max: 1}, {Op: "$toDate", Min: 1, Max: 1}, {Op: "$toBool", Min: 1, Max: 1},
	{Op: "$convert", Min: 2, Names: []string{"input", "to", "onError", "onNull"}}, {Op: "$type", Min: 1, Max: 1},

	// Over the elements of one list, as expressions: {"$sum": "$scores"}.
	{Op: "$sum", Min: 1, Max: -1}, {Op: "$avg", Min: 1, Max: -1}, {Op: "$min", Min: 1, Max: -1}, {Op: "$max", Min: 1, Max: -1},
	{Op: "$first", Min: 1, Max: 1}, {Op: "$last", Min: 1, Max: 1},
}
