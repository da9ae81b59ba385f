package mariadb

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"net/url"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/bailiwick-dev/bailiwick/internal/connstring"
	"github.com/bailiwick-dev/bailiwick/internal/sqldriver"
	"github.com/bailiwick-dev/bailiwick/internal/sqlgen"
	"github.com/bailiwick-dev/bailiwick/policy"
	"github.com/bailiwick-dev/bailiwick/schema"
	"github.com/bailiwick-dev/bailiwick/source"
	"github.com/bailiwick-dev/bailiwick/value"
	"github.com/go-sql-driver/mysql"
)

// A Source reads one MariaDB database. Its Writable method opens it for writing as well. It is safe for concurrent use.
type Source struct {
	name   string
	url    string
	db     *sql.DB
	choice schema.Choice
	link   source.Link
	// control has connections that only stop statements. They must be available when all other connections are busy.
	control *sql.DB
}

// Open connects to the database at rawURL, which begins with mysql:// or mariadb://, as the source called name. It
// opens a read-only session and checks that the server answers and is MariaDB 10.7 or later. The URL's query may
// contain tls=true, skip-verify or preferred, and socket=path. If the URL has no password, Open uses MYSQL_PWD.
func Open(ctx context.Context, name, rawURL string) (*Source, error) {
	return OpenOverLink(ctx, name, rawURL, source.Link{})
}

// OpenOverLink is like Open, but connects over a link.
func OpenOverLink(ctx context.Context, name, rawURL string, link source.Link) (*Source, error) {
	cfg, err := parseLinkURL(rawURL, link)
	if err != nil {
		return nil, fmt.Errorf("source %s: %w", name, err)
	}
	driverConnector, err := mysql.NewConnector(cfg)
	if err != nil {
		return nil, fmt.Errorf("source %s: the database url can't be read", name) // the error may repeat the password
	}
	s := &Source{name: name, url: rawURL, link: link, control: sql.OpenDB(driverConnector)}
	s.db = sql.OpenDB(&connector{driverConnector, cfg.DBName, reads})
	s.db.SetMaxOpenConns(16)
	s.db.SetMaxIdleConns(4)
	s.db.SetConnMaxIdleTime(5 * time.Minute)
	s.control.SetMaxOpenConns(4)
	s.control.SetMaxIdleConns(1)
	s.control.SetConnMaxIdleTime(time.Minute)
	version, err := s.version(ctx)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("source %s: can't connect to %s: %w", name, cfg.Addr, err), s.Close())
	}
	if !isMariaDB(version) {
		return nil, errors.Join(fmt.Errorf("source %s: the server is %s. This version reads MariaDB 10.7 or later", name, version), s.Close())
	}
	return s, nil
}

// isMariaDB reports whether version is a MariaDB with all functions that package sqlgen uses. The last of them,
// UUIDs, came with 10.7.
func isMariaDB(version string) bool {
	version = strings.TrimPrefix(version, "5.5.5-")
	parts := strings.SplitN(version, ".", 3)
	if len(parts) < 3 || !strings.Contains(version, "MariaDB") {
		return false
	}
	major, _ := strconv.Atoi(parts[0])
	minor, _ := strconv.Atoi(parts[1])
	return major > 10 || major == 10 && minor >= 7
}

var errURL = errors.New("the database url is not such as mariadb://user:password@host/database")

// parseURL parses a URL. Its errors don't quote the URL, which may contain a password.
func parseURL(rawURL string) (*mysql.Config, error) {
	parsed, err := connstring.Parse(rawURL)
	if err != nil {
		return nil, fmt.Errorf("the database url %w", err)
	}
	u, err := url.Parse(parsed.URL)
	if err != nil || u.Scheme != "mysql" && u.Scheme != "mariadb" || len(u.Path) < 2 {
		return nil, errURL
	}
	cfg := mysql.NewConfig()
	cfg.Net, cfg.Addr, cfg.DBName = "tcp", u.Host, strings.TrimPrefix(u.Path, "/")
	cfg.User = u.User.Username()
	var given bool
	if cfg.Passwd, given = u.User.Password(); !given {
		cfg.Passwd = os.Getenv("MYSQL_PWD") // like MariaDB's own clients
	}
	if u.Port() == "" {
		cfg.Addr += ":3306"
	}
	for key, values := range u.Query() {
		switch key {
		case "tls":
			cfg.TLSConfig = values[0]
		case "socket":
			cfg.Net, cfg.Addr = "unix", values[0]
		default:
			return nil, fmt.Errorf("the database url has the option %s. It may have tls and socket", key)
		}
	}
	cfg.Timeout = 10 * time.Second
	cfg.Logger = &mysql.NopLogger{}
	return cfg, nil
}

