package endtoend_test

import (
	"fmt"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/bailiwick-dev/bailiwick"
	"github.com/bailiwick-dev/bailiwick/audit"
	"github.com/bailiwick-dev/bailiwick/policy"
	"github.com/bailiwick-dev/bailiwick/source"
)

// TestWithheldCost limits the cost of sampling values at a start, for 40 classes of 3,000 records. Some classes have
// three text columns. Others have twelve, including long texts and JSON. The limit applies to allocations, which
// don't depend on the load of the machine. The log contains the times. Times for 100 classes are in docs/hidden.md.
func TestWithheldCost(t *testing.T) {
	for _, wide := range []bool{false, true} {
		for name, open := range map[string]func(*testing.T, []string) changing{"sqlite": changingSQLite, "postgres": changingPostgres, "mariadb": changingMariaDB} {
			t.Run(fmt.Sprintf("%s, wide: %t", name, wide), func(t *testing.T) {
				db := open(t, costly(name, wide))
				start := func(s bailiwick.Sampling) (wall, cpu time.Duration, allocations uint64) {
					var before, after runtime.MemStats
					runtime.ReadMemStats(&before)
					begun, used := time.Now(), processor(t)
					g, _, err := bailiwick.New(t.Context(), bailiwick.Options{Sources: map[string]source.Source{"app": db.source}, Rules: policy.Rules{Unlisted: true}, Audit: &audit.Memory{}, Sampling: s})
					if err != nil {
						t.Fatal(err)
					}
					wall, cpu = time.Since(begun), processor(t)-used
					runtime.ReadMemStats(&after)
					if err := g.Close(t.Context()); err != nil {
						t.Fatal(err)
					}
					return wall, cpu, after.Mallocs - before.Mallocs
				}
				without, usual, few := start(bailiwick.Sampling{Off: true})
				with, cpu, many := start(bailiwick.Sampling{})
				t.Logf("40 classes: %s with a look at values, %s without; %s of processor time, %d allocations", with, without, cpu-usual, many-few)
				most := uint64(160_000)
				if wide {
					most = 1_200_000
				}
				if many-few > most {
					t.Errorf("it costs %d allocations", many-few)
				}
			})
		}
	}
}

// costly returns the statements that create and fill the classes of TestWithheldCost.
func costly(database string, wide bool) (ddl []string) {
	const classes, records = 40, 3000
	columns := "id integer primary key, title varchar(80), body text, note text, kind varchar(20), n integer"
	values := "i, CONCAT('title ', i), CONCAT('a body of some words, as people write them, number ', i), NULL, 'kind', i"
	if wide {
		columns += ", a text, b text, c text, d varchar(60), e varchar(60), f varchar(60), g varchar(60), h text, j text"
		long := "CONCAT('" + strings.Repeat("a longer text of several sentences, which people have written about this and that. ", 6) + "', i)"
		values += strings.Repeat(", "+long, 3) + ", CONCAT('AB-', i), CONCAT('https://app.example/items/', i), CONCAT('user', i, '@mail.example'), CONCAT('state-', i), " +
			"CONCAT('{\"color\": \"red\", \"size\": ', i, ', \"labels\": [\"a\", \"b\"], \"more\": {\"x\": 1, \"y\": \"a text\"}}'), CONCAT('[', i, ', 2, 3]')"
	}
	series := map[string]string{
		"sqlite":   "(WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < %d) SELECT i FROM n) s",
		"postgres": "(SELECT generate_series(1, %d) AS i) s",
		"mariadb":  "(SELECT seq AS i FROM seq_1_to_%d) s",
	}[database]
	for i := range classes {
		ddl = append(ddl, fmt.Sprintf("CREATE TABLE t%d (%s)", i, columns))
		if i == 0 {
			ddl = append(ddl, fmt.Sprintf("INSERT INTO t0 SELECT %s FROM "+series, values, records))
			continue
		}
		ddl = append(ddl, fmt.Sprintf("INSERT INTO t%d SELECT * FROM t0", i))
	}
	return ddl
}

// processor returns the processor time of this process so far.
func processor(t *testing.T) time.Duration {
	t.Helper()
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		t.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
