//go:build unix

package sqlite

import (
	"io/fs"

	"golang.org/x/sys/unix"
)

// writableFolder returns why this process can't make files in a folder, or nil. It makes none.
func writableFolder(path string) error {
	if err := unix.Access(path, unix.W_OK|unix.X_OK); err != nil {
		return &fs.PathError{Op: "write", Path: path, Err: err}
	}
	return nil
}
