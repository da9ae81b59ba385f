package spec

import (
	"bytes"
	"iter"
	"strconv"

	"github.com/go-json-experiment/json/jsontext"
)

// Raw is one JSON value as it stands in the document, without space around it. It is read on demand and never changed.
// The nil Raw is no value. Every Raw of a Document is well-formed and its objects have no name twice.
type Raw []byte

// Kind returns what r is by its first byte: one of {["tfn0, where 0 is any number; 0 byte for no value.
func (r Raw) Kind() byte {
	switch {
	case len(r) == 0:
		return 0
	case r[0] == '-' || '0' <= r[0] && r[0] <= '9':
		return '0'
	}
	return r[0]
}

// Members yields the members of an object in order; nothing for other values.
func (r Raw) Members() iter.Seq2[string, Raw] {
	return func(yield func(string, Raw) bool) {
		if r.Kind() != '{' {
			return
		}
		for at := space(r, 1); at < len(r) && r[at] == '"'; {
			end := skip(r, at)
			name := unquote(r[at:end])
			at = space(r, space(r, end)+1) // the colon
			end = skip(r, at)
			if !yield(name, r[at:end]) {
				return
			}
			at = space(r, space(r, end)+1) // the comma
		}
	}
}

// Elements yields the elements of an array in order; nothing for other values.
func (r Raw) Elements() iter.Seq[Raw] {
	return func(yield func(Raw) bool) {
		if r.Kind() != '[' {
			return
		}
		for at := space(r, 1); at < len(r) && r[at] != ']'; {
			end := skip(r, at)
			if !yield(r[at:end]) {
				return
			}
			at = space(r, space(r, end)+1)
		}
	}
}

// Get returns the member called name; nil where r is no object or has none.
func (r Raw) Get(name string) Raw {
	for n, v := range r.Members() {
		if n == name {
			return v
		}
	}
	return nil
}

// Text returns what a string holds; "" for other values.
func (r Raw) Text() string {
	if r.Kind() != '"' {
		return ""
	}
	return unquote(r)
}

// True reports whether r is the value true.
func (r Raw) True() bool { return r.Kind() == 't' }

// Texts returns the strings of an array, without what is no string.
func (r Raw) Texts() []string {
	var out []string
	for e := range r.Elements() {
		if e.Kind() == '"' {
			out = append(out, unquote(e))
		}
	}
	return out
}

// Compact returns r without space between its tokens.
func (r Raw) Compact() Raw {
	v := jsontext.Value(bytes.Clone(r))
	if v.Compact() != nil {
		return r
	}
	return Raw(v)
}

// pointer returns what the RFC 6901 pointer leads to in r.
func (r Raw) pointer(tokens []string) Raw {
	for _, token := range tokens {
		switch r.Kind() {
		case '{':
			r = r.Get(token)
		case '[':
			n, err := strconv.Atoi(token)
			if err != nil || n < 0 {
				return nil
			}
			r = r.element(n)
		default:
			return nil
		}
	}
	return r
}

func (r Raw) element(n int) Raw {
	for e := range r.Elements() {
		if n == 0 {
			return e
		}
		n--
	}
	return nil
}

func space(b []byte, at int) int {
	for at < len(b) && (b[at] == ' ' || b[at] == '\n' || b[at] == '\r' || b[at] == '\t') {
		at++
	}
	return at
}

// skip returns where the value that begins at at ends. The text is known to be well-formed.
func skip(b []byte, at int) int {
	depth := 0
	for at < len(b) {
		switch b[at] {
		case '"':
			at = skipString(b, at)
		case '{', '[':
			depth++
			at++
			continue
		case '}', ']':
			depth--
			at++
		case ',', ':', ' ', '\n', '\r', '\t':
			at++
			continue
		default:
			for at < len(b) && !ends[b[at]] {
				at++
			}
		}
		if depth == 0 {
			return at
		}
	}
	return at
}

// ends holds the bytes that end a number or a literal name.
var ends = [256]bool{',': true, '}': true, ']': true, ' ': true, '\n': true, '\r': true, '\t': true, ':': true}

func skipString(b []byte, at int) int {
	for at++; at < len(b); at++ {
		n := bytes.IndexByte(b[at:], '"')
		if n < 0 {
			return len(b)
		}
		at += n
		slashes := 0
		for b[at-1-slashes] == '\\' {
			slashes++
		}
		if slashes%2 == 0 {
			return at + 1
		}
	}
	return at
}

// unquote returns what a JSON string holds, with U+FFFD for what is no Unicode.
func unquote(quoted []byte) string {
	inner := quoted[1 : len(quoted)-1]
	if bytes.IndexByte(inner, '\\') < 0 && ascii(inner) {
		return string(inner)
	}
	out, _ := jsontext.AppendUnquote(nil, quoted) // an error tells only of what became U+FFFD
	return string(out)
}

func ascii(b []byte) bool {
	for _, c := range b {
		if c >= 0x80 {
			return false
		}
	}
	return true
}
