package bailiwick

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

const module = "github.com/bailiwick-dev/bailiwick"

// mayImport is the architecture: each package and all it may import of ours. A package that is missing here, or an
// import that is missing from its line, fails the build. docs/architecture.md says the same in words.
var mayImport = map[string]string{
	// words: no I/O; they import nothing but words
	"problem": "",
	"value":   "problem",
	"schema":  "value",
	"mask":    "problem value",
	"query":   "problem query/pattern query/search value",

	"query/pattern": "problem",
	"schema/check":  "problem schema value",
	"query/search":  "problem",

	"algebra": "mask query schema value",
	"span":    "problem",

	// the way
	"identity":              "problem query value",
	"identity/oidc":         "identity problem query value",
	"bind":                  "algebra bind/typed mask problem query schema value",
	"bind/typed":            "algebra problem query schema value",
	"policy":                "algebra bind change identity mask policy/denylist policy/expression policy/named policy/operations problem query query/search schema value write",
	"policy/denylist":       "",
	"policy/named":          "query",
	"policy/operations":     "identity policy/denylist policy/expression problem source/openapi/access source/openapi/document source/openapi/index source/openapi/request source/openapi/validate source/openapi/view value write",
	"policy/expression":     "identity problem query value",
	"compile":               "algebra compile/expr compile/expr/mysql compile/expr/postgres compile/expr/sqlite compile/regex compile/stage policy problem query schema value",
	"compile/writes":        "compile policy policy/writes problem schema value write",
	"compile/expr":          "algebra problem query schema value",
	"compile/expr/mysql":    "algebra compile/expr compile/regex problem query schema value",
	"compile/expr/postgres": "algebra compile/expr compile/regex problem query schema value",
	"compile/expr/sqlite":   "algebra compile/expr problem query schema value",
	"compile/stage":         "algebra compile/expr problem query schema",
	"compile/regex":         "problem query",
	"write":                 "problem value",
	"change":                "identity policy/expression problem value write",
	"review":                "change problem schema value write",
	"review/sight":          "identity mask policy review schema value",
	"policy/against":        "policy problem schema schema/check value write",
	"policy/writes":         "change identity policy policy/operations problem query schema schema/check value write",
	"source":                "change policy policy/operations policy/writes schema source/openapi/send value",
	"redact":                "mask policy problem value",
	"shape":                 "policy problem redact value",
	"audit":                 "problem value",
	"limit":                 "problem",
	".":                     "audit change exposure identity limit mask policy policy/against policy/operations policy/writes problem query redact review review/sight schema shape source source/functions source/openapi/answer source/openapi/validate span value write",

	// doors to data
	"source/functions":            "change policy/writes problem source value write",
	"source/sqldb":                "compile compile/expr compile/writes policy problem query schema source source/sqldb/catalogue source/sqldb/sqlitefunc source/sqldb/writing span value write",
	"source/sqldb/writing":        "change compile compile/writes policy policy/writes problem schema span value write",
	"source/sqldb/catalogue":      "schema source/sqldb/fulltext value",
	"source/sqldb/fulltext":       "schema",
	"source/sqldb/sqlitefunc":     "compile compile/expr value",
	"source/openapi/document":     "problem",
	"source/openapi":              "change policy policy/operations policy/writes problem query schema source source/openapi/access source/openapi/answer source/openapi/document source/openapi/send value write",
	"source/openapi/access":       "problem source/openapi/document",
	"source/openapi/suspect":      "policy/denylist source/openapi/access source/openapi/document",
	"source/openapi/view":         "problem source/openapi/access source/openapi/document",
	"source/openapi/index":        "problem source/openapi/document source/openapi/view",
	"source/openapi/answer":       "policy/denylist problem source/openapi/document source/openapi/send source/openapi/validate source/openapi/view value",
	"source/openapi/large":        "",
	"source/openapi/request":      "problem source/openapi/document source/openapi/validate source/openapi/view value",
	"source/openapi/credential":   "identity notify/public problem value",
	"source/openapi/send":         "identity notify/public problem source/openapi/credential source/openapi/request source/openapi/view span",
	"source/openapi/validate":     "problem source/openapi/document source/openapi/view value",
	"source/openapi/render":       "source/openapi/access source/openapi/document source/openapi/index source/openapi/view",
	"source/memory":               "algebra policy problem query query/search schema source value",
	"source/metadata":             "policy policy/denylist problem schema source source/metadata/confined source/metadata/salesforce",
	"source/metadata/confined":    "",
	"source/metadata/salesforce":  "problem schema value",
	"source/sourcetest":           "compile identity policy problem query schema source value",
	"source/sourcetest/masks":     "identity mask policy query redact schema shape source source/sourcetest value",
	"source/sourcetest/writing":   "change compile identity policy policy/writes problem query schema source value write",
	"source/sourcetest/pipelines": "algebra identity policy problem query schema source source/sourcetest value",

	// doors to people and agents
	"tool":            ". identity policy problem query query/search schema shape tool/input value",
	"tool/input":      "problem query value",
	"tool/api":        ". identity policy policy/operations problem source/openapi/answer source/openapi/index source/openapi/render source/openapi/validate tool tool/changes value write",
	"tool/changes":    ". action change identity policy policy/operations problem query review schema tool value write",
	"action":          "identity policy policy/against policy/expression policy/expression/template problem schema tool/input value write",
	"tool/packs":      ". change identity pack policy policy/operations problem source/openapi/document tool tool/changes value write",
	"tool/describe":   ". policy problem schema source tool value",
	"prompt":          ". change identity policy problem query schema tool value",
	"server":          "identity problem prompt server/gate server/metadata server/observe server/state server/wire tool value",
	"server/wire":     "problem value",
	"api":             ". change identity notify problem review server/gate server/wire value",
	"server/gate":     "",
	"server/metadata": "identity",
	"server/state":    "",
	"server/observe":  "server/wire value",
	"console":         ". audit change console/chart console/inert console/ledger console/session exposure identity notify problem review server/gate write",
	"console/chart":   "",
	"console/inert":   "",
	"console/ledger":  "audit",
	"console/session": "",
	"conformance":     "identity problem server tool value",
	"config":          "action change config/apis config/checked config/strict identity identity/oidc notify pack policy policy/against policy/expression policy/operations problem query schema source/openapi/access source/openapi/document value write",
	"config/checked":  "config/strict policy/against",
	"config/apis":     "config/strict notify/public pack policy/expression policy/operations problem source/openapi/access source/openapi/document write",
	"config/strict":   "problem query value",
	"client":          "problem",

	// below what owners declare
	"policy/expression/template": "identity policy/expression problem value",
	"pack":                       "config/checked config/strict identity policy policy/against policy/expression policy/expression/template problem source/openapi/access source/openapi/document source/openapi/validate source/openapi/view tool/input value",

	// beside change
	"notify":        "change notify/public write",
	"notify/public": "",

	// for operators
	"exposure":          "identity policy policy/expression policy/operations problem query schema source/openapi/access value",
	"expect":            "config/strict exposure identity problem query value",
	"exposure/findings": "exposure identity policy policy/operations problem schema source/openapi/access source/openapi/document source/openapi/suspect value write",

	"trial": "audit exposure identity policy/expression problem",
	"draft": "config config/apis exposure notify/public policy policy/denylist schema source/openapi/access source/openapi/document source/openapi/suspect source/openapi/view",

	// beside the way
	"telemetry": ". audit identity problem server/observe source span",

	// our own memory
	"store/changes":   "change",
	"store/postgres":  "audit change identity limit notify problem store/changes store/records store/tokens",
	"store/records":   "audit",
	"store/sqlite":    "audit change identity limit notify problem store/changes store/records store/tokens",
	"store/storetest": "audit change identity limit notify problem value write",
	"store/tokens":    "identity problem",

	// the demo application, servers for tests, measurements
	"demo":         "",
	"demo/api":     "",
	"testservices": "",
	"bench":        "",

	// what embedding programs look like: they may use what the module shows
	"examples/embed": "*",

	"cmd/bailiwick":          "*",
	"cmd/bailiwick/audits":   "audit cmd/bailiwick/plant cmd/bailiwick/terminal identity",
	"cmd/bailiwick/export":   ". identity query shape value",
	"cmd/bailiwick/live":     "config",
	"cmd/bailiwick/oneshot":  ". client cmd/bailiwick/export cmd/bailiwick/plant cmd/bailiwick/terminal identity problem server value",
	"cmd/bailiwick/plant":    "*",
	"cmd/bailiwick/policies": "audit cmd/bailiwick/plant cmd/bailiwick/terminal config config/strict expect exposure exposure/findings identity problem trial",
	"cmd/bailiwick/reviews":  "api change client cmd/bailiwick/terminal notify problem review value",
	"cmd/bailiwick/terminal": "client config problem",
	"cmd/bailiwick/tokens":   "cmd/bailiwick/plant cmd/bailiwick/terminal config exposure identity policy/expression problem query value",
}

