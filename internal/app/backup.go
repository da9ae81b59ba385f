package app

import "errors"

// errShared is wrapped by errors about a store that is no file.
var errShared = errors.New("the store is a PostgreSQL database: its schema bailiwick is backed up and restored with pg_dump and pg_restore (docs/operating.md)")

// StoreFile returns the path of the store's file, which must exist if k.There is set. A store that is no file is refused.
func (k *Keep) StoreFile() (path string, err error) {
	url, _, err := k.locate()
	if err != nil {
		return "", err
	}
	if shared(url) {
		return "", errShared
	}
	if path = storePath(url); k.There && !Exists(path) {
		return path, noStore(url)
	}
	return path, nil
}
