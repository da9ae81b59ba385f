package sqldriver

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"net/url"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/bailiwick-dev/bailiwick/internal/sqldriver/catalogue"
	"github.com/bailiwick-dev/bailiwick/internal/sqlgen"
	"github.com/bailiwick-dev/bailiwick/policy"
	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/schema"
	"github.com/bailiwick-dev/bailiwick/source"
	"github.com/bailiwick-dev/bailiwick/value"
	"github.com/go-sql-driver/mysql"
)

// MySQL is a source in a MariaDB database. It is safe for concurrent use.
type MySQL struct {
	name string
	url  string
	db   *sql.DB
	// control has connections that only end statements: they must be available when all others are busy.
	control *sql.DB
}

// OpenMySQL connects to the database at rawURL, which begins with mysql:// or mariadb://, as the source called name. It
// opens a read-only session and checks that the server answers and is MariaDB 10.7 or later. The query of the URL may
// set tls=true, skip-verify or preferred, and socket=path. If the URL has no password, MYSQL_PWD is used.
func OpenMySQL(ctx context.Context, name, rawURL string) (*MySQL, error) {
	cfg, err := mysqlConfig(rawURL)
	if err != nil {
		return nil, fmt.Errorf("source %s: %w", name, err)
	}
	connector, err := mysql.NewConnector(cfg)
	if err != nil {
		return nil, fmt.Errorf("source %s: the database url can't be read", name) // the error may repeat the password
	}
	s := &MySQL{name: name, url: rawURL, control: sql.OpenDB(connector)}
	s.db = sql.OpenDB(&mysqlConnector{connector, mysqlReads})
	s.db.SetMaxOpenConns(16)
	s.db.SetMaxIdleConns(4)
	s.db.SetConnMaxIdleTime(5 * time.Minute)
	s.control.SetMaxOpenConns(4)
	s.control.SetMaxIdleConns(1)
	s.control.SetConnMaxIdleTime(time.Minute)
	var version string
	if err := s.db.QueryRowContext(ctx, "SELECT VERSION()").Scan(&version); err != nil {
		return nil, errors.Join(fmt.Errorf("source %s: can't connect to %s: %w", name, cfg.Addr, err), s.Close())
	}
	if !isMariaDB(version) {
		return nil, errors.Join(fmt.Errorf("source %s: the server is %s; this version reads MariaDB 10.7 or later", name, version), s.Close())
	}
	return s, nil
}

// isMariaDB reports whether version is a MariaDB with the functions that package sqlgen uses: UUIDs came with 10.7.
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

var errMySQLURL = errors.New("the database url is not such as mariadb://user:password@host/database")

// mysqlConfig parses a URL. Its errors don't quote it, since it may hold a password.
func mysqlConfig(rawURL string) (*mysql.Config, error) {
	u, err := url.Parse(rawURL)
	if err != nil || u.Scheme != "mysql" && u.Scheme != "mariadb" || len(u.Path) < 2 {
		return nil, errMySQLURL
	}
	cfg := mysql.NewConfig()
	cfg.Net, cfg.Addr, cfg.DBName = "tcp", u.Host, strings.TrimPrefix(u.Path, "/")
	cfg.User = u.User.Username()
	var given bool
	if cfg.Passwd, given = u.User.Password(); !given {
		cfg.Passwd = os.Getenv("MYSQL_PWD") // as MariaDB's own clients do
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
			return nil, fmt.Errorf("the database url has the option %s; it may have tls and socket", key)
		}
	}
	cfg.Timeout = 10 * time.Second
	cfg.Logger = &mysql.NopLogger{}
	return cfg, nil
}

// Close closes all connections.
func (s *MySQL) Close() error { return errors.Join(s.db.Close(), s.control.Close()) }

// Ping implements source.Pinger.
func (s *MySQL) Ping(ctx context.Context) error {
	if err := s.db.PingContext(ctx); err != nil {
		return s.refuse(ctx, err)
	}
	return nil
}

// Describe implements source.Source.
func (s *MySQL) Describe(ctx context.Context) ([]schema.Class, []string, error) {
	return catalogue.MySQL(ctx, s.db, s.name)
}

// Read implements source.Source. The statement runs when the rows are ranged over.
func (s *MySQL) Read(ctx context.Context, p policy.Permit) (source.Rows, error) {
	return read(ctx, s, sqlgen.MySQL, p)
}

