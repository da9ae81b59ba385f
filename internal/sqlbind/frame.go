package sqlbind

import (
	"fmt"
	"strings"

	"github.com/bailiwick-dev/bailiwick/internal/plan"
	"github.com/bailiwick-dev/bailiwick/internal/sqlparse"
)

// frameOf returns the frame of a window. Without an explicit frame it is the whole partition. With an order, it ends
// with the record and all records that are equal to it.
func frameOf(w *sqlparse.Window) (plan.Frame, error) {
	f := w.Frame
	switch {
	case f == nil && w.Order == nil:
		return plan.Frame{First: true, Last: true}, nil
	case f == nil:
		return plan.Frame{First: true, Peers: true}, nil
	}
	if f.Start.Unbounded && !f.Start.Following && f.End.Unbounded && f.End.Following {
		return plan.Frame{First: true, Last: true}, nil
	}
	if f.Unit == "range" && f.Start.Unbounded && !f.Start.Following && f.End.Current {
		return plan.Frame{First: true, Peers: true, Last: w.Order == nil}, nil
	}
	if f.Unit != "rows" {
		return plan.Frame{}, unsupportedError(f.At, "use ROWS BETWEEN …, or join the table with itself: SELECT a.id, sum(b.x) FROM t AS a JOIN t AS b ON b.day BETWEEN a.day - interval '6 days' AND a.day GROUP BY a.id", "a frame of %s with these ends isn't there", strings.ToUpper(f.Unit))
	}
	// ROWS with constant ends. Only a start may be UNBOUNDED PRECEDING, and only an end UNBOUNDED FOLLOWING.
	var out plan.Frame
	for _, end := range []struct {
		sqlparse.Bound
		n    *int64
		open *bool
		last bool
	}{{f.Start, &out.From, &out.First, false}, {f.End, &out.To, &out.Last, true}} {
		switch {
		case end.Current:
		case end.Unbounded && end.Following == end.last:
			*end.open = true
		case end.Unbounded:
			return plan.Frame{}, invalid(f.At, "a frame begins before it ends")
		default:
			v, ok := end.Offset.(*sqlparse.Number)
			if !ok {
				return plan.Frame{}, unsupportedError(f.At, "", "the ends of a frame are constant whole numbers")
			}
			if _, err := fmt.Sscanf(v.Text, "%d", end.n); err != nil || fmt.Sprint(*end.n) != v.Text {
				return plan.Frame{}, invalid(v.At, "the ends of a frame are constant whole numbers")
			}
			if !end.Following {
				*end.n = -*end.n
			}
		}
	}
	if !out.First && !out.Last && out.From > out.To {
		return plan.Frame{}, invalid(f.At, "a frame begins before it ends")
	}
	return out, nil
}
