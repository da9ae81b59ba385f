package sourcetest

import (
	"encoding/hex"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/bailiwick-dev/bailiwick/schema"
	"github.com/bailiwick-dev/bailiwick/test/sourcetest/written"
	"github.com/bailiwick-dev/bailiwick/value"
)

// A Dataset contains the tables and records to load into the source under test.
type Dataset struct{ Tables []Table }

// A Table describes one class in a form that can be converted for every kind of source.
type Table struct {
	Name    string
	Needs   Ability // the ability that a source requires for such a table
	Columns []Column
	Key     []string
	Foreign []schema.Relation
	Rows    string // one JSON array on each line, with one value per column. Dates and bytes are written as in the query language
}

// A Column is one field of a Table. SQLite, Postgres, MySQL and DuckDB are declared types that differ from the usual
// ones.
type Column struct {
	Name                            string
	Is                              schema.Type
	Required                        bool
	SQLite, Postgres, MySQL, DuckDB string
}

// The default declared types. SQLite has no decimals and no arrays, as its description shows. MariaDB has no arrays.
var (
	sqliteTypes = map[schema.Type]string{schema.Any: "", schema.String: "TEXT", schema.Integer: "INTEGER", schema.Double: "REAL",
		schema.Decimal: "NUMERIC", schema.Boolean: "BOOLEAN", schema.Date: "DATETIME", schema.Day: "DATE", schema.UUID: "UUID",
		schema.Bytes: "BLOB", schema.JSON: "JSON", schema.Array: "JSON"}
	postgresTypes = map[schema.Type]string{schema.String: "text", schema.Integer: "bigint", schema.Double: "double precision",
		schema.Decimal: "numeric", schema.Boolean: "boolean", schema.Date: "timestamptz", schema.Day: "date", schema.UUID: "uuid",
		schema.Bytes: "bytea", schema.JSON: "jsonb", schema.Array: "text[]"}
	mysqlTypes = map[schema.Type]string{schema.String: "varchar(150) COLLATE utf8mb4_nopad_bin", schema.Integer: "bigint", schema.Double: "double",
		schema.Decimal: "decimal(60,10)", schema.Boolean: "boolean", schema.Date: "datetime(6)", schema.Day: "date", schema.UUID: "uuid",
		schema.Bytes: "longblob", schema.JSON: "json", schema.Array: "json"}
	duckdbTypes = map[schema.Type]string{schema.String: "VARCHAR", schema.Integer: "BIGINT", schema.Double: "DOUBLE",
		schema.Decimal: "DECIMAL(32,12)", schema.Boolean: "BOOLEAN", schema.Date: "TIMESTAMPTZ", schema.Day: "DATE", schema.UUID: "UUID",
		schema.Bytes: "BLOB", schema.JSON: "JSON", schema.Array: "VARCHAR[]"}
)

// simplerTypes contains the type that a source without an ability uses for fields of another type.
var simplerTypes = map[schema.Type]struct {
	is      schema.Type
	without Ability
}{schema.Decimal: {schema.Double, ExactDecimals}, schema.Array: {schema.JSON, Lists}, schema.Day: {schema.Date, Days}, schema.UUID: {schema.String, UUIDs},
	schema.JSON: {schema.Array, MixedJSON}}

// Script returns the SQL statements that create the tables and their records.
func (d Dataset) Script(t testing.TB, dialect Kind) []string {
	t.Helper()
	var create, insert, relate []string
	if dialect == PostgreSQL {
		create = append(create, `SET timezone = 'UTC'`, `CREATE TYPE mood AS ENUM ('sad', 'ok', 'happy')`,
			`CREATE COLLATION nocase (provider = icu, locale = 'und-u-ks-level2', deterministic = false)`)
	}
	if dialect == MySQL {
		create = append(create, `SET sql_mode = 'ANSI_QUOTES,NO_BACKSLASH_ESCAPES', foreign_key_checks = 0`)
	}
	for _, table := range d.Tables {
		var parts []string
		for _, c := range table.Columns {
			part := ident(c.Name) + " " + c.sqlType(dialect)
			if c.Required {
				part += " NOT NULL"
			}
			parts = append(parts, part)
		}
		if table.Key != nil {
			parts = append(parts, "PRIMARY KEY ("+idents(table.Key)+")")
		}
		for _, f := range table.Foreign {
			foreign := fmt.Sprintf("FOREIGN KEY (%s) REFERENCES %s (%s)", idents(f.Fields), ident(f.Target), idents(f.TargetFields))
			switch dialect {
			case DuckDB: // no foreign keys, because some records violate them
			case SQLite:
				parts = append(parts, foreign)
			case MySQL:
				relate = append(relate, "ALTER TABLE "+ident(table.Name)+" ADD "+foreign)
			default: // NOT VALID, because some records contain dangling pointers
				relate = append(relate, "ALTER TABLE "+ident(table.Name)+" ADD "+foreign+" NOT VALID")
			}
		}
		create = append(create, "CREATE TABLE "+ident(table.Name)+" ("+strings.Join(parts, ", ")+")")
		for _, row := range table.Records(t) {
			texts := make([]string, len(row))
			for i, v := range row {
				texts[i] = table.Columns[i].literal(v, dialect)
			}
			insert = append(insert, "INSERT INTO "+ident(table.Name)+" VALUES ("+strings.Join(texts, ", ")+")")
		}
	}
	return append(append(create, insert...), relate...)
}

