// Package demo creates the application that "bailiwick demo" serves: an issue tracker in one SQLite file.
//
//	Create → tracker.db ─views→ gateway, like any other source
//	tracker.db ─OpenAPI→ HTTP API ─client→ gateway
//
// The file contains the same realistic data on every run. Two organisations share its tables, so that a missing
// tenant rule is easy to notice. Create doesn't overwrite an existing file. Config is a configuration for the file.
//
// OpenAPI opens the HTTP API of the tracker, and APIDocument is its OpenAPI document. Like any application's API, it
// does not depend on the gateway. Callers need the key, and each request is limited to the organisation in its path.
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

	_ "modernc.org/sqlite" // the driver for the file
)

// The number of rows in the largest tables.
const (
	Issues   = 5_000
	Comments = 20_000
)

// The tenants of the tracker: the ids of its two organisations, as in the column org_id.
const (
	Acme   = "acme"
	Globex = "globex"
)

// Clock returns the latest time in the data, in UTC.
func Clock() time.Time { return time.Date(2026, time.October, 30, 17, 0, 0, 0, time.UTC) }

// Create writes the tracker to a new SQLite file at path. Every run writes the same bytes. If the file exists, Create
// returns an error that wraps fs.ErrExist. If it fails or ctx ends, it leaves no file.
func Create(ctx context.Context, path string) (err error) {
	if _, err := os.Lstat(path); err == nil {
		return fmt.Errorf("demo: %s: %w", path, fs.ErrExist)
	} else if !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("demo: %w", err)
	}
	// The file has another name until it is complete. An interrupted run therefore leaves no partial tracker.
	part := path + ".part"
	if err := os.Remove(part); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("demo: %w", err)
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, removeFile(part))
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

func removeFile(path string) error {
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("demo: %w", err)
	}
	return nil
}

// write creates the database in one transaction.
func write(ctx context.Context, path string) (err error) {
	// Nobody uses the file until it is complete, so no journal is needed. Foreign keys are checked at the end.
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
	// ANALYZE creates statistics, as in a maintained database. Without them, SQLite uses the tenant's index for every
	// query.
	if _, err := tx.ExecContext(ctx, "ANALYZE"); err != nil {
		return err
	}
	return tx.Commit()
}
