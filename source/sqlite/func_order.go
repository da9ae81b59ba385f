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

// appendKey appends a text that is the same for equal values.
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

// appendOrder appends bytes that compare as the values do in value.Order. All objects are equal, and all lists.
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

// A document is one JSON value of a group. It represents all values equal to it, with the least of their texts.
type document struct {
	order []byte
	key   string
	text  string
}

// compare orders documents as value.Order does, and objects among themselves, and lists, by their keys.
func (d *document) compare(e *document) int {
	return cmp.Or(bytes.Compare(d.order, e.order), strings.Compare(d.key, e.key))
}

// documentOf parses JSON. It retains nothing of text, see sqlite.FunctionImpl.VolatileArgs.
func documentOf(text string) *document {
	v := read(text)
	return &document{appendOrder(nil, v), string(appendKey(nil, v)), strings.Clone(text)}
}

// An extremum is the least document of a group (sign -1) or the greatest (1).
type extremum struct {
	sign int
	best *document
}

// add keeps the document if it is beyond the best. Of equal ones the least text stays, so that the order of the rows
// doesn't matter.
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

// A size is that of a list, as plan.ListBytes counts it.
type size struct {
	bytes, most int64
	over        bool
}

// limit implements capped.
func (s *size) limit(most int64) { s.most = most }

// take adds an element, and reports whether the list isn't too large.
func (s *size) take(text string) bool {
	s.bytes += int64(len(text) + plan.ListElement)
	s.over = s.over || s.bytes > s.most
	return !s.over
}

// textOf returns the JSON text that v holds.
func textOf(v driver.Value) string {
	if text, ok := v.(string); ok {
		return text
	}
	return "null"
}

// A gathered is the documents of a group, in order.
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

// value returns the list: text has a comma before each document, the first of which becomes the bracket. Null if it is too large.
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

// A set is the distinct documents of a group.
type set struct {
	size
	byKey map[string]string // their texts
	texts map[string]bool   // those that are not keys
}

// add adds a document, of which the set keeps the least text among equal ones, so that the order of the rows doesn't matter. Texts seen
// before are left out without parsing. A set that grows beyond its bound drops everything and is null.
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

// value returns the documents of the set as a list in their order, or null if it has outgrown its bound.
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
