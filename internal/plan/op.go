package plan

import "slices"

// An Op is the operator of an Apply. A new one has its meaning in a comment, and its name in opNames.
type Op uint8

// The operators. x, y and z are the arguments in order.
const (
	// Arithmetic: arguments and result are of type T. An Integer beyond 64 bits is null. For Doubles, an operand other
	// than 0 whose size isn't within 1e-150 and 1e150 makes the result null, as does a NaN. A zero has no sign.
	Add Op = iota
	Sub
	Mul
	Div   // Doubles, or null if y is 0
	Mod   // Integers, with the sign of x, or null if y is 0
	Quo   // Integers, truncated towards zero, or null if y is 0. y is never -1, for which a result could be beyond 64 bits
	Abs   // Integer, Decimal or Double
	Ceil  // Decimal or Double, to a whole one of the same type
	Floor //
	Sqrt  // of a Double, or null below 0
	Pow   // x to the power of y, Doubles: null where that isn't real, or not within e^-345 and e^345 in size. Of 0: 1 for 0, 0 for more
	Ln    // of a Double, or null unless above 0
	Log10 //
	Exp   // e to the power of a Double, or null beyond 345 in size
	// Trunc is x to y decimal places, towards zero. y is a constant Integer, -20 to 20, negative before the point.
	// Doubles count by their decimal form.
	Trunc
	// Round is the same, to the nearest, with halves away from zero. Like Trunc, it leaves a Double beyond 1e15 in size
	// unchanged.
	Round

	// The bits of Integers, in two's complement: two arguments.
	BitAnd
	BitOr
	BitXor

	// Comparison: both operands are of one type. The result is Boolean, never null. Null equals null and is less than
	// everything else. Text compares by its bytes, and false is before true. A NaN equals itself and is above all
	// Doubles. JSON is equal as in value.Equal. Less and greater compare numbers, text and booleans among themselves,
	// and else types by value.Order. Two objects, or two lists, are neither less nor greater. They are at least or at
	// most each other only if equal.
	Eq
	Ne
	Gt
	Gte
	Lt
	Lte
	Cmp // -1, 0 or 1: an Integer. Not for JSON

	// Comparison as in SQL: both of one type, and true only if neither is null. Boolean, never null.
	Same   // equal
	Differ // not equal
	Under  // less
	UpTo   // less or equal

	IsNull // Boolean, never null
	And    // of any number of Booleans. Null counts as false. Never null
	Or
	Not
	Truth  // of JSON: false for null, false and 0, else true. Never null
	IfNull // the first argument that isn't null. All are of type T

	Concat // Strings
	// Substr is at most z characters (code points) of x from position y (Integers, from 0). It is all from y if z is
	// negative, and null if y is.
	Substr
	Lower      // the letters A to Z only
	Upper      // the letters a to z only
	Trim       // x without the characters of y, a constant String, at both ends
	TrimLeft   //
	TrimRight  //
	Split      // the JSON list of the parts of x between the separators y, a constant, non-empty String
	Length     // in code points: an Integer
	IndexOf    // the first position of y in x in code points, or -1
	ReplaceAll // x with z for each y, or x if y is empty
	Reverse    // the characters from the last to the first
	// Capitalize writes the first letter of each word in upper case and its others in lower case, A to Z only. A word
	// is of these letters, of digits and of all characters beyond ASCII.
	Capitalize

	// ReplaceMatches is x with z, a constant String, for each part that y matches. y is a constant String in RE2 syntax
	// that literals.ExactPattern accepts. With a fourth argument, a constant Boolean that is false, it replaces only
	// the first part.
	ReplaceMatches

	// FindMatch is the first part of x that y matches, a constant String in RE2 syntax, as the JSON object {match, idx,
	// captures}. These are its text, the code points before it, and the list of the texts of y's groups, null for one
	// that took no part. FindMatch is null if there is no such part, or if x has more than MostSearched bytes.
	FindMatch
	FindMatches // the list of all such parts, which may be []. y matches no empty text. Null if there are more than MostMatches

	Millis // from y to x, both Dates: an Integer, truncated

	Size      // the number of elements of x, JSON: an Integer, or null if it is not a list
	ElemAt    // the element at y, an Integer, from the end if negative. JSON, or null if there is none
	InList    // whether x equals an element of the list y, both JSON: Boolean, never null
	SliceList // of the list x from y, an Integer (from the end if negative, the first at most), at most z elements (an Integer above 0, else null)
	IsList    // Boolean, never null
	JoinLists // the concatenated lists: JSON, or null if one is not a list
	// Common is the distinct elements of the list x that the list y has too, as JSON, in the order of their first
	// places in x. It is null if one is not a list.
	Common
	Without   // those that the list y doesn't have
	Pairs     // the members of x, an object, as a list of objects {k, v}, by the bytes of their names: JSON, or null if it is not an object
	Gather    // the object of the list x of such pairs, or of lists of two: the last of a name counts. JSON, or null if it is not a list of them, or a name isn't text
	JoinTexts // the texts in the list x, with y, a text, between them, or null if there are none. Other elements are left out
	SumList   // of the numbers in the list x, each as a Double: a Double as in Sum, or null if it is not a list
	AvgList   // null if there are no numbers
	MinList   // the least number in the list x: a Double, or null if there is none
	MaxList   //
	TypeOf    // of JSON: "number", "string", "bool", "object", "array" or "null". Never null
)

