package postgres

import (
	"context"
	"encoding/hex"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/bailiwick-dev/bailiwick/internal/sqldriver"
	"github.com/bailiwick-dev/bailiwick/schema"
)

// indexed reads the indexed expressions and generated columns of full-text indexes. It omits indexes with a
// predicate, invalid indexes, and indexes of parent tables. Such an index hasn't computed the expression for every
// record, so the expression could raise an error for a hidden record.
const indexed = `
SELECT CASE n.nspname WHEN 'public' THEN '' ELSE n.nspname::text END, t.relname::text, c.relname::text, coalesce(a.attname::text, ''),
	coalesce(CASE a.attgenerated WHEN 's' THEN pg_catalog.pg_get_expr(d.adbin, d.adrelid, true) END, pg_catalog.pg_get_indexdef(i.indexrelid, k.at, true), '')
FROM pg_catalog.pg_index i
JOIN pg_catalog.pg_class c ON c.oid = i.indexrelid
JOIN pg_catalog.pg_am m ON m.oid = c.relam
JOIN pg_catalog.pg_class t ON t.oid = i.indrelid
JOIN pg_catalog.pg_namespace n ON n.oid = t.relnamespace
CROSS JOIN generate_series(1, i.indnkeyatts::int) AS k (at)
LEFT JOIN pg_catalog.pg_attribute a ON a.attrelid = i.indrelid AND a.attnum = i.indkey[k.at - 1] AND a.attnum > 0
LEFT JOIN pg_catalog.pg_attrdef d ON d.adrelid = a.attrelid AND d.adnum = a.attnum
WHERE t.oid = ANY ($1::oid[]) AND m.amname IN ('gin', 'gist') AND i.indisvalid AND i.indpred IS NULL
	AND (a.attnum IS NULL OR a.atttypid = 'pg_catalog.tsvector'::regtype)
	AND (t.relkind = 'p' OR NOT EXISTS (SELECT FROM pg_catalog.pg_inherits h WHERE h.inhparent = t.oid))
ORDER BY 1, 2, 3, k.at`

// fullText adds their full-text indexes to classes. It accepts GIN and GiST indexes of to_tsvector('configuration',
// field), with or without a coalesce of the field. It accepts indexes of stored generated columns that contain only
// fields and their lexemes. It also accepts indexes of columns that the trigger tsvector_update_trigger computes. It
// ignores all other indexes.
func fullText(ctx context.Context, conn querier, classes []schema.Class, oids []uint32) error {
	type row struct{ Space, Table, Name, Column, Expression string }
	rows, err := conn.Query(ctx, indexed, oids)
	if err != nil {
		return fmt.Errorf("full-text indexes: %w", err)
	}
	indexes, err := pgx.CollectRows(rows, pgx.RowToStructByPos[row])
	if err != nil {
		return fmt.Errorf("full-text indexes: %w", err)
	}
	kept, err := triggers(ctx, conn, oids)
	if err != nil {
		return err
	}
	place := map[[2]string]int{}
	for i := range classes {
		place[[2]string{classes[i].Space, classes[i].Table}] = i
	}
	for at, by := range kept {
		if i, ok := place[[2]string(at[:2])]; ok {
			if f := classes[i].Field(at[2]); f != nil {
				f.From = by.Fields
			}
		}
	}
	for _, found := range indexes {
		i, there := place[[2]string{found.Space, found.Table}]
		x, ok := vector(found.Expression)
		switch t, by := kept[[3]string{found.Space, found.Table, found.Column}]; {
		case found.Column != "" && by:
			x, ok = t, true
		case found.Column != "":
			x, ok = parseTextIndex(found.Expression)
		}
		if !there || !ok || slices.ContainsFunc(x.Fields, func(name string) bool { return !textual(classes[i].Field(name)) }) ||
			found.Column != "" && classes[i].Field(found.Column) == nil {
			continue
		}
		x.Name, x.Column = found.Name, found.Column
		classes[i].Text = append(classes[i].Text, x)
	}
	sqldriver.SortText(classes)
	return nil
}

// keeping reads the triggers that compute a tsvector column for every written record. Their arguments are the column,
// its configuration and the fields, each followed by a NUL.
const keeping = `
SELECT CASE n.nspname WHEN 'public' THEN '' ELSE n.nspname::text END, t.relname::text, encode(g.tgargs, 'hex')
FROM pg_catalog.pg_trigger g
JOIN pg_catalog.pg_class t ON t.oid = g.tgrelid
JOIN pg_catalog.pg_namespace n ON n.oid = t.relnamespace
WHERE t.oid = ANY ($1::oid[]) AND g.tgfoid = 'pg_catalog.tsvector_update_trigger'::regproc AND g.tgenabled IN ('O', 'A') AND g.tgtype::int & 23 = 23
	AND g.tgqual IS NULL AND g.tgattr::text = ''`

