package postgres

import (
	"context"
	"encoding/hex"

	"github.com/jackc/pgx/v5"

	"github.com/bailiwick-dev/bailiwick/audit"
)

const baseSQL = `SELECT seq, hash FROM bailiwick.audit_base`

func readBase(row pgx.Row) (h audit.Head, err error) {
	var hash []byte
	err = row.Scan(&h.Seq, &hash)
	h.Hash = hex.EncodeToString(hash)
	return h, err
}

// Base implements audit.Archived.
func (s *Store) Base(ctx context.Context) (h audit.Head, err error) {
	err = s.again(ctx, "read the audit log", func(ctx context.Context) (err error) {
		h, err = readBase(s.pool.QueryRow(ctx, baseSQL))
		return err
	})
	return h, err
}

// Prune changes the base of the audit log, which must be from, to the value to. It deletes the records between them,
// except records of steps. An archive must contain these records. If the base is not from any more, the error is
// audit.ErrMoved.
func (s *Store) Prune(ctx context.Context, from, to audit.Head) error {
	return s.try(ctx, "take archived records out of the audit log", func(ctx context.Context) error {
		return pgx.BeginFunc(ctx, s.pool, func(tx pgx.Tx) error { return prune(ctx, tx, from, to) })
	})
}

// prune sets the base of the audit log to the value to, and deletes the records up to this base. It locks the row of
// the base. Records of steps are kept, because changes and tokens are compared with them.
func prune(ctx context.Context, tx pgx.Tx, from, to audit.Head) error {
	if now, err := readBase(tx.QueryRow(ctx, baseSQL+` FOR UPDATE`)); err != nil {
		return err
	} else if now != from {
		return audit.ErrMoved
	}
	hash, err := hex.DecodeString(to.Hash)
	if err != nil {
		return err
	}
	if _, err := tx.Exec(ctx, `UPDATE bailiwick.audit_base SET seq = $1, hash = $2`, to.Seq, hash); err != nil {
		return err
	}
	if _, err := tx.Exec(ctx, `DELETE FROM bailiwick.audit_block WHERE number * 2048 < $1`, to.Seq); err != nil { // they are written again
		return err
	}
	_, err = tx.Exec(ctx, `DELETE FROM bailiwick.audit AS a WHERE a.seq > $1 AND a.seq <= $2 AND NOT EXISTS (SELECT FROM bailiwick.audit_step AS s WHERE s.seq = a.seq)`, from.Seq, to.Seq)
	return err
}
