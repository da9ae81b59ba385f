package interpret

import (
	"strings"
	"unicode/utf8"

	"github.com/bailiwick-dev/bailiwick/policy"
	"github.com/bailiwick-dev/bailiwick/value"
)

// Piece returns a piece of v: of a text, of bytes, or of JSON in its text form. With p.Size, it returns the number of
// characters or bytes. It returns v if p is nil.
func Piece(v value.Value, p *policy.Piece) value.Value {
	if p == nil || v.IsNull() {
		return v
	}
	text := v.Text()
	if v.Kind() == value.Bytes {
		n := int64(len(text))
		if from := min(p.Offset, n); !p.Size {
			return value.OfBytes(text[from:min(n, from+p.Length)])
		}
		return value.OfInt(n)
	}
	if text = v.String(); p.Size {
		return value.OfInt(int64(utf8.RuneCountInString(text)))
	}
	text = text[after(text, p.Offset):]
	return value.OfString(strings.Clone(text[:after(text, p.Length)]))
}
