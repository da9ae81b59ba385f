package mariadb

import (
	"context"
	"database/sql"
	"fmt"
	"slices"
	"strings"

	"github.com/bailiwick-dev/bailiwick/internal/sqldriver"
	"github.com/bailiwick-dev/bailiwick/schema"
	"github.com/bailiwick-dev/bailiwick/value"
)

// reader reads the catalogue of one database. It reads the classes first, then their columns, checks, indexes and
// foreign keys.
type reader struct {
	db       *sql.Conn
	list     []*sqldriver.FoundTable
	byName   map[string]*sqldriver.FoundTable
	warnings []string
	views    sqldriver.FoundViews
	triggers []sqldriver.FoundTrigger
}

// describe returns the classes of a MariaDB database that the database user may see. They have source as their source
// and are sorted. It also returns warnings about omitted classes.
func describe(ctx context.Context, db *sql.Conn, source string, choice schema.Choice) ([]schema.Class, []string, error) {
	r := &reader{db: db, byName: map[string]*sqldriver.FoundTable{},
		views: sqldriver.FoundViews{Texts: map[*sqldriver.FoundTable]string{}, Routines: map[string]string{}, Unread: "the account may not read its text: grant it SHOW VIEW"}}
	for _, step := range []struct {
		name, query string
		take        func(text []string)
	}{
		{"classes", selectClasses, r.class}, {"columns", selectColumns, r.column}, {"checks", selectChecks, r.check},
		{"indexes", selectIndexes, r.index}, {"foreign keys", selectForeign, r.foreign},
		{"views", selectViews, r.view}, {"functions", selectRoutines, r.routine}, {"triggers", selectTriggers, r.trigger},
	} {
		if err := sqldriver.EachRow(ctx, r.db, step.query, step.take); err != nil {
			return nil, nil, fmt.Errorf("describe %s: %s: %w", source, step.name, err)
		}
	}
	for _, f := range r.list {
		raw := f.Indexes
		f.Indexes = nil
		for _, x := range raw {
			// MariaDB creates an index for each foreign key. Such an index would reveal a foreign key to a hidden
			// class.
			if x.Unique || !slices.ContainsFunc(f.Links, func(l sqldriver.FoundLink) bool { return slices.Equal(l.Fields, x.Fields) }) {
				f.Index(x.Name, x.Fields, x.Unique, false)
			}
		}
	}
	r.views.List = slices.Clone(r.list)
	classes, more := sqldriver.SettleClasses(source, r.list, choice)
	r.views.Trace(classes)
	r.views.Triggers(classes, r.triggers, sqldriver.AllQuotes)
	return classes, append(r.warnings, more...), nil
}

const selectClasses = `
SELECT TABLE_NAME, TABLE_TYPE, IF(TABLE_TYPE = 'VIEW', '', TABLE_COMMENT) FROM information_schema.TABLES
WHERE TABLE_SCHEMA = DATABASE() AND TABLE_TYPE IN ('BASE TABLE', 'SYSTEM VERSIONED', 'VIEW') AND TABLE_NAME NOT LIKE 'bailiwick\_%'
ORDER BY TABLE_NAME`

func (r *reader) class(x []string) {
	f := &sqldriver.FoundTable{}
	f.Table, f.View, f.Description = x[0], x[1] == "VIEW", x[2]
	r.list, r.byName[x[0]] = append(r.list, f), f
}

// selectColumns omits columns that the database user has no right to select, because information_schema doesn't list
// them.
const selectColumns = `
SELECT TABLE_NAME, COLUMN_NAME, DATA_TYPE, COLUMN_TYPE, IS_NULLABLE, COLUMN_DEFAULT, EXTRA, COLLATION_NAME,
	CHARACTER_MAXIMUM_LENGTH, COLUMN_COMMENT, PRIVILEGES, NUMERIC_PRECISION, NUMERIC_SCALE, DATETIME_PRECISION,
	GENERATION_EXPRESSION
FROM information_schema.COLUMNS WHERE TABLE_SCHEMA = DATABASE() ORDER BY TABLE_NAME, ORDINAL_POSITION`

