package postgres

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/jackc/pgx/v5"

	"github.com/bailiwick-dev/bailiwick/audit"
	"github.com/bailiwick-dev/bailiwick/identity"
	"github.com/bailiwick-dev/bailiwick/internal/store"
	"github.com/bailiwick-dev/bailiwick/problem"
)

const tokenColumns = `id, prefix, hash, name, kind, owner, tenant, scopes, tools, actions, classes, filters, ips, created, expires, used, revoked, more`

// counted completes a statement that changes tokens in the CTE "changed". It puts the record $1, $2, $3 into the
// outbox, whose column change contains the subject. It also increments and returns the version. It locks the
// version's row, so versions are in commit order.
const counted = `, posted AS (INSERT INTO bailiwick.outbox (step, change, body) SELECT $1, $2, $3 FROM changed) UPDATE bailiwick.token_version SET version = version + 1 WHERE EXISTS (SELECT FROM changed) RETURNING version`

// AddToken implements identity.TokenStore.
func (s *Store) AddToken(ctx context.Context, t identity.Token, r audit.Record) error {
	c, err := store.WriteToken(&t)
	if err != nil {
		return err
	}
	person, search := store.TokenWords(&t)
	err = s.changeTokens(ctx, "add a token", r, `WITH changed AS (INSERT INTO bailiwick.token (`+tokenColumns+`, person, search)
		VALUES ($4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20, $21, $22, $23) RETURNING 1)`+counted,
		t.ID, t.Prefix, t.Hash[:], t.Name, string(t.Kind), t.Owner, t.Tenant, c.Scopes, c.Tools, c.Actions, c.Classes, c.Filters, c.IPs,
		t.Created, t.Expires, instant(t.LastUsed), instant(t.Revoked), c.More, person, search)
	if state(err) == "23505" {
		return store.TokenTakenError(err)
	}
	return err
}

// TokenByPrefix implements identity.TokenStore.
func (s *Store) TokenByPrefix(ctx context.Context, prefix string) (t identity.Token, err error) {
	if !text(prefix) {
		return t, store.NoToken()
	}
	err = s.again(ctx, "read a token", func(ctx context.Context) error {
		t, err = scanToken(s.pool.QueryRow(ctx, `SELECT `+tokenColumns+` FROM bailiwick.token WHERE prefix = $1`, prefix))
		if errors.Is(err, pgx.ErrNoRows) {
			return store.NoToken()
		}
		return err
	})
	return t, err
}

// FindTokens implements identity.TokenStore.
func (s *Store) FindTokens(ctx context.Context, f identity.TokenFilter) ([]identity.Token, error) {
	return listTokens(ctx, s, asking.Tokens(`t.`+strings.ReplaceAll(tokenColumns, `, `, `, t.`), f, f.At), scanToken)
}

// People implements identity.TokenStore.
func (s *Store) People(ctx context.Context, f identity.TokenFilter) ([]identity.PersonEntry, error) {
	return listTokens(ctx, s, asking.People(f, f.At), func(row pgx.Row) (identity.PersonEntry, error) {
		var r store.PersonRow
		var seen *time.Time
		err := row.Scan(&r.Owner, &r.Tenant, &r.Scopes, &seen, &r.Issuer, &r.Person, &r.Agents)
		p := r.Entry()
		if seen != nil {
			p.Seen = seen.UTC()
		}
		return p, err
	})
}

// listTokens runs a query about tokens or tickets and scans each row.
func listTokens[T any](ctx context.Context, s *Store, ask store.ChangeLookup, scan func(pgx.Row) (T, error)) (all []T, err error) {
	err = s.again(ctx, "list the tokens", func(ctx context.Context) error {
		rows, err := s.pool.Query(ctx, ask.Text, ask.Args...)
		if err != nil {
			return err
		}
		all, err = pgx.AppendRows([]T(nil), rows, func(row pgx.CollectableRow) (T, error) { return scan(row) })
		return err
	})
	return all, err
}

