package journal

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
)

// A segment is a file on the disk.
type segment struct{ *os.File }

// openSegment opens or creates the segment at path.
func openSegment(path string, create bool) (file, error) {
	flag := os.O_RDWR
	if create {
		flag |= os.O_CREATE | os.O_EXCL
	}
	f, err := os.OpenFile(path, flag, 0o600)
	if err != nil {
		return nil, err
	}
	return segment{f}, nil
}

// Sync implements file. It syncs the size of the file too, if that has changed.
func (s segment) Sync() error { return syncData(s.File) }

// openLock opens the lock of the folder dir, and creates both if they don't exist.
func openLock(dir, path string) (*os.File, error) {
	for try := 1; ; try++ {
		f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
		if !errors.Is(err, fs.ErrNotExist) || try == 10 { // a process that closes the journal may remove the folder at any time
			return f, err
		}
		err = os.Mkdir(dir, 0o700)
		if err == nil {
			err = syncDir(filepath.Dir(dir))
		}
		if err != nil && !errors.Is(err, fs.ErrExist) {
			return nil, err
		}
	}
}

// same reports whether the open file f is the one at path.
func same(f *os.File, path string) bool {
	a, err := f.Stat()
	b, err2 := os.Stat(path)
	return err == nil && err2 == nil && os.SameFile(a, b)
}

// syncDir makes the names of a folder survive a power failure.
func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}
