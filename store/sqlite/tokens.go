package sqlite

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"net/netip"
	"strings"
	"time"

	code "modernc.org/sqlite/lib"

	"github.com/bailiwick-dev/bailiwick/identity"
	"github.com/bailiwick-dev/bailiwick/problem"
)

// versionAge is how old the token version may be, and so how late a revocation by another process is seen.
const versionAge = 400 * time.Millisecond

// A tokenVersion is what token_version held at a time.
type tokenVersion struct {
	version int64
	read    time.Time
}

const tokenColumns = `id, prefix, hash, name, kind, owner, tenant, scopes, tools, classes, filters, ips, created, expires, used, revoked, actions`

// AddToken keeps a new token.
func (s *Store) AddToken(ctx context.Context, t identity.Token) error {
	var texts [4]string
	for i, v := range []any{t.Tools, t.Classes, t.Filters, t.Actions} {
		b, err := json.Marshal(v)
		if err != nil {
			return err
		}
		texts[i] = string(b)
	}
	err := s.changeTokens(ctx, func(tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, `INSERT INTO token (`+tokenColumns+`) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
			t.ID, t.Prefix, t.Hash[:], t.Name, string(t.Kind), t.Owner, t.Tenant, words(t.Scopes), texts[0], texts[1], texts[2],
			words(t.IPs), t.Created.UnixMicro(), t.Expires.UnixMicro(), micros(t.LastUsed), micros(t.Revoked), texts[3])
		return err
	})
	if primary(err) == code.SQLITE_CONSTRAINT {
		return &problem.Error{Code: problem.Conflict, Detail: "There is such a token already", Err: err}
	}
	return s.tokenFailure("add a token", err)
}

// TokenByPrefix returns the token with a public prefix.
func (s *Store) TokenByPrefix(ctx context.Context, prefix string) (identity.Token, error) {
	t, err := scanToken(s.read.QueryRowContext(ctx, `SELECT `+tokenColumns+` FROM token WHERE prefix = ?`, prefix))
	if errors.Is(err, sql.ErrNoRows) {
		return identity.Token{}, noToken()
	}
	return t, s.tokenFailure("read a token", err)
}

// Tokens returns all tokens in order of creation.
func (s *Store) Tokens(ctx context.Context) ([]identity.Token, error) {
	rows, err := s.read.QueryContext(ctx, `SELECT `+tokenColumns+` FROM token ORDER BY created, id`)
	if err != nil {
		return nil, s.failed("list the tokens", err)
	}
	defer rows.Close()
	var out []identity.Token
	for rows.Next() {
		t, err := scanToken(rows)
		if err != nil {
			return nil, s.failed("list the tokens", err)
		}
		out = append(out, t)
	}
	return out, s.tokenFailure("list the tokens", rows.Err())
}

// RevokeToken ends a token; one that is revoked already stays as it is.
func (s *Store) RevokeToken(ctx context.Context, id string, at time.Time) error {
	err := s.changeTokens(ctx, func(tx *sql.Tx) error {
		res, err := tx.ExecContext(ctx, `UPDATE token SET revoked = coalesce(revoked, ?) WHERE id = ?`, at.UnixMicro(), id)
		if err != nil {
			return err
		}
		if n, err := res.RowsAffected(); err != nil || n == 0 {
			return errors.Join(noToken(), err)
		}
		return nil
	})
	return s.tokenFailure("revoke a token", err)
}

// TouchTokens sets the last uses. Tokens that are gone are passed over.
func (s *Store) TouchTokens(ctx context.Context, used map[string]time.Time) error {
	return s.tokenFailure("note the use of tokens", s.transact(ctx, func(tx *sql.Tx) error {
		for id, at := range used {
			if _, err := tx.ExecContext(ctx, `UPDATE token SET used = max(coalesce(used, 0), ?) WHERE id = ?`, at.UnixMicro(), id); err != nil {
				return err
			}
		}
		return nil
	}))
}

// TokenVersion returns the number of the last change of a token; it asks the file when its answer is old.
func (s *Store) TokenVersion(ctx context.Context) (int64, error) {
	if v := s.tokens.Load(); v != nil && time.Since(v.read) < versionAge {
		return v.version, nil
	}
	now := time.Now()
	var version int64
	if err := s.read.QueryRowContext(ctx, `SELECT version FROM token_version`).Scan(&version); err != nil {
		return 0, s.failed("read the token version", err)
	}
	return s.sawVersion(version, now), nil
}

// sawVersion notes a version, unless a later one was seen meanwhile, and returns the latest.
func (s *Store) sawVersion(version int64, at time.Time) int64 {
	for {
		old := s.tokens.Load()
		if old != nil && (old.version > version || old.version == version && old.read.After(at)) {
			return old.version
		}
		if s.tokens.CompareAndSwap(old, &tokenVersion{version, at}) {
			return version
		}
	}
}

// changeTokens runs do and counts the version up in one transaction.
func (s *Store) changeTokens(ctx context.Context, do func(*sql.Tx) error) error {
	now := time.Now()
	var version int64
	err := s.transact(ctx, func(tx *sql.Tx) error {
		if err := do(tx); err != nil {
			return err
		}
		return tx.QueryRowContext(ctx, `UPDATE token_version SET version = version + 1 RETURNING version`).Scan(&version)
	})
	if err != nil {
		s.tokens.Store(nil) // whether the change was made isn't known
		return err
	}
	s.sawVersion(version, now)
	return nil
}

// tokenFailure leaves nil and problems as they are and says the rest in words for operators.
func (s *Store) tokenFailure(doing string, err error) error {
	if err == nil {
		return nil
	}
	if p, ok := errors.AsType[*problem.Error](err); ok {
		return p
	}
	return s.failed(doing, err)
}

func noToken() *problem.Error { return problem.New(problem.NotFound, "There is no such token") }

func scanToken(row interface{ Scan(...any) error }) (identity.Token, error) {
	var t identity.Token
	var hash []byte
	var kind, scopes, tools, classes, filters, ips, actions string
	var created, expires int64
	var used, revoked sql.NullInt64
	err := row.Scan(&t.ID, &t.Prefix, &hash, &t.Name, &kind, &t.Owner, &t.Tenant, &scopes, &tools, &classes, &filters, &ips,
		&created, &expires, &used, &revoked, &actions)
	if err != nil {
		return identity.Token{}, err
	}
	if copy(t.Hash[:], hash) != len(t.Hash) || len(hash) != len(t.Hash) {
		return identity.Token{}, fmt.Errorf("token %s has a hash of %d bytes", t.ID, len(hash))
	}
	t.Kind = identity.Kind(kind)
	for _, w := range strings.Fields(scopes) {
		t.Scopes = append(t.Scopes, identity.Scope(w))
	}
	for _, w := range strings.Fields(ips) {
		p, err := netip.ParsePrefix(w)
		if err != nil {
			return identity.Token{}, fmt.Errorf("token %s: %w", t.ID, err)
		}
		t.IPs = append(t.IPs, p)
	}
	err = errors.Join(json.Unmarshal([]byte(tools), &t.Tools), json.Unmarshal([]byte(classes), &t.Classes), json.Unmarshal([]byte(filters), &t.Filters),
		json.Unmarshal([]byte(actions), &t.Actions))
	if err != nil {
		return identity.Token{}, fmt.Errorf("token %s: %w", t.ID, err)
	}
	t.Created, t.Expires = instant(created), instant(expires)
	if used.Valid {
		t.LastUsed = instant(used.Int64)
	}
	if revoked.Valid {
		t.Revoked = instant(revoked.Int64)
	}
	return t, nil
}

func instant(micros int64) time.Time { return time.UnixMicro(micros).UTC() }

// micros returns t for a column that is NULL where t is zero.
func micros(t time.Time) sql.NullInt64 {
	return sql.NullInt64{Int64: t.UnixMicro(), Valid: !t.IsZero()}
}

// words writes a list with spaces; no scope or CIDR range has one.
func words[T any](list []T) string {
	var b strings.Builder
	for i, w := range list {
		if i > 0 {
			b.WriteByte(' ')
		}
		fmt.Fprint(&b, w)
	}
	return b.String()
}
