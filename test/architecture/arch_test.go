package architecture

import (
	"cmp"
	"go/ast"
	"go/parser"
	"go/scanner"
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
// import that is missing from its line, fails the build. docs/architecture.md describes it.
var mayImport = map[string]string{
	// data types: no I/O. They import only each other
	"problem":           "",
	"value":             "problem",
	"schema":            "value",
	"internal/plan":     "problem query schema value",
	"query":             "internal/hint internal/literals internal/sqlparse problem schema value",
	"internal/literals": "problem value",
	"internal/hint":     "internal/literals problem value",
	".":                 "action audit change declared identity internal/fair internal/once internal/openapi/calls internal/openapi/response internal/openapi/validate internal/plan internal/policyops internal/redact internal/result internal/review internal/samples internal/trace internal/writes limit metric policy problem query schema source value write",
	"internal/rewrite":  "internal/hint internal/literals problem query value",
	"policy":            "change identity internal/expression internal/literals internal/openapi/calls internal/plan internal/secretnames internal/sqlbind internal/typecheck problem query schema value write",
	"tool":              ". declared identity internal/argcheck internal/literals internal/openapi/calls internal/openapi/response internal/plan internal/result internal/rewrite internal/sqlparse metric policy problem query schema value",

	"internal/writes": "change identity internal/argcheck internal/literals internal/openapi/calls policy problem query schema value write",

	"internal/trace": "problem",

	// the steps of a call
	"identity":               "audit problem query value",
	"internal/oidc":          "identity query value",
	"internal/typecheck":     "internal/hint internal/plan problem query schema value",
	"internal/sqlparse":      "internal/hint problem value",
	"internal/sqlbind":       "internal/hint internal/literals internal/plan internal/sqlparse internal/typecheck problem query schema value",
	"internal/secretnames":   "schema",
	"internal/openapi/calls": "identity internal/expression internal/openapi/search internal/openapi/spec internal/openapi/validate internal/secretnames problem value write",
	"internal/expression":    "identity internal/argcheck problem query value",
	"internal/sqlgen":        "internal/plan policy problem query schema value",
	"internal/sqldriver":     "change internal/fair internal/interpret internal/sqlgen internal/trace internal/writes policy problem schema source value write",
	"test/dialecttest":       "identity internal/plan internal/sqlgen policy problem query schema value",
	"write":                  "problem value",
	"change":                 "audit identity internal/expression problem value write",
	"internal/review":        "action audit change identity internal/once internal/plan internal/writes policy problem schema value write",
	"source":                 "change identity internal/connstring internal/openapi/calls internal/writes policy schema value",
	"internal/redact":        "internal/plan policy problem value",
	"internal/result":        "internal/redact policy problem query schema value",
	"audit":                  "",
	"limit":                  "internal/fair problem",

	// sources and clients
	"internal/connect":            "identity internal/edge internal/once problem",
	"internal/connstring":         "",
	"internal/sqldriver/parsed":   "",
	"internal/openapi/spec":       "internal/secretnames problem",
	"source/sqlite":               "internal/literals internal/plan internal/sqldriver internal/sqldriver/parsed internal/sqlgen policy problem query schema source source/sqlite/internal/heap value write",
	"source/postgres":             "internal/connstring internal/health internal/plan internal/sqldriver internal/sqlgen policy problem query schema source value write",
	"source/mariadb":              "internal/connstring internal/plan internal/sqldriver internal/sqlgen policy problem query schema source value write",
	"source/parse":                "change identity internal/edge internal/expression internal/interpret internal/openapi/client internal/writes policy problem query schema source value write",
	"source/sqlite/internal/heap": "",
	"source/openapi":              "change internal/openapi/calls internal/openapi/client internal/openapi/response internal/openapi/spec internal/openapi/validate internal/writes policy problem query schema source value write",
	"internal/app":                "*",
	"internal/openapi/search":     "internal/openapi/spec problem",
	"internal/openapi/response":   "internal/interpret internal/openapi/calls internal/openapi/spec internal/openapi/validate internal/secretnames internal/typecheck problem query schema value",
	"test/largeapis":              "",
	"test/operations":             "",
	"internal/openapi/client":     "identity internal/edge internal/fair internal/openapi/calls internal/openapi/spec internal/trace problem value",
	"internal/openapi/validate":   "internal/argcheck internal/openapi/spec problem value",
	"internal/interpret":          "internal/literals internal/plan policy problem query schema value",
	"internal/mongogen":           "internal/interpret internal/plan policy problem query schema value",
	"source/mongodb":              "change internal/interpret internal/mongogen internal/writes policy problem schema source value write",
	"source/memory":               "internal/interpret policy problem schema source value",
	"source/metadata":             "internal/secretnames policy problem schema source value",
	"test/sourcetest":             "identity policy problem query schema source test/sourcetest/canonical test/sourcetest/written value",
	"test/sourcetest/written":     "value",
	"test/sourcetest/canonical":   "value",
	"test/sourcetest/questions":   ". audit identity limit policy problem schema source test/sourcetest tool value",
	"test/sourcetest/measures":    ". audit identity limit metric policy problem query source tool value",
	"test/sourcetest/ending":      "identity policy problem query schema test/sourcetest value",
	"internal/samples":            "identity internal/plan internal/secretnames policy query schema source value",
	"test/sourcetest/large":       "identity policy query schema source test/sourcetest value",
	"test/sourcetest/masks":       "identity internal/plan internal/redact internal/result policy query schema source test/sourcetest test/sourcetest/canonical value",
	"test/sourcetest/database":    "identity internal/sqlgen internal/writes policy problem query schema source source/memory test/services test/sourcetest test/sourcetest/canonical test/sourcetest/ending test/sourcetest/large test/sourcetest/masks test/sourcetest/pipelines test/sourcetest/statements test/sourcetest/writing value write",
	"test/sourcetest/writing":     "change identity internal/writes policy problem query schema source test/sourcetest value write",
	"test/sourcetest/pipelines":   "identity internal/plan policy problem query schema source test/sourcetest test/sourcetest/canonical value",
	"test/sourcetest/selects":     "",
	"test/sourcetest/statements":  "identity policy problem query schema source test/sourcetest test/sourcetest/canonical test/sourcetest/selects value",

	// a module of its own, for its driver
	"source/duckdb":                      "internal/plan internal/sqldriver internal/sqlgen policy problem query schema source value",
	"source/duckdb/cmd/bailiwick-duckdb": "serve source source/duckdb",

	// transports and user interfaces
	"internal/argcheck":       "problem query value",
	"internal/tools":          ". action change identity internal/edge internal/openapi/calls internal/openapi/response internal/openapi/search internal/openapi/spec internal/openapi/validate internal/pack internal/review policy problem query schema source tool value write",
	"metric":                  "identity internal/expression internal/plan internal/sqlparse policy problem query schema value",
	"action":                  "identity internal/argcheck internal/expression internal/writes policy problem schema value write",
	"declared":                "identity internal/expression internal/sqlparse policy problem query schema value",
	"prompt":                  ". change identity internal/argcheck policy problem query schema tool value",
	"mcp":                     "identity internal/authserver internal/edge internal/fair internal/once internal/wire problem prompt tool value",
	"internal/wire":           "internal/once problem value",
	"reviewapi":               ". change identity internal/edge internal/fair internal/review internal/webhook internal/wire problem value",
	"internal/edge":           "problem value",
	"internal/fair":           "internal/edge",
	"internal/authserver":     "identity internal/edge problem value",
	"console":                 ". audit change identity internal/authserver internal/connect internal/edge internal/fair internal/policyops internal/review internal/webhook internal/wire problem value write",
	"test/conformance":        "internal/wire",
	"test/attack":             "",
	"test/attack/run":         "test/attack",
	"test/conformance/server": "identity internal/app internal/config mcp test/conformance",
	"internal/config":         "action change declared identity internal/connstring internal/edge internal/expression internal/oidc internal/openapi/calls internal/openapi/client internal/openapi/spec internal/pack internal/secretnames internal/webhook internal/yamlconf metric policy problem query schema source value write",
	"internal/pack":           "identity internal/expression internal/openapi/calls internal/openapi/spec internal/openapi/validate internal/writes internal/yamlconf policy problem value write",
	"internal/yamlconf":       "problem query value",
	"internal/client":         "internal/edge problem",

	// a conversation with a model, over a client
	"assistant":     "internal/client internal/llm problem",
	"internal/llm":  "internal/edge",
	"test/scripted": "internal/llm",

	// below the owner's configuration

	// the clients that people use
	"cmd/bailiwick/internal/operate": "action audit change cmd/bailiwick/internal/terminal identity internal/app internal/client internal/config internal/edge internal/expression internal/health internal/policyops internal/review internal/store internal/yamlconf policy problem query reviewapi source source/sqlite store/postgres store/sqlite value",

	// beside change
	"internal/webhook": "change identity internal/edge internal/expression internal/review problem write",

	// for operators
	"internal/policyops": "audit declared identity internal/expression internal/openapi/calls internal/openapi/spec internal/samples internal/yamlconf metric policy problem query schema value write",

	"internal/scaffold": "internal/config internal/edge internal/openapi/spec internal/policyops internal/samples internal/secretnames policy schema",

	// used by the steps of a call
	"internal/telemetry": ". audit identity internal/health internal/trace internal/wire problem source",

	// storage
	"internal/once":         "",
	"internal/health":       "internal/connstring internal/edge",
	"internal/store":        "audit change identity problem value",
	"store/postgres":        "audit change identity internal/connect internal/health internal/once internal/store internal/webhook limit problem",
	"store/sqlite":          "audit change identity internal/connect internal/fair internal/health internal/once internal/sqldriver/parsed internal/store internal/webhook limit problem",
	"test/storetest":        "audit change identity internal/connect internal/health internal/once internal/store internal/webhook limit problem value write",
	"test/storetest/chain":  "audit identity internal/store test/storetest",
	"test/storetest/clocks": "audit change internal/health limit test/storetest write",
	"test/storetest/usage":  "limit problem test/storetest",
	"test/storetest/people": "identity internal/connect problem query test/storetest value",

	// the demo application, servers for tests, measurements
	"internal/demo": "",
	"test/services": "",
	"test/bench":    "",
	"test/agent":    "",

	// examples of embedding programs: they may use the public packages
	"examples/embed":      "*",
	"examples/supportbot": "assistant",

	// the documentation, served and searched
	"docs": "problem",

	// a configuration, served inside of a program
	"serve": ". identity internal/app internal/config source source/openapi tool",

	// the parts of the tools that programs without a configuration use
	"tool/changes": "internal/tools tool",

	"cmd/bailiwick":                   "*",
	"cmd/bailiwick/internal/agentcmd": ". assistant cmd/bailiwick/internal/terminal identity internal/app internal/client internal/config internal/result internal/yamlconf mcp problem query value",
	"cmd/bailiwick/internal/terminal": "internal/client internal/config problem",
	"internal/garbage":                "",
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

// TestExamplesArePublic checks that an embedding program needs nothing under internal: any module can import what the
// examples import. They only borrow the sample data of internal/demo.
func TestExamplesArePublic(t *testing.T) {
	t.Chdir("../..")
	files, err := filepath.Glob("example*_test.go")
	if err != nil || len(files) == 0 {
		t.Fatal("no examples", err)
	}
	more, err := filepath.Glob("examples/*/*.go")
	if err != nil || len(more) == 0 {
		t.Fatal("no example programs", err)
	}
	for _, path := range append(files, more...) {
		if strings.HasPrefix(path, "examples/") && strings.HasSuffix(path, "_test.go") {
			continue // the tests of an example may use internal packages
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.ImportsOnly)
		if err != nil {
			t.Fatal(err)
		}
		for _, spec := range file.Imports {
			to := strings.Trim(spec.Path.Value, `"`)
			if strings.HasPrefix(to, module+"/internal/") && to != module+"/internal/demo" {
				t.Errorf("%s imports %s, which no other module can", path, to)
			}
		}
	}
}

// TestOneDriverEach checks that a program that embeds one kind of database links only the driver of that one. The
// library itself must link no driver, and no code that sends requests to HTTP APIs.
func TestOneDriverEach(t *testing.T) {
	t.Chdir("../..")
	drivers := map[string]string{"sqlite": "modernc.org/sqlite", "postgres": "github.com/jackc/pgx/v5", "mariadb": "github.com/go-sql-driver/mysql"}
	linked := func(pkg string) []string {
		out, err := exec.Command("go", "list", "-deps", pkg).Output()
		if err != nil {
			t.Fatal(pkg, err)
		}
		return strings.Fields(string(out))
	}
	for own := range drivers {
		deps := linked("./source/" + own)
		for name, driver := range drivers {
			if slices.Contains(deps, driver) != (name == own) {
				t.Errorf("source/%s: links %s: %t", own, driver, name != own)
			}
		}
	}
	for _, pkg := range []string{".", "./mcp", "./tool", "./console", "./reviewapi", "./tool/changes"} {
		for _, dep := range linked(pkg) {
			for _, driver := range drivers {
				if dep == driver {
					t.Errorf("%s links %s", pkg, driver)
				}
			}
		}
	}
	for _, pkg := range []string{".", "./tool", "./tool/changes", "./source/sqlite"} {
		deps := linked(pkg)
		for _, sends := range []string{"golang.org/x/oauth2", "github.com/bailiwick-dev/bailiwick/internal/openapi/client"} {
			if slices.Contains(deps, sends) {
				t.Errorf("%s links %s", pkg, sends)
			}
		}
	}
}

// TestRequirementsOfTests checks that modules which go.mod requires only for tests are imported only by tests and their
// suites.
func TestRequirementsOfTests(t *testing.T) {
	tests := []string{"github.com/chromedp/", "github.com/anishathalye/porcupine", "github.com/getkin/kin-openapi", "github.com/google/go-cmp", "pgregory.net/rapid",
		"github.com/rogpeppe/go-internal", "github.com/creack/pty", "go.uber.org/goleak"}
	walk(t, func(dir, path string, file *ast.File, _ *token.FileSet) {
		if strings.HasPrefix(dir+"/", "test/") {
			return
		}
		for _, spec := range file.Imports {
			to := strings.Trim(spec.Path.Value, `"`)
			if slices.ContainsFunc(tests, func(m string) bool { return strings.HasPrefix(to, m) }) {
				t.Errorf("%s imports %s, which only tests need", path, to)
			}
		}
	})
}

// TestPackageDocs checks that each package has one package comment.
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

// TestRooms limits files (400 lines), functions (60 lines), packages (8,000 lines of code) and parameters (5). Code that
// outgrows a limit usually holds two ideas.
func TestRooms(t *testing.T) {
	const maxFile, maxFunction, maxPackage, maxParameters = 400, 60, 8000, 5
	packages := map[string]int{}
	walk(t, func(dir, path string, file *ast.File, fset *token.FileSet) {
		lines := fset.File(file.Pos()).LineCount()
		packages[dir] += codeLines(t, path)
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

// TestWords checks that exported names are documented, that there is no init, and that no package or file has a
// meaningless name.
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

// TestFunctionDocs checks that a function of 15 lines or more has a doc comment. The reader of a longer one should know
// what it returns, and why it is done so, before reading it. Every doc comment begins with the name of its function. So
// no comment stays behind when a function moves or gets another name. Tests, suites, demo and examples are left out.
func TestFunctionDocs(t *testing.T) {
	const long = 15
	others := []string{"test/", "examples/", "internal/demo/"}
	walk(t, func(dir, path string, file *ast.File, fset *token.FileSet) {
		if slices.ContainsFunc(others, func(other string) bool { return strings.HasPrefix(dir+"/", other) }) {
			return
		}
		for _, d := range file.Decls {
			f, ok := d.(*ast.FuncDecl)
			if !ok {
				continue
			}
			first := fset.Position(f.Pos()).Line
			switch words := strings.Fields(f.Doc.Text()); {
			case len(words) > 0 && strings.TrimRight(words[0], ",.:") != f.Name.Name && f.Name.Name != "main":
				t.Errorf("%s:%d: the comment of %s begins with %q", path, first, f.Name.Name, words[0])
			case len(words) == 0 && fset.Position(f.End()).Line-first+1 >= long:
				t.Errorf("%s:%d: %s has %d lines or more, and no comment that says what it returns and why", path, first, f.Name.Name, long)
			}
		}
	})
}

// codeLines counts the lines of a file that are code. Blank lines and comments don't count, so that no package gets
// smaller by explaining less.
func codeLines(t *testing.T, path string) int {
	t.Helper()
	src, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var s scanner.Scanner
	fset := token.NewFileSet()
	file := fset.AddFile(path, fset.Base(), len(src))
	s.Init(file, src, nil, 0)
	lines := map[int]bool{}
	for {
		pos, tok, lit := s.Scan()
		if tok == token.EOF {
			return len(lines)
		}
		if tok == token.SEMICOLON && lit == "\n" {
			continue // inserted at the end of a line, or at its next token
		}
		first := file.Line(pos)
		for n := range strings.Count(lit, "\n") + 1 {
			lines[first+n] = true
		}
	}
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
	t.Chdir("../..")
	dirs, err := filepath.Glob("test/architecture/testdata/bypass/*")
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
	t.Chdir("../..")
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

// TestHouse holds the size of the house: few rooms, few arrows between them, and no room that is a wall inside of an idea.
// It prints the figures.
func TestHouse(t *testing.T) {
	const maxPackages, maxInternal, maxArrows, maxImports = 89, 50, 666, 27
	// These small packages stay apart for a reason.
	apart := map[string]string{
		"source/memory":               "programs can serve their own records with it",
		"source/sqlite/internal/heap": "the race detector needs flags of its own for it",
		"tool/changes":                "programs without changes don't link them",
		"internal/garbage":            "it must be initialized before the rest of the program",
	}
	lines, imports, importers := map[string]int{}, map[string]map[string]bool{}, map[string]map[string]bool{}
	walk(t, func(dir, path string, file *ast.File, _ *token.FileSet) {
		if first, _, _ := strings.Cut(dir, "/"); first == "test" || first == "examples" || strings.HasPrefix(dir, "source/duckdb") {
			return
		}
		lines[dir] += codeLines(t, path)
		if imports[dir] == nil {
			imports[dir] = map[string]bool{}
		}
		for _, spec := range file.Imports {
			to, ok := strings.CutPrefix(strings.Trim(spec.Path.Value, `"`), module)
			if !ok {
				continue
			}
			to = cmp.Or(strings.TrimPrefix(to, "/"), ".")
			imports[dir][to] = true
			if importers[to] == nil {
				importers[to] = map[string]bool{}
			}
			importers[to][dir] = true
		}
	})
	internal, arrows := 0, 0
	for dir, to := range imports {
		arrows += len(to)
		if strings.HasPrefix(dir, "internal/") {
			internal++
		}
		if len(to) > maxImports && dir != "internal/app" && !strings.HasPrefix(dir, "cmd/") {
			t.Errorf("%s imports %d packages of ours, want at most %d", dir, len(to), maxImports)
		}
		if lines[dir] < 150 && len(importers[dir]) <= 1 && apart[dir] == "" {
			t.Errorf("%s has %d lines and one importer: it is a part of that one", dir, lines[dir])
		}
	}
	for _, limit := range []struct {
		what     string
		n, limit int
	}{{"packages", len(lines), maxPackages}, {"packages in internal/", internal, maxInternal}, {"imports between packages", arrows, maxArrows}} {
		t.Logf("%d %s (at most %d)", limit.n, limit.what, limit.limit)
		if limit.n > limit.limit {
			t.Errorf("%d %s, want at most %d", limit.n, limit.what, limit.limit)
		}
	}
}
