package sqlite

import (
	"fmt"

	"github.com/bailiwick-dev/bailiwick/internal/plan"
	"github.com/bailiwick-dev/bailiwick/internal/sqlgen/expr"
	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/schema"
)

// Apply implements expr.Dialect. Most operators are calls of functions that sqlfunc adds, those on decimals with names of their own;
// args are written already.
func (d dialect) Apply(s expr.Scope, e plan.Apply, args []string) (string, error) {
	if name, ok := sqliteArithmetic[e.Op]; ok {
		if e.T == schema.Decimal && e.Op != plan.Div && e.Op != plan.Mod {
			name += expr.SQLiteOfDecimals
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
	plan.Add: expr.SQLiteAdd, plan.Sub: expr.SQLiteSubtract, plan.Mul: expr.SQLiteMultiply, plan.Div: expr.SQLiteDivide, plan.Mod: expr.SQLiteModulo,
	plan.Abs: expr.SQLiteAbs, plan.Ceil: expr.SQLiteCeil, plan.Floor: expr.SQLiteFloor, plan.Trunc: expr.SQLiteTrunc, plan.Round: expr.SQLiteRound,
}

// sqliteCalls are the operators that are calls of one function.
var sqliteCalls = map[plan.Op]string{
	plan.Truth: expr.SQLiteTruth, plan.Concat: expr.SQLiteConcat, plan.Substr: expr.SQLiteSubstring,
	plan.Lower: "lower", plan.Upper: "upper", // SQLite changes only A to Z
	plan.Trim: "trim", plan.TrimLeft: "ltrim", plan.TrimRight: "rtrim",
	plan.Split: expr.SQLiteSplit, plan.Length: "length", plan.ReplaceAll: expr.SQLiteReplace,
	plan.Reverse: expr.SQLiteReverse, plan.Capitalize: expr.SQLiteCapitals, plan.ReplaceMatches: expr.SQLiteRewrite,
	plan.FindMatch: expr.SQLiteFind, plan.FindMatches: expr.SQLiteFindAll,
	plan.Size: expr.SQLiteSize, plan.ElemAt: expr.SQLiteElement, plan.InList: expr.SQLiteInList, plan.SliceList: expr.SQLiteSlice,
	plan.JoinLists: expr.SQLiteJoin, plan.Common: expr.SQLiteCommon, plan.Without: expr.SQLiteWithout, plan.Pairs: expr.SQLitePairs, plan.Gather: expr.SQLiteObjectOf, plan.JoinTexts: expr.SQLiteJoinTexts,
	plan.SumList: expr.SQLiteSumList, plan.AvgList: expr.SQLiteAvgList,
	plan.Sqrt: expr.SQLiteSqrt, plan.Pow: expr.SQLitePow, plan.Ln: expr.SQLiteLn, plan.Log10: expr.SQLiteLog10, plan.Exp: expr.SQLiteExp,
	plan.MinList: expr.SQLiteMinList, plan.MaxList: expr.SQLiteMaxList,
}

func (d dialect) Compare(_ expr.Scope, op plan.Op, x, y string, t schema.Type) (string, error) {
	if t == schema.JSON || t == schema.Array {
		return d.CompareNull(op, x, y, t), nil
	}
	if op != plan.Eq {
		x = d.ordered(x, t)
	}
	return "(" + x + " " + expr.Sign(op) + " " + y + ")", nil
}

// CompareNull implements expr.NullComparer. It replaces null by a value below all of the type: a number for text and
// bytes, a lower number for whole numbers. Nothing is below a real that may be infinite, so those are compared by their
// negatives, with text, which is above all numbers, for null.
func (d dialect) CompareNull(op plan.Op, x, y string, t schema.Type) string {
	if t == schema.JSON || t == schema.Array {
		order := call(expr.SQLiteJSONCompare, x, y)
		return "(" + order + map[plan.Op]string{plan.Eq: " = 0", plan.Ne: " <> 0", plan.Gt: " = 1", plan.Gte: " IN (0, 1)",
			plan.Lt: " = -1", plan.Lte: " IN (0, -1)"}[op] + ")"
	}
	switch op {
	case plan.Eq:
		return "(" + x + " IS " + y + ")"
	case plan.Ne:
		return "(" + x + " IS NOT " + y + ")"
	case plan.Cmp:
		return call(expr.SQLiteCompare, x, y)
	}
	least := "0"
	switch t {
	case schema.Double, schema.Decimal:
		return "(coalesce(- " + y + ", '') " + expr.Sign(op) + " coalesce(- " + x + ", ''))"
	case schema.Integer, schema.Boolean, schema.Date, schema.Day:
		least = "-1e19"
	}
	return "(" + d.ordered("coalesce("+x+", "+least+")", t) + " " + expr.Sign(op) + " coalesce(" + y + ", " + least + "))"
}