func (c Column) sqlType(dialect Kind) string {
	own, usual := c.SQLite, sqliteTypes[c.Is]
	switch dialect {
	case PostgreSQL:
		own, usual = c.Postgres, postgresTypes[c.Is]
	case MySQL:
		own, usual = c.MySQL, mysqlTypes[c.Is]
	case DuckDB:
		own, usual = c.DuckDB, duckdbTypes[c.Is]
	}
	if own != "" {
		return own
	}
	return usual
}

// Records parses the rows.
func (t *Table) Records(tb testing.TB) []value.Row {
	tb.Helper()
	var out []value.Row
	for line := range strings.Lines(Transliterate(t.Rows)) {
		if line = strings.TrimSpace(line); line == "" {
			continue
		}
		v, err := value.Read([]byte(line), 0)
		if err != nil || len(v.List()) != len(t.Columns) {
			tb.Fatalf("%s: %s: %d values for %d columns, %v", t.Name, line, len(v.List()), len(t.Columns), err)
		}
		out = append(out, v.List())
	}
	return out
}

// leave removes the records that a source with these limits can't store. It returns the abilities that they require.
func (t *Table) leave(tb testing.TB, limits Limits) []Ability {
	var kept strings.Builder
	var lost []Ability
	rows := t.Records(tb)
	for i, line := range slices.Collect(strings.Lines(strings.TrimSpace(t.Rows))) {
		needs := append(neededAbilities(value.OfArray(rows[i]), -1), t.needs(rows, i)...)
		needs = slices.DeleteFunc(needs, func(a Ability) bool { return limits[a] == "" })
		if lost = append(lost, needs...); len(needs) == 0 {
			kept.WriteString(strings.TrimSpace(line) + "\n")
		}
	}
	t.Rows = kept.String()
	return lost
}

// needs returns the abilities that a source requires to store the i-th record in columns of the declared types.
func (t *Table) needs(rows []value.Row, i int) (out []Ability) {
	object := func(v value.Value) bool { return v.Kind() == value.Object && !written.Null(v) }
	for at, c := range t.Columns {
		v := rows[i][at]
		if c.Is == schema.Bytes && v.Kind() == value.String && v.Text() == "" {
			out = append(out, EmptyBytes)
		}
		if c.Is == schema.JSON && !v.IsNull() && !object(v) && !written.Null(v) && slices.ContainsFunc(rows, func(r value.Row) bool { return object(r[at]) }) {
			out = append(out, MixedJSON)
		}
	}
	return out
}

// Leave returns the dataset without the records that a source with these limits can't store.
func (d Dataset) Leave(tb testing.TB, limits Limits) Dataset {
	out := Dataset{slices.Clone(d.Tables)}
	for i := range out.Tables {
		out.Tables[i].leave(tb, limits)
	}
	return out
}

// neededAbilities returns the abilities that a source requires to store a value. The value is a record if lists is
// -1, a column if it is 0, and otherwise a part of a column.
func neededAbilities(v value.Value, lists int) []Ability {
	var out []Ability
	if v.Kind() == value.Int && (v.Int() > 1<<53 || v.Int() < -1<<53) {
		out = append(out, WideIntegers)
	}
	if x, _ := v.AsFloat(); v.Kind() == value.Decimal && lists >= 1 && len(value.OfFloat(x).String()) < len(v.Text()) {
		out = append(out, JSONDigits)
	}
	if strings.ContainsFunc(v.Text(), func(r rune) bool { return r > 0xD7FF }) {
		out = append(out, Planes)
	}
	for _, e := range v.List() {
		if e.Kind() == value.Array && lists >= 0 && v.Kind() == value.Array {
			out = append(out, ListsInLists)
		}
		out = append(out, neededAbilities(e, lists+1)...)
	}
	for _, m := range v.Members() {
		if strings.Contains(m.Name, ".") || strings.HasPrefix(m.Name, "$") && m.Name != "$sql" {
			out = append(out, DottedKeys)
		}
		out = append(out, neededAbilities(m.Value, 1)...)
	}
	return out
}

