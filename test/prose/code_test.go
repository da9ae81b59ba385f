package prose

import (
	"go/ast"
	"go/parser"
	"go/token"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// code returns the comments of a Go file and, for a file that is not a test, its messages.
func code(path string, src []byte) ([]passage, error) {
	fset := token.NewFileSet()
	file, err := parser.ParseFile(fset, path, src, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil || ast.IsGenerated(file) {
		return nil, err
	}
	var out []passage
	for _, group := range file.Comments {
		out = append(out, comments(fset, group)...)
	}
	if strings.HasSuffix(path, "_test.go") {
		return out, nil
	}
	ast.Inspect(file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.CallExpr:
			for _, arg := range said(n) {
				out = append(out, messages(fset, arg)...)
			}
		case *ast.KeyValueExpr:
			if key, ok := n.Key.(*ast.Ident); ok && slices.Contains(texts, key.Name) {
				out = append(out, messages(fset, n.Value)...)
			}
		}
		return true
	})
	return out, nil
}

// comments returns the passages of a comment without directives, code and the output of examples.
func comments(fset *token.FileSet, group *ast.CommentGroup) []passage {
	var lines []string
	first := fset.Position(group.Pos()).Line
	for _, c := range group.List {
		if block, ok := strings.CutPrefix(c.Text, "/*"); ok {
			lines = append(lines, strings.Split(strings.TrimSuffix(block, "*/"), "\n")...)
			continue
		}
		text := strings.TrimPrefix(c.Text, "//")
		if text != "" && text[0] != ' ' && text[0] != '\t' {
			text = "" // a directive, as //go:build
		}
		lines = append(lines, strings.TrimPrefix(text, " "))
	}
	if start := strings.ToLower(strings.TrimSpace(lines[0])); strings.HasPrefix(start, "output:") || strings.HasPrefix(start, "unordered output:") {
		return nil
	}
	return paragraphs(comment, lines, first)
}

// texts are the fields of cobra.Command and problem.Error that people or agents read.
var texts = []string{"Short", "Long", "Detail", "Suggestion"}

// logger matches the name of a slog.Logger, and logs its methods.
var (
	logger = regexp.MustCompile(`^s?[lL]og(ger)?$`)
	logs   = regexp.MustCompile(`^(Debug|Info|Warn|Error)(Context)?$|^Log(Attrs)?$`)
)

// said returns the arguments of a call that are texts for people or agents.
func said(call *ast.CallExpr) []ast.Expr {
	sel, ok := call.Fun.(*ast.SelectorExpr)
	if !ok {
		if name, ok := call.Fun.(*ast.Ident); ok && name.Name == "Usagef" {
			return call.Args
		}
		return nil
	}
	from := ""
	switch x := sel.X.(type) {
	case *ast.Ident:
		from = x.Name
	case *ast.SelectorExpr:
		from = x.Sel.Name
	}
	switch name := sel.Sel.Name; {
	case from == "problem", name == "Usagef", from == "fmt" && name == "Errorf", from == "errors" && name == "New":
		return call.Args
	case logger.MatchString(from) && logs.MatchString(name):
		for i, arg := range call.Args {
			if _, ok := fold(arg); ok {
				return call.Args[i : i+1] // the others are keys and values
			}
		}
	}
	return nil
}

// messages returns the passages of a text, of more than one word, that an expression makes.
func messages(fset *token.FileSet, e ast.Expr) []passage {
	text, ok := fold(e)
	if !ok || !strings.Contains(strings.TrimSpace(text), " ") {
		return nil
	}
	return paragraphs(message, strings.Split(strings.Trim(text, "\n"), "\n"), fset.Position(e.Pos()).Line)
}

// fold returns the text of literals that are joined. A value that isn't known before the program runs counts as a word.
func fold(e ast.Expr) (text string, literal bool) {
	switch e := e.(type) {
	case *ast.ParenExpr:
		return fold(e.X)
	case *ast.BasicLit:
		if text, err := strconv.Unquote(e.Value); e.Kind == token.STRING && err == nil {
			return text, true
		}
	case *ast.BinaryExpr:
		left, l := fold(e.X)
		right, r := fold(e.Y)
		return left + right, l || r
	case *ast.CallExpr:
		sel, ok := e.Fun.(*ast.SelectorExpr)
		if ok && sel.Sel.Name == "Sprintf" {
			return fold(e.Args[0])
		}
	}
	return "%s", false
}
