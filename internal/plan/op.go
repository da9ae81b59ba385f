package plan

import "slices"

// An Op is the operator of an Apply. Each new operator requires a comment with its meaning, and a name in opNames.
type Op uint8

// The operators. x, y and z are the arguments in order.
const (
	// Arithmetic: the arguments and the result are of type T. An Integer beyond 64 bits is null. For Doubles, the
	// result is null if an operand is a NaN, or if its size isn't 0 or within 1e-150 and 1e150. A zero has no sign.
	Add Op = iota
	Sub
	Mul
	Div   // Doubles, or null if y is 0
	Mod   // Integers, with the sign of x, or null if y is 0
	Quo   // Integers, truncated towards zero, or null if y is 0. y is never -1, for which the result could be beyond 64 bits
	Abs   // Integer, Decimal or Double
	Ceil  // Decimal or Double, to a whole number of the same type
	Floor //
	Sqrt  // the square root of a Double, or null below 0
	Pow   // x to the power of y, Doubles: null if the result isn't real, or not within e^-345 and e^345 in size. For x = 0: 1 if y is 0, 0 if y is greater
	Ln    // the natural logarithm of a Double, or null unless it is above 0
	Log10 //
	Exp   // e to the power of a Double, or null beyond 345 in size
	// Trunc is x to y decimal places, truncated towards zero. y is a constant Integer from -20 to 20. A negative y
	// counts places before the point. Doubles use their decimal form.
	Trunc
	// Round is the same as Trunc, but to the nearest value, with halves away from zero. Like Trunc, it leaves a Double
	// beyond 1e15 in size unchanged.
	Round

	// The bits of two Integers, in two's complement.
	BitAnd
	BitOr
	BitXor

	// Comparison of two operands of one type. The result is a Boolean, never null. Null equals null and is less than
	// all other values. Text compares by its bytes, and false is before true. A NaN equals itself and is above all
	// Doubles. JSON is equal as in value.Equal. Less and greater compare numbers, text and booleans within their types.
	// Values of different types compare by value.Order. Two objects, or two lists, are neither less nor greater. They
	// satisfy "at least" and "at most" only if they are equal.
	Eq
	Ne
	Gt
	Gte
	Lt
	Lte
	Cmp // -1, 0 or 1: an Integer. Not for JSON

	// Comparison as in SQL of two operands of one type. The result is true only if neither is null. It is a Boolean,
	// never null.
	Same   // equal
	Differ // not equal
	Under  // less
	UpTo   // less or equal

	IsNull // Boolean, never null
	And    // any number of Booleans. Null counts as false. Never null
	Or
	Not
	Truth  // a JSON value as a condition: false for null, false and 0, otherwise true. Never null
	IfNull // the first argument that isn't null. All arguments are of type T

	Concat // Strings
	// Substr is at most z characters (code points) of x from position y (Integers, from 0). A negative z means all
	// characters from y. A negative y gives null.
	Substr
	Lower      // the letters A to Z only
	Upper      // the letters a to z only
	Trim       // x without the characters of y, a constant String, at both ends
	TrimLeft   //
	TrimRight  //
	Split      // the JSON list of the parts of x between the separators y. y is a constant, non-empty String
	Length     // the number of code points: an Integer
	IndexOf    // the position of the first y in x, in code points from 0, or -1
	ReplaceAll // x with each y replaced by z, or x if y is empty
	Reverse    // the characters from the last to the first
	// Capitalize writes the first letter of each word in upper case and its other letters in lower case, A to Z only. A
	// word consists of these letters, digits and all characters beyond ASCII.
	Capitalize

	// ReplaceMatches is x with each match of y replaced by z, a constant String. y is a constant String in RE2 syntax
	// that literals.ExactPattern accepts. If a fourth argument, a constant Boolean, is false, only the first match is
	// replaced.
	ReplaceMatches

	// FindMatch is the first match of y in x, as the JSON object {match, idx, captures}. y is a constant String in RE2
	// syntax. match is the text of the match, and idx the number of code points before it. captures is the list of the
	// texts of y's groups, with null for a group without a match. FindMatch is null if there is no match, or if x has
	// more than MostSearched bytes.
	FindMatch
	FindMatches // the list of all matches, which may be []. y doesn't match the empty text. Null if there are more than MostMatches

	Millis // the milliseconds from y to x, both Dates: an Integer, truncated

	Size      // the number of elements of x, JSON: an Integer, or null if x isn't a list
	ElemAt    // the element at index y, an Integer, from the end if negative. JSON, or null if there is no such element
	InList    // whether x equals an element of the list y, both JSON: a Boolean, never null
	SliceList // at most z elements of the list x from index y. A negative y counts from the end, at most to the first element. z is above 0, otherwise null
	IsList    // Boolean, never null
	JoinLists // the concatenated lists: JSON, or null if an argument isn't a list
	// Common is the list of the distinct elements of the list x that are also in the list y. They are in the order in
	// which they first occur in x. It is null if an argument isn't a list.
	Common
	Without   // the elements of the list x that are not in the list y
	Pairs     // the members of x, an object, as a list of objects {k, v}, sorted by the bytes of the names: JSON, or null if x isn't an object
	Gather    // the object made from the list x of such objects {k, v}, or of lists of two. The last value of a name counts. JSON, or null if x isn't such a list, or a name isn't text
	JoinTexts // the texts in the list x, joined by the text y, or null if there are none. Other elements are ignored
	SumList   // the sum of the numbers in the list x, each as a Double: a Double as in Sum, or null if x isn't a list
	AvgList   // the average, or null if there are no numbers
	MinList   // the least number in the list x: a Double, or null if there are no numbers
	MaxList   //
	TypeOf    // the type of JSON: "number", "string", "bool", "object", "array" or "null". Never null
)

// opNames are the names of the operators. query.Families, texts of plans and messages use them.
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

// OpOf returns the operator with this name, and whether it exists.
func OpOf(name string) (Op, bool) {
	i := slices.Index(opNames[:], name)
	return Op(max(i, 0)), i >= 0
}

// The limits of FindMatch and FindMatches: the maximum size of the text in bytes, and the maximum number of matches.
const (
	MostSearched = 1 << 20
	MostMatches  = 10_000
)

// Expression returns the constant regular expression that is the second argument of e.
func (e Apply) Expression() string {
	k, _ := e.Args[1].(Const)
	return k.Value.Text()
}

// Replacement returns the constants of a ReplaceMatches: the expression, the replacement, and whether it replaces all
// matches.
func (e Apply) Replacement() (expression, with string, all bool) {
	pattern, _ := e.Args[1].(Const)
	text, _ := e.Args[2].(Const)
	if all = true; len(e.Args) == 4 {
		k, _ := e.Args[3].(Const)
		all = k.Value.Bool()
	}
	return pattern.Value.Text(), text.Value.Text(), all
}
