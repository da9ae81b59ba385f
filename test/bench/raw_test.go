package bench_test

import (
	"context"
	"database/sql"
	"encoding/json"
	"strconv"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/bailiwick-dev/bailiwick/internal/demo"
)

// The queries of a program without a gateway. The statements are handwritten for one tenant, the rows are scanned
// into a struct, and the JSON is written by hand.

const (
	summary = "id, project_id, number, type, status, priority, title, assignee_id, estimate, due_date, created_at, updated_at"
	whole   = "id, org_id, project_id, number, type, status, priority, title, body, assignee_id, reporter_id, parent_id, estimate, due_date, custom, legacy_id, created_at, updated_at, deleted_at, agent"

	pointSQL = "SELECT " + whole + " FROM issues WHERE org_id = $1 AND id = $2"
	pageSQL  = "SELECT " + summary + " FROM issues WHERE org_id = $1 AND deleted_at IS NULL ORDER BY id LIMIT $2"
	listSQL  = "SELECT " + summary + " FROM issues WHERE org_id = $1 AND deleted_at IS NULL AND project_id = $2 ORDER BY number LIMIT $3"
	countSQL = "SELECT count(*) FROM issues WHERE org_id = $1 AND deleted_at IS NULL AND status = $2 AND priority IN ($3, $4)"
)

// An issue is a record of the tracker.
type issue struct {
	id, org, project, typ, status, priority, title, body string
	number                                               int64
	assignee, reporter, parent, agent                    *string
	estimate                                             *float64
	due                                                  *time.Time
	custom                                               string
	legacy                                               *int64
	created, updated                                     time.Time
	deleted                                              *time.Time
}

func (r *issue) summary() []any {
	return []any{&r.id, &r.project, &r.number, &r.typ, &r.status, &r.priority, &r.title, &r.assignee, &r.estimate, &r.due, &r.created, &r.updated}
}

func (r *issue) whole() []any {
	return []any{&r.id, &r.org, &r.project, &r.number, &r.typ, &r.status, &r.priority, &r.title, &r.body, &r.assignee, &r.reporter, &r.parent,
		&r.estimate, &r.due, &r.custom, &r.legacy, &r.created, &r.updated, &r.deleted, &r.agent}
}

func (r *issue) appendSummary(b []byte) []byte {
	b = text(append(b, `{"id":`...), r.id)
	b = text(append(b, `,"project_id":`...), r.project)
	b = strconv.AppendInt(append(b, `,"number":`...), r.number, 10)
	b = r.appendWords(b)
	b = optional(append(b, `,"assignee_id":`...), r.assignee)
	return append(r.appendTimes(b), '}')
}

func (r *issue) appendWhole(b []byte) []byte {
	b = text(append(b, `{"id":`...), r.id)
	b = text(append(b, `,"org_id":`...), r.org)
	b = text(append(b, `,"project_id":`...), r.project)
	b = strconv.AppendInt(append(b, `,"number":`...), r.number, 10)
	b = r.appendWords(b)
	b = text(append(b, `,"body":`...), r.body)
	b = optional(append(b, `,"assignee_id":`...), r.assignee)
	b = optional(append(b, `,"reporter_id":`...), r.reporter)
	b = optional(append(b, `,"parent_id":`...), r.parent)
	b = r.appendEstimate(b)
	b = append(append(b, `,"custom":`...), r.custom...)
	b = append(b, `,"legacy_id":`...)
	if r.legacy == nil {
		b = append(b, "null"...)
	} else {
		b = strconv.AppendInt(b, *r.legacy, 10)
	}
	b = r.appendChanged(b)
	b = when(append(b, `,"deleted_at":`...), r.deleted, time.RFC3339Nano)
	return append(optional(append(b, `,"agent":`...), r.agent), '}')
}

func (r *issue) appendWords(b []byte) []byte {
	b = text(append(b, `,"type":`...), r.typ)
	b = text(append(b, `,"status":`...), r.status)
	b = text(append(b, `,"priority":`...), r.priority)
	return text(append(b, `,"title":`...), r.title)
}

func (r *issue) appendTimes(b []byte) []byte { return r.appendChanged(r.appendEstimate(b)) }

func (r *issue) appendEstimate(b []byte) []byte {
	b = append(b, `,"estimate":`...)
	if r.estimate == nil {
		b = append(b, "null"...)
	} else {
		b = strconv.AppendFloat(b, *r.estimate, 'f', -1, 64)
	}
	return when(append(b, `,"due_date":`...), r.due, time.DateOnly)
}

