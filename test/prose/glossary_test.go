package prose

import (
	"encoding/json"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// A name is one that users meet. It is an error code, a metric, a command, a flag, a label of the console, or a key of
// the log or of the configuration.
type name struct{ kind, text, at string }

// others are names with a word of the glossary's last column, and why each stays.
var others = map[string]string{
	"code permission_denied": "the name that gRPC and Google's APIs use",
	"key user":               "of a database or a mail server, by its own name",
	"key endpoint":           "the name in OpenTelemetry",
	"key function":           "a cloud function of Parse Server",
	"key collections":        "of MongoDB, by its own name",
	"key role":               "of Parse Server, by its own name",
	"flag column":            "of a file that is written",
}

// row is a term of the glossary, its meaning and the words that are not used for it.
var row = regexp.MustCompile(`(?m)^\| ([^|]+) \| ([^|]+) \| ([^|]*)\|$`)

// TestOneName checks that no name uses a word that the glossary replaces by a term.
func TestOneName(t *testing.T) {
	t.Chdir("../..")
	page, err := os.ReadFile("docs/glossary.md")
	if err != nil {
		t.Fatal(err)
	}
	term := map[string]string{} // by the word that is not used
	for _, m := range row.FindAllStringSubmatch(string(page), -1) {
		for _, word := range strings.Split(m[3], ",") {
			if word = strings.TrimSpace(word); word != "" && m[1] != "term" && !strings.HasPrefix(word, "-") {
				term[word] = m[1]
			}
		}
	}
	kinds, unused := map[string]int{}, map[string]bool{}
	for n := range others {
		unused[n] = true
	}
	for _, n := range names(t) {
		kinds[n.kind]++
		for _, word := range wordsOf(n.text) {
			if term[word] == "" {
				continue
			}
			if _, stays := others[n.kind+" "+n.text]; stays {
				delete(unused, n.kind+" "+n.text)
				continue
			}
			t.Errorf("%s: the %s %q has %q: the glossary's name is %q", n.at, n.kind, n.text, word, term[word])
		}
	}
	for n := range unused {
		t.Errorf("%s: there is no such name, take it from the exceptions", n)
	}
	if len(kinds) != 7 || len(term) < 50 {
		t.Errorf("%v names, %d words: something was not found", kinds, len(term))
	}
}

// wordsOf returns the words of a name in lower case, without the s of a plural, and each pair of neighbours.
func wordsOf(name string) (out []string) {
	var words []string
	for _, w := range strings.FieldsFunc(strings.ToLower(name), func(r rune) bool { return !(r >= 'a' && r <= 'z') }) {
		words = append(words, w)
		if one := strings.TrimSuffix(w, "s"); one != w {
			words = append(words, one)
		}
	}
	out = slices.Clone(words)
	for i := range len(words) - 1 {
		out = append(out, words[i]+" "+words[i+1])
	}
	return out
}

// names returns all names that users meet.
func names(t *testing.T) (out []name) {
	t.Helper()
	out = slices.Concat(codes(t), logKeys(t), metrics(t), configured(t), commands(t), labels(t))
	return out
}

// codes returns the error codes.
func codes(t *testing.T) (out []name) {
	t.Helper()
	const file = "problem/problem.go"
	f, err := parser.ParseFile(token.NewFileSet(), file, nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	ast.Inspect(f, func(n ast.Node) bool {
		if spec, ok := n.(*ast.ValueSpec); ok && len(spec.Values) == 1 {
			if text, ok := literal(spec.Values[0]); ok {
				out = append(out, name{"code", text, file})
			}
		}
		return true
	})
	return out
}

// literal returns the text of a string literal.
func literal(e ast.Expr) (string, bool) {
	lit, ok := e.(*ast.BasicLit)
	if !ok || lit.Kind != token.STRING {
		return "", false
	}
	text, err := strconv.Unquote(lit.Value)
	return text, err == nil
}

// logged are the functions of slog that take keys, and where the keys begin.
var logged = map[string]int{"Debug": 1, "Info": 1, "Warn": 1, "Error": 1, "DebugContext": 2, "InfoContext": 2, "WarnContext": 2, "ErrorContext": 2,
	"String": 0, "Int": 0, "Int64": 0, "Bool": 0, "Duration": 0, "Time": 0, "Any": 0, "Group": 0, "Float64": 0, "With": 0}

// logKeys returns the keys of log lines.
func logKeys(t *testing.T) (out []name) {
	t.Helper()
	err := files(".", func(path string, src []byte) error {
		if filepath.Ext(path) != ".go" || strings.HasSuffix(path, "_test.go") || strings.HasPrefix(path, "test/") || strings.HasPrefix(path, "scripts/") || !strings.Contains(string(src), `"log/slog"`) {
			return nil
		}
		f, err := parser.ParseFile(token.NewFileSet(), path, src, 0)
		if err != nil {
			return err
		}
		ast.Inspect(f, func(n ast.Node) bool {
			call, ok := n.(*ast.CallExpr)
			if !ok {
				return true
			}
			sel, ok := call.Fun.(*ast.SelectorExpr)
			if !ok {
				return true
			}
			first, ok := logged[sel.Sel.Name]
			if x, named := sel.X.(*ast.Ident); !ok || first == 0 && (!named || x.Name != "slog") {
				return true
			}
			for i := first; i < len(call.Args); i += 2 {
				if text, ok := literal(call.Args[i]); ok {
					out = append(out, name{"key of the log", text, path})
				}
				if first == 0 {
					break
				}
			}
			return true
		})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// metric is the name of a metric in the page of telemetry.
var metric = regexp.MustCompile("`(bailiwick_[a-z_]+)")

// metrics returns the names of metrics.
func metrics(t *testing.T) (out []name) {
	t.Helper()
	const file = "docs/telemetry.md"
	page, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range metric.FindAllStringSubmatch(string(page), -1) {
		out = append(out, name{"metric", m[1], file})
	}
	return out
}

// configured returns the keys of the configuration.
func configured(t *testing.T) (out []name) {
	t.Helper()
	const file = "docs/bailiwick.schema.json"
	src, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var schema any
	if err := json.Unmarshal(src, &schema); err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	var visit func(any)
	visit = func(v any) {
		switch v := v.(type) {
		case map[string]any:
			properties, _ := v["properties"].(map[string]any)
			for key := range properties {
				if !seen[key] {
					seen[key] = true
					out = append(out, name{"key", key, file})
				}
			}
			for _, part := range v {
				visit(part)
			}
		case []any:
			for _, part := range v {
				visit(part)
			}
		}
	}
	visit(schema)
	return out
}

// command and flag are a command and a flag in the page of the command line.
var (
	command = regexp.MustCompile(`(?m)^## bailiwick (.+)$`)
	option  = regexp.MustCompile(`(?m)^ +(?:-\w, )?--([a-z-]+)`)
)

// commands returns the commands and flags.
func commands(t *testing.T) (out []name) {
	t.Helper()
	const file = "docs/command-line.md"
	page, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range command.FindAllStringSubmatch(string(page), -1) {
		out = append(out, name{"command", m[1], file})
	}
	for _, m := range option.FindAllStringSubmatch(string(page), -1) {
		out = append(out, name{"flag", m[1], file})
	}
	return out
}

// label is a heading, button or caption of the console. inner is what a template puts in, and tags within.
var (
	label = regexp.MustCompile(`(?s)<(h1|h2|h3|th|dt|label|button|summary|legend|caption)\b[^>]*>(.*?)</(?:h1|h2|h3|th|dt|label|button|summary|legend|caption)>`)
	inner = regexp.MustCompile(`(?s)\{\{.*?\}\}|<[^>]*>`)
)

// labels returns the labels of the console.
func labels(t *testing.T) (out []name) {
	t.Helper()
	err := fs.WalkDir(os.DirFS("."), "console/pages", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		page, err := os.ReadFile(path)
		for _, m := range label.FindAllStringSubmatch(string(page), -1) {
			if text := strings.Join(strings.Fields(inner.ReplaceAllString(m[2], " ")), " "); text != "" {
				out = append(out, name{"label", text, path})
			}
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}
