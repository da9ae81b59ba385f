package spec

import (
	"fmt"
	"io"

	"github.com/go-json-experiment/json/jsontext"
)

// maxDepth is the maximum nesting of a document.
const maxDepth = 500

// dedupe rewrites a document. If an object has several members with the same name, it keeps only the last.
type dedupe struct{ warnings []Warning }

// append appends r to dst without space. The argument at is the JSON pointer of r. If an object has several members
// with one name, the last value is kept at the position of the first, and a warning is added.
func (d *dedupe) append(dst []byte, r Raw, at string) []byte {
	switch r.Kind() {
	case '{':
		last := map[string]Raw{}
		var names []string
		for name, v := range r.Members() {
			if _, twice := last[name]; twice {
				d.warnings = append(d.warnings, Warning{Where: at + "/" + escape(name), Text: "appears twice. The last one counts"})
			} else {
				names = append(names, name)
			}
			last[name] = v
		}
		dst = append(dst, '{')
		for i, name := range names {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = appendJSONString(dst, name)
			dst = append(dst, ':')
			dst = d.append(dst, last[name], at+"/"+escape(name))
		}
		return append(dst, '}')
	case '[':
		dst = append(dst, '[')
		n := 0
		for e := range r.Elements() {
			if n > 0 {
				dst = append(dst, ',')
			}
			dst = d.append(dst, e, fmt.Sprintf("%s/%d", at, n))
			n++
		}
		return append(dst, ']')
	}
	return append(dst, r...)
}

// appendJSONString appends s as a JSON string, with U+FFFD for invalid Unicode.
func appendJSONString(dst []byte, s string) []byte {
	out, _ := jsontext.AppendQuote(dst, s) // an error only reports bytes that became U+FFFD
	return out
}

var errEmpty = fmt.Errorf("the document is empty: %w", io.ErrUnexpectedEOF)
