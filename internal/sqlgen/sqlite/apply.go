package sqlite

import (
	"fmt"

	"github.com/bailiwick-dev/bailiwick/internal/plan"
	"github.com/bailiwick-dev/bailiwick/internal/sqlgen"
	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/schema"
)

// Apply implements sqlgen.Dialect. Most operators are calls of functions that sqlfunc adds, those on decimals with names of their own;
// args are written already.
func (d dialect) Apply(s sqlgen.Scope, e plan.Apply, args []string) (string, error) {
	if name, ok := sqliteArithmetic[e.Op]; ok {
		if e.T == schema.Decimal && e.Op != plan.Div && e.Op != plan.Mod {
			name += sqlgen.SQLiteOfDecimals
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
	plan.Add: sqlgen.SQLiteAdd, plan.Sub: sqlgen.SQLiteSubtract, plan.Mul: sqlgen.SQLiteMultiply, plan.Div: sqlgen.SQLiteDivide, plan.Mod: sqlgen.SQLiteModulo,
	plan.Abs: sqlgen.SQLiteAbs, plan.Ceil: sqlgen.SQLiteCeil, plan.Floor: sqlgen.SQLiteFloor, plan.Trunc: sqlgen.SQLiteTrunc, plan.Round: sqlgen.SQLiteRound,
}

// sqliteCalls are the operators that are calls of one function.
var sqliteCalls = map[plan.Op]string{
	plan.Truth: sqlgen.SQLiteTruth, plan.Concat: sqlgen.SQLiteConcat, plan.Substr: sqlgen.SQLiteSubstring,
	plan.Lower: "lower", plan.Upper: "upper", // SQLite changes only A to Z
	plan.Trim: "trim", plan.TrimLeft: "ltrim", plan.TrimRight: "rtrim",
	plan.Split: sqlgen.SQLiteSplit, plan.Length: "length", plan.ReplaceAll: sqlgen.SQLiteReplace,
	plan.Reverse: sqlgen.SQLiteReverse, plan.Capitalize: sqlgen.SQLiteCapitals, plan.ReplaceMatches: sqlgen.SQLiteRewrite,
	plan.FindMatch: sqlgen.SQLiteFind, plan.FindMatches: sqlgen.SQLiteFindAll,
	plan.Size: sqlgen.SQLiteSize, plan.ElemAt: sqlgen.SQLiteElement, plan.InList: sqlgen.SQLiteInList, plan.SliceList: sqlgen.SQLiteSlice,
	plan.JoinLists: sqlgen.SQLiteJoin, plan.Common: sqlgen.SQLiteCommon, plan.Without: sqlgen.SQLiteWithout, plan.Pairs: sqlgen.SQLitePairs, plan.Gather: sqlgen.SQLiteObjectOf, plan.JoinTexts: sqlgen.SQLiteJoinTexts,
	plan.SumList: sqlgen.SQLiteSumList, plan.AvgList: sqlgen.SQLiteAvgList,
	plan.Sqrt: sqlgen.SQLiteSqrt, plan.Pow: sqlgen.SQLitePow, plan.Ln: sqlgen.SQLiteLn, plan.Log10: sqlgen.SQLiteLog10, plan.Exp: sqlgen.SQLiteExp,
	plan.MinList: sqlgen.SQLiteMinList, plan.MaxList: sqlgen.SQLiteMaxList,
}

func (d dialect) Compare(_ sqlgen.Scope, op plan.Op, x, y string, t schema.Type) (string, error) {
	if t == schema.JSON || t == schema.Array {
		return d.CompareNull(op, x, y, t), nil
	}
	if op != plan.Eq {
		x = d.ordered(x, t)
	}
	return "(" + x + " " + sqlgen.Sign(op) + " " + y + ")", nil
}

// CompareNull implements sqlgen.NullComparer. It replaces null by a value below all of the type: a number for text and
// bytes, a lower number for whole numbers. Nothing is below a real that may be infinite, so those are compared by their
// negatives, with text, which is above all numbers, for null.
func (d dialect) CompareNull(op plan.Op, x, y string, t schema.Type) string {
	if t == schema.JSON || t == schema.Array {
		order := call(sqlgen.SQLiteJSONCompare, x, y)
		return "(" + order + map[plan.Op]string{plan.Eq: " = 0", plan.Ne: " <> 0", plan.Gt: " = 1", plan.Gte: " IN (0, 1)",
			plan.Lt: " = -1", plan.Lte: " IN (0, -1)"}[op] + ")"
	}
	switch op {
	case plan.Eq:
		return "(" + x + " IS " + y + ")"
	case plan.Ne:
		return "(" + x + " IS NOT " + y + ")"
	case plan.Cmp:
		return call(sqlgen.SQLiteCompare, x, y)
	}
	least := "0"
	switch t {
	case schema.Double, schema.Decimal:
		return "(coalesce(- " + y + ", '') " + sqlgen.Sign(op) + " coalesce(- " + x + ", ''))"
	case schema.Integer, schema.Boolean, schema.Date, schema.Day:
		least = "-1e19"
	}
	return "(" + d.ordered("coalesce("+x+", "+least+")", t) + " " + sqlgen.Sign(op) + " coalesce(" + y + ", " + least + "))"
}