// Close closes all connections.
func (s *Source) Close() error { return errors.Join(s.db.Close(), s.control.Close()) }

// Ping implements source.Pinger.
func (s *Source) Ping(ctx context.Context) error {
	conn, err := acquireSoon(ctx, s.db)
	if err != nil {
		return refuse(ctx, err)
	}
	defer conn.Close()
	if err := conn.PingContext(ctx); err != nil {
		return refuse(ctx, err)
	}
	return nil
}

// Choose implements source.Chooser.
func (s *Source) Choose(choice schema.Choice) { s.choice = choice }

// Describe implements source.Source.
func (s *Source) Describe(ctx context.Context) ([]schema.Class, []string, error) {
	conn, err := acquireSoon(ctx, s.db)
	if err != nil {
		return nil, nil, fmt.Errorf("describe %s: %w", s.name, err)
	}
	defer conn.Close()
	return describe(ctx, conn, s.name, s.choice)
}

// Read implements source.Source. The statement runs when the rows are ranged over.
func (s *Source) Read(ctx context.Context, p policy.Permit) (source.Rows, error) {
	return sqldriver.Read(ctx, engine{s}, p)
}

// Compile implements source.Compiler.
func (s *Source) Compile(p policy.Permit) (string, error) {
	return sqldriver.Text(p, Dialect())
}

// grace is the time that a statement may continue after KILL QUERY before its connection is closed.
const grace = 2 * time.Second

// again is the pause between two KILLs of the same statement.
const again = 100 * time.Millisecond

// engine implements sqldriver.Database.
type engine struct{ *Source }

// Dialect implements sqldriver.Database.
func (engine) Dialect() sqlgen.Dialect { return Dialect() }

// Errors implements sqldriver.Database.
func (engine) Errors() sqldriver.Errors {
	return sqldriver.Errors{Plain: plain, Meaning: meaning, Changed: isSchemaChange}
}

func refuse(ctx context.Context, err error) error { return engine{}.Errors().Refuse(ctx, err) }

// plain implements sqldriver.Errors.
func plain(err error) string {
	if e, ok := errors.AsType[*mysql.MySQLError](err); ok {
		return sqldriver.ErrorText(fmt.Sprintf("MariaDB error %d, SQLSTATE %s", e.Number, e.SQLState[:]), e.Message, slices.Contains(harmlessNumbers, e.Number))
	}
	if errors.Is(err, mysql.ErrInvalidConn) {
		return mysql.ErrInvalidConn.Error()
	}
	return ""
}

// harmlessNumbers are the numbers of errors whose messages name hosts, users and tables, but contain no values.
var harmlessNumbers = []uint16{1040, 1044, 1045, 1046, 1049, 1053, 1129, 1130, 1142, 1146, 1205, 1213, 1317, 1969, 3024}

