// Package duckdb is the source for DuckDB databases, and for folders of Parquet, CSV and JSON files.
//
// It is a separate module, because DuckDB's driver needs cgo. A source only reads. Its statements can't access files
// outside of the folder, the network or DuckDB's settings. The source disables that access before the first statement
// runs.
package duckdb

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math"
	"math/big"
	"slices"
	"strconv"
	"strings"
	"time"

	duckdb "github.com/duckdb/duckdb-go/v2"

	"github.com/bailiwick-dev/bailiwick/internal/sqldriver"
	"github.com/bailiwick-dev/bailiwick/internal/sqlgen"
	"github.com/bailiwick-dev/bailiwick/policy"
	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/schema"
	"github.com/bailiwick-dev/bailiwick/source"
	"github.com/bailiwick-dev/bailiwick/value"
)

// Options describe how to open a database. For all fields except Name and Path, the zero value is the safe one.
type Options struct {
	Name string // of the source
	Path string // the path of a DuckDB database file, or of a folder of Parquet, CSV and JSON files

	// LocalRows is the maximum number of records that the gateway may read to finish a query that DuckDB doesn't
	// compute exactly. 0 means 10,000.
	LocalRows int
	// Memory is the maximum memory of DuckDB in bytes. 0 means 1 GiB. A query that needs more fails, because DuckDB
	// may not use temporary files.
	Memory int64
}

// A Source is one database or folder. It is safe for concurrent use.
type Source struct {
	options  Options
	db       *sql.DB
	files    []files  // the files of a folder
	warnings []string // about the parts of a folder that are not classes
	choice   schema.Choice
}

// Open opens a database for reading, or describes the files of a folder. The file or folder must exist.
func Open(ctx context.Context, o Options) (*Source, error) {
	s := &Source{options: o}
	at, allow, err := s.place()
	if err != nil {
		return nil, fmt.Errorf("source %s: %w", o.Name, err)
	}
	connector, err := duckdb.NewConnector(at, nil)
	if err != nil {
		return nil, fmt.Errorf("source %s: %s can't be opened: %w", o.Name, o.Path, err)
	}
	s.db = sql.OpenDB(connector)
	s.db.SetMaxOpenConns(8)
	s.db.SetMaxIdleConns(2)
	if err := s.prepare(ctx, allow); err != nil {
		return nil, errors.Join(fmt.Errorf("source %s: %w", o.Name, err), s.Close())
	}
	return s, nil
}

// prepare creates the views over files, and then disables everything that statements must not do. All connections
// share these settings of the database. It skips a file that can't be read, with a warning. The warning contains no
// text of the file.
func (s *Source) prepare(ctx context.Context, allow string) error {
	memory := s.options.Memory
	if memory <= 0 {
		memory = 1 << 30
	}
	settings := []string{"SET GLOBAL TimeZone = 'UTC'", "SET memory_limit = '" + strconv.FormatInt(memory/1024, 10) + "KiB'", "SET temp_directory = ''",
		"SET allow_community_extensions = false", "SET autoinstall_known_extensions = false", "SET autoload_known_extensions = false"}
	if allow != "" {
		settings = append(settings, allow)
	}
	for _, statement := range settings {
		if _, err := s.db.ExecContext(ctx, statement); err != nil {
			return err
		}
	}
	var read []files
	for _, f := range s.files {
		_, err := s.db.ExecContext(ctx, f.view)
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case err != nil:
			s.warnings = append(s.warnings, fmt.Sprintf("%s in %s is not a class: DuckDB can't read it (%s)", f.path, s.options.Name, kind(err)))
		default:
			read = append(read, f)
		}
	}
	s.files = read
	for _, statement := range []string{"SET enable_external_access = false", "SET lock_configuration = true"} {
		if _, err := s.db.ExecContext(ctx, statement); err != nil {
			return err
		}
	}
	return nil
}

// Close closes the database.
func (s *Source) Close() error { return s.db.Close() }

// Ping implements source.Pinger.
func (s *Source) Ping(ctx context.Context) error {
	if err := s.db.PingContext(ctx); err != nil {
		return refuse(ctx, err)
	}
	return nil
}

