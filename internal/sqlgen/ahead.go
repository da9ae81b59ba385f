package sqlgen

import (
	"slices"

	"github.com/bailiwick-dev/bailiwick/policy"
)

// looksAhead reports whether the statement should first test only some records of the class. This is for a page in the
// order of the key, without a condition of the caller. Its view depends on other records. If most records are visible, the
// page is among the first. If few are, a list of them is short.
func (w *writer) looksAhead() bool {
	const most = 200 // records of a page
	p := w.plan
	if w.few || w.Ahead() == 0 || p.Where != nil || p.Search != nil || p.Skip > 0 || p.Limit > most || len(p.Order) != 1 {
		return false
	}
	o, c := p.Order[0], p.View.Class()
	if o.Join >= 0 || o.Near != nil || len(c.Key) != 1 || o.Field.Name != c.Key[0] || o.Field.Stored != nil || p.After != nil && p.After[0].IsNull() {
		return false
	}
	x := w.column(view(-1), o.Field.Name)
	term, millis := w.Dialect.OrderTerm(x, o.Field)
	return term == x && !millis && slices.ContainsFunc(p.View.Layers(), func(l policy.Layer) bool { return l.Through != nil })
}

// within writes the condition that a record is one of the next records of its class, visible or not.
func (w *writer) within() error {
	o, at := w.plan.Order[0], w.Alias(hop)
	key, c := w.column(at, o.Field.Name), w.plan.View.Class()
	until, last, desc := " <= (SELECT max(", ">", ""
	if o.Desc {
		until, last, desc = " >= (SELECT min(", "<", " DESC"
	}
	next := w.Alias(hop)
	w.Write(w.column(view(-1), o.Field.Name), until, next, ".k) FROM (SELECT ", key, " AS k FROM ", w.table(c.Space, c.Table), " AS ", at)
	if w.plan.After != nil {
		w.Write(" WHERE ")
		if err := w.After(&w.Writer, key, o.Field, last, Argument(w.plan.After[0])); err != nil {
			return err
		}
	}
	w.Write(" ORDER BY ", key, desc, " LIMIT ", w.Limit(int64(w.Ahead())), ") AS ", next, ")")
	return nil
}
