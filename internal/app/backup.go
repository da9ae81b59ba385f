package app

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"time"

	"github.com/bailiwick-dev/bailiwick/store/sqlite"
)

// errShared is wrapped by errors about a store that is no file.
var errShared = errors.New("the store is a PostgreSQL database: its schema bailiwick is backed up and restored with pg_dump and pg_restore (docs/operating.md)")

// InFile opens the store's file and passes it to do. A store that is no file is refused.
func (k *Keep) InFile(ctx context.Context, do func(*sqlite.Store) error) (path string, err error) {
	url, _, err := k.locate()
	if err != nil {
		return "", err
	}
	if shared(url) {
		return "", errShared
	}
	if path = storePath(url); !Exists(path) {
		return path, noStore(url)
	}
	s, err := sqlite.Open(ctx, path)
	if err != nil {
		return path, err
	}
	defer CloseAfter(s, &err)
	return path, do(s)
}

// Restore replaces the store's file by a backup, once that was opened, brought to the version of this program and found
// whole. The file that was there is kept under a name with the time, which is returned; "" if there was none.
func (k *Keep) Restore(ctx context.Context, backup string) (path, kept string, err error) {
	url, _, err := k.locate()
	if err != nil {
		return "", "", err
	}
	if shared(url) {
		return "", "", errShared
	}
	path = storePath(url)
	tried := path + ".restoring"
	defer func() {
		for _, end := range []string{"", "-wal", "-shm"} {
			if rerr := os.Remove(tried + end); err == nil && rerr != nil && !errors.Is(rerr, fs.ErrNotExist) {
				err = rerr
			}
		}
	}()
	if err := copyFile(backup, tried); err != nil {
		return path, "", err
	}
	if err := whole(ctx, tried); err != nil {
		return path, "", fmt.Errorf("%s is not restored: %w", backup, err)
	}
	if Exists(path) {
		kept = path + ".before-" + time.Now().UTC().Format("20060102T150405")
	}
	for _, end := range []string{"-wal", "-shm", ""} {
		if kept != "" {
			if err := os.Rename(path+end, kept+end); err != nil && (end == "" || !errors.Is(err, fs.ErrNotExist)) {
				return path, "", fmt.Errorf("keep the store that is there: %w", err)
			}
		}
	}
	return path, kept, os.Rename(tried, path)
}

// whole opens and checks a store's file.
func whole(ctx context.Context, path string) (err error) {
	s, err := sqlite.Open(ctx, path)
	if err != nil {
		return err
	}
	defer CloseAfter(s, &err)
	wrong, err := s.Check(ctx)
	if err == nil && wrong != nil {
		err = fmt.Errorf("it is damaged: %s", wrong[0])
	}
	return err
}

// copyFile copies a file to a new one that only its owner can read.
func copyFile(from, to string) (err error) {
	in, err := os.Open(from)
	if err != nil {
		return fmt.Errorf("read the backup: %w", err)
	}
	defer in.Close()
	out, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return fmt.Errorf("write the store: %w", err)
	}
	defer CloseAfter(out, &err)
	if _, err = io.Copy(out, in); err != nil {
		return fmt.Errorf("copy the backup: %w", err)
	}
	return out.Sync()
}
