package sqlite

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
)

// Backup writes a copy of the store as it is now to a new file, readable only by its owner, while others use the store.
func (s *Store) Backup(ctx context.Context, to string) error {
	f, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return fmt.Errorf("back up the store: %w", err)
	}
	if err := f.Close(); err != nil {
		return fmt.Errorf("back up the store: %w", err)
	}
	// Through the writing connection, since the others take no statement that writes. SQLite fills an empty file.
	if _, err := s.write.ExecContext(ctx, `VACUUM INTO ?`, to); err != nil {
		return errors.Join(s.failed("back up", err), os.Remove(to))
	}
	return nil
}

// beforeUpgrade keeps a copy of the file as it is at version now, beside it. Another process may have kept one already.
func (s *Store) beforeUpgrade(ctx context.Context, now int) error {
	if s.path == Memory {
		return nil
	}
	if err := s.Backup(ctx, fmt.Sprintf("%s.v%d", s.path, now)); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	return nil
}

// Check reads the whole file and returns what is wrong with its structure; nothing if it is whole. The audit has a check of
// its own.
func (s *Store) Check(ctx context.Context) ([]string, error) {
	var wrong []string
	for _, pragma := range []string{`PRAGMA integrity_check(20)`, `PRAGMA foreign_key_check`} {
		rows, err := s.read.QueryContext(ctx, pragma)
		if err != nil {
			return nil, s.failed("check", err)
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
			return nil, s.failed("check", err)
		}
	}
	return wrong, nil
}
