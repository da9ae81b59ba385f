package sqlite

import (
	"database/sql"
	"path/filepath"
	"testing"

	"github.com/bailiwick-dev/bailiwick/problem"
)

// TestMemory sorts texts that need more memory than a statement may use. The statement must fail because of its size,
// and the connection must answer the next one.
func TestMemory(t *testing.T) {
	path := filepath.Join(t.TempDir(), "app.db")
	db, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if _, err := db.Exec(`CREATE TABLE books (id INTEGER PRIMARY KEY, body TEXT);
		INSERT INTO books WITH RECURSIVE s (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM s WHERE i < 10) SELECT i, hex(zeroblob(3000000)) || i FROM s`); err != nil {
		t.Fatal(err)
	}
	s, err := Open(t.Context(), "app", path)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	s.db.SetMaxOpenConns(1)
	count := func(statement string) (n int, err error) {
		rows, err := s.db.QueryContext(t.Context(), statement)
		if err != nil {
			return 0, err
		}
		defer rows.Close()
		for rows.Next() {
			n++
		}
		return n, rows.Err()
	}
	for range 3 {
		n, err := count("SELECT count(*) FROM books GROUP BY body")
		if p := problem.Of(refuse(t.Context(), err)); err == nil || p.Code != problem.BudgetExceeded || p.Suggestion == "" {
			t.Fatalf("%d groups of texts of 6 MB: %v", n, err)
		}
		if n, err := count("SELECT count(*) FROM (SELECT substr(body, 6000001) AS n FROM books LIMIT -1 OFFSET 0) GROUP BY n"); n != 10 {
			t.Fatalf("%d groups, %v", n, err)
		}
	}
}
