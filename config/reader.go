package config

import (
	"errors"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/query"
	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/lexer"
	"github.com/goccy/go-yaml/parser"
	"github.com/goccy/go-yaml/token"
)

// A reader walks the YAML of one file and gathers its faults.
type reader struct {
	file   string
	dir    string // where relative paths start
	lines  []string
	env    func(string) (string, bool)
	secret func(path string) (string, error)
	places map[string]position
	faults []Fault
	more   int // faults beyond those kept
}

// The bounds of a file. The YAML parser takes time that grows with the square of the tokens.
const (
	maxTokens = 40_000
	maxNested = 32
)

// document parses data and returns its one document, or nil after noting why there is none.
func (r *reader) document(data []byte) ast.Node {
	data = []byte(strings.TrimPrefix(string(data), "\ufeff"))
	switch {
	case len(data) > maxFile:
		r.wrong(position{}, "", "the file is larger than %d bytes", maxFile)
		return nil
	case !utf8.Valid(data):
		r.wrong(position{}, "", "the file is not UTF-8 text")
		return nil
	case slices.Contains(data, 0):
		r.wrong(position{}, "", "the file holds a NUL character")
		return nil
	}
	text := strings.ReplaceAll(string(data), "\r\n", "\n")
	r.lines = strings.Split(text, "\n")
	r.places[""] = position{1, 1}
	tokens := lexer.Tokenize(text)
	if !r.plain(tokens) {
		return nil
	}
	file, err := parser.Parse(tokens, 0, parser.AllowDuplicateMapKey())
	if err != nil {
		r.syntax(err)
		return nil
	}
	var bodies []ast.Node
	for _, doc := range file.Docs {
		if doc.Body != nil {
			bodies = append(bodies, doc.Body)
		}
	}
	switch {
	case len(bodies) == 0:
		r.wrong(position{}, "", "the file says nothing; it needs at least sources")
		return nil
	case len(bodies) > 1:
		r.wrong(start(bodies[1]), "", "a second document begins here; a configuration is one")
	}
	return bodies[0]
}

// syntax notes what the YAML parser found.
func (r *reader) syntax(err error) {
	var e *yaml.SyntaxError
	if errors.As(err, &e) && e.Token != nil && e.Token.Position != nil {
		p, hint := tokenAt(e.Token), ""
		if p.line >= 1 && p.line <= len(r.lines) && strings.Contains(r.lines[p.line-1], "${") {
			hint = "; between { } and [ ] a text with ${ stands in quotes"
		}
		r.wrong(p, "", "not valid YAML: %s%s", e.Message, hint)
		return
	}
	first, _, _ := strings.Cut(err.Error(), "\n")
	r.wrong(position{1, 1}, "", "not valid YAML: %s", first)
}

// plain notes the parts of YAML that a configuration does without, and reports whether there was none.
func (r *reader) plain(tokens token.Tokens) bool {
	if len(tokens) > maxTokens {
		r.wrong(position{}, "", "the file has more than %d keys, values and marks", maxTokens)
		return false
	}
	before, flow, run := r.count(), 0, 0
	for _, t := range tokens {
		p := tokenAt(t)
		switch t.Type {
		case token.AnchorType, token.AliasType, token.MergeKeyType:
			r.wrong(p, "", "anchors, aliases and merge keys (& * <<) are not read; write the value out")
		case token.TagType:
			r.wrong(p, "", "tags (!) are not read; quote what is text")
		case token.MappingKeyType:
			r.wrong(p, "", "keys with ? are not read; write key: value")
		case token.DirectiveType:
			r.wrong(p, "", "directives (%%) are not read; begin with the first key")
		case token.MappingStartType, token.SequenceStartType:
			flow++
		case token.MappingEndType, token.SequenceEndType:
			flow--
		}
		if t.Type == token.SequenceEntryType {
			run++
		} else {
			run = 0
		}
		if flow > maxNested || run > maxNested || p.column > 1000 && t.Prev != nil && t.Prev.Position.Line < p.line {
			r.wrong(p, "", "nested too deep")
			return false
		}
	}
	return r.count() == before
}

// count returns how many faults there are so far.
func (r *reader) count() int { return len(r.faults) + r.more }

// tokenAt returns where t begins.
func tokenAt(t *token.Token) position {
	if t == nil || t.Position == nil {
		return position{}
	}
	return position{t.Position.Line, t.Position.Column}
}

// start returns where n begins.
func start(n ast.Node) position {
	switch n := n.(type) {
	case *ast.MappingNode:
		// The token of a mapping without braces is its first colon.
		if !n.IsFlowStyle && len(n.Values) > 0 {
			return start(n.Values[0].Key)
		}
	case *ast.MappingValueNode:
		return start(n.Key)
	case nil:
		return position{}
	}
	return tokenAt(n.GetToken())
}

// An entry is one key of a mapping and its value.
type entry struct {
	name  string
	key   position
	at    string // JSON pointer of the value
	value ast.Node
}

// entries returns the entries of a mapping in order, each name once; ok is false when n is none, or after noting
// that it is not. Keys that stand twice are noted.
func (r *reader) entries(n ast.Node, at string) (out []entry, ok bool) {
	var pairs []*ast.MappingValueNode
	switch n := n.(type) {
	case *ast.MappingNode:
		pairs = n.Values
	case *ast.MappingValueNode:
		pairs = []*ast.MappingValueNode{n}
	default:
		return nil, false
	}
	first := map[string]position{}
	for _, pair := range pairs {
		e := entry{key: start(pair.Key), value: pair.Value}
		switch key := pair.Key.(type) {
		case *ast.StringNode:
			e.name = key.Value
		case *ast.IntegerNode, *ast.FloatNode, *ast.BoolNode, *ast.NullNode:
			e.name = key.GetToken().Value
		default:
			r.wrong(e.key, at, "this can't be a key")
			continue
		}
		e.at = query.Pointer(at, e.name)
		if p, dup := first[e.name]; dup {
			r.wrong(e.key, e.at, "the key stands twice; first on line %d", p.line)
			continue
		}
		first[e.name] = e.key
		r.places[e.at] = e.key
		out = append(out, e)
	}
	return out, true
}

// kind says what n is, for messages.
func kind(n ast.Node) string {
	switch n := n.(type) {
	case *ast.MappingNode, *ast.MappingValueNode:
		return "keys and values"
	case *ast.SequenceNode:
		return "a list"
	case *ast.StringNode:
		if n.Token.Type != token.SingleQuoteType && n.Token.Type != token.DoubleQuoteType && number(n.Value) {
			return "a number"
		}
		return "text"
	case *ast.LiteralNode:
		return "text"
	case *ast.IntegerNode, *ast.FloatNode, *ast.InfinityNode, *ast.NanNode:
		return "a number"
	case *ast.BoolNode:
		return n.Token.Value
	}
	return "nothing"
}

// must notes that the value at n should have been something else.
func (r *reader) must(n ast.Node, at, be string) {
	if kind(n) == "nothing" {
		r.absent(n, at)
		return
	}
	r.wrong(start(n), at, "must be %s, not %s", be, kind(n))
}

// absent notes a key without a value. The place of the key is shown: the value has none.
func (r *reader) absent(n ast.Node, at string) {
	p, ok := r.places[at]
	if !ok {
		p = start(n)
	}
	r.wrong(p, at, "has no value; give it one or leave it out")
}

// unknown notes a key that is not among names.
func (r *reader) unknown(e entry, at, what string, names []string) {
	r.wrong(e.key, at, "unknown %s %q%s", what, problem.Cut(e.name), problem.DidYouMean(problem.Nearest(e.name, names, 2)))
}
