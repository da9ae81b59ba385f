// Package yamlconf reads YAML strictly, as defined by tables of keys.
//
// A Shape defines the allowed values at one place. It contains how they are read, and their JSON Schema for editors,
// made from the same table. Unknown or duplicate keys, keys without a value, and ambiguous values are refused. All
// faults in a file are reported in one Error, each with line, column and excerpt. The package does not depend on the
// meaning of keys. Besides included files, it reads only the files in ${file:…} and file:, and files that a Shape
// reads with Reader.Large, Reader.Stream or Reader.Folder.
package yamlconf

import (
	"errors"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/lexer"
	"github.com/goccy/go-yaml/parser"
	"github.com/goccy/go-yaml/token"

	"github.com/bailiwick-dev/bailiwick/problem"
)

// A Reader reads the YAML of a document and collects its faults.
type Reader struct {
	options Options
	places  map[string]Position
	faults  []noted
	more    int // number of further faults
	origin  *origin
}

// Options provide the files and variables to which a document may refer.
type Options struct {
	Env     func(name string) (string, bool)  // looks up the environment variable of ${NAME}. Nil finds none
	Secret  func(path string) (string, error) // reads the file of ${file:path} and file:path. Nil means secretFile
	Include string                            // the top-level key that lists further files with the same shape, or ""
	File    func(path string) ([]byte, error) // reads an included file. Nil means from the disk
}

// A file is the text to which nodes belong.
type file struct {
	name  string
	dir   string // the folder at which relative paths begin
	lines []string
	order int // number of files read before this one

	covered map[int][]int // by line: the columns of values that excerpts must mask
}

// These limit a file. The time of the YAML parser is quadratic in the number of tokens.
const (
	MaxFile   = 1 << 20 // maximum bytes of a file
	maxTokens = 40_000
	maxNested = 32
)

// Read reads the document in data by shape. name is the file's path. It is the start of each fault, and relative
// paths in the document begin at its folder. Faults are returned as an *Error.
func Read(name string, data []byte, shape Shape, o Options) (Document, error) {
	if o.Secret == nil {
		o.Secret = secretFile
	}
	if o.File == nil {
		o.File = func(path string) ([]byte, error) { return ordinaryFile(path, MaxFile) }
	}
	r := &Reader{options: o, places: map[string]Position{}, origin: &origin{}}
	top := &file{name: name, dir: filepath.Dir(name)}
	r.origin.note(aFile, name, data, nil)
	if body, ok := r.document(top, data); ok {
		r.places[""] = Position{top, 1, 1}
		switch {
		case body.yaml == nil:
			needs, _ := shape.Schema["required"].([]string)
			r.Wrong(Position{file: top}, "", "the file says nothing. It needs at least %s", strings.Join(needs, ", "))
		default:
			body.more = r.includedNodes(body)
			shape.Read(r, body, "")
		}
	}
	d := Document{top: top, places: r.places, origin: r.origin}
	if len(r.faults) > 0 {
		return d, r.error(d)
	}
	return d, nil
}

// document parses data and returns its single document. The yaml of an empty document is nil. ok is false after
// faults were reported.
func (r *Reader) document(in *file, data []byte) (body Node, ok bool) {
	data = []byte(strings.TrimPrefix(string(data), "\ufeff"))
	whole := Position{file: in}
	switch {
	case len(data) > MaxFile:
		r.Wrong(whole, "", "the file is larger than %d bytes", MaxFile)
		return Node{}, false
	case !utf8.Valid(data):
		r.Wrong(whole, "", "the file is not UTF-8 text")
		return Node{}, false
	case slices.Contains(data, 0):
		r.Wrong(whole, "", "the file holds a NUL character")
		return Node{}, false
	}
	text := strings.NewReplacer("\r\n", "\n", "\r", "\n").Replace(string(data)) // YAML accepts all these line breaks
	in.lines = strings.Split(text, "\n")
	tokens := lexer.Tokenize(text)
	if !r.plain(in, tokens) {
		return Node{}, false
	}
	parsed, err := parser.Parse(tokens, 0, parser.AllowDuplicateMapKey())
	if err != nil {
		r.syntax(in, err)
		return Node{}, false
	}
	var bodies []Node
	for _, doc := range parsed.Docs {
		if doc.Body != nil {
			bodies = append(bodies, Node{yaml: doc.Body, file: in})
		}
	}
	if len(bodies) == 0 {
		return Node{file: in}, true
	}
	if len(bodies) > 1 {
		r.Wrong(bodies[1].Start(), "", "a second document begins here. A configuration is one")
	}
	return bodies[0], true
}

