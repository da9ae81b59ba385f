package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/url"
	"os"
	"time"

	code "modernc.org/sqlite/lib"
)

// Backup writes a copy of the present store to a new file, readable only by its owner, while others use the store.
func (s *Store) Backup(ctx context.Context, to string) error {
	if err := s.fold(ctx); err != nil {
		return s.operatorError("back up", err)
	}
	f, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return fmt.Errorf("back up the store: %w", err)
	}
	if err := f.Close(); err != nil {
		return fmt.Errorf("back up the store: %w", err)
	}
	// Uses the writing connection, since the other connections accept no statement that writes. SQLite fills an empty
	// file.
	if _, err := s.write.ExecContext(ctx, `VACUUM INTO ?`, to); err != nil {
		return errors.Join(s.operatorError("back up", err), os.Remove(to))
	}
	return forgetJournal(ctx, to)
}

// forgetJournal removes the entry about the present journal from a copy of a store, because the copy has no journal.
func forgetJournal(ctx context.Context, path string) (err error) {
	db := sql.OpenDB(connector{"file:" + (&url.URL{Path: path}).EscapedPath(), func() error { return nil }})
	defer func() { err = errors.Join(err, db.Close()) }()
	if _, err := db.ExecContext(ctx, `DELETE FROM journal WHERE lost IS NULL`); err != nil {
		return fmt.Errorf("back up the store: %w", err)
	}
	return nil
}

// beforeUpgrade stores a copy of the file beside it. now is the version of the file. Another process may already have
// stored one.
func (s *Store) beforeUpgrade(ctx context.Context, now int) error {
	if s.path == Memory {
		return nil
	}
	if err := s.Backup(ctx, fmt.Sprintf("%s.v%d", s.path, now)); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	return nil
}

// Check reads the whole file and returns the faults in its structure, or nil. The audit has its own check.
func (s *Store) Check(ctx context.Context) ([]string, error) {
	var wrong []string
	for _, pragma := range []string{`PRAGMA integrity_check(20)`, `PRAGMA foreign_key_check`} {
		rows, err := s.read.QueryContext(ctx, pragma)
		if err != nil {
			return nil, s.operatorError("check", err)
		}
		for rows.Next() {
			columns, err := rows.Columns()
			if err != nil {
				break
			}
			values := make([]any, len(columns))
			for i := range values {
				values[i] = new(any)
			}
			if err := rows.Scan(values...); err != nil {
				break
			}
			if text := fmt.Sprint(*values[0].(*any)); text != "ok" {
				wrong = append(wrong, text)
			}
		}
		if err := errors.Join(rows.Err(), rows.Close()); err != nil {
			return nil, s.operatorError("check", err)
		}
	}
	return wrong, nil
}

// Restore replaces the file at path by a backup. Before that, it opens the backup, migrates it to the version of this
// program and checks it. It doesn't replace a store that a process has open (ErrInUse). It renames the old file to a
// name with the time and returns that name, or "" if there was no file.
func Restore(ctx context.Context, backup, path string) (kept string, err error) {
	tried := path + ".restoring"
	defer func() {
		for _, end := range []string{"", "-wal", "-shm", journalEnd} {
			if rerr := os.Remove(tried + end); err == nil && rerr != nil && !errors.Is(rerr, fs.ErrNotExist) {
				err = rerr
			}
		}
	}()
	if err := copyFile(backup, tried); err != nil {
		return "", fmt.Errorf("copy the backup: %w", err)
	}
	if err := whole(ctx, tried); err != nil {
		return "", fmt.Errorf("%s is not restored: %w", backup, err)
	}
	if _, err := os.Stat(path); err == nil {
		if err := inUse(ctx, path); err != nil {
			return "", fmt.Errorf("%s is not restored: stop the servers that use %s first: %w", backup, path, err)
		}
		kept = path + ".before-" + time.Now().UTC().Format("20060102T150405")
		for _, end := range []string{journalEnd, "-wal", "-shm", ""} {
			if err := os.Rename(path+end, kept+end); err != nil && (end == "" || !errors.Is(err, fs.ErrNotExist)) {
				return "", fmt.Errorf("keep the store that is there: %w", err)
			}
		}
	}
	return kept, os.Rename(tried, path)
}

// whole opens and checks a store's file.
func whole(ctx context.Context, path string) (err error) {
	s, err := Open(ctx, path)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	wrong, err := s.Check(ctx)
	if err == nil && wrong != nil {
		err = fmt.Errorf("it is damaged: %s", wrong[0])
	}
	return err
}

// ErrInUse is the error of Restore for a store that a process has open.
var ErrInUse = errors.New("a process has it open")

// inUse returns ErrInUse if a process has the store's file at path open. Each connection of a store holds a shared
// lock on the file while it is open. A damaged file is not in use. After any other error, it is unknown whether the
// file is in use.
func inUse(ctx context.Context, path string) error {
	db := sql.OpenDB(connector{"file:" + (&url.URL{Path: path}).EscapedPath() + "?mode=rw&_busy_timeout=0&_pragma=locking_mode(EXCLUSIVE)", func() error { return nil }})
	db.SetMaxOpenConns(1)
	defer db.Close() //nolint:errcheck // nothing was written
	_, err := db.ExecContext(ctx, `BEGIN EXCLUSIVE; COMMIT`)
	switch primary(err) {
	case code.SQLITE_BUSY, code.SQLITE_LOCKED:
		return ErrInUse
	case code.SQLITE_NOTADB, code.SQLITE_CORRUPT:
		return nil
	}
	return err
}

// copyFile copies a file to a new file that only its owner can read.
func copyFile(from, to string) (err error) {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, out.Close()) }()
	if _, err = io.Copy(out, in); err != nil {
		return err
	}
	return out.Sync()
}
