package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"strings"
	"time"

	code "modernc.org/sqlite/lib"

	"github.com/bailiwick-dev/bailiwick/audit"
	"github.com/bailiwick-dev/bailiwick/identity"
	"github.com/bailiwick-dev/bailiwick/internal/store"
	"github.com/bailiwick-dev/bailiwick/problem"
)

const tokenColumns = `id, prefix, hash, name, kind, owner, tenant, scopes, tools, classes, filters, ips, created, expires, used, revoked, actions, more`

// AddToken implements identity.TokenStore.
func (s *Store) AddToken(ctx context.Context, t identity.Token, r audit.Record) error {
	c, err := store.WriteToken(&t)
	if err != nil {
		return err
	}
	person, search := store.TokenWords(&t)
	err = s.changeTokens(ctx, func(ctx context.Context, tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, `INSERT INTO token (`+tokenColumns+`, person, search) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
			t.ID, t.Prefix, t.Hash[:], t.Name, string(t.Kind), t.Owner, t.Tenant, c.Scopes, c.Tools, c.Classes, c.Filters,
			c.IPs, t.Created.UnixMicro(), t.Expires.UnixMicro(), micros(t.LastUsed), micros(t.Revoked), c.Actions, c.More, person, search)
		return errors.Join(err, post(ctx, tx, &r))
	})
	if primary(err) == code.SQLITE_CONSTRAINT {
		return store.TokenTakenError(err)
	}
	return s.tokenFailure("add a token", err)
}

// TokenByPrefix implements identity.TokenStore.
func (s *Store) TokenByPrefix(ctx context.Context, prefix string) (identity.Token, error) {
	t, err := scanToken(s.read.QueryRowContext(ctx, `SELECT `+tokenColumns+` FROM token WHERE prefix = ?`, prefix))
	if errors.Is(err, sql.ErrNoRows) {
		return identity.Token{}, store.NoToken()
	}
	return t, s.tokenFailure("read a token", err)
}

// FindTokens implements identity.TokenStore.
func (s *Store) FindTokens(ctx context.Context, f identity.TokenFilter) ([]identity.Token, error) {
	return listTokens(ctx, s, asking.Tokens(`t.`+strings.ReplaceAll(tokenColumns, `, `, `, t.`), f, f.At.UnixMicro()), scanToken)
}

// People implements identity.TokenStore.
func (s *Store) People(ctx context.Context, f identity.TokenFilter) ([]identity.PersonEntry, error) {
	return listTokens(ctx, s, asking.People(f, f.At.UnixMicro()), func(row interface{ Scan(...any) error }) (identity.PersonEntry, error) {
		var r store.PersonRow
		var seen sql.NullInt64
		err := row.Scan(&r.Owner, &r.Tenant, &r.Scopes, &seen, &r.Issuer, &r.Person, &r.Agents)
		p := r.Entry()
		if seen.Valid {
			p.Seen = instant(seen.Int64)
		}
		return p, err
	})
}

// listTokens runs a query about tokens or tickets and scans each row.
func listTokens[T any](ctx context.Context, s *Store, ask store.ChangeLookup, scan func(interface{ Scan(...any) error }) (T, error)) ([]T, error) {
	rows, err := s.read.QueryContext(ctx, ask.Text, ask.Args...)
	if err != nil {
		return nil, s.operatorError("list the tokens", err)
	}
	defer rows.Close()
	var out []T
	for rows.Next() {
		one, err := scan(rows)
		if err != nil {
			return nil, s.operatorError("list the tokens", err)
		}
		out = append(out, one)
	}
	return out, s.tokenFailure("list the tokens", rows.Err())
}

// fillTokens stores the person and the text for searches of tokens that an older program stored.
func (s *Store) fillTokens(ctx context.Context) error {
	for {
		ids, err := column[string](ctx, s.write, store.ChangeLookup{Text: `SELECT id FROM token WHERE person = ' ' LIMIT 500`})
		if err != nil || len(ids) == 0 {
			return err
		}
		err = s.transact(ctx, func(ctx context.Context, tx *sql.Tx) error {
			for _, id := range ids {
				t := identity.Token{ID: id}
				if err := tx.QueryRowContext(ctx, `SELECT name, owner, tenant, prefix FROM token WHERE id = ?`, id).Scan(&t.Name, &t.Owner, &t.Tenant, &t.Prefix); err != nil {
					return err
				}
				person, search := store.TokenWords(&t)
				if _, err := tx.ExecContext(ctx, `UPDATE token SET person = ?, search = ? WHERE id = ?`, person, search, id); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
}

// RevokeToken implements identity.TokenStore.
func (s *Store) RevokeToken(ctx context.Context, id string, r audit.Record) error {
	err := s.changeTokens(ctx, func(ctx context.Context, tx *sql.Tx) error {
		var was sql.NullInt64
		err := tx.QueryRowContext(ctx, `SELECT revoked FROM token WHERE id = ?`, id).Scan(&was)
		if errors.Is(err, sql.ErrNoRows) {
			return store.NoToken()
		}
		if err != nil || was.Valid {
			return err
		}
		_, err = tx.ExecContext(ctx, `UPDATE token SET revoked = ? WHERE id = ?`, r.Time.UnixMicro(), id)
		return errors.Join(err, post(ctx, tx, &r))
	})
	return s.tokenFailure("revoke a token", err)
}

// TouchTokens implements identity.TokenStore. It skips deleted tokens.
func (s *Store) TouchTokens(ctx context.Context, used map[string]time.Time) error {
	return s.tokenFailure("note the use of tokens", s.transact(ctx, func(ctx context.Context, tx *sql.Tx) error {
		for id, at := range used {
			if _, err := tx.ExecContext(ctx, `UPDATE token SET used = max(coalesce(used, 0), ?) WHERE id = ?`, at.UnixMicro(), id); err != nil {
				return err
			}
		}
		return nil
	}))
}

// TokenVersion implements identity.TokenStore. It reads the file only if the cached version is old.
func (s *Store) TokenVersion(ctx context.Context) (int64, error) {
	return s.tokens.Get(ctx, s.tokenVersion)
}

// LatestTokenVersion implements identity.TokenStore.
func (s *Store) LatestTokenVersion(ctx context.Context) (int64, error) {
	return s.tokens.Latest(ctx, s.tokenVersion)
}

// tokenVersion reads the version of the tokens.
func (s *Store) tokenVersion(ctx context.Context) (version int64, err error) {
	if err := s.read.QueryRowContext(ctx, `SELECT version FROM token_version`).Scan(&version); err != nil {
		return 0, s.operatorError("read the token version", err)
	}
	return version, nil
}

// changeTokens runs do and increments the version in one transaction.
func (s *Store) changeTokens(ctx context.Context, do func(context.Context, *sql.Tx) error) error {
	return s.tokens.Change(func() (version int64, err error) {
		err = s.transact(ctx, func(ctx context.Context, tx *sql.Tx) error {
			if err := do(ctx, tx); err != nil {
				return err
			}
			return tx.QueryRowContext(ctx, `UPDATE token_version SET version = version + 1 RETURNING version`).Scan(&version)
		})
		return version, err
	})
}

// tokenFailure returns nil and problems unchanged. It turns any other error into an error for operators.
func (s *Store) tokenFailure(doing string, err error) error {
	if err == nil {
		return nil
	}
	if p, ok := errors.AsType[*problem.Error](err); ok {
		return p
	}
	return s.operatorError(doing, err)
}

// scanToken reads a row of tokenColumns. A null time is the zero time.
func scanToken(row interface{ Scan(...any) error }) (identity.Token, error) {
	var t identity.Token
	var c store.TokenColumns
	var hash []byte
	var kind string
	var created, expires int64
	var used, revoked sql.NullInt64
	err := row.Scan(&t.ID, &t.Prefix, &hash, &t.Name, &kind, &t.Owner, &t.Tenant, &c.Scopes, &c.Tools, &c.Classes, &c.Filters, &c.IPs,
		&created, &expires, &used, &revoked, &c.Actions, &c.More)
	if err != nil {
		return identity.Token{}, err
	}
	t.Kind = identity.Kind(kind)
	if err := c.Read(&t, hash); err != nil {
		return identity.Token{}, err
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

// micros returns t as the value of a nullable column. The zero time becomes NULL.
func micros(t time.Time) sql.NullInt64 {
	return sql.NullInt64{Int64: t.UnixMicro(), Valid: !t.IsZero()}
}