// column adds a column as a field if the database user may select it. x is a row of selectColumns. A text with
// another collation than the binary one without padding is Unordered, so comparisons must name that collation.
func (r *reader) column(x []string) {
	f := r.byName[x[0]]
	if f == nil || !slices.Contains(strings.Split(x[10], ","), "select") {
		return
	}
	field := schema.Field{Name: x[1], Description: x[9], NotNull: x[4] == "NO" && !f.View}
	field.Generated = strings.Contains(x[6], "auto_increment") || strings.Contains(x[6], "GENERATED")
	if x[5] != "NULL" && !field.Generated {
		field.Default = x[5]
	}
	field.Required = field.NotNull && !field.Generated && field.Default == ""
	setType(&field, x[2], x[3])
	if field.Type == schema.String {
		listed := field.Native == "enum" || field.Native == "set"
		field.Unordered = x[7] != "utf8mb4_nopad_bin" || listed
		field.Unicode = strings.HasPrefix(x[7], "utf8mb4_") && !listed
		if field.Native == "char" || field.Native == "varchar" {
			fmt.Sscan(x[8], &field.Length)
		}
	}
	switch {
	case field.Native == "decimal":
		field.Scaled = true
		fmt.Sscan(x[11], &field.Digits)
		fmt.Sscan(x[12], &field.Scale)
	case bits[field.Native] > 0 && field.Type == schema.Integer:
		sqldriver.WholeNumber(&field, bits[field.Native], strings.Contains(x[3], "unsigned"))
	case field.Type == schema.Date:
		field.Scaled = true
		fmt.Sscan(x[13], &field.Scale)
	}
	beyond(&field)
	if warning := f.Add(field); warning != "" {
		r.warnings = append(r.warnings, warning)
	}
	if !strings.Contains(x[6], "GENERATED") {
		return
	}
	if made, ok := sqldriver.LexSQL(maskEscapes(x[14]), sqldriver.AllQuotes); ok {
		f.MadeBy(field.Name, made)
	} else if at := f.Field(field.Name); at != nil {
		at.Origins, at.Untraced = []schema.Origin{{Table: f.Table}}, "its expression can't be read"
	}
}

const selectViews = `
SELECT TABLE_NAME, DATABASE(), IFNULL(VIEW_DEFINITION, '') FROM information_schema.VIEWS WHERE TABLE_SCHEMA = DATABASE() ORDER BY TABLE_NAME`

// view reads the text of a view. For an account without the right SHOW VIEW, MariaDB returns an empty text.
func (r *reader) view(x []string) {
	if f := r.byName[x[0]]; f != nil {
		r.views.Space, r.views.Texts[f] = x[1], maskEscapes(x[2])
	}
}

const selectRoutines = `
SELECT ROUTINE_NAME, IFNULL(ROUTINE_DEFINITION, '') FROM information_schema.ROUTINES
WHERE ROUTINE_SCHEMA = DATABASE() AND ROUTINE_TYPE = 'FUNCTION' ORDER BY ROUTINE_NAME`

// routine reads the text of a function. It is "" if the account has no right to read it.
func (r *reader) routine(x []string) { r.views.Routines[x[0]] = maskEscapes(x[1]) }

const selectTriggers = `
SELECT EVENT_OBJECT_TABLE, ACTION_STATEMENT FROM information_schema.TRIGGERS WHERE TRIGGER_SCHEMA = DATABASE() ORDER BY TRIGGER_NAME`

// trigger reads the text of a trigger. MariaDB lists no triggers to an account without the right TRIGGER.
func (r *reader) trigger(x []string) {
	r.triggers = append(r.triggers, sqldriver.FoundTrigger{Of: r.byName[x[0]], Text: maskEscapes(x[1])})
}

// maskEscapes returns the text of a statement with an x in place of each escape in a string. The contents of strings
// are never used.
func maskEscapes(text string) string {
	if !strings.Contains(text, `\`) {
		return text
	}
	out, quote := []byte(text), byte(0)
	for i := 0; i < len(out); i++ {
		switch c := out[i]; {
		case quote == 0 && (c == '\'' || c == '"' || c == '`'):
			quote = c
		case quote != 0 && c == quote:
			quote = 0
		case quote != 0 && quote != '`' && c == '\\' && i+1 < len(out):
			out[i], out[i+1] = 'x', 'x'
			i++
		}
	}
	return string(out)
}

