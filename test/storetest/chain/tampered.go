package chain

import (
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/bailiwick-dev/bailiwick/audit"
	"github.com/bailiwick-dev/bailiwick/test/storetest"
)

// A Database is direct access to a store's database, as with a database tool.
type Database struct {
	Schema string // prefix of table names, such as "bailiwick."
	Byte   string // a single zero byte in the SQL dialect
	Off    string // statements that remove the protection of the log
	Exec   func(statement string) error
}

// CheckTampering modifies the audit log of a new store directly. Every modification must be detected and located.
// Each modification is undone before the next.
func CheckTampering(t *testing.T, s storetest.Store, db Database) {
	appendMany(t, s, 900)
	if _, err := s.Head(t.Context()); err != nil { // ensures that the records are in the tables
		t.Fatal(err)
	}
	run := func(text string) {
		t.Helper()
		for statement := range strings.SplitSeq(text, ";") {
			statement = strings.NewReplacer("{audit}", db.Schema+"audit", "{head}", db.Schema+"audit_head", "{0}", db.Byte).Replace(statement)
			if err := db.Exec(statement); err != nil {
				t.Fatalf("%s: %v", statement, err)
			}
		}
	}
	for _, guarded := range []string{"DELETE FROM " + db.Schema + "audit", "UPDATE " + db.Schema + "audit SET body = ''"} {
		if err := db.Exec(guarded); err == nil {
			t.Error(guarded, "went through")
		}
	}
	run(db.Off)
	run("CREATE TABLE whole AS SELECT * FROM {audit};CREATE TABLE head AS SELECT * FROM {head}")
	for _, tt := range []struct{ name, sql, want string }{
		{"nothing", `SELECT 1`, ""},
		{"a letter of the text", `UPDATE {audit} SET body = replace(body, 'query', 'qwery') WHERE seq = 5`, "altered 5-5"},
		{"white space in the text", `UPDATE {audit} SET body = replace(body, '"rows":', '"rows": ') WHERE seq = 5`, "altered 5-5"},
		{"no text", `UPDATE {audit} SET body = '' WHERE seq = 5`, "altered 5-5"},
		{"all texts", `UPDATE {audit} SET body = '{}'`, "altered 1-900"},
		{"the hash", `UPDATE {audit} SET hash = {0} WHERE seq = 5`, "altered 5-5"},
		{"the hash cut", `UPDATE {audit} SET hash = substr(hash, 1, 31) WHERE seq = 5`, "altered 5-5"},
		{"the link", `UPDATE {audit} SET prev = hash WHERE seq = 5`, "altered 5-5"},
		{"one gone", `DELETE FROM {audit} WHERE seq = 5`, "missing 5-5"},
		{"a page gone", `DELETE FROM {audit} WHERE seq BETWEEN 200 AND 750`, "missing 200-750"},
		{"the tail gone", `DELETE FROM {audit} WHERE seq > 890`, "truncated 891-900"},
		{"all gone", `DELETE FROM {audit}`, "truncated 1-900"},
		{"swapped", `UPDATE {audit} SET seq = -1 WHERE seq = 5;UPDATE {audit} SET seq = 5 WHERE seq = 9;UPDATE {audit} SET seq = 9 WHERE seq = -1`, "reordered 5-5 reordered 9-9"},
		{"one before the first", `INSERT INTO {audit} SELECT -7, prev, hash, body FROM {audit} WHERE seq = 5`, "inserted 1-1"},
		{"one behind the last", `INSERT INTO {audit} SELECT 901, prev, hash, body FROM {audit} WHERE seq = 5`, "inserted 901-901"},
		{"the head moved back", `UPDATE {head} SET seq = 899`, "forked 1-899 inserted 900-900"},
		{"the head moved on", `UPDATE {head} SET seq = 901`, "truncated 901-901"},
		{"the head's hash", `UPDATE {head} SET hash = {0}`, "forked 1-900"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			run(tt.sql)
			report, err := audit.Verify(t.Context(), s)
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, d := range report.Damage {
				got = append(got, fmt.Sprintf("%s %d-%d", d.Kind, d.Seq, d.Last))
			}
			if strings.Join(got, " ") != tt.want {
				t.Errorf("got  %v\nwant %v", got, tt.want)
			}
			run("DELETE FROM {audit};INSERT INTO {audit} SELECT * FROM whole;DELETE FROM {head};INSERT INTO {head} SELECT * FROM head")
		})
	}
}

// appendMany appends n records from 64 goroutines.
func appendMany(t *testing.T, s storetest.Store, n int) {
	t.Helper()
	var writing sync.WaitGroup
	for w := range 64 {
		writing.Go(func() {
			for i := w; i < n; i += 64 {
				r := audit.Record{Time: old, Principal: "token:w", Correlation: fmt.Sprint(i), Tool: "query", Class: "tracker.issues", Outcome: audit.OK, Rows: i}
				if err := s.Append(t.Context(), &r); err != nil {
					t.Error(err)
				}
			}
		})
	}
	writing.Wait()
}
