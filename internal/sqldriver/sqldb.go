// Package sqldriver is the adapter for SQL databases: SQLite, PostgreSQL and MariaDB.
//
// It implements source.Source. The Open functions connect read-only; Describe reads the catalogue, with package
// catalogue; Read compiles a permit and streams the rows of the database. What Writable returns implements source.Writer
// as well, with package writing, over connections of its own. No message of a database reaches a caller, and a statement
// ends in the database when its context does.
package sqldriver

import (
	"context"
	"database/sql"
	"errors"
	"strconv"
	"strings"
	"time"

	"go.opentelemetry.io/otel/attribute"
	oteltrace "go.opentelemetry.io/otel/trace"

	"github.com/bailiwick-dev/bailiwick/internal/sqlgen"
	"github.com/bailiwick-dev/bailiwick/internal/trace"
	"github.com/bailiwick-dev/bailiwick/policy"
	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/schema"
	"github.com/bailiwick-dev/bailiwick/source"
	"github.com/bailiwick-dev/bailiwick/value"
)

// jsonDepth is how deep the JSON of a column may nest to be read as JSON; deeper JSON is shown as text.
const jsonDepth = 100

// A database is what differs between the adapters once a permit is compiled.
type database interface {
	// run passes the rows of a statement to yield until the end, or until yield returns false. It returns the database's
	// error.
	run(ctx context.Context, st *sqlgen.Statement, plan *policy.Plan, yield func(value.Row, error) bool) error
	// refuse turns an error of run into one for the caller.
	refuse(ctx context.Context, err error) error
}

// read compiles p for db. The statement runs when the rows are ranged over.
func read(ctx context.Context, db database, d sqlgen.Dialect, p policy.Permit) (source.Rows, error) {
	_, compiling := trace.Start(ctx, "compile")
	st, err := sqlgen.SQL(p, d)
	trace.End(compiling, err)
	if err != nil {
		return nil, err
	}
	plan, err := p.Plan()
	if err != nil {
		return nil, err
	}
	return func(yield func(value.Row, error) bool) {
		ctx, running := trace.Start(ctx, "source")
		describe(running, d, st.Text, &plan)
		err := db.run(ctx, &st, &plan, yield)
		if err != nil {
			err = db.refuse(ctx, &failure{err, digest(st.Text)})
			yield(nil, err)
		}
		trace.End(running, err)
	}, nil
}

// textOf returns the text of the statement that a permit runs.
func textOf(p policy.Permit, d sqlgen.Dialect) (string, error) {
	st, err := sqlgen.SQL(p, d)
	return st.Text, err
}

// systems are the database names in the semantic conventions of OpenTelemetry.
var systems = map[sqlgen.Dialect]string{sqlgen.SQLite: "sqlite", sqlgen.PostgreSQL: "postgresql", sqlgen.MySQL: "mariadb"}

// describe sets the attributes of a statement's span: the database, the class, and the digest of the text.
func describe(s oteltrace.Span, d sqlgen.Dialect, text string, plan *policy.Plan) {
	if !s.IsRecording() {
		return
	}
	s.SetAttributes(attribute.String("db.system.name", systems[d]), attribute.String("bailiwick.source", plan.View.Source()),
		attribute.String("bailiwick.class", plan.View.Class().Name), attribute.String("bailiwick.statement", digest(text)))
}

// loggable returns err without the database's message, unless it has none.
func loggable(err error) error {
	if f, ok := err.(*failure); ok {
		return f
	}
	return &failure{err: err}
}

// refuse turns a database error into one for the caller, whose Err is what operators may see.
func refuse(ctx context.Context, err error) error {
	p := &problem.Error{Code: problem.Upstream, Detail: "the source could not answer", Err: loggable(err),
		Suggestion: "try again later; if it stays, tell the operator the correlation id"}
	switch {
	case errors.Is(ctx.Err(), context.DeadlineExceeded):
		p.Code, p.Detail = problem.Timeout, "the query took too long and was stopped"
		p.Suggestion = "ask for less: a narrower where, fewer keys, a smaller limit"
	case ctx.Err() != nil:
		p.Code, p.Detail, p.Suggestion = problem.Cancelled, "the call was cancelled", ""
	}
	return p
}

// row turns a row of the database into a row of the plan: its columns, then the values of its order. sizes is the
// statement's last column, the sizes of its Bounded columns; "" if none is too long.
func row(st *sqlgen.Statement, columns int, decode func(i int) value.Value, sizes string, out value.Row) value.Row {
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
	// Values of the order may be columns of the record or follow them; either way they are copied to the end.
	for _, at := range st.Order {
		out = append(out, out[at])
	}
	if extra := len(st.Columns) - columns; extra > 0 {
		out = append(out[:columns], out[columns+extra:]...)
	}
	return out
}

// jsonOf parses the text of a JSON column. Text that our strict reader doesn't accept is shown as it is.
func jsonOf(text string) value.Value {
	v, err := value.Read([]byte(text), jsonDepth)
	if err != nil {
		return stringOf(text)
	}
	return v
}

func stringOf(text string) value.Value { return value.OfString(strings.ToValidUTF8(text, "\uFFFD")) }

// textValue parses the text that PostgreSQL writes for a value of a field's type. Text that can't be parsed as the type
// (an infinite date) is shown as it is.
func textValue(f *schema.Field, text string) value.Value {
	switch f.Type {
	case schema.Integer:
		if n, err := strconv.ParseInt(text, 10, 64); err == nil {
			return value.OfInt(n)
		}
	case schema.Double:
		if x, err := strconv.ParseFloat(text, 64); err == nil {
			return value.OfFloat(x)
		}
	case schema.Decimal:
		if x, err := strconv.ParseFloat(text, 64); err == nil && (x != x || text[len(text)-1] == 'y') {
			return value.OfFloat(x) // NaN and the infinities aren't decimals
		}
		return value.OfDecimal(text)
	case schema.Boolean:
		return value.OfBool(text == "t")
	case schema.Date:
		if t, err := time.Parse("2006-01-02 15:04:05Z07", text); err == nil {
			return value.OfTime(t)
		}
		if t, err := time.Parse("2006-01-02 15:04:05", text); err == nil {
			return value.OfTime(t)
		}
	case schema.Day:
		if t, err := time.Parse(time.DateOnly, text); err == nil {
			return value.OfDay(t.UnixMicro())
		}
	case schema.JSON, schema.Array:
		return jsonOf(text)
	}
	return stringOf(text)
}

// pool converts the connection statistics of database/sql.
func pool(s sql.DBStats) source.Pool {
	return source.Pool{Used: s.InUse, Idle: s.Idle, Most: s.MaxOpenConnections, Waits: s.WaitCount, Waited: s.WaitDuration}
}

// Pool implements source.Pooled.
func (s *SQLite) Pool() source.Pool { return pool(s.db.Stats()) }

// Pool implements source.Pooled.
func (s *MySQL) Pool() source.Pool { return pool(s.db.Stats()) }

// Pool implements source.Pooled.
func (s *Postgres) Pool() source.Pool {
	p := s.pool.Stat()
	return source.Pool{Used: int(p.AcquiredConns()), Idle: int(p.IdleConns()), Most: int(p.MaxConns()), Waits: p.EmptyAcquireCount(), Waited: p.EmptyAcquireWaitTime()}
}