// beyond describes the values of field that expressions read as null.
func beyond(field *schema.Field) {
	switch {
	case field.Type == schema.Date || field.Type == schema.Day:
		field.Beyond = "0000-00-00, or a date that isn't in the calendar"
	case field.Type == schema.Boolean && field.Native == "tinyint":
		field.Beyond = "neither 0 nor 1"
	case field.Native == "decimal" && field.Digits-field.Scale > 35:
		field.Beyond = "1e35 or beyond"
	}
}

// bits contains the number of bits of the integer types below 64 bits.
var bits = map[string]int{"tinyint": 8, "smallint": 16, "mediumint": 24, "int": 32}

// types are the types that filters support. All other types are Opaque.
var types = map[string]schema.Type{
	"tinyint": schema.Integer, "smallint": schema.Integer, "mediumint": schema.Integer, "int": schema.Integer, "bigint": schema.Integer,
	"year": schema.Integer, "decimal": schema.Decimal, "float": schema.Double, "double": schema.Double,
	"char": schema.String, "varchar": schema.String, "tinytext": schema.String, "text": schema.String, "mediumtext": schema.String,
	"longtext": schema.String, "enum": schema.String, "set": schema.String,
	"binary": schema.Bytes, "varbinary": schema.Bytes, "tinyblob": schema.Bytes, "blob": schema.Bytes, "mediumblob": schema.Bytes,
	"longblob": schema.Bytes, "date": schema.Day, "datetime": schema.Date, "timestamp": schema.Date, "uuid": schema.UUID,
}

// setType sets the type of field. data is the bare type name, and full includes its length and attributes.
func setType(field *schema.Field, data, full string) {
	field.Native, field.Type = data, schema.Opaque
	if t, ok := types[data]; ok {
		field.Type = t
	}
	switch {
	case full == "tinyint(1)", full == "bit(1)":
		field.Type = schema.Boolean
	case data == "bit" && full != "bit(64)":
		field.Type = schema.Integer
	case data == "bit", data == "bigint" && strings.Contains(full, "unsigned"):
		field.Type = schema.Decimal // it exceeds signed 64-bit integers
	case data == "enum":
		if ts, ok := sqldriver.LexSQL(full, sqldriver.AllQuotes); ok && len(ts) > 2 {
			for _, t := range ts[2:] {
				if t.Kind == sqldriver.TextToken {
					field.Values = append(field.Values, value.OfString(t.Text))
				}
			}
		}
	case slices.Contains([]string{"geometry", "point", "linestring", "polygon", "multipoint", "multilinestring", "multipolygon", "geometrycollection"}, data):
		field.Native, field.Point = "geometry", data == "point"
	}
	if field.Type == schema.Opaque {
		field.Form, field.Ordered = anyForm, false
		if form, ok := forms[field.Native]; ok {
			field.Form, field.Ordered = form, field.Native != "geometry"
		}
		if field.Point {
			field.Form = "a point in well-known text, with the longitude first: POINT(10.75 59.91)"
		}
	}
}

// forms describe the texts of types that only MariaDB knows. Fields of these types are Ordered, except geometries.
var forms = map[string]string{
	"time":     "a time of day or a duration: 13:05:00 or -100:00:00.25",
	"inet4":    "an IPv4 address: 10.0.0.1",
	"inet6":    "an IPv6 address: 2001:db8::1",
	"geometry": "a geometry in well-known text: POINT(1 2)",
}

const anyForm = "a text in the form in which answers show it"

// selectChecks reads the checks that make a text JSON or limit the written values. Lists of values are ignored,
// because existing rows may contain other values.
const selectChecks = `
SELECT TABLE_NAME, CHECK_CLAUSE FROM information_schema.CHECK_CONSTRAINTS WHERE CONSTRAINT_SCHEMA = DATABASE() ORDER BY TABLE_NAME, CONSTRAINT_NAME`

// check reads a check constraint, a row of selectChecks, as bounds of a field. It ignores lists of values.
func (r *reader) check(x []string) {
	f := r.byName[x[0]]
	ts, ok := sqldriver.LexSQL(x[1], sqldriver.AllQuotes)
	if f == nil || !ok {
		return
	}
	for _, said := range sqldriver.CheckRules(ts) {
		if field := f.Field(said.Column.Text); field != nil && !said.Lists() {
			sqldriver.RestrictField(field, said)
		}
	}
}