// opNames are the names of the operators, in query.Families, in texts of plans and in messages.
var opNames = [...]string{
	Add: "add", Sub: "sub", Mul: "mul", Div: "div", Mod: "mod", Quo: "quo", Abs: "abs", Ceil: "ceil",
	Floor: "floor", Sqrt: "sqrt", Pow: "pow", Ln: "ln", Log10: "log10", Exp: "exp", BitAnd: "bitAnd",
	BitOr: "bitOr", BitXor: "bitXor", Trunc: "trunc", Round: "round", Eq: "eq", Ne: "ne", Gt: "gt", Gte: "gte",
	Lt: "lt", Lte: "lte", Cmp: "cmp", Same: "same", Differ: "differ", Under: "under", UpTo: "upTo",
	IsNull: "isNull", And: "and", Or: "or", Not: "not", Truth: "truth", IfNull: "ifNull", Concat: "concat",
	Substr: "substr", Lower: "lower", Upper: "upper", Trim: "trim", TrimLeft: "trimLeft", TrimRight: "trimRight",
	Split: "split", Length: "length", IndexOf: "indexOf", ReplaceAll: "replaceAll", Reverse: "reverse",
	Capitalize: "capitalize", ReplaceMatches: "replaceMatches", FindMatch: "findMatch",
	FindMatches: "findMatches", Millis: "millis", Size: "size", ElemAt: "elemAt", InList: "inList",
	SliceList: "slice", IsList: "isList", JoinLists: "joinLists", Common: "common", Without: "without",
	Pairs: "pairs", Gather: "gather", JoinTexts: "joinTexts", SumList: "sumList", AvgList: "avgList",
	MinList: "minList", MaxList: "maxList", TypeOf: "typeOf",
}

// String returns the name of o.
func (o Op) String() string { return opNames[o] }

// OpOf returns the operator of a name, and whether there is one.
func OpOf(name string) (Op, bool) {
	i := slices.Index(opNames[:], name)
	return Op(max(i, 0)), i >= 0
}

// The limits of FindMatch and FindMatches.
const (
	MostSearched = 1 << 20
	MostMatches  = 10_000
)

// Expression returns the constant regular expression of an operator whose second argument is one.
func (e Apply) Expression() string {
	k, _ := e.Args[1].(Const)
	return k.Value.Text()
}

// Replacement returns the constants of a ReplaceMatches: the expression, what replaces a part that it matches, and whether all are.
func (e Apply) Replacement() (expression, with string, all bool) {
	pattern, _ := e.Args[1].(Const)
	text, _ := e.Args[2].(Const)
	if all = true; len(e.Args) == 4 {
		k, _ := e.Args[3].(Const)
		all = k.Value.Bool()
	}
	return pattern.Value.Text(), text.Value.Text(), all
}