// fillTokens stores the person and the text for searches of tokens that an older program stored.
func (s *Store) fillTokens(ctx context.Context) error {
	for more := true; more; {
		err := pgx.BeginFunc(ctx, s.pool, func(tx pgx.Tx) error {
			rows, err := tx.Query(ctx, `SELECT id, name, owner, tenant, prefix FROM bailiwick.token WHERE person = ' ' ORDER BY id LIMIT 500 FOR UPDATE`)
			if err != nil {
				return err
			}
			old, err := pgx.CollectRows(rows, pgx.RowToStructByPos[struct{ ID, Name, Owner, Tenant, Prefix string }])
			if err != nil {
				return err
			}
			more = len(old) > 0
			var b pgx.Batch
			for _, t := range old {
				person, search := store.TokenWords(&identity.Token{ID: t.ID, Name: t.Name, Owner: t.Owner, Tenant: t.Tenant, Prefix: t.Prefix})
				b.Queue(`UPDATE bailiwick.token SET person = $2, search = $3 WHERE id = $1`, t.ID, person, search)
			}
			return tx.SendBatch(ctx, &b).Close()
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// RevokeToken implements identity.TokenStore.
func (s *Store) RevokeToken(ctx context.Context, id string, r audit.Record) error {
	if !text(id) {
		return store.NoToken()
	}
	err := s.changeTokens(ctx, "revoke a token", r,
		`WITH changed AS (UPDATE bailiwick.token SET revoked = $5 WHERE id = $4 AND revoked IS NULL RETURNING 1)`+counted, id, r.Time)
	if problem.CodeOf(err) != problem.NotFound {
		return err
	}
	return s.again(ctx, "revoke a token", func(ctx context.Context) error {
		var there bool
		if err := s.pool.QueryRow(ctx, `SELECT EXISTS (SELECT FROM bailiwick.token WHERE id = $1)`, id).Scan(&there); err != nil || there {
			return err
		}
		return store.NoToken()
	})
}

// changeTokens runs a statement that changes tokens, stores r in the outbox and increments the version. It fails with
// store.NoToken if the statement changed no token. args are the arguments from $4 on.
func (s *Store) changeTokens(ctx context.Context, doing string, r audit.Record, text string, args ...any) error {
	args = append([]any{r.Step, r.Subject(), store.RecordBody(&r)}, args...)
	return s.tokens.Change(func() (version int64, err error) {
		err = s.try(ctx, doing, func(ctx context.Context) error {
			err := s.pool.QueryRow(ctx, text, args...).Scan(&version)
			if errors.Is(err, pgx.ErrNoRows) {
				return store.NoToken()
			}
			return err
		})
		return version, err
	})
}

// TouchTokens implements identity.TokenStore. It skips deleted tokens. It locks rows in a fixed order, so that
// replicas don't deadlock.
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

// TokenVersion implements identity.TokenStore. It queries the database only if the cached version is old.
func (s *Store) TokenVersion(ctx context.Context) (int64, error) {
	return s.tokens.Get(ctx, s.tokenVersion)
}

// LatestTokenVersion implements identity.TokenStore.
func (s *Store) LatestTokenVersion(ctx context.Context) (int64, error) {
	return s.tokens.Latest(ctx, s.tokenVersion)
}

// tokenVersion reads the version of the tokens.
func (s *Store) tokenVersion(ctx context.Context) (version int64, err error) {
	err = s.again(ctx, "read the token version", func(ctx context.Context) error {
		return s.pool.QueryRow(ctx, `SELECT version FROM bailiwick.token_version`).Scan(&version)
	})
	return version, err
}

// scanToken reads a row of tokenColumns. A null time is the zero time.
func scanToken(row pgx.Row) (identity.Token, error) {
	var t identity.Token
	var c store.TokenColumns
	var hash []byte
	var kind string
	var used, revoked *time.Time
	err := row.Scan(&t.ID, &t.Prefix, &hash, &t.Name, &kind, &t.Owner, &t.Tenant, &c.Scopes, &c.Tools, &c.Actions, &c.Classes, &c.Filters, &c.IPs,
		&t.Created, &t.Expires, &used, &revoked, &c.More)
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

// instant returns t as the value of a nullable column. The zero time becomes NULL.
func instant(t time.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	return &t
}

// text reports whether the database can store the text s.
func text(s string) bool { return utf8.ValidString(s) && !strings.ContainsRune(s, 0) }
