package guides

import (
	"os"
	"os/exec"
	"testing"
)

// TestDuckDB runs what "make duckdb" runs: the suite of the module source/duckdb, whose driver needs cgo and 60 MB.
func TestDuckDB(t *testing.T) {
	if os.Getenv("BAILIWICK_DUCKDB") == "" {
		t.Skip("LEFT OUT: DuckDB: a module of its own takes minutes to link; see make duckdb, or set BAILIWICK_DUCKDB=1")
	}
	cmd := exec.Command("scripts/duckdb")
	cmd.Dir = "../.."
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}
