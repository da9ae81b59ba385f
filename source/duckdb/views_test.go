package duckdb

import (
	"flag"
	"testing"

	"github.com/bailiwick-dev/bailiwick/schema"
	"github.com/bailiwick-dev/bailiwick/test/dialecttest"
)

var _ = flag.Bool("update", false, "write the golden files anew")

// TestViews writes the statements of queries over views with conditions on long values, and with fields that the
// rules declare.
func TestViews(t *testing.T) {
	dialecttest.Views(t, "testdata/views.txt", []dialecttest.Viewed{{Name: "duckdb", Dialect: dialect{}, Natives: map[schema.Type]string{schema.String: "VARCHAR",
		schema.Integer: "BIGINT", schema.Boolean: "BOOLEAN", schema.JSON: "JSON", schema.Bytes: "BLOB", schema.Date: "TIMESTAMP"}}})
}
