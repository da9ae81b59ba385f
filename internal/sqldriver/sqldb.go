// Package sqldriver holds the code that the sources in SQL databases share. It links no driver.
//
//	catalogue of the database ─SettleClasses→ classes
//	Permit ─Read: sqlgen, the adapter's Run→ rows
//	Draft or Permit ─Writer: statements, Tx→ preview, receipt
//
// source/sqlite, source/postgres, source/mariadb and source/duckdb are the adapters. Each has its driver, its
// dialect, its catalogue and its errors. A database's messages never reach a caller. The database stops a statement
// when its context ends.
//
// The catalogue: an adapter reads tables, views and constraints over an open connection. A part that a catalogue
// holds only as text, such as a check constraint, is used only where its meaning is certain. The adapter reads no
// records.
//
// Writing: a change is applied in one transaction together with its marker. So both the effect and the marker exist,
// or neither, even if the process ends at any moment. Before a write, the record is read, locked and compared through
// its view. After the write, it is read through the view again. A Refusal names the database rule that refused the
// write. If a failure may have left something written, the error reports this, and the caller calls Bar.
//
// The statements here complement the SELECTs of sqlgen. They access one record by its key, and pass values as
// arguments of the column's own type. A value that its column can't hold exactly is rejected before any statement
// runs.
package sqldriver

import (
	"context"
	"database/sql"
	"strconv"
	"strings"
	"time"

	"go.opentelemetry.io/otel/attribute"
	oteltrace "go.opentelemetry.io/otel/trace"

	"github.com/bailiwick-dev/bailiwick/internal/interpret"
	"github.com/bailiwick-dev/bailiwick/internal/sqlgen"
	"github.com/bailiwick-dev/bailiwick/internal/trace"
	"github.com/bailiwick-dev/bailiwick/policy"
	"github.com/bailiwick-dev/bailiwick/schema"
	"github.com/bailiwick-dev/bailiwick/source"
	"github.com/bailiwick-dev/bailiwick/value"
)

// jsonDepth is how deep the JSON of a column may nest to be read as JSON. Deeper JSON is shown as text.
const jsonDepth = 100

// A Database is the part of an adapter that runs a compiled permit.
type Database interface {
	// Dialect returns the dialect of its statements.
	Dialect() sqlgen.Dialect
	// Run passes the rows of a statement to yield until the end, or until yield returns false. It returns the database's
	// error.
	Run(ctx context.Context, st *sqlgen.Statement, plan *policy.Plan, yield func(value.Row, error) bool) error
	// Errors returns the functions that read the errors of its driver.
	Errors() Errors
}

// Read compiles p for db. The statement runs when the rows are ranged over.
func Read(ctx context.Context, db Database, p policy.Permit) (source.Rows, error) {
	if of, err := p.Plan(); err == nil && of.Catalogue {
		return interpret.Rows(ctx, &of, nil)
	}
	_, compiling := trace.Start(ctx, "compile")
	st, err := sqlgen.SQL(p, db.Dialect())
	trace.End(compiling, err)
	if err != nil {
		return nil, err
	}
	plan, err := p.Plan()
	if err != nil {
		return nil, err
	}
	run := db.Run
	if plan.Native != nil {
		run = nativeRun(db)
	}
	return func(yield func(value.Row, error) bool) {
		ctx, running := trace.Start(ctx, "source")
		describe(running, db.Dialect(), st.Text, &plan)
		err := run(ctx, &st, &plan, yield)
		if err != nil {
			err = db.Errors().refuse(ctx, err, digest(st.Text))
			yield(nil, err)
		}
		trace.End(running, err)
	}, nil
}

// Catalogued is shown instead of the text of a statement if a call reads only information_schema.
const Catalogued = "-- answered from the catalogue in memory, without the database"

// ownersText is shown instead of a statement of the owner in the database's own SQL. Callers don't see its tables.
const ownersText = "-- a statement of the owner"

// Text returns the text of the statement that a permit runs.
func Text(p policy.Permit, d sqlgen.Dialect) (string, error) {
	switch of, err := p.Plan(); {
	case err == nil && of.Catalogue:
		return Catalogued, nil
	case err == nil && of.Native != nil:
		return ownersText, nil
	}
	st, err := sqlgen.SQL(p, d)
	return st.Text, err
}

// describe sets the attributes of a statement's span: the database, the class, and the digest of the text.
func describe(s oteltrace.Span, d sqlgen.Dialect, text string, plan *policy.Plan) {
	if !s.IsRecording() {
		return
	}
	s.SetAttributes(attribute.String("db.system.name", d.Name()), attribute.String("bailiwick.source", plan.View.Source()),
		attribute.String("bailiwick.class", plan.View.Class().Name), attribute.String("bailiwick.statement", digest(text)))
}

