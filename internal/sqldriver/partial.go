package sqldriver

import (
	"context"
	"fmt"
	"strconv"

	"github.com/bailiwick-dev/bailiwick/internal/interpret"
	"github.com/bailiwick-dev/bailiwick/internal/sqlgen"
	"github.com/bailiwick-dev/bailiwick/policy"
	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/source"
	"github.com/bailiwick-dev/bailiwick/value"
)

// ReadPartly is Read for a database whose dialect doesn't support a part of the language. The gateway computes the
// unsupported part over the remaining records of the views. It reads at most rows of them, or interpret.DefaultRows
// if rows is 0. These records are read before ReadPartly returns.
func ReadPartly(ctx context.Context, db Database, p policy.Permit, rows int) (source.Rows, error) {
	out, err := Read(ctx, db, p)
	if problem.CodeOf(err) != problem.Unsupported {
		return out, err
	}
	plan, err := p.Plan()
	if err != nil {
		return nil, err
	}
	r := &partly{db: db, plan: &plan, budget: interpret.Budget{Rows: rows}, most: rows}
	if rows == 0 {
		r.most = interpret.DefaultRows
	}
	if plan.Program == nil || plan.Program.From < 0 {
		out, err := interpret.Rows(ctx, r.plan, r.records)
		return r.cut(out), err
	}
	st, stages, err := sqlgen.Prefix(r.plan, db.Dialect(), r.most, interpret.DefaultBytes)
	if err != nil {
		return nil, err
	}
	done, err := r.run(ctx, &st, plan.Views[plan.Program.From].Name())
	if err != nil {
		return nil, err
	}
	out, err = interpret.Continue(ctx, r.plan, r.records, interpret.Prefix{Stages: stages, Rows: done})
	return r.cut(out), err
}

// TextPartly returns the text of the statement that ReadPartly runs first, and a description of the rest.
func TextPartly(p policy.Permit, d sqlgen.Dialect) (string, error) {
	text, err := Text(p, d)
	if problem.CodeOf(err) != problem.Unsupported {
		return text, err
	}
	st, rest, err := First(p, d)
	if err != nil {
		return "", err
	}
	return st.Text + "\n-- " + rest, nil
}

// First returns the statement that ReadPartly runs first for a permit that the dialect can only express in part. It
// also returns a sentence about the computation over its records.
func First(p policy.Permit, d sqlgen.Dialect) (sqlgen.Statement, string, error) {
	plan, err := p.Plan()
	if err != nil {
		return sqlgen.Statement{}, "", err
	}
	if plan.Program == nil || plan.Program.From < 0 {
		st, err := sqlgen.Records(plan.View, d, sqlgen.Part{Limit: interpret.DefaultRows})
		return st, "the conditions and the order are computed by this server, over these records", err
	}
	st, n, err := sqlgen.Prefix(&plan, d, interpret.DefaultRows, interpret.DefaultBytes)
	all := len(plan.Program.Stages)
	return st, "the database runs " + strconv.Itoa(n) + " of " + strconv.Itoa(all) + " steps; this server computes the rest over these records", err
}

// cut returns rows with each value replaced by its size if it is longer than the plan allows.
func (r *partly) cut(rows source.Rows) source.Rows {
	most := r.plan.Most
	if most == 0 {
		most = policy.MostValue
	}
	return func(yield func(value.Row, error) bool) {
		for row, err := range rows {
			for i, v := range row[:min(len(row), len(r.plan.Columns))] {
				n := len(v.Text())
				if n == 0 && (v.List() != nil || v.Members() != nil) {
					n = len(v.AppendJSON(nil))
				}
				if n > most {
					row[i] = value.OfCut(int64(n))
				}
			}
			if !yield(row, err) {
				return
			}
		}
	}
}

// A partly reads one plan.
type partly struct {
	db     Database
	plan   *policy.Plan
	budget interpret.Budget
	most   int
}

// records implements interpret.Records.
func (r *partly) records(ctx context.Context, n interpret.Need) ([]value.Row, error) {
	st, err := sqlgen.Records(n.View, r.db.Dialect(), sqlgen.Part{Key: n.Key, In: n.In, Limit: r.most, Most: interpret.DefaultBytes})
	if err != nil {
		return nil, err
	}
	found, err := r.run(ctx, &st, n.View.Name())
	if err != nil {
		return nil, err
	}
	fields := n.View.Class().Fields
	at := make(map[string]int, len(fields))
	for i := range fields {
		at[fields[i].Name] = i
	}
	out := make([]value.Row, len(found))
	for i, row := range found {
		out[i] = make(value.Row, len(fields))
		for j, f := range n.View.Fields() {
			out[i][at[f.Name]] = row[j]
		}
	}
	return out, nil
}

// run returns the rows of a statement, within the budget.
func (r *partly) run(ctx context.Context, st *sqlgen.Statement, view string) ([]value.Row, error) {
	var out []value.Row
	var refused error
	columns := *r.plan
	columns.Count, columns.Columns = false, make([]policy.Column, len(st.Columns))
	err := r.db.Run(ctx, st, &columns, func(row value.Row, err error) bool {
		if err == nil {
			row = append(value.Row(nil), row...)
			err = r.take(view, row)
		}
		out, refused = append(out, row), err
		return err == nil
	})
	switch {
	case refused != nil:
		return nil, refused
	case err != nil:
		return nil, r.db.Errors().refuse(ctx, err, digest(st.Text))
	}
	return out, nil
}

// take counts a row that is kept for the computation. It rejects a row with a value that was cut, because the result
// would be wrong.
func (r *partly) take(view string, row value.Row) error {
	for _, v := range row {
		if v.Kind() == value.Cut {
			return &problem.Error{Code: problem.Unsupported,
				Detail:     fmt.Sprintf("the source can't run all of this query, and a value of %q is too large to compute with here", problem.Cut(view)),
				Suggestion: "begin with a $match that leaves out such records, or a $project without the field"}
		}
	}
	return r.budget.Take(view, row)
}
