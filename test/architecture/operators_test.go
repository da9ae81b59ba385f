package architecture

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// TestPlacesOfAnOperator is the dry run of "An operator of a where" in docs/internals/extending.md. Go doesn't say which
// type switches lack a new kind of query.Filter, and an operator that nobody asks for at random is proven by nobody.
func TestPlacesOfAnOperator(t *testing.T) {
	t.Chdir("../..")
	const page = "docs/internals/extending.md"
	about := read(t, page)
	kinds := slices.DeleteFunc(find(`func \((\w+)\) isFilter\(\)`, read(t, "query/query.go")), func(kind string) bool { return kind == "Deferred" }) // rules fill them in before a filter is bound
	if len(kinds) < 10 {
		t.Fatalf("query/query.go has the kinds %v", kinds)
	}
	// A switch with a default that is right for every kind, such as that of internal/rules/scan, isn't here.
	made := []string{"Never"} // only typecheck makes it
	combined := []string{"And", "Or", "Not", "Never"}
	for path, without := range map[string][]string{
		"internal/typecheck/filter.go": made, "internal/typecheck/led.go": combined, "query/print.go": made, "query/conditions.go": nil,
		"internal/sqlgen/filter.go": nil, "internal/interpret/predicate.go": nil,
	} {
		cases := casesOf(t, path)
		for _, kind := range kinds {
			if !slices.Contains(cases, kind) && !slices.Contains(without, kind) {
				t.Errorf("%s has no case of %s", path, kind)
			}
		}
		if !strings.Contains(about, "`"+path+"`") {
			t.Errorf("%s does not name %s", page, path)
		}
	}
	elsewhere := []string{"$inQuery", "$notInQuery", "$select", "$dontSelect"} // need a second class: internal/sourcetest has tables of them
	for path, without := range map[string][]string{"docs/query-language.md": nil, "test/endtoend/asker_test.go": nil, "internal/sourcetest/generator.go": elsewhere} {
		text := read(t, path)
		for _, op := range operators(t) {
			if !regexp.MustCompile(regexp.QuoteMeta(op)+`\b`).MatchString(text) && !slices.Contains(without, op) {
				t.Errorf("%s does not name %s", path, op)
			}
		}
		if !strings.Contains(about, "`"+path+"`") {
			t.Errorf("%s does not name %s", page, path)
		}
	}
}

// operators returns the operators that query.ParseWhere knows.
func operators(t *testing.T) []string {
	t.Helper()
	found := find(`"(\$\w+)"`, regexp.MustCompile(`(?s)logicalOps = .*?\n\)`).FindString(read(t, "query/where.go")))
	if len(found) < 20 {
		t.Fatalf("query/where.go has the operators %v", found)
	}
	return found
}

// casesOf returns the names in all cases of a file, without their packages.
func casesOf(t *testing.T, path string) (cases []string) {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	ast.Inspect(file, func(n ast.Node) bool {
		if clause, ok := n.(*ast.CaseClause); ok {
			for _, e := range clause.List {
				switch e := e.(type) {
				case *ast.Ident:
					cases = append(cases, e.Name)
				case *ast.SelectorExpr:
					cases = append(cases, e.Sel.Name)
				}
			}
		}
		return true
	})
	return cases
}

// find returns what the first group of an expression matches in a text.
func find(expression, text string) (found []string) {
	for _, m := range regexp.MustCompile(expression).FindAllStringSubmatch(text, -1) {
		found = append(found, m[1])
	}
	return found
}

func read(t *testing.T, path string) string {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}
