package mariadb

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/go-sql-driver/mysql"

	"github.com/bailiwick-dev/bailiwick/internal/sqldriver"
	"github.com/bailiwick-dev/bailiwick/internal/sqlgen"
	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/schema"
	"github.com/bailiwick-dev/bailiwick/value"
	"github.com/bailiwick-dev/bailiwick/write"
)

// A WritableSource is a MariaDB source that can be written to. It reads in read-only sessions.
type WritableSource struct {
	*Source
	*sqldriver.Writer
	db *sql.DB
}

// Writable opens s for writing as well, with the account in url, or the reading account if url is "". It creates the
// marker table if it doesn't exist.
func (s *Source) Writable(ctx context.Context, url string) (*WritableSource, error) {
	if url == "" {
		url = s.url
	}
	cfg, err := parseLinkURL(url, s.link)
	if err != nil {
		return nil, fmt.Errorf("source %s: for writing: %w", s.name, err)
	}
	cfg.ClientFoundRows = true // an update returns the number of matching records, changed or not
	driverConnector, err := mysql.NewConnector(cfg)
	if err != nil {
		return nil, fmt.Errorf("source %s: the database url for writing can't be read", s.name) // the error may repeat the password
	}
	db := sql.OpenDB(&connector{driverConnector, cfg.DBName, writes})
	db.SetMaxOpenConns(4)
	db.SetMaxIdleConns(2)
	db.SetConnMaxIdleTime(time.Minute)
	w := &WritableSource{Source: s, Writer: sqldriver.NewWriter(writer{engine{s}, db}), db: db}
	if err := sqldriver.MakeMarker(ctx, s.name, engine{s}, func(ctx context.Context, text string) error {
		_, err := db.ExecContext(ctx, text)
		return err
	}); err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return w, nil
}

// Close closes all connections.
func (w *WritableSource) Close() error { return errors.Join(w.db.Close(), w.Source.Close()) }

// writer implements sqldriver.WriteDatabase.
type writer struct {
	engine
	db *sql.DB // shadows the connections for reading
}

// Begin implements sqldriver.WriteDatabase.
func (w writer) Begin(ctx context.Context) (sqldriver.WriteTx, error) {
	conn, err := acquire(ctx, w.db)
	if err != nil {
		return nil, err
	}
	t := &tx{sqldriver.Transaction{Conn: conn, Decode: valueOf}, w.Source}
	if _, err := t.Exec(ctx, sqlgen.Statement{Text: "START TRANSACTION READ WRITE"}); err != nil {
		return nil, errors.Join(err, conn.Close())
	}
	return t, nil
}

// A tx is a transaction whose statements the server stops when their context ends.
type tx struct {
	sqldriver.Transaction
	reads *Source
}

// Exec implements sqldriver.WriteTx.
func (t *tx) Exec(ctx context.Context, st sqlgen.Statement) (n int64, err error) {
	err = t.reads.runStatement(ctx, t.Conn, func(own context.Context) error {
		n, err = t.Transaction.Exec(own, st)
		return err
	})
	return n, err
}

// Query implements sqldriver.WriteTx.
func (t *tx) Query(ctx context.Context, st sqlgen.Statement) (rows []value.Row, err error) {
	err = t.reads.runStatement(ctx, t.Conn, func(own context.Context) error {
		rows, err = t.Transaction.Query(own, st)
		return err
	})
	return rows, err
}

// Hold implements sqldriver.Holder. A session that has held a name is closed after the transaction, which releases
// the name.
func (t *tx) Hold(ctx context.Context, name string) error {
	rows, err := t.Query(ctx, sqlgen.Statement{Text: "SELECT GET_LOCK(CONCAT('bailiwick:', ?), 20)", Args: []any{name},
		Columns: []sqlgen.Column{{Field: &schema.Field{Type: schema.Integer}}}})
	if err != nil {
		return err
	}
	t.Once = true
	if len(rows) != 1 || rows[0][0].Int() != 1 {
		return &problem.Error{Code: problem.Timeout, Detail: "another executor is about the change"}
	}
	return nil
}

