package store

import (
	"errors"
	"os"
	"runtime"
)

// syncFolder syncs a folder, so that its names are on the disk. Windows does that itself, and doesn't support syncing
// a folder.
func syncFolder(dir string) error {
	if runtime.GOOS == "windows" {
		return nil
	}
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}
