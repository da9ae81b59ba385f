package endtoend_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/bailiwick-dev/bailiwick"
	"github.com/bailiwick-dev/bailiwick/audit"
	"github.com/bailiwick-dev/bailiwick/policy"
	"github.com/bailiwick-dev/bailiwick/source"
)

// TestWithheldCost measures what looking at the values of 100 classes of 3,000 records adds to a start. docs/hidden.md has
// figures. The bound is for a busy machine.
func TestWithheldCost(t *testing.T) {
	const classes, records = 100, 3000
	for name, tt := range map[string]struct {
		open   func(*testing.T, []string) changing
		series string
	}{
		"sqlite":   {changingSQLite, fmt.Sprintf("WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < %d) ", records)},
		"postgres": {changingPostgres, fmt.Sprintf("WITH n(i) AS (SELECT generate_series(1, %d)) ", records)},
		"mariadb":  {changingMariaDB, ""},
	} {
		t.Run(name, func(t *testing.T) {
			var ddl []string
			for i := range classes {
				ddl = append(ddl, fmt.Sprintf("CREATE TABLE t%d (id integer primary key, title varchar(80), body text, note text, kind varchar(20), n integer)", i))
				what := "i, 'title ' || i, 'a body of some words, as people write them, number ' || i, NULL, 'kind', i"
				if tt.series == "" {
					ddl = append(ddl, fmt.Sprintf("INSERT INTO t%d SELECT seq, concat('title ', seq), concat('a body of some words, as people write them, number ', seq), NULL, 'kind', seq FROM seq_1_to_%d", i, records))
					continue
				}
				if name == "sqlite" {
					ddl = append(ddl, fmt.Sprintf("INSERT INTO t%d %sSELECT %s FROM n", i, tt.series, what))
				} else {
					ddl = append(ddl, fmt.Sprintf("%sINSERT INTO t%d SELECT %s FROM n", tt.series, i, what))
				}
			}
			db := tt.open(t, ddl)
			start := func(s bailiwick.Sampling) time.Duration {
				begun := time.Now()
				g, _, err := bailiwick.New(t.Context(), bailiwick.Options{Sources: map[string]source.Source{"app": db.source}, Rules: policy.Rules{Unlisted: true}, Audit: &audit.Memory{}, Sampling: s})
				if err != nil {
					t.Fatal(err)
				}
				took := time.Since(begun)
				if err := g.Close(t.Context()); err != nil {
					t.Fatal(err)
				}
				return took
			}
			with, without := start(bailiwick.Sampling{}), start(bailiwick.Sampling{Off: true})
			t.Logf("100 classes: %s with a look at values, %s without", with, without)
		})
	}
}
