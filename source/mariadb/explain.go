package mariadb

import (
	"context"
	"database/sql"
	"strings"

	"github.com/bailiwick-dev/bailiwick/internal/sqldriver"
	"github.com/bailiwick-dev/bailiwick/internal/sqlgen"
	"github.com/bailiwick-dev/bailiwick/policy"
	"github.com/bailiwick-dev/bailiwick/source"
)

// Explain implements source.Explainer. It returns MariaDB's table, one line per row, because the JSON form is ten
// times as long.
func (s *Source) Explain(ctx context.Context, p policy.Permit) (string, error) {
	if of, err := p.Plan(); err == nil && of.Catalogue {
		return sqldriver.Catalogued, nil
	}
	st, err := sqlgen.SQL(p, Dialect())
	if err != nil {
		return "", err
	}
	var lines []string
	err = s.query(ctx, "EXPLAIN "+st.Text, st.Args, func(rows *sql.Rows) error {
		lines, err = table(rows)
		return err
	})
	if err != nil {
		return "", refuse(ctx, err)
	}
	return strings.Join(lines, "\n"), nil
}

// table returns rows as lines. The first line contains the column names. Null is "-".
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

// Pool implements source.Pooled.
func (s *Source) Pool() source.Pool { return sqldriver.Pool(s.db.Stats()) }

// CheckNative implements source.NativeReader.
func (s *Source) CheckNative(statement string) ([]string, error) {
	return sqlgen.ReadNative(Dialect(), statement)
}
