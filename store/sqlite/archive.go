package sqlite

import (
	"context"
	"database/sql"
	"encoding/hex"

	"github.com/bailiwick-dev/bailiwick/audit"
)

const baseSQL = `SELECT seq, hash FROM audit_base`

// Base implements audit.Archived.
func (s *Store) Base(ctx context.Context) (audit.Head, error) {
	base, err := readHead(s.read.QueryRowContext(ctx, baseSQL))
	if err != nil {
		return audit.Head{}, s.operatorError("read the audit log", err)
	}
	return base, nil
}

// Prune changes the base of the audit log, which must be from, to the value to. It deletes the records between them,
// except records of steps. An archive must contain these records. If the base is not from any more, the error is
// audit.ErrMoved.
func (s *Store) Prune(ctx context.Context, from, to audit.Head) error {
	err := s.fold(ctx)
	if err == nil {
		err = s.transact(ctx, func(ctx context.Context, tx *sql.Tx) error { return prune(ctx, tx, from, to) })
	}
	if err != nil {
		return s.operatorError("take archived records out of the audit log", err)
	}
	return nil
}

// prune sets the base of the audit log to the value to, and deletes the records up to this base. Records of steps are
// kept, because changes and tokens are compared with them.
func prune(ctx context.Context, tx *sql.Tx, from, to audit.Head) error {
	if now, err := readHead(tx.QueryRowContext(ctx, baseSQL)); err != nil {
		return err
	} else if now != from {
		return audit.ErrMoved
	}
	hash, err := hex.DecodeString(to.Hash)
	if err != nil {
		return err
	}
	if _, err := tx.ExecContext(ctx, `UPDATE audit_base SET seq = ?, hash = ?`, to.Seq, hash); err != nil {
		return err
	}
	if _, err := tx.ExecContext(ctx, `DELETE FROM audit_block WHERE number * 2048 < ?`, to.Seq); err != nil { // they are written again
		return err
	}
	_, err = tx.ExecContext(ctx, `DELETE FROM audit WHERE seq > ? AND seq <= ? AND NOT EXISTS (SELECT 1 FROM audit_step AS s WHERE s.seq = audit.seq)`, from.Seq, to.Seq)
	return err
}
