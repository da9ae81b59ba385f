package fulltext

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/bailiwick-dev/bailiwick/schema"
)

// A Querier is what Postgres needs of a connection, a pool or a transaction.
type Querier interface {
	Query(ctx context.Context, sql string, args ...any) (pgx.Rows, error)
}

// expressions reads what indexes of words compute. An index with a predicate, one that isn't valid, and one of a table
// that others inherit from haven't computed it for every record: it could raise an error for a hidden one.
const expressions = `
SELECT CASE n.nspname WHEN 'public' THEN '' ELSE n.nspname::text END, t.relname::text, c.relname::text,
	pg_catalog.pg_get_indexdef(i.indexrelid, k.at, true)
FROM pg_catalog.pg_index i
JOIN pg_catalog.pg_class c ON c.oid = i.indexrelid
JOIN pg_catalog.pg_am m ON m.oid = c.relam
JOIN pg_catalog.pg_class t ON t.oid = i.indrelid
JOIN pg_catalog.pg_namespace n ON n.oid = t.relnamespace, generate_series(1, i.indnkeyatts::int) AS k (at)
WHERE m.amname IN ('gin', 'gist') AND i.indisvalid AND i.indpred IS NULL AND i.indkey[k.at - 1] = 0
	AND (t.relkind = 'p' OR NOT EXISTS (SELECT FROM pg_catalog.pg_inherits h WHERE h.inhparent = t.oid))
ORDER BY 1, 2, 3, k.at`

// Postgres adds to classes their full-text indexes: GIN and GiST indexes of to_tsvector('configuration', field), with
// or without coalesce(field, ”). Others are passed over.
func Postgres(ctx context.Context, conn Querier, classes []schema.Class) error {
	type row struct{ Space, Table, Name, Expression string }
	rows, err := conn.Query(ctx, expressions)
	if err != nil {
		return fmt.Errorf("full-text indexes: %w", err)
	}
	indexes, err := pgx.CollectRows(rows, pgx.RowToStructByPos[row])
	if err != nil {
		return fmt.Errorf("full-text indexes: %w", err)
	}
	for _, found := range indexes {
		i := slices.IndexFunc(classes, func(c schema.Class) bool { return c.Space == found.Space && c.Table == found.Table })
		x, ok := vector(found.Expression)
		if i < 0 || !ok {
			continue
		}
		f := classes[i].Field(x.Fields[0])
		if f == nil || f.Type != schema.String || !slices.Contains([]string{"text", "varchar", "bpchar"}, f.Native) {
			continue
		}
		x.Name = found.Name
		classes[i].Text = append(classes[i].Text, x)
	}
	sorted(classes)
	return nil
}

// to_tsvector('english'::regconfig, …) as PostgreSQL writes it back.
var (
	vectorOf  = regexp.MustCompile(`^to_tsvector\('([a-z_][a-z0-9_]*(?:\.[a-z_][a-z0-9_]*)?)'::regconfig, (.*)\)$`)
	textOf    = regexp.MustCompile(`^(?:(.*)|\((.*)\))::text$`)
	orEmptyOf = regexp.MustCompile(`^COALESCE\((.*), ''::(?:text|character varying|bpchar)\)$`)
	columnOf  = regexp.MustCompile(`^(?:([a-z_][a-z0-9_]*)|"((?:[^"]|"")+)")$`)
)

// vector reads the expression of an index.
func vector(expression string) (schema.TextIndex, bool) {
	m := vectorOf.FindStringSubmatch(expression)
	if m == nil {
		return schema.TextIndex{}, false
	}
	x := schema.TextIndex{Config: m[1]}
	text := uncast(m[2])
	if m := orEmptyOf.FindStringSubmatch(text); m != nil {
		x.NoNulls, text = true, uncast(m[1])
	}
	c := columnOf.FindStringSubmatch(text)
	if c == nil {
		return schema.TextIndex{}, false
	}
	x.Fields = []string{c[1] + strings.ReplaceAll(c[2], `""`, `"`)}
	return x, true
}

// uncast takes a cast to text off.
func uncast(expression string) string {
	if m := textOf.FindStringSubmatch(expression); m != nil {
		return m[1] + m[2]
	}
	return expression
}
