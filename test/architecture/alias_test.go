package architecture

import (
	"go/ast"
	"go/token"
	"path"
	"regexp"
	"strings"
	"testing"
)

// TestAliases checks that the comment of a public alias of an internal struct names each of its exported fields. "go
// doc" shows only the alias, and an embedding program that fills the struct can't read the internal package.
func TestAliases(t *testing.T) {
	type alias struct{ at, target, doc string }
	var aliases []alias
	structs := map[string]*ast.StructType{} // by "folder.Name"
	walk(t, func(dir, file string, f *ast.File, _ *token.FileSet) {
		public := f.Name.Name != "main" && !strings.Contains("/"+dir+"/", "/internal/") && !strings.HasPrefix(dir, "test/") && !strings.HasPrefix(dir, "examples/")
		folders := map[string]string{} // by the name that the file uses
		for _, i := range f.Imports {
			if folder, ok := strings.CutPrefix(strings.Trim(i.Path.Value, `"`), module+"/"); ok {
				folders[path.Base(folder)] = folder
			}
		}
		for _, d := range f.Decls {
			g, ok := d.(*ast.GenDecl)
			if !ok {
				continue
			}
			for _, s := range g.Specs {
				s, ok := s.(*ast.TypeSpec)
				if !ok {
					continue
				}
				if x, ok := s.Type.(*ast.StructType); ok {
					structs[dir+"."+s.Name.Name] = x
				}
				of, ok := s.Type.(*ast.SelectorExpr)
				if !ok || !public || !s.Assign.IsValid() || !s.Name.IsExported() {
					continue
				}
				if pkg, ok := of.X.(*ast.Ident); ok && strings.Contains("/"+folders[pkg.Name]+"/", "/internal/") {
					aliases = append(aliases, alias{file + ": " + s.Name.Name, folders[pkg.Name] + "." + of.Sel.Name, g.Doc.Text() + s.Doc.Text()})
				}
			}
		}
	})
	for _, a := range aliases {
		x := structs[a.target]
		if x == nil {
			continue
		}
		for _, field := range x.Fields.List {
			for _, name := range field.Names {
				if name.IsExported() && !regexp.MustCompile(`\b`+name.Name+`\b`).MatchString(a.doc) {
					t.Errorf("%s: the comment doesn't name the field %s of %s", a.at, name.Name, a.target)
				}
			}
		}
	}
	if len(aliases) < 20 {
		t.Errorf("found %d aliases: is this test looking at the right place?", len(aliases))
	}
}