// Settle implements sqldriver.WriteTx. It does nothing, because MariaDB never defers checks.
func (t *tx) Settle(context.Context) error { return nil }

// References implements sqldriver.WriteDatabase.
func (w writer) References(ctx context.Context, _ sqldriver.WriteTx) ([]schema.Reference, error) {
	return references(ctx, w.Source.db)
}

// Sound implements sqldriver.WriteDatabase. It fails for an engine without transactions, because its writes can't be
// rolled back.
func (w writer) Sound(ctx context.Context, _ sqldriver.WriteTx, c *schema.Class) error {
	var transactions sql.NullString
	err := w.Source.db.QueryRowContext(ctx, `SELECT e.TRANSACTIONS FROM information_schema.TABLES AS t JOIN information_schema.ENGINES AS e ON e.ENGINE = t.ENGINE
		WHERE t.TABLE_SCHEMA = DATABASE() AND t.TABLE_NAME = ?`, c.Table).Scan(&transactions)
	if errors.Is(err, sql.ErrNoRows) {
		return sqldriver.Unwritable(c, "it isn't there any more")
	}
	if err == nil && transactions.String != "YES" {
		return sqldriver.Unwritable(c, "its storage engine has no transactions")
	}
	return err
}

// Again implements sqldriver.WriteDatabase.
func (writer) Again(err error) bool {
	my, ok := errors.AsType[*mysql.MySQLError](err)
	return ok && (my.Number == 1213 || my.Number == 1020) // a deadlock, or a record that has changed since it was read
}

// Problem implements sqldriver.WriteDatabase. It also handles a lock that wasn't released in time.
func (w writer) Problem(ctx context.Context, err error) error {
	e := w.Errors().RefuseWrite(ctx, err)
	if my, ok := errors.AsType[*mysql.MySQLError](err); ok && my.Number == 1205 && ctx.Err() == nil {
		p := problem.Of(e)
		p.Code, p.Detail = problem.Timeout, "others kept what was to be written for too long"
	}
	return e
}

// kinds maps error numbers to refusals.
var kinds = map[uint16]sqldriver.RefusalKind{
	1062: sqldriver.RefusedUnique, 1169: sqldriver.RefusedUnique, 1586: sqldriver.RefusedUnique,
	1216: sqldriver.RefusedForeignKey, 1452: sqldriver.RefusedForeignKey, 1217: sqldriver.RefusedReferenced, 1451: sqldriver.RefusedReferenced,
	1048: sqldriver.RefusedNotNull, 1364: sqldriver.RefusedNotNull, 4025: sqldriver.RefusedCheck, 3819: sqldriver.RefusedCheck, 1369: sqldriver.RefusedCheck, 1644: sqldriver.RefusedTrigger, 1643: sqldriver.RefusedTrigger,
	1264: sqldriver.RefusedMisfit, 1265: sqldriver.RefusedMisfit, 1292: sqldriver.RefusedMisfit, 1366: sqldriver.RefusedMisfit, 1406: sqldriver.RefusedMisfit, 1411: sqldriver.RefusedMisfit, 1416: sqldriver.RefusedMisfit,
	1690: sqldriver.RefusedMisfit, 1118: sqldriver.RefusedMisfit, 1153: sqldriver.RefusedMisfit, 4037: sqldriver.RefusedMisfit, 4038: sqldriver.RefusedMisfit,
	1050: sqldriver.RefusedExists, 1906: sqldriver.RefusedComputed, 3105: sqldriver.RefusedComputed, 1142: sqldriver.RefusedDenied, 1143: sqldriver.RefusedDenied, 1290: sqldriver.RefusedDenied,
}

