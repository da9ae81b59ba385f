package expr

import (
	"fmt"

	"github.com/bailiwick-dev/bailiwick/algebra"
	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/schema"
)

func (d sqlite) Apply(_ Scope, e algebra.Apply, args []string) (string, error) {
	if name, ok := sqliteArithmetic[e.Op]; ok {
		if e.T == schema.Decimal && e.Op != algebra.Div && e.Op != algebra.Mod {
			name += SQLiteOfDecimals
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
	algebra.Add: SQLiteAdd, algebra.Sub: SQLiteSubtract, algebra.Mul: SQLiteMultiply, algebra.Div: SQLiteDivide, algebra.Mod: SQLiteModulo,
	algebra.Abs: SQLiteAbs, algebra.Ceil: SQLiteCeil, algebra.Floor: SQLiteFloor, algebra.Trunc: SQLiteTrunc, algebra.Round: SQLiteRound,
}

// sqliteCalls are the operators that are one function.
var sqliteCalls = map[algebra.Op]string{
	algebra.Truth: SQLiteTruth, algebra.Concat: SQLiteConcat, algebra.Substr: SQLiteSubstring,
	algebra.Lower: "lower", algebra.Upper: "upper", // SQLite knows no letters but A to Z
	algebra.Trim: "trim", algebra.TrimLeft: "ltrim", algebra.TrimRight: "rtrim",
	algebra.Split: SQLiteSplit, algebra.Length: "length", algebra.ReplaceAll: SQLiteReplace,
	algebra.Size: SQLiteSize, algebra.ElemAt: SQLiteElement, algebra.InList: SQLiteInList, algebra.SliceList: SQLiteSlice,
	algebra.JoinLists: SQLiteJoin, algebra.SumList: SQLiteSumList, algebra.AvgList: SQLiteAvgList,
	algebra.MinList: SQLiteMinList, algebra.MaxList: SQLiteMaxList,
}

func (d sqlite) Compare(_ Scope, op algebra.Op, x, y string, t schema.Type) (string, error) {
	if t == schema.JSON || t == schema.Array {
		return d.compareNull(op, x, y, t), nil
	}
	return "(" + x + " " + Sign(op) + " " + y + ")", nil
}

// compareNull implements nullComparer. Null becomes something below all values of the type: a number for text and
// bytes, for whole numbers one below them all. There is nothing below a real that may be infinite, so those are compared
// by their negatives, with text, which is above all numbers, for null.
func (sqlite) compareNull(op algebra.Op, x, y string, t schema.Type) string {
	if t == schema.JSON || t == schema.Array {
		order := call(SQLiteJSONCompare, x, y)
		return "(" + order + map[algebra.Op]string{algebra.Eq: " = 0", algebra.Ne: " <> 0", algebra.Gt: " = 1", algebra.Gte: " IN (0, 1)",
			algebra.Lt: " = -1", algebra.Lte: " IN (0, -1)"}[op] + ")"
	}
	switch op {
	case algebra.Eq:
		return "(" + x + " IS " + y + ")"
	case algebra.Ne:
		return "(" + x + " IS NOT " + y + ")"
	case algebra.Cmp:
		return call(SQLiteCompare, x, y)
	}
	least := "0"
	switch t {
	case schema.Double, schema.Decimal:
		return "(coalesce(- " + y + ", '') " + Sign(op) + " coalesce(- " + x + ", ''))"
	case schema.Integer, schema.Boolean, schema.Date, schema.Day:
		least = "-1e19"
	}
	return "(coalesce(" + x + ", " + least + ") " + Sign(op) + " coalesce(" + y + ", " + least + "))"
}