// triggers returns the text index that such a trigger computes, by space, table and column.
func triggers(ctx context.Context, conn querier, oids []uint32) (map[[3]string]schema.TextIndex, error) {
	type row struct{ Space, Table, Arguments string }
	rows, err := conn.Query(ctx, keeping, oids)
	if err != nil {
		return nil, fmt.Errorf("triggers of full-text indexes: %w", err)
	}
	found, err := pgx.CollectRows(rows, pgx.RowToStructByPos[row])
	if err != nil {
		return nil, fmt.Errorf("triggers of full-text indexes: %w", err)
	}
	out := map[[3]string]schema.TextIndex{}
	for _, t := range found {
		text, err := hex.DecodeString(t.Arguments)
		args := strings.Split(strings.TrimSuffix(string(text), "\x00"), "\x00")
		if err != nil || len(args) < 3 || !configOf.MatchString(args[1]) {
			continue
		}
		out[[3]string{t.Space, t.Table, args[0]}] = schema.TextIndex{Config: args[1], Fields: args[2:], Kept: true}
	}
	return out, nil
}

// configOf matches the name of a configuration.
var configOf = regexp.MustCompile(`^[a-z_][a-z0-9_]*(\.[a-z_][a-z0-9_]*)?$`)

// textual reports whether f is a field that to_tsvector may index as text.
func textual(f *schema.Field) bool {
	return f != nil && f.Type == schema.String && slices.Contains([]string{"text", "varchar", "bpchar"}, f.Native)
}

// vectorOf and the other patterns match to_tsvector('english'::regconfig, …) in the form that PostgreSQL writes.
var (
	vectorOf  = regexp.MustCompile(`^to_tsvector\('([a-z_][a-z0-9_]*(?:\.[a-z_][a-z0-9_]*)?)'::regconfig, (.*)\)$`)
	textOf    = regexp.MustCompile(`^(?:\((.*)\)|(.*))::text$`)
	orEmptyOf = regexp.MustCompile(`^COALESCE\((.*), ''::(?:text|character varying|bpchar)\)$`)
	columnOf  = regexp.MustCompile(`^(?:([a-z_][a-z0-9_]*)|"((?:[^"]|"")+)")$`)
)

// vector parses the expression of an index. It returns false if the form isn't supported.
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
	if !columnOf.MatchString(text) {
		return schema.TextIndex{}, false
	}
	x.Fields = []string{unquoteName(text)}
	return x, true
}

// uncast removes a cast to text.
func uncast(expression string) string {
	if m := textOf.FindStringSubmatch(expression); m != nil {
		return m[1] + m[2]
	}
	return expression
}

func unquoteName(name string) string {
	if inner, ok := strings.CutPrefix(name, `"`); ok {
		return strings.ReplaceAll(strings.TrimSuffix(inner, `"`), `""`, `"`)
	}
	return name
}

// partOf matches one part of the expression of a generated column. These are the only parts that parseTextIndex
// accepts.
var partOf = regexp.MustCompile(`^(?:` + strings.Join([]string{
	`\s+|\|\||[(),]`,
	`::(?:text|character varying|bpchar|"char")`,
	`'([a-z_][a-z0-9_]*(?:\.[a-z_][a-z0-9_]*)?)'::regconfig`, // 1: a configuration
	`'(?:[^']|'')*'`,
	`(?:to_tsvector|setweight|COALESCE)\(`,
	`([a-z_][a-z0-9_]*|"(?:[^"]|"")+")(?:[^(."a-zA-Z0-9_$]|$)`, // 2: a field, and the character after it
}, "|") + `)`)

// parseTextIndex parses the expression of a generated column. It accepts fields, literals and the functions that make
// a tsvector from them, with one configuration. An expression with any other part might contain text that no field
// contains.
func parseTextIndex(expression string) (schema.TextIndex, bool) {
	var x schema.TextIndex
	for rest := expression; rest != ""; {
		m := partOf.FindStringSubmatchIndex(rest)
		if m == nil {
			return x, false
		}
		end := m[1]
		switch {
		case m[2] >= 0:
			config := rest[m[2]:m[3]]
			if x.Config != "" && x.Config != config {
				return x, false
			}
			x.Config = config
		case m[4] >= 0:
			end = m[5]
			if name := unquoteName(rest[m[4]:end]); !slices.Contains(x.Fields, name) {
				x.Fields = append(x.Fields, name)
			}
		}
		rest = rest[end:]
	}
	return x, x.Config != "" && x.Fields != nil
}