// literal returns v as an SQL literal of the dialect.
func (c Column) literal(v value.Value, dialect Kind) string {
	if v.IsNull() && c.Is != schema.JSON {
		return "NULL"
	}
	switch c.Is {
	case schema.JSON:
		if written.Null(v) {
			return "NULL"
		}
		return quoteText(string(v.AppendJSON(nil)))
	case schema.Array:
		if dialect == PostgreSQL {
			return quoteText(written.Array(v))
		}
		if dialect == DuckDB {
			return "from_json(" + quoteText(string(v.AppendJSON(nil))) + ", '" + map[bool]string{true: `["BIGINT"]`, false: `["VARCHAR"]`}[c.DuckDB != ""] + "')"
		}
		return quoteText(string(v.AppendJSON(nil)))
	case schema.Double:
		return c.double(v, dialect)
	case schema.Integer, schema.Decimal:
		return v.String()
	case schema.Boolean:
		return strings.ToUpper(v.String())
	case schema.Bytes:
		raw := hex.EncodeToString([]byte(written.Bytes(v)))
		switch dialect {
		case PostgreSQL:
			return `'\x` + raw + `'`
		case DuckDB:
			return "unhex('" + raw + "')"
		}
		return "x'" + raw + "'"
	}
	if v.Kind() != value.String {
		return v.String()
	}
	if c.Is == schema.Date && dialect == MySQL { // MySQL literals have no time zones
		return quoteText(time.UnixMicro(written.Date(v).Micros()).UTC().Format("2006-01-02 15:04:05.999999"))
	}
	return quoteText(v.Text())
}

// double returns a double as SQL. NaN and the infinities are strings in the rows.
func (c Column) double(v value.Value, dialect Kind) string {
	switch {
	case v.Kind() != value.String:
		return v.String()
	case dialect == PostgreSQL, dialect == DuckDB:
		return quoteText(v.Text())
	case dialect == MySQL:
		x, _ := written.Largest(v).AsFloat()
		return strconv.FormatFloat(x, 'g', -1, 64)
	case v.Text() == "Infinity":
		return "9e999"
	case v.Text() == "-Infinity":
		return "-9e999"
	}
	return "NULL" // SQLite stores NaN as null
}

// Classes returns the description of a source that stores the tables exactly.
func (d Dataset) Classes(name string) []schema.Class {
	classes := make([]schema.Class, len(d.Tables))
	for i, t := range d.Tables {
		classes[i] = schema.Class{Source: name, Name: t.Name, Table: t.Name, Key: t.Key, Relations: t.Foreign, Converts: true}
		for _, c := range t.Columns {
			classes[i].Fields = append(classes[i].Fields, schema.Field{Name: c.Name, Type: c.Is, NotNull: c.Required})
		}
	}
	return classes
}

// Rows returns the records with the value types of the fields in classes, which describe the tables.
func (d Dataset) Rows(t testing.TB, classes []schema.Class) map[string][]value.Row {
	t.Helper()
	out := map[string][]value.Row{}
	for _, table := range d.Tables {
		var class *schema.Class
		for i := range classes {
			if classes[i].Name == table.Name {
				class = &classes[i]
			}
		}
		if class == nil {
			t.Fatalf("the source has no class %s", table.Name)
		}
		rows := []value.Row{}
		for _, written := range table.Records(t) {
			row := make(value.Row, len(written))
			for i, v := range written {
				row[i] = storedValue(v, &class.Fields[i])
			}
			rows = append(rows, row)
		}
		out[table.Name] = rows
	}
	return out
}

// storedValue returns a value from the rows in the form in which the field stores it.
func storedValue(v value.Value, f *schema.Field) value.Value {
	is := f.Type
	switch {
	case v.IsNumber() && f.Native == sqliteTypes[schema.Decimal]:
		x, _ := v.AsFloat()
		if n, ok := value.OfFloat(x).AsInt(); ok && v.Kind() != value.Int {
			return value.OfInt(n) // SQLite stores whole numbers as integers here, even if they are doubles
		} else if v.Kind() == value.Int {
			return v
		}
		return value.OfFloat(x)
	case v.IsNull() || written.Null(v):
		return value.Value{}
	case is == schema.Bytes:
		return value.OfBytes(written.Bytes(v))
	case is == schema.Decimal:
		return value.OfDecimal(v.String())
	case is == schema.Any && v.Kind() == value.Decimal:
		x, _ := v.AsFloat()
		return value.OfFloat(x)
	case is == schema.Double:
		if x, ok := v.AsFloat(); ok {
			return value.OfFloat(x)
		}
		if f.Native == mysqlTypes[schema.Double] {
			return written.Largest(v)
		}
		x, _ := strconv.ParseFloat(v.Text(), 64) // NaN or an infinity
		return value.OfFloat(x)
	case is == schema.Date || is == schema.Day:
		d := written.Date(v)
		if is == schema.Date && d.Kind() == value.Day && f.Native != sqliteTypes[schema.Date] {
			return value.OfDate(d.Micros()) // SQLite stores the text of a day
		}
		return d
	}
	return v
}

func quoteText(s string) string { return "'" + strings.ReplaceAll(s, "'", "''") + "'" }

func ident(name string) string { return `"` + strings.ReplaceAll(name, `"`, `""`) + `"` }

func idents(names []string) string {
	out := make([]string, len(names))
	for i, n := range names {
		out[i] = ident(n)
	}
	return strings.Join(out, ", ")
}
