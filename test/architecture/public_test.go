package architecture

import (
	"go/ast"
	"go/token"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestPublic limits the packages that other modules can import, and the names that a reader of the root folder meets
// first.
func TestPublic(t *testing.T) {
	const maxPackages, maxNames, maxFolders, maxFiles = 34, 925, 28, 18
	names := map[string]int{}
	walk(t, func(dir, _ string, file *ast.File, _ *token.FileSet) {
		if file.Name.Name == "main" || dir == "source/duckdb" /* a module of its own */ || strings.Contains("/"+dir+"/", "/internal/") || strings.HasPrefix(dir, "test/") {
			return
		}
		names[dir] += exported(file)
	})
	sum := 0
	for _, n := range names {
		sum += n
	}
	if len(names) > maxPackages || sum > maxNames {
		t.Errorf("%d public packages with %d exported names, want at most %d and %d: %v", len(names), sum, maxPackages, maxNames, slices.Sorted(maps.Keys(names)))
	}
	if len(names) < maxPackages {
		t.Errorf("%d public packages: lower the limit to it", len(names))
	}
	entries, err := os.ReadDir(".") // walk has gone to the root
	if err != nil {
		t.Fatal(err)
	}
	var folders, files []string
	for _, e := range entries {
		switch name := e.Name(); {
		case strings.HasPrefix(name, ".") || name == "bin" || name == "dist": // bin and dist are built
		case e.IsDir():
			folders = append(folders, name)
		case filepath.Ext(name) == ".go" && !strings.HasSuffix(name, "_test.go"):
			files = append(files, name)
		}
	}
	if len(folders) > maxFolders || len(files) > maxFiles {
		t.Errorf("the root has %d folders, want at most %d, and %d Go files besides tests, want at most %d: %v %v", len(folders), maxFolders, len(files), maxFiles, folders, files)
	}
}

// exported counts the functions, types, constants and variables of a file that other packages can name. Methods belong
// to their types.
func exported(file *ast.File) (n int) {
	for _, d := range file.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			if d.Recv == nil && d.Name.IsExported() {
				n++
			}
		case *ast.GenDecl:
			for _, s := range d.Specs {
				switch s := s.(type) {
				case *ast.TypeSpec:
					if s.Name.IsExported() {
						n++
					}
				case *ast.ValueSpec:
					for _, name := range s.Names {
						if name.IsExported() {
							n++
						}
					}
				}
			}
		}
	}
	return n
}
