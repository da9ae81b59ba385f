package strict

import (
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/token"

	"github.com/bailiwick-dev/bailiwick/query"
)

// A Node is a value in a file, not yet read.
type Node struct {
	yaml ast.Node
	file *file
}

// Start returns where n begins.
func (n Node) Start() Position {
	switch y := n.yaml.(type) {
	case *ast.MappingNode:
		// The token of a mapping without braces is its first colon.
		if !y.IsFlowStyle && len(y.Values) > 0 {
			return Node{y.Values[0].Key, n.file}.Start()
		}
	case *ast.MappingValueNode:
		return Node{y.Key, n.file}.Start()
	case nil:
		return Position{file: n.file}
	}
	return tokenAt(n.file, n.yaml.GetToken())
}

// Folder returns the folder of the file that n stands in: where its relative paths start.
func (n Node) Folder() string { return n.file.dir }

// Empty reports whether n is an object without keys.
func (n Node) Empty() bool {
	m, ok := n.yaml.(*ast.MappingNode)
	return ok && len(m.Values) == 0
}

// IsObject reports whether n is an object.
func (n Node) IsObject() bool { return n.kind() == "keys and values" }

// List returns the elements of n, and whether it is a list.
func (n Node) List() ([]Node, bool) {
	s, ok := n.yaml.(*ast.SequenceNode)
	if !ok {
		return nil, false
	}
	out := make([]Node, len(s.Values))
	for i, v := range s.Values {
		out[i] = Node{v, n.file}
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

// null reports whether there is no value at n, or the word null.
func (n Node) null() bool {
	_, null := n.yaml.(*ast.NullNode)
	return null || n.yaml == nil
}

// kind says what n is, for messages.
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
	Key   Position // of the key
	At    string   // JSON pointer of the value
	Value Node
}

// Entries returns the entries of an object in order, each name once; ok is false when n is none, and nothing is noted
// then. Keys that stand twice are noted.
func (r *Reader) Entries(n Node, at string) (out []Entry, ok bool) {
	var pairs []*ast.MappingValueNode
	switch y := n.yaml.(type) {
	case *ast.MappingNode:
		pairs = y.Values
	case *ast.MappingValueNode:
		pairs = []*ast.MappingValueNode{y}
	default:
		return nil, false
	}
	first := map[string]Position{}
	for _, pair := range pairs {
		e := Entry{Key: Node{pair.Key, n.file}.Start(), Value: Node{pair.Value, n.file}}
		switch key := pair.Key.(type) {
		case *ast.StringNode:
			e.Name = key.Value
		case *ast.IntegerNode, *ast.FloatNode, *ast.BoolNode, *ast.NullNode:
			e.Name = key.GetToken().Value
		default:
			r.Wrong(e.Key, at, "this can't be a key")
			continue
		}
		e.At = query.Pointer(at, e.Name)
		if p, dup := first[e.Name]; dup {
			r.Wrong(e.Key, e.At, "the key stands twice; first on line %d", p.Line)
			continue
		}
		first[e.Name] = e.Key
		r.places[e.At] = e.Key
		out = append(out, e)
	}
	return out, true
}
