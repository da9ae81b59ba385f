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
	// Literal is a constant. A list without computed elements is a Literal. An object is one only as the operand of
	// $literal.
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
	// Call is an operator with its arguments. For an operator with named arguments there is one for each name, nil if
	// it is left out.
	Call struct {
		Op   string // "$add"
		Args []Expr
		At   string
	}
	// Switch is $switch, or $cond as a switch with one case. A nil Default gives null.
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

// A Signature describes the arguments of an operator.
type Signature struct {
	Op       string
	Min, Max int      // the number of positional arguments. Max is -1 for any number. A single one needs no list
	Names    []string // if not nil, the arguments are members of an object with these names, of which the first Min are required
}

// Signatures lists all operators that are parsed to a Call: arithmetic, comparison, boolean, text, date, array and
// conversion, in the order of docs/pipelines.md.
var Signatures = []Signature{
	{Op: "$add", Min: 1, Max: -1}, {Op: "$subtract", Min: 2, Max: 2}, {Op: "$multiply", Min: 1, Max: -1},
	{Op: "$divide", Min: 2, Max: 2}, {Op: "$mod", Min: 2, Max: 2}, {Op: "$abs", Min: 1, Max: 1}, {Op: "$ceil", Min: 1, Max: 1},
	{Op: "$floor", Min: 1, Max: 1}, {Op: "$trunc", Min: 1, Max: 2}, {Op: "$round", Min: 1, Max: 2},
	{Op: "$sqrt", Min: 1, Max: 1}, {Op: "$pow", Min: 2, Max: 2}, {Op: "$ln", Min: 1, Max: 1}, {Op: "$log10", Min: 1, Max: 1}, {Op: "$exp", Min: 1, Max: 1},
	{Op: "$bitAnd", Min: 1, Max: -1}, {Op: "$bitOr", Min: 1, Max: -1}, {Op: "$bitXor", Min: 1, Max: -1}, {Op: "$bitNot", Min: 1, Max: 1},

	{Op: "$eq", Min: 2, Max: 2}, {Op: "$ne", Min: 2, Max: 2}, {Op: "$gt", Min: 2, Max: 2}, {Op: "$gte", Min: 2, Max: 2},
	{Op: "$lt", Min: 2, Max: 2}, {Op: "$lte", Min: 2, Max: 2}, {Op: "$cmp", Min: 2, Max: 2},
	{Op: "$and", Min: 1, Max: -1}, {Op: "$or", Min: 1, Max: -1}, {Op: "$not", Min: 1, Max: 1},
	{Op: "$ifNull", Min: 2, Max: -1},

	{Op: "$concat", Min: 1, Max: -1}, {Op: "$substrCP", Min: 3, Max: 3}, {Op: "$toLower", Min: 1, Max: 1}, {Op: "$toUpper", Min: 1, Max: 1},
	{Op: "$trim", Min: 1, Names: []string{"input", "chars"}}, {Op: "$ltrim", Min: 1, Names: []string{"input", "chars"}},
	{Op: "$rtrim", Min: 1, Names: []string{"input", "chars"}}, {Op: "$split", Min: 2, Max: 2}, {Op: "$strLenCP", Min: 1, Max: 1},
	{Op: "$indexOfCP", Min: 2, Max: 2}, {Op: "$replaceAll", Min: 3, Names: []string{"input", "find", "replacement"}},
	{Op: "$regexMatch", Min: 2, Names: []string{"input", "regex", "options"}}, {Op: "$regexFind", Min: 2, Names: []string{"input", "regex", "options"}},
	{Op: "$regexFindAll", Min: 2, Names: []string{"input", "regex", "options"}},

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
	{Op: "$dateFromString", Min: 1, Names: []string{"dateString", "timezone", "onError", "onNull"}},
	{Op: "$dateFromParts", Min: 1, Names: []string{"year", "month", "day", "hour", "minute", "second", "millisecond", "timezone"}},
	{Op: "$dateDiff", Min: 3, Names: []string{"startDate", "endDate", "unit", "timezone", "startOfWeek"}},

	{Op: "$size", Min: 1, Max: 1}, {Op: "$arrayElemAt", Min: 2, Max: 2}, {Op: "$in", Min: 2, Max: 2}, {Op: "$slice", Min: 2, Max: 3},
	{Op: "$isArray", Min: 1, Max: 1}, {Op: "$concatArrays", Min: 1, Max: -1}, {Op: "$mergeObjects", Min: 1, Max: -1},
	{Op: "$setUnion", Min: 1, Max: -1}, {Op: "$setIntersection", Min: 1, Max: -1}, {Op: "$setDifference", Min: 2, Max: 2},
	{Op: "$arrayToObject", Min: 1, Max: 1}, {Op: "$objectToArray", Min: 1, Max: 1},

	{Op: "$toString", Min: 1, Max: 1}, {Op: "$toInt", Min: 1, Max: 1}, {Op: "$toLong", Min: 1, Max: 1}, {Op: "$toDouble", Min: 1, Max: 1},
	{Op: "$toDecimal", Min: 1, Max: 1}, {Op: "$toDate", Min: 1, Max: 1}, {Op: "$toBool", Min: 1, Max: 1},
	{Op: "$convert", Min: 2, Names: []string{"input", "to", "onError", "onNull"}}, {Op: "$type", Min: 1, Max: 1},

	// As expressions, over the elements of one list: {"$sum": "$scores"}.
	{Op: "$sum", Min: 1, Max: -1}, {Op: "$avg", Min: 1, Max: -1}, {Op: "$min", Min: 1, Max: -1}, {Op: "$max", Min: 1, Max: -1},
	{Op: "$first", Min: 1, Max: 1}, {Op: "$last", Min: 1, Max: 1},
}
