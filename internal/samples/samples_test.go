package samples_test

import (
	"database/sql"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/bailiwick-dev/bailiwick/internal/samples"
	"github.com/bailiwick-dev/bailiwick/schema"
	"github.com/bailiwick-dev/bailiwick/source/sqlite"
	"github.com/bailiwick-dev/bailiwick/value"
)

// TestLook checks that a credential is found at either end of a table, in a mostly null column, and in a long value.
func TestLook(t *testing.T) {
	path := filepath.Join(t.TempDir(), "app.db")
	db, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	exec := func(text string, args ...any) {
		t.Helper()
		if _, err := db.Exec(text, args...); err != nil {
			t.Fatal(err)
		}
	}
	exec("CREATE TABLE notes (id INTEGER PRIMARY KEY, old TEXT, new TEXT, rare TEXT, long TEXT, tame TEXT, kind VARCHAR(4))")
	exec("WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 5000) INSERT INTO notes SELECT i, 'word', 'word', NULL, NULL, 'word ' || i, 'word' FROM n")
	exec("UPDATE notes SET old = 'postgres://app:hunter2@db/app' WHERE id < 10")
	exec("UPDATE notes SET new = 'ghp_0123456789abcdef0123' WHERE id > 4990")
	exec("UPDATE notes SET rare = 'sk_live_51HxQz9vTnWq' WHERE id = 2500")
	exec("UPDATE notes SET long = ? WHERE id = 2600", "API_KEY=x9K2mQ7pL4vT8nR3\n"+strings.Repeat("a line\n", 20000))
	s, err := sqlite.Open(t.Context(), "app", path)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	classes, _, err := s.Describe(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	sampler, err := samples.New(s, classes, samples.Usual())
	if err != nil {
		t.Fatal(err)
	}
	seen, err := sampler.Look(t.Context(), &classes[0], []string{"old", "new", "rare", "long", "tame"})
	if err != nil {
		t.Fatal(err)
	}
	var hidden []string
	for _, name := range []string{"old", "new", "rare", "long", "tame"} {
		if seen[name].Why(&classes[0], classes[0].Field(name)) != "" {
			hidden = append(hidden, name)
		}
	}
	if got := fmt.Sprint(hidden); got != "[old new rare long]" {
		t.Errorf("%s: %+v", got, seen)
	}
	if samples.Can(classes[0].Field("kind")) || samples.Can(classes[0].Field("id")) {
		t.Error("a field that can't hold a credential is looked at")
	}
}

// TestLookTime checks that a scan reports that it could not finish in time.
func TestLookTime(t *testing.T) {
	path := filepath.Join(t.TempDir(), "app.db")
	db, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if _, err := db.Exec("CREATE TABLE notes (id INTEGER PRIMARY KEY, a TEXT); INSERT INTO notes VALUES (1, 'x')"); err != nil {
		t.Fatal(err)
	}
	s, err := sqlite.Open(t.Context(), "app", path)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	classes, _, err := s.Describe(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	sampler, err := samples.New(s, classes, samples.Bounds{Rows: 1, Time: time.Nanosecond})
	if err != nil {
		t.Fatal(err)
	}
	if seen, err := sampler.Look(t.Context(), &classes[0], []string{"a"}); err == nil {
		t.Errorf("%+v", seen)
	}
}

// TestSecret checks how many suspicious values are required to hide a column.
func TestSecret(t *testing.T) {
	ordinary := []string{"red", "green", "blue", "a cup", "a bowl", "two", "three", "four", "five", "six", "seven"}
	prose := []string{}
	for i := range 20 {
		prose = append(prose, fmt.Sprintf("a text of people about the order number %d", i))
	}
	for _, tt := range []struct {
		name   string
		among  []string
		values []string
		hidden bool
	}{
		{"one of a known form", ordinary, []string{"ghp_0123456789abcdef0123"}, true},
		{"one stored password", ordinary, []string{"$2b$12$KIXQ4b0eC1Jq8Qh3nV5o3uO9u5Hq0m1s3b8i7o6y5t4r3e2w1q0pa"}, true},
		{"one private key", ordinary, []string{"-----BEGIN PRIVATE KEY-----\nMIIE\n-----END PRIVATE KEY-----"}, true},
		{"one JWT", ordinary, []string{"eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2lnbmF0dXJl"}, true},
		{"one URL with a password", ordinary, []string{"postgres://app:hunter2@db:5432/app"}, true},
		{"one document with a secret", ordinary, []string{`{"client_secret": "x9K2mQ7pL4vT8nR3wY6z"}`}, true},
		{"one that may be anything", ordinary, []string{"sent with token=9f2c41d7e8 today"}, false},
		{"one that looks signed", ordinary, []string{"/files/1?sig=abcDEF123456abcDEF123456"}, false},
		{"the same one again", ordinary, []string{"sent with token=9f2c41d7e8 today", "sent with token=9f2c41d7e8 today"}, false},
		{"two that may be anything", ordinary, []string{"sent with token=9f2c41d7e8 today", "sent with token=77aa41d7e8 now"}, true},
		{"one of few", ordinary[:3], []string{"sent with token=9f2c41d7e8 today"}, true},
		{"one among texts of people", prose, []string{"please use the key ghp_0123456789abcdef0123 from now on"}, false},
	} {
		var tally samples.Tally
		for _, v := range slices.Concat(tt.among, tt.values) {
			tally.Add(value.OfString(v))
		}
		if why := tally.Counts().Secret(&schema.Field{Name: "x", Type: schema.String}); (why != "") != tt.hidden {
			t.Errorf("%s: %q", tt.name, why)
		}
	}
}