func TestImports(t *testing.T) {
	seen := map[string]bool{}
	walk(t, func(dir, path string, file *ast.File, _ *token.FileSet) {
		seen[dir] = true
		may, ok := mayImport[dir]
		if !ok {
			t.Errorf("%s: package is not in mayImport", dir)
			return
		}
		for _, spec := range file.Imports {
			to := strings.Trim(spec.Path.Value, `"`)
			if to != module && !strings.HasPrefix(to, module+"/") {
				continue
			}
			to = strings.TrimPrefix(strings.TrimPrefix(to, module), "/")
			if to == "" {
				to = "."
			}
			if may != "*" && !slices.Contains(strings.Fields(may), to) {
				t.Errorf("%s imports %s; %s may import only: %s", path, to, dir, may)
			}
		}
	})
	for dir := range mayImport {
		if !seen[dir] {
			t.Errorf("mayImport names %s, which does not exist", dir)
		}
	}
}

// TestPackageDocs wants one package comment per package: its place in the way and what it refuses.
func TestPackageDocs(t *testing.T) {
	docs := map[string]int{}
	walk(t, func(dir, _ string, file *ast.File, _ *token.FileSet) {
		docs[dir] += 0
		if file.Doc != nil {
			docs[dir]++
		}
	})
	for dir, n := range docs {
		if n != 1 {
			t.Errorf("%s: %d package comments, want 1", dir, n)
		}
	}
}

