package spec

import (
	"bytes"
	"errors"
	"fmt"
	"io"

	"github.com/go-json-experiment/json/jsontext"
)

// maxDepth is how deep a document may nest.
const maxDepth = 500

// readJSON checks that b is one JSON document and returns it as one value. Names that an object has twice are told and
// only the last of them is kept, as most readers do.
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

// wellFormed reads b to its end without keeping anything.
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

// deep returns where b nests deeper than a document may; -1 where it doesn't.
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

// dedupe writes a document again, with the last of the members that have one name.
type dedupe struct{ warnings []Warning }

func (d *dedupe) append(dst []byte, r Raw, at string) []byte {
	switch r.Kind() {
	case '{':
		last := map[string]Raw{}
		var names []string
		for name, v := range r.Members() {
			if _, twice := last[name]; twice {
				d.warnings = append(d.warnings, Warning{Where: at + "/" + escape(name), Text: "stands twice; the last one counts"})
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

// appendQuoted appends s as a JSON string, with U+FFFD for what is no Unicode.
func appendQuoted(dst []byte, s string) []byte {
	out, _ := jsontext.AppendQuote(dst, s) // an error tells only of what became U+FFFD
	return out
}

var errEmpty = fmt.Errorf("the document is empty: %w", io.ErrUnexpectedEOF)
