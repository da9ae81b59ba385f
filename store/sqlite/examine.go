package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"

	"github.com/bailiwick-dev/bailiwick/internal/health"
	"github.com/bailiwick-dev/bailiwick/internal/store"
)

// An Examination contains the facts about a store that can be read without changing it.
type Examination struct {
	Version    int                 // the version of the tables, or 0 without tables
	Newest     int                 // the version to which this program migrates
	Unwritable error               // the reason why the file can't be written, or nil
	Private    bool                // whether only its owner can read it
	Journal    string              // the folder of the journal, or "" if there is none
	Replicas   []health.ReplicaRow // the processes that use it
}

// Examine examines the store in the file at path, which may be in use. If the file doesn't exist, the error wraps
// fs.ErrNotExist.
func Examine(ctx context.Context, path string) (*Examination, error) {
	s := &Store{path: path}
	info, err := os.Stat(path)
	if err != nil {
		return nil, s.operatorError("examine the store", err)
	}
	e := &Examination{Private: info.Mode().Perm()&0o077 == 0, Unwritable: s.unwritable()}
	if e.Newest, err = store.NewestVersion(files); err != nil {
		return nil, err
	}
	if folder := path + journalEnd; exists(folder) {
		e.Journal = folder
	}
	db := sql.OpenDB(looking(path))
	defer db.Close()
	db.SetMaxOpenConns(1)
	if e.Version, err = version(ctx, db); err != nil {
		return e, s.operatorError("examine the store", err)
	}
	if e.Version == e.Newest {
		if e.Replicas, err = replicasOf(ctx, db); err != nil {
			return e, s.operatorError("examine the store", err)
		}
	}
	return e, nil
}

// unwritable returns the reason why the file or its folder can't be written, or nil.
func (s *Store) unwritable() error {
	f, err := os.OpenFile(s.path, os.O_RDWR, 0)
	if err != nil {
		return s.operatorError("write", err)
	}
	if err := f.Close(); err != nil {
		return s.operatorError("write", err)
	}
	if err := writableFolder(filepath.Dir(s.path)); err != nil { // SQLite creates files beside it
		return s.operatorError("make files beside it", err)
	}
	return nil
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return !errors.Is(err, fs.ErrNotExist)
}

// looking returns a connector that changes nothing. If there is no write-ahead log beside the file, it opens the file
// as immutable, because SQLite would create such a log.
func looking(path string) connector {
	q := url.Values{"mode": {"ro"}, "_query_only": {"1"}, "_busy_timeout": {"5000"}}
	if !exists(path + "-wal") {
		q.Set("immutable", "1")
	}
	return connector{"file:" + (&url.URL{Path: path}).EscapedPath() + "?" + q.Encode(), func() error { return nil }}
}