// TestRooms wants small rooms: what grows past these holds two ideas.
func TestRooms(t *testing.T) {
	const maxFile, maxFunction, maxPackage, maxParameters = 400, 60, 2500, 5
	packages := map[string]int{}
	walk(t, func(dir, path string, file *ast.File, fset *token.FileSet) {
		lines := fset.File(file.Pos()).LineCount()
		packages[dir] += lines
		if lines > maxFile {
			t.Errorf("%s: %d lines, want at most %d", path, lines, maxFile)
		}
		for _, d := range file.Decls {
			f, ok := d.(*ast.FuncDecl)
			if !ok {
				continue
			}
			if n := fset.Position(f.End()).Line - fset.Position(f.Pos()).Line + 1; n > maxFunction {
				t.Errorf("%s: %s has %d lines, want at most %d", path, f.Name.Name, n, maxFunction)
			}
			if n := f.Type.Params.NumFields(); n > maxParameters {
				t.Errorf("%s: %s takes %d parameters, want at most %d", path, f.Name.Name, n, maxParameters)
			}
		}
	})
	for dir, n := range packages {
		if n > maxPackage {
			t.Errorf("%s: %d lines, want at most %d", dir, n, maxPackage)
		}
	}
}

// TestWords wants exported names documented, no init, and none of the names that say nothing.
func TestWords(t *testing.T) {
	empty := []string{"util", "utils", "common", "helper", "helpers", "manager", "service", "base", "impl", "types", "models"}
	walk(t, func(dir, path string, file *ast.File, _ *token.FileSet) {
		if name := file.Name.Name; slices.Contains(empty, name) || slices.Contains(empty, strings.TrimSuffix(filepath.Base(path), ".go")) {
			t.Errorf("%s: a name that says nothing", path)
		}
		for _, d := range file.Decls {
			switch d := d.(type) {
			case *ast.FuncDecl:
				if d.Recv == nil && d.Name.Name == "init" {
					t.Errorf("%s: init hides wiring", path)
				}
				if d.Name.IsExported() && d.Doc == nil && exportedReceiver(d) && dir != "cmd/bailiwick" {
					t.Errorf("%s: %s has no comment", path, d.Name.Name)
				}
			case *ast.GenDecl:
				undocumented(t, path, d)
			}
		}
	})
}

func exportedReceiver(d *ast.FuncDecl) bool {
	if d.Recv == nil {
		return true
	}
	typ := d.Recv.List[0].Type
	if star, ok := typ.(*ast.StarExpr); ok {
		typ = star.X
	}
	name, ok := typ.(*ast.Ident)
	return ok && name.IsExported()
}

func undocumented(t *testing.T, path string, d *ast.GenDecl) {
	t.Helper()
	for _, spec := range d.Specs {
		s, ok := spec.(*ast.TypeSpec)
		if ok && s.Name.IsExported() && d.Doc == nil && s.Doc == nil {
			t.Errorf("%s: type %s has no comment", path, s.Name.Name)
		}
	}
}

// TestBypass checks that programs which skip a step do not compile.
func TestBypass(t *testing.T) {
	dirs, err := filepath.Glob("testdata/bypass/*")
	if err != nil || len(dirs) == 0 {
		t.Fatal("no bypass programs", err)
	}
	for _, dir := range dirs {
		t.Run(filepath.Base(dir), func(t *testing.T) {
			src, err := os.ReadFile(filepath.Join(dir, "main.go"))
			if err != nil {
				t.Fatal(err)
			}
			first, _, _ := strings.Cut(string(src), "\n")
			want := strings.TrimPrefix(first, "// want: ")
			out, err := exec.Command("go", "build", "-o", os.DevNull, "./"+dir).CombinedOutput()
			if err == nil || !strings.Contains(string(out), want) {
				t.Errorf("build: %v\n%s\nwant an error with %q", err, out, want)
			}
		})
	}
}

func walk(t *testing.T, visit func(dir, path string, file *ast.File, fset *token.FileSet)) {
	t.Helper()
	fset := token.NewFileSet()
	err := filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && (d.Name() == "testdata" || d.Name() == "node_modules" || d.Name() == "scripts" || path != "." && strings.HasPrefix(d.Name(), ".")):
			return fs.SkipDir
		case strings.HasSuffix(path, ".go") && !strings.HasSuffix(path, "_test.go"):
			file, err := parser.ParseFile(fset, path, nil, parser.ParseComments)
			if err != nil {
				return err
			}
			visit(filepath.ToSlash(filepath.Dir(path)), path, file, fset)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}