// Row turns a row of the database into a row of the plan. The row of the plan contains the plan's columns, then the
// values that determine the order. sizes is the statement's last column: the sizes of its Bounded columns, or "" if
// none is too long.
func Row(st *sqlgen.Statement, columns int, decode func(i int) value.Value, sizes string, out value.Row) value.Row {
	out = out[:0]
	for i := range st.Columns {
		out = append(out, decode(i))
	}
	if sizes != "" {
		for n, size := range strings.Split(sizes, ",") {
			if bytes, err := strconv.ParseInt(size, 10, 64); err == nil && bytes > int64(st.Most) && n < len(st.Bounded) {
				out[st.Bounded[n]] = value.OfCut(bytes)
			}
		}
	}
	for i := range st.Columns {
		if st.Columns[i].Part != nil {
			out[i] = out[i].Part(st.Columns[i].Part)
		}
	}
	// Values that determine the order may be columns of the record or follow them. Either way they are copied to the
	// end.
	for _, at := range st.Order {
		out = append(out, out[at])
	}
	if extra := len(st.Columns) - columns; extra > 0 {
		out = append(out[:columns], out[columns+extra:]...)
	}
	return out
}

// JSON parses the text of a JSON column. Text that the strict reader rejects is shown as it is.
func JSON(text string) value.Value {
	v, err := value.Read([]byte(text), jsonDepth)
	if err != nil {
		return String(text)
	}
	return v
}

// String returns text as a value. Bytes that aren't UTF-8 become the replacement character.
func String(text string) value.Value { return value.OfString(strings.ToValidUTF8(text, "\uFFFD")) }

// Pool converts the connection statistics of database/sql.
func Pool(s sql.DBStats) source.Pool {
	return source.Pool{Used: s.InUse, Idle: s.Idle, Most: s.MaxOpenConnections, Waits: s.WaitCount, Waited: s.WaitDuration}
}

// A Decoder converts a driver's value for a column to a value. It must not keep a []byte, which belongs to the
// driver.
type Decoder func(*sqlgen.Column, any) value.Value

// A cell converts one value of each row while the row is scanned. Scanning into an any would copy bytes first.
type cell struct {
	column *sqlgen.Column // nil for a count and for the sizes
	decode Decoder
	value  value.Value
	count  int64
	sizes  string
}

// Scan implements sql.Scanner.
func (c *cell) Scan(v any) error {
	if c.column != nil {
		c.value = c.decode(c.column, v)
		return nil
	}
	c.count, c.sizes = 0, ""
	switch v := v.(type) {
	case int64:
		c.count = v
	case string:
		c.sizes = v
	case []byte:
		c.sizes = string(v)
	}
	return nil
}

// Stream yields rows until the end, until yield returns false, or until the first error. It returns that error.
func Stream(rows *sql.Rows, st *sqlgen.Statement, plan *policy.Plan, decode Decoder, yield func(value.Row, error) bool) error {
	if plan.Native != nil {
		names, err := rows.Columns()
		if err == nil {
			err = ReturnsColumns(names, plan)
		}
		if err != nil {
			return err
		}
	}
	width := max(1, len(st.Columns)+min(1, len(st.Bounded)))
	cells, into := make([]cell, width), make([]any, width)
	for i := range cells {
		if cells[i].decode = decode; i < len(st.Columns) {
			cells[i].column = &st.Columns[i]
		}
		into[i] = &cells[i]
	}
	out := make(value.Row, 0, width+len(st.Order))
	for rows.Next() {
		if err := rows.Scan(into...); err != nil {
			return err
		}
		if plan.Count {
			out = append(out[:0], value.OfInt(cells[0].count))
		} else {
			out = Row(st, len(plan.Columns), func(i int) value.Value { return cells[i].value }, cells[width-1].sizes, out)
		}
		if !yield(out, nil) {
			return nil
		}
	}
	return rows.Err()
}

// Moment reads a date and time of day in the form of databases: "2006-01-02 15:04:05". It accepts a space or T as the
// separator, with or without a Z at the end. It returns false for any other text, even if package time can read it.
// Moment handles the most frequent form, which package time can't read quickly.
func Moment(text string) (value.Value, bool) {
	if text = strings.TrimSuffix(text, "Z"); len(text) != len(time.DateTime) || text[10] != ' ' && text[10] != 'T' {
		return value.Value{}, false
	}
	for i := range len(text) {
		if mark := time.DateTime[i]; (mark == '-' || mark == ':') && text[i] != mark || mark >= '0' && mark <= '9' && (text[i] < '0' || text[i] > '9') {
			return value.Value{}, false
		}
	}
	two := func(at int) int { return int(text[at]-'0')*10 + int(text[at+1]-'0') }
	year, month, day, hour, minute, second := two(0)*100+two(2), two(5), two(8), two(11), two(14), two(17)
	t := time.Date(year, time.Month(month), day, hour, minute, second, 0, time.UTC)
	if t.Month() != time.Month(month) || t.Day() != day || hour > 23 || minute > 59 || second > 59 {
		return value.Value{}, false
	}
	return value.OfTime(t), true
}

// Estimates reads rows of a table name in the default schema and a number, and closes rows. It returns the numbers by
// class, or the driver's error.
func Estimates(rows *sql.Rows, choice schema.Choice) (map[string]int64, error) {
	defer rows.Close()
	out := map[string]int64{}
	for rows.Next() {
		var table string
		var count int64
		if err := rows.Scan(&table, &count); err != nil {
			return nil, err
		}
		if name, _ := choice.Of("", table); name != "" {
			out[name] = count
		}
	}
	return out, rows.Err()
}
