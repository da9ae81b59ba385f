package spec

import (
	"errors"
	"fmt"
	"math/big"
	"regexp"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
)

// Aliases and merges can expand a small YAML document into a huge one, so the result is limited. maxGrowth limits its
// bytes relative to the document, and maxMerges limits the number of merges.
const (
	maxGrowth = 20
	maxMerges = 100_000
)

// readYAML converts the single YAML document in b to JSON. Numbers that are valid JSON keep their text. If possible,
// the document is parsed in parts, whose trees take less memory than a tree of the whole. The result is the same.
func readYAML(b []byte) (Raw, error) {
	w := writer{out: make([]byte, 0, len(b)+len(b)/4), most: 1<<20 + maxGrowth*len(b), portion: portion}
	if len(b) > portion && w.section(b, 0) == nil {
		return Raw(w.out), nil
	}
	return w.whole(b)
}

// whole converts the document in b and parses it at once.
func (w *writer) whole(b []byte) (Raw, error) {
	w.out, w.merges = w.out[:0], 0
	var doc yaml.Node
	if err := yaml.Unmarshal(b, &doc); err != nil {
		return nil, err
	}
	if doc.Kind != yaml.DocumentNode || len(doc.Content) != 1 {
		return nil, errEmpty
	}
	if err := w.value(doc.Content[0], 0); err != nil {
		return nil, err
	}
	return Raw(w.out), nil
}

// A writer writes YAML nodes as JSON.
type writer struct {
	out     []byte
	most    int // the maximum length of out, in bytes
	merges  int // the number of merges so far
	portion int // see section
}

var errLarge = errors.New("its aliases make it too large")

// value appends n as JSON. It expands aliases where they are used. The limits on depth and length stop aliases that
// grow exponentially or contain themselves.
func (w *writer) value(n *yaml.Node, depth int) error {
	switch {
	case depth > maxDepth:
		return fmt.Errorf("line %d: nested deeper than %d", n.Line, maxDepth)
	case len(w.out) > w.most:
		return errLarge
	}
	switch n.Kind {
	case yaml.AliasNode:
		return w.value(n.Alias, depth+1)
	case yaml.MappingNode:
		return w.mapping(n, depth)
	case yaml.SequenceNode:
		w.out = append(w.out, '[')
		for i, e := range n.Content {
			if i > 0 {
				w.out = append(w.out, ',')
			}
			if err := w.value(e, depth+1); err != nil {
				return err
			}
		}
		w.out = append(w.out, ']')
		return nil
	case yaml.ScalarNode:
		w.scalar(n)
		return nil
	}
	return fmt.Errorf("line %d: not a value", n.Line)
}

// mapping appends a mapping as an object and resolves its merge keys.
func (w *writer) mapping(n *yaml.Node, depth int) error {
	members, err := w.mergedMembers(n, 0)
	if err != nil {
		return err
	}
	w.out = append(w.out, '{')
	for i, m := range members {
		if i > 0 {
			w.out = append(w.out, ',')
		}
		w.out = append(appendJSONString(w.out, m.name), ':')
		if err := w.value(m.value, depth+1); err != nil {
			return err
		}
	}
	w.out = append(w.out, '}')
	return nil
}

// A member is a member of a mapping, after merge keys are resolved.
type member struct {
	name  string
	value *yaml.Node
}

// mergedMembers returns the members of a mapping. It includes the members of its merge keys (<<), unless the mapping
// overrides them.
func (w *writer) mergedMembers(n *yaml.Node, depth int) ([]member, error) {
	if depth > 0 {
		w.merges++
	}
	if depth > maxDepth || w.merges > maxMerges {
		return nil, errLarge
	}
	var own []member
	has := map[string]bool{}
	var from []*yaml.Node
	for i := 0; i+1 < len(n.Content); i += 2 {
		key, v := target(n.Content[i]), n.Content[i+1]
		switch {
		case key.Kind != yaml.ScalarNode:
			return nil, fmt.Errorf("line %d: a name must be text", key.Line)
		case key.ShortTag() == "!!merge":
			from = append(from, mergeSources(v)...)
			continue
		case has[key.Value]:
			return nil, fmt.Errorf("line %d: %q appears twice", key.Line, key.Value)
		}
		has[key.Value] = true
		own = append(own, member{key.Value, v})
	}
	// Merged members come last and never replace own members. Earlier sources take precedence over later ones.
	for _, source := range from {
		if source.Kind != yaml.MappingNode {
			return nil, fmt.Errorf("line %d: only a mapping can be merged", source.Line)
		}
		more, err := w.mergedMembers(source, depth+1)
		if err != nil {
			return nil, err
		}
		for _, m := range more {
			if !has[m.name] {
				has[m.name] = true
				own = append(own, m)
			}
		}
	}
	return own, nil
}

// mergeSources returns the mappings that a merge key names: one mapping, or a list.
func mergeSources(v *yaml.Node) []*yaml.Node {
	v = target(v)
	if v.Kind != yaml.SequenceNode {
		return []*yaml.Node{v}
	}
	out := make([]*yaml.Node, len(v.Content))
	for i, e := range v.Content {
		out[i] = target(e)
	}
	return out
}

// target returns the node that an alias refers to, or n itself if n is not an alias.
func target(n *yaml.Node) *yaml.Node {
	if n.Kind == yaml.AliasNode {
		return n.Alias
	}
	return n
}

// jsonNumber matches a JSON number.
var jsonNumber = regexp.MustCompile(`^-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?$`)

// scalar appends a scalar by its tag, resolved by YAML's core schema. A number that JSON can't represent, such as
// .inf, becomes a string. So does a value with any other tag.
func (w *writer) scalar(n *yaml.Node) {
	switch n.ShortTag() {
	case "!!null":
		w.out = append(w.out, "null"...)
	case "!!bool":
		w.out = strconv.AppendBool(w.out, strings.EqualFold(n.Value, "true"))
	case "!!int", "!!float":
		if text, err := number(n.Value); err == nil {
			w.out = append(w.out, text...)
			return
		}
		w.out = appendJSONString(w.out, n.Value)
	default:
		w.out = appendJSONString(w.out, n.Value)
	}
}

var errNumber = errors.New("no number that JSON has")

// number converts a YAML number to JSON. Integers stay exact.
func number(text string) (string, error) {
	if jsonNumber.MatchString(text) {
		return text, nil
	}
	plain := strings.ReplaceAll(text, "_", "")
	if n, ok := new(big.Int).SetString(strings.TrimPrefix(plain, "+"), 0); ok {
		return n.String(), nil
	}
	f, err := strconv.ParseFloat(plain, 64)
	if err != nil || f-f != 0 {
		return "", errNumber
	}
	return strconv.FormatFloat(f, 'g', -1, 64), nil
}
