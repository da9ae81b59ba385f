package postgres

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/jackc/pgx/v5"

	"github.com/bailiwick-dev/bailiwick/identity"
	"github.com/bailiwick-dev/bailiwick/internal/store/tokens"
)

const tokenColumns = `id, prefix, hash, name, kind, owner, tenant, scopes, tools, actions, classes, filters, ips, created, expires, used, revoked`

// counted begins a statement that changes tokens when the CTE "changed" does, and gives the number that this makes. The
// number's row is locked, so numbers are in the order of the commits.
const counted = `UPDATE bailiwick.token_version SET version = version + 1 WHERE EXISTS (SELECT FROM changed) RETURNING version`

// AddToken keeps a new token.
func (s *Store) AddToken(ctx context.Context, t identity.Token) error {
	c, err := tokens.Write(&t)
	if err != nil {
		return err
	}
	err = s.changeTokens(ctx, "add a token", `WITH changed AS (INSERT INTO bailiwick.token (`+tokenColumns+`)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17) RETURNING 1) `+counted,
		t.ID, t.Prefix, t.Hash[:], t.Name, string(t.Kind), t.Owner, t.Tenant, c.Scopes, c.Tools, c.Actions, c.Classes, c.Filters, c.IPs,
		t.Created, t.Expires, instant(t.LastUsed), instant(t.Revoked))
	if state(err) == "23505" {
		return tokens.Taken(err)
	}
	return err
}

// TokenByPrefix returns the token with a public prefix.
func (s *Store) TokenByPrefix(ctx context.Context, prefix string) (t identity.Token, err error) {
	if !text(prefix) {
		return t, tokens.None()
	}
	err = s.again(ctx, "read a token", func(ctx context.Context) error {
		t, err = scanToken(s.pool.QueryRow(ctx, `SELECT `+tokenColumns+` FROM bailiwick.token WHERE prefix = $1`, prefix))
		if errors.Is(err, pgx.ErrNoRows) {
			return tokens.None()
		}
		return err
	})
	return t, err
}

// Tokens returns all tokens in order of creation.
func (s *Store) Tokens(ctx context.Context) (all []identity.Token, err error) {
	err = s.again(ctx, "list the tokens", func(ctx context.Context) error {
		rows, err := s.pool.Query(ctx, `SELECT `+tokenColumns+` FROM bailiwick.token ORDER BY created, id`)
		if err != nil {
			return err
		}
		all, err = pgx.AppendRows([]identity.Token(nil), rows, func(row pgx.CollectableRow) (identity.Token, error) { return scanToken(row) })
		return err
	})
	return all, err
}

// RevokeToken ends a token; one that is revoked already stays as it is.
func (s *Store) RevokeToken(ctx context.Context, id string, at time.Time) error {
	if !text(id) {
		return tokens.None()
	}
	return s.changeTokens(ctx, "revoke a token",
		`WITH changed AS (UPDATE bailiwick.token SET revoked = coalesce(revoked, $2) WHERE id = $1 RETURNING 1) `+counted, id, at)
}

// changeTokens runs a statement that changes tokens and returns their version. None is returned when it found no token.
func (s *Store) changeTokens(ctx context.Context, doing, text string, args ...any) error {
	return s.tokens.Change(func() (version int64, err error) {
		err = s.try(ctx, doing, func(ctx context.Context) error {
			err := s.pool.QueryRow(ctx, text, args...).Scan(&version)
			if errors.Is(err, pgx.ErrNoRows) {
				return tokens.None()
			}
			return err
		})
		return version, err
	})
}

// TouchTokens sets the last uses. Tokens that are gone are passed over. Rows are locked in one order, so that replicas
// don't wait for each other.
func (s *Store) TouchTokens(ctx context.Context, used map[string]time.Time) error {
	var ids []string
	for id := range used {
		if text(id) {
			ids = append(ids, id)
		}
	}
	slices.Sort(ids)
	times := make([]time.Time, len(ids))
	for i, id := range ids {
		times[i] = used[id]
	}
	return s.again(ctx, "note the use of tokens", func(ctx context.Context) error {
		_, err := s.pool.Exec(ctx, `WITH locked AS (SELECT t.id, u.at FROM bailiwick.token AS t
				JOIN unnest($1::text[], $2::timestamptz[]) AS u (id, at) ON u.id = t.id ORDER BY t.id FOR UPDATE OF t)
			UPDATE bailiwick.token AS t SET used = greatest(t.used, locked.at) FROM locked WHERE t.id = locked.id`, ids, times)
		return err
	})
}

// TokenVersion returns the number of the last change of a token; it asks the database when its answer is old.
func (s *Store) TokenVersion(ctx context.Context) (int64, error) {
	return s.tokens.Get(ctx, func(ctx context.Context) (version int64, err error) {
		err = s.again(ctx, "read the token version", func(ctx context.Context) error {
			return s.pool.QueryRow(ctx, `SELECT version FROM bailiwick.token_version`).Scan(&version)
		})
		return version, err
	})
}

func scanToken(row pgx.Row) (identity.Token, error) {
	var t identity.Token
	var c tokens.Columns
	var hash []byte
	var kind string
	var used, revoked *time.Time
	err := row.Scan(&t.ID, &t.Prefix, &hash, &t.Name, &kind, &t.Owner, &t.Tenant, &c.Scopes, &c.Tools, &c.Actions, &c.Classes, &c.Filters, &c.IPs,
		&t.Created, &t.Expires, &used, &revoked)
	if err != nil {
		return identity.Token{}, err
	}
	t.Kind = identity.Kind(kind)
	if err := c.Read(&t, hash); err != nil {
		return identity.Token{}, err
	}
	t.Created, t.Expires = t.Created.UTC(), t.Expires.UTC()
	if used != nil {
		t.LastUsed = used.UTC()
	}
	if revoked != nil {
		t.Revoked = revoked.UTC()
	}
	return t, nil
}

// instant returns t for a column that is NULL where t is zero.
func instant(t time.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	return &t
}

// text reports whether s is a text that the database can hold, and so may have.
func text(s string) bool { return utf8.ValidString(s) && !strings.ContainsRune(s, 0) }
