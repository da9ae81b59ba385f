package sqlfunc

import (
	"bytes"
	"cmp"
	"database/sql/driver"
	"maps"
	"slices"
	"strings"

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
			dst = append(value.AppendQuoted(dst, m.Name), ':')
			dst = append(appendKey(dst, m.Value), ',')
		}
		return append(dst, '}')
	}
	return v.AppendJSON(dst)
}

// appendOrder appends bytes that compare as the values do in value.Order; all objects are equal, and all lists.
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

// documentOf parses JSON; it retains nothing of text, see sqlite.FunctionImpl.VolatileArgs.
func documentOf(text string) *document {
	v := read(text)
	return &document{appendOrder(nil, v), string(appendKey(nil, v)), strings.Clone(text)}
}

// An extremum is the least document of a group (sign -1) or the greatest (1).
type extremum struct {
	sign int
	best *document
}

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

// A set is the distinct documents of a group.
type set struct {
	texts map[string]bool
	byKey map[string]*document
}

func (s *set) add(v driver.Value) {
	text, ok := v.(string)
	if !ok {
		text = "null"
	}
	if s.texts[text] {
		return
	}
	d := documentOf(text)
	s.texts[d.text] = true
	if have := s.byKey[d.key]; have == nil || d.text < have.text {
		s.byKey[d.key] = d
	}
}

func (s *set) value() driver.Value {
	sorted := slices.SortedFunc(maps.Values(s.byKey), (*document).compare)
	texts := make([]string, len(sorted))
	for i, d := range sorted {
		texts[i] = d.text
	}
	return "[" + strings.Join(texts, ",") + "]"
}
