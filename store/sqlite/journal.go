package sqlite

import (
	"context"
	"database/sql"
	"encoding/hex"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/bailiwick-dev/bailiwick/audit"
	"github.com/bailiwick-dev/bailiwick/internal/store"
)

// journalEnd is appended to the path of the store to form the path of the journal's folder.
const journalEnd = "-audit"

// foldAfter is the maximum time until a record of the journal is in the tables, unless a reader needs it earlier.
const foldAfter = 500 * time.Millisecond

// openJournal opens the journal of the audit. A call waits for only one write and one sync of the journal, which is
// much faster than a transaction. Readers of the audit first fold the journal, so they read only the tables.
func (s *Store) openJournal() (err error) {
	if !store.JournalSupported {
		return nil
	}
	s.journal, err = store.OpenJournal(s.path+journalEnd, store.JournalOptions{
		Head: func() (audit.Head, error) { return readHead(s.read.QueryRow(headSQL)) },
		Keep: s.keep, Claim: s.claimJournal, Release: s.releaseJournal,
	})
	return err
}

// claimJournal stores that the folder id is in use. If another folder was in use and was not closed, that folder
// counts as lost. A folder with records that was never claimed in this store belongs to another store.
func (s *Store) claimJournal(id string, records bool) error {
	_, err := s.once(context.Background(), func(tx *sql.Tx) error {
		if records {
			var known bool
			if err := tx.QueryRow(`SELECT count(*) FROM journal WHERE id = ?`, id).Scan(&known); err != nil {
				return err
			}
			if !known {
				return store.ErrForeign
			}
		}
		head, err := readHead(tx.QueryRow(headSQL))
		if err != nil {
			return err
		}
		now := now().UnixMicro()
		if _, err := tx.Exec(`UPDATE journal SET after = ?, lost = ? WHERE id <> ? AND lost IS NULL`, head.Seq, now, id); err != nil {
			return err
		}
		_, err = tx.Exec(`INSERT INTO journal (id, since) VALUES (?, ?) ON CONFLICT DO UPDATE SET after = NULL, lost = NULL`, id, now)
		return err
	})
	return err
}

// releaseJournal stores that no folder is in use.
func (s *Store) releaseJournal() error {
	_, err := s.once(context.Background(), func(tx *sql.Tx) error {
		_, err := tx.Exec(`DELETE FROM journal WHERE lost IS NULL`)
		return err
	})
	return err
}

// Losses implements audit.Losses. It returns the lost folders of the journal.
func (s *Store) Losses(ctx context.Context) ([]audit.Damage, error) {
	rows, err := s.read.QueryContext(ctx, `SELECT id, since, after, lost FROM journal WHERE lost IS NOT NULL ORDER BY after, lost`)
	if err != nil {
		return nil, s.operatorError("read the losses of the audit", err)
	}
	defer rows.Close()
	var out []audit.Damage
	for rows.Next() {
		var since, after, found int64
		var id string
		if err := rows.Scan(&id, &since, &after, &found); err != nil {
			return nil, s.operatorError("read the losses of the audit", err)
		}
		at := func(micros int64) string { return time.UnixMicro(micros).UTC().Format(time.DateTime) }
		out = append(out, audit.Damage{Seq: after + 1, Last: after + 1, Kind: audit.Lost, Detail: fmt.Sprintf(
			"the journal %s was used from %s on. It was gone at %s (UTC), when %s was opened after a process that did not end cleanly. Whether it had records after %d is not known",
			id, at(since), at(found), filepath.Base(s.path), after)})
	}
	if err := rows.Err(); err != nil {
		return nil, s.operatorError("read the losses of the audit", err)
	}
	return out, nil
}

// SyncEvery makes Append return when a record is written, and syncs the disk at that interval. If the machine stops,
// the records of the last interval may be lost. With the interval 0, the default, Append syncs before it returns. On
// a system without a journal, SyncEvery returns false and changes nothing, because each Append is a transaction.
func (s *Store) SyncEvery(interval time.Duration) bool {
	if s.journal == nil {
		return false
	}
	s.journal.SyncEvery(interval)
	return true
}

func (s *Store) closeJournal() error {
	if s.journal == nil {
		return nil
	}
	if err := s.journal.Close(); err != nil {
		return s.operatorError("close the audit's journal", err)
	}
	return nil
}

