package sqlite

import (
	"context"
	"database/sql"
	"fmt"
	"strings"

	"github.com/bailiwick-dev/bailiwick/internal/sqldriver"
	"github.com/bailiwick-dev/bailiwick/schema"
)

// shadows contains the name suffixes of the tables in which a module stores its index. The first suffix is the index
// itself. SQLite also knows these suffixes, but only for loaded modules.
var shadows = map[string][]string{
	"fts5": {"", "_data", "_idx", "_content", "_docsize", "_config"}, "fts5vocab": {""},
	"fts4": {"", "_content", "_docsize", "_segdir", "_segments", "_stat"}, "fts4aux": {""},
	"fts3": {"", "_content", "_docsize", "_segdir", "_segments", "_stat"}, "fts3tokenize": {""},
}

// textTables returns the names, in lower case, of the tables that are full-text indexes or parts of one. They aren't
// classes. made contains the CREATE statements of the virtual tables, by name.
func textTables(made map[string]string) map[string]bool {
	out := map[string]bool{}
	for name, ddl := range made {
		module, _, _ := virtual(ddl)
		for _, end := range shadows[sqldriver.LowerASCII(module)] {
			out[sqldriver.LowerASCII(name+end)] = true
		}
	}
	return out
}

// fullText adds the FTS5 indexes to their classes and returns warnings about indexes that it can't use. An index
// belongs to a class if it is an external-content table (content=…) over the class's table, by its integer key.
// fullText assumes that each column of the index contains the field of the same name. The owner must keep the index
// up to date.
func fullText(ctx context.Context, tx *sql.Tx, classes []schema.Class) ([]string, error) {
	spaces := map[string][]*schema.Class{}
	for i := range classes {
		spaces[classes[i].Space] = append(spaces[classes[i].Space], &classes[i])
	}
	var warnings []string
	for space, in := range spaces {
		made, err := virtuals(ctx, tx, space)
		if err != nil {
			return nil, fmt.Errorf("full-text indexes: %w", err)
		}
		for name, ddl := range made {
			module, args, ok := virtual(ddl)
			if !ok || sqldriver.LowerASCII(module) != "fts5" {
				continue
			}
			c, x, ok := external(name, args, in)
			if !ok {
				continue
			}
			if err := probe(ctx, tx, space, x); err != nil {
				if ctx.Err() != nil {
					return nil, ctx.Err()
				}
				warnings = append(warnings, fmt.Sprintf("full-text index %q of class %q left out: %v", name, c.Name, err))
				continue
			}
			c.Text = append(c.Text, x)
		}
	}
	sqldriver.SortText(classes)
	return warnings, nil
}

// virtuals returns the CREATE statements of the virtual tables of a schema, by table name.
func virtuals(ctx context.Context, tx *sql.Tx, space string) (map[string]string, error) {
	if space == "" {
		space = "main"
	}
	rows, err := tx.QueryContext(ctx, "SELECT s.name, s.sql FROM "+quote(space)+".sqlite_schema AS s WHERE s.type = 'table' AND s.sql LIKE 'CREATE VIRTUAL%'")
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	made := map[string]string{}
	for rows.Next() {
		var name, ddl string
		if err := rows.Scan(&name, &ddl); err != nil {
			return nil, err
		}
		made[name] = ddl
	}
	return made, rows.Err()
}

// external parses the arguments of an FTS5 table as an index of one of classes. It returns nil or false if the index
// can't be used.
func external(name string, args []string, classes []*schema.Class) (*schema.Class, schema.TextIndex, bool) {
	x := schema.TextIndex{Name: name}
	content, rowid := "", "rowid"
	var columns []string
	for _, arg := range args {
		option, v, is := assignment(arg)
		column, rest, ok := token(arg)
		switch {
		case is && option == "content":
			content = v
		case is && option == "content_rowid":
			rowid = v
		case is && (option == "tokenize" || option == "prefix" || option == "columnsize" || option == "detail" && sqldriver.LowerASCII(v) == "full"):
		case is, !ok:
			return nil, x, false // with less detail, an index raises errors for phrases and columns
		case sqldriver.LowerASCII(strings.TrimSpace(rest)) == "unindexed":
		case strings.TrimSpace(rest) == "" && sqldriver.LowerASCII(column) != sqldriver.LowerASCII(name): // a column with the table's name would change the meaning of MATCH
			columns = append(columns, column)
		default:
			return nil, x, false
		}
	}
	// The index's table must be a class, and its rowid must be the key of the class, so that each match identifies a
	// record.
	for _, c := range classes {
		if content == "" || sqldriver.LowerASCII(c.Table) != sqldriver.LowerASCII(content) || c.View || len(c.Key) != 1 {
			continue
		}
		key := c.Field(c.Key[0])
		if key.Type != schema.Integer || !key.Generated || sqldriver.LowerASCII(rowid) != "rowid" && sqldriver.LowerASCII(rowid) != sqldriver.LowerASCII(key.Name) {
			return nil, x, false
		}
		x.Key = key.Name
		for _, column := range columns {
			for _, f := range c.Fields {
				if sqldriver.LowerASCII(f.Name) == sqldriver.LowerASCII(column) && (f.Type == schema.String || f.Type == schema.Any) {
					x.Fields = append(x.Fields, f.Name)
				}
			}
		}
		return c, x, len(x.Fields) > 0
	}
	return nil, x, false
}

// probe runs a search in x. It fails if the index can't be read here because a tokenizer or a table is missing.
func probe(ctx context.Context, tx *sql.Tx, space string, x schema.TextIndex) error {
	if space == "" {
		space = "main"
	}
	columns := make([]string, len(x.Fields))
	for i, f := range x.Fields {
		columns[i] = quote(f)
	}
	var n int
	return tx.QueryRowContext(ctx, "SELECT count(*) FROM (SELECT f.rowid FROM "+quote(space)+"."+quote(x.Name)+" AS f WHERE f."+quote(x.Name)+" MATCH ? LIMIT 1)",
		"{"+strings.Join(columns, " ")+`} : ("two words")`).Scan(&n)
}

func quote(name string) string { return `"` + strings.ReplaceAll(name, `"`, `""`) + `"` }
