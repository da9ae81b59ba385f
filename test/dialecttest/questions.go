package dialecttest

import (
	"flag"
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/bailiwick-dev/bailiwick/identity"
	"github.com/bailiwick-dev/bailiwick/query"
	"github.com/bailiwick-dev/bailiwick/value"
)

// Reader returns the principal that asks.
func Reader() identity.Principal {
	return identity.Principal{ID: "test", Tenant: "acme", Scopes: []identity.Scope{identity.Read}}
}

// Where returns the filter of a text in JSON, or nil.
func Where(t *testing.T, text string) query.Filter {
	t.Helper()
	if text == "" {
		return nil
	}
	v, err := value.Read([]byte(text), 0)
	if err != nil {
		t.Fatal(err)
	}
	f, err := query.ParseWhere(v, "/where")
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// Pipeline returns the stages of a text in JSON.
func Pipeline(t *testing.T, stages string) []query.Stage {
	t.Helper()
	v, err := value.Read([]byte(stages), 0)
	if err != nil {
		t.Fatal(err)
	}
	list, err := query.ParsePipeline(v, "/pipeline")
	if err != nil {
		t.Fatal(err)
	}
	return list
}

// Arguments writes arguments so that their types show: 1 and 1.0, 'text', x'bytes'.
func Arguments(args []any) string {
	out := make([]string, len(args))
	for i, a := range args {
		switch a := a.(type) {
		case float64:
			if out[i] = strconv.FormatFloat(a, 'g', -1, 64); !strings.ContainsAny(out[i], ".e") {
				out[i] += ".0"
			}
		case string:
			out[i] = "'" + a + "'"
		case []byte:
			out[i] = fmt.Sprintf("x'%x'", a)
		default:
			out[i] = fmt.Sprint(a)
		}
	}
	return strings.Join(out, " ")
}

// CompareGolden compares the statements that databases get for each question of a file. A question is a line that begins with
// >. The expected statements stand below it.
func CompareGolden(t *testing.T, file string, databases []string, statement func(database int, question string) string) {
	t.Helper()
	golden, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	for line := range strings.Lines(string(golden)) {
		question, asks := strings.CutPrefix(strings.TrimSpace(line), "> ")
		if strings.HasPrefix(line, "#") {
			b.WriteString(line)
		}
		if !asks {
			continue
		}
		b.WriteString("\n> " + question + "\n")
		for i, d := range databases {
			fmt.Fprintf(&b, "%-11s %s\n", d, statement(i, question))
		}
	}
	if f := flag.Lookup("update"); f != nil && f.Value.String() == "true" {
		if err := os.WriteFile(file, []byte(b.String()), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if diff := cmp.Diff(string(golden), b.String()); diff != "" {
		t.Errorf("run with -update when this is right (-want +got):\n%s", diff)
	}
}