// numbers maps error numbers to meanings, if the SQLSTATE is less precise or means something else.
var numbers = map[uint16]sqldriver.Meaning{
	1005: sqldriver.Broken, 1016: sqldriver.Broken, 1017: sqldriver.Broken, 1034: sqldriver.Broken, 1194: sqldriver.Broken, 1195: sqldriver.Broken, // files and damaged tables
	1021: sqldriver.Busy, 1037: sqldriver.Busy, 1038: sqldriver.Large, 1041: sqldriver.Busy, // disk, memory, sort memory
	1040: sqldriver.Full, 1203: sqldriver.Full, // connections, of all users and of one
	1226: sqldriver.Busy, // limits of an account
	1044: sqldriver.Right, 1142: sqldriver.Right, 1143: sqldriver.Right, 1227: sqldriver.Right, 1370: sqldriver.Right,
	1045: sqldriver.Login, 1049: sqldriver.Login, 1130: sqldriver.Login, 1129: sqldriver.Login, 1698: sqldriver.Login, 1820: sqldriver.Login, 4151: sqldriver.Login,
	1051: sqldriver.Missing, 1054: sqldriver.Missing, 1109: sqldriver.Missing, 1146: sqldriver.Missing, 1305: sqldriver.Missing,
	1356: sqldriver.Missing,                                                                                                            // a view whose tables or columns no longer exist
	1053: sqldriver.Busy, 1077: sqldriver.Busy, 1158: sqldriver.Busy, 1159: sqldriver.Busy, 1160: sqldriver.Busy, 1161: sqldriver.Busy, // shutdown, network
	1205: sqldriver.Busy, 1206: sqldriver.Busy, 1213: sqldriver.Busy, 1020: sqldriver.Busy, 1412: sqldriver.Busy, // locks, and tables that change
	1317: sqldriver.Slow, 1969: sqldriver.Slow, 3024: sqldriver.Slow, 1104: sqldriver.Large, 1153: sqldriver.Large, 1301: sqldriver.Large,
	1290: sqldriver.ReadOnly, 1792: sqldriver.ReadOnly, 1836: sqldriver.ReadOnly,
	1264: sqldriver.Input, 1265: sqldriver.Input, 1292: sqldriver.Input, 1366: sqldriver.Input, 1406: sqldriver.Input, 1411: sqldriver.Input,
	1690: sqldriver.Input, 1416: sqldriver.Input, 3140: sqldriver.Input, 4079: sqldriver.Input,
	1064: sqldriver.Broken, 1149: sqldriver.Broken, // syntax
	1235: sqldriver.Unable, 1289: sqldriver.Unable,
	1364: sqldriver.Kept, 1369: sqldriver.Kept, 1442: sqldriver.Kept, 4025: sqldriver.Kept,
}

// meaning implements sqldriver.Errors.
func meaning(err error) (sqldriver.Meaning, bool) {
	e, ok := errors.AsType[*mysql.MySQLError](err)
	if !ok {
		return 0, false
	}
	if full(err) {
		return sqldriver.Full, true
	}
	if m, ok := numbers[e.Number]; ok {
		return m, true
	}
	return sqldriver.StateOf(string(e.SQLState[:])), true
}

// isSchemaChange implements sqldriver.Errors. It reports whether a column, table or function doesn't exist or has
// changed.
func isSchemaChange(err error) bool {
	e, ok := errors.AsType[*mysql.MySQLError](err)
	return ok && slices.Contains([]uint16{1054, 1146, 1305, 1356, 1412}, e.Number)
}

// Drifts implements source.Drifting.
func (s *Source) Drifts() bool { return true }

// Run implements sqldriver.Database.
func (s engine) Run(ctx context.Context, st *sqlgen.Statement, plan *policy.Plan, yield func(value.Row, error) bool) error {
	return s.query(ctx, st.Text, st.Args, func(rows *sql.Rows) error {
		var ended error // a killed statement may have returned a wrong result
		err := sqldriver.Stream(rows, st, plan, valueOf, func(r value.Row, err error) bool {
			ended = ctx.Err()
			return ended == nil && yield(r, err)
		})
		if err != nil {
			return err
		}
		return ended
	})
}

// query uses one connection for one statement, until take returns.
func (s *Source) query(ctx context.Context, text string, args []any, take func(*sql.Rows) error) error {
	conn, err := acquire(ctx, s.db)
	if err != nil {
		return err
	}
	defer conn.Close()
	return s.runStatement(ctx, conn, func(own context.Context) error {
		rows, err := conn.QueryContext(own, text, args...)
		if err != nil {
			return err
		}
		defer rows.Close()
		return take(rows)
	})
}

