package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const output = `goos: linux
cpu: A Machine
BenchmarkRead/sqlite/point/raw-2         	   23378	     27940 ns/op	    8849 B/op	     132 allocs/op
BenchmarkRead/sqlite/point/gateway-2     	    2442	    205363 ns/op	   42866 B/op	     405 allocs/op
--- BENCH: BenchmarkRead/sqlite
    read_test.go:1: database: SQLite 3.1
    read_test.go:1: database: SQLite 3.1
BenchmarkAudit/disk/callers1-2         	     679	    1555571 ns/op	       490.2 p50-µs	      2000 p99-µs	    5584 B/op	      81 allocs/op
BenchmarkMemory-2                 	       1	7880159657 ns/op	        49.41 after1000-MiB	        25.95 idle-MiB
BenchmarkRead/sqlite/point/raw-2         	   23378	     29940 ns/op	    8849 B/op	     132 allocs/op
BenchmarkRead/sqlite/point/raw-2         	   23378	     20940 ns/op	    8849 B/op	     132 allocs/op
PASS
`

const tables = `
### Read

| | time | times the baseline | memory | allocations | further |
|---|---:|---:|---:|---:|---|
| sqlite/point/raw | 27.9 µs | 1.00 | 8,849 B | 132 |  |
| sqlite/point/gateway | 205 µs | 7.35 | 42,866 B | 405 |  |

### Audit

| | time | times the baseline | memory | allocations | further |
|---|---:|---:|---:|---:|---|
| disk/callers1 | 1.56 ms |  | 5,584 B | 81 | p50 490 µs, p99 2000 µs |

### Memory

| | time | times the baseline | memory | allocations | further |
|---|---:|---:|---:|---:|---|
| all | 7.88 s |  |  |  | after1000 49.4 MiB, idle 25.9 MiB |
`

func TestTables(t *testing.T) {
	r, err := read(strings.NewReader(output))
	if err != nil {
		t.Fatal(err)
	}
	if got := r.tables(); got != tables {
		t.Errorf("got\n%s\nwant\n%s", got, tables)
	}
	m := machine(r, "make it")
	for _, want := range []string{" cores of A Machine, ", "\n- database: SQLite 3.1\n- command: `make it`, the median of 3 runs\n- date: "} {
		if !strings.Contains(m, want) {
			t.Errorf("no %q in %q", want, m)
		}
	}
}

// TestWrite checks that only the text between the two lines changes, and nothing after a failed run.
func TestWrite(t *testing.T) {
	file := filepath.Join(t.TempDir(), "doc.md")
	before := "one\n" + begin + "old\n" + end + "two\n"
	for _, c := range []struct{ doc, output, wrong string }{
		{before, output + "FAIL\n", "a benchmark failed. The file stays as it was"},
		{before, "PASS\n", "no benchmark has run. The file stays as it was"},
		{before, "BenchmarkX 1 fast ns/op\n", `"BenchmarkX 1 fast ns/op": strconv.ParseFloat: parsing "fast": invalid syntax`},
		{"no marks", output, file + ` has no lines "<!-- figures -->\n" and "<!-- /figures -->\n"`},
		{before, output, ""},
	} {
		if err := os.WriteFile(file, []byte(c.doc), 0o600); err != nil {
			t.Fatal(err)
		}
		wrong := ""
		if err := write(file, "x", strings.NewReader(c.output)); err != nil {
			wrong = err.Error()
		}
		if wrong != c.wrong {
			t.Errorf("error %q, want %q", wrong, c.wrong)
		}
		got, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if c.wrong != "" && string(got) != c.doc {
			t.Errorf("%s: the file has changed", c.wrong)
		}
		if c.wrong == "" && (!strings.HasPrefix(string(got), "one\n"+begin+"- machine: ") || !strings.HasSuffix(string(got), tables+"\n"+end+"two\n")) {
			t.Errorf("the file is now\n%s", got)
		}
	}
}
