// Package mask makes of a value what may be seen of it, where it isn't to be seen whole.
//
// It is a word: rules name masks, policy and algebra carry them beside the columns that they are for, and redact
// applies them where rows leave. Until then a value is raw, so nothing but redact may look at it: Refuse is what
// everything else says that is asked to.
package mask

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"strings"

	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/value"
)

// A Kind is what a mask leaves to see.
type Kind string

// The kinds. A null stays null under each.
const (
	Partial Kind = "partial" // a text: its first character, or what tells its form: j•••@e•••.com, •••1234
	Hash    Kind = "hash"    // 16 hexadecimal digits: the same for the same value of one field, and nobody can turn them back
	Null    Kind = "null"    // null, always
)

// A Mask is how the values of one field leave.
type Mask struct {
	Kind  Kind
	Field string // "source.Class.field": equal values of two fields have different hashes
}

// A Key is the secret under which values are hashed. Who has it can find out what short values were hashed. The zero
// Key hashes nothing.
type Key struct{ secret []byte }

// NewKey returns the key that belongs to a secret, which may serve other uses as well; the zero Key for none.
func NewKey(secret []byte) Key {
	if len(secret) == 0 {
		return Key{}
	}
	m := hmac.New(sha256.New, secret)
	m.Write([]byte("mask"))
	return Key{m.Sum(nil)}
}

// Under returns what applies m. It is for one goroutine. A Hash under the zero Key, and a kind that isn't known, are
// refused as problem.Internal.
func (m Mask) Under(k Key) (func(value.Value) value.Value, error) {
	switch {
	case m.Kind == Partial:
		return partial, nil
	case m.Kind == Hash && k.secret != nil:
		return m.hash(k), nil
	case m.Kind == Null:
		return func(value.Value) value.Value { return value.Value{} }, nil
	}
	return nil, problem.New(problem.Internal, "nothing masks "+m.Field+" as "+string(m.Kind))
}

func (m Mask) hash(k Key) func(value.Value) value.Value {
	h := hmac.New(sha256.New, k.secret)
	var sum [sha256.Size]byte
	return func(v value.Value) value.Value {
		if v.IsNull() {
			return v
		}
		h.Reset()
		h.Write([]byte(m.Field))
		h.Write([]byte{0})
		h.Write([]byte(written(v)))
		return value.OfString(hex.EncodeToString(h.Sum(sum[:0])[:8]))
	}
}

// written is v as a text that equal values of one field share.
func written(v value.Value) string {
	text := v.String()
	if v.Kind() == value.Decimal && strings.Contains(text, ".") && !strings.ContainsAny(text, "eE") {
		text = strings.TrimSuffix(strings.TrimRight(text, "0"), ".")
	}
	return text
}

// Refuse refuses to do with the values of a masked field, at the JSON pointer at, what would tell of them.
func Refuse(field, at string) error {
	return &problem.Error{Code: problem.InvalidQuery, Kind: "field_masked", Pointer: at,
		Detail:     problem.Cut(field) + " is masked: it is shown and can't be filtered, sorted, grouped or joined on",
		Suggestion: "use fields of which get_schema doesn't say masked"}
}
