package endtoend

import (
	"database/sql"
	"fmt"
	"net/url"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bailiwick-dev/bailiwick/internal/testservices"
	"github.com/bailiwick-dev/bailiwick/schema"
	"github.com/bailiwick-dev/bailiwick/source"
	"github.com/bailiwick-dev/bailiwick/source/mariadb"
	"github.com/bailiwick-dev/bailiwick/source/memory"
	"github.com/bailiwick-dev/bailiwick/source/postgres"
	"github.com/bailiwick-dev/bailiwick/source/sqlite"
	"github.com/bailiwick-dev/bailiwick/value"
	"github.com/jackc/pgx/v5"
)

// A shopTable is one table of the neutral file.
type shopTable struct {
	name    string
	columns []string // with their types, by position
	types   []string
	key     []string
	foreign []schema.Relation
	rows    []value.Value
}

func readShop(t *testing.T) []shopTable {
	t.Helper()
	texts := func(v value.Value, name string) (out []string) {
		list, _ := v.Get(name)
		for _, e := range list.List() {
			out = append(out, e.Text())
		}
		return out
	}
	word := func(v value.Value, name string) string {
		w, _ := v.Get(name)
		return w.Text()
	}
	var out []shopTable
	all, _ := readJSON(t, "shop.json").Get("tables")
	for _, v := range all.List() {
		rows, _ := v.Get("rows")
		table := shopTable{name: word(v, "name"), key: texts(v, "key"), rows: rows.List()}
		columns, _ := v.Get("columns")
		for _, c := range columns.List() {
			table.columns, table.types = append(table.columns, word(c, "name")), append(table.types, word(c, "type"))
		}
		foreign, _ := v.Get("foreign")
		for _, f := range foreign.List() {
			table.foreign = append(table.foreign, schema.Relation{Fields: []string{word(f, "field")}, Target: word(f, "class"), TargetFields: []string{word(f, "key")}})
		}
		out = append(out, table)
	}
	return out
}

// A shopDialect is how a database declares the types of the neutral file, and whether it accepts zones in dates.
type shopDialect struct {
	types map[string]string
	zones bool
}

// script returns the statements that create the tables.
func (d shopDialect) script(shop []shopTable) string {
	var create, insert []string
	quote := func(names []string) string { return `"` + strings.Join(names, `", "`) + `"` }
	for _, t := range shop {
		var parts []string
		for i, c := range t.columns {
			parts = append(parts, `"`+c+`" `+d.types[t.types[i]])
		}
		if t.key != nil {
			parts = append(parts, "PRIMARY KEY ("+quote(t.key)+")")
		}
		for _, f := range t.foreign {
			parts = append(parts, fmt.Sprintf("FOREIGN KEY (%s) REFERENCES %q (%s)", quote(f.Fields), f.Target, quote(f.TargetFields)))
		}
		create = append(create, fmt.Sprintf("CREATE TABLE %q (%s)", t.name, strings.Join(parts, ", ")))
		var rows []string
		for _, r := range t.rows {
			cells := make([]string, len(t.columns))
			for i, v := range r.List() {
				cells[i] = d.literal(v, t.types[i])
			}
			rows = append(rows, "("+strings.Join(cells, ", ")+")")
		}
		insert = append(insert, fmt.Sprintf("INSERT INTO %q VALUES %s", t.name, strings.Join(rows, ", ")))
	}
	return strings.Join(append(create, insert...), ";")
}

func (d shopDialect) literal(v value.Value, is string) string {
	text := v.String()
	switch {
	case v.IsNull():
		return "NULL"
	case is == "json":
		text = string(v.AppendJSON(nil))
	case v.Kind() != value.String:
		return text
	case is == "date" && !d.zones:
		text = strings.TrimSuffix(strings.Replace(text, "T", " ", 1), "Z")
	}
	return "'" + strings.ReplaceAll(text, "'", "''") + "'"
}