// Choose implements source.Chooser.
func (s *Source) Choose(choice schema.Choice) { s.choice = choice }

// Describe implements source.Source. It omits classes whose files are no longer regular files of the folder.
func (s *Source) Describe(ctx context.Context) ([]schema.Class, []string, error) {
	warnings := slices.Clone(s.warnings)
	gone := map[string]bool{}
	for _, f := range s.files {
		if err := f.own(); err != nil {
			gone[f.class] = true
			warnings = append(warnings, fmt.Sprintf("%s in %s is not a class: %v", f.path, s.options.Name, err))
		}
	}
	classes, more, err := describe(ctx, s.db, s.options.Name, func(space, table string) (string, bool) {
		if space == "" && gone[table] {
			return "", false
		}
		return s.choice.Of(space, table)
	})
	return classes, append(warnings, more...), err
}

// Read implements source.Source. The gateway computes the parts that DuckDB doesn't compute exactly.
func (s *Source) Read(ctx context.Context, p policy.Permit) (source.Rows, error) {
	return sqldriver.ReadPartly(ctx, engine{s}, p, s.options.LocalRows)
}

// Compile implements source.Compiler.
func (s *Source) Compile(p policy.Permit) (string, error) {
	return sqldriver.TextPartly(p, dialect{})
}

// Explain implements source.Explainer. It returns DuckDB's plan, without the boxes around its lines.
func (s *Source) Explain(ctx context.Context, p policy.Permit) (string, error) {
	if of, err := p.Plan(); err == nil && of.Catalogue {
		return sqldriver.Catalogued, nil
	}
	st, err := sqlgen.SQL(p, dialect{})
	rest := ""
	if problem.CodeOf(err) == problem.Unsupported {
		st, rest, err = sqldriver.First(p, dialect{})
	}
	if err != nil {
		return "", err
	}
	var kind, text string
	if err := s.own(st.Text); err != nil {
		return "", refuse(ctx, err)
	}
	if err := s.db.QueryRowContext(ctx, "EXPLAIN "+st.Text, st.Args...).Scan(&kind, &text); err != nil {
		return "", refuse(ctx, err)
	}
	return strings.TrimSpace(plain(text) + "\n" + rest), nil
}

// plain returns the lines of a plan without the boxes around them.
func plain(text string) string {
	var out []string
	for line := range strings.Lines(text) {
		line = strings.Join(strings.FieldsFunc(line, func(r rune) bool { return r >= '\u2500' && r <= '\u257F' || r == '\n' }), " ")
		if line = strings.Join(strings.Fields(line), " "); line != "" {
			out = append(out, line)
		}
	}
	return strings.Join(out, "\n")
}

// Pool implements source.Pooled.
func (s *Source) Pool() source.Pool { return sqldriver.Pool(s.db.Stats()) }

// Estimate implements source.Estimator from DuckDB's estimates of its tables. It returns no estimates for files.
func (s *Source) Estimate(ctx context.Context) (map[string]int64, error) {
	rows, err := s.db.QueryContext(ctx, "SELECT table_name, estimated_size FROM duckdb_tables() WHERE database_name = current_database() AND schema_name = 'main' AND NOT internal AND NOT temporary")
	if err != nil {
		return nil, refuse(ctx, err)
	}
	out, err := sqldriver.Estimates(rows, s.choice)
	if err != nil {
		return nil, refuse(ctx, err)
	}
	return out, nil
}

// CheckNative implements source.NativeReader.
func (s *Source) CheckNative(statement string) ([]string, error) {
	return sqlgen.ReadNative(dialect{}, statement)
}

// engine implements sqldriver.Database.
type engine struct{ *Source }

// Dialect implements sqldriver.Database.
func (engine) Dialect() sqlgen.Dialect { return dialect{} }

// Errors implements sqldriver.Database.
func (engine) Errors() sqldriver.Errors {
	return sqldriver.Errors{Plain: kind, Changed: changed, Meaning: meaning}
}

// meaning implements sqldriver.Errors.
func meaning(err error) (sqldriver.Meaning, bool) {
	e, ok := errors.AsType[*duckdb.Error](err)
	switch {
	case !ok:
		return sqldriver.Busy, false
	case e.Type == duckdb.ErrorTypeOutOfMemory:
		return sqldriver.Large, true
	case changed(err):
		return sqldriver.Missing, true
	}
	return sqldriver.Broken, true
}

