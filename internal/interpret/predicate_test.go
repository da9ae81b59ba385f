package interpret

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/bailiwick-dev/bailiwick/query"
	"github.com/bailiwick-dev/bailiwick/schema"
	"github.com/bailiwick-dev/bailiwick/value"
)

// TestDocumentation tests the examples of docs/query-language.md. An example is a where object, the documents that
// match it and, after "not", documents that don't match.
func TestDocumentation(t *testing.T) {
	page, err := os.ReadFile("../../docs/query-language.md")
	if err != nil {
		t.Fatal(err)
	}
	_, table, found := strings.Cut(string(page), "| where | finds |")
	if table, _, _ = strings.Cut(table, "\n\n"); !found {
		t.Fatal("the page has no table of examples")
	}
	example := regexp.MustCompile("`([{][^`]*)`")
	tried := 0
	for line := range strings.Lines(table) {
		where, finds, ok := strings.Cut(strings.TrimPrefix(line, "| "), " | ")
		if !ok || !strings.HasPrefix(where, "`{") {
			continue
		}
		finds, not, _ := strings.Cut(finds, ", not ")
		holds := documented(t, strings.Trim(where, "`"))
		for _, list := range []struct {
			text string
			want bool
		}{{finds, true}, {not, false}} {
			for _, m := range example.FindAllStringSubmatch(list.text, -1) {
				if tried++; holds(m[1]) != list.want {
					t.Errorf("%s for %s: %v", where, m[1], !list.want)
				}
			}
		}
	}
	if tried < 15 {
		t.Errorf("only %d examples were found", tried)
	}
}

// documented returns a function that evaluates a where object for a document, in which its paths start.
func documented(t *testing.T, where string) func(document string) bool {
	t.Helper()
	read := func(text string) value.Value {
		v, err := value.Read([]byte(text), 0)
		if err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		return v
	}
	class := &schema.Class{Fields: []schema.Field{{Name: "doc", Type: schema.JSON}}}
	member := read(where).Members()[0]
	filter, err := query.ParseWhere(value.OfObject([]value.Member{{Name: "doc." + member.Name, Value: member.Value}}), "")
	if err != nil {
		t.Fatalf("%s: %v", where, err)
	}
	test, err := new(reading).predicate(filter)
	if err != nil {
		t.Fatalf("%s: %v", where, err)
	}
	return func(text string) bool { return test(record{class, value.Row{read(text)}}) }
}
