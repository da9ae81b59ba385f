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

// An Examination has the facts about a store that can be found without changing it.
type Examination struct {
	Version    int                 // of the tables. 0 if there are none
	Newest     int                 // the version that this program brings them to
	Unwritable error               // why the file can't be written. Nil if it can
	Private    bool                // only its owner can read it
	Journal    string              // the folder of the journal. "" if there is none now
	Replicas   []health.ReplicaRow // the processes that use it
}

// Examine examines the store in the file at path, while others use it or not. fs.ErrNotExist is in the error if there is no file.
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

// unwritable returns why the file or its folder can't be written, or nil.
func (s *Store) unwritable() error {
	f, err := os.OpenFile(s.path, os.O_RDWR, 0)
	if err != nil {
		return s.operatorError("write", err)
	}
	if err := f.Close(); err != nil {
		return s.operatorError("write", err)
	}
	if err := writableFolder(filepath.Dir(s.path)); err != nil { // SQLite makes files beside it
		return s.operatorError("make files beside it", err)
	}
	return nil
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return !errors.Is(err, fs.ErrNotExist)
}

// looking returns a connector that changes nothing. A file without a log of writes beside it is read as it is: SQLite would make
// such files.
func looking(path string) connector {
	q := url.Values{"mode": {"ro"}, "_query_only": {"1"}, "_busy_timeout": {"5000"}}
	if !exists(path + "-wal") {
		q.Set("immutable", "1")
	}
	return connector{"file:" + (&url.URL{Path: path}).EscapedPath() + "?" + q.Encode(), func() error { return nil }}
}
