package spec

import (
	"bytes"
	"errors"
	"fmt"
	"io"

	"github.com/go-json-experiment/json/jsontext"
)

// maxDepth is the maximum nesting of a document.
const maxDepth = 500

// readJSON checks that b is one JSON document and returns it. A duplicate name in an object gives a warning and the
// last value is kept, as in most parsers.
func readJSON(b []byte) (Raw, []Warning, error) {
	if err := wellFormed(b, false); err == nil {
		return Raw(bytes.TrimSpace(b)), nil, nil
	} else if !errors.Is(err, jsontext.ErrDuplicateName) {
		return nil, nil, err
	}
	if err := wellFormed(b, true); err != nil {
		return nil, nil, err
	}
	d := dedupe{}
	out := d.append(nil, Raw(bytes.TrimSpace(b)), "")
	return Raw(out), d.warnings, nil
}

// wellFormed checks b to its end.
func wellFormed(b []byte, duplicates bool) error {
	if at := deep(b); at >= 0 {
		return fmt.Errorf("nested deeper than %d at byte %d", maxDepth, at)
	}
	dec := jsontext.NewDecoder(bytes.NewBuffer(b), jsontext.AllowInvalidUTF8(true), jsontext.AllowDuplicateNames(duplicates))
	if err := dec.SkipValue(); err != nil {
		return err
	}
	if rest := bytes.TrimSpace(b[dec.InputOffset():]); len(rest) > 0 {
		return fmt.Errorf("more text after the document, at byte %d", dec.InputOffset())
	}
	return nil
}

// deep returns the position where b exceeds the maximum nesting, or -1.
func deep(b []byte) int {
	depth := 0
	for at := 0; at < len(b); at++ {
		switch b[at] {
		case '"':
			at = skipString(b, at) - 1
		case '{', '[':
			if depth++; depth > maxDepth {
				return at
			}
		case '}', ']':
			depth--
		}
	}
	return -1
}

// dedupe rewrites a document, keeping only the last of members with the same name.
type dedupe struct{ warnings []Warning }

// append appends r, which is at the JSON pointer at, to dst without space. Of members with one name the last value is kept at the first
// one's place, and a warning is added.
func (d *dedupe) append(dst []byte, r Raw, at string) []byte {
	switch r.Kind() {
	case '{':
		last := map[string]Raw{}
		var names []string
		for name, v := range r.Members() {
			if _, twice := last[name]; twice {
				d.warnings = append(d.warnings, Warning{Where: at + "/" + escape(name), Text: "appears twice; the last one counts"})
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
			dst = appendQuoted(dst, name)
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

// appendQuoted appends s as a JSON string, with U+FFFD for invalid Unicode.
func appendQuoted(dst []byte, s string) []byte {
	out, _ := jsontext.AppendQuote(dst, s) // errors only report what became U+FFFD
	return out
}

var errEmpty = fmt.Errorf("the document is empty: %w", io.ErrUnexpectedEOF)
