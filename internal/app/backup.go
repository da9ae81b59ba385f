package app

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"github.com/bailiwick-dev/bailiwick/store/sqlite"
)

// errShared is wrapped by the error for a store that is not a file.
var errShared = errors.New("the store is a PostgreSQL database: its schema bailiwick is backed up and restored with pg_dump and pg_restore (docs/operating.md)")

// StoreFile returns the path of the store's file. If k.There is set, the file must exist. A store that is not a file
// is refused.
func (k *Keep) StoreFile() (path string, err error) {
	url, _, err := k.locate()
	if err != nil {
		return "", err
	}
	if isPostgresURL(url) {
		return "", errShared
	}
	if path = storePath(url); k.There && !Exists(path) {
		return path, noStore(url)
	}
	return path, nil
}

// InFile opens the store's file, passes it to do and returns its path. It rejects a store that is not a file.
func (k *Keep) InFile(ctx context.Context, do func(*sqlite.Store) error) (path string, err error) {
	if path, err = k.StoreFile(); err != nil {
		return path, err
	}
	at := path
	if k.Reads {
		copied, remove, err := readable(path)
		if err != nil {
			return path, err
		}
		defer remove()
		at = copied
	}
	s, err := sqlite.Open(ctx, at)
	if err != nil {
		return path, err
	}
	defer CloseAfter(s, &err)
	return path, do(s)
}

// ReplaceFile writes text to a temporary file and renames it to path, so that no reader sees half of a file.
func ReplaceFile(path string, text []byte, mode fs.FileMode) error {
	f, err := os.CreateTemp(filepath.Dir(path), ".bailiwick-*")
	if err != nil {
		return err
	}
	defer os.Remove(f.Name()) //nolint:errcheck // it is gone where it was renamed
	_, err = f.Write(text)
	if err = errors.Join(err, f.Chmod(mode), f.Sync(), f.Close()); err != nil {
		return err
	}
	return os.Rename(f.Name(), path)
}

// readable returns a path at which the store's file can be opened. If this process can't write the file, as on a
// read-only mount, it is the path of a temporary copy. remove deletes the copy.
func readable(path string) (at string, remove func(), err error) {
	nothing := func() {}
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	switch {
	case err == nil:
		return path, nothing, f.Close()
	case path == sqlite.Memory || !errors.Is(err, syscall.EROFS) && !errors.Is(err, fs.ErrPermission):
		return path, nothing, nil // the caller's attempt to open it returns the error
	}
	dir, err := os.MkdirTemp("", "bailiwick-copy-*")
	if err != nil {
		return "", nothing, fmt.Errorf("%s can't be written, and is read from a copy: %w", path, err)
	}
	at = filepath.Join(dir, filepath.Base(path))
	if err := sqlite.Copy(path, at); err != nil {
		os.RemoveAll(dir) //nolint:errcheck // the reason is the first error
		return "", nothing, err
	}
	return at, func() { os.RemoveAll(dir) }, nil //nolint:errcheck // it is in the folder of temporary files
}
