package postgres_test

import (
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/bailiwick-dev/bailiwick/audit"
	"github.com/bailiwick-dev/bailiwick/store/postgres"
	"github.com/bailiwick-dev/bailiwick/testservices"
)

func appendTo(t testing.TB, s *postgres.Store, n int) {
	t.Helper()
	var wg sync.WaitGroup
	const writers = 64
	for w := range writers {
		wg.Go(func() {
			for i := w; i < n; i += writers {
				r := record(i)
				if err := s.Append(t.Context(), &r); err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	wg.Wait()
}

// TestTampering edits the database behind the store's back. Each case is undone before the next.
func TestTampering(t *testing.T) {
	url := testservices.Postgres(t)
	s := open(t, url)
	defer s.Close()
	appendTo(t, s, 900)
	for _, text := range []string{`DELETE FROM bailiwick.audit`, `UPDATE bailiwick.audit SET body = '' WHERE seq = 1`, `TRUNCATE bailiwick.audit`} {
		if _, err := connect(t, url).Exec(t.Context(), text); err == nil {
			t.Error(text, "went through")
		}
	}
	sql(t, url, `ALTER TABLE bailiwick.audit DISABLE TRIGGER USER`)
	sql(t, url, `CREATE TABLE whole AS TABLE bailiwick.audit`)
	sql(t, url, `CREATE TABLE head AS TABLE bailiwick.audit_head`)
	for _, tt := range []struct{ name, sql, want string }{
		{"nothing", `SELECT 1`, ""},
		{"a letter of the text", `UPDATE bailiwick.audit SET body = replace(body, 'query', 'qwery') WHERE seq = 5`, "altered 5-5"},
		{"no text", `UPDATE bailiwick.audit SET body = '' WHERE seq = 5`, "altered 5-5"},
		{"all texts", `UPDATE bailiwick.audit SET body = '{}'`, "altered 1-900"},
		{"the hash", `UPDATE bailiwick.audit SET hash = '\x00' WHERE seq = 5`, "altered 5-5"},
		{"the link", `UPDATE bailiwick.audit SET prev = hash WHERE seq = 5`, "altered 5-5"},
		{"one gone", `DELETE FROM bailiwick.audit WHERE seq = 5`, "missing 5-5"},
		{"a page gone", `DELETE FROM bailiwick.audit WHERE seq BETWEEN 200 AND 750`, "missing 200-750"},
		{"the tail gone", `DELETE FROM bailiwick.audit WHERE seq > 890`, "truncated 891-900"},
		{"all gone", `DELETE FROM bailiwick.audit`, "truncated 1-900"},
		{"one before the first", `INSERT INTO bailiwick.audit SELECT -7, prev, hash, body FROM bailiwick.audit WHERE seq = 5`, "inserted 1-1"},
		{"the head moved back", `UPDATE bailiwick.audit_head SET seq = 899`, "forked 1-899 inserted 900-900"},
		{"the head's hash", `UPDATE bailiwick.audit_head SET hash = '\x00'`, "forked 1-900"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			sql(t, url, tt.sql)
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
			for _, text := range []string{`DELETE FROM bailiwick.audit`, `INSERT INTO bailiwick.audit TABLE whole`,
				`DELETE FROM bailiwick.audit_head`, `INSERT INTO bailiwick.audit_head TABLE head`} {
				sql(t, url, text)
			}
		})
	}
}

func BenchmarkAppendParallel(b *testing.B) {
	s := open(b, testservices.Postgres(b))
	defer s.Close()
	b.SetParallelism(64)
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			r := record(1)
			if err := s.Append(b.Context(), &r); err != nil {
				b.Fatal(err)
			}
		}
	})
}

// BenchmarkVerify needs -benchtime=1x; it makes 1,000,000 records first.
func BenchmarkVerify(b *testing.B) {
	s := open(b, testservices.Postgres(b))
	defer s.Close()
	const n = 1_000_000
	appendTo(b, s, n)
	for b.Loop() {
		report, err := audit.Verify(b.Context(), s)
		if err != nil || !report.Whole() || report.Records != n {
			b.Fatal(report, err)
		}
	}
}
