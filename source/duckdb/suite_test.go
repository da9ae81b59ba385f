package duckdb_test

import (
	"context"
	"path/filepath"
	"testing"

	"github.com/bailiwick-dev/bailiwick/schema"
	"github.com/bailiwick-dev/bailiwick/source/duckdb"
	"github.com/bailiwick-dev/bailiwick/test/sourcetest"
	"github.com/bailiwick-dev/bailiwick/test/sourcetest/database"
	"github.com/bailiwick-dev/bailiwick/test/sourcetest/measures"
	"github.com/bailiwick-dev/bailiwick/test/sourcetest/pipelines"
	"github.com/bailiwick-dev/bailiwick/test/sourcetest/questions"
)

var suite = database.Database{
	Kind:    sourcetest.DuckDB,
	Dialect: duckdb.Dialect(),
	Tables: sourcetest.Limits{
		sourcetest.Untyped:     "its columns have types",
		sourcetest.Conversions: "stored values are read in their own types",
	},
	Fresh:  func(t testing.TB) string { return filepath.Join(t.TempDir(), "app.duckdb") },
	Driver: func(at string) (string, string) { return "duckdb", at },
	Open: func(ctx context.Context, name, at string) (database.Source, error) {
		return duckdb.Open(ctx, duckdb.Options{Name: name, Path: at})
	},
	Related: func(s database.Source, data sourcetest.Dataset) database.Source { return related{s, data} },
}

// related is a source whose classes have the relations of a dataset. The dataset's records violate some of these
// relations, and DuckDB has no foreign keys for that.
type related struct {
	database.Source
	data sourcetest.Dataset
}

func (r related) Describe(ctx context.Context) ([]schema.Class, []string, error) {
	classes, warnings, err := r.Source.Describe(ctx)
	for i := range classes {
		for _, t := range r.data.Tables {
			if t.Name == classes[i].Name {
				classes[i].Relations = t.Foreign
			}
		}
	}
	return classes, warnings, err
}

func TestQueries(t *testing.T)                { suite.TestQueries(t) }
func TestPoints(t *testing.T)                 { suite.TestPoints(t, "JSON") }
func TestLarge(t *testing.T)                  { suite.TestLarge(t) }
func TestEnding(t *testing.T)                 { suite.TestEnding(t) }
func TestMasks(t *testing.T)                  { suite.TestMasks(t) }
func TestDifferential(t *testing.T)           { suite.TestDifferential(t) }
func TestStatements(t *testing.T)             { suite.TestStatements(t) }
func TestStatementsDifferential(t *testing.T) { suite.TestStatementsDifferential(t, nil) }
func TestPipelines(t *testing.T)              { suite.TestPipelines(t) }
func TestPipelinesDifferential(t *testing.T) {
	rounded := suite
	rounded.Pipelines = pipelines.Limits{pipelines.Spread: "sums of doubles of more than 38 digits are rounded"}
	rounded.TestPipelinesDifferential(t)
}

func TestGoldenPipelines(t *testing.T) { suite.TestGoldenPipelines(t) }

// TestMeasures asks the questions about metrics.
func TestMeasures(t *testing.T) { measures.Run(t, suite.Load(t, questions.Shop(t))) }

// TestNative runs statements of an owner. A DuckDB file is opened read-only.
func TestNative(t *testing.T) {
	suite.TestNative(t, [2]string{"col0", "col1"}, "SELECT nextval('none') AS n")
}
