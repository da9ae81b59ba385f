package sqlite

import (
	"fmt"

	"github.com/bailiwick-dev/bailiwick/algebra"
	"github.com/bailiwick-dev/bailiwick/compile/expr"
	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/schema"
)

func (d dialect) Apply(_ expr.Scope, e algebra.Apply, args []string) (string, error) {
	if name, ok := sqliteArithmetic[e.Op]; ok {
		if e.T == schema.Decimal && e.Op != algebra.Div && e.Op != algebra.Mod {
			name += expr.SQLiteOfDecimals
		}
		return call(name, args...), nil
	}
	if name, ok := sqliteCalls[e.Op]; ok {
		return call(name, args...), nil
	}
	switch e.Op {
	case algebra.IndexOf:
		return "(instr(" + args[0] + ", " + args[1] + ") - 1)", nil
	case algebra.Millis:
		return "(" + args[0] + " - " + args[1] + ")", nil
	case algebra.IsList:
		return "coalesce(substr(" + args[0] + ", 1, 1) = '[', 0)", nil
	case algebra.TypeOf:
		return "CASE coalesce(substr(" + args[0] + ", 1, 1), 'n') WHEN 'n' THEN 'null' WHEN '{' THEN 'object' WHEN '[' THEN 'array'" +
			` WHEN '"' THEN 'string' WHEN 't' THEN 'bool' WHEN 'f' THEN 'bool' ELSE 'number' END`, nil
	}
	return "", problem.New(problem.Internal, fmt.Sprintf("no operator %d in SQLite", e.Op))
}

var sqliteArithmetic = map[algebra.Op]string{
	algebra.Add: expr.SQLiteAdd, algebra.Sub: expr.SQLiteSubtract, algebra.Mul: expr.SQLiteMultiply, algebra.Div: expr.SQLiteDivide, algebra.Mod: expr.SQLiteModulo,
	algebra.Abs: expr.SQLiteAbs, algebra.Ceil: expr.SQLiteCeil, algebra.Floor: expr.SQLiteFloor, algebra.Trunc: expr.SQLiteTrunc, algebra.Round: expr.SQLiteRound,
}

// sqliteCalls are the operators that are one function.
var sqliteCalls = map[algebra.Op]string{
	algebra.Truth: expr.SQLiteTruth, algebra.Concat: expr.SQLiteConcat, algebra.Substr: expr.SQLiteSubstring,
	algebra.Lower: "lower", algebra.Upper: "upper", // SQLite knows no letters but A to Z
	algebra.Trim: "trim", algebra.TrimLeft: "ltrim", algebra.TrimRight: "rtrim",
	algebra.Split: expr.SQLiteSplit, algebra.Length: "length", algebra.ReplaceAll: expr.SQLiteReplace,
	algebra.Size: expr.SQLiteSize, algebra.ElemAt: expr.SQLiteElement, algebra.InList: expr.SQLiteInList, algebra.SliceList: expr.SQLiteSlice,
	algebra.JoinLists: expr.SQLiteJoin, algebra.SumList: expr.SQLiteSumList, algebra.AvgList: expr.SQLiteAvgList,
	algebra.MinList: expr.SQLiteMinList, algebra.MaxList: expr.SQLiteMaxList,
}

func (d dialect) Compare(_ expr.Scope, op algebra.Op, x, y string, t schema.Type) (string, error) {
	if t == schema.JSON || t == schema.Array {
		return d.CompareNull(op, x, y, t), nil
	}
	return "(" + x + " " + expr.Sign(op) + " " + y + ")", nil
}

// CompareNull implements expr.NullComparer. Null becomes something below all values of the type: a number for text and
// bytes, for whole numbers one below them all. There is nothing below a real that may be infinite, so those are compared
// by their negatives, with text, which is above all numbers, for null.
func (dialect) CompareNull(op algebra.Op, x, y string, t schema.Type) string {
	if t == schema.JSON || t == schema.Array {
		order := call(expr.SQLiteJSONCompare, x, y)
		return "(" + order + map[algebra.Op]string{algebra.Eq: " = 0", algebra.Ne: " <> 0", algebra.Gt: " = 1", algebra.Gte: " IN (0, 1)",
			algebra.Lt: " = -1", algebra.Lte: " IN (0, -1)"}[op] + ")"
	}
	switch op {
	case algebra.Eq:
		return "(" + x + " IS " + y + ")"
	case algebra.Ne:
		return "(" + x + " IS NOT " + y + ")"
	case algebra.Cmp:
		return call(expr.SQLiteCompare, x, y)
	}
	least := "0"
	switch t {
	case schema.Double, schema.Decimal:
		return "(coalesce(- " + y + ", '') " + expr.Sign(op) + " coalesce(- " + x + ", ''))"
	case schema.Integer, schema.Boolean, schema.Date, schema.Day:
		least = "-1e19"
	}
	return "(coalesce(" + x + ", " + least + ") " + expr.Sign(op) + " coalesce(" + y + ", " + least + "))"
}