func (r *issue) appendChanged(b []byte) []byte {
	b = when(append(b, `,"created_at":`...), &r.created, time.RFC3339Nano)
	return when(append(b, `,"updated_at":`...), &r.updated, time.RFC3339Nano)
}

func when(b []byte, t *time.Time, form string) []byte {
	if t == nil {
		return append(b, "null"...)
	}
	return append(t.UTC().AppendFormat(append(b, '"'), form), '"')
}

func optional(b []byte, s *string) []byte {
	if s == nil {
		return append(b, "null"...)
	}
	return text(b, *s)
}

// text appends s as JSON. It is fast for texts without escapes.
func text(b []byte, s string) []byte {
	for i := range len(s) {
		if c := s[i]; c < ' ' || c == '"' || c == '\\' || c >= 0x7f {
			quoted, _ := json.Marshal(s) // a string can always be encoded
			return append(b, quoted...)
		}
	}
	return append(append(append(b, '"'), s...), '"')
}

// A driver answers the four questions without a gateway.
type driver interface {
	point(ctx context.Context, id string) ([]byte, error)
	page(ctx context.Context) ([]byte, error)
	project(ctx context.Context, id string) ([]byte, error)
	count(ctx context.Context) (int64, error)
	version(ctx context.Context) (string, error)
}

type rawSQLite struct{ pointed, paged, listed, counted, versioned *sql.Stmt }

func openRawSQLite(t testing.TB, path string) *rawSQLite {
	t.Helper()
	db, err := sql.Open("sqlite", "file:"+path+"?mode=ro")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	prepare := func(text string) *sql.Stmt {
		stmt, err := db.PrepareContext(t.Context(), text)
		if err != nil {
			t.Fatal(err)
		}
		return stmt
	}
	return &rawSQLite{prepare(pointSQL), prepare(pageSQL), prepare(listSQL), prepare(countSQL), prepare("SELECT sqlite_version()")}
}

func (s *rawSQLite) point(ctx context.Context, id string) ([]byte, error) {
	var r issue
	if err := s.pointed.QueryRowContext(ctx, demo.Acme, id).Scan(r.whole()...); err != nil {
		return nil, err
	}
	return r.appendWhole(nil), nil
}

func (s *rawSQLite) page(ctx context.Context) ([]byte, error) {
	rows, err := s.paged.QueryContext(ctx, demo.Acme, pageRows)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	return appendPage(rows)
}

func (s *rawSQLite) project(ctx context.Context, id string) ([]byte, error) {
	rows, err := s.listed.QueryContext(ctx, demo.Acme, id, pageRows)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	return appendPage(rows)
}

func (s *rawSQLite) count(ctx context.Context) (n int64, err error) {
	err = s.counted.QueryRowContext(ctx, demo.Acme, "Done", "High", "Critical").Scan(&n)
	return n, err
}

func (s *rawSQLite) version(ctx context.Context) (v string, err error) {
	err = s.versioned.QueryRowContext(ctx).Scan(&v)
	return "SQLite " + v, err
}

type rawPostgres struct{ *pgxpool.Pool }

func (s rawPostgres) point(ctx context.Context, id string) ([]byte, error) {
	var r issue
	if err := s.QueryRow(ctx, pointSQL, demo.Acme, id).Scan(r.whole()...); err != nil {
		return nil, err
	}
	return r.appendWhole(nil), nil
}

func (s rawPostgres) page(ctx context.Context) ([]byte, error) {
	rows, err := s.Query(ctx, pageSQL, demo.Acme, pageRows)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	return appendPage(rows)
}

func (s rawPostgres) project(ctx context.Context, id string) ([]byte, error) {
	rows, err := s.Query(ctx, listSQL, demo.Acme, id, pageRows)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	return appendPage(rows)
}

func (s rawPostgres) count(ctx context.Context) (n int64, err error) {
	err = s.QueryRow(ctx, countSQL, demo.Acme, "Done", "High", "Critical").Scan(&n)
	return n, err
}

func (s rawPostgres) version(ctx context.Context) (v string, err error) {
	err = s.QueryRow(ctx, "SHOW server_version").Scan(&v)
	return "PostgreSQL " + v, err
}

// appendPage writes records as a JSON array.
func appendPage(rows interface {
	Next() bool
	Scan(...any) error
	Err() error
}) ([]byte, error) {
	b := []byte("[")
	for n := 0; rows.Next(); n++ {
		var r issue
		if err := rows.Scan(r.summary()...); err != nil {
			return nil, err
		}
		if n > 0 {
			b = append(b, ',')
		}
		b = r.appendSummary(b)
	}
	return append(b, ']'), rows.Err()
}
