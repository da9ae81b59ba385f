package interpret

import (
	"github.com/bailiwick-dev/bailiwick/internal/plan"
	"github.com/bailiwick-dev/bailiwick/value"
)

// joining appends the texts that the body of a Reduce joins. It reports whether the body only joins texts. Each text
// must be plan.Before, the result so far, or must not depend on it.
func joining(parts []plan.Expr, body plan.Expr) ([]plan.Expr, bool) {
	if json, is := body.(plan.ToJSON); is {
		body = json.X
	}
	e, is := body.(plan.Apply)
	if !is || e.Op != plan.Concat {
		return nil, false
	}
	for _, arg := range e.Args {
		switch inner, is := arg.(plan.Apply); {
		case is && inner.Op == plan.Concat:
			var ok bool
			if parts, ok = joining(parts, inner); !ok {
				return nil, false
			}
		case arg == plan.Expr(plan.As{X: plan.Before{}, T: e.T}):
			parts = append(parts, plan.Before{})
		case !plan.Recalls(arg):
			parts = append(parts, arg)
		default:
			return nil, false
		}
	}
	return parts, true
}

// A textJoin is the result so far of a Reduce that joins texts, in memory that is reused. With a new text for each
// element, the garbage would be a hundred times larger than the last text, and would grow faster than it is collected.
// The zero textJoin is ready for Begin.
type textJoin struct {
	made, next, quoted []byte
	known              bool // the result is a text, and not too large
}

// Begin sets the initial value.
func (j *textJoin) Begin(so value.Value) {
	if j.known = so.Kind() == value.String && len(so.Text()) <= plan.MostBefore; j.known {
		j.made = append(j.made[:0], so.Text()...)
	}
}

// Next joins the parts for one element of the list.
func (j *textJoin) Next(parts []plan.Expr, eval func(plan.Expr) value.Value) {
	next, all := j.next[:0], true
	for i := 0; i < len(parts) && all; i++ {
		if _, is := parts[i].(plan.Before); is {
			next, all = append(next, j.made...), j.known
		} else if v := eval(parts[i]); v.IsNull() || len(v.Text()) > plan.MostBefore {
			all = false
		} else {
			next = append(next, v.Text()...)
		}
		all = all && len(next) <= plan.MostBefore
	}
	if all {
		j.quoted = value.AppendQuote(j.quoted[:0], next)
	}
	j.known = all && len(j.quoted) <= plan.MostBefore
	j.made, j.next = next, j.made
}

// Value returns the result, or null.
func (j *textJoin) Value() value.Value {
	if !j.known {
		return value.Value{}
	}
	return value.OfString(string(j.made))
}
