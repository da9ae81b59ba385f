//go:build unix

package sqlite

import (
	"io/fs"

	"golang.org/x/sys/unix"
)

// writableFolder returns the reason why this process can't create files in a folder, or nil. It creates no file.
func writableFolder(path string) error {
	if err := unix.Access(path, unix.W_OK|unix.X_OK); err != nil {
		return &fs.PathError{Op: "write", Path: path, Err: err}
	}
	return nil
}