func refuse(ctx context.Context, err error) error { return engine{}.Errors().Refuse(ctx, err) }

// kind implements sqldriver.Errors. It repeats no message, because messages may contain values.
func kind(err error) string {
	if e, ok := errors.AsType[*duckdb.Error](err); ok {
		return fmt.Sprintf("DuckDB error of type %d", e.Type)
	}
	return ""
}

// changed implements sqldriver.Errors. It reports whether a table or a column of the statement doesn't exist or has
// another type.
func changed(err error) bool {
	e, ok := errors.AsType[*duckdb.Error](err)
	return ok && (e.Type == duckdb.ErrorTypeCatalog || e.Type == duckdb.ErrorTypeBinder)
}

// Drifts implements source.Drifting.
func (s *Source) Drifts() bool { return true }

// Run implements sqldriver.Database. The driver interrupts the statement when ctx ends.
func (s engine) Run(ctx context.Context, st *sqlgen.Statement, plan *policy.Plan, yield func(value.Row, error) bool) error {
	own := func() error { return s.own(st.Text) }
	if plan.Native != nil {
		own = s.ownAll
	}
	if err := own(); err != nil {
		return err
	}
	rows, err := s.db.QueryContext(ctx, st.Text, st.Args...)
	if err != nil {
		return err
	}
	defer rows.Close()
	err = sqldriver.Stream(rows, st, plan, valueOf, func(r value.Row, err error) bool { return ctx.Err() == nil && yield(r, err) })
	if err == nil {
		err = ctx.Err()
	}
	if err == nil {
		err = own()
	}
	return err
}

// valueOf converts v, a value of the driver, to a value of the column's field.
func valueOf(c *sqlgen.Column, v any) value.Value {
	f := c.Field
	switch v := v.(type) {
	case nil:
		return value.Value{}
	case bool:
		return value.OfBool(v)
	case int64:
		return value.OfInt(v)
	case int32:
		return value.OfInt(int64(v))
	case int16:
		return value.OfInt(int64(v))
	case int8:
		return value.OfInt(int64(v))
	case uint64:
		return value.OfDecimal(strconv.FormatUint(v, 10))
	case uint32:
		return value.OfInt(int64(v))
	case uint16:
		return value.OfInt(int64(v))
	case uint8:
		return value.OfInt(int64(v))
	case float32:
		return value.OfFloat(float64(v)) // the value that DuckDB compares
	case float64:
		return value.OfFloat(v)
	case time.Time:
		return moment(f, v)
	case duckdb.Decimal: // only a statement of the owner returns one. Others select its text
		return value.OfDecimal(v.String())
	case *big.Int: // likewise, for a sum of integers
		return value.OfDecimal(v.String())
	case []byte:
		return value.OfBytes(string(v))
	case string:
		return textValue(f, v)
	}
	return sqldriver.String(fmt.Sprint(v))
}

// moment converts a date. Infinite dates are the ends of DuckDB's range, and become texts.
func moment(f *schema.Field, t time.Time) value.Value {
	micros := t.UnixMicro()
	days := t.Unix() / (24 * 60 * 60)
	switch {
	case f.Type == schema.Day && days >= math.MaxInt32-1, f.Type != schema.Day && micros >= math.MaxInt64-1:
		return value.OfString("infinity")
	case f.Type == schema.Day && days <= -math.MaxInt32, f.Type != schema.Day && micros <= -math.MaxInt64+1:
		return value.OfString("-infinity")
	case f.Type == schema.Day:
		return value.OfDay(micros)
	}
	return value.OfTime(t)
}

// textValue converts a value that was selected as text, by its field's type. It removes trailing zeros of decimals.
func textValue(f *schema.Field, text string) value.Value {
	switch f.Type {
	case schema.Decimal:
		if strings.Contains(text, ".") {
			text = strings.TrimSuffix(strings.TrimRight(text, "0"), ".")
		}
		return value.OfDecimal(text)
	case schema.JSON, schema.Array:
		return sqldriver.JSON(text)
	}
	return sqldriver.String(text)
}
