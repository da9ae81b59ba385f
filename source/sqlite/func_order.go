package sqlite

import (
	"bytes"
	"cmp"
	"database/sql/driver"
	"slices"
	"strings"

	"github.com/bailiwick-dev/bailiwick/internal/plan"
	"github.com/bailiwick-dev/bailiwick/value"
)

// appendKey appends a text that is identical for equal values.
func appendKey(dst []byte, v value.Value) []byte {
	switch v.Kind() {
	case value.Int, value.Decimal:
		return append(dst, decimalOf(v.String()).key()...)
	case value.Array:
		dst = append(dst, '[')
		for _, e := range v.List() {
			dst = append(appendKey(dst, e), ',')
		}
		return append(dst, ']')
	case value.Object:
		members := slices.SortedFunc(slices.Values(v.Members()), func(a, b value.Member) int { return strings.Compare(a.Name, b.Name) })
		dst = append(dst, '{')
		for _, m := range members {
			dst = append(value.AppendQuote(dst, m.Name), ':')
			dst = append(appendKey(dst, m.Value), ',')
		}
		return append(dst, '}')
	}
	return v.AppendJSON(dst)
}

// appendOrder appends bytes with the same order as value.Order. All objects have equal bytes, and so do all lists.
func appendOrder(dst []byte, v value.Value) []byte {
	switch v.Kind() {
	case value.Int, value.Decimal:
		return decimalOf(v.String()).appendOrder(append(dst, 1))
	case value.String:
		return append(append(dst, 2), v.Text()...)
	case value.Object:
		return append(dst, 3)
	case value.Array:
		return append(dst, 4)
	case value.Bool:
		if v.Bool() {
			return append(dst, 5, 1)
		}
		return append(dst, 5, 0)
	}
	return append(dst, 0)
}

// A document is one JSON value of a group. It represents all equal values, and has the least of their texts.
type document struct {
	order []byte
	key   string
	text  string
}

// compare orders documents as value.Order does. Objects among themselves, and lists among themselves, are ordered by
// their keys.
func (d *document) compare(e *document) int {
	return cmp.Or(bytes.Compare(d.order, e.order), strings.Compare(d.key, e.key))
}

// documentOf parses JSON. It keeps no reference to text, see sqlite.FunctionImpl.VolatileArgs.
func documentOf(text string) *document {
	v := read(text)
	return &document{appendOrder(nil, v), string(appendKey(nil, v)), strings.Clone(text)}
}

// An extremum is the least (sign -1) or the greatest (sign 1) document of a group.
type extremum struct {
	sign int
	best *document
}

// add replaces the best document if the new one is beyond it. Among equal documents, it keeps the one with the least
// text, so that the order of the rows doesn't matter.
func (m *extremum) add(v driver.Value) {
	text, ok := v.(string)
	if !ok || m.best != nil && m.best.text == text {
		return
	}
	d := documentOf(text)
	if m.best != nil {
		c := d.compare(m.best) * m.sign
		if c < 0 || c == 0 && d.text > m.best.text {
			return
		}
	}
	m.best = d
}

func (m *extremum) value() driver.Value {
	if m.best == nil {
		return nil
	}
	return m.best.text
}

// A size is the size of a list, as defined by plan.ListBytes.
type size struct {
	bytes, most int64
	over        bool
}

// limit implements capped.
func (s *size) limit(most int64) { s.most = most }

// take counts an element, and reports whether the list is within its limit.
func (s *size) take(text string) bool {
	s.bytes += int64(len(text) + plan.ListElement)
	s.over = s.over || s.bytes > s.most
	return !s.over
}

// textOf returns v as JSON text.
func textOf(v driver.Value) string {
	if text, ok := v.(string); ok {
		return text
	}
	return "null"
}

// A gathered collects the documents of a group in order.
type gathered struct {
	size
	text []byte
}

func (l *gathered) add(v driver.Value) {
	text := textOf(v)
	if _, long := v.([]byte); long {
		l.over = true
	}
	if !l.take(text) {
		l.text = nil
		return
	}
	l.text = append(append(l.text, ','), text...)
}

// value returns the list, or null if it is too large. text has a comma before each document, and the first comma
// becomes the bracket.
func (l *gathered) value() driver.Value {
	switch {
	case l.over:
		return nil
	case l.text == nil:
		return "[]"
	}
	l.text[0] = '['
	return string(append(l.text, ']'))
}

// A set contains the distinct documents of a group.
type set struct {
	size
	byKey map[string]string // the text of each document
	texts map[string]bool   // other texts of these documents
}

// add adds a document. Among equal documents, the set keeps the least text, so that the order of the rows doesn't
// matter. It skips known texts without parsing. A set that exceeds its limit drops all documents and becomes null.
func (s *set) add(v driver.Value) {
	text := textOf(v)
	_, long := v.([]byte)
	if s.over || !long && (s.texts[text] || s.byKey[text] == text) {
		return
	}
	if long || int64(len(text)) > s.most {
		s.over, s.byKey, s.texts = true, nil, nil
		return
	}
	d := documentOf(text)
	have, known := s.byKey[d.key]
	if !known && !s.take(text) {
		s.byKey, s.texts = nil, nil
		return
	}
	if s.byKey == nil {
		s.byKey, s.texts = map[string]string{}, map[string]bool{}
	}
	if d.text != d.key {
		s.texts[d.text] = true
	}
	if !known || d.text < have {
		s.byKey[d.key] = d.text
	}
}

// value returns the documents of the set as an ordered list, or null if it has exceeded its limit.
func (s *set) value() driver.Value {
	if s.over {
		return nil
	}
	var all []*document
	for _, text := range s.byKey {
		all = append(all, documentOf(text))
	}
	slices.SortFunc(all, (*document).compare)
	list := gathered{size: size{most: s.most}}
	for _, d := range all {
		list.add(d.text)
	}
	return list.value()
}
