package plan

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strings"

	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/schema"
	"github.com/bailiwick-dev/bailiwick/value"
)

// A MaskKind is a kind of mask.
type MaskKind string

// The kinds of mask. A null stays null under each.
const (
	MaskPartial MaskKind = "partial" // of a text its first character, or a hint of its form: j•••@e•••.com, •••1234
	MaskHash    MaskKind = "hash"    // 16 hexadecimal digits: equal for equal values of one field, and not reversible
	MaskNull    MaskKind = "null"    // always null
	MaskInside  MaskKind = "pattern" // texts leave without the personal data inside of them: "call me at [phone]"
	// MaskPseudonym is a name made of the key of the record, such as Person 5K2M. A column with it holds the key, never the value, so
	// that it can be grouped by.
	MaskPseudonym MaskKind = "pseudonym"
)

// Masks reports whether k applies to values of type t. MaskPartial needs text. MaskHash needs a type with one text per value and
// too many values to try them all. MaskInside needs texts, or JSON that may hold some.
func (k MaskKind) Masks(t schema.Type) bool {
	switch k {
	case MaskPartial, MaskPseudonym:
		return t == schema.String
	case MaskInside:
		return t == schema.String || t == schema.Any || t.IsStructured()
	case MaskHash:
		return slices.Contains([]schema.Type{schema.String, schema.Integer, schema.Decimal, schema.Date, schema.Day, schema.UUID, schema.Bytes}, t)
	}
	return true
}

// A Mask says how the values of a field are masked.
type Mask struct {
	Kind     MaskKind
	Field    string    // "source.Class.field": equal values of two fields have different hashes. Of MaskPseudonym "source.Class", for all fields of a record
	Word     string    // of MaskPseudonym: the kind of the records, such as Person
	Patterns []Pattern // of MaskInside: the patterns to replace
}

// String returns the kind, and the patterns that are replaced.
func (m Mask) String() string {
	if m.Kind != MaskInside {
		return string(m.Kind)
	}
	names := make([]string, len(m.Patterns))
	for i, p := range m.Patterns {
		names[i] = string(p)
	}
	return string(m.Kind) + ": " + strings.Join(names, ", ")
}

// A MaskKey is the secret for hashing values. Anyone with it can find out short values by trying. The zero MaskKey hashes
// nothing.
type MaskKey struct{ secret []byte }

// NewMaskKey derives a MaskKey from a secret, which may be used for other purposes as well. No secret gives the zero MaskKey.
func NewMaskKey(secret []byte) MaskKey {
	if len(secret) == 0 {
		return MaskKey{}
	}
	m := hmac.New(sha256.New, secret)
	m.Write([]byte("mask"))
	return MaskKey{m.Sum(nil)}
}

// Under returns a function that applies m, for use by one goroutine. It fails with problem.Internal for MaskHash with the
// zero MaskKey, and for an unknown kind.
func (m Mask) Under(k MaskKey) (func(value.Value) value.Value, error) {
	switch {
	case m.Kind == MaskPartial:
		return partial, nil
	case m.Kind == MaskHash && k.secret != nil:
		return m.hash(k), nil
	case m.Kind == MaskPseudonym && k.secret != nil:
		return m.pseudonym(k), nil
	case m.Kind == MaskInside && len(m.Patterns) > 0:
		return m.patterns(), nil
	case m.Kind == MaskNull:
		return func(value.Value) value.Value { return value.Value{} }, nil
	}
	return nil, problem.New(problem.Internal, "nothing masks "+m.Field+" as "+string(m.Kind))
}

// hash returns the first 8 bytes of an HMAC of the field's name and the value, as hex. Equal values of one field have
// equal hashes, and those of two fields don't.
func (m Mask) hash(k MaskKey) func(value.Value) value.Value {
	h := hmac.New(sha256.New, k.secret)
	var sum [sha256.Size]byte
	return func(v value.Value) value.Value {
		if v.IsNull() {
			return v
		}
		h.Reset()
		h.Write([]byte(m.Field))
		h.Write([]byte{0})
		h.Write([]byte(comparableText(v)))
		return value.OfString(hex.EncodeToString(h.Sum(sum[:0])[:8]))
	}
}

// comparableText returns v as a text that is the same for equal values of one field.
func comparableText(v value.Value) string {
	text := v.String()
	if v.Kind() == value.Decimal && strings.Contains(text, ".") && !strings.ContainsAny(text, "eE") {
		text = strings.TrimSuffix(strings.TrimRight(text, "0"), ".")
	}
	return text
}

// Hides reports whether m hides the values of its column, which nothing may use then. A column with a MaskPseudonym holds keys, which are visible.
func (m *Mask) Hides() bool { return m != nil && m.Kind != MaskPseudonym }

// Names reports whether m is a MaskPseudonym.
func (m *Mask) Names() bool { return m != nil && m.Kind == MaskPseudonym }

// Nulls reports whether every value of the column is shown as null.
func (m *Mask) Nulls() bool { return m != nil && m.Kind == MaskNull }

// MaskedFieldError returns the refusal of a use of a masked field, at the JSON pointer at, that would reveal its values.
func MaskedFieldError(field, at string) error {
	return &problem.Error{Code: problem.InvalidQuery, Kind: "field_masked", Pointer: at,
		Detail:     problem.Cut(field) + " is masked: it is shown and can't be filtered, sorted, grouped or joined on",
		Suggestion: "use fields of which get_schema doesn't say masked"}
}

// Refuse returns the refusal of a use of a field with the mask m, at the JSON pointer at. A pseudonym has uses that others
// don't have, and the key can stand in its place in all others.
func (m *Mask) Refuse(field, at string) error {
	if !m.Names() {
		return MaskedFieldError(field, at)
	}
	return &problem.Error{Code: problem.InvalidQuery, Kind: "field_masked", Pointer: at,
		Detail:     problem.Cut(field) + " is a pseudonym, a name made of the key of its record: it can be shown, grouped and counted as a plain column. It can't be filtered, sorted, joined on or part of an expression",
		Suggestion: "use the key of the record in its place"}
}
