package sqlbind

import (
	"slices"

	"github.com/bailiwick-dev/bailiwick/internal/sqlparse"
)

// joinElements joins r with the elements of a list in its records.
func (r *rel) joinElements(f *sqlparse.Function, j *sqlparse.Join) error {
	keep, on, err := listJoin(j)
	if err == nil {
		err = r.unwind(f, keep)
	}
	if err != nil || on == nil {
		return err
	}
	return r.where(on)
}

// unwind makes a record from each element of a list.
func (r *rel) unwind(f *sqlparse.Function, keep bool) error {
	e, err := bindList(r.exprs(), f, r.shape, keep)
	if err != nil {
		return err
	}
	if slices.ContainsFunc(r.cols, func(c col) bool { return c.table == e.Table }) {
		return invalid(f.Call.At, "%s is in FROM twice. Give each an alias", e.Table)
	}
	r.add(e.Stage)
	r.single = false
	at := r.ensureColumns(e.Columns)
	for _, n := range e.Names {
		r.cols = append(r.cols, col{table: e.Table, name: n.Text, at: at[n.Column], unlisted: n.Unlisted})
	}
	return nil
}