// Compile implements source.Compiler.
func (s *MySQL) Compile(p policy.Permit) (string, error) { return textOf(p, sqlgen.MySQL) }

// grace is how long a statement may run on after KILL QUERY before its connection is ended.
const grace = 2 * time.Second

// again is the interval between two KILLs of the same statement.
const again = 100 * time.Millisecond

func (s *MySQL) run(ctx context.Context, st *sqlgen.Statement, plan *policy.Plan, yield func(value.Row, error) bool) error {
	return s.query(ctx, st.Text, st.Args, func(rows *sql.Rows) error {
		var ended error // the result of a statement that was killed may be wrong
		err := stream(rows, st, plan, mysqlValue, func(r value.Row, err error) bool {
			ended = ctx.Err()
			return ended == nil && yield(r, err)
		})
		if err != nil {
			return err
		}
		return ended
	})
}

// query holds one connection for one statement, until take returns.
func (s *MySQL) query(ctx context.Context, text string, args []any, take func(*sql.Rows) error) error {
	conn, err := s.db.Conn(ctx)
	if err != nil {
		return err
	}
	defer conn.Close()
	return s.held(ctx, conn, func(own context.Context) error {
		rows, err := conn.QueryContext(own, text, args...)
		if err != nil {
			return err
		}
		defer rows.Close()
		return take(rows)
	})
}

// held runs one statement on a connection. When its context ends, the driver would close the connection and leave the
// statement running; so the statement gets a context of its own, and held tells the server to end it. A connection whose
// statement was ended this way is closed.
func (s *MySQL) held(ctx context.Context, conn *sql.Conn, do func(own context.Context) error) error {
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
		if !stop() { // the KILL may arrive after the statement, and must not hit the next one
			cancel()
			<-killed
			conn.Raw(func(any) error { return driver.ErrBadConn })
		}
	}()
	return do(own)
}

// end tells the server to end the statement of a connection until own is done, or else ends the connection.
func (s *MySQL) end(own context.Context, id int64) {
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

// kill ends the statement that runs on connection id (what is QUERY) or the connection itself (CONNECTION).
func (s *MySQL) kill(ctx context.Context, what string, id int64) {
	s.control.ExecContext(ctx, "KILL "+what+" "+strconv.FormatInt(id, 10)) // if it fails, it is sent again, or the connection is closed
}

// mysqlValue converts v, as the driver returned it, to a value of the column's field.
func mysqlValue(c *sqlgen.Column, v any) value.Value {
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
		return value.OfFloat(float64(v)) // as it compares
	case float64:
		return value.OfFloat(v)
	case []byte:
		return mysqlText(f, string(v))
	case string:
		return mysqlText(f, v)
	}
	return stringOf(fmt.Sprint(v))
}

// mysqlText converts a value that the driver returns as text. An invalid date (0000-00-00) is shown as it is.
func mysqlText(f *schema.Field, text string) value.Value {
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
		if t, err := time.Parse("2006-01-02 15:04:05", text); err == nil {
			return value.OfTime(t)
		}
	case schema.Day:
		if t, err := time.Parse(time.DateOnly, text); err == nil {
			return value.OfDay(t.UnixMicro())
		}
	case schema.JSON:
		return jsonOf(text)
	}
	return stringOf(text)
}

// refuse turns an error of MariaDB into one for the caller: its statement timeout is problem.Timeout.
func (s *MySQL) refuse(ctx context.Context, err error) error {
	e := refuse(ctx, err)
	if my, ok := errors.AsType[*mysql.MySQLError](err); ok && my.Number == 1969 && ctx.Err() == nil { // max_statement_time
		p := problem.Of(e)
		p.Code, p.Detail = problem.Timeout, "the query took too long and was stopped"
	}
	return e
}

// Estimate implements source.Estimator from the statistics of the storage engines.
func (s *MySQL) Estimate(ctx context.Context) (map[string]int64, error) {
	rows, err := s.db.QueryContext(ctx, `SELECT TABLE_NAME, TABLE_ROWS FROM information_schema.TABLES
		WHERE TABLE_SCHEMA = DATABASE() AND TABLE_ROWS IS NOT NULL AND TABLE_TYPE <> 'VIEW'`)
	if err != nil {
		return nil, s.refuse(ctx, err)
	}
	return estimates(ctx, rows)
}