// Refusal implements sqldriver.WriteDatabase. MariaDB names columns, keys and tables only in its messages. Refusal
// uses only names at the positions where MariaDB writes them, and only fields of c.
func (w writer) Refusal(ctx context.Context, c *schema.Class, _ write.Op, err error) *sqldriver.Refusal {
	my, ok := errors.AsType[*mysql.MySQLError](err)
	if !ok {
		return nil
	}
	kind, ok := kinds[my.Number]
	if !ok {
		if string(my.SQLState[:]) == "45000" { // SIGNAL
			return &sqldriver.Refusal{Kind: sqldriver.RefusedTrigger}
		}
		return nil
	}
	r := &sqldriver.Refusal{Kind: kind}
	words := my.Message
	switch kind {
	case sqldriver.RefusedUnique:
		i := strings.LastIndex(words, " for key ")
		name := strings.Trim(words[i+1:][strings.LastIndexByte(words[i+1:], ' ')+1:], "'")
		r.Fields = indexFields(c, name[strings.LastIndexByte(name, '.')+1:])
	case sqldriver.RefusedForeignKey:
		_, names, _ := strings.Cut(words, "FOREIGN KEY (")
		names, _, _ = strings.Cut(names, ")")
		r.Fields = fieldsIn(c, strings.Split(names, ", "))
	case sqldriver.RefusedReferenced:
		_, names, _ := strings.Cut(words, "(`")
		if names, _, ok = strings.Cut(names, "`, CONSTRAINT"); ok {
			r.Class = names[strings.LastIndexByte(names, '`')+1:]
		}
	case sqldriver.RefusedCheck:
		r.Name = quotedBehind(words, "CONSTRAINT ")
		r.Fields = w.constraintFields(ctx, c, r.Name)
		if c.Field(r.Name) != nil { // the check of a single column has the column's name
			r.Name = ""
		}
	case sqldriver.RefusedNotNull, sqldriver.RefusedMisfit, sqldriver.RefusedComputed:
		r.Fields = fieldsIn(c, []string{quotedBehind(words, "olumn "), quotedBehind(words, "Field ")})
	}
	return r
}

// constraintFields returns the fields of c in one of its check constraints. It returns nil if the catalogue can't be
// read.
func (w writer) constraintFields(ctx context.Context, c *schema.Class, name string) []string {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
	defer cancel()
	var clause string
	err := w.Source.db.QueryRowContext(ctx, `SELECT CHECK_CLAUSE FROM information_schema.CHECK_CONSTRAINTS
		WHERE CONSTRAINT_SCHEMA = DATABASE() AND TABLE_NAME = ? AND CONSTRAINT_NAME = ?`, c.Table, name).Scan(&clause)
	condition, ok := sqldriver.LexSQL(clause, sqldriver.AllQuotes)
	if err != nil || !ok {
		return nil // the kind of the refusal is already known
	}
	return sqldriver.MentionedFields(condition, c)
}

// indexFields returns the fields of the index with this name in MariaDB.
func indexFields(c *schema.Class, name string) []string {
	if name == "PRIMARY" {
		return c.Key
	}
	for _, x := range c.Indexes {
		if strings.EqualFold(x.Name, name) {
			return x.Fields
		}
	}
	return nil
}

// fieldsIn returns the names, without quotes, that are fields of c. Each occurs once.
func fieldsIn(c *schema.Class, names []string) []string {
	var out []string
	for _, n := range names {
		if n = strings.Trim(n, "'`"); c.Field(n) != nil && !slices.Contains(out, n) {
			out = append(out, n)
		}
	}
	return out
}

// quotedBehind returns the last part of the quoted name that follows word in words, or "".
func quotedBehind(words, word string) string {
	_, rest, ok := strings.Cut(words, word)
	if !ok || rest == "" {
		return ""
	}
	rest, _, _ = strings.Cut(rest, " ")
	rest = strings.Trim(rest, "'`")
	return rest[strings.LastIndexAny(rest, "`.")+1:]
}
