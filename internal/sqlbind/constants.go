package sqlbind

import (
	"github.com/bailiwick-dev/bailiwick/internal/plan"
	"github.com/bailiwick-dev/bailiwick/internal/sqlparse"
	"github.com/bailiwick-dev/bailiwick/internal/typecheck"
	"github.com/bailiwick-dev/bailiwick/schema"
	"github.com/bailiwick-dev/bailiwick/value"
)

// constants returns the records of a VALUES list and the types of their columns. b binds each value without names.
func constants(b *Binder, v *sqlparse.Values) ([]value.Row, []schema.Type, error) {
	width := len(v.Rows[0])
	nodes := make([][]typecheck.Node, width) // by column
	for _, row := range v.Rows {
		if len(row) != width {
			return nil, nil, invalid(row[0].Pos(), "this row of VALUES has %d values. The first has %d", len(row), width)
		}
		for i, e := range row {
			n, err := b.Value(e)
			if err != nil {
				return nil, nil, err
			}
			if _, constant := n.Expr.(plan.Const); !constant {
				return nil, nil, unsupportedError(e.Pos(), "use SELECT … UNION ALL SELECT …", "VALUES takes constants")
			}
			nodes[i] = append(nodes[i], n.Node)
		}
	}
	rows, types := make([]value.Row, len(v.Rows)), make([]schema.Type, width)
	for i := range nodes {
		es, t, err := typecheck.Together(nodes[i], "VALUES")
		if err != nil {
			return nil, nil, err
		}
		types[i] = t
		for j, e := range es {
			rows[j] = append(rows[j], e.(plan.Const).Value)
		}
	}
	return rows, types, nil
}
