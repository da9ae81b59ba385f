package yamlconf

import (
	"slices"

	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/token"

	"github.com/bailiwick-dev/bailiwick/query"
)

// A Node is a value in a file that has not been read yet. The top of a document and its sections can extend over
// several files.
type Node struct {
	yaml ast.Node
	file *file
	more []Node // the same object in further files
}

// Start returns the position where n begins.
func (n Node) Start() Position {
	switch y := n.yaml.(type) {
	case *ast.MappingNode:
		// The token of a mapping without braces is its first colon, so this uses the first key.
		if !y.IsFlowStyle && len(y.Values) > 0 {
			return Node{yaml: y.Values[0].Key, file: n.file}.Start()
		}
	case *ast.MappingValueNode:
		return Node{yaml: y.Key, file: n.file}.Start()
	case nil:
		return Position{file: n.file}
	}
	return tokenAt(n.file, n.yaml.GetToken())
}

// Folder returns the folder of n's file, at which relative paths begin.
func (n Node) Folder() string { return n.file.dir }

// Empty reports whether n is an object without keys.
func (n Node) Empty() bool {
	m, ok := n.yaml.(*ast.MappingNode)
	return ok && len(m.Values) == 0 && n.more == nil
}

// IsObject reports whether n is an object.
func (n Node) IsObject() bool { return n.kind() == "keys and values" }

// Has reports whether n is an object with exactly the given keys.
func (n Node) Has(names ...string) bool {
	pairs, ok := n.pairs()
	return ok && len(pairs) == len(names) && !slices.ContainsFunc(pairs, func(p *ast.MappingValueNode) bool { return !slices.Contains(names, p.Key.String()) })
}

// List returns the elements of n. It returns false if n is not a list.
func (n Node) List() ([]Node, bool) {
	s, ok := n.yaml.(*ast.SequenceNode)
	if !ok {
		return nil, false
	}
	out := make([]Node, len(s.Values))
	for i, v := range s.Values {
		out[i] = Node{yaml: v, file: n.file}
	}
	return out, true
}

// isText reports whether n is written as a text.
func (n Node) isText() bool {
	switch n.yaml.(type) {
	case *ast.StringNode, *ast.LiteralNode:
		return true
	}
	return false
}

// null reports whether n is null or has no value.
func (n Node) null() bool {
	_, null := n.yaml.(*ast.NullNode)
	return null || n.yaml == nil
}

// kind returns the kind of n, for messages.
func (n Node) kind() string {
	switch y := n.yaml.(type) {
	case *ast.MappingNode, *ast.MappingValueNode:
		return "keys and values"
	case *ast.SequenceNode:
		return "a list"
	case *ast.StringNode:
		if y.Token.Type != token.SingleQuoteType && y.Token.Type != token.DoubleQuoteType && number(y.Value) {
			return "a number"
		}
		return "text"
	case *ast.LiteralNode:
		return "text"
	case *ast.IntegerNode, *ast.FloatNode, *ast.InfinityNode, *ast.NanNode:
		return "a number"
	case *ast.BoolNode:
		return y.Token.Value
	}
	return "nothing"
}

// An Entry is one key of an object and its value.
type Entry struct {
	Name  string
	Key   Position // position of the key
	At    string   // JSON pointer of the value
	Value Node
}

// Entries returns the entries of an object in order, each name once. It reports duplicate keys. At the top level, a
// section in several files is one entry. If n is not an object, ok is false and no fault is reported.
func (r *Reader) Entries(n Node, at string) (out []Entry, ok bool) {
	if !n.IsObject() {
		return nil, false
	}
	index := map[string]int{}
	for _, part := range append([]Node{n}, n.more...) {
		pairs, _ := part.pairs()
		for _, pair := range pairs {
			e, ok := r.entry(part.file, pair, at)
			if !ok || at == "" && e.Name == r.options.Include && e.Name != "" {
				continue
			}
			i, twice := index[e.Name]
			if !twice {
				index[e.Name] = len(out)
				r.places[e.At] = e.Key
				out = append(out, e)
				continue
			}
			first := &out[i]
			switch {
			case first.Key.file == part.file:
				r.Wrong(e.Key, e.At, "the key appears twice, first on line %d", first.Key.Line)
			case at == "" && first.Value.IsObject() && e.Value.IsObject():
				first.Value.more = append(first.Value.more, e.Value)
			default:
				r.Wrong(e.Key, e.At, "the key is in another file too, on line %d of %s", first.Key.Line, first.Key.File())
			}
		}
	}
	return out, true
}

// pairs returns the keys and values of an object in one file.
func (n Node) pairs() ([]*ast.MappingValueNode, bool) {
	switch y := n.yaml.(type) {
	case *ast.MappingNode:
		return y.Values, true
	case *ast.MappingValueNode:
		return []*ast.MappingValueNode{y}, true
	}
	return nil, false
}

// entry returns one entry of the object at the pointer at. If the key is invalid, it reports a fault and returns
// false.
func (r *Reader) entry(in *file, pair *ast.MappingValueNode, at string) (Entry, bool) {
	e := Entry{Key: Node{yaml: pair.Key, file: in}.Start(), Value: Node{yaml: pair.Value, file: in}}
	switch key := pair.Key.(type) {
	case *ast.StringNode:
		e.Name = key.Value
	case *ast.IntegerNode, *ast.FloatNode, *ast.BoolNode, *ast.NullNode:
		e.Name = key.GetToken().Value
	default:
		r.Wrong(e.Key, at, "this can't be a key")
		return e, false
	}
	e.At = query.Pointer(at, e.Name)
	return e, true
}
