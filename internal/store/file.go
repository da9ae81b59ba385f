package store

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

// Sync implements file. It also syncs the size of the file, if the size has changed.
func (s segment) Sync() error { return syncData(s.File) }

// lockName is the file that a process locks.
const lockName = "lock"

// openLock opens the lock of the folder dir and the folder itself, and creates both if they don't exist. A process
// that closes the journal may remove them at any time, so each step may have to start again.
func openLock(dir string) (lock, folder *os.File, err error) {
	for try := 1; ; try++ {
		if lock, err = os.OpenFile(filepath.Join(dir, lockName), os.O_RDWR|os.O_CREATE, 0o600); err == nil {
			if folder, err = os.Open(dir); err == nil {
				return lock, folder, nil
			}
			_ = lock.Close() // nothing was written
		}
		if !errors.Is(err, fs.ErrNotExist) || try == 100 {
			return nil, nil, err
		}
		err = os.Mkdir(dir, 0o700)
		if err == nil {
			err = syncDir(filepath.Dir(dir))
		}
		if err != nil && !errors.Is(err, fs.ErrExist) {
			return nil, nil, err
		}
	}
}

// same reports whether the open file f is still the file at path.
func same(f *os.File, path string) bool {
	a, err := f.Stat()
	b, err2 := os.Stat(path)
	return err == nil && err2 == nil && os.SameFile(a, b)
}

// syncDir syncs a folder, so that its names survive a power failure.
func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}
