package sqlite

import (
	"fmt"
	"os"
	"runtime"
	"slices"
	"strings"
)

// TemporaryFolder returns the folder in which SQLite stores data that it sorts and groups beyond its memory. If
// SQLite can't write to any of its folders, the error lists them. Without this check, only a later query would fail.
// The order is the same as in unixTempFileDir in SQLite's os_unix.c.
func TemporaryFolder() (string, error) {
	if runtime.GOOS == "windows" {
		return firstWritable([]string{os.TempDir()})
	}
	return firstWritable([]string{os.Getenv("SQLITE_TMPDIR"), os.Getenv("TMPDIR"), "/var/tmp", "/usr/tmp", "/tmp", "."})
}

// firstWritable returns the first folder in which it can create a file. It skips empty names.
func firstWritable(folders []string) (string, error) {
	folders = slices.DeleteFunc(folders, func(s string) bool { return s == "" })
	for _, folder := range folders {
		f, err := os.CreateTemp(folder, ".bailiwick-*")
		if err != nil {
			continue
		}
		f.Close()           //nolint:errcheck // it is empty
		os.Remove(f.Name()) //nolint:errcheck // it was just made
		return folder, nil
	}
	return "", fmt.Errorf("SQLite needs a folder for temporary files, and no file can be made in %s: set SQLITE_TMPDIR to a folder that can be written",
		strings.Join(folders, ", "))
}
