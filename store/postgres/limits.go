package postgres

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/bailiwick-dev/bailiwick/limit"
)

const (
	askBudgets = `SELECT day, account, calls, rows, bytes, tokens, cost FROM bailiwick.budget
		JOIN unnest($1::date[], $2::bytea[]) AS asked (day, account) USING (day, account)`
	// Rows are locked in a fixed order, so that replicas don't deadlock. Sums stop at the largest bigint.
	spendBudgets = `INSERT INTO bailiwick.budget AS b (day, account, calls, rows, bytes, tokens, cost)
		SELECT * FROM unnest($1::date[], $2::bytea[], $3::bigint[], $4::bigint[], $5::bigint[], $6::bigint[], $7::bigint[]) AS spent (day, account)
		ORDER BY day, account
		ON CONFLICT (day, account) DO UPDATE SET
			calls = least(b.calls::numeric + excluded.calls, 9223372036854775807)::bigint,
			rows = least(b.rows::numeric + excluded.rows, 9223372036854775807)::bigint,
			bytes = least(b.bytes::numeric + excluded.bytes, 9223372036854775807)::bigint,
			tokens = least(b.tokens::numeric + excluded.tokens, 9223372036854775807)::bigint,
			cost = least(b.cost::numeric + excluded.cost, 9223372036854775807)::bigint
		RETURNING day, account, calls, rows, bytes, tokens, cost`
)

// Spend implements limit.Ledger, in one statement. If all entries only read, it writes nothing.
func (s *Store) Spend(ctx context.Context, entries []limit.Entry) ([]limit.Use, error) {
	days, accounts := make([]time.Time, len(entries)), make([][]byte, len(entries))
	var uses [5][]int64
	places, asks := make(map[limit.Account]int, len(entries)), true
	for i, e := range entries {
		days[i], accounts[i], places[e.Account] = time.Unix(int64(e.Day)*24*60*60, 0).UTC(), []byte(e.Key), i
		for n, v := range [5]int64{e.Calls, e.Rows, e.Bytes, e.Tokens, e.Cost} {
			uses[n] = append(uses[n], v)
		}
		asks = asks && e.Use == limit.Use{}
	}
	out := make([]limit.Use, len(entries))
	if len(entries) == 0 {
		return out, ctx.Err()
	}
	read := func(rows pgx.Rows, err error) error {
		if err != nil {
			return err
		}
		var day time.Time
		var account []byte
		var u limit.Use
		_, err = pgx.ForEachRow(rows, []any{&day, &account, &u.Calls, &u.Rows, &u.Bytes, &u.Tokens, &u.Cost}, func() error {
			out[places[limit.Account{Day: limit.DayOf(day), Key: string(account)}]] = u
			return nil
		})
		return err
	}
	if asks {
		return out, s.again(ctx, "read the budgets", func(ctx context.Context) error { return read(s.pool.Query(ctx, askBudgets, days, accounts)) })
	}
	return out, s.try(ctx, "add to the budgets", func(ctx context.Context) error {
		return read(s.pool.Query(ctx, spendBudgets, days, accounts, uses[0], uses[1], uses[2], uses[3], uses[4]))
	})
}

// Take implements limit.Store, by the database's clock and in one statement. So all replicas together admit as many
// calls as a single one would.
func (s *Store) Take(ctx context.Context, buckets []limit.Bucket) (wait time.Duration, err error) {
	keys, every, burst := make([][]byte, len(buckets)), make([]int64, len(buckets)), make([]int64, len(buckets))
	for i, b := range buckets {
		keys[i], every[i], burst[i] = []byte(b.Key), int64(b.Every), int64(b.Burst)
	}
	ctx, cancel := context.WithTimeout(ctx, briefly)
	defer cancel()
	var nanoseconds int64
	err = s.again(ctx, "take from the rates", func(ctx context.Context) error {
		return s.pool.QueryRow(ctx, `SELECT bailiwick.take($1, $2, $3)`, keys, every, burst).Scan(&nanoseconds)
	})
	return time.Duration(nanoseconds), err
}
