package sqlite

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
)

// errWritten is the error of Copy if another process keeps writing the store.
var errWritten = errors.New("the store is written while it is read")

// copyTries is how often Copy starts again because the store was written.
const copyTries = 3

// Copy copies the store at path, with its write-ahead log and the journal of its audit, to the file to in an empty
// folder. Unlike Open, it needs no right to write beside path. So it can copy a store on a read-only mount. The copy
// is the state of the store at one moment. If another process keeps writing the store, the error is errWritten.
func Copy(path, to string) error {
	for range copyTries {
		before, err := filesOf(path)
		if err != nil {
			return err
		}
		for _, f := range before {
			if err := os.MkdirAll(filepath.Dir(to+f.end), 0o700); err != nil {
				return err
			}
			if err := copyFile(path+f.end, to+f.end); err != nil && !errors.Is(err, fs.ErrNotExist) {
				return err
			}
		}
		after, err := filesOf(path)
		if err != nil {
			return err
		}
		if slices.Equal(before, after) {
			return nil
		}
		for _, f := range slices.Concat(before, after) { // the next try may have fewer files
			if err := os.Remove(to + f.end); err != nil && !errors.Is(err, fs.ErrNotExist) {
				return err
			}
		}
	}
	return fmt.Errorf("copy %s: %w", path, errWritten)
}

// A storeFile is one file of a store.
type storeFile struct {
	end     string // the ending of its path, after the path of the store
	size    int64
	changed int64 // in Unix nanoseconds
}

// filesOf returns the files of the store at path, except for files that only running processes use.
func filesOf(path string) ([]storeFile, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%s is not a regular file", path)
	}
	ends := []string{"", "-wal"}
	parts, err := os.ReadDir(path + journalEnd)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	for _, p := range parts {
		if p.Type().IsRegular() {
			ends = append(ends, filepath.Join(journalEnd, p.Name()))
		}
	}
	var files []storeFile
	for _, end := range ends {
		info, err := os.Stat(path + end)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, err
		}
		files = append(files, storeFile{end, info.Size(), info.ModTime().UnixNano()})
	}
	return files, nil
}
