package sqlite

import (
	"fmt"
	"os"
	"runtime"
	"slices"
	"strings"
)

// TemporaryFolder returns the folder in which SQLite keeps data that it sorts and groups beyond its memory. The error
// names the folders that it would take, and says that none can be written. Queries fail at such a point otherwise, and
// nothing fails before. The order is that of unixTempFileDir in SQLite's os_unix.c.
func TemporaryFolder() (string, error) {
	if runtime.GOOS == "windows" {
		return firstWritable([]string{os.TempDir()})
	}
	return firstWritable([]string{os.Getenv("SQLITE_TMPDIR"), os.Getenv("TMPDIR"), "/var/tmp", "/usr/tmp", "/tmp", "."})
}

// firstWritable returns the first of some folders in which a file can be made. It skips empty names.
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