// runStatement runs one statement on a connection. When the context ended, the driver would close the connection and
// leave the statement running. So the statement gets a separate context, and runStatement tells the server to stop
// it. Afterwards it closes the connection.
func (s *Source) runStatement(ctx context.Context, conn *sql.Conn, do func(own context.Context) error) error {
	id, err := hold(ctx, conn)
	if err != nil {
		return err
	}
	own, cancel := context.WithCancel(context.WithoutCancel(ctx))
	defer cancel()
	killed := make(chan struct{})
	stop := context.AfterFunc(ctx, func() {
		defer close(killed)
		s.end(own, id)
		cancel()
	})
	defer func() {
		if !stop() { // the KILL may arrive after the statement, and must not stop the next one
			cancel()
			<-killed
			conn.Raw(func(any) error { return driver.ErrBadConn })
		}
	}()
	return do(own)
}

// end tells the server to stop the statement of a connection until own is done. If that takes too long, it closes the
// connection.
func (s *Source) end(own context.Context, id int64) {
	ctx, cancel := context.WithTimeout(context.Background(), grace)
	defer cancel()
	for own.Err() == nil && ctx.Err() == nil { // a KILL that arrives before its statement does nothing
		s.kill(ctx, "QUERY", id)
		select {
		case <-own.Done():
		case <-ctx.Done():
		case <-time.After(again):
		}
	}
	if own.Err() == nil {
		ctx, cancel := context.WithTimeout(context.Background(), grace)
		defer cancel()
		s.kill(ctx, "CONNECTION", id)
	}
}

// kill stops the statement that runs on connection id if what is QUERY, or closes the connection if what is
// CONNECTION.
func (s *Source) kill(ctx context.Context, what string, id int64) {
	s.control.ExecContext(ctx, "KILL "+what+" "+strconv.FormatInt(id, 10)) // if it fails, it is sent again, or the connection is closed
}

// valueOf converts v, a value of the driver, to a value of the column's field.
func valueOf(c *sqlgen.Column, v any) value.Value {
	f := c.Field
	switch v := v.(type) {
	case nil:
		return value.Value{}
	case int64:
		if f.Type == schema.Boolean && (v == 0 || v == 1) {
			return value.OfBool(v == 1)
		}
		return value.OfInt(v)
	case uint64:
		return value.OfDecimal(strconv.FormatUint(v, 10))
	case float32:
		return value.OfFloat(float64(v)) // the value that the server compares
	case float64:
		return value.OfFloat(v)
	case []byte:
		return textValue(f, string(v))
	case string:
		return textValue(f, v)
	}
	return sqldriver.String(fmt.Sprint(v))
}

// textValue converts a value that the driver returns as text. An invalid date, such as 0000-00-00, becomes a String.
func textValue(f *schema.Field, text string) value.Value {
	switch f.Type {
	case schema.Bytes:
		return value.OfBytes(text)
	case schema.Decimal:
		if strings.Contains(text, ".") {
			text = strings.TrimSuffix(strings.TrimRight(text, "0"), ".")
		}
		return value.OfDecimal(text)
	case schema.Integer:
		if n, err := strconv.ParseInt(text, 10, 64); err == nil {
			return value.OfInt(n)
		}
	case schema.Boolean:
		if text == "0" || text == "1" {
			return value.OfBool(text == "1")
		}
	case schema.Date:
		if at, ok := sqldriver.Moment(text); ok {
			return at
		}
		if t, err := time.Parse("2006-01-02 15:04:05", text); err == nil {
			return value.OfTime(t)
		}
	case schema.Day:
		if t, err := time.Parse(time.DateOnly, text); err == nil {
			return value.OfDay(t.UnixMicro())
		}
	case schema.JSON:
		return sqldriver.JSON(text)
	}
	return sqldriver.String(text)
}

// Estimate implements source.Estimator from the statistics of the storage engines.
func (s *Source) Estimate(ctx context.Context) (map[string]int64, error) {
	rows, err := s.db.QueryContext(ctx, `SELECT TABLE_NAME, TABLE_ROWS FROM information_schema.TABLES
		WHERE TABLE_SCHEMA = DATABASE() AND TABLE_ROWS IS NOT NULL AND TABLE_TYPE <> 'VIEW'`)
	if err != nil {
		return nil, refuse(ctx, err)
	}
	out, err := sqldriver.Estimates(rows, s.choice)
	if err != nil {
		return nil, refuse(ctx, err)
	}
	return out, nil
}
