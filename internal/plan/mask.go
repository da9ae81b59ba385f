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

// The kinds of mask. A null stays null under each kind.
const (
	MaskPartial MaskKind = "partial" // the first character of a text, or a hint of its form: j•••@e•••.com, •••1234
	MaskHash    MaskKind = "hash"    // 16 hexadecimal digits: equal for equal values of one field, and not reversible
	MaskNull    MaskKind = "null"    // always null
	MaskInside  MaskKind = "pattern" // texts without the personal data in them: "call me at [phone]"
	// MaskPseudonym is a name computed from the key of the record, such as Person 5K2M. The column contains the key,
	// never the value, so that records can be grouped by it.
	MaskPseudonym MaskKind = "pseudonym"
)

// Masks reports whether k applies to values of type t. MaskPartial requires text. MaskHash requires a type with one
// text per value and too many values to try them all. MaskInside requires text, or JSON that may contain text.
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

// A Mask describes how the values of a field are masked.
type Mask struct {
	Kind     MaskKind
	Field    string    // "source.Class.field": equal values of two fields have different hashes. For MaskPseudonym "source.Class", shared by all fields of a record
	Word     string    // for MaskPseudonym: the kind of the records, such as Person
	Patterns []Pattern // for MaskInside: the patterns to replace
}

// String returns the kind and, for MaskInside, the patterns to replace.
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

// A MaskKey is the secret for hashing values. Whoever knows it can find short values by trying. The zero MaskKey can't
// hash.
type MaskKey struct{ secret []byte }

// NewMaskKey derives a MaskKey from a secret, which may also be used for other purposes. For an empty secret it returns
// the zero MaskKey.
func NewMaskKey(secret []byte) MaskKey {
	if len(secret) == 0 {
		return MaskKey{}
	}
	m := hmac.New(sha256.New, secret)
	m.Write([]byte("mask"))
	return MaskKey{m.Sum(nil)}
}

// Under returns a function that applies m, for use by one goroutine. It fails with problem.Internal for a MaskHash or a
// MaskPseudonym with the zero MaskKey, and for an unknown kind.
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

// hash returns the first 8 bytes of an HMAC of the field's name and the value, in hex. Equal values have equal hashes
// within a field, and different hashes in different fields.
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

// comparableText returns a text of v that is the same for equal values of a field.
func comparableText(v value.Value) string {
	text := v.String()
	if v.Kind() == value.Decimal && strings.Contains(text, ".") && !strings.ContainsAny(text, "eE") {
		text = strings.TrimSuffix(strings.TrimRight(text, "0"), ".")
	}
	return text
}

// Hides reports whether m hides the values of its column, so that no query may use them. A column with a MaskPseudonym
// contains keys, which are visible.
func (m *Mask) Hides() bool { return m != nil && m.Kind != MaskPseudonym }

// Names reports whether m is a MaskPseudonym, so that the column shows names.
func (m *Mask) Names() bool { return m != nil && m.Kind == MaskPseudonym }

// Nulls reports whether every value of the column is shown as null.
func (m *Mask) Nulls() bool { return m != nil && m.Kind == MaskNull }

// MaskedFieldError returns the error for a use of a masked field that would reveal its values. at is the JSON pointer
// of the use.
func MaskedFieldError(field, at string) error {
	return &problem.Error{Code: problem.InvalidQuery, Kind: "field_masked", Pointer: at,
		Detail:     problem.Cut(field) + " is masked: it is shown and can't be filtered, sorted, grouped or joined on",
		Suggestion: "use fields of which get_schema doesn't say masked"}
}

// Refuse returns the error for a use of a field with the mask m. at is the JSON pointer of the use. For a pseudonym,
// the error lists the permitted uses and suggests the key for the others.
func (m *Mask) Refuse(field, at string) error {
	if !m.Names() {
		return MaskedFieldError(field, at)
	}
	return &problem.Error{Code: problem.InvalidQuery, Kind: "field_masked", Pointer: at,
		Detail:     problem.Cut(field) + " is a pseudonym, a name made of the key of its record: it can be shown, grouped and counted as a plain column. It can't be filtered, sorted, joined on or part of an expression",
		Suggestion: "use the key of the record in its place"}
}
