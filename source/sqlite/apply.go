package sqlite

import (
	"fmt"

	"github.com/bailiwick-dev/bailiwick/internal/plan"
	"github.com/bailiwick-dev/bailiwick/internal/sqlgen"
	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/schema"
)

// Apply implements sqlgen.Dialect. Most operators are calls of functions that this package adds. The functions on
// decimals have their own names. args are already written.
func (d dialect) Apply(s sqlgen.Scope, e plan.Apply, args []string) (string, error) {
	if name, ok := sqliteArithmetic[e.Op]; ok {
		if e.T == schema.Decimal && e.Op != plan.Div && e.Op != plan.Mod {
			name += fnOfDecimals
		}
		return call(name, args...), nil
	}
	if name, ok := sqliteCalls[e.Op]; ok {
		return call(name, args...), nil
	}
	switch e.Op {
	case plan.IndexOf:
		return "(instr(" + args[0] + ", " + args[1] + ") - 1)", nil
	case plan.BitAnd:
		return "(" + args[0] + " & " + args[1] + ")", nil
	case plan.BitOr:
		return "(" + args[0] + " | " + args[1] + ")", nil
	case plan.BitXor:
		x, y := s.Atom(args[0]), s.Atom(args[1])
		return "((" + x + " | " + y + ") - (" + x + " & " + y + "))", nil
	case plan.Quo:
		return "(" + args[0] + " / nullif(" + args[1] + ", 0))", nil
	case plan.Millis:
		return "(" + args[0] + " - " + args[1] + ")", nil
	case plan.IsList:
		return "coalesce(substr(" + args[0] + ", 1, 1) = '[', 0)", nil
	case plan.TypeOf:
		return "CASE coalesce(substr(" + args[0] + ", 1, 1), 'n') WHEN 'n' THEN 'null' WHEN '{' THEN 'object' WHEN '[' THEN 'array'" +
			` WHEN '"' THEN 'string' WHEN 't' THEN 'bool' WHEN 'f' THEN 'bool' ELSE 'number' END`, nil
	}
	return "", problem.New(problem.Internal, fmt.Sprintf("no operator %s in SQLite", e.Op))
}

var sqliteArithmetic = map[plan.Op]string{
	plan.Add: fnAdd, plan.Sub: fnSubtract, plan.Mul: fnMultiply, plan.Div: fnDivide, plan.Mod: fnModulo,
	plan.Abs: fnAbs, plan.Ceil: fnCeil, plan.Floor: fnFloor, plan.Trunc: fnTrunc, plan.Round: fnRound,
}

// sqliteCalls maps operators to the single function that they call.
var sqliteCalls = map[plan.Op]string{
	plan.Truth: fnTruth, plan.Concat: fnConcat, plan.Substr: fnSubstring,
	plan.Lower: "lower", plan.Upper: "upper", // SQLite changes only A to Z
	plan.Trim: "trim", plan.TrimLeft: "ltrim", plan.TrimRight: "rtrim",
	plan.Split: fnSplit, plan.Length: "length", plan.ReplaceAll: fnReplace,
	plan.Reverse: fnReverse, plan.Capitalize: fnCapitals, plan.ReplaceMatches: fnRewrite,
	plan.FindMatch: fnFind, plan.FindMatches: fnFindAll,
	plan.Size: fnSize, plan.ElemAt: fnElement, plan.InList: fnInList, plan.SliceList: fnSlice,
	plan.JoinLists: fnJoin, plan.Common: fnCommon, plan.Without: fnWithout, plan.Pairs: fnPairs, plan.Gather: fnObjectOf, plan.JoinTexts: fnJoinTexts,
	plan.SumList: fnSumList, plan.AvgList: fnAvgList,
	plan.Sqrt: fnSqrt, plan.Pow: fnPow, plan.Ln: fnLn, plan.Log10: fnLog10, plan.Exp: fnExp,
	plan.MinList: fnMinList, plan.MaxList: fnMaxList,
}

func (d dialect) Compare(_ sqlgen.Scope, op plan.Op, x, y string, t schema.Type) (string, error) {
	if t == schema.JSON || t == schema.Array {
		return d.CompareNull(op, x, y, t), nil
	}
	if op != plan.Eq {
		x = d.textByPoints(x, t)
	}
	return "(" + x + " " + sqlgen.Sign(op) + " " + y + ")", nil
}

// CompareNull implements sqlgen.NullComparer. It replaces null by a value that is less than all values of the type.
// That is a number for text and bytes, and a lower number for whole numbers. No value is less than a real that may be
// infinite. So reals are compared by their negatives, with a text for null, because texts are greater than all
// numbers.
func (d dialect) CompareNull(op plan.Op, x, y string, t schema.Type) string {
	if t == schema.JSON || t == schema.Array {
		order := call(fnJSONCompare, x, y)
		return "(" + order + map[plan.Op]string{plan.Eq: " = 0", plan.Ne: " <> 0", plan.Gt: " = 1", plan.Gte: " IN (0, 1)",
			plan.Lt: " = -1", plan.Lte: " IN (0, -1)"}[op] + ")"
	}
	switch op {
	case plan.Eq:
		return "(" + x + " IS " + y + ")"
	case plan.Ne:
		return "(" + x + " IS NOT " + y + ")"
	case plan.Cmp:
		return call(fnCompare, x, y)
	}
	least := "0"
	switch t {
	case schema.Double, schema.Decimal:
		return "(coalesce(- " + y + ", '') " + sqlgen.Sign(op) + " coalesce(- " + x + ", ''))"
	case schema.Integer, schema.Boolean, schema.Date, schema.Day:
		least = "-1e19"
	}
	return "(" + d.textByPoints("coalesce("+x+", "+least+")", t) + " " + sqlgen.Sign(op) + " coalesce(" + y + ", " + least + "))"
}
