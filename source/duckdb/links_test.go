package duckdb

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/bailiwick-dev/bailiwick/problem"
)

// TestLinks puts links and pipes to places outside of a folder into the folder, before it is opened and while it is
// open. Nothing outside may be read, and no call may wait. The operator is told the path, but not the agent.
func TestLinks(t *testing.T) {
	out := folder(t, `COPY (SELECT 'theirs' AS a, 2026 AS year) TO '%s/part' (FORMAT PARQUET, PARTITION_BY (year))`, `COPY (SELECT 'theirs' AS a, 2026 AS year) TO '%s/one.parquet'`)
	theirs := filepath.Join(out, "part", "year=2026", "data_0.parquet")
	for name, tt := range map[string]struct {
		do            func(dir string) error
		sales, single bool // whether they are rejected
	}{
		"a link in a folder":        {func(dir string) error { return os.Symlink(theirs, dir+"/sales/year=2026/x.parquet") }, true, false},
		"a hidden link":             {func(dir string) error { return os.Symlink(theirs, dir+"/sales/year=2026/.x.parquet") }, true, false},
		"a link to nothing":         {func(dir string) error { return os.Symlink(out+"/none", dir+"/sales/year=2026/x.parquet") }, true, false},
		"a linked folder in it":     {func(dir string) error { return os.Symlink(out+"/part", dir+"/sales/more") }, false, false},
		"a linked part":             {func(dir string) error { return os.Symlink(out+"/part/year=2026", dir+"/sales/year=2028") }, false, false},
		"a link with another name":  {func(dir string) error { return os.Symlink(theirs, dir+"/sales/year=2026/x.txt") }, false, false},
		"a pipe":                    {func(dir string) error { return syscall.Mkfifo(dir+"/sales/year=2026/x.parquet", 0o600) }, true, false},
		"a link in place of a file": {func(dir string) error { return swap(dir+"/single.parquet", out+"/one.parquet") }, false, true},
		"a pipe in place of a file": {func(dir string) error {
			return first(os.Remove(dir+"/single.parquet"), syscall.Mkfifo(dir+"/single.parquet", 0o600))
		}, false, true},
		"a link in place of a folder": {func(dir string) error { return swap(dir+"/sales", out+"/part") }, true, false},
	} {
		t.Run(name, func(t *testing.T) {
			lake := []string{`COPY (SELECT 'ours' AS a, 2026 AS year) TO '%s/sales' (FORMAT PARQUET, PARTITION_BY (year))`, `COPY (SELECT 'ours' AS a, 2026 AS year) TO '%s/single.parquet'`}
			dir := folder(t, lake...)
			s, p := opened(t, dir)
			if err := tt.do(dir); err != nil {
				t.Fatal(err)
			}
			for class, refused := range map[string]bool{"sales": tt.sales, "single": tt.single} {
				ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
				got, permit, err := asked(ctx, s, p, `SELECT a FROM `+class)
				cancel()
				if !refused {
					if got != "[\"ours\"]\n" || err != nil {
						t.Errorf("%s: %q, %v", class, got, err)
					}
					continue
				}
				if problem.CodeOf(err) != problem.Upstream || strings.Contains(err.Error(), dir) || !strings.Contains(problem.Of(err).Err.Error(), dir) {
					t.Errorf("%s: %q, %v", class, got, err)
				}
				if _, err := s.Explain(t.Context(), permit); problem.CodeOf(err) != problem.Upstream {
					t.Errorf("%s is explained, or with %v", class, err)
				}
			}
			check := func(s *Source) {
				t.Helper()
				classes, warnings, err := s.Describe(t.Context())
				told := len(warnings) == 1 && strings.Contains(warnings[0], "is not a class")
				if err != nil || told != (len(classes) == 1) || told != (tt.sales || tt.single) {
					t.Error(len(classes), warnings, err)
				}
			}
			check(s)
			begun, err := Open(t.Context(), Options{Name: "lake", Path: dir})
			if err != nil {
				t.Fatal(err)
			}
			defer begun.Close()
			check(begun)
		})
	}
}

// swap replaces a file or folder by a link to another place.
func swap(at, to string) error { return first(os.RemoveAll(at), os.Symlink(to, at)) }

func first(all ...error) error {
	for _, err := range all {
		if err != nil {
			return err
		}
	}
	return nil
}
