package spec

import (
	"bytes"
	"iter"
	"strconv"
	"unicode/utf8"
	"unsafe"

	"github.com/go-json-experiment/json/jsontext"
)

// Raw is one JSON value as written in the document, without surrounding space. It is parsed on demand and never
// changed. The nil Raw is not a value. Every Raw of a Document is well-formed, and its objects have no duplicate names.
type Raw []byte

// Kind returns the kind of r as its first byte, one of {["tfn, or '0' for any number. It returns 0 for nil.
func (r Raw) Kind() byte {
	switch {
	case len(r) == 0:
		return 0
	case r[0] == '-' || '0' <= r[0] && r[0] <= '9':
		return '0'
	}
	return r[0]
}

// Members iterates over the members of an object in order. It yields nothing for other values.
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

// Elements iterates over the elements of an array in order. It yields nothing for other values.
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

// Get returns the member called name, or nil if r is not an object or has no such member.
func (r Raw) Get(name string) Raw {
	for n, v := range r.Members() {
		if n == name {
			return v
		}
	}
	return nil
}

// Text returns the value of a string, or "" for other values.
func (r Raw) Text() string {
	if r.Kind() != '"' {
		return ""
	}
	return unquote(r)
}

// True reports whether r is the value true.
func (r Raw) True() bool { return r.Kind() == 't' }

// Texts returns the strings in an array and skips other elements.
func (r Raw) Texts() []string {
	var out []string
	for e := range r.Elements() {
		if e.Kind() == '"' {
			out = append(out, unquote(e))
		}
	}
	return out
}

// Compact returns r without space between tokens.
func (r Raw) Compact() Raw {
	v := jsontext.Value(bytes.Clone(r))
	if v.Compact() != nil {
		return r
	}
	return Raw(v)
}

// pointer returns the value at an RFC 6901 pointer in r.
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

// skip returns the position after the value that begins at position at. The text must be well-formed.
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

// ends marks the bytes that end a number or a literal name.
var ends = [256]bool{',': true, '}': true, ']': true, ' ': true, '\n': true, '\r': true, '\t': true, ':': true}

// skipString returns the position after the string whose opening quote is at position at. A quote ends the string
// unless an odd number of backslashes precedes it.
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

// unquote returns the value of a JSON string, with U+FFFD for invalid Unicode. A string without escapes is not
// copied. The result then shares the document's memory, which never changes.
func unquote(quoted []byte) string {
	inner := quoted[1 : len(quoted)-1]
	if bytes.IndexByte(inner, '\\') < 0 && utf8.Valid(inner) {
		return unsafe.String(unsafe.SliceData(inner), len(inner))
	}
	out, _ := jsontext.AppendUnquote(nil, quoted) // an error only reports bytes that became U+FFFD
	return string(out)
}