func openSQLiteShop(t *testing.T, shop []shopTable) source.Source {
	path := filepath.Join(t.TempDir(), "shop.db")
	db, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	d := shopDialect{map[string]string{"integer": "INTEGER", "text": "TEXT", "day": "DATE", "date": "DATETIME", "boolean": "BOOLEAN",
		"decimal": "NUMERIC(10,2)", "double": "REAL", "json": "JSON"}, true}
	if _, err := db.ExecContext(t.Context(), "BEGIN;"+d.script(shop)+";COMMIT"); err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	src, err := sqlite.Open(t.Context(), "shop", path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { src.Close() })
	return src
}

func openPostgresShop(t *testing.T, shop []shopTable) source.Source {
	url := testservices.Postgres(t)
	conn, err := pgx.Connect(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	d := shopDialect{map[string]string{"integer": "bigint", "text": "text", "day": "date", "date": "timestamptz", "boolean": "boolean",
		"decimal": "numeric(10,2)", "double": "double precision", "json": "jsonb"}, true}
	if _, err := conn.PgConn().Exec(t.Context(), d.script(shop)).ReadAll(); err != nil {
		t.Fatal(err)
	}
	if err := conn.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	src, err := postgres.Open(t.Context(), "shop", url)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { src.Close() })
	return src
}

func openMariaDBShop(t *testing.T, shop []shopTable) source.Source {
	u := testservices.MariaDB(t)
	parsed, err := url.Parse(u)
	if err != nil {
		t.Fatal(err)
	}
	password, _ := parsed.User.Password()
	db, err := sql.Open("mysql", parsed.User.Username()+":"+password+"@tcp("+parsed.Host+")"+parsed.Path+"?multiStatements=true")
	if err != nil {
		t.Fatal(err)
	}
	db.SetMaxOpenConns(1)
	d := shopDialect{map[string]string{"integer": "bigint", "text": "varchar(100) CHARACTER SET utf8mb4 COLLATE utf8mb4_general_ci", "day": "date",
		"date": "datetime(6)", "boolean": "tinyint(1)", "decimal": "decimal(10,2)", "double": "double", "json": "json"}, false}
	// A customer may come before the one that referred it.
	settings := "SET foreign_key_checks = 0, sql_mode = 'ANSI_QUOTES,NO_BACKSLASH_ESCAPES'"
	if _, err := db.ExecContext(t.Context(), settings+";"+d.script(shop)); err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	src, err := mariadb.Open(t.Context(), "shop", u)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { src.Close() })
	return src
}

var shopTypes = map[string]schema.Type{"integer": schema.Integer, "text": schema.String, "day": schema.Day, "date": schema.Date, "boolean": schema.Boolean,
	"decimal": schema.Decimal, "double": schema.Double, "json": schema.JSON}

func openMemoryShop(t *testing.T, shop []shopTable) source.Source {
	classes, rows := make([]schema.Class, len(shop)), map[string][]value.Row{}
	for i, table := range shop {
		classes[i] = schema.Class{Source: "shop", Name: table.name, Table: table.name, Key: table.key, Relations: table.foreign}
		for j, name := range table.columns {
			classes[i].Fields = append(classes[i].Fields, schema.Field{Name: name, Type: shopTypes[table.types[j]]})
		}
		for _, written := range table.rows {
			row := make(value.Row, len(table.columns))
			for j, v := range written.List() {
				row[j] = shopValue(v, shopTypes[table.types[j]])
			}
			rows[table.name] = append(rows[table.name], row)
		}
	}
	return memory.New(classes, rows)
}

// shopValue returns a written value as a field of type is holds it.
func shopValue(v value.Value, is schema.Type) value.Value {
	switch {
	case v.IsNull():
		return v
	case is == schema.Date || is == schema.Day:
		d, _ := value.OfDateText(v.Text())
		return d
	case is == schema.Double:
		x, _ := v.AsFloat()
		return value.OfFloat(x)
	case is == schema.Decimal:
		return value.OfDecimal(v.String())
	}
	return v
}