// syntax reports an error of the YAML parser.
func (r *Reader) syntax(in *file, err error) {
	var e *yaml.SyntaxError
	if errors.As(err, &e) && e.Token != nil && e.Token.Position != nil {
		p, hint := tokenAt(in, e.Token), ""
		if p.Line >= 1 && p.Line <= len(in.lines) && strings.Contains(in.lines[p.Line-1], "${") {
			hint = "; between { } and [ ] a text with ${ needs quotes"
		}
		if strings.Contains(e.Message, "'\t'") {
			r.Wrong(p, "", "not valid YAML: a tab (→) stands where YAML takes only spaces. Replace it with spaces")
			return
		}
		r.Wrong(p, "", "not valid YAML: %s%s", e.Message, hint)
		return
	}
	first, _, _ := strings.Cut(err.Error(), "\n")
	r.Wrong(Position{in, 1, 1}, "", "not valid YAML: %s", first)
}

// plain reports unsupported YAML features. It returns true if there are none.
func (r *Reader) plain(in *file, tokens token.Tokens) bool {
	if len(tokens) > maxTokens {
		r.Wrong(Position{file: in}, "", "the file has more than %d keys, values and marks", maxTokens)
		return false
	}
	before, flow, run := r.Count(), 0, 0
	for _, t := range tokens {
		p := tokenAt(in, t)
		switch t.Type {
		case token.AnchorType, token.AliasType, token.MergeKeyType:
			r.Wrong(p, "", "anchors, aliases and merge keys (& * <<) are not read. Write the value out")
		case token.TagType:
			r.Wrong(p, "", "tags (!) are not read. Quote what is text")
		case token.MappingKeyType:
			r.Wrong(p, "", "keys with ? are not read. Write key: value")
		case token.DirectiveType:
			r.Wrong(p, "", "directives (%%) are not read. Begin with the first key")
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
		if flow > maxNested || run > maxNested || p.Column > 1000 && t.Prev != nil && t.Prev.Position.Line < p.Line {
			r.Wrong(p, "", "nested too deep")
			return false
		}
	}
	return r.Count() == before
}

// Count returns the number of faults so far.
func (r *Reader) Count() int { return len(r.faults) + r.more }

// Env looks up an environment variable in the same way as ${NAME}.
func (r *Reader) Env(name string) (string, bool) {
	if r.options.Env == nil {
		return "", false
	}
	return r.options.Env(name)
}

// HasAt reports whether the document contains a key or element at the JSON pointer at.
func (r *Reader) HasAt(at string) bool { _, ok := r.places[at]; return ok }

// tokenAt returns the position where t begins.
func tokenAt(in *file, t *token.Token) Position {
	if t == nil || t.Position == nil {
		return Position{file: in}
	}
	return Position{in, t.Position.Line, t.Position.Column}
}

// Must reports that the value at n must be of another kind. The argument be names that kind, such as "a list of
// names".
func (r *Reader) Must(n Node, at, be string) {
	if n.kind() == "nothing" {
		r.absent(n, at)
		return
	}
	r.Wrong(n.Start(), at, "must be %s, not %s", be, n.kind())
}

// absent reports a key without a value, at the position of the key.
func (r *Reader) absent(n Node, at string) {
	r.Wrong(r.near(n, at), at, "has no value. Give it one or leave it out")
}

// near returns the position of the key at the pointer at, or the position of n if there is no key.
func (r *Reader) near(n Node, at string) Position {
	if p, ok := r.places[at]; ok {
		return p
	}
	return n.Start()
}

// reportUnknownKey reports a key that is not in names. The fault proposes instead, if it isn't "", or else similar names.
func (r *Reader) reportUnknownKey(e Entry, at, what string, names []string, instead string) {
	if instead == "" {
		instead = problem.DidYouMean(problem.Nearest(e.Name, names, 2))
	}
	r.Wrong(e.Key, at, "unknown %s %q%s", what, problem.Cut(e.Name), instead)
}
