// Package demo makes the application that "bailiwick demo" serves: an issue tracker in one SQLite file, with the
// same believable data on every run.
//
// It stands beside the way and takes no part in it: the file that Create writes is read through views like any
// other source. Two organisations share the tables, so that a missing tenant rule would show. It refuses to write
// over a file that is there.
package demo

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"time"

	_ "modernc.org/sqlite" // the driver that writes the file
)

// How much Create writes of what there is most of.
const (
	Issues   = 5_000
	Comments = 20_000
)

// The tenants of the tracker: the ids of its two organisations, as users, projects, labels, issues and api_keys
// carry them in org_id.
const (
	Acme   = "acme"
	Globex = "globex"
)

// Clock is the moment at which the data ends: nothing in it is later. In UTC.
func Clock() time.Time { return time.Date(2026, time.October, 30, 17, 0, 0, 0, time.UTC) }

// Create writes the tracker to a new SQLite file at path. Every run writes the same bytes. It returns an error
// that wraps fs.ErrExist when there is a file already, and leaves nothing behind when it fails or ctx ends.
func Create(ctx context.Context, path string) (err error) {
	if _, err := os.Lstat(path); err == nil {
		return fmt.Errorf("demo: %s: %w", path, fs.ErrExist)
	} else if !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("demo: %w", err)
	}
	// A file of another name until it is whole, so that a run cut short never leaves half a tracker.
	part := path + ".part"
	if err := os.Remove(part); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("demo: %w", err)
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, removed(part))
		}
	}()
	if err := write(ctx, part); err != nil {
		return fmt.Errorf("demo: writing %s: %w", part, err)
	}
	if err := os.Rename(part, path); err != nil {
		return fmt.Errorf("demo: %w", err)
	}
	return nil
}

func removed(path string) error {
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("demo: %w", err)
	}
	return nil
}

// write makes the database in one transaction.
func write(ctx context.Context, path string) (err error) {
	// Nobody sees the file before it is whole, so a journal would guard nothing. Foreign keys are checked at the end.
	const pragmas = "?_pragma=journal_mode(off)&_pragma=synchronous(off)&_pragma=foreign_keys(off)"
	db, err := sql.Open("sqlite", "file:"+(&url.URL{Path: path}).EscapedPath()+pragmas)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	db.SetMaxOpenConns(1)
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, tx.Rollback())
		}
	}()
	if _, err := tx.ExecContext(ctx, tables); err != nil {
		return err
	}
	w := newWriter(ctx, tx)
	defer w.close()
	w.all()
	if w.err != nil {
		return w.err
	}
	// Statistics, as a well-kept database has them: without any, SQLite takes the tenant's index for every question.
	if _, err := tx.ExecContext(ctx, "ANALYZE"); err != nil {
		return err
	}
	return tx.Commit()
}
