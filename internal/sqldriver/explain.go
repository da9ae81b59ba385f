package sqldriver

import (
	"context"
	"database/sql"
	"strings"

	"github.com/bailiwick-dev/bailiwick/internal/sqlgen"
	"github.com/bailiwick-dev/bailiwick/policy"
	"github.com/jackc/pgx/v5"
)

// Explain implements source.Explainer. It returns one line per step, each below its parent.
func (s *SQLite) Explain(ctx context.Context, p policy.Permit) (string, error) {
	st, err := sqlgen.SQL(p, sqlgen.SQLite)
	if err != nil {
		return "", err
	}
	rows, err := s.db.QueryContext(ctx, "EXPLAIN QUERY PLAN "+st.Text, st.Args...)
	if err != nil {
		return "", s.refuse(ctx, err)
	}
	defer rows.Close()
	var lines []string
	depths := map[int]int{}
	for rows.Next() {
		var id, parent, unused int
		var detail string
		if err := rows.Scan(&id, &parent, &unused, &detail); err != nil {
			return "", s.refuse(ctx, err)
		}
		depths[id] = depths[parent] + 1
		lines = append(lines, strings.Repeat("  ", depths[parent])+detail)
	}
	if err := rows.Err(); err != nil {
		return "", s.refuse(ctx, err)
	}
	return strings.Join(lines, "\n"), nil
}

// Explain implements source.Explainer. It returns PostgreSQL's own text, for the values of this query.
func (s *Postgres) Explain(ctx context.Context, p policy.Permit) (string, error) {
	st, err := sqlgen.SQL(p, sqlgen.PostgreSQL)
	if err != nil {
		return "", err
	}
	var lines []string
	err = s.query(ctx, "EXPLAIN "+st.Text, st.Args, func(rows pgx.Rows) error {
		lines, err = pgx.CollectRows(rows, pgx.RowTo[string])
		return err
	})
	if err != nil {
		return "", s.refuse(ctx, err)
	}
	return strings.Join(lines, "\n"), nil
}

// Explain implements source.Explainer. It returns MariaDB's table, one line per row; the JSON form is ten times as long.
func (s *MySQL) Explain(ctx context.Context, p policy.Permit) (string, error) {
	st, err := sqlgen.SQL(p, sqlgen.MySQL)
	if err != nil {
		return "", err
	}
	var lines []string
	err = s.query(ctx, "EXPLAIN "+st.Text, st.Args, func(rows *sql.Rows) error {
		lines, err = table(rows)
		return err
	})
	if err != nil {
		return "", s.refuse(ctx, err)
	}
	return strings.Join(lines, "\n"), nil
}

// table writes rows as lines, the column names first, with "-" for null.
func table(rows *sql.Rows) ([]string, error) {
	names, err := rows.Columns()
	if err != nil {
		return nil, err
	}
	lines := []string{strings.Join(names, " | ")}
	cells, into := make([]sql.NullString, len(names)), make([]any, len(names))
	for i := range cells {
		into[i] = &cells[i]
	}
	for rows.Next() {
		if err := rows.Scan(into...); err != nil {
			return nil, err
		}
		line := make([]string, len(cells))
		for i, c := range cells {
			if line[i] = c.String; !c.Valid {
				line[i] = "-"
			}
		}
		lines = append(lines, strings.Join(line, " | "))
	}
	return lines, rows.Err()
}
