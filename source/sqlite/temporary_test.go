package sqlite

import (
	"os"
	"path/filepath"
	"testing"
)

// TestTemporaryFolder checks which of several folders is used.
func TestTemporaryFolder(t *testing.T) {
	dir := t.TempDir()
	file, none := filepath.Join(dir, "file"), filepath.Join(dir, "none")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	other := t.TempDir()
	for _, tt := range []struct {
		folders   []string
		want, err string
	}{
		{[]string{"", none, file, other, dir}, other, ""},
		{[]string{dir, other}, dir, ""},
		{[]string{"", none, file}, "", "SQLite needs a folder for temporary files, and no file can be made in " + none + ", " + file + ": set SQLITE_TMPDIR to a folder that can be written"},
	} {
		got, err := firstWritable(tt.folders)
		if got != tt.want || tt.err == "" && err != nil || tt.err != "" && (err == nil || err.Error() != tt.err) {
			t.Errorf("%q: got %q, %v", tt.folders, got, err)
		}
	}
	for _, folder := range []string{dir, other} {
		if left, err := filepath.Glob(filepath.Join(folder, ".bailiwick-*")); err != nil || len(left) > 0 {
			t.Errorf("left: %v %v", left, err)
		}
	}
	t.Setenv("SQLITE_TMPDIR", other)
	if got, err := TemporaryFolder(); got != other || err != nil {
		t.Errorf("got %q, %v; want that of SQLITE_TMPDIR", got, err)
	}
}
