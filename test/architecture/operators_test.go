package architecture

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/bailiwick-dev/bailiwick/internal/plan"
	"github.com/bailiwick-dev/bailiwick/query"
	"github.com/bailiwick-dev/bailiwick/schema"
)

// TestPlacesOfAnOperator is the dry run of "Adding an operator" in docs/internals/extending.md. Go doesn't say which
// type switches lack a new kind of query.Filter, and an operator that no random query has is not proven.
func TestPlacesOfAnOperator(t *testing.T) {
	t.Chdir("../..")
	const page = "docs/internals/extending.md"
	about := read(t, page)
	kinds := slices.DeleteFunc(find(`func \((\w+)\) isFilter\(\)`, read(t, "query/filter.go")), func(kind string) bool { return kind == "Deferred" }) // rules fill them in before a filter is bound
	if len(kinds) < 10 {
		t.Fatalf("query/filter.go has the kinds %v", kinds)
	}
	// A switch with a default that is right for every kind, such as that of policy, isn't here.
	// The methods of query.Condition are required by the compiler.
	for path, without := range map[string][]string{
		"internal/typecheck/filter.go": {"Never"}, "internal/sqlgen/filter.go": nil, "internal/interpret/predicate.go": nil, // only typecheck makes Never
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
	elsewhere := []string{"$inQuery", "$notInQuery", "$select", "$dontSelect"} // need a second class: test/sourcetest has tables of them
	for path, without := range map[string][]string{"docs/query-language.md": nil, "test/endtoend/asker_test.go": nil, "test/sourcetest/generator.go": elsewhere} {
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

// TestPlacesOfAnExpression is the dry run of "Adding an operator" in docs/internals/extending.md. A dialect without a
// form of an operator fails only where somebody asks for it, and an operator that isn't drawn is compared on no database.
func TestPlacesOfAnExpression(t *testing.T) {
	t.Chdir("../..")
	const page, nodes, drawn = "docs/internals/extending.md", "internal/plan/op.go", "test/sourcetest/pipelines/generate_expressions.go"
	kinds := find(`(?m)^\t([A-Z]\w*)`, regexp.MustCompile(`(?s)\tAdd Op = iota.*?\n\)`).FindString(read(t, nodes)))
	if len(kinds) < 60 || len(query.Signatures) < 80 {
		t.Fatalf("%s has the operators %v, and query.Families has %v", nodes, kinds, query.Signatures)
	}
	shared := source(t, "internal/sqlgen") // those that all databases write alike
	here := []string{"Common", "Without", "Pairs", "Gather", "Reverse", "Capitalize", "ReplaceMatches", "FindMatch", "FindMatches"}
	places := []string{"query/families.go", nodes, "internal/interpret", "internal/sqlgen/logic.go"}
	for path, without := range map[string][]string{"internal/interpret": nil, "source/sqlite": nil, "source/postgres": nil, "source/mariadb": nil, "source/duckdb": here} {
		text := source(t, path) + shared
		if path == "internal/interpret" {
			text = source(t, path)
		}
		for _, kind := range kinds {
			if !regexp.MustCompile(`\bplan\.`+kind+`\b`).MatchString(text) && !slices.Contains(without, kind) {
				t.Errorf("%s does not know plan.%s", path, kind)
			}
		}
		places = append(places, path)
	}
	for _, kind := range kinds {
		if !regexp.MustCompile(`\b` + kind + `: "`).MatchString(read(t, nodes)) {
			t.Errorf("%s has no name of %s", nodes, kind)
		}
	}
	generators := read(t, drawn) + read(t, "test/sourcetest/pipelines/generate_stages.go")
	later := find(`(?m)^expression +(\$\w+)`, read(t, "internal/hint/later.txt"))
	for _, s := range query.Signatures {
		if _, ok := plan.OpOf(s.Node); s.Node != "" && !ok {
			t.Errorf("query.Families says that %q computes %s, and package plan has no such operator", s.Node, s.Op)
		}
		byTypes := s.Node != "" && !slices.Contains(s.Takes, schema.Double)
		if !byTypes && !regexp.MustCompile(regexp.QuoteMeta(s.Op)+`\b`).MatchString(generators) {
			t.Errorf("%s does not draw %s", drawn, s.Op)
		}
		if slices.Contains(later, s.Op) {
			t.Errorf("internal/hint/later.txt says what to do without %s, which is there", s.Op)
		}
	}
	for _, path := range append(places, "internal/hint/later.txt", drawn) {
		if !strings.Contains(read(t, page), "`"+path+"`") {
			t.Errorf("%s does not name %s", page, path)
		}
	}
}

// source returns the files of a package and of those that are its own, without their tests.
func source(t *testing.T, folder string) string {
	t.Helper()
	var files []string
	for _, pattern := range []string{"/*.go", "/internal/*/*.go"} {
		some, err := filepath.Glob(folder + pattern)
		if err != nil {
			t.Fatal(folder, err)
		}
		files = append(files, some...)
	}
	if len(files) == 0 {
		t.Fatalf("%s has no files", folder)
	}
	var all strings.Builder
	for _, file := range files {
		if !strings.HasSuffix(file, "_test.go") {
			all.WriteString(read(t, file))
		}
	}
	return all.String()
}

// operators returns the operators that query.ParseWhere knows.
func operators(t *testing.T) []string {
	t.Helper()
	found := find(`"(\$\w+)"`, regexp.MustCompile(`(?s)logicalOps = .*?\n`).FindString(read(t, "query/where.go"))+regexp.MustCompile(`(?s)fieldOps = .*?\n\n`).FindString(read(t, "query/filter.go")))
	if len(found) < 20 {
		t.Fatalf("query/where.go and query/filter.go have the operators %v", found)
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
