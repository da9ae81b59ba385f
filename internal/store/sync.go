package store

import (
	"errors"
	"os"
	"runtime"
)

// syncFolder puts the names in a folder on the disk. Windows does that by itself, and syncs no folder.
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
