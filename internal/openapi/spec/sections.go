package spec

import (
	"bytes"
	"errors"
	"iter"

	"go.yaml.in/yaml/v3"
)

// portion is the number of bytes of a YAML document that are parsed at a time, if its mappings allow that. The tree
// of a text takes about ten times the size of the text.
const portion = 4 << 10

// errWhole reports that the members of a text can't be parsed one by one.
var errWhole = errors.New("it is parsed as a whole")

// section appends the block mapping in b, at the given depth, as an object. It parses small members together, and
// members larger than w.portion by their own members. If the parts could have another meaning than the whole, section
// returns an error, and the caller parses the whole instead. There are two such cases. In the first, a line in a
// quoted text or in brackets looks like a member. Then the part before it has an open quote or bracket, which is an
// error. In the second, an alias refers to an anchor in another part, which is also an error.
func (w *writer) section(b []byte, depth int) error {
	if depth > maxDepth {
		return errWhole
	}
	if depth == 0 {
		b = bytes.TrimPrefix(b, []byte("---\n"))
	}
	w.out = append(w.out, '{')
	has := map[string]bool{}
	var some []byte // members that are parsed together
	for entry, err := range entries(b) {
		switch {
		case err != nil:
			return err
		case len(some) > 0 && len(some)+len(entry) <= w.portion:
			some = some[:len(some)+len(entry)] // the entries are adjacent in b
			continue
		}
		if err := w.members(some, has, depth); err != nil {
			return err
		}
		some = entry
	}
	if err := w.members(some, has, depth); err != nil {
		return err
	}
	w.out = append(w.out, '}')
	return nil
}

// members appends the members in b to the object being written. The keys of has are the object's names so far.
func (w *writer) members(b []byte, has map[string]bool, depth int) error {
	if len(b) == 0 {
		return nil
	}
	head, rest, _ := bytes.Cut(b, []byte("\n"))
	head = bytes.TrimRight(head, " \r")
	deeper := len(b) > w.portion && bytes.HasSuffix(head, []byte(":")) && mapping(rest)
	if deeper {
		b = head
	}
	var doc yaml.Node
	if err := yaml.Unmarshal(b, &doc); err != nil || len(doc.Content) != 1 || doc.Content[0].Kind != yaml.MappingNode {
		return errWhole
	}
	all, err := w.mergedMembers(doc.Content[0], 0)
	if err != nil {
		return err
	}
	for _, m := range all {
		if has[m.name] || deeper && (m.value.Tag != "!!null" || m.value.Value != "") {
			return errWhole
		}
		has[m.name] = true
		if w.out[len(w.out)-1] != '{' {
			w.out = append(w.out, ',')
		}
		w.out = append(appendJSONString(w.out, m.name), ':')
		if deeper {
			err = w.section(rest, depth+1)
		} else {
			err = w.value(m.value, depth+1)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// mapping reports whether b is a block mapping that entries can split.
func mapping(b []byte) bool {
	for _, err := range entries(b) {
		if err != nil {
			return false
		}
	}
	return true
}

// entries iterates over the members of the block mapping in b, as they are written. A line with the same indentation
// as the first line begins a member. The iteration ends with errWhole at a line that may begin something else.
func entries(b []byte) iter.Seq2[[]byte, error] {
	return func(yield func([]byte, error) bool) {
		begin, indent := -1, -1
		for at := 0; at < len(b); {
			end := len(b)
			if n := bytes.IndexByte(b[at:], '\n'); n >= 0 {
				end = at + n + 1
			}
			text := bytes.TrimLeft(b[at:end], " ")
			in := end - at - len(text)
			if len(bytes.TrimSpace(text)) > 0 && text[0] != '#' {
				if indent < 0 {
					indent = in
				}
				switch item := bytes.HasPrefix(text, []byte("- ")) || bytes.Equal(bytes.TrimSpace(text), []byte("-")); {
				case in < indent || in == indent && !item && !isKey(text[0]) || item && in == indent && begin < 0:
					yield(nil, errWhole)
					return
				case in == indent && !item:
					if begin >= 0 && !yield(b[begin:at], nil) {
						return
					}
					begin = at
				}
			}
			at = end
		}
		if begin < 0 {
			yield(nil, errWhole)
			return
		}
		yield(b[begin:], nil)
	}
}

// isKey reports whether c can only be the first byte of a name.
func isKey(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || bytes.IndexByte([]byte(`_$/'"`), c) >= 0
}
