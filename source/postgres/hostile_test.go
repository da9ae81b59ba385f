package postgres_test

import (
	"context"
	_ "embed"
	"net/url"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/bailiwick-dev/bailiwick/source/postgres"
	"github.com/bailiwick-dev/bailiwick/test/services"
	"github.com/bailiwick-dev/bailiwick/test/sourcetest/database"
	"github.com/bailiwick-dev/bailiwick/test/sourcetest/writing"
)

//go:embed testdata/hostile.sql
var hostile string

// hostileSettings are the role's settings in the databases of TestHostile, and the settings for other connections of
// the tests.
var hostileSettings = []struct{ name, hostile, sound string }{
	{"search_path", "hostile, pg_catalog, public", "public"},
	{"client_encoding", "LATIN1", "UTF8"},
	{"timezone", "Asia/Kathmandu", "UTC"},
	{"datestyle", "German, DMY", "ISO, MDY"},
	{"intervalstyle", "sql_standard", "iso_8601"},
	{"extra_float_digits", "-10", "1"},
	{"bytea_output", "escape", "hex"},
	{"standard_conforming_strings", "off", "on"},
	{"array_nulls", "off", "on"},
	{"transform_null_equals", "on", "off"},
	{"quote_all_identifiers", "on", "off"},
	{"gin_fuzzy_search_limit", "1", "0"},
	{"row_security", "off", "on"},
	{"xmloption", "document", "content"},
	{"default_text_search_config", "pg_catalog.german", "pg_catalog.simple"},
	{"lock_timeout", "1", "0"},
	{"statement_timeout", "3000", "0"},
	{"default_transaction_read_only", "on", "off"},
	{"default_transaction_isolation", "serializable", "read committed"},
	{"default_transaction_deferrable", "on", "off"},
	{"synchronous_commit", "off", "on"},
	{"idle_in_transaction_session_timeout", "1500", "0"},
}

// sound returns the URL of a session with the settings that tests need, in place of the role's settings.
func sound(at string) string {
	u, _ := url.Parse(at)
	q := u.Query()
	for _, s := range hostileSettings {
		q.Set(s.name, s.sound)
	}
	u.RawQuery = strings.ReplaceAll(q.Encode(), "+", "%20")
	return u.String()
}

// unsound returns the URL of a session with the settings of the role.
func unsound(at string) string {
	u, _ := url.Parse(at)
	u.RawQuery = "sslmode=disable"
	return u.String()
}

// hostileDatabase returns the suite for a role whose settings change the meaning of statements. The first schema of
// its search path shadows the functions, operators and types of PostgreSQL. Sources are opened at the URL that
// through returns.
func hostileDatabase(t *testing.T, through func(testing.TB, string) string) *database.Database {
	d := suite
	model := services.Postgres(t) // creating the schema takes a second, so it is copied
	suite.Outside(t, model, hostile).Close()
	var mu sync.Mutex
	paths := map[string]string{} // by the results of Fresh
	pathOf := func(at string) string {
		mu.Lock()
		defer mu.Unlock()
		return paths[at]
	}
	d.Fresh = func(t testing.TB) string {
		at := services.Copy(t, model)
		u, err := url.Parse(at)
		if err != nil {
			t.Fatal(err)
		}
		var statements []string
		for _, s := range hostileSettings {
			value := "'" + s.hostile + "'"
			if s.name == "search_path" {
				value = s.hostile
			}
			statements = append(statements, "ALTER ROLE CURRENT_USER IN DATABASE "+filepath.Base(u.Path)+" SET "+s.name+" = "+value)
		}
		outside := sound(at)
		suite.Outside(t, outside, statements...).Close()
		mu.Lock()
		defer mu.Unlock()
		paths[outside] = through(t, unsound(at))
		return outside
	}
	d.Open = func(ctx context.Context, name, at string) (database.Source, error) {
		return postgres.Open(ctx, name, pathOf(at))
	}
	d.Writable = func(ctx context.Context, at string) (writing.Writable, error) {
		s, err := postgres.Open(ctx, "app", pathOf(at))
		if err != nil {
			return nil, err
		}
		return s.Writable(ctx, "")
	}
	return &d
}

// TestHostile runs the suites under hostile settings, directly and through a pooler. They run in parallel, since each
// mostly waits for the server.
func TestHostile(t *testing.T) {
	for name, through := range map[string]func(testing.TB, string) string{"direct": func(_ testing.TB, at string) string { return at }, "pooled": services.PooledURL} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := hostileDatabase(t, through)
			d.Every = 5 // TestWriting runs all of them, and settings don't change the order of fences
			for suite, run := range map[string]func(*testing.T){"Queries": d.TestQueries, "Masks": d.TestMasks, "Pipelines": d.TestPipelines,
				"Statements": d.TestStatements, "Keywords": d.TestKeywords, "Ending": d.TestEnding, "Large": d.TestLarge, "Writing": d.TestWriting} {
				t.Run(suite, func(t *testing.T) {
					t.Parallel()
					run(t)
				})
			}
		})
	}
}

// TestPooled runs the randomized tests through a pooler.
func TestPooled(t *testing.T) {
	d := hostileDatabase(t, services.PooledURL)
	t.Run("Differential", d.TestDifferential)
	t.Run("PipelinesDifferential", d.TestPipelinesDifferential)
}