const selectIndexes = `
SELECT TABLE_NAME, INDEX_NAME, NON_UNIQUE, SUB_PART IS NULL, INDEX_TYPE, COLUMN_NAME
FROM information_schema.STATISTICS WHERE TABLE_SCHEMA = DATABASE() AND INDEX_TYPE IN ('BTREE', 'HASH')
ORDER BY TABLE_NAME, INDEX_NAME, SEQ_IN_INDEX`

// index adds one column of an index. It ignores a column that is indexed by a prefix.
func (r *reader) index(x []string) {
	f := r.byName[x[0]]
	if f == nil {
		return
	}
	column := x[5]
	if x[3] != "1" || f.Field(column) == nil {
		column = ""
	}
	if x[1] == "PRIMARY" {
		f.Primary = append(f.Primary, column)
	}
	if n := len(f.Indexes); n == 0 || f.Indexes[n-1].Name != x[1] {
		f.Indexes = append(f.Indexes, schema.Index{Name: x[1], Unique: x[2] == "0"})
	}
	last := &f.Indexes[len(f.Indexes)-1]
	last.Fields = append(last.Fields, column)
}

const selectForeign = `
SELECT TABLE_NAME, CONSTRAINT_NAME, COLUMN_NAME, IF(REFERENCED_TABLE_SCHEMA = DATABASE(), REFERENCED_TABLE_NAME, ''), REFERENCED_COLUMN_NAME, ORDINAL_POSITION
FROM information_schema.KEY_COLUMN_USAGE
WHERE TABLE_SCHEMA = DATABASE() AND REFERENCED_TABLE_NAME IS NOT NULL
ORDER BY TABLE_NAME, CONSTRAINT_NAME, ORDINAL_POSITION`

// foreign adds a column of a foreign key. x is a row of selectForeign. The first column begins a link. Its target may
// be a table that isn't visible.
func (r *reader) foreign(x []string) {
	f, to := r.byName[x[0]], r.byName[x[3]]
	if f == nil {
		return
	}
	if x[5] == "1" { // the target may be unknown
		f.Links = append(f.Links, sqldriver.FoundLink{To: to})
	} else if len(f.Links) == 0 {
		return
	}
	last := &f.Links[len(f.Links)-1]
	last.Fields, last.Targets = append(last.Fields, x[2]), append(last.Targets, x[4])
}

const selectReferences = `
SELECT k.TABLE_NAME, k.CONSTRAINT_NAME, k.COLUMN_NAME, k.REFERENCED_TABLE_NAME, k.REFERENCED_COLUMN_NAME, r.DELETE_RULE, r.UPDATE_RULE
FROM information_schema.KEY_COLUMN_USAGE AS k
JOIN information_schema.REFERENTIAL_CONSTRAINTS AS r
	ON r.CONSTRAINT_SCHEMA = k.CONSTRAINT_SCHEMA AND r.CONSTRAINT_NAME = k.CONSTRAINT_NAME AND r.TABLE_NAME = k.TABLE_NAME
WHERE k.TABLE_SCHEMA = DATABASE() AND k.REFERENCED_TABLE_SCHEMA = DATABASE()
ORDER BY k.TABLE_NAME, k.CONSTRAINT_NAME, k.ORDINAL_POSITION`

// references returns the foreign keys within a MariaDB database.
func references(ctx context.Context, conn *sql.DB) ([]schema.Reference, error) {
	rows, err := conn.QueryContext(ctx, selectReferences)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var out []schema.Reference
	for rows.Next() {
		var table, name, from, to, target, delete, update string
		if err := rows.Scan(&table, &name, &from, &to, &target, &delete, &update); err != nil {
			return nil, err
		}
		if n := len(out); n == 0 || out[n-1].Name != name || out[n-1].Table != table {
			out = append(out, schema.Reference{Name: name, Table: table, To: to, Delete: sqldriver.ReferenceRule(delete), Changed: sqldriver.ReferenceRule(update)})
		}
		r := &out[len(out)-1]
		r.Fields, r.Targets = append(r.Fields, from), append(r.Targets, target)
	}
	return out, rows.Err()
}