// foldSoon folds the journal after foldAfter, or at once if the journal is full. It does nothing if a fold is already
// scheduled.
func (s *Store) foldSoon() {
	if !s.folding.CompareAndSwap(false, true) {
		return
	}
	after := foldAfter
	if s.journal.Size() > store.JournalFull {
		after = 0
	}
	time.AfterFunc(after, func() {
		err := s.fold(context.Background())
		s.probe.noteFold(err) // Ping, and later Append, report the reason of a failure
		s.folding.Store(false)
		if !s.shut.Load() && (err != nil || s.journal.Size() > 0) {
			s.foldSoon()
		}
	})
}

// fold moves the records of the journal into the tables.
func (s *Store) fold(ctx context.Context) error {
	if s.journal == nil {
		return nil
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	return s.journal.Fold()
}

// foldForRead folds the journal for a reader. If that fails, on a full or read-only disk, it returns the records that
// are not in the tables yet.
func (s *Store) foldForRead(ctx context.Context) ([]store.RecordRow, error) {
	failed := s.fold(ctx)
	if failed == nil || ctx.Err() != nil {
		return nil, failed
	}
	rows, err := s.journal.Rows()
	if err != nil {
		return nil, failed
	}
	head, err := readHead(s.read.QueryRowContext(ctx, headSQL))
	if err != nil {
		return nil, err
	}
	return slices.DeleteFunc(rows, func(r store.RecordRow) bool { return r.Seq <= head.Seq }), nil
}

// keep inserts records of the journal into the tables, except records that the tables already have. If records up to
// end are missing afterwards, it moves the head to end, so that audit.Verify reports them. It uses its own
// transactions, because a group of transactions may be waiting for the journal.
func (s *Store) keep(rows []store.RecordRow, end audit.Head) error {
	const atOnce = 50 * manyRows // limits how long other transactions wait
	ctx := context.Background()
	if err := s.there(); err != nil {
		return err
	}
	if end.Seq > 0 {
		if head, err := readHead(s.read.QueryRowContext(ctx, headSQL)); err != nil || head.Seq >= end.Seq {
			return err
		}
		_, err := s.once(ctx, func(tx *sql.Tx) error { return keepRecords(ctx, tx, nil, end) })
		return err
	}
	for chunk := range slices.Chunk(rows, atOnce) {
		if _, err := s.once(ctx, func(tx *sql.Tx) error { return keepRecords(ctx, tx, chunk, end) }); err != nil {
			return err
		}
	}
	return nil
}

// manyRows is the number of records that one statement inserts.
const manyRows = 32

// keepRecords inserts the rows that come after the head of the tables, in order, with manyRows rows per statement. It
// moves the head to the last of them. If there are none, it moves the head to end.
func keepRecords(ctx context.Context, tx *sql.Tx, rows []store.RecordRow, end audit.Head) error {
	head, err := readHead(tx.QueryRowContext(ctx, headSQL))
	if err != nil {
		return err
	}
	seq := end.Seq
	hash, err := hex.DecodeString(end.Hash)
	if err != nil {
		return err
	}
	for len(rows) > 0 && rows[0].Seq <= head.Seq {
		rows = rows[1:]
	}
	if len(rows) > 0 {
		seq, hash = rows[len(rows)-1].Seq, rows[len(rows)-1].Hash
	}
	if seq <= head.Seq {
		return nil
	}
	many := insertSQL + strings.Repeat(`, (?, ?, ?, ?)`, manyRows-1)
	for chunk := range slices.Chunk(rows, manyRows) {
		args := make([]any, 0, 4*manyRows)
		for _, r := range chunk {
			args = append(args, r.Seq, r.Prev, r.Hash, string(r.Body))
		}
		if len(chunk) == manyRows {
			_, err = tx.ExecContext(ctx, many, args...)
		}
		for i := 0; len(chunk) < manyRows && i < len(args) && err == nil; i += 4 {
			_, err = tx.ExecContext(ctx, insertSQL, args[i:i+4]...)
		}
		if err != nil {
			return err
		}
	}
	_, err = tx.ExecContext(ctx, moveSQL, seq, hash)
	return err
}
