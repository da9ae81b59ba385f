package architecture

import (
	"go/ast"
	"go/token"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// TestPlacesOfADatabase is the dry run of docs/internals/adding-a-database.md on MariaDB: each file whose code names it,
// outside of its own folders, is named there, and no other is.
func TestPlacesOfADatabase(t *testing.T) {
	const page = "docs/internals/adding-a-database.md"
	names, literal := regexp.MustCompile(`(?i)mysql|mariadb`), regexp.MustCompile(`(?i)^"(mysql|mariadb)"$`)
	var found []string
	walk(t, func(dir, path string, file *ast.File, _ *token.FileSet) {
		// sqlbind reads functions that people know from MySQL, and secretnames finds the names of passwords.
		if dir == "source/mariadb" || dir == "internal/sqlbind" || dir == "internal/secretnames" {
			return
		}
		named := false
		ast.Inspect(file, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.Ident:
				named = named || names.MatchString(n.Name)
			case *ast.ImportSpec:
				named = named || names.MatchString(n.Path.Value)
			case *ast.BasicLit:
				named = named || literal.MatchString(n.Value)
			}
			return true
		})
		if named {
			found = append(found, path)
		}
	})
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	var said []string
	for _, m := range regexp.MustCompile("`([a-z/_]+\\.go)`").FindAllStringSubmatch(string(text), -1) {
		said = append(said, m[1])
	}
	for _, path := range found {
		if !slices.Contains(said, path) {
			t.Errorf("%s names MariaDB, and %s does not say so", path, page)
		}
	}
	for _, path := range said {
		if !slices.Contains(found, path) && !strings.HasPrefix(path, "source/mariadb/") && !strings.HasSuffix(path, "_test.go") {
			t.Errorf("%s names %s, which does not name MariaDB", page, path)
		}
	}
}
