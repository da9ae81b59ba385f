package app

import (
	"context"
	"errors"

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
	kept, err = sqlite.Restore(ctx, backup, path)
	return path, kept, err
}
